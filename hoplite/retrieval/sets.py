"""Sets of nodes, one for each question, and the steps that lead on from all of them at once.

    offsets   int64[questions + 1]
    nodes     int64[]               set i has nodes[offsets[i]:offsets[i + 1]], ids as id(n) gives them

`expand` computes walks: what one step reaches, each node once. `follow` computes the ends of a chain of steps that
takes no relationship twice, as a MATCH in Cypher does. The relationships of a step are kept only as long as a later
step could take them again; rows that are equal otherwise are merged.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeAlias, overload

import numpy as np
from numpy.typing import NDArray

from hoplite.engine import hops
from hoplite.engine.hops import Hop
from hoplite.engine.khop import SIDES
from hoplite.errors import argument_error, driver_errors
from hoplite.values.columns import Int64s, ragged_take

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.storage.snapshot import Snapshot

Direction: TypeAlias = Literal["out", "in", "both"]

# Sets that a chain is followed for at once, at first and at most, and partial paths above which there are fewer.
_FEWEST, _MOST, _MANY_ROWS = 64, 1 << 14, 1 << 19


@dataclass(frozen=True, slots=True)
class NodeSets:
    """A set of nodes for each question."""

    offsets: Int64s
    nodes: Int64s

    @staticmethod
    def of(sets: Iterable[Any]) -> NodeSets:
        """From lists or arrays of ids, one for each question; an id alone is a set of one."""
        if isinstance(sets, str):
            raise ValueError(f"There is a set of ids for each question; {sets!r} is a text")
        listed = [_ids(one) for one in sets]
        offsets = np.cumsum([0, *map(len, listed)], dtype=np.int64)
        return NodeSets(offsets, np.concatenate([np.zeros(0, np.int64), *listed]))

    @staticmethod
    def from_rows(questions: Int64s, nodes: Int64s, count: int) -> NodeSets:
        """From pairs of a question (ascending) and a node."""
        return NodeSets(np.searchsorted(questions, np.arange(count + 1)).astype(np.int64), nodes)

    @property
    def questions(self) -> Int64s:
        """The question of each node."""
        return np.repeat(np.arange(len(self), dtype=np.int64), np.diff(self.offsets))

    @property
    def sizes(self) -> Int64s:
        """How many nodes each set has."""
        return np.diff(self.offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @overload
    def __getitem__(self, which: int) -> Int64s: ...

    @overload
    def __getitem__(self, which: Int64s) -> NodeSets: ...

    def __getitem__(self, which: int | Int64s) -> Int64s | NodeSets:
        """One set, or the sets with these numbers."""
        if isinstance(which, np.ndarray):
            offsets, items = ragged_take(self.offsets, which)
            return NodeSets(offsets, self.nodes[items])
        if not -len(self) <= which < len(self):
            raise IndexError(f"There are {len(self)} sets, and none with number {which}")
        which %= len(self)
        return self.nodes[self.offsets[which] : self.offsets[which + 1]]


class _Step(NamedTuple):
    types: tuple[str, ...] | None
    direction: Direction


class Step(_Step):
    """One hop: over relationships of a type or of any of several (None: all of them), in one direction or both."""

    __slots__ = ()

    def __new__(cls, types: str | Iterable[str] | None, direction: Direction = "out") -> Step:
        """With the types as a tuple."""
        if direction not in SIDES:
            raise ValueError(f"direction is 'out', 'in' or 'both', not {direction!r}")
        listed = (types,) if isinstance(types, str) else None if types is None else tuple(types)
        return super().__new__(cls, listed, direction)


def expand(db: Database, sets: NodeSets, steps: Step | Sequence[Step]) -> NodeSets:
    """The distinct nodes one step from those of each set; one step for all sets, or one for each."""
    with driver_errors():
        graph, check = db._graph.snapshot(), db._deadline()
        nodes = positions_of(graph, sets.nodes)
        if isinstance(steps, Step):
            return _expanded(db, graph, NodeSets(sets.offsets, nodes), steps, check)
        if len(steps) != len(sets):
            raise ValueError(f"There are {len(sets)} sets and {len(steps)} steps: one for each is needed")
        found: list[tuple[Int64s, NodeSets]] = []
        for step, which in _by_value(steps):
            found.append((which, _expanded(db, graph, NodeSets(sets.offsets, nodes)[which], step, check)))
    return _merged(found, len(sets))


def follow(
    db: Database, sets: NodeSets, chains: Sequence[Step] | Sequence[Sequence[Step]], *, unique: bool = True
) -> NodeSets:
    """The distinct nodes at the end of a chain of steps from the nodes of each set; one chain for all, or one for each.

    With `unique`, as usual, no relationship is taken twice on the way, which is what a MATCH in Cypher means.
    """
    for_all = not len(chains) or isinstance(chains[0], Step)
    given: Any = [chains] * len(sets) if for_all else chains
    every: list[tuple[Step, ...]] = [tuple(chain) for chain in given]
    if len(every) != len(sets):
        raise ValueError(f"There are {len(sets)} sets and {len(every)} chains: one for each is needed")
    with driver_errors():
        graph, check = db._graph.snapshot(), db._deadline()
        starts = NodeSets(sets.offsets, positions_of(graph, sets.nodes))
        found: list[tuple[Int64s, NodeSets]] = []
        for chain, which in _by_value(every):
            way = _Way(
                graph,
                tuple(_hop(graph, step) for step in chain),
                _taken_again(graph, chain) if unique else ((),) * len(chain),
                db._backend,
                check,
            )
            found.append((which, way.ends(starts[which])))
    return _merged(found, len(sets))


def steps_at(db: Database, sets: NodeSets) -> list[list[Step]]:
    """For each set the steps of one type and one direction that lead on from any of its nodes, by name."""
    with driver_errors():
        graph = db._graph.snapshot()
        names = graph.type_names
        table = graph.derived(("steps at nodes",), lambda: _step_table(graph))
        found = np.zeros((len(sets), table.shape[1]), np.uint8)
        filled = np.flatnonzero(sets.sizes)
        if len(filled):
            rows = table[positions_of(graph, sets.nodes)]
            found[filled] = np.bitwise_or.reduceat(rows, sets.offsets[filled], axis=0)
    flags = np.unpackbits(found, axis=1)[:, : 2 * len(names)]
    every = [Step((name,), direction) for name in names for direction in ("out", "in")]
    order = sorted(range(len(every)), key=lambda number: every[number])
    return [[every[number] for number in order if row[number]] for row in flags]


# --- inside: positions of one version of the graph in the place of ids ---


def _ids(given: Any) -> Int64s:
    """One set. Numbers that are not integers are refused: rounded, they would be other nodes."""
    several = isinstance(given, Iterable) and not isinstance(given, str)
    listed = given if isinstance(given, np.ndarray) else list(given) if several else [given]
    try:
        ids = np.atleast_1d(np.asarray(listed))
    except ValueError:  # lists of different lengths
        ids = np.empty((1, 1), object)
    if not ids.size:
        return np.zeros(0, np.int64)
    if ids.dtype.kind not in "iu" or ids.ndim != 1:
        wrong = next((one for one in listed if not isinstance(one, int | np.integer)), listed)
        raise ValueError(f"A set has ids of nodes, as id(n) gives them, not {wrong!r}; a Linker finds nodes by name")
    return ids.astype(np.int64, copy=False)


def positions_of(graph: Snapshot, ids: Int64s) -> Int64s:
    """Where nodes are in this version; one that does not exist is an error."""
    positions = graph.node_positions(ids)
    if len(positions) and positions.min() < 0:
        raise argument_error(f"There is no node with id {ids[positions < 0][0]}")
    return positions


def _hop(graph: Snapshot, step: Step) -> Hop:
    return hops.hop_of(graph, SIDES[step.direction], step.types)


def _by_value(given: Sequence[Any]) -> list[tuple[Any, Int64s]]:
    """Each different value, and where it is."""
    places: dict[Any, list[int]] = {}
    for number, value in enumerate(given):
        places.setdefault(value, []).append(number)
    return [(value, np.array(where, np.int64)) for value, where in places.items()]


def _expanded(db: Database, graph: Snapshot, sets: NodeSets, step: Step, check: hops.Check) -> NodeSets:
    found = hops.neighbourhoods(_hop(graph, step), sets.offsets, sets.nodes, check=check, backend=db._backend)
    assert found is not None  # there was no limit
    return NodeSets(found.offsets, graph.node_ids(found.nodes.astype(np.int64, copy=False)))


def _merged(found: Sequence[tuple[Int64s, NodeSets]], count: int) -> NodeSets:
    """The sets of several answers, each with the numbers of its questions, in the order of the questions."""
    if len(found) == 1 and len(found[0][0]) == count:
        return found[0][1]
    numbers = np.concatenate([np.zeros(0, np.int64), *(which for which, _ in found)])
    sizes = np.concatenate([np.zeros(0, np.int64), *(sets.sizes for _, sets in found)])
    nodes = np.concatenate([np.zeros(0, np.int64), *(sets.nodes for _, sets in found)])
    offsets = np.concatenate(([0], np.cumsum(sizes))).astype(np.int64)
    return NodeSets(offsets, nodes)[np.argsort(numbers, kind="stable")]


@dataclass(frozen=True, slots=True)
class _Way:
    """A chain of hops; `again` has for each of them the earlier ones whose relationships it may not take."""

    graph: Snapshot
    chain: tuple[Hop, ...]
    again: tuple[tuple[int, ...], ...]
    backend: hops.BackendName
    check: hops.Check

    def ends(self, sets: NodeSets) -> NodeSets:
        """The distinct ends for each set, made for some sets at a time: as many as memory allows."""
        pieces: list[tuple[Int64s, NodeSets]] = []
        first, width = 0, _FEWEST
        while first < len(sets):
            which = np.arange(first, min(first + width, len(sets)), dtype=np.int64)
            nodes, rows = self._ends(sets[which])
            pieces.append((which, nodes))
            first += len(which)
            width = min(4 * width, _MOST) if rows < _MANY_ROWS else max(width // 4, 1)
        return _merged(pieces, len(sets))

    def _ends(self, sets: NodeSets) -> tuple[NodeSets, int]:
        """The ends, and how many rows were held at most."""
        question, node, largest = sets.questions, sets.nodes, len(sets.nodes)
        taken: dict[int, Int64s] = {}
        for number, hop in enumerate(self.chain):
            self.check()
            steps = hops.expand(hop, node, backend=self.backend)
            largest = max(largest, len(steps.row))
            kept = np.ones(len(steps.row), np.bool_)
            for earlier in self.again[number]:
                kept &= taken[earlier][steps.row] != steps.relationships
            row, relationships = steps.row[kept], steps.relationships[kept]
            question, node = question[row], steps.neighbours[kept]
            needed = {earlier for later in self.again[number + 1 :] for earlier in later if earlier <= number}
            taken = {one: relationships if one == number else taken[one][row] for one in sorted(needed)}
            question, node, taken = _distinct_rows(question, node, taken)
        order = np.argsort(question, kind="stable")
        return NodeSets.from_rows(question[order], self.graph.node_ids(node[order]), len(sets)), largest


def _distinct_rows(
    question: Int64s, node: Int64s, taken: dict[int, Int64s]
) -> tuple[Int64s, Int64s, dict[int, Int64s]]:
    if not len(node):
        return question, node, taken
    key = question * (int(node.max()) + 1) + node
    if not taken:
        _, kept = np.unique(key, return_index=True)
    else:
        columns = [key, *taken.values()]
        order = np.lexsort(columns)
        same = np.ones(len(order), np.bool_)
        same[0] = False
        for column in columns:
            ordered = column[order]
            same[1:] &= ordered[1:] == ordered[:-1]
        kept = order[~same]
    return question[kept], node[kept], {step: column[kept] for step, column in taken.items()}


def _taken_again(graph: Snapshot, chain: tuple[Step, ...]) -> tuple[tuple[int, ...], ...]:
    """For each step the earlier ones whose relationships it might take again: those that share a type with it."""
    codes = [None if (found := hops.type_codes(graph, step.types)) is None else set(found.tolist()) for step in chain]

    def share(one: set[int] | None, other: set[int] | None) -> bool:
        return one is None or other is None or bool(one & other)

    return tuple(
        tuple(earlier for earlier in range(number) if share(codes[earlier], codes[number]))
        for number in range(len(chain))
    )


def _step_table(graph: Snapshot) -> NDArray[np.uint8]:
    """For each node which types leave it and which enter it, a bit for each type and direction."""
    every = graph.relationships()
    starts, ends = graph.endpoints(every)
    codes = graph.relationship_types(every).astype(np.int64)
    table = np.zeros((graph.adjacency(True).node_count, (2 * len(graph.type_names) + 7) // 8), np.uint8)
    for nodes, bits in ((starts, 2 * codes), (ends, 2 * codes + 1)):
        np.bitwise_or.at(table, (nodes, bits >> 3), (128 >> (bits & 7)).astype(np.uint8))
    return table
