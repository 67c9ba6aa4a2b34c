"""Exporters that do not know Cypher: a snapshot of a graph goes in, files or another library's graph come out."""
