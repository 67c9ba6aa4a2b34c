"""The public API: results, sessions and their limits, transactions, loading, extending, and bad input."""
