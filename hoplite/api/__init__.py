"""The face: what a program holds in its hands. A database, its results in the driver's types, graphs in and out."""
