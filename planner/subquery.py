"""A subquery used as a value, once it is planned: what the binder leaves in an expression where `EXISTS {}` stood."""

from __future__ import annotations

from dataclasses import dataclass

from hoplite.grammar.ast import NOWHERE, Span
from hoplite.grammar.hidden import HIDDEN


@dataclass(frozen=True, slots=True, eq=False)
class PlannedSubquery:
    """`EXISTS {}`, `COUNT {}`, `COLLECT {}`, a pattern expression, a pattern comprehension or a shortest path.

    The plan is run once for a whole batch: its argument holds the imported variables and the number of each row.

    | kind    | the value of a row is                                                              |
    |---------|------------------------------------------------------------------------------------|
    | exists  | whether the plan has a result for it                                               |
    | count   | column `value` of its only result: how many there are                              |
    | collect | the list of column `value` over its results, in the order in which they come       |
    | single  | column `value` of its only result, null without one                                |
    """

    kind: str
    plan: object
    imports: tuple[str, ...]
    value: str | None = None
    span: Span = NOWHERE


ROW = HIDDEN + "row"  # the column that numbers the rows of the argument; no variable of a query can have this name
