"""Count relationships, or test for them, without following them.

    EagerAggregation count(*)              EagerAggregation sum(degree)
      Expand (a)-[:T]->(b)           =>      GetDegree (a)-[:T]->() AS degree

    Distinct a                             Distinct a
      Expand (a)-[:T]->(b)           =>      GetDegree (a)-[:T]->()

The last step of a pattern need not be taken if nothing uses its end: the number of ways to take it is the degree of the
node it starts from, less the relationships that the same MATCH has already bound and that could be taken again (a loop;
r1 again, in an undirected pattern). A variable-length pattern is followed up to its last step in the same way. Rows
without any step are dropped, as they are where steps are taken. Labels of the far end are part of the degree.
"""

from __future__ import annotations

from dataclasses import replace

from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.relationship_lists import relationship_lists
from hoplite.planner.rules.weighted_aggregates import DEGREE, counts_rows, weighted
from hoplite.planner.tree import bottom_up
from hoplite.planner.variables import free_variables


@dataclass(slots=True)
class LastStep:
    """The expansion at the top of a pattern, with the conditions on its end."""

    expansion: lp.Expand | lp.VarLengthExpand
    labels: tuple[str, ...]
    others: tuple[str, ...]
    made: frozenset[str]  # the names that only the step binds

    def counted(self) -> lp.GetDegree:
        """The number of its steps for each row."""
        expansion = self.expansion
        keep = expansion.keep if isinstance(expansion, lp.Expand) else None
        return lp.GetDegree(
            expansion.source, expansion.from_node, DEGREE, expansion.traversal, self.labels, self.others, keep
        )

    @property
    def is_one_hop(self) -> bool:
        """Whether a trail exists wherever a single step does."""
        expansion = self.expansion
        return isinstance(expansion, lp.Expand) or (expansion.traversal.lower == 1 and not self.labels)


def degrees_instead_of_steps(plan: lp.Plan, catalogue: Catalogue) -> lp.Plan:
    """Count and test for last steps by degrees."""

    def change(node: lp.Plan) -> lp.Plan:
        match node:
            case lp.EagerAggregation():
                return _counted(node, catalogue)
            case lp.Distinct(source=lp.Projection(items=items) as projection, names=names):
                if not is_deterministic(items, catalogue):
                    return node
                asked = _asked(projection.source, frozenset(names) | free_variables(tuple(t for _, t in items)))
                return node if asked is None else replace(node, source=replace(projection, source=asked))
            case lp.Distinct(source=source, names=names):
                asked = _asked(source, frozenset(names))
                return node if asked is None else replace(node, source=asked)
            case _:
                return node

    return bottom_up(plan, change)


def _asked(source: lp.Plan, used: frozenset[str]) -> lp.Plan | None:
    """The rows from which there is a last step, each once; None if the step must be taken."""
    last = _last_step(source)
    if last is None or not last.is_one_hop or last.made & used:
        return None
    counted = last.counted()
    return replace(counted, traversal=replace(counted.traversal, lower=1, upper=1))


def _counted(node: lp.EagerAggregation, catalogue: Catalogue) -> lp.Plan:
    if not is_deterministic((node.keys, tuple(a.arguments for a in node.aggregates)), catalogue):
        return node
    last = _last_step(node.source)
    if last is None or free_variables(tuple(term for _, term in node.keys)) & last.made:
        return node
    for aggregate in node.aggregates:
        if not counts_rows(aggregate) and free_variables(aggregate.arguments) & last.made:
            return node
    aggregates = weighted(node.aggregates, last.made | {last.expansion.from_node})
    return node if aggregates is None else replace(node, source=last.counted(), aggregates=aggregates)


def _last_step(plan: lp.Plan) -> LastStep | None:
    """The last step of the pattern that a plan matches, if its end needs no more than labels."""
    labels: list[str] = []
    asked: set[str] = set()
    made: set[str] = set()
    distinct: lp.DistinctRelationships | None = None
    while True:
        match plan:
            case lp.Select(source=source):
                plan = source
            case lp.ProjectPath(source=source, path=path):
                made.add(path)
                plan = source
            case lp.Filter(
                source=source,
                predicate=ast.HasLabels(operand=ast.Variable(name=name), labels=ast.LabelName(name=label)),
            ) if distinct is None:
                asked.add(name)
                labels.append(label)
                plan = source
            case lp.DistinctRelationships(source=source) if distinct is None:
                distinct = plan
                plan = source
            case lp.Expand(into=False) | lp.VarLengthExpand(into=False):
                break
            case _:
                return None
    expansion = plan
    if asked - {expansion.to_node} or expansion.relationship is None:
        return None
    others: tuple[str, ...] = ()
    if distinct is not None:
        others = distinct.others
        if distinct.relationship != expansion.relationship or relationship_lists(expansion.source) & set(others):
            return None
    made |= {expansion.to_node, expansion.relationship}
    if isinstance(expansion, lp.VarLengthExpand):
        lower, upper = expansion.traversal.lower, expansion.traversal.upper
        if expansion.step is not None or upper is None or upper < max(lower, 1):
            return None
        made |= {name for name in (expansion.left_group, expansion.right_group) if name is not None}
    return LastStep(expansion, tuple(dict.fromkeys(labels)), others, frozenset(made))
