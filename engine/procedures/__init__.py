"""Procedures, one file per family. They register themselves in the table of `registry`."""
