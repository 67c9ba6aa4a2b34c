"""Expressions in a form that can be sent to workers; conditions on each step of a search go to those that take it."""

from __future__ import annotations

from functools import cached_property
from itertools import count

from hoplite.cluster.owned import as_text
from hoplite.cluster.worker import Bounds, Setting, StepOf
from hoplite.engine.context import Execution
from hoplite.engine.hops.interface import Booleans, Positions, RelationshipMask
from hoplite.engine.operators.expand import StepPredicate
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.parts import Term

_numbers = count(1)


class Sendable:
    """An expression that workers can evaluate."""

    def __init__(self, term: Term) -> None:
        self._term = term

    @cached_property
    def text(self) -> str:
        """The expression as a plan that can be sent."""
        return as_text(self._term)

    @cached_property
    def _parameters(self) -> frozenset[str]:
        return frozenset(part.name for part in walk(self._term) if isinstance(part, ast.Parameter))

    def setting(self, context: Execution) -> Setting:
        """What it depends on besides the graph."""
        return Setting(
            {name: context.parameters[name] for name in self._parameters},
            (context.began, context.transaction_began, context.default_zone),
            Bounds(context.seconds_left(), context.memory.limit),
        )


@dataclass(slots=True, eq=False)
class OwnedStep(StepPredicate):
    """A predicate on each step that workers can evaluate too."""

    sent: Sendable

    def mask(self, context: Execution) -> RelationshipMask:
        """What a kernel asks, and can send."""
        return StepMask(self, context)


class StepMask:
    """The predicate in one run of a statement."""

    def __init__(self, step: OwnedStep, context: Execution) -> None:
        self._step = step
        self._context = context
        self._number = next(_numbers)

    def __call__(self, relationships: Positions, from_nodes: Positions, to_nodes: Positions) -> Booleans:
        return self._step.holds(relationships, from_nodes, to_nodes, self._context)

    def sent(self) -> StepOf:
        """What a worker needs to evaluate it."""
        step = self._step
        names = step.from_node, step.relationship, step.to_node
        return StepOf(self._number, step.sent.text, names, step.sent.setting(self._context))
