"""Writes the parse table of cypher.lark to `cypher.table`. Run it after any change to the grammar:

    python -m hoplite.grammar.make_table

Lark checks the grammar (any conflict is an error) and computes the LALR(1) states. What is kept is plain data: for
every state the action on each terminal and the state after each rule. States are numbered in the order in which a
search from the first one reaches them, so the same grammar gives the same file.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from lark import Lark
from lark.grammar import Terminal
from lark.lexer import Lexer, PatternStr

from hoplite.grammar.table import ABSENT, first_line

Row = dict[str, int]


class _NoLexer(Lexer):
    """Tokens come from tokens.py; Lark only makes the table."""

    def __init__(self, conf: object) -> None:
        pass

    def lex(self, *_: object) -> Iterable[Any]:  # type: ignore[override]
        return ()


def table_text(grammar: str) -> str:
    """The file for a grammar."""
    parser: Any = Lark(grammar, parser="lalr", lexer=_NoLexer, strict=True, maybe_placeholders=True)
    table = parser.parser.parser._parse_table
    rules = sorted(parser.rules, key=_rule_line)
    numbers = {rule: index for index, rule in enumerate(rules)}
    actions: dict[int, Row] = {}
    goto: dict[int, Row] = {}
    for state, steps in table.states.items():
        actions[state], goto[state] = {}, {}
        for symbol, (action, argument) in steps.items():
            if action.name == "Reduce":
                actions[state][symbol] = -1 - numbers[argument]
            elif symbol.isupper() or symbol.startswith(("$", "__ANON")):
                actions[state][symbol] = argument
            else:
                goto[state][symbol] = argument
    order = _order(table.start_states["start"], actions, goto)
    words: dict[str, str] = {}
    signs: dict[str, str] = {}
    for terminal in parser.terminals:
        if isinstance(terminal.pattern, PatternStr):
            (words if terminal.pattern.value.isalpha() else signs)[terminal.pattern.value] = terminal.name
    terminals, rule_names = ([*sorted({name for row in rows.values() for name in row})] for rows in (actions, goto))
    lines = [
        first_line(grammar),
        f"{order[table.start_states['start']]} {order[table.end_states['start']]} {len(rules)} {len(order)}",
        " ".join(terminals),
        " ".join(rule_names),
        *(" ".join(f"{word}\t{name}" for word, name in sorted(named.items())) for named in (words, signs)),
        *map(_rule_line, rules),
        *(_row_line(actions[state], terminals, order) for state in order),
        *(_row_line(goto[state], rule_names, order) for state in order),
    ]
    return "\n".join(lines) + "\n"


def _order(start: int, actions: dict[int, Row], goto: dict[int, Row]) -> dict[int, int]:
    """A number for each state, in the order in which a search from the first one reaches them."""
    order = {start: 0}
    for state in (waiting := [start]):
        for _, step in sorted({**actions[state], **goto[state]}.items()):
            if step >= 0 and step not in order:
                order[step] = len(order)
                waiting.append(step)
    assert len(order) == len(actions)
    return order


def _row_line(row: Row, names: list[str], order: dict[int, int]) -> str:
    places = {name: place for place, name in enumerate(names)}
    return " ".join(f"{places[name]} {order[step] if step >= 0 else step}" for name, step in sorted(row.items()))


def _rule_line(rule: Any) -> str:
    origin = str(rule.origin.name)
    children: list[str] = []
    symbols = iter(enumerate(rule.expansion))
    for is_absent in rule.options.empty_indices or [False] * len(rule.expansion):
        if is_absent:
            children.append(ABSENT)
            continue
        index, symbol = next(symbols)
        if isinstance(symbol, Terminal):
            if not symbol.filter_out:
                children.append(str(index))
        else:
            children.append(str(-1 - index if symbol.name.startswith("_") else index))
    makes_list = origin.startswith("_")
    action = str(rule.alias or origin)
    handed_on = rule.options.expand1 and not rule.alias and len(children) == 1
    if makes_list or handed_on or action == "hand_on":
        action = ""
    symbols_taken = len(rule.expansion)
    return f"{origin}\t{symbols_taken}\t{action}\t{'list' if makes_list else ''}\t{' '.join(children)}"


def main() -> None:
    """Write the file next to the grammar."""
    folder = Path(__file__).parent
    (folder / "cypher.table").write_text(table_text((folder / "cypher.lark").read_text("utf-8")), "utf-8")


if __name__ == "__main__":
    main()
