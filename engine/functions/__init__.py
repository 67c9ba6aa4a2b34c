"""Cypher's functions, one file per family. They register themselves in the tables of `registry`."""
