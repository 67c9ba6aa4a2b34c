"""Estimates of how many rows a step of a pattern produces. They choose between plans that give the same answer."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.parts import Term, Traversal
from hoplite.planner.tree import children

EQUALITY, COMPARISON, OTHER = 0.1, 0.3, 0.75  # the share of rows that a predicate keeps, by default

MANY_ROWS = 20.0  # the assumed length of a list, or number of rows from outside, that is not known


def selectivity(predicate: Term) -> float:
    """The share of rows that a predicate is expected to keep."""
    match predicate:
        case ast.Comparison(operators=("=",)) | ast.Binary(operator="IN"):
            return EQUALITY
        case ast.Comparison(operators=("<>",)):
            return OTHER
        case ast.Comparison() | ast.Binary(operator="STARTS WITH" | "ENDS WITH" | "CONTAINS" | "=~"):
            return COMPARISON
        case _:
            return OTHER


class Estimates:
    """Estimates from the statistics of one graph."""

    def __init__(self, catalogue: Catalogue) -> None:
        self.catalogue = catalogue
        self._known: dict[int, tuple[lp.Plan, float]] = {}  # rows by the plan's identity; it is kept alive for that

    def nodes(self, labels: Iterable[str]) -> float:
        """An upper bound on the nodes that carry all of these labels; never zero, because a plan may outlive the
        statistics.
        """
        counts = [self.catalogue.label_count(label) for label in labels]
        return float(max(1, min(counts, default=self.catalogue.node_count + 1)))

    def seek(self, label: str, key: str) -> float:
        """How many nodes a look-up by one value finds."""
        if self.catalogue.is_unique(label, key):
            return 1.0
        count = self.catalogue.label_count(label)
        distinct = self.catalogue.distinct_values(label, key) or max(1, round(count * EQUALITY))
        return max(1.0, count / max(1, distinct))

    def relationships(self, types: tuple[str, ...] | None) -> float:
        """How many relationships have one of the types."""
        if types is None:
            return float(self.catalogue.relationship_count)
        return float(sum(self.catalogue.type_count(name) for name in set(types)))

    def degree(self, labels: Iterable[str], traversal: Traversal) -> float:
        """How many relationships a node with these labels has, on average."""
        known: list[str | None] = list(labels) or [None]
        return min(self._degree(label, traversal.types, traversal.direction) for label in known)

    def _degree(self, label: str | None, types: tuple[str, ...] | None, direction: ast.Direction) -> float:
        nodes = self.catalogue.node_count if label is None else self.catalogue.label_count(label)
        total = 0
        for type_name in types or (None,):
            if direction is not ast.Direction.INCOMING:
                total += self.catalogue.pattern_count(label, type_name, None)
            if direction is not ast.Direction.OUTGOING:
                total += self.catalogue.pattern_count(None, type_name, label)
        return total / max(1, nodes)

    def trails(self, degree: float, lower: int, upper: int | None) -> float:
        """How many trails of these lengths start at a node of this degree, roughly."""
        longest = min(upper if upper is not None else lower + 8, lower + 8)
        steps = (min(length, 40) for length in range(lower, longest + 1))  # beyond, it is too many either way
        return sum(min(degree, 1e3) ** length for length in steps)

    def rows(self, plan: lp.Plan) -> float:
        """How many rows a plan has, very roughly: enough to tell one row from many.

        Clauses build on each other, so what is below has often been estimated already.
        """
        above: list[tuple[lp.Plan, float]] = []
        node: lp.Plan | None = plan
        rows = 1.0
        while node is not None:
            known = self._known.get(id(node))
            if known is not None:
                rows = known[1]
                break
            below, factor = self._step(node)
            above.append((node, factor))
            node = below
        for node, factor in reversed(above):
            rows *= factor
            self._known[id(node)] = (node, rows)
        return rows

    def _step(self, plan: lp.Plan) -> tuple[lp.Plan | None, float]:
        """The plan that an operator's row count depends on, with the rows that come of each of its rows; or the count
        itself."""
        match plan:
            case lp.Argument(variables=variables):
                return None, 1.0 if not variables else MANY_ROWS
            case lp.Unwind(source=source):
                return source, MANY_ROWS
            case lp.AllNodesScan(source=source):
                return source, self.nodes(())
            case lp.NodeByLabelScan(source=source, label=label):
                return source, self.nodes((label,))
            case lp.NodeIndexSearch(source=source, label=label):
                return source, self.nodes((label,)) * COMPARISON
            case lp.RelationshipTypeScan(source=source, types=types):
                return source, self.relationships(types)
            case lp.EagerAggregation(keys=()):
                return None, 1.0
            case lp.Filter(source=source):
                return source, COMPARISON
            case lp.Limit(count=ast.Literal(value=int() as count)) | lp.Top(count=ast.Literal(value=int() as count)):
                return None, float(count)
            case lp.Expand(source=source) | lp.VarLengthExpand(source=source) | lp.ProcedureCall(source=source):
                return source, 3.0
            case (
                lp.NodeIndexSeek()
                | lp.NodeByIdSeek()
                | lp.RelationshipIndexSeek()
                | lp.RelationshipByIdSeek()
                | lp.GuidedExpand()
                | lp.DistinctExpand()
                | lp.CountWalks()
                | lp.CountBranches()
                | lp.CountMatches()
                | lp.GetDegree()
                | lp.Repeat()
                | lp.ShortestPath()
                | lp.StatefulShortestPath()
                | lp.SelectShortest()
                | lp.ProjectEndpoints()
                | lp.DistinctRelationships()
                | lp.ProjectPath()
                | lp.Projection()
                | lp.Select()
                | lp.Reimport()
                | lp.Distinct()
                | lp.NodeCountFromCountStore()
                | lp.RelationshipCountFromCountStore()
                | lp.Sort()
                | lp.Skip()
                | lp.Union()
                | lp.Apply()
                | lp.TransactionApply()
                | lp.ValueHashJoin()
                | lp.CartesianProduct()
                | lp.LoadCSV()
                | lp.ShowRows()
                | lp.Create()
                | lp.Merge()
                | lp.SetProperties()
                | lp.Delete()
                | lp.Foreach()
                | lp.EmptyResult()
                | lp.ProduceResults()
                | lp.EagerAggregation()
                | lp.Limit()
                | lp.Top()
            ):
                return next(iter(children(plan)), None), 1.0
            case _:
                assert_never(plan)
