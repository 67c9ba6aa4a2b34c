"""Operators of the leading process: those of any plan, but that their expressions ask the owners of nodes and
relationships."""

from __future__ import annotations

from hoplite.cluster.backend import ClusterBackend
from hoplite.cluster.owned import is_condition, judged, stays
from hoplite.cluster.steps import OwnedStep, Sendable
from hoplite.cluster.worker import Asked
from hoplite.engine.batch import Batch
from hoplite.engine.build.operators import OperatorBuilder
from hoplite.engine.context import Execution
from hoplite.engine.hops.select import backend_named
from hoplite.engine.operators.base import Evaluator
from hoplite.engine.operators.expand import StepPredicate
from hoplite.planner.parts import Step, Term
from hoplite.values.columns import Column, Nodes, Relationships


class OwnersBuilder(OperatorBuilder):
    """Builds operators that send what they can to the owners."""

    def term(self, term: Term) -> Evaluator:
        """A compiled expression; owners evaluate it where they can, and where that pays."""
        here = super().term(term)
        variable = judged(term, self.functions).variable
        if variable is None:
            return here
        return OwnedEvaluator(term, variable, is_condition(term, self.functions), here)

    def step_predicate(self, step: Step | None) -> StepPredicate | None:
        """A predicate on each relationship of a path; whoever takes a step evaluates it."""
        if step is None or stays(step.predicate, self.functions):
            return super().step_predicate(step)
        here = super().term(step.predicate)
        names = step.from_node, step.relationship, step.to_node
        return OwnedStep(*names, here, Sendable(step.predicate))


class OwnedEvaluator:
    """An expression about one variable. Where its owners fail, it is evaluated here: that finds the first row that
    fails."""

    def __init__(self, term: Term, variable: str, is_condition: bool, here: Evaluator) -> None:
        self._sent = Sendable(term)
        self._variable = variable
        self._is_condition = is_condition
        self._here = here

    def __call__(self, batch: Batch, context: Execution) -> Column:
        column = batch.columns.get(self._variable)
        if isinstance(column, Nodes | Relationships):
            backend = backend_named(context.backend)
            if isinstance(backend, ClusterBackend) and backend.asks_owners(len(column), self._is_condition):
                asked = Asked(self._sent.text, self._variable, isinstance(column, Nodes))
                setting = self._sent.setting(context)
                found = backend.values(asked, column.positions, setting, context.check_time)
                if found is not None:
                    return found
        return self._here(batch, context)
