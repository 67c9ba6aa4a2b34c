"""Procedures. Importing the package fills the table of `registry`, one family at a time."""

from hoplite.engine.procedures import apoc_meta, apoc_write, database, fulltext, schema, vectors

__all__ = ["apoc_meta", "apoc_write", "database", "fulltext", "schema", "vectors"]
