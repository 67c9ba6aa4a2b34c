"""The parse table: made by Lark from cypher.lark once, then read from a cache.

Lark checks the grammar (any conflict is an error) and computes the LALR(1) states, which takes about a second. What
is kept is plain data: for every state the action on each terminal and the state after each rule. Reading it back
needs neither Lark nor the grammar's analysis, and takes a few milliseconds.
"""

from __future__ import annotations

import hashlib
import marshal
import os
import sys
import tempfile
from collections.abc import Iterable
from importlib import metadata, resources
from pathlib import Path
from typing import Any

from hoplite.grammar.tokens import Vocabulary
from hoplite.lazy_dataclass import dataclass

_FORMAT = 1  # of what is cached; raise it when `_make` keeps something else


@dataclass(frozen=True, slots=True)
class Rule:
    """A reduction: `size` symbols become one `origin`, built by `action` ("" hands on the only child).

    `children` says how the action's arguments come from the symbols: i keeps symbol i, -1 - i splices the list that
    symbol i holds, None is an optional part that is absent. An empty action with `children` makes such a list.
    """

    origin: str
    size: int
    action: str
    children: tuple[int | None, ...]
    makes_list: bool


@dataclass(frozen=True, slots=True)
class Table:
    """`actions[state][terminal]` is the next state, or -1 - rule to reduce; `goto[state][rule name]` a state."""

    actions: list[dict[str, int]]
    goto: list[dict[str, int]]
    rules: list[Rule]
    start: int
    end: int
    vocabulary: Vocabulary


def load_table() -> Table:
    """The table for this version of the grammar, from the cache if it is there."""
    grammar = resources.files("hoplite.grammar").joinpath("cypher.lark").read_text("utf-8")
    cache = _cache_file(grammar)
    stored = _read(cache)
    if stored is None:
        stored = _make(grammar)
        _write(cache, stored)
    actions, goto, rules, start, end, keywords, signs = stored
    return Table(actions, goto, [Rule(*rule) for rule in rules], start, end, Vocabulary(keywords, signs))


def _make(grammar: str) -> tuple[Any, ...]:
    from lark import Lark
    from lark.grammar import Terminal
    from lark.lexer import Lexer, PatternStr

    class NoLexer(Lexer):
        """Tokens come from tokens.py; Lark only makes the table."""

        def __init__(self, conf: object) -> None:
            pass

        def lex(self, *_: object) -> Iterable[Any]:  # type: ignore[override]
            return ()

    parser: Any = Lark(grammar, parser="lalr", lexer=NoLexer, strict=True, maybe_placeholders=True)
    table = parser.parser.parser._parse_table
    numbers = {rule: index for index, rule in enumerate(parser.rules)}
    actions: list[dict[str, int]] = []
    goto: list[dict[str, int]] = []
    for state in range(len(table.states)):
        actions.append({})
        goto.append({})
        for symbol, (action, argument) in table.states[state].items():
            if action.name == "Reduce":
                actions[state][symbol] = -1 - numbers[argument]
            elif symbol.isupper() or symbol.startswith(("$", "__ANON")):
                actions[state][symbol] = argument
            else:
                goto[state][symbol] = argument
    words: dict[str, str] = {}
    signs: dict[str, str] = {}
    for terminal in parser.terminals:
        if isinstance(terminal.pattern, PatternStr):
            (words if terminal.pattern.value.isalpha() else signs)[terminal.pattern.value] = terminal.name
    rules = [_rule(rule, Terminal) for rule in parser.rules]
    return (
        actions,
        goto,
        rules,
        table.start_states["start"],
        table.end_states["start"],
        words,
        signs,
    )


def _rule(rule: Any, terminal_class: Any) -> tuple[Any, ...]:
    origin = str(rule.origin.name)
    children: list[int | None] = []
    absent = list(rule.options.empty_indices or [False] * len(rule.expansion))
    symbols = iter(enumerate(rule.expansion))
    for is_absent in absent:
        if is_absent:
            children.append(None)
            continue
        index, symbol = next(symbols)
        if isinstance(symbol, terminal_class):
            if not symbol.filter_out:
                children.append(index)
        elif symbol.name.startswith("_"):
            children.append(-1 - index)
        else:
            children.append(index)
    makes_list = origin.startswith("_")
    action = str(rule.alias or origin)
    handed_on = rule.options.expand1 and not rule.alias and len(children) == 1
    if makes_list or handed_on or action == "hand_on":
        action = ""
    return origin, len(rule.expansion), action, tuple(children), makes_list


# --- the cache --------------------------------------------------------------------------------------------------


def _cache_file(grammar: str) -> Path:
    identity = "\n".join([str(_FORMAT), sys.version, metadata.version("lark"), grammar])
    name = hashlib.sha256(identity.encode()).hexdigest()[:24]
    return _cache_folder() / f"cypher-{name}.table"


def _cache_folder() -> Path:
    if chosen := os.environ.get("HOPLITE_CACHE"):
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", tempfile.gettempdir())) / "hoplite"
    if chosen := os.environ.get("XDG_CACHE_HOME"):
        return Path(chosen) / "hoplite"
    try:
        return Path.home() / ".cache" / "hoplite"
    except RuntimeError:  # no home folder
        return Path(tempfile.gettempdir()) / "hoplite"


def _read(cache: Path) -> Any | None:
    try:
        content = cache.read_bytes()
    except OSError:
        return None
    checksum, data = content[:32], content[32:]
    return marshal.loads(data) if hashlib.sha256(data).digest() == checksum else None


def _write(cache: Path, stored: tuple[Any, ...]) -> None:
    """Write beside the target and rename, so that no reader sees half a file; without a place, do nothing."""
    data = marshal.dumps(stored)
    try:
        cache.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=cache.parent, delete=False) as file:
            file.write(hashlib.sha256(data).digest() + data)
        os.replace(file.name, cache)
    except OSError:
        return
