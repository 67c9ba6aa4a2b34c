"""Keep only the best rows while sorting.

Limit 10             Top 10, n.age
  Sort n.age    =>     ...
    ...
"""

from __future__ import annotations

from hoplite.planner import logical as lp
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.tree import bottom_up


def sort_and_limit_to_top(plan: lp.Plan, _: Catalogue) -> lp.Plan:
    """A LIMIT over a sort needs only the first rows."""

    def change(node: lp.Plan) -> lp.Plan:
        match node:
            case lp.Limit(source=lp.Sort(source=source, keys=keys), count=count):
                return lp.Top(source, keys, count)
            case lp.Limit(source=lp.Skip(source=lp.Sort(source=source, keys=keys), count=skip), count=count):
                return lp.Top(source, keys, count, skip)
            case _:
                return node

    return bottom_up(plan, change)
