"""Exporters that know no Cypher: a snapshot of a graph goes in, files or a graph of another library come out."""
