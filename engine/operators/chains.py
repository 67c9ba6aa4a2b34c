"""Chains of relationships whose inner nodes are not used: rows of starts in, the distinct ends of each out, or how many
distinct values the ends have for each value of the starts.

A chain is followed level by level for many rows at once, as groups of nodes (`Neighbourhoods`), one for each row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch, concatenate_batches
from hoplite.engine.context import Execution, RowError
from hoplite.engine.expressions.logic import as_predicate
from hoplite.engine.grouping import ColumnEncoder, Grouping
from hoplite.engine.hops import Neighbourhoods
from hoplite.engine.hops.scratch import borrowed
from hoplite.engine.operators.aggregate import Aggregate
from hoplite.engine.operators.base import (
    LARGEST_BATCH,
    Evaluator,
    Operator,
    argument_rows,
    evaluate,
    node_positions,
)
from hoplite.engine.operators.expand import make_hop, used_columns
from hoplite.engine.profile import Watch
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.logical import ROW
from hoplite.planner.parts import Traversal
from hoplite.values.columns import Bools, Column, Int64s, Integers, Nodes

# Rows whose chains are followed together: initially, at least and at most.
_ROWS, _FEWEST_ROWS, _MOST_ROWS = 1024, 64, 1 << 16
# Pairs that are counted in one piece; more of them go to the operators above in batches.
_MOST_PAIRS = 1 << 25


@dataclass(slots=True, eq=False)
class ChainHop:
    """One hop, and conditions on the node it leads to."""

    traversal: Traversal
    node: str
    predicates: tuple[Evaluator, ...]

    def allowed(self, context: Execution, nodes: Int64s) -> Bools:
        """Which of these distinct nodes a chain may pass through or end in."""
        kept = np.arange(len(nodes), dtype=np.int64)
        for predicate in self.predicates:
            batch = Batch({self.node: Nodes(nodes[kept])}, len(kept))
            try:
                kept = kept[as_predicate(predicate(batch, context)).true_rows()]
            except RowError as failure:
                raise failure.error from None
        answer = np.zeros(len(nodes), np.bool_)
        answer[kept] = True
        return answer


@dataclass(slots=True, eq=False)
class DistinctExpand(Operator):
    """The distinct ends of a chain: for each row, or with `merged` for all rows together."""

    source: Operator
    from_node: str
    to_node: str
    hops: tuple[ChainHop, ...]
    keep: frozenset[str]  # the columns that are used above
    merged: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """A row for each row of the source and each end of a chain from it."""
        if self.merged and argument_rows(argument) is None:
            yield from self._together(context, argument)
            return
        width = _ROWS
        for incoming in self.source.run(context, argument):
            starts = node_positions(incoming, self.from_node)
            batch = used_columns(incoming, self.keep)
            first = 0
            while first < batch.row_count:
                rows = np.arange(first, min(first + width, batch.row_count), dtype=np.int64)
                found = self.pairs(context, starts[rows])
                if found is not None and len(found.nodes):
                    ends = Nodes(found.nodes.astype(np.int64, copy=False))
                    yield batch.take(np.repeat(rows, np.diff(found.offsets))).with_columns({self.to_node: ends})
                first += len(rows)
                size = 0 if found is None else len(found.nodes)
                width = min(2 * width, _MOST_ROWS) if size < LARGEST_BATCH // 2 else width
                width = max(width // 2, _FEWEST_ROWS) if size > LARGEST_BATCH else width

    def _together(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        starts = [node_positions(batch, self.from_node) for batch in self.source.run(context, argument)]
        nodes = np.concatenate(starts) if starts else np.zeros(0, np.int64)
        for step in self.hops:
            if not len(nodes):
                return
            hop = make_hop(context, step.traversal)
            nodes = hops.neighbours_of_all(hop, nodes, check=context.check_time, backend=context.backend)
            nodes = nodes.astype(np.int64, copy=False)
            if step.predicates:
                nodes = nodes[step.allowed(context, nodes)]
        for start in range(0, len(nodes), LARGEST_BATCH):
            piece = nodes[start : start + LARGEST_BATCH]
            yield Batch({self.to_node: Nodes(piece)}, len(piece))

    def pairs(self, context: Execution, starts: Int64s, most: int | None = None) -> Neighbourhoods | None:
        """The distinct ends of the chains from each start; None if a level has more than `most` pairs."""
        level: Neighbourhoods | None = Neighbourhoods(np.arange(len(starts) + 1, dtype=np.int64), starts, starts)
        for step in self.hops:
            assert level is not None
            hop, nodes = make_hop(context, step.traversal), level.nodes.astype(np.int64, copy=False)
            level = hops.neighbourhoods(
                hop, level.offsets, nodes, most, check=context.check_time, backend=context.backend
            )
            if level is None:
                return None
            if step.predicates and len(level.nodes):
                level = _only(level, step, context, hop.node_count)
        return level


def _only(found: Neighbourhoods, step: ChainHop, context: Execution, node_count: int) -> Neighbourhoods:
    """The pairs whose node the step allows; each node is checked once."""
    allowed = step.allowed(context, found.every)
    if allowed.all():
        return found
    with borrowed(node_count) as scratch:
        scratch.level[found.every] = allowed
        kept = scratch.level[found.nodes] != 0
    before = np.zeros(len(kept) + 1, np.int64)
    np.cumsum(kept, out=before[1:])
    return Neighbourhoods(before[found.offsets], found.nodes[kept], found.every[allowed])


@dataclass(slots=True, eq=False)
class Gathered(Operator):
    """Rows that already exist."""

    found: list[Batch]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The same batches again."""
        yield from self.found


@dataclass(slots=True, eq=False)
class CountPairs(Operator):
    """`count(DISTINCT value)` for each key, where a chain has the keys at one end and the values at the other.

    Each distinct key and value gets a number, and distinct pairs of numbers are counted.
    """

    chain: DistinctExpand
    row_by_row: Aggregate  # the fallback, which looks at every pair
    key_names: tuple[str, ...]
    keys: tuple[Evaluator, ...]
    names: tuple[str, ...]
    values: tuple[Evaluator, ...]
    keys_at_start: bool

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """All groups at once."""
        watch = Watch(context.profile, context)
        batches = [] if ROW in argument else list(self._starts(context, argument))
        if not batches:
            if ROW in argument:
                yield from self.row_by_row.run(context, argument)
            return
        rows = concatenate_batches(batches)
        found = self.chain.pairs(context, node_positions(rows, self.chain.from_node), _MOST_PAIRS)
        if found is None:  # the source is not run twice: it may write
            chain = replace(self.chain, source=Gathered(batches))
            chain.plan = self.chain.plan
            yield from replace(self.row_by_row, source=chain).run(context, argument)
            return
        watch.note(self.chain.plan, len(found.nodes))
        if not len(found.nodes):
            return
        with context.memory.holding() as held:
            held.add(found.nodes.nbytes + found.offsets.nbytes)
            yield self._counted(context, rows, found)

    def _starts(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        used = self.chain.keep | {self.chain.from_node}
        for batch in self.chain.source.run(context, argument):
            yield used_columns(batch, used)

    def _counted(self, context: Execution, rows: Batch, found: Neighbourhoods) -> Batch:
        chain = self.chain
        some = np.flatnonzero(np.diff(found.offsets))
        pairs = found._replace(offsets=found.offsets[np.append(some, len(found.offsets) - 1)])
        node_count = context.graph.adjacency(True).node_count
        ends = found.every
        at_start = rows.take(some)
        at_end = Batch({chain.to_node: Nodes(ends)}, len(ends))
        grouping = Grouping()
        keys = _columns(self.keys, at_start if self.keys_at_start else at_end, context)
        groups = grouping.assign(keys)
        columns: dict[str, Column] = dict(zip(self.key_names, grouping.keys(), strict=True))
        with borrowed(node_count) as scratch:
            table = scratch.owner
            for name, value in zip(self.names, self.values, strict=True):
                (column,) = _columns((value,), at_end if self.keys_at_start else at_start, context)
                encoder = ColumnEncoder()
                numbers = encoder.assign(column)
                numbers = np.where(column.null_mask(), -1, numbers)
                row_numbers, table[ends] = (groups, numbers) if self.keys_at_start else (numbers, groups)
                counts = (grouping.count, encoder.count)
                context.check_time()
                counted = hops.count_pairs(
                    pairs,
                    row_numbers,
                    table,
                    counts if self.keys_at_start else (counts[1], counts[0]),
                    by_rows=self.keys_at_start,
                    backend=context.backend,
                )
                columns[name] = Integers(counted)
        return Batch(columns, grouping.count)


def _columns(evaluators: tuple[Evaluator, ...], batch: Batch, context: Execution) -> list[Column]:
    _, columns, error = evaluate(batch, evaluators, context)
    if error is not None:
        raise error
    return columns
