"""The public API: a database, its results in the driver's types, graphs in and out."""
