"""Paths beyond plain variable length: repeated path patterns, shortest paths, and the choice among paths."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution
from hoplite.engine.operators.base import (
    Evaluator,
    Operator,
    argument_rows,
    column_of,
    evaluate,
    node_positions,
    relationship_positions,
)
from hoplite.engine.operators.expand import StepPredicate, make_hop, walked_nodes
from hoplite.engine.operators.rows import constant_of
from hoplite.errors import CypherError
from hoplite.grammar.ast import Direction
from hoplite.planner.logical import Group
from hoplite.planner.subquery import ROW
from hoplite.values.columns import (
    Booleans,
    Column,
    EntityLists,
    Int64s,
    Integers,
    Nodes,
    Paths,
)

_STATES_AT_ONCE = 4096  # rows that a repetition extends in one go: bounds memory, lets LIMIT stop early

_SAME_ENDS = """\
The shortest path algorithm does not work when the start and end nodes are the same. This can happen if you
perform a shortestPath search after a cartesian product that might have the same start and end nodes for some
of the rows passed to shortestPath. If you would rather not experience this exception, and can accept the
possibility of missing results for those rows, disable this in the Neo4j configuration by setting
`dbms.cypher.forbid_shortestpath_common_nodes` to false. If you cannot accept missing results, and really want the
shortestPath between two common nodes, then re-write the query using a standard Cypher variable length pattern
expression followed by ordering by path length and limiting to one result."""


@dataclass(slots=True, eq=False)
class _State:
    """Paths under way: for each the row it started from, the node it has come to, and what it has collected."""

    depth: int
    row: Int64s
    node: Int64s
    trail: list[Int64s]  # the relationships of each repetition, one array for each relationship of the pattern
    collected: dict[str, list[Column]]  # for each group variable its values, one column for each repetition

    def take(self, picked: Int64s) -> _State:
        return _State(
            self.depth,
            self.row[picked],
            self.node[picked],
            [ids[picked] for ids in self.trail],
            {name: [c.take(picked) for c in columns] for name, columns in self.collected.items()},
        )


@dataclass(slots=True, eq=False)
class Repeat:
    """A path pattern repeated: states are extended by the inner plan, depth first, a bounded number at a time."""

    source: Operator
    inner: Operator
    from_node: str
    to_node: str
    into: bool
    inner_start: str
    inner_end: str
    relationships: tuple[str, ...]
    groups: tuple[Group, ...]
    trail: str
    lower: int
    upper: int | None

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each path of `lower` to `upper` repetitions."""
        for batch in self.source.run(context, argument):
            sources = node_positions(batch, self.from_node)
            rows = np.flatnonzero(sources >= 0)
            stack = [_State(0, rows, sources[rows], [], {group.inner: [] for group in self.groups})]
            while stack:
                context.check()
                state = stack.pop()
                if state.depth >= self.lower:
                    yield from self._finished(batch, state)
                if self.upper is not None and state.depth >= self.upper:
                    continue
                for start in range(0, len(state.row), _STATES_AT_ONCE):
                    part = np.arange(start, min(start + _STATES_AT_ONCE, len(state.row)), dtype=np.int64)
                    stack.extend(self._extended(context, batch, state.take(part)))

    def _extended(self, context: Execution, batch: Batch, state: _State) -> Iterator[_State]:
        """The states after one more repetition."""
        inner = batch.take(state.row)
        columns = {**inner.columns, self.inner_start: Nodes(state.node)}
        columns[ROW] = Integers(np.arange(len(state.row), dtype=np.int64))
        for found in self.inner.run(context, Batch(columns, len(state.row))):
            rows = argument_rows(found)
            assert rows is not None
            ids = [relationship_positions(found, name) for name in self.relationships]
            kept = np.ones(found.row_count, np.bool_)
            for new in ids:
                for old in state.trail:
                    kept &= new != old[rows]
            picked = np.flatnonzero(kept)
            if not len(picked):
                continue
            before = state.take(rows[picked])
            collected = {name: [*columns, found[name].take(picked)] for name, columns in before.collected.items()}
            yield _State(
                state.depth + 1,
                before.row,
                node_positions(found, self.inner_end)[picked],
                [*before.trail, *(new[picked] for new in ids)],
                collected,
            )

    def _finished(self, batch: Batch, state: _State) -> Iterator[Batch]:
        """The rows of paths that are long enough."""
        kept = np.arange(len(state.row), dtype=np.int64)
        if self.into:
            kept = np.flatnonzero(node_positions(batch, self.to_node)[state.row] == state.node)
        if not len(kept):
            return
        state = state.take(kept)
        columns: dict[str, Column] = {} if self.into else {self.to_node: Nodes(state.node)}
        columns[self.trail] = _lists(state.trail, len(kept), of_nodes=False)
        for group in self.groups:
            values = state.collected[group.inner]
            match group.kind:
                case "node":
                    ids = [c.ids for c in values if isinstance(c, Nodes)]
                    columns[group.outer] = _lists(ids, len(kept), of_nodes=True)
                case "relationship":
                    ids = [relationship_positions(Batch({"r": c}, len(c)), "r") for c in values]
                    columns[group.outer] = _lists(ids, len(kept), of_nodes=False)
                case _:
                    objects = [c.objects() for c in values]
                    columns[group.outer] = column_of([[o[i] for o in objects] for i in range(len(kept))])
        yield batch.take(state.row).with_columns(columns)


def _lists(parts: list[Int64s], count: int, of_nodes: bool) -> EntityLists:
    """Row i is the list of parts[0][i], parts[1][i], ..."""
    width = len(parts)
    ids = np.stack(parts, axis=1).reshape(-1) if parts else np.zeros(0, np.int64)
    return EntityLists(np.arange(count + 1, dtype=np.int64) * width, ids, of_nodes)


@dataclass(slots=True, eq=False)
class ShortestPaths:
    """One shortest path between two bound nodes, or all of them."""

    source: Operator
    from_node: str
    to_node: str
    relationship: str
    types: tuple[str, ...] | None
    direction: Direction
    lower: int
    upper: int | None
    every: bool
    step: StepPredicate | None
    path: str | None
    predicates: tuple[Evaluator, ...]

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each path that was chosen."""
        for batch in self.source.run(context, argument):
            sources, targets = node_positions(batch, self.from_node), node_positions(batch, self.to_node)
            if self.lower > 0 and bool(((sources == targets) & (sources >= 0)).any()):
                code = "Neo.DatabaseError.Statement.ExecutionFailed"
                raise CypherError(code, _SAME_ENDS, "51N23")
            hop = make_hop(context, self.direction, self.types, self.step, both_adjacencies=True)
            if self.predicates:
                yield from self._searched(context, batch, hop, sources, targets)
                continue
            found = hops.shortest_paths(
                hop,
                sources,
                targets,
                self.lower,
                self.upper,
                every=self.every,
                check=context.check,
                backend=context.backend,
            )
            for trails in found:
                if len(trails.row):
                    yield self._bound(context, batch, trails)

    def _bound(self, context: Execution, batch: Batch, trails: hops.TrailBatch) -> Batch:
        columns: dict[str, Column] = {
            self.relationship: EntityLists(trails.offsets, trails.relationships, of_nodes=False)
        }
        if self.path is not None:
            starts = node_positions(batch, self.from_node)[trails.row]
            nodes = walked_nodes(context, starts, trails.offsets, trails.relationships)
            columns[self.path] = Paths(starts, trails.offsets, trails.relationships, nodes)
        return batch.take(trails.row).with_columns(columns)

    def _searched(
        self, context: Execution, batch: Batch, hop: hops.Hop, sources: Int64s, targets: Int64s
    ) -> Iterator[Batch]:
        """With predicates on the whole path: trails by increasing length, until some of a length pass."""
        rows = np.flatnonzero((sources >= 0) & (targets >= 0))
        longest = int(context.graph.relationship_count) if self.upper is None else self.upper
        for length in range(self.lower, longest + 1):
            if not len(rows):
                return
            part = batch.take(rows)
            found = []
            alive = np.zeros(len(rows), np.bool_)
            for trails in hops.trails(hop, sources[rows], length, length, check=context.check, backend=context.backend):
                alive[trails.row] = True  # some trail of this length exists: a longer one may reach the end
                last = sources[rows][trails.row]
                if length:
                    last = trails.nodes[trails.offsets[1:] - 1]
                arrived = np.flatnonzero(last == targets[rows][trails.row])
                if len(arrived):
                    found.append(self._passing(context, part, _picked(trails, arrived), rows))
            kept = [f for f in found if f.row_count]
            if kept:
                passed = concatenate_batches(kept)
                column = passed["  shortest"]
                assert isinstance(column, Integers)
                chosen, first = np.unique(column.values, return_index=True)
                yield passed if self.every else passed.take(np.sort(first))
                still = ~np.isin(rows, chosen)
                rows, alive = rows[still], alive[still]
            rows = rows[alive]

    def _passing(self, context: Execution, batch: Batch, trails: hops.TrailBatch, rows: Int64s) -> Batch:
        bound = self._bound(context, batch, trails).with_columns({"  shortest": Integers(rows[trails.row])})
        for predicate in self.predicates:
            bound, (column,), error = evaluate(bound, (predicate,), context)
            if error is not None:
                raise error
            kept = [row for row, value in enumerate(column.objects()) if value is True]
            if isinstance(column, Booleans) and len(kept) == bound.row_count:
                continue
            bound = bound.take(np.array(kept, np.int64))
        return bound


def _picked(trails: hops.TrailBatch, picked: Int64s) -> hops.TrailBatch:
    lists = EntityLists(trails.offsets, trails.relationships, of_nodes=False).take(picked)
    nodes = EntityLists(trails.offsets, trails.nodes, of_nodes=True).take(picked)
    return hops.TrailBatch(trails.row[picked], lists.offsets, lists.ids, nodes.ids)


@dataclass(slots=True, eq=False)
class SelectShortest:
    """Of the rows of a path pattern, the shortest for each pair of ends and row of the argument."""

    source: Operator
    start: str
    end: str
    kind: str
    count: Evaluator
    relationships: tuple[str, ...]

    def run(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """Reads all paths, then hands on the chosen ones."""
        batches = list(self.source.run(context, argument))
        if not batches:
            return
        batch = concatenate_batches(batches)
        wanted = constant_of(self.count, context)
        assert isinstance(wanted, int)
        lengths = np.zeros(batch.row_count, np.int64)
        for name in self.relationships:
            column = batch[name]
            lengths += np.diff(column.offsets) if isinstance(column, EntityLists) else 1
        ends = [node_positions(batch, self.start), node_positions(batch, self.end)]
        rows = argument_rows(batch)
        keys = np.stack([*([] if rows is None else [rows]), *ends])
        _, pair = np.unique(keys, axis=1, return_inverse=True)
        pair = pair.reshape(-1)
        order = np.lexsort((np.arange(len(pair)), lengths, pair))
        kept = _first_of_each(pair[order], lengths[order], self.kind, wanted)
        yield batch.take(np.sort(order[kept]))


def _first_of_each(pair: Int64s, lengths: Int64s, kind: str, wanted: int) -> Int64s:
    """Which of the rows, sorted by pair and length, a selector keeps."""
    opens = np.ones(len(pair), np.bool_)
    opens[1:] = pair[1:] != pair[:-1]
    if kind in ("ANY", "SHORTEST"):
        first = np.maximum.accumulate(np.where(opens, np.arange(len(pair)), 0))
        return np.flatnonzero(np.arange(len(pair)) - first < wanted)
    longer = np.zeros(len(pair), np.int64)
    longer[1:] = (pair[1:] == pair[:-1]) & (lengths[1:] != lengths[:-1])
    group = np.cumsum(longer)
    base = np.maximum.accumulate(np.where(opens, group, 0))
    return np.flatnonzero(group - base < (1 if kind == "ALL SHORTEST" else wanted))
