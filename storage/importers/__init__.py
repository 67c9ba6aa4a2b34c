"""Importers that do not know Cypher: files and tables go in, one bulk load comes out, or an error and nothing
changed."""
