"""What an index has to look at again because it was written to since the base was made.

A delta has a `Watch` for each search index that was asked for above it: every step that writes to an entity the index
may cover, or takes such a write back, leaves the entity's position there. The next search looks at these, and only
these.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import numpy as np

from hoplite.storage.schema import Entity, Index
from hoplite.values.columns import Bools, Int64s

if TYPE_CHECKING:
    from hoplite.storage.base import Base
    from hoplite.storage.delta import Delta


class Changes(Protocol):
    """What an index knows about the entities that were written to."""

    def look_again(self, delta: Delta, positions: Int64s) -> None:
        """Update what is known about these entities."""
        ...

    def copy(self) -> Changes:
        """An independent copy."""
        ...


C = TypeVar("C", bound=Changes)


class Watch:
    """The entities that an index has to look at again, and what it knows about those it has looked at."""

    __slots__ = ("changes", "is_of_nodes", "keys", "touched")

    def __init__(self, index: Index, changes: Changes) -> None:
        self.is_of_nodes = index.entity is Entity.NODE
        self.keys = frozenset(index.keys)
        self.changes = changes
        self.touched: dict[int, None] = {}

    def copy(self) -> Watch:
        """For a copy of the delta."""
        twin = Watch.__new__(Watch)
        twin.is_of_nodes, twin.keys, twin.changes = self.is_of_nodes, self.keys, self.changes.copy()
        twin.touched = dict(self.touched)
        return twin


def changes_of(delta: Delta, index: Index, make: type[C]) -> C:
    """What an index knows about what was written, brought up to date."""
    with delta.lock:
        watch = delta.watches.get(index.id)
        if watch is None:
            watch = Watch(index, make(index))  # type: ignore[call-arg]
            watch.touched = written(delta, index)
            delta.watches[index.id] = watch
        if watch.touched:
            touched, watch.touched = watch.touched, {}
            positions = np.fromiter(touched, np.int64, len(touched))
            positions.sort()
            watch.changes.look_again(delta, positions)
        found: C = watch.changes  # type: ignore[assignment]
        return found


def written(delta: Delta, index: Index) -> dict[int, None]:
    """The entities that were written to in a way that may matter to an index."""
    values = delta.node_values if index.entity is Entity.NODE else delta.relationship_values
    touched: dict[int, None] = {}
    for key in index.keys:
        touched.update(dict.fromkeys(values.get(key, ())))
    if index.entity is Entity.NODE:
        touched.update(dict.fromkeys(delta.relabelled))
    return touched


# --- which entities an index covers ---


def covered(base: Base, index: Index) -> Bools:
    """Which entities of a base have one of the index's labels or types."""
    if index.entity is Entity.NODE:
        sets = np.zeros(base.tokens.label_set_count, np.bool_)
        for label in index.labels:
            if (code := base.tokens.labels.code(label)) is not None:
                sets |= base.tokens.sets_having(code)[: len(sets)]
        having: Bools = sets[base.node_labels]
        return having
    codes = [code for name in index.labels if (code := base.tokens.types.code(name)) is not None]
    return np.isin(base.relationship_types, codes)


def still_covered(delta: Delta, index: Index, positions: Int64s) -> Int64s:
    """The entities that still exist and have one of the index's labels or types."""
    tokens = delta.base.tokens
    if index.entity is Entity.NODE:
        count, removed = delta.node_count, delta.removed_nodes
        having = [tokens.sets_having(code) for label in index.labels if (code := tokens.labels.code(label)) is not None]
        kept = [
            position
            for position in positions.tolist()
            if position < count and position not in removed and any(sets[delta.label_set(position)] for sets in having)
        ]
    else:
        count, removed = delta.relationship_count, delta.removed_relationships
        codes = {code for name in index.labels if (code := tokens.types.code(name)) is not None}
        kept = [
            position
            for position in positions.tolist()
            if position < count and position not in removed and delta.type_of(position) in codes
        ]
    return np.array(kept, np.int64)


def value_of(delta: Delta, index: Index, position: int, key: str) -> Any:
    """The current value of an entity."""
    if index.entity is Entity.NODE:
        return delta.node_value(position, key)
    return delta.relationship_value(position, key)
