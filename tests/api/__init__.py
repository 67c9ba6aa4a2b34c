"""The public face: results, sessions and their limits, transactions, loading, extending, and what bad input does."""
