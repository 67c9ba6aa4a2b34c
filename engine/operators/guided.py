"""A chain of relationships to few ends: rows of starts in, a row for each match of the chain out.

Rows are made hop by hop. Once a hop has many relationships to follow, the nodes on the walks from its rows to the ends
are found first (`hops/corridor.py`), and rows that leave them are never made. They are walks and the ends are only
those that a filter above lets through, so this is a guide: relationships are still compared, and the filter stays.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from itertools import chain, islice

import numpy as np

from hoplite.engine import hops
from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution, RowError
from hoplite.engine.grouping import distinct
from hoplite.engine.hops import Booleans, Hop, Positions, Steps
from hoplite.engine.hops.corridor import corridor
from hoplite.engine.hops.scratch import borrowed
from hoplite.engine.operators.base import Evaluator, Operator, node_positions, relationship_positions
from hoplite.engine.operators.chains import ChainHop
from hoplite.engine.operators.expand import few_steps, is_between_writes, make_hop, used_columns
from hoplite.engine.operators.matches import MatchHop
from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Column, Int64s, Nodes, Relationships

_FEW_STEPS = 4096  # up to this many, following them is cheaper than finding out which of them lead to an end


@dataclass(slots=True, eq=False)
class GuidedExpand(Operator):
    """A row for each match of a chain. The last hop may lead `into` a bound node; otherwise `end_predicates` are what a
    filter above asks of its node, and `ends` finds the nodes that may satisfy them, if there is a quick way."""

    source: Operator
    steps: tuple[MatchHop, ...]
    end_predicates: tuple[Evaluator, ...]
    ends: Operator | None
    keep: frozenset[str] | None
    piece: int

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """In the order of the source's rows."""
        following: _Following | None = None
        for batch in self.source.run(context, argument):
            following = following or _Following(self, context)
            rows = np.arange(batch.row_count, dtype=np.int64)
            start = _Part(rows, {self.steps[0].from_node: node_positions(batch, self.steps[0].from_node)}, {})
            kept = used_columns(batch, self.keep)
            for part in following.matches(batch, start, 0, None):
                columns: dict[str, Column] = {}
                for step in self.steps:
                    if not step.into and (self.keep is None or step.to_node in self.keep):
                        columns[step.to_node] = Nodes(part.nodes[step.to_node])
                    if self.keep is None or step.relationship in self.keep:
                        columns[step.relationship] = Relationships(part.relationships[step.relationship])
                yield kept.take(part.rows).with_columns(columns)


@dataclass(slots=True, eq=False)
class _Part:
    """Partial matches: the row of the batch that each begins with, and what it has bound so far."""

    rows: Int64s
    nodes: dict[str, Int64s]
    relationships: dict[str, Int64s]

    def extended(self, step: MatchHop, steps: Steps, names_relationship: bool) -> _Part:
        """The matches one step further."""
        nodes = {name: values[steps.row] for name, values in self.nodes.items()}
        relationships = {name: values[steps.row] for name, values in self.relationships.items()}
        if names_relationship:
            relationships[step.relationship] = steps.relationships
        return _Part(self.rows[steps.row], nodes | {step.to_node: steps.neighbours}, relationships)

    def only(self, kept: Booleans) -> _Part:
        """Some of the matches."""
        nodes = {name: values[kept] for name, values in self.nodes.items()}
        return _Part(self.rows[kept], nodes, {name: values[kept] for name, values in self.relationships.items()})


class _Following:
    """Follows a chain during one run."""

    def __init__(self, expand: GuidedExpand, context: Execution) -> None:
        self._expand = expand
        self._steps = expand.steps
        self._context = context
        self._ends: Int64s | None = None
        self._can_guide = True
        self._hops: dict[int, Hop] = {}
        differing = [step for step in self._steps if step.distinct_from]
        compared = {name for step in differing for name in (step.relationship, *step.distinct_from)}
        self._named = [
            expand.keep is None or step.relationship in expand.keep or step.relationship in compared
            for step in self._steps
        ]

    def matches(self, batch: Batch, part: _Part, level: int, guide: list[Positions] | None) -> Iterator[_Part]:
        """The matches that begin with some partial ones; `guide` has the nodes of each level that lead to an end."""
        if level == len(self._steps) or not len(part.rows):
            yield from [part] if len(part.rows) else []
            return
        step, followed = self._steps[level], None
        if guide is None and self._may_guide(level):
            followed = self._followed(batch, part, level, None, _FEW_STEPS)
            few = list(islice(followed, 2))
            if len(few) > 1:
                guide = self._guide(batch, part, level)
            followed = chain(few, followed) if guide is None else None
            if guide is not None:
                part = part.only(self._is_among(part.nodes[step.from_node], guide[level]))
        for steps in followed or self._followed(batch, part, level, guide, self._expand.piece):
            self._context.check_time()
            steps = self._differing(batch, part, step, steps)
            if guide is not None:
                steps = _where(steps, self._is_among(steps.neighbours, guide[level + 1]))
            elif step.hop.predicates:
                steps = _where(steps, step.hop.allowed(self._context, steps.neighbours))
            yield from self.matches(batch, part.extended(step, steps, self._named[level]), level + 1, guide)

    def _hop(self, level: int) -> Hop:
        hop = self._hops.get(level)
        if hop is None:
            traversal = self._steps[level].hop.traversal
            hop = self._hops[level] = make_hop(self._context, traversal, both_adjacencies=True)
        return hop

    def _followed(
        self, batch: Batch, part: _Part, level: int, guide: list[Positions] | None, piece: int
    ) -> Iterator[Steps]:
        """The steps from some partial matches, at most `piece` at once if they are followed one by one."""
        context, step = self._context, self._steps[level]
        nodes, targets = part.nodes[step.from_node], None
        if step.into:
            targets = node_positions(batch, step.to_node)[part.rows]
        elif guide is not None and len(guide[level + 1]) == 1:
            targets = np.full(len(nodes), guide[level + 1][0], np.int64)
        if is_between_writes(context, len(nodes)):
            steps = few_steps(context, nodes, step.hop.traversal)
            yield steps if targets is None else _where(steps, steps.neighbours == targets[steps.row])
        elif targets is not None:
            found = hops.expand_into(self._hop(level), nodes, targets, check=context.check_time)
            yield found._replace(neighbours=targets[found.row])
        else:
            names = self._named[level]
            yield from hops.expand_chunks(self._hop(level), nodes, piece, relationships=names, backend=context.backend)

    def _differing(self, batch: Batch, part: _Part, step: MatchHop, steps: Steps) -> Steps:
        """The steps over relationships that differ from others."""
        if not step.distinct_from:
            return steps
        kept = np.ones(len(steps.row), np.bool_)
        for other in step.distinct_from:
            known = part.relationships.get(other)
            if known is None:
                known = relationship_positions(batch, other)[part.rows]
            kept &= steps.relationships != known[steps.row]
        return steps if kept.all() else _where(steps, kept)

    def _is_among(self, nodes: Int64s, some: Positions) -> Booleans:
        if not len(some) or not len(nodes):
            return np.zeros(len(nodes), np.bool_)
        with borrowed(self._hop(0).node_count) as scratch:
            scratch.mark[some] = 1
            found: Booleans = scratch.mark[nodes] == 1
            scratch.mark[some] = 0
        return found & (nodes >= 0)

    # --- the guide ---------------------------------------------------------------------------------------------

    def _may_guide(self, level: int) -> bool:
        """Whether it may pay to find out which steps of a level lead to an end. If the last one has no ends to begin
        from, that is what following it does, and where they lead into a bound node, they are looked up."""
        is_last = level == len(self._steps) - 1
        return self._can_guide and not (is_last and (self._steps[-1].into or self._expand.ends is None))

    def _guide(self, batch: Batch, part: _Part, level: int) -> list[Positions] | None:
        """The nodes of each level on walks to the ends; None if a predicate fails, which it does again, with its row,
        if a match needs it."""
        context, steps = self._context, self._steps[level:]
        starts = distinct(part.nodes[steps[0].from_node])
        try:
            ends = self._wanted_ends(batch, part)
            found = corridor(
                [self._hop(level + number) for number in range(len(steps))],
                starts[starts >= 0],
                ends,
                lambda number, nodes: nodes[self._asked(level + number).allowed(context, nodes)],
                check=context.check_time,
                backend=context.backend,
            )
        except (RowError, CypherError):
            self._can_guide = False
            return None
        return [starts[:0]] * level + found

    def _asked(self, level: int) -> ChainHop:
        """What is asked of the nodes of a level."""
        hop = self._steps[level - 1].hop
        return replace(hop, predicates=self._expand.end_predicates) if level == len(self._steps) else hop

    def _wanted_ends(self, batch: Batch, part: _Part) -> Int64s | None:
        last = self._steps[-1]
        if last.into:
            nodes = distinct(node_positions(batch, last.to_node)[part.rows])
            return nodes[nodes >= 0]
        if self._ends is None and self._expand.ends is not None:
            found = [node_positions(one, last.to_node) for one in self._expand.ends.run(self._context, Batch({}, 1))]
            nodes = distinct(np.concatenate([np.zeros(0, np.int64), *found]))
            self._ends = nodes[self._asked(len(self._steps)).allowed(self._context, nodes)]
        return self._ends


def _where(steps: Steps, kept: Booleans) -> Steps:
    relationships = steps.relationships[kept] if len(steps.relationships) else steps.relationships
    return Steps(steps.row[kept], relationships, steps.neighbours[kept])
