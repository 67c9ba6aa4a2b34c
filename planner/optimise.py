"""The rewrite rules, in the order in which they are applied."""

from __future__ import annotations

from collections.abc import Callable

from hoplite.allowance import check_time
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.columns import remembering_names
from hoplite.planner.logical import Plan
from hoplite.planner.rules.branch_counts import branches_instead_of_rows
from hoplite.planner.rules.count_store import count_from_statistics
from hoplite.planner.rules.degrees import degrees_instead_of_steps
from hoplite.planner.rules.distinct_chains import chains_to_distinct_ends
from hoplite.planner.rules.frontier import frontier_instead_of_trails
from hoplite.planner.rules.guided_chains import guide_chains_by_ends
from hoplite.planner.rules.guided_trails import guide_trails_by_filters
from hoplite.planner.rules.limit import small_pieces_below_limit
from hoplite.planner.rules.prune_columns import drop_unused_columns
from hoplite.planner.rules.separate_optionals import optionals_by_themselves
from hoplite.planner.rules.top import sort_and_limit_to_top
from hoplite.planner.rules.walk_counts import walks_instead_of_rows

Rule = Callable[[Plan, Catalogue], Plan]

RULES: tuple[Rule, ...] = (
    count_from_statistics,
    branches_instead_of_rows,
    optionals_by_themselves,
    drop_unused_columns,
    walks_instead_of_rows,
    degrees_instead_of_steps,
    frontier_instead_of_trails,
    guide_trails_by_filters,
    chains_to_distinct_ends,
    sort_and_limit_to_top,
    small_pieces_below_limit,
    guide_chains_by_ends,
)


def optimise(plan: Plan, catalogue: Catalogue) -> Plan:
    """The plan after every rule."""
    with remembering_names():
        for rule in RULES:
            check_time()
            plan = rule(plan, catalogue)
    return plan
