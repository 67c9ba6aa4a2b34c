"""What the LALR machine could do next: which kind of a token fits, and which tokens fit at all."""

from __future__ import annotations

from hoplite.grammar.table import Table
from hoplite.grammar.tokens import END


class Choices(dict[tuple[int, tuple[str, ...]], "str | None"]):
    """Which of a token's kinds fits: by the state on top, and the kinds. None if the states below decide about it."""

    def __init__(self, table: Table) -> None:
        super().__init__()
        self._table = table

    def __missing__(self, asked: tuple[int, tuple[str, ...]]) -> str | None:
        state, kinds = asked
        row = self._table.actions[state]
        possible = [kind for kind in kinds if kind in row] or [kinds[0]]
        decided = len(possible) == 1 or row[possible[0]] >= 0
        self[asked] = possible[0] if decided else None
        return self[asked]


def choose_kind(table: Table, states: list[int], kinds: tuple[str, ...]) -> str:
    """The first of a token's kinds that can be shifted; simply the first possible one if none can."""
    row = table.actions[states[-1]]
    possible = [kind for kind in kinds if kind in row]
    return next((kind for kind in possible if row[kind] >= 0 or can_shift(table, states, kind)), possible[0])


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
        states.append(table.climbs[states[-1], rule.origin, kind])
        if kind == END and states[-1] == table.end:
            return True
