"""From a logical plan to the physical plan that runs: the first rule that applies chooses each operator."""

from __future__ import annotations

from typing import TypeAlias

from hoplite.allowance import check_time
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.choices.merged_ends import count_ends, distinct_ends
from hoplite.planner.choices.pair_counts import count_pairs
from hoplite.planner.choices.plain import plain
from hoplite.planner.choices.rows import (
    drop_redundant_select,
    merge_writes,
    project_and_select,
    skip_and_limit,
    unwind_range,
)
from hoplite.planner.choices.rule import Choice, PhysicalOf
from hoplite.planner.choices.seeks import seek_elements, seek_parameter
from hoplite.planner.tree import operators

CHOICES: tuple[Choice, ...] = (
    project_and_select,
    drop_redundant_select,
    seek_parameter,
    seek_elements,
    count_ends,
    distinct_ends,
    count_pairs,
    skip_and_limit,
    unwind_range,
    merge_writes,
)
"""In the order in which they are tried. If none applies, an operator gets its plain counterpart (`plain`)."""


Origins: TypeAlias = dict[int, tuple[pp.Shown, lp.Plan]]
"""By the identity of a physical operator: the operator itself and the logical one it was chosen for."""


def choose(plan: lp.Plan, origins: Origins) -> pp.Plan:
    """The physical plan; the logical operators it was chosen for are added to `origins`.

    Plans may be hundreds of operators deep, so this does not recurse.
    """
    made: dict[int, pp.Plan] = {}

    def physical_of(below: lp.Plan) -> pp.Plan:
        return made[id(below)]

    for node in reversed(list(operators(plan))):
        if id(node) not in made:
            check_time()
            answer = made[id(node)] = _first(node, physical_of)
            shown = answer.steps[-1] if isinstance(answer, pp.Write) else answer
            origins[id(shown)] = (shown, node)
    return made[id(plan)]


def _first(node: lp.Plan, physical_of: PhysicalOf) -> pp.Plan:
    for choice in CHOICES:
        answer = choice(node, physical_of)
        if answer is not None:
            return answer
    return plain(node, physical_of)
