"""What the LALR machine could do next: which kind of a token fits, and which tokens fit at all."""

from __future__ import annotations

from hoplite.grammar.table import Table
from hoplite.grammar.tokens import END


def choose_kind(table: Table, states: list[int], kinds: tuple[str, ...]) -> str:
    """The first of a token's kinds that can be shifted in this state; simply the first if none can."""
    row = table.actions[states[-1]]
    possible = [kind for kind in kinds if kind in row]
    if len(possible) < 2:
        return possible[0] if possible else kinds[0]
    for kind in possible:
        if row[kind] >= 0 or can_shift(table, states, kind):
            return kind
    return possible[0]


def can_shift(table: Table, states: list[int], kind: str) -> bool:
    """Whether reductions lead to a state that shifts this kind of token (or to the end)."""
    return advance(table, list(states), kind)


def advance(table: Table, states: list[int], kind: str) -> bool:
    """Reduce and shift without building anything; whether the token was shifted (or the end was reached)."""
    while True:
        step = table.actions[states[-1]].get(kind)
        if step is None:
            return False
        if step >= 0:
            states.append(step)
            return True
        rule = table.rules[-1 - step]
        del states[-rule.size :]
        states.append(table.goto[states[-1]][rule.origin])
        if kind == END and states[-1] == table.end:
            return True
