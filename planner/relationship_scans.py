"""Ways to begin a pattern with its relationships: those with an id, all of some types, or those with a value of an
indexed property."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.cost import EQUALITY, Estimates
from hoplite.planner.parts import Term
from hoplite.planner.patterns import One
from hoplite.planner.seeks import ExpressionPlanner, equalities, index_for_equality
from hoplite.planner.variables import free_variables


@dataclass(frozen=True, slots=True)
class RelationshipScan:
    """A way to find a relationship with its ends: the rows expected, the predicates it covers, and its operator."""

    rows: float
    solves: tuple[ast.Expression, ...]
    build: Callable[[lp.Plan], lp.Plan]


def relationship_scans(
    one: One,
    predicates: Sequence[ast.Expression],
    bound: frozenset[str],
    own: frozenset[str],
    estimates: Estimates,
    plan_expression: ExpressionPlanner,
) -> Iterator[RelationshipScan]:
    """The ways to find the relationship of a connection; only by its id if it may have any type."""
    types, direction = one.traversal.types, one.traversal.direction
    directed = direction is not ast.Direction.BOTH
    start, end = (one.end, one.start) if direction is ast.Direction.INCOMING else (one.start, one.end)
    for predicate in predicates:
        for subject, value, many in equalities(predicate):
            match subject:
                case ast.FunctionCall(name=function, arguments=(ast.Variable(name=name),)) if (
                    name == one.relationship and function.lower() in ("id", "elementid")
                ):
                    if free_variables(value) & own <= bound:
                        by_element_id, term = function.lower() == "elementid", plan_expression(value, bound)
                        seek = _id_seek(one, start, end, term, many, by_element_id, directed)
                        yield RelationshipScan(0.5, (predicate,), seek)
                case _:
                    pass
    if types is None:
        return
    ways = 1 if directed else 2
    yield RelationshipScan(
        estimates.relationships(types) * ways,
        (),
        lambda plan: lp.RelationshipTypeScan(plan, one.relationship, start, end, types, directed),
    )
    if len(types) != 1:
        return
    for predicate in predicates:
        for subject, value, many in equalities(predicate):
            match subject:
                case ast.Property(subject=ast.Variable(name=name), key=key) if name == one.relationship:
                    known = free_variables(value) & own <= bound
                    kind = index_for_equality(estimates.catalogue.index_kinds(False, types[0], key), value)
                    if known and kind is not None:
                        term = plan_expression(value, bound)
                        rows = estimates.relationships(types) * EQUALITY * EQUALITY * ways
                        yield RelationshipScan(
                            rows, (predicate,), _seek(one, start, end, key, term, many, directed, kind)
                        )
                case _:
                    pass


def _id_seek(
    one: One, start: str, end: str, value: Term, many: bool, by_element_id: bool, directed: bool
) -> Callable[[lp.Plan], lp.Plan]:
    types = one.traversal.types
    return lambda plan: lp.RelationshipByIdSeek(
        plan, one.relationship, start, end, types, value, many, by_element_id, directed
    )


def _seek(
    one: One, start: str, end: str, key: str, value: Term, many: bool, directed: bool, index: str
) -> Callable[[lp.Plan], lp.Plan]:
    assert one.traversal.types is not None
    (type_name,) = one.traversal.types
    return lambda plan: lp.RelationshipIndexSeek(
        plan, one.relationship, start, end, type_name, key, value, many, directed, index
    )
