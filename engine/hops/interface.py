"""What hops take and return: the types shared by every backend and by the operators that call them.

A hop follows relationships from nodes to nodes: `t = (q . SUB) * mask`, `q' = t . OBJ`. Nodes and relationships are
positions (int64) in one snapshot. What is asked for decides what is carried along. A trail uses no relationship twice.

    expand(hop, nodes)                                    -> Steps            one hop from each node
    expand_chunks(hop, nodes, limit)                      -> Iterator[Steps]  the same in bounded pieces
    expand_into(hop, sources, targets)                    -> Steps            one hop between the nodes of each pair
    degrees(hop, nodes)                                   -> int64[]          how many steps `expand` would find
    reach(hop, sources, lower, upper, excluded=)          -> Ends             distinct ends of trails, for each row
    reach_merged(hop, sources, lower, upper)              -> int64[]          distinct ends of trails from any source
    levels(hop, sources, upper)                           -> Levels           shortest distances from a set
    trails(hop, sources, lower, upper, ends=, excluded=)  -> Iterator[TrailBatch]
    shortest_trails(hop, sources, targets, lower, upper, choice)  -> Iterator[TrailBatch]  by length, for each pair
    shortest_paths(hop, sources, targets, lower, upper)   -> Iterator[TrailBatch]  one or all of the shortest
    count_trails(hop, sources, lower, upper)              -> int64[]          how many trails, for each row
    neighbourhoods(hop, offsets, sources)                 -> Neighbourhoods   distinct ends of one hop, for each group
    count_pairs(pairs, row_numbers, node_numbers, counts) -> int64[]          how many distinct partners, for each
    count_matches(pattern, given, row_count)              -> int64[]          how many matches, for each row
    count_matches_by_end(pattern, given, row_count)       -> Iterator[EndCounts]  the same for each row and end
    sums_for_all(hop, weights)                            -> int64[]          sums over neighbours, for every node

They are functions of `hoplite.engine.hops`. Arrays of sources, targets and the like have one entry for each row of a
batch; a node of -1 stands for null, and nothing is found from it. An `upper` of None means no bound.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import field, replace
from enum import Enum
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.incidence import Adjacency

if TYPE_CHECKING:
    from hoplite.engine.hops.pattern import EndCounts, Given, Pattern
    from hoplite.engine.hops.scratch import Scratch
    from hoplite.engine.hops.search import Search
    from hoplite.engine.hops.spread import Spread

Positions: TypeAlias = NDArray[np.int64]
Booleans: TypeAlias = NDArray[np.bool_]
Counts: TypeAlias = tuple[int, int]

# Called between bounded amounts of work; raises to stop (a deadline, a cancelled query).
Check: TypeAlias = Callable[[], None]

# (the nodes to start from) -> the nodes found; see `Backend.settled_search`.
SettledSearch: TypeAlias = Callable[[Positions, Check], Positions]

# (relationships, nodes stepped from, nodes stepped to) -> which of these steps may be taken.
RelationshipMask: TypeAlias = Callable[[Positions, Positions, Positions], Booleans]

# (nodes stepped to) -> which of them may be entered. Never asked about the node that a trail starts from.
NodeMask: TypeAlias = Callable[[Positions], Booleans]


def unchecked() -> None:
    """The `Check` of a caller that never stops the work."""


class Side(Enum):
    """Which way relationships are followed."""

    OUTGOING = "->"
    INCOMING = "<-"
    BOTH = "--"

    __hash__ = object.__hash__  # used in every query's look-ups, and Enum's own is written in Python

    @property
    def opposite(self) -> Side:
        match self:
            case Side.OUTGOING:
                return Side.INCOMING
            case Side.INCOMING:
                return Side.OUTGOING
            case Side.BOTH:
                return Side.BOTH


@dataclass(frozen=True, slots=True, eq=False)
class Hop:
    """One step: which relationships may be followed, and which way.

    `outgoing` is needed to follow relationships forwards and `incoming` to follow them backwards. A directed hop may
    have the other one too: it serves to search from the far end (a bound target, a shortest path).

    Masks are asked only about steps that are reached, and never while searching from the far end. `masks.py` remembers
    their answers. `symmetric_mask` promises that the relationship mask gives the same answer in both directions.
    """

    side: Side
    outgoing: Adjacency | None = None
    incoming: Adjacency | None = None
    types: NDArray[np.int32] | None = None
    relationship_mask: RelationshipMask | None = None
    node_mask: NodeMask | None = None
    symmetric_mask: bool = False
    # The adjacencies that a step reads: one, or outgoing and incoming.
    sides: tuple[Adjacency, ...] = field(init=False)
    node_count: int = field(init=False)
    # Whether fused kernels may run over the arrays: no masks, one partition, nothing above it.
    is_plain: bool = field(init=False)
    # What backends have derived from the arrays, by name.
    prepared: dict[str, object] = field(init=False)

    def __post_init__(self) -> None:
        match self.side:
            case Side.OUTGOING:
                wanted: tuple[Adjacency | None, ...] = (self.outgoing,)
            case Side.INCOMING:
                wanted = (self.incoming,)
            case Side.BOTH:
                wanted = (self.outgoing, self.incoming)
        sides = tuple(side for side in wanted if side is not None)
        assert len(sides) == len(wanted), f"A hop with side '{self.side.value}' needs its adjacency."
        object.__setattr__(self, "sides", sides)
        object.__setattr__(self, "node_count", sides[0].node_count)
        object.__setattr__(self, "is_plain", not self.has_mask and all(side.is_plain for side in sides))
        object.__setattr__(self, "prepared", sides[0].new_kept())

    @property
    def has_mask(self) -> bool:
        return self.relationship_mask is not None or self.node_mask is not None

    @property
    def is_narrow(self) -> bool:
        """Whether the arrays have the smaller integers used for large graphs."""
        known = self.prepared.get("is narrow")
        if known is None:
            known = self.prepared["is narrow"] = any(
                side.dtype_of("indptr") == np.int32 for side in self.sides if len(side.partitions)
            )
        return bool(known)

    @property
    def can_turn(self) -> bool:
        """Whether the same relationships can be followed from their far end."""
        return (self.side is not Side.INCOMING or self.outgoing is not None) and (
            self.side is not Side.OUTGOING or self.incoming is not None
        )

    def turned(self) -> Hop:
        """The same relationships followed from their far end, without masks: a superset of the steps, for bounds."""
        return replace(self, side=self.side.opposite, relationship_mask=None, node_mask=None)

    def unmasked(self) -> Hop:
        return replace(self, relationship_mask=None, node_mask=None)


class Steps(NamedTuple):
    """Steps from given nodes: `row` is the index of the node stepped from, ascending."""

    row: Positions
    relationships: Positions
    neighbours: Positions


class Ends(NamedTuple):
    """For each row (ascending), the distinct nodes where a trail ends."""

    row: Positions
    nodes: Positions


class NodeBatch(NamedTuple):
    """For each group, the distinct nodes entered from its sources: group i has nodes[offsets[i]:offsets[i + 1]].

    Nodes are int32 or int64, in any order within a group. Batches are large, so there is no array of rows.
    """

    offsets: Positions
    nodes: NDArray[np.int32] | Positions


class Neighbourhoods(NamedTuple):
    """For each group, the distinct nodes one hop from its sources, as in `NodeBatch`; `every` has the nodes of all
    groups, each once."""

    offsets: Positions
    nodes: NDArray[np.int32] | Positions
    every: Positions


class SearchLevels(NamedTuple):
    """What a breadth-first search found: nodes[i] was first entered in search group[i] after level[i] relationships.

    Groups ascend, and levels within a group. Every node up to `depth` away is listed; UNLIMITED if there are no others.
    """

    group: Positions
    nodes: Positions
    level: Positions
    depth: int


UNLIMITED = 1 << 40


class Levels(NamedTuple):
    """Shortest distances: nodes[i] is level[i] relationships from the nearest source; levels ascend."""

    nodes: Positions
    level: Positions


class TrailBatch(NamedTuple):
    """Some trails: trail i belongs to row[i] and takes relationships[offsets[i]:offsets[i + 1]].

    `nodes` is parallel to `relationships`: the node each of them leads to. The first node is the source of the row.
    """

    row: Positions
    offsets: Positions
    relationships: Positions
    nodes: Positions


@dataclass(frozen=True, slots=True, eq=False)
class Excluded:
    """Relationships that a row may not use: relationships[offsets[row]:offsets[row + 1]], sorted within a row."""

    offsets: Positions
    relationships: Positions

    @staticmethod
    def of_columns(*columns: Positions) -> Excluded:
        """One relationship of each column for each row; -1 (null) excludes nothing."""
        table = np.sort(np.stack(columns, axis=1), axis=1)
        return Excluded.of_lists(np.arange(len(table) + 1, dtype=np.int64) * table.shape[1], table.reshape(-1))

    @staticmethod
    def of_lists(offsets: Positions, relationships: Positions) -> Excluded:
        """The list relationships[offsets[row]:offsets[row + 1]] for each row, in any order; -1 excludes nothing."""
        rows = np.repeat(np.arange(len(offsets) - 1, dtype=np.int64), np.diff(offsets))
        kept = relationships >= 0
        rows, relationships = rows[kept], relationships[kept]
        order = np.lexsort((relationships, rows))
        counts = np.bincount(rows, minlength=len(offsets) - 1)
        return Excluded(np.concatenate(([0], np.cumsum(counts))).astype(np.int64), relationships[order])

    def contains(self, rows: Positions, relationships: Positions) -> Booleans:
        """For each pair of row and relationship, whether that row excludes it."""
        if not len(self.relationships) or not len(rows):
            return np.zeros(len(rows), dtype=np.bool_)
        # Each pair as one number: lists come in order of row and each is sorted, so the numbers are sorted too.
        span = int(max(self.relationships.max(), relationships.max())) + 1
        lists = np.repeat(np.arange(len(self.offsets) - 1), np.diff(self.offsets))
        listed, asked = lists * span + self.relationships, rows * span + relationships
        place = np.minimum(np.searchsorted(listed, asked), len(listed) - 1)
        found: Booleans = listed[place] == asked
        return found

    def take(self, rows: Positions) -> Excluded:
        """The lists of the given rows, in their order."""
        starts, counts = self.offsets[rows], self.offsets[rows + 1] - self.offsets[rows]
        offsets = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
        entries = np.arange(offsets[-1], dtype=np.int64) + np.repeat(starts - offsets[:-1], counts)
        return Excluded(offsets, self.relationships[entries])


@dataclass(frozen=True, slots=True, eq=False)
class Guide:
    """Lower bounds on the distance to a wanted end, to cut off trails that cannot get there.

    `table` says which search from the ends belongs to each row; `keys` are table * node_count + node, ascending, with
    `level` relationships to go from that node; a node that is not listed has more than `depth` to go.
    """

    node_count: int
    table: Positions
    keys: Positions
    level: Positions
    depth: int

    def remaining(self, rows: Positions, nodes: Positions) -> Positions:
        """For each pair of row and node, a lower bound on the relationships to an end; 0: it is one."""
        keys = self.table[rows] * self.node_count + nodes
        if not len(self.keys):
            return np.full(len(keys), self.depth + 1, dtype=np.int64)
        place = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
        return np.where(self.keys[place] == keys, self.level[place], self.depth + 1)


class TrailQuota(NamedTuple):
    """How many more trails each row may have (`left`), and the least possible length of a trail that the upper bound
    cut off (`beyond`; UNLIMITED: none was). Both are updated while trails are made."""

    left: Positions
    beyond: Positions


class Backend(Protocol):
    """The kernels that differ between backends. Everything else is built from these.

    A search group is a run of equal numbers in `groups` (ascending): its sources are searched from together, separately
    from other groups. Sources are nodes, never -1. `excluded` has a list for each number.
    """

    name: str

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        """One hop from each node."""
        ...

    def bfs_levels(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        excluded: Excluded | None = None,
        budget: int | None = None,
        check: Check = unchecked,
    ) -> SearchLevels:
        """Breadth-first search over walks. With `mark_starts` the sources are listed at level 0; without, they are
        listed only when a walk comes back to them. A search stops before a level that would exceed the budget of
        steps."""
        ...

    def bfs_nodes(
        self, hop: Hop, sources: Positions, upper: int | None, *, mark_starts: bool, check: Check = unchecked
    ) -> Positions:
        """The nodes of `bfs_levels` for a single group."""
        ...

    def settled_search(self, hop: Hop, upper: int | None, mark_starts: bool) -> SettledSearch | None:
        """`bfs_nodes` with everything looked up that depends on the hop alone, for one that stays as it is and whose
        arrays are in memory; None if there is no such thing, or not yet."""
        ...

    def bfs_batch(
        self,
        hop: Hop,
        offsets: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        check: Check = unchecked,
    ) -> NodeBatch:
        """`bfs_nodes` for many groups at once: group i is searched from sources[offsets[i]:offsets[i + 1]]."""
        ...

    def neighbourhoods(
        self, hop: Hop, offsets: Positions, sources: Positions, most: int, *, check: Check = unchecked
    ) -> Neighbourhoods | None:
        """`bfs_batch` of one hop, for very many small groups; sources may be -1 here. None if there are more than
        `most` pairs."""
        ...

    def count_pairs(
        self, pairs: Neighbourhoods, row_numbers: Positions, node_numbers: Positions, counts: Counts, *, by_rows: bool
    ) -> Positions:
        """How many distinct numbers each number is paired with; see `pairs.py`."""
        ...

    def count_matches(self, pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked) -> Positions:
        """How many matches a pattern has from each row; see `pattern.py`."""
        ...

    def count_matches_by_end(
        self, pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked
    ) -> Iterator[EndCounts]:
        """How many matches lead from each row to each end of a pattern, in bounded pieces."""
        ...

    def sums_for_all(self, hop: Hop, weights: Positions | None, *, check: Check = unchecked) -> Positions | None:
        """For each node of the graph the sum of the weights of its neighbours, each as often as it is one; without
        weights how many there are. None where the backend has no quick way, or sums might not fit."""
        ...

    def closing_lengths(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        excluded: Excluded | None = None,
        check: Check = unchecked,
    ) -> Positions:
        """For an undirected hop and each source, the length of the shortest trail to it from a source of its group,
        itself included; 0 if there is none up to `upper`. Sources are distinct within a group."""
        ...

    def trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        guide: Guide | None = None,
        excluded: Excluded | None = None,
        quota: TrailQuota | None = None,
        chunk: int = 4096,
        check: Check = unchecked,
    ) -> Iterator[TrailBatch]:
        """The trails from each source, in batches of about `chunk` relationships (smaller ones first). With a quota, a
        row ends when it has its share."""
        ...

    def search(self, hop: Hop, source: int | Positions, scratch: Scratch) -> Search:
        """A breadth-first search from one node, or several distinct ones, in borrowed arrays."""
        ...

    def spread(self, hop: Hop, scratch: Scratch) -> Spread:
        """A breadth-first search whose levels others may take, in borrowed arrays."""
        ...

    def from_bits(self, bits: NDArray[np.uint64]) -> Positions:
        """The nodes that are set in bits, ascending; see `spread.py`."""
        ...

    def count_trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        excluded: Excluded | None = None,
        check: Check = unchecked,
    ) -> Positions:
        """How many trails there are from each source."""
        ...
