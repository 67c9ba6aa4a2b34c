"""Build partitions from relationships in any order, one partition at a time and in bounded memory.

    1  how many relationships begin and end at each node; this decides each node's partition
    2  relationships go into a bucket for each partition, by their start
    3  a bucket is sorted by (row, type, end): that is the outgoing side of its partition. Its relationships now
       have their positions, and go into another bucket each, by their end
    4  each of those is sorted by (row, type), and is the incoming side

With a single partition there are no buckets: the same happens to all relationships at once. A step holds one partition
in memory at a time; `spill.py` holds the buckets.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.base import Base, counts_of
from hoplite.storage.draft import Draft, RelationshipBlock, empty_draft, gathered
from hoplite.storage.incidence import Incidence, Layout, layout_for
from hoplite.storage.ordering import order_of, sorted_columns
from hoplite.storage.partition import deal
from hoplite.storage.spill import Arrays, PlainArrays, Queue, Spill, joined
from hoplite.storage.tokens import Tokens
from hoplite.values.columns import Int64s

_DISTRIBUTED = 1 << 22
"""The number of relationships put into buckets at once."""
_COUNTED_PATTERNS = 1 << 16
"""Up to this many possible patterns of labels and types are counted in a table."""


class Build:
    """The partitions of a draft. All outgoing ones must be taken before the incoming ones."""

    def __init__(self, draft: Draft, partitions: int, spill: Spill) -> None:
        self._draft = draft
        self._spill = spill
        self._type_count = max(len(draft.tokens.types), 1)
        self.partitions = partitions
        self.layout: Layout = layout_for(draft.node_count, draft.relationship_count, self._type_count)
        self.partition_of: NDArray[Any] | None = None  # by node
        self.row_of: NDArray[Any] | None = None
        self._members: list[NDArray[Any]] = []  # the nodes of each partition, ascending
        self.type_counts: Int64s = np.zeros(len(draft.tokens.types), np.int64)
        self.pattern_counts: dict[int, int] = {}
        self._ids = spill.queue(PlainArrays())  # in the order of the base
        self._numbers = spill.queue(PlainArrays())  # of the draft, in the order of the base
        self._incoming: list[Queue[Arrays]] = []
        if partitions > 1:
            self._deal()

    def _deal(self) -> None:
        draft = self._draft
        out_degrees = np.zeros(draft.node_count, np.int32)
        in_degrees = np.zeros(draft.node_count, np.int32)
        for block in draft.relationships():
            _add_counts(out_degrees, block.starts)
            _add_counts(in_degrees, block.ends)
        dealt = deal(out_degrees, in_degrees, self.partitions)
        del out_degrees, in_degrees
        order = np.argsort(dealt, kind="stable").astype(self.layout.neighbours, copy=False)
        sizes = counts_of(dealt, self.partitions)
        ends = np.cumsum(sizes)
        row_of = np.empty(draft.node_count, np.int32)
        for first, last in zip((ends - sizes).tolist(), ends.tolist(), strict=True):
            members = order[first:last]
            row_of[members] = np.arange(last - first, dtype=np.int32)
            self._members.append(members)
        self.partition_of, self.row_of = dealt, row_of

    def nodes_of_partition(self, partition: int) -> NDArray[Any]:
        """The node of each row."""
        return self._members[partition]

    # --- outgoing ---

    def outgoing(self) -> Iterator[Incidence]:
        """The outgoing side of each partition, and what is counted on the way."""
        buckets = self._distributed()
        self._incoming = [self._spill.queue(PlainArrays()) for _ in range(self.partitions)]
        first = 0
        for partition, bucket in enumerate(buckets):
            rows, types, ends = self._sorted(bucket, self._row_count(partition))
            indptr = _indptr(rows, self._indptr_rows(partition), self.layout)
            starts = rows if self.partition_of is None else self._members[partition][rows]
            del rows
            self._count(starts, types, ends)
            yield Incidence(indptr, ends, types, None, first)
            self._hand_to_incoming(first, starts, types, ends)
            first += len(types)

    def _row_count(self, partition: int) -> int:
        return len(self._members[partition]) if self._members else self._draft.node_count

    def _indptr_rows(self, partition: int) -> int:
        """With several partitions, each ends with an empty row, for nodes that are created later."""
        return self._row_count(partition) + (self.partition_of is not None)

    def _distributed(self) -> list[Queue[Arrays]]:
        """Buckets of (row, type, end, and if needed id and number)."""
        draft, layout = self._draft, self.layout
        buckets = [self._spill.queue(PlainArrays()) for _ in range(self.partitions)]
        number = 0
        for block in draft.relationships():
            for first in range(0, len(block.types), _DISTRIBUTED):
                part = _part(block, first)
                starts = part.starts.astype(layout.neighbours, copy=False)
                columns: list[NDArray[Any]] = [
                    starts if self.row_of is None else self.row_of[starts],
                    part.types.astype(layout.types, copy=False),
                    part.ends.astype(layout.neighbours, copy=False),
                ]
                if part.ids is not None:
                    columns.append(part.ids)
                if draft.relationship_columns:
                    columns.append(np.arange(number, number + len(starts), dtype=layout.relationships))
                number += len(starts)
                if self.partition_of is None:
                    buckets[0].put(tuple(columns))
                else:
                    _distribute(buckets, self.partition_of[starts], columns)
        draft.release()
        return buckets

    def _sorted(self, bucket: Queue[Arrays], row_count: int) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
        """The sorted rows, types and ends of a bucket."""
        draft, layout = self._draft, self.layout
        dtypes: list[Any] = [self._row_type, layout.types, layout.neighbours]
        if draft.keeps_ids:
            dtypes.append(np.int64)
        if draft.relationship_columns:
            dtypes.append(layout.relationships)
        rows, types, ends, *others = joined(bucket, tuple(dtypes))
        keys = ((rows, row_count), (types, self._type_count), (ends, draft.node_count))
        if not others and (ordered := sorted_columns(*keys)) is not None:
            rows, types, ends = ordered
        elif (order := order_of(*keys)) is not None:
            rows, types, ends = rows[order], types[order], ends[order]
            others = [column[order] for column in others]
        if draft.keeps_ids:
            self._ids.put((others.pop(0),))
        if others:
            self._numbers.put((others[0],))
        return rows, types, ends

    @property
    def _row_type(self) -> Any:
        return self.layout.neighbours if self.row_of is None else np.int32

    def _count(self, starts: NDArray[Any], types: NDArray[Any], ends: NDArray[Any]) -> None:
        """Count each type, and each pattern of start labels, type and end labels."""
        labels, sets = self._draft.node_labels, self._draft.tokens.label_set_count
        possible = sets * sets * self._type_count
        for first in range(0, len(types), _DISTRIBUTED):
            some = slice(first, first + _DISTRIBUTED)
            kinds = types[some].astype(np.int64)
            self.type_counts += np.bincount(kinds, minlength=len(self.type_counts))
            if possible <= _COUNTED_PATTERNS:
                counted = np.bincount(
                    (labels[starts[some]] * np.int64(self._type_count) + kinds) * sets + labels[ends[some]],
                    minlength=1,
                )
                places = np.flatnonzero(counted)
                start_sets, rest = np.divmod(places, self._type_count * sets)
                patterns = Base.packed_patterns(start_sets, rest // sets, rest % sets)
                counts = counted[places]
            else:
                packed = Base.packed_patterns(labels[starts[some]], kinds, labels[ends[some]])
                patterns, counts = np.unique(packed, return_counts=True)
            for pattern, count in zip(patterns.tolist(), counts.tolist(), strict=True):
                self.pattern_counts[pattern] = self.pattern_counts.get(pattern, 0) + count

    def _hand_to_incoming(self, first: int, starts: NDArray[Any], types: NDArray[Any], ends: NDArray[Any]) -> None:
        starts = starts.astype(self.layout.neighbours, copy=False)
        for at in range(0, len(types), _DISTRIBUTED if self.partition_of is not None else max(len(types), 1)):
            some = slice(at, at + _DISTRIBUTED if self.partition_of is not None else None)
            positions = np.arange(first + at, first + at + len(types[some]), dtype=self.layout.relationships)
            if self.partition_of is None or self.row_of is None:
                self._incoming[0].put((ends, types, starts, positions))
            else:
                targets = ends[some]
                columns = [self.row_of[targets], types[some], starts[some], positions]
                _distribute(self._incoming, self.partition_of[targets], columns)

    # --- incoming ---

    def incoming(self) -> Iterator[Incidence]:
        """The incoming side of each partition."""
        layout = self.layout
        for partition, bucket in enumerate(self._incoming):
            dtypes = (self._row_type, layout.types, layout.neighbours, layout.relationships)
            rows, types, starts, positions = joined(bucket, dtypes)
            indptr = _indptr(rows, self._indptr_rows(partition), layout)
            order = order_of((rows, self._row_count(partition)), (types, self._type_count))
            del rows
            if order is not None:
                types, starts, positions = types[order], starts[order], positions[order]
            yield Incidence(indptr, starts, types, positions)

    # --- what belongs to relationships, once the outgoing side is there ---

    def relationship_ids(self) -> Int64s | None:
        """By position; None: the id is the position."""
        if not self._draft.keeps_ids:
            return None
        (ids,) = joined(self._ids, (np.int64,))
        return None if is_identity(ids) else ids

    def new_numbers(self) -> NDArray[Any] | None:
        """The position of each relationship of the draft; None if not needed."""
        if not self._draft.relationship_columns:
            return None
        (numbers,) = joined(self._numbers, (self.layout.relationships,))
        positions = np.empty_like(numbers)
        positions[numbers] = np.arange(len(numbers), dtype=numbers.dtype)
        return positions


def build_base(draft: Draft, partitions: int) -> Base:
    """A base in memory."""
    build = Build(draft, partitions, Spill())
    outgoing = tuple(build.outgoing())
    incoming = tuple(build.incoming())
    new_numbers = build.new_numbers()
    total = draft.relationship_count
    partition_of, row_of = build.partition_of, build.row_of
    if partition_of is not None and row_of is not None:
        spare_partitions, spare = spare_rows(build)
        partition_of, row_of = np.concatenate([partition_of, spare_partitions]), np.concatenate([row_of, spare])
    types = [incidence.types for incidence in outgoing]
    patterns = sorted(build.pattern_counts)
    node_columns = {key: gathered(column, draft.node_count) for key, column in draft.node_columns.items()}
    relationship_columns = {
        key: gathered(column, total, new_numbers) for key, column in draft.relationship_columns.items()
    }
    return Base(
        draft.tokens,
        draft.node_labels,
        None if draft.node_ids is None or is_identity(draft.node_ids) else draft.node_ids,
        draft.next_node_id,
        types[0] if len(types) == 1 else np.concatenate(types),
        build.relationship_ids(),
        draft.next_relationship_id,
        outgoing,
        incoming,
        partition_of,
        row_of,
        {key: column for key, column in node_columns.items() if column is not None},
        {key: column for key, column in relationship_columns.items() if column is not None},
        build.type_counts,
        (np.array(patterns, np.int64), np.array([build.pattern_counts[pattern] for pattern in patterns], np.int64)),
    )


def spare_rows(build: Build) -> tuple[NDArray[Any], NDArray[Any]]:
    """Partitions and rows for future nodes: all lead to an empty row."""
    assert build.partition_of is not None
    spare = len(build.partition_of) // 4 + 1024
    empty_row = len(build.nodes_of_partition(0))
    return np.zeros(spare, build.partition_of.dtype), np.full(spare, empty_row, np.int32)


def empty_base(tokens: Tokens, partitions: int) -> Base:
    """The base of a new database."""
    return build_base(empty_draft(tokens), partitions)


def is_identity(ids: Int64s) -> bool:
    """Whether every id equals its position."""
    return not len(ids) or (ids[-1] == len(ids) - 1 and bool((ids == np.arange(len(ids))).all()))


def _part(block: RelationshipBlock, first: int) -> RelationshipBlock:
    if first == 0 and len(block.types) <= _DISTRIBUTED:
        return block
    some = slice(first, first + _DISTRIBUTED)
    ids = None if block.ids is None else block.ids[some]
    return RelationshipBlock(block.starts[some], block.types[some], block.ends[some], ids)


def _distribute(buckets: list[Queue[Arrays]], partitions: NDArray[Any], columns: list[NDArray[Any]]) -> None:
    order = np.argsort(partitions, kind="stable")
    columns = [column[order] for column in columns]
    ends = np.cumsum(np.bincount(partitions, minlength=len(buckets))).tolist()
    for bucket, first, last in zip(buckets, [0, *ends[:-1]], ends, strict=True):
        if last > first:
            bucket.put(tuple(column[first:last] for column in columns))


def _add_counts(degrees: NDArray[Any], nodes: NDArray[Any]) -> None:
    """Add how often each node occurs. Sorted pieces are counted in memory order, which is faster."""
    for first in range(0, len(nodes), _DISTRIBUTED):
        some = np.sort(nodes[first : first + _DISTRIBUTED])
        bounds = np.concatenate([[0], np.flatnonzero(some[1:] != some[:-1]) + 1])
        degrees[some[bounds]] += np.diff(np.append(bounds, len(some))).astype(degrees.dtype)


def _indptr(rows: NDArray[Any], count: int, layout: Layout) -> NDArray[Any]:
    indptr = np.zeros(count + 1, layout.indptr)
    if len(rows) <= _DISTRIBUTED:
        counts: NDArray[Any] = np.bincount(rows, minlength=count)
    else:
        counts = np.zeros(count, layout.indptr)
        _add_counts(counts, rows)
    np.cumsum(counts, out=indptr[1:])
    return indptr
