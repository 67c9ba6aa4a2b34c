"""Cypher's functions, a file for each family. They enter themselves in the tables of `registry`."""
