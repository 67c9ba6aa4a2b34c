"""Procedures. Importing the package fills the table of `registry`, one family at a time."""

from hoplite.engine.procedures import database, fulltext, schema, vectors

__all__ = ["database", "fulltext", "schema", "vectors"]
