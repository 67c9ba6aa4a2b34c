"""Procedures. Importing the package fills the table of `registry`, one family at a time."""

from hoplite.engine.procedures import (
    apoc_cypher,
    apoc_merge_stats,
    apoc_meta,
    apoc_meta_types,
    apoc_nodes,
    apoc_paths,
    apoc_refactor,
    apoc_util,
    apoc_write,
    database,
    fulltext,
    hops,
    schema,
    vectors,
)

__all__ = [
    "apoc_cypher",
    "apoc_merge_stats",
    "apoc_meta",
    "apoc_meta_types",
    "apoc_nodes",
    "apoc_paths",
    "apoc_refactor",
    "apoc_util",
    "apoc_write",
    "database",
    "fulltext",
    "hops",
    "schema",
    "vectors",
]
