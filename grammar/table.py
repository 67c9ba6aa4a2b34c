"""The parse table of cypher.lark, read from a file: no need for Lark or an analysis of the grammar.

`cypher.table` is text, made by `make_table.py` and kept with the grammar; a test compares the two. After a first line
with the grammar's checksum come the terminals and rule names, keywords and signs, and a line for each rule and each
state, decoded when the parser first reaches it: a statement meets about a hundred of two thousand states.
"""

from __future__ import annotations

import zlib
from pathlib import Path

from hoplite.grammar.tokens import Vocabulary
from hoplite.lazy_dataclass import dataclass

FORMAT = 1
ABSENT = "-"  # among the children of a rule


@dataclass(frozen=True, slots=True)
class Rule:
    """A reduction: `size` symbols become one `origin`, built by `action` ("" passes on the only child).

    `children` says how the action's arguments come from the symbols: i keeps symbol i, -1 - i splices the list that
    symbol i holds, None is an optional part that is absent. An empty action with `children` makes such a list.
    """

    origin: str
    size: int
    action: str
    children: tuple[int | None, ...]
    makes_list: bool
    only_renames: bool
    keeps_all: bool  # the arguments are the symbols, as they are


class Rules(dict[int, Rule]):
    """By number; a rule is decoded when first used."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__()
        self._lines = lines

    def __missing__(self, number: int) -> Rule:
        origin, size, action, makes_list, children = self._lines[number].split("\t")
        places = tuple(None if place == ABSENT else int(place) for place in children.split())
        only_renames = size == "1" and not action and not makes_list
        keeps_all = places == tuple(range(int(size)))
        rule = self[number] = Rule(origin, int(size), action, places, makes_list == "list", only_renames, keeps_all)
        return rule


class Rows(dict[int, dict[str, int]]):
    """By state: what follows from each symbol. A row is decoded when first used."""

    def __init__(self, lines: list[str], names: list[str]) -> None:
        super().__init__()
        self._lines, self._names = lines, names

    def __missing__(self, state: int) -> dict[str, int]:
        numbers = list(map(int, self._lines[state].split()))
        names = self._names
        row = {names[name]: step for name, step in zip(numbers[::2], numbers[1::2], strict=True)}
        self[state] = row
        return row


class Climbs(dict[tuple[int, str, str], int]):
    """Which state a new symbol leads to: by the state below it, the symbol, and the kind of the next token.

    Most of a parser's work would be renaming, because an operand climbs through a dozen levels of precedence; so where
    a climb ends is remembered.
    """

    def __init__(self, actions: Rows, goto: Rows, rules: Rules) -> None:
        super().__init__()
        self._actions, self._goto, self._rules = actions, goto, rules

    def __missing__(self, climb: tuple[int, str, str]) -> int:
        below, symbol, kind = climb
        top = self[climb] = self.from_state(below, self._goto[below][symbol], kind)
        return top

    def from_state(self, below: int, top: int, kind: str) -> int:
        """The state after all rules that only rename what is on top."""
        while True:
            step = self._actions[top].get(kind)
            if step is None or step >= 0 or not self._rules[-1 - step].only_renames:
                return top
            top = self._goto[below][self._rules[-1 - step].origin]


@dataclass(frozen=True, slots=True, eq=False)
class Table:
    """`actions[state][terminal]` is the next state, or -1 - rule to reduce; `goto[state][rule name]` a state."""

    actions: Rows
    goto: Rows
    rules: Rules
    climbs: Climbs
    start: int
    end: int
    vocabulary: Vocabulary


def first_line(grammar: str) -> str:
    """The first line of a table of this grammar."""
    return f"hoplite parse table {FORMAT} {zlib.crc32(grammar.encode()):08x}"


def load_table() -> Table:
    """The table of the grammar."""
    folder = Path(__file__).parent
    lines = (folder / "cypher.table").read_text("utf-8").split("\n")
    if lines[0] != first_line((folder / "cypher.lark").read_text("utf-8")):
        raise RuntimeError("grammar/cypher.table is not that of cypher.lark: run python -m hoplite.grammar.make_table")
    start, end, rule_count, state_count = map(int, lines[1].split())
    terminals, rule_names = lines[2].split(" "), lines[3].split(" ")
    words, signs = ([pair.split("\t") for pair in line.split(" ")] for line in lines[4:6])
    actions = 6 + rule_count
    goto = actions + state_count
    parts = (
        Rows(lines[actions:goto], terminals),
        Rows(lines[goto : goto + state_count], rule_names),
        Rules(lines[6:actions]),
    )
    return Table(
        *parts,
        Climbs(*parts),
        start,
        end,
        Vocabulary({word: (kind, "NAME") for word, kind in words}, {sign: (kind,) for sign, kind in signs}),
    )
