"""What a rule is: a function from an operator of a logical plan to the physical plan that computes it."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

from hoplite.planner import logical as lp
from hoplite.planner import physical as pp

PhysicalOf: TypeAlias = Callable[[lp.Plan], pp.Plan]
"""The choice made for a plan further down."""

Choice: TypeAlias = Callable[[lp.Plan, PhysicalOf], pp.Plan | None]
"""A rule; it returns None if it does not apply to the operator."""
