"""Cypher's functions. Importing the package fills the tables of `registry`, one family at a time."""

from hoplite.engine.functions import (
    aggregates,
    conversions,
    entities,
    graph,
    lists,
    mathematical,
    predicates,
    scalar,
    spatial,
    strings,
    temporal,
    value_type,
    vector,
)

__all__ = [
    "aggregates",
    "conversions",
    "entities",
    "graph",
    "lists",
    "mathematical",
    "predicates",
    "scalar",
    "spatial",
    "strings",
    "temporal",
    "value_type",
    "vector",
]
