"""Ways to find a node by the predicates on it: scans and look-ups, with the rows expected of each.

    id(n) = 7,  elementId(n) IN $ids              by id
    n.k = 1,  n.k IN [1, 2]                       by the value of an indexed property
    n.k > 1 AND n.k <= 5,  n.k STARTS WITH 'a'    by a range of values
    n.k CONTAINS 'a',  n.k ENDS WITH 'a'          by a search through an index of texts
    n.k IS NOT NULL                               by an index of those that have a value
    point.distance(n.k, p) < 5                    by an index of points; so is point.withinBBox

Without an index, nodes are found by label. Two predicates that bound a property from both sides are one look-up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.cost import EQUALITY, Estimates
from hoplite.planner.parts import IndexCondition, Term
from hoplite.planner.variables import free_variables

ExpressionPlanner = Callable[[ast.Expression, frozenset[str]], Term]
"""Plans the subqueries inside an expression; takes the names that are bound where it is evaluated."""

WORTH_AN_INDEX = 10.0  # rows from which a look-up pays even if its index has to be built first
_TURNED = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
_KEPT = {"STARTS WITH": 0.05, "CONTAINS": 0.1, "ENDS WITH": 0.1, "IS NOT NULL": 0.9}  # shares of the nodes of a label
_KEPT_BY_BOUNDS = {1: 0.3, 2: 0.1}
_KEPT_BY_PLACE = 0.05
_SERVED_BY = {  # the kinds of index that serve an operator, the best first
    **dict.fromkeys(_TURNED, ("RANGE", "TEXT")),
    "STARTS WITH": ("RANGE", "TEXT"),
    "CONTAINS": ("TEXT", "RANGE"),
    "ENDS WITH": ("TEXT", "RANGE"),
    "IS NOT NULL": ("RANGE",),
}

_Asked = tuple[tuple[str, ast.Expression], ...]
"""Operators and values of a search for points."""


@dataclass(frozen=True, slots=True)
class Scan:
    """A way to find a node: the rows expected, the predicates it covers, and its operator."""

    rows: float
    solves: tuple[ast.Expression, ...]
    build: Callable[[lp.Plan], lp.Plan]


@dataclass(frozen=True, slots=True)
class Condition:
    """`key operator value` on a property of the node, from one of the predicates."""

    key: str
    operator: str
    value: ast.Expression | None
    predicate: ast.Expression
    alone: bool  # it is all that the predicate says


@dataclass(slots=True)
class NodeFinder:
    """Finds one node of a pattern: `bound` are the names bound by then, `own` all names that predicates could mean."""

    node: str
    predicates: Sequence[ast.Expression]
    labels: Sequence[str]
    bound: frozenset[str]
    own: frozenset[str]
    rows: float
    estimates: Estimates
    plan_expression: ExpressionPlanner

    def best(self) -> Scan:
        """The way that is expected to return the fewest rows."""
        return min(self._ways(), key=lambda scan: scan.rows)

    def _ways(self) -> Iterator[Scan]:
        node = self.node
        yield Scan(self.estimates.nodes(()), (), lambda plan: lp.AllNodesScan(plan, node))
        for predicate in self.predicates:
            match predicate:
                case ast.HasLabels(operand=ast.Variable(name=name), labels=ast.LabelName(name=label)) if name == node:
                    yield self._by_label(label, (predicate,))
                case ast.HasLabels(operand=ast.Variable(name=name), labels=required) if name == node:
                    for label in required_labels(required):
                        yield self._by_label(label, ())
                case _:
                    yield from self._by_equality(predicate)
        yield from self._by_condition()

    def _by_label(self, label: str, solves: tuple[ast.Expression, ...]) -> Scan:
        node = self.node
        return Scan(self.estimates.nodes((label,)), solves, lambda plan: lp.NodeByLabelScan(plan, node, label))

    def _is_known(self, value: ast.Expression) -> bool:
        return free_variables(value) & self.own <= self.bound

    def _by_equality(self, predicate: ast.Expression) -> Iterator[Scan]:
        """Look-ups by id, or by the value of a property."""
        for subject, value, many in equalities(predicate):
            if not self._is_known(value):
                continue
            match subject:
                case ast.FunctionCall(name=function, arguments=(ast.Variable(name=name),)) if name == self.node:
                    if function.lower() in ("id", "elementid"):
                        term = self.plan_expression(value, self.bound)
                        yield Scan(0.5, (predicate,), self._id_seek(term, many, function.lower() == "elementid"))
                case ast.Property(subject=ast.Variable(name=name), key=key) if name == self.node:
                    for label in self.labels:
                        # Without an index, a seek builds one on the fly, which pays if it is used for many rows.
                        kinds = self.estimates.catalogue.index_kinds(True, label, key)
                        kind = index_for_equality(kinds, value)
                        if self.rows >= WORTH_AN_INDEX or kind is not None:
                            rows = self.estimates.seek(label, key) * (3 if many else 1)
                            term = self.plan_expression(value, self.bound)
                            solves = (predicate, *self._label_predicates(label))
                            yield Scan(
                                rows * EQUALITY, solves, self._index_seek(label, key, term, many, kind or "RANGE")
                            )
                case _:
                    pass

    def _by_condition(self) -> Iterator[Scan]:
        """Searches through the index of a property."""
        conditions = [c for c in map(self._condition, self.predicates) if c]
        for group in conditions:
            for condition in group:
                for label in self.labels:
                    kinds = self.estimates.catalogue.index_kinds(True, label, condition.key)
                    kind = next((kind for kind in _SERVED_BY[condition.operator] if kind in kinds), None)
                    if kind is not None:
                        yield self._search(label, condition, [c for g in conditions for c in g], kind)
        for predicate in self.predicates:
            for key, terms in self._points(predicate):
                for label in self.labels:
                    if "POINT" in self.estimates.catalogue.index_kinds(True, label, key):
                        yield self._point_search(label, key, terms)

    def _points(self, predicate: ast.Expression) -> Iterator[tuple[str, _Asked]]:
        """What a predicate says about the position of a point."""
        match predicate:
            case ast.Comparison(operands=(left, right), operators=(sign,)) if sign in _TURNED:
                for measured, limit, operator in ((left, right, sign), (right, left, _TURNED[sign])):
                    match measured:
                        case ast.FunctionCall(name=name, arguments=(one, other)) if (
                            name.lower() == "point.distance" and operator in ("<", "<=") and self._is_known(limit)
                        ):
                            for subject, centre in ((one, other), (other, one)):
                                key = self._key(subject)
                                if key is not None and self._is_known(centre):
                                    yield key, (("point.distance", centre), (operator, limit))
                        case _:
                            pass
            case ast.FunctionCall(name=name, arguments=(subject, low, high)) if name.lower() == "point.withinbbox":
                key = self._key(subject)
                if key is not None and self._is_known(low) and self._is_known(high):
                    yield key, (("point.withinBBox", low), ("TO", high))
            case _:
                pass

    def _point_search(self, label: str, key: str, asked: _Asked) -> Scan:
        """The index returns candidates; the predicate is tested on each."""
        node = self.node
        terms = tuple(IndexCondition(operator, self.plan_expression(value, self.bound)) for operator, value in asked)
        return Scan(
            self.estimates.nodes((label,)) * _KEPT_BY_PLACE,
            tuple(self._label_predicates(label)),
            lambda plan: lp.NodeIndexSearch(plan, node, label, key, terms, "POINT"),
        )

    def _condition(self, predicate: ast.Expression) -> list[Condition]:
        """What a predicate says about one property; `1 < n.k < 5` says two things."""
        found: list[Condition] = []
        match predicate:
            case ast.Comparison(operands=operands, operators=operators) if set(operators) <= _TURNED.keys():
                for left, right, operator in zip(operands, operands[1:], operators, strict=False):
                    for subject, value, sign in ((left, right, operator), (right, left, _TURNED[operator])):
                        key = self._key(subject)
                        if key is not None and self._is_known(value):
                            found.append(Condition(key, sign, value, predicate, False))
                whole = len(found) == len(operators) and len({c.key for c in found}) == 1
                return [Condition(c.key, c.operator, c.value, predicate, whole) for c in found]
            case ast.Binary(operator="STARTS WITH" | "CONTAINS" | "ENDS WITH" as operator, left=left, right=right):
                key = self._key(left)
                if key is not None and self._is_known(right):
                    return [Condition(key, operator, right, predicate, True)]
            case ast.IsNull(operand=operand, negated=True):
                key = self._key(operand)
                if key is not None:
                    return [Condition(key, "IS NOT NULL", None, predicate, True)]
            case _:
                pass
        return []

    def _key(self, subject: ast.Expression) -> str | None:
        match subject:
            case ast.Property(subject=ast.Variable(name=name), key=key) if name == self.node:
                return key
            case _:
                return None

    def _search(self, label: str, condition: Condition, others: list[Condition], index: str) -> Scan:
        used = [condition]
        if condition.operator in _TURNED:
            opposite = (">", ">=") if condition.operator in ("<", "<=") else ("<", "<=")
            same_predicate = [c for c in others if c.predicate is condition.predicate]
            candidates = [c for c in (*same_predicate, *others) if c.key == condition.key and c.operator in opposite]
            used += candidates[:1]
        solves = [c.predicate for c in used if c.alone and all(o in used for o in others if o.predicate is c.predicate)]
        terms = tuple(
            IndexCondition(c.operator, None if c.value is None else self.plan_expression(c.value, self.bound))
            for c in used
        )
        share = _KEPT.get(condition.operator) or _KEPT_BY_BOUNDS[len(used)]
        node, key = self.node, condition.key
        return Scan(
            self.estimates.nodes((label,)) * share,
            (*dict.fromkeys(solves), *self._label_predicates(label)),
            lambda plan: lp.NodeIndexSearch(plan, node, label, key, terms, index),
        )

    def _label_predicates(self, label: str) -> list[ast.Expression]:
        wanted = ast.LabelName(label)
        return [
            p
            for p in self.predicates
            if isinstance(p, ast.HasLabels) and p.labels == wanted and p.operand == ast.Variable(self.node)
        ]

    def _id_seek(self, value: Term, many: bool, by_element_id: bool) -> Callable[[lp.Plan], lp.Plan]:
        node = self.node
        return lambda plan: lp.NodeByIdSeek(plan, node, value, many, by_element_id)

    def _index_seek(self, label: str, key: str, value: Term, many: bool, index: str) -> Callable[[lp.Plan], lp.Plan]:
        node, unique = self.node, self.estimates.catalogue.is_unique(label, key)
        return lambda plan: lp.NodeIndexSeek(plan, node, label, key, value, many, unique, index)


def index_for_equality(kinds: tuple[str, ...], value: ast.Expression) -> str | None:
    """The kind of index that looks up a value, or a list of values; None if there is none. A POINT index is best for a
    point, and useless for a value known not to be one."""
    may_be_text, may_be_point, is_point = True, True, False
    match value:
        case ast.Literal(value=constant):
            may_be_text, may_be_point = isinstance(constant, str), False
        case ast.FunctionCall(name=name) if name.lower() == "point":
            may_be_text, is_point = False, True
        case _:
            pass
    if is_point and "POINT" in kinds:
        return "POINT"
    if "RANGE" in kinds:
        return "RANGE"
    if may_be_text and "TEXT" in kinds:
        return "TEXT"
    return "POINT" if may_be_point and "POINT" in kinds else None


def required_labels(labels: ast.LabelExpression) -> list[str]:
    """Labels that every node satisfying the expression must have."""
    match labels:
        case ast.LabelName(name=name):
            return [name]
        case ast.LabelAnd(operands=operands):
            return [name for operand in operands for name in required_labels(operand)]
        case _:
            return []


def equalities(predicate: ast.Expression) -> list[tuple[ast.Expression, ast.Expression, bool]]:
    """(subject, value, many) for `subject = value` either way round, and for `subject IN list`."""
    match predicate:
        case ast.Comparison(operands=(left, right), operators=("=",)):
            return [(left, right, False), (right, left, False)]
        case ast.Binary(operator="IN", left=left, right=right):
            return [(left, right, True)]
        case _:
            return []
