"""WITH and RETURN as operators: compute, group, order, cut, filter, and keep the projected columns.

RETURN n.k AS k, count(*) + 1 AS c ORDER BY c LIMIT 3

Select k, c
  Limit 3
    Sort c
      Projection c := agg0 + 1
        EagerAggregation keys k := n.k, agg0 := count(*)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.grammar.tree import transform, walk
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.aggregates import is_aggregate
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.csv_place import PLACES
from hoplite.planner.parts import AggregateCall, SortKey, Term
from hoplite.planner.variables import free_variables

Calls = list[tuple[str, ast.Expression]]  # aggregating calls and the columns that hold their values
ExpressionPlanner = Callable[[ast.Expression, frozenset[str]], Term]
NO_NAMES: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class Imported:
    """The names that a subquery imports: the same in all its rows, and visible after every WITH.

    In EXISTS, COUNT and COLLECT, Neo4j makes them grouping keys of each WITH, so an aggregation over no rows gives no
    row.
    """

    names: frozenset[str] = NO_NAMES
    are_keys: bool = False

    def through(self, clauses: tuple[ast.Clause, ...], hidden: tuple[str, ...], *, returning: bool = False) -> Carried:
        """What passes through the projection that is the first of these clauses."""
        if not self.names:
            return Carried(hidden, returning=returning)
        clause = clauses[0]
        ordered = isinstance(clause, ast.ReturnClause | ast.WithClause) and bool(clause.projection.order)
        keys = self.are_keys and (ordered or not returning)
        used = tuple(sorted(self.names & free_variables(clauses)))
        return Carried(hidden, self.names, used, tuple(sorted(self.names)) if keys else (), returning)


@dataclass(frozen=True, slots=True)
class Carried:
    """What passes through a projection that does not name it.

    Aggregation and DISTINCT drop `hidden` columns, but not what a subquery has `imported`; `used` are the imports that
    the projection or a later clause reads, `keys` those that are grouping keys. A RETURN passes on neither.
    """

    hidden: tuple[str, ...] = ()
    imported: frozenset[str] = NO_NAMES
    used: tuple[str, ...] = ()
    keys: tuple[str, ...] = ()
    returning: bool = False


NOTHING_IMPORTED = Imported()
NOTHING_CARRIED = Carried()


@dataclass(slots=True)
class ProjectionBuilder:
    """Builds the operators of one projection."""

    catalogue: Catalogue
    plan_expression: ExpressionPlanner

    def aggregates(self, node: Any) -> bool:
        """Whether an expression aggregates; aggregation inside its subqueries does not count."""
        return any(is_aggregate(part, self.catalogue) for part in walk(node, not_below=(ast.SubqueryExpression,)))

    def build(
        self,
        projection: ast.Projection,
        predicate: ast.Expression | None,
        plan: lp.Plan,
        scope: frozenset[str],
        carried: Carried,
    ) -> tuple[lp.Plan, tuple[str, ...]]:
        """The plan with the projection on top, and the names of its columns in order; what is carried comes last."""
        items = [(item.name, item.expression) for item in projection.items]
        if projection.star:
            named = {name for name, _ in items}
            left_out = named | PLACES | carried.imported
            items = [(name, ast.Variable(name)) for name in sorted(scope) if name not in left_out] + items
        names = tuple(name for name, _ in items)
        imported = tuple(name for name in carried.used if name not in names)
        order = [(item.expression, item.descending) for item in projection.order]
        if any(self.aggregates(expression) for _, expression in items):
            keys = [(name, ast.Variable(name)) for name in carried.keys if name not in names]
            again = () if carried.keys else imported
            left_behind = tuple(name for name in carried.keys if name not in scope)
            if left_behind:
                plan = lp.Reimport(plan, left_behind)
            plan, calls = self._aggregate([*keys, *items], [expression for expression, _ in order], plan, scope, again)
            visible = frozenset((*names, *imported)) | {name for name, _ in calls}
            order = [(self._replaced_aggregates(self._projected(e, items, True), calls), d) for e, d in order]
        else:
            computed = [(n, e) for n, e in items if e != ast.Variable(n)]
            if computed:
                plan = lp.Projection(plan, tuple((n, self.plan_expression(e, scope)) for n, e in computed))
            visible = scope | frozenset(names)
            order = [(self._projected(e, items, projection.distinct), d) for e, d in order]
            if projection.distinct:
                plan = lp.Distinct(plan, names + imported)
                visible = frozenset(names + imported)
        plan = self._ordered(plan, order, projection, visible)
        if predicate is not None:
            grouped = projection.distinct or any(self.aggregates(expression) for _, expression in items)
            where = self._projected(predicate, items, True) if grouped else predicate
            plan = lp.Filter(plan, self.plan_expression(where, visible))
        if not carried.returning:
            names += tuple(name for name in carried.hidden if name in visible) + imported
        return lp.Select(plan, names), names

    def _ordered(
        self,
        plan: lp.Plan,
        order: list[tuple[ast.Expression, bool]],
        projection: ast.Projection,
        scope: frozenset[str],
    ) -> lp.Plan:
        """ORDER BY, SKIP, LIMIT."""
        keys: list[SortKey] = []
        computed: list[tuple[str, Term]] = []
        for number, (expression, descending) in enumerate(order):
            if isinstance(expression, ast.Variable):
                keys.append(SortKey(expression.name, descending))
            else:
                name = f"{HIDDEN}order{number}"
                computed.append((name, self.plan_expression(expression, scope)))
                keys.append(SortKey(name, descending))
        if computed:
            plan = lp.Projection(plan, tuple(computed))
        if keys:
            plan = lp.Sort(plan, tuple(keys))
        if projection.skip is not None:
            plan = lp.Skip(plan, self.plan_expression(projection.skip, frozenset()))
        if projection.limit is not None:
            plan = lp.Limit(plan, self.plan_expression(projection.limit, frozenset()))
        return plan

    def _projected(
        self, expression: ast.Expression, items: list[tuple[str, ast.Expression]], grouped: bool = False
    ) -> ast.Expression:
        """The expression with projected parts replaced by their columns.

        After grouping only columns are left, so a variable that was renamed goes by its new name.
        """
        names = {name for name, _ in items}

        def column(node: object) -> ast.Expression | None:
            if isinstance(node, ast.Literal | ast.Parameter):
                return None
            if isinstance(node, ast.Variable) and (not grouped or node.name in names):
                return None
            return next((ast.Variable(name) for name, projected in items if projected == node), None)

        replaced: ast.Expression = transform(expression, column)
        return replaced

    def _aggregate(
        self,
        items: list[tuple[str, ast.Expression]],
        order: list[ast.Expression],
        plan: lp.Plan,
        scope: frozenset[str],
        imported: tuple[str, ...],
    ) -> tuple[lp.Plan, Calls]:
        """Group by the items without aggregates, then compute those with; also returns the aggregating calls."""
        keys = [(n, e) for n, e in items if not self.aggregates(e)]
        aggregating = [(n, e) for n, e in items if self.aggregates(e)]
        calls: Calls = [(n, e) for n, e in aggregating if is_aggregate(e, self.catalogue)]
        composed = [(n, e) for n, e in aggregating if not is_aggregate(e, self.catalogue)]
        computed = [(n, self._projected(self._replaced_aggregates(e, calls), keys, True)) for n, e in composed]
        for expression in order:
            self._replaced_aggregates(self._projected(expression, items, True), calls)
        plan = lp.EagerAggregation(
            plan,
            tuple((n, self.plan_expression(e, scope)) for n, e in keys),
            tuple(self._call(name, call, scope) for name, call in calls),
        )
        if imported:
            plan = lp.Reimport(plan, imported)
        if computed:
            after = frozenset(n for n, _ in keys) | {n for n, _ in calls} | frozenset(imported)
            plan = lp.Projection(plan, tuple((n, self.plan_expression(e, after)) for n, e in computed))
        return plan, calls

    def _replaced_aggregates(self, expression: ast.Expression, calls: Calls) -> ast.Expression:
        """The expression with its aggregating calls replaced by columns; new calls are added to the list."""

        def column(node: object) -> ast.Expression | None:
            if isinstance(node, ast.SubqueryExpression):
                return node
            if not is_aggregate(node, self.catalogue):
                return None
            assert isinstance(node, ast.FunctionCall | ast.CountStar)
            name = next((known for known, call in calls if call == node), None)
            if name is None:
                name = f"{HIDDEN}aggregate{len(calls)}"
                calls.append((name, node))
            return ast.Variable(name, node.span)

        replaced: ast.Expression = transform(expression, column)
        return replaced

    def _call(self, name: str, call: ast.Expression, scope: frozenset[str]) -> AggregateCall:
        match call:
            case ast.FunctionCall(name=function, arguments=arguments, distinct=distinct):
                terms = tuple(self.plan_expression(a, scope) for a in arguments)
                return AggregateCall(name, function.lower(), distinct, terms)
            case _:
                return AggregateCall(name, "count", False, ())
