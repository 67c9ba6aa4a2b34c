"""Procedures, a file for each family. They enter themselves in the table of `registry`."""
