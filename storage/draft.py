"""The content of a new base, as streams: a fold or a bulk load describes it, `build.py` builds it.

Nodes come as arrays (a few bytes each), relationships in blocks, values in pieces, so that graphs may be larger than
memory. Nodes are numbered by the positions they will have. Relationships are numbered in the order of their blocks; the
build puts them into the order of the base.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.property_columns import KeyValues, PropertyColumn, narrowed, property_column, without_nulls
from hoplite.storage.tokens import Tokens
from hoplite.values.columns import Column, Int64s, concatenate, from_objects

PIECE = 1 << 20
"""The number of entities processed together."""

Piece = tuple[Int64s, Column]
"""Numbers of entities, ascending, and their values, none of them null."""


class RelationshipBlock(NamedTuple):
    """Some relationships; `ids` is None if the build may choose them."""

    starts: NDArray[Any]
    types: NDArray[Any]
    ends: NDArray[Any]
    ids: Int64s | None


class ColumnDraft(Protocol):
    """The values of one key."""

    def pieces(self) -> Iterator[Piece]:
        """All values, ascending by the number of the entity; may be called again."""
        ...

    def unchanged(self) -> PropertyColumn | None:
        """The whole column, if it is in memory in its final form."""
        ...


@dataclass(frozen=True, slots=True, eq=False)
class Draft:
    """A graph to be built."""

    tokens: Tokens
    node_labels: NDArray[Any]
    node_ids: Int64s | None
    next_node_id: int
    relationship_count: int
    relationships: Callable[[], Iterator[RelationshipBlock]]
    """Blocks, either all with ids or all without; may be called twice."""
    keeps_ids: bool
    next_relationship_id: int
    node_columns: Mapping[str, ColumnDraft]
    relationship_columns: Mapping[str, ColumnDraft]
    release: Callable[[], None] = lambda: None
    """Called when the blocks of relationships have been read for the last time."""

    @property
    def node_count(self) -> int:
        """How many nodes there will be."""
        return len(self.node_labels)


def empty_draft(tokens: Tokens) -> Draft:
    """An empty graph."""
    return Draft(tokens, np.zeros(0, np.int32), None, 0, 0, lambda: iter(()), False, 0, {}, {})


@dataclass(frozen=True, slots=True, eq=False)
class FoldedColumn:
    """A column with later writes: `numbers[p]` is the new number of entity p (ascending; -1: it is gone), None if all
    stay; `written` are the new values by old position, None for a removed one."""

    old: KeyValues | None
    old_count: int
    numbers: Int64s | None
    written: Mapping[int, Any]
    total: int

    def pieces(self) -> Iterator[Piece]:
        """All values, ascending."""
        places = np.fromiter(sorted(self.written), np.int64, len(self.written))
        at = 0
        if self.old is not None:
            for first in range(0, self.old_count, PIECE):
                last = min(first + PIECE, self.old_count)
                until = int(np.searchsorted(places, last))
                found = self._patched(first, last, places[at:until])
                at = until
                if len(found[0]):
                    yield found
        later = [place for place in places[at:].tolist() if self.written[place] is not None]
        for first in range(0, len(later), PIECE):
            chosen = later[first : first + PIECE]
            numbers = self._numbered(
                np.array(chosen, np.int64), narrowed(from_objects([self.written[place] for place in chosen]))
            )
            if len(numbers[0]):
                yield numbers

    def unchanged(self) -> PropertyColumn | None:
        """The column as it was, if nothing changed and nothing was added."""
        if self.old is None or self.written or self.numbers is not None:
            return None
        return self.old.whole() if self.total == self.old_count or self.old.positions is not None else None

    def _patched(self, first: int, last: int, places: Int64s) -> Piece:
        assert self.old is not None
        values = self.old.gather(np.arange(first, last, dtype=np.int64))
        kept = ~values.null_mask()
        if len(places):
            kept[places - first] = False
        present = np.flatnonzero(kept)
        positions, column = present + first, without_nulls(values.take(present))
        new = [place for place in places.tolist() if self.written[place] is not None]
        if new:
            patch = narrowed(from_objects([self.written[place] for place in new]))
            positions = np.concatenate([positions, np.array(new, np.int64)])
            column = concatenate([column, patch]) if len(present) else patch
            order = np.argsort(positions)
            positions, column = positions[order], column.take(order)
        return self._numbered(positions, column)

    def _numbered(self, positions: Int64s, column: Column) -> Piece:
        if self.numbers is None:
            return positions, column
        numbers = self.numbers[positions]
        alive = np.flatnonzero(numbers >= 0)
        return (numbers, column) if len(alive) == len(numbers) else (numbers[alive], column.take(alive))


@dataclass(frozen=True, slots=True, eq=False)
class GatheredColumn:
    """A column of relationships in their final order: all of it is in memory while it is used."""

    draft: ColumnDraft
    total: int
    new_numbers: NDArray[Any] | None

    def pieces(self) -> Iterator[Piece]:
        """All values, in one piece."""
        column = gathered(self.draft, self.total, self.new_numbers)
        if column is not None:
            yield column.entries()

    def unchanged(self) -> PropertyColumn | None:
        """None: the order has changed."""
        return None


def gathered(draft: ColumnDraft, total: int, new_numbers: NDArray[Any] | None = None) -> PropertyColumn | None:
    """A column in memory; None if it has no values. `new_numbers` renumbers the entities."""
    if new_numbers is None and (unchanged := draft.unchanged()) is not None:
        return unchanged
    pieces = list(draft.pieces())
    if not pieces:
        return None
    positions = np.concatenate([numbers for numbers, _ in pieces])
    column = narrowed(concatenate([values for _, values in pieces]))
    if new_numbers is not None:
        positions = new_numbers[positions].astype(np.int64, copy=False)
        order = np.argsort(positions)
        positions, column = positions[order], column.take(order)
    return property_column(positions, column, total)
