"""Which kinds of index of a schema are search indexes, and what they are. Each is loaded when a graph has one."""

from __future__ import annotations

from hoplite.storage.base import SearchIndex
from hoplite.storage.schema import IndexKind


def search_index(kind: IndexKind) -> type[SearchIndex] | None:
    """The index of this kind; None where it is not a search index."""
    if kind is IndexKind.VECTOR:
        from hoplite.storage.search.vectors import VectorIndex

        return VectorIndex
    if kind is IndexKind.FULLTEXT:
        from hoplite.storage.search.fulltext import FullTextIndex

        return FullTextIndex
    return None
