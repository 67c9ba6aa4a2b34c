"""Count the ways to follow parts of a pattern without making a row for each.

    EagerAggregation count(*)                      EagerAggregation sum(degree)
      Expand (m)<-[:REPLY_OF]-(c)                    CountBranches (m)<-[:LIKES]-(p), (m)<-[:REPLY_OF]-(c) AS degree
        Expand (m)<-[:LIKES]-(p)             =>        NodeByLabelScan m:Message
          NodeByLabelScan m:Message

Relationships that nothing above uses or depends on form trees that hang from the nodes of a row. The number of ways
from a node is the sum over its neighbours, and the branches of a node multiply: the cost is the number of relationships
passed, however many ways there are. An OPTIONAL MATCH is a branch with at least one way. Operators that have to see
rows stay, and branches are removed from below them.

Ways are walks, but the relationships of a MATCH must differ. Where two could be the same, the plan has a
DistinctRelationships that names both: they have to be in the rows, or in a pattern whose matches are counted
(`match_counts.py`) and whose nodes the branches hang from.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hoplite.grammar import ast
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.cost import Estimates
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.parts import Branch, ChainHop, MatchHop, Presence, Term
from hoplite.planner.rules.begin_at_groups import begun_at
from hoplite.planner.rules.distinct_chains import is_plain_filter
from hoplite.planner.rules.match_counts import countable, is_countable
from hoplite.planner.rules.weighted_aggregates import DEGREE, counts_rows, is_blind, weighted
from hoplite.planner.tree import bottom_up, operators
from hoplite.planner.variables import free_variables

Names: TypeAlias = frozenset[str]

_MOST_HOPS_TO_CLOSE = 3
# Matches from a row for each node they may lead to: from there on, it pays to count them; with conditions, earlier.
_FEWEST_MERGED, _FEWEST_MERGED_ALONE = 0.01, 0.25


@dataclass(slots=True)
class _Hop:
    """An expansion that becomes a branch, and the predicates on its end alone.

    `optional`: an OPTIONAL MATCH starts with it. `may_be_null`: it is part of one.
    """

    expansion: lp.Expand
    predicates: list[Term] = field(default_factory=list)
    optional: bool = False
    may_be_null: bool = False

    @property
    def node(self) -> str:
        return self.expansion.to_node

    @property
    def made(self) -> Names:
        return frozenset((self.expansion.to_node, self.expansion.relationship))


_Step: TypeAlias = lp.Expand | lp.Filter | lp.DistinctRelationships | lp.Apply


def branches_instead_of_rows(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """Count branches."""
    stops_early = any(isinstance(o, lp.Limit) and not isinstance(o.source, lp.Sort) for o in operators(plan))

    def change(node: lp.Plan) -> lp.Plan:
        match node:
            case lp.EagerAggregation():
                return _counted(node, catalogue)
            case lp.Distinct(source=lp.Projection(items=items) as projection, names=names) if not stops_early:
                used = frozenset(names) | free_variables(tuple(term for _, term in items))
                found = _seen_once(projection.source, used, items, catalogue)
                return node if found is None else replace(node, source=replace(projection, source=found))
            case lp.Distinct(source=source, names=names) if not stops_early:
                found = _seen_once(source, frozenset(names), (), catalogue)
                return node if found is None else replace(node, source=found)
            case _:
                return node

    return bottom_up(plan, change)


def _seen_once(source: lp.Plan, used: Names, terms: Any, catalogue: Catalogue) -> lp.Plan | None:
    """The rows for an operator that is blind to duplicates, each once; None where that saves nothing, or where a chain
    to distinct ends would do (`distinct_chains.py`). Branches stay: their products could be too large to count."""
    below, paths = _without_paths(source)
    if paths & used or not is_deterministic(terms, catalogue):
        return None
    steps, base = _steps(below, catalogue)
    found = _closed(steps, base, catalogue) if not used else _to_ends(steps, base, used, catalogue)
    return found.plan() if found is not None and found.counted.has_conditions and not found.taken.hops else None


def _closed(steps: list[_Step], base: lp.Plan, catalogue: Catalogue) -> _Found | None:
    """A pattern of two or three hops that begins and ends in the rows; None if it is longer, or open at its end: to
    find one match of those, a few rows are enough."""
    found = _Found(steps, base, frozenset(), catalogue)
    hops = [step for step in found.counted.steps if isinstance(step, MatchHop)]
    is_closed = 1 < len(hops) <= _MOST_HOPS_TO_CLOSE and hops[-1].into and not found.makes_rows
    return found if is_closed else None


def _counted(node: lp.EagerAggregation, catalogue: Catalogue) -> lp.Plan:
    looked_at = [a.arguments for a in node.aggregates if not counts_rows(a)]
    terms = (node.keys, tuple(looked_at))
    used = free_variables((tuple(term for _, term in node.keys), tuple(looked_at)))
    if all(map(is_blind, node.aggregates)):
        once = _seen_once(node.source, used, terms, catalogue)
        return node if once is None else replace(node, source=once)
    if not is_deterministic(terms, catalogue):
        return node
    source, paths = _without_paths(node.source)
    if paths & used:
        return node
    found = _found(*_steps(source, catalogue), used, catalogue)
    if not found.counted.steps and not found.taken.is_worth_it():
        return node
    never_null = found.never_null | (paths if found.taken.all_there else frozenset())
    counted = free_variables(tuple(a.arguments for a in node.aggregates if counts_rows(a))) - never_null
    present = () if found.counted.steps else tuple(map(found.taken.presence, sorted(counted & found.taken.may_be_null)))
    aggregates = weighted(node.aggregates, never_null, present)
    return node if aggregates is None else replace(node, source=found.plan(present), aggregates=aggregates)


class _Found:
    """What can be counted of some steps: branches, and the steps above all others."""

    def __init__(
        self, steps: list[_Step], base: lp.Plan, used: Names, catalogue: Catalogue, with_end: bool = False
    ) -> None:
        self._base = base
        self._above: list[lp.Filter] = []  # what is asked of the row and the end together
        if with_end:
            made = {step.to_node for step in steps if isinstance(step, lp.Expand)}
            filters = [step for step in steps if isinstance(step, lp.Filter) and free_variables(step.predicate) & made]
            self._above = [step for step in filters if not is_countable(step, steps)]
            steps = [step for step in steps if not any(step is one for one in self._above)]
            used |= free_variables(tuple(one.predicate for one in self._above))
        self.taken = _Taken(steps, used, catalogue)
        self._left = [step for step in steps if id(step) not in self.taken.gone]
        self.counted = countable(self._left, steps, used, with_end)

    @property
    def makes_rows(self) -> bool:
        """Whether relationships are left that have to be in the rows."""
        return any(isinstance(step, lp.Expand) for step in self._left[self.counted.count :])

    @property
    def never_null(self) -> Names:
        """The names of what is counted that are bound in every match."""
        return self.taken.never_null | {name for step in self._left[: self.counted.count] for name in _made(step)}

    def merges(self, catalogue: Catalogue) -> bool:
        """Whether enough matches are likely to lead from a row to the same end for counting them to pay."""
        estimates = Estimates(catalogue)
        match self._base:
            case lp.NodeByLabelScan(node=node, label=label) | lp.NodeIndexSeek(node=node, label=label):
                labels: dict[str, tuple[str, ...]] = {node: (label,)}
            case _:
                labels = {}
        hops = {step.hop.node: step for step in self.counted.steps if isinstance(step, MatchHop) and not step.into}
        labels |= {node: hop.labels for node, hop in hops.items()}
        node, matches = self.counted.end or "", 1.0
        ends = estimates.nodes(labels.get(node, ()))
        while (hop := hops.get(node)) is not None:
            node = hop.from_node
            matches *= estimates.degree(labels.get(node, ()), hop.hop.traversal)
        return matches >= ends * (_FEWEST_MERGED if self.counted.has_conditions else _FEWEST_MERGED_ALONE)

    def plan(self, present: tuple[Presence, ...] = ()) -> lp.Plan:
        """The rows, with the number of matches that each stands for, and of those in which variables are present."""
        base = self._base
        for step in reversed(self._left[self.counted.count :]):
            base = replace(step, left=base) if isinstance(step, lp.Apply) else replace(step, source=base)
        if not self.counted.steps:
            return lp.CountBranches(base, self.taken.branches(), DEGREE, present)
        plan: lp.Plan = lp.CountMatches(base, self.counted.steps, self.taken.branches(), DEGREE, self.counted.end)
        for step in reversed(self._above):
            plan = replace(step, source=plan)
        return plan


def _found(steps: list[_Step], base: lp.Plan, used: Names, catalogue: Catalogue) -> _Found:
    """What can be counted for the names that are used, from where the fewest rows have to be made."""
    found = _Found(steps, base, used, catalogue)
    if not found.makes_rows:
        return found
    if len(used) == 1:
        other = begun_at(next(iter(used)), steps, base)
        if other is not None:
            from_groups = _Found(list(other[0]), other[1], used, catalogue)
            if from_groups.counted.steps and not from_groups.makes_rows:
                return from_groups
    to_ends = _to_ends(steps, base, used, catalogue)
    # Walks to the ends alone are counted level by level, for all rows at once (`walk_counts.py`).
    if to_ends is None or (len(used) == 1 and not to_ends.counted.has_conditions):
        return found
    return to_ends


def _to_ends(steps: list[_Step], base: lp.Plan, used: Names, catalogue: Catalogue) -> _Found | None:
    """What can be counted for each row and one node that is not in it, if possible from where no rows have to be
    made."""
    found = _Found(steps, base, used, catalogue, with_end=True)
    has_cycle = any(isinstance(step, lp.Expand) and step.into for step in steps)  # their order was chosen with care
    if found.makes_rows and len(used) == 2 and not has_cycle:
        for node in sorted(used):
            other = begun_at(node, steps, base)
            if other is not None:
                from_node = _Found(list(other[0]), other[1], used, catalogue, with_end=True)
                if from_node.counted.steps and not from_node.makes_rows and from_node.merges(catalogue):
                    return from_node
    return found if found.counted.steps and found.merges(catalogue) else None


def _made(step: _Step) -> tuple[str, ...]:
    """The names that an expansion uses or binds."""
    return (step.from_node, step.relationship, step.to_node) if isinstance(step, lp.Expand) else ()


def _without_paths(plan: lp.Plan) -> tuple[lp.Plan, Names]:
    """What is below the ProjectPaths at the top of a pattern, and their names."""
    paths: set[str] = set()
    while isinstance(plan, lp.Select | lp.ProjectPath):
        if isinstance(plan, lp.ProjectPath):
            paths.add(plan.path)
        plan = plan.source
    return plan, frozenset(paths)


def _steps(plan: lp.Plan, catalogue: Catalogue) -> tuple[list[_Step], lp.Plan]:
    """The operators at the top of a plan that a branch may be moved past, topmost first, and what is below them."""
    steps: list[_Step] = []
    while True:
        match plan:
            case lp.Filter(predicate=predicate) if not is_deterministic(predicate, catalogue):
                return steps, plan  # it is evaluated once for each row
            case lp.Expand() | lp.Filter() | lp.DistinctRelationships():
                steps.append(plan)
                plan = plan.source
            case lp.Apply(kind="optional", left=left):
                steps.append(plan)
                plan = left
            case _:
                return steps, plan


class _Taken:
    """The branches to remove from some steps, given the names used above them."""

    def __init__(self, steps: list[_Step], used: Names, catalogue: Catalogue) -> None:
        self._catalogue = catalogue
        self.gone: set[int] = set()  # steps, by identity
        self.hops: list[_Hop] = []  # including those of optional branches; hops below others come last
        self._used = set(used)
        self._asked: dict[str, list[lp.Filter]] = {}  # filters on one node alone
        for step in steps:
            match step:
                case lp.Filter(predicate=predicate):
                    self._take_filter(step, free_variables(predicate))
                case lp.Expand(into=False):
                    self._take_hop(_Hop(step))
                case lp.Apply():
                    self._take_optional(step)
                case lp.Expand():
                    self._stays((step.from_node, step.to_node))
                case lp.DistinctRelationships():
                    self._stays((step.relationship, *step.others))

    def _stays(self, names: Iterable[str]) -> None:
        """Keep a step, which needs these names in the rows."""
        self._used.update(names)

    def _take_filter(self, step: lp.Filter, names: Names) -> None:
        if len(names) == 1 and is_plain_filter(step.predicate, self._catalogue):
            self._asked.setdefault(next(iter(names)), []).append(step)
        else:
            self._stays(names)

    def _is_free(self, names: Iterable[str]) -> bool:
        """Whether nothing that stays needs one of the names or tests the relationship among them."""
        return not self._used.intersection(names)

    def _take_hop(self, hop: _Hop) -> None:
        filters = self._asked.get(hop.node, [])
        if self._is_free(hop.made) and hop.expansion.relationship not in self._asked:
            hop.predicates = [step.predicate for step in reversed(filters)]
            self.gone |= {id(hop.expansion), *map(id, filters)}
            self.hops.append(hop)
        else:
            self._stays((hop.expansion.from_node, *hop.made))

    def _take_optional(self, step: lp.Apply) -> None:
        hops, made = _optional(step, self._catalogue), frozenset(step.added)
        # Where a hop continues from a node of an OPTIONAL MATCH, it drops the rows in which that node is null.
        goes_on = any(hop.expansion.from_node in made and not hop.optional for hop in self.hops)
        if hops is None or goes_on or not self._is_free(made) or made & self._asked.keys():
            self._stays((*step.imports, *step.added))
            return
        self.gone.add(id(step))
        self.hops += hops

    def is_worth_it(self) -> bool:
        """Whether this saves more than using a degree for the last step. Where one hop follows another, the first
        passes as many relationships as there would be rows."""
        starts = [hop.expansion.from_node for hop in self.hops]
        return len(starts) > 2 or len(starts) > len(set(starts)) or any(hop.optional for hop in self.hops)

    @property
    def all_there(self) -> bool:
        """Whether none of the branches is part of an OPTIONAL MATCH."""
        return not any(hop.may_be_null for hop in self.hops)

    @property
    def never_null(self) -> Names:
        """The names of branches that are bound in every row."""
        there = [hop for hop in self.hops if not hop.may_be_null]
        return frozenset[str]().union(*(hop.made | {hop.expansion.from_node} for hop in there))

    @property
    def may_be_null(self) -> Names:
        """The names that an OPTIONAL MATCH binds in branches."""
        return frozenset[str]().union(*(hop.made for hop in self.hops if hop.may_be_null))

    def presence(self, name: str) -> Presence:
        """The matches in which such a name is not null: each OPTIONAL MATCH on the way to it has one."""
        needed: list[str] = []
        by_node = {hop.node: hop for hop in self.hops}
        hop: _Hop | None = next(hop for hop in self.hops if name in hop.made)
        while hop is not None:
            if hop.optional:
                needed.append(hop.node)
            hop = by_node.get(hop.expansion.from_node)
        return Presence(f"{DEGREE} {name}", name, tuple(needed))

    def branches(self) -> tuple[Branch, ...]:
        """The branches from nodes of the rows."""
        made = {hop.node for hop in self.hops}
        below: dict[str, list[Branch]] = {}
        for hop in self.hops:
            step = hop.expansion
            labels, predicates = _labels(hop.predicates)
            end = ChainHop(step.traversal, hop.node, predicates)
            branch = Branch(step.from_node, end, labels, tuple(reversed(below.pop(hop.node, []))), hop.optional)
            below.setdefault(step.from_node, []).append(branch)
        assert not made & below.keys(), "a hop comes below those that go on from it"
        return tuple(branch for branches in below.values() for branch in reversed(branches))


def _labels(predicates: list[Term]) -> tuple[tuple[str, ...], tuple[Term, ...]]:
    """The labels that predicates require, and the other predicates."""
    labels: list[str] = []
    others: list[Term] = []
    for predicate in predicates:
        match predicate:
            case ast.HasLabels(operand=ast.Variable(), labels=ast.LabelName(name=label)):
                labels.append(label)
            case _:
                others.append(predicate)
    return tuple(dict.fromkeys(labels)), tuple(others)


def _optional(step: lp.Apply, catalogue: Catalogue) -> list[_Hop] | None:
    """The hops of an OPTIONAL MATCH that is a tree from one node of its row; None if it is anything else."""
    if step.row_by_row or not isinstance(step.right, lp.Select):
        return None
    source, _ = _without_paths(step.right)
    steps, base = _steps(source, catalogue)
    inner = _Taken(steps, frozenset(), catalogue)
    if not isinstance(base, lp.Argument) or len(inner.gone) < len(steps) or len(inner.branches()) != 1:
        return None
    for hop in inner.hops:
        hop.may_be_null = True
    inner.hops[-1].optional = True
    return inner.hops
