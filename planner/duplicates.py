"""Which operators can tell how often a row occurs: going down from the top, the columns used above and whether rows
count.

Operators that are blind to duplicates (DISTINCT, min, max, count(DISTINCT), EXISTS) let those below them emit each row
any number of times, as long as no operator in between counts rows.
"""

from __future__ import annotations

from typing import Any, assert_never

from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.columns import needed_below, wanted_of
from hoplite.planner.determinism import is_deterministic

BLIND_AGGREGATES = frozenset(("min", "max"))
WEIGHABLE_AGGREGATES = frozenset(("count", "sum", "avg"))
"""A row may stand for any number of rows, as a weight says."""


@dataclass(frozen=True, slots=True)
class Above:
    """What is known of the operators above: the columns they use, and why they count rows ("" if they do not)."""

    needed: frozenset[str]
    counts_rows: str
    catalogue: Catalogue
    unique: frozenset[str] = frozenset()  # relationships that others of the same MATCH must differ from
    stopped_early: bool = False  # there is a LIMIT above that may need only the first few rows


def above_all(plan: lp.Plan, catalogue: Catalogue) -> Above:
    """What the top of a plan may assume."""
    return Above(wanted_of(plan), "every row is returned", catalogue)


def below(plan: lp.Plan, child: lp.Plan, above: Above) -> Above:
    """What a child may assume, given what its parent may."""
    return Above(
        needed_below(plan, child, above.needed),
        _counts_rows(plan, child, above),
        above.catalogue,
        _unique(plan, above),
        _stopped_early(plan, above),
    )


def _counts_rows(plan: lp.Plan, child: lp.Plan, above: Above) -> str:
    match plan:
        case lp.Distinct():
            return ""
        case lp.EagerAggregation(keys=keys, aggregates=aggregates):
            counting = [a for a in aggregates if not a.distinct and a.function not in BLIND_AGGREGATES]
            if counting:
                return f"{counting[0].function}() counts rows"
            return _draws((*(term for _, term in keys), *(a.arguments for a in aggregates)), above)
        case lp.Top() | lp.Skip() | lp.Limit():
            return "LIMIT or SKIP counts rows"
        case lp.Apply(kind="unit", right=right) if child is right:
            return "a subquery is run for what it does"
        case lp.Apply(row_by_row=True):
            return "a subquery that writes sees every row"
        case lp.Filter(predicate=predicate):
            return above.counts_rows or _draws(predicate, above)
        case lp.Projection(items=items):
            return above.counts_rows or _draws(tuple(term for _, term in items), above)
        case lp.Unwind(expression=expression):
            return above.counts_rows or _draws(expression, above)
        case (
            lp.Select()
            | lp.Reimport()
            | lp.Sort()
            | lp.Union()
            | lp.AllNodesScan()
            | lp.NodeByLabelScan()
            | lp.NodeIndexSeek()
            | lp.NodeIndexSearch()
            | lp.NodeByIdSeek()
            | lp.RelationshipTypeScan()
            | lp.RelationshipIndexSeek()
            | lp.RelationshipByIdSeek()
            | lp.Expand()
            | lp.GuidedExpand()
            | lp.DistinctExpand()
            | lp.GetDegree()
            | lp.VarLengthExpand()
            | lp.DistinctRelationships()
            | lp.ProjectPath()
            | lp.Apply()
            | lp.ValueHashJoin()
            | lp.CartesianProduct()
            | lp.ProduceResults()
        ):
            return above.counts_rows
        case (
            lp.Argument()
            | lp.CountWalks()
            | lp.CountBranches()
            | lp.CountMatches()
            | lp.Repeat()
            | lp.ShortestPath()
            | lp.StatefulShortestPath()
            | lp.SelectShortest()
            | lp.ProjectEndpoints()
            | lp.NodeCountFromCountStore()
            | lp.RelationshipCountFromCountStore()
            | lp.TransactionApply()
            | lp.ProcedureCall()
            | lp.LoadCSV()
            | lp.ShowRows()
            | lp.Create()
            | lp.Merge()
            | lp.SetProperties()
            | lp.Delete()
            | lp.Foreach()
            | lp.EmptyResult()
        ):
            return f"{type(plan).__name__} sees every row"
        case _:
            assert_never(plan)


def _draws(terms: Any, above: Above) -> str:
    return "" if is_deterministic(terms, above.catalogue) else "a random value is drawn for every row"


def _unique(plan: lp.Plan, above: Above) -> frozenset[str]:
    match plan:
        case lp.DistinctRelationships(relationship=relationship, others=others):
            return above.unique | {relationship, *others}
        case _:
            return above.unique


def _stopped_early(plan: lp.Plan, above: Above) -> bool:
    match plan:
        case lp.Limit() | lp.Distinct(names=()):
            return True
        case lp.EagerAggregation() | lp.Sort() | lp.Top():
            return False  # they read everything anyway
        case _:
            return above.stopped_early
