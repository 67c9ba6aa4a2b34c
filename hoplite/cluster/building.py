"""Operators of the leading process: those of any plan, but that their expressions ask the owners of nodes and
relationships."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from hoplite.cluster.backend import ClusterBackend
from hoplite.cluster.owned import is_condition, judged, stays
from hoplite.cluster.steps import OwnedStep, Sendable
from hoplite.cluster.worker import Asked
from hoplite.engine.batch import Batch
from hoplite.engine.build.operators import OperatorBuilder, Running
from hoplite.engine.context import Execution
from hoplite.engine.hops.interface import Positions
from hoplite.engine.hops.select import backend_named
from hoplite.engine.operators import expand, rows
from hoplite.engine.operators.base import Evaluator, Operator, argument_rows
from hoplite.engine.operators.chains import Gathered
from hoplite.engine.operators.expand import StepPredicate, node_batches
from hoplite.engine.profile import Watch
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import physical as pp
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

    def operator(self, plan: Running) -> Operator:
        """Conditions on the ends of a search are evaluated for all of them at once."""
        match plan:
            case pp.Filter(source=source, predicate=predicate, lenient=False):
                below = self.build(source)
                if isinstance(below, expand.Reach) and below.merged:
                    below = OwnedEnds(below)
                if isinstance(below, OwnedEnds) and judged(predicate, self.functions).variable == below.reach.to_node:
                    condition = Condition(plan, Sendable(predicate), OperatorBuilder.term(self, predicate))
                    return OwnedEnds(below.reach, (*below.conditions, condition))
        return super().operator(plan)


class Condition(NamedTuple):
    """A filter: its plan, its predicate as it can be sent, and as it is evaluated here."""

    plan: pp.Filter
    sent: Sendable
    here: Evaluator


@dataclass(slots=True, eq=False)
class OwnedEnds(Operator):
    """The ends of a search that meet conditions, which owners evaluate one after the other."""

    reach: expand.Reach
    conditions: tuple[Condition, ...] = ()

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """The ends in no order."""
        name = self.reach.to_node
        if argument_rows(argument) is not None:
            yield from self._filtered(self.reach, context, argument)
            return
        ends = self.reach.merged_ends(context, argument)
        kept = self._kept_by_owners(ends, context)
        pieces = node_batches(name, ends if kept is None else kept)
        yield from pieces if kept is not None else self._filtered(Gathered(list(pieces)), context, argument)

    def _kept_by_owners(self, ends: Positions, context: Execution) -> Positions | None:
        """None if owners are not asked, or a condition fails."""
        backend = backend_named(context.backend)
        if not isinstance(backend, ClusterBackend) or not backend.asks_owners(context.graph, len(ends), True):
            return None
        watch = Watch(context.profile, context)
        settings = [condition.sent.setting(context) for condition in self.conditions]
        parameters = {name: value for setting in settings for name, value in setting.parameters.items()}
        asked = [Asked(condition.sent.text, self.reach.to_node, True) for condition in self.conditions]
        found = backend.kept(asked, ends, settings[0]._replace(parameters=parameters), context.check_time)
        if found is None:
            return None
        for condition, count in zip(self.conditions[:-1], found.counts.tolist(), strict=False):
            watch.note(condition.plan, count)
        return found.nodes

    def _filtered(self, source: Operator, context: Execution, argument: Batch) -> Iterator[Batch]:
        for condition in self.conditions:
            source = rows.Filter(source, condition.here, lenient=False)
            source.plan = condition.plan if condition is not self.conditions[-1] else None
        return source.run(context, argument)


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
            if isinstance(backend, ClusterBackend) and backend.asks_owners(
                context.graph, len(column), self._is_condition
            ):
                asked = Asked(self._sent.text, self._variable, isinstance(column, Nodes))
                setting = self._sent.setting(context)
                found = backend.values(asked, column.positions, setting, context.check_time)
                if found is not None:
                    return found
        return self._here(batch, context)
