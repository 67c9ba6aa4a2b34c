"""Which kinds of index of a schema are search indexes, and what they are."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hoplite.storage.base import SearchIndex
from hoplite.storage.schema import IndexKind
from hoplite.storage.search.fulltext import FullTextIndex
from hoplite.storage.search.vectors import VectorIndex

SEARCH_INDEXES: Mapping[IndexKind, type[SearchIndex]] = MappingProxyType(
    {IndexKind.VECTOR: VectorIndex, IndexKind.FULLTEXT: FullTextIndex}
)
