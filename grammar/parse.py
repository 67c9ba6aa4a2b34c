"""`parse(text)`: query text in, `Statement` out; a `CypherError` if the text is not Cypher.

A plain LALR(1) machine over the table that Lark made. It adds one thing: a token may have several kinds, and the
machine takes the first that it can shift, so keywords are names wherever no keyword fits.
"""

from __future__ import annotations

from functools import cache
from typing import Any

from hoplite.allowance import check_time
from hoplite.errors import SYNTAX_ERROR, CypherError
from hoplite.grammar.ast import Span
from hoplite.grammar.build import Action, action
from hoplite.grammar.commands import refuse_incomplete, refuse_old_forms, server_command
from hoplite.grammar.constants import FEWEST_CHARACTERS
from hoplite.grammar.depth import check_depth
from hoplite.grammar.limits import TextLimitReached, TextLimits, too_deep, too_long
from hoplite.grammar.lookahead import choose_kind
from hoplite.grammar.source import Source
from hoplite.grammar.statement import Statement
from hoplite.grammar.syntax_errors import end_of_input, unexpected
from hoplite.grammar.table import Rule, Rules, Table, load_table
from hoplite.grammar.tokens import END, Token, tokenize
from hoplite.grammar.unicode_escapes import replace_escapes
from hoplite.lazy_dataclass import dataclass

_DEFAULT_LIMITS = TextLimits()
_LEVELS_FOR_TOKEN = 5  # upper bound: `EXISTS {` opens a query, a clause, a projection, an item, an expression
_STATES_FOR_LEVEL = 12  # of the machine; deeper texts are refused before the tree exists


class _Builders(dict[int, "Action | None"]):
    """What builds the values of rules, by their numbers; looked up when first used."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, number: int) -> Action | None:
        name = self._rules[number].action
        found = self[number] = action(name) if name else None
        return found


@dataclass(frozen=True, slots=True)
class _Machine:
    """The table, with the function that builds each rule.

    Most of the machine's work is renaming: an operand climbs through a dozen levels of precedence. Where a climb ends
    depends only on the top two states and the next token, and is remembered in `climbs`.
    """

    table: Table
    builders: _Builders
    climbs: dict[tuple[int, int, str], int]


@cache
def _machine() -> _Machine:
    table = load_table()
    return _Machine(table, _Builders(table.rules), {})


def parse(text: str, constants: bool = True, limits: TextLimits = _DEFAULT_LIMITS) -> Statement:
    """The syntax tree of one statement. Without `constants`, long lists of constants are parsed into nodes as well.

    >>> parse("RETURN 1").body.clauses[0].projection.items[0].name
    '1'
    """
    if len(text) > limits.max_text_length:
        raise too_long(text, limits)
    if constants and len(text) >= FEWEST_CHARACTERS:
        try:
            return _parse(text, True, limits)
        except CypherError as error:
            if error.code != SYNTAX_ERROR:
                raise
            first = error
        try:
            return _parse(text, False, limits)  # raises it again, having seen every token
        except TextLimitReached:
            raise first from None
    return _parse(text, False, limits)


def _parse(text: str, constants: bool, limits: TextLimits) -> Statement:
    table = _machine().table
    plain, offsets = replace_escapes(text)
    tokens = tokenize(plain, table.vocabulary, constants, limits)
    if offsets is not None:
        for token in tokens:
            token.start, token.end = offsets[token.start], offsets[token.end]
    if all(token.word in ("EXPLAIN", "PROFILE", "CYPHER", "integer", END) for token in tokens):
        raise end_of_input(text, tokens)
    refuse_old_forms(text, tokens)
    command = server_command(tokens)
    if command is not None:
        refuse_incomplete(text, tokens)
        return Statement(command, span=command.span)
    source = Source(text)
    statement = _run(source, tokens, limits)
    source.raise_first_complaint()
    if len(tokens) > limits.max_nesting // _LEVELS_FOR_TOKEN:
        check_depth(statement, text, limits)
    return statement


def _run(source: Source, tokens: list[Token], limits: TextLimits) -> Statement:
    machine = _machine()
    table, builders, climbs = machine.table, machine.builders, machine.climbs
    actions, goto, rules = table.actions, table.goto, table.rules
    states = [table.start]
    values: list[Any] = []
    starts: list[int] = []
    ends: list[int] = []
    deepest = limits.max_nesting * _STATES_FOR_LEVEL
    for position, token in enumerate(tokens):
        if not position & 0x3F:  # every 64th token
            check_time()
            if len(states) > deepest:
                raise too_deep(source.text, token.start, limits)
        kinds = token.kinds
        kind = kinds[0] if len(kinds) == 1 else choose_kind(table, states, kinds)
        while True:
            step = actions[states[-1]].get(kind)
            if step is None:
                raise unexpected(source.text, table, tokens, position)
            if step >= 0:
                states.append(step)
                values.append(token)
                starts.append(token.start)
                ends.append(token.end)
                break
            number = -1 - step
            rule = rules[number]
            if rule.only_renames:
                climb = (states[-2], states[-1], kind)
                top = climbs.get(climb)
                if top is None:
                    top = climbs[climb] = _climb(machine, *climb)
                states[-1] = top
                continue
            size = rule.size
            value: Any = values[-size:]
            if not rule.keeps_all:
                value = _arguments(rule, value)
            build = builders[number]
            if build is not None:
                value = build(source, Span(starts[-size], ends[-1]), *value)
            elif not rule.makes_list:
                value = value[0]
            if size > 1:  # the symbol made takes the place of the first one
                others = 1 - size
                ends[-size] = ends[-1]
                del states[others:], values[others:], starts[others:], ends[others:]
            states[-1] = goto[states[-2]][rule.origin]
            values[-1] = value
            if kind == END and states[-1] == table.end:
                statement: Statement = value
                return statement
    raise AssertionError("the end of the text is accepted or refused")


def _climb(machine: _Machine, below: int, top: int, kind: str) -> int:
    """The state on top after all rules that only rename."""
    table = machine.table
    while True:
        step = table.actions[top].get(kind)
        if step is None or step >= 0 or not table.rules[-1 - step].only_renames:
            return top
        top = table.goto[below][table.rules[-1 - step].origin]


def _arguments(rule: Rule, children: list[Any]) -> list[Any]:
    places = rule.children
    if rule.makes_list and places and places[0] == -1:  # a growing list: nothing else holds the one on the stack
        arguments: list[Any] = children[0]
        places = places[1:]
    else:
        arguments = []
    for place in places:
        if place is None:
            arguments.append(None)
        elif place >= 0:
            arguments.append(children[place])
        else:
            arguments.extend(children[-1 - place])
    return arguments
