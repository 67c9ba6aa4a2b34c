"""`parse(text)`: query text in, `Statement` out; a `CypherError` if the text is not Cypher.

A plain LALR(1) machine over the table that Lark made. It adds one thing: a token may have several kinds, and the
machine takes the first that it can shift, so keywords are names wherever no keyword fits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from operator import itemgetter
from typing import Any, NamedTuple

from hoplite.allowance import check_time
from hoplite.errors import SYNTAX_ERROR, CypherError
from hoplite.grammar.ast import Span
from hoplite.grammar.build import Action, action
from hoplite.grammar.commands import refuse_incomplete, refuse_old_forms, refuse_option_values, server_command
from hoplite.grammar.constants import FEWEST_CHARACTERS
from hoplite.grammar.depth import check_depth, most_levels
from hoplite.grammar.limits import TextLimitReached, TextLimits, too_deep, too_long
from hoplite.grammar.lookahead import Choices, choose_kind
from hoplite.grammar.source import Source
from hoplite.grammar.statement import Statement
from hoplite.grammar.syntax_errors import end_of_input, unexpected
from hoplite.grammar.table import Rule, Rules, Table, load_table
from hoplite.grammar.tokens import END, Token, tokenize
from hoplite.grammar.unicode_escapes import replace_escapes
from hoplite.lazy_dataclass import dataclass

_DEFAULT_LIMITS = TextLimits()
_STATES_FOR_LEVEL = 12  # of the machine; deeper texts are refused before the tree exists


class _Reduction(NamedTuple):
    """What a reduction does: `chosen` of the symbols go to `build`; without it, they are the value."""

    origin: str
    symbols: slice
    others: slice | None  # all symbols but the first, whose place the new one takes
    chosen: Callable[[list[Any]], Any] | None
    build: Action | None


class _Reductions(dict[int, "_Reduction | None"]):
    """By steps of the table; None for a rule that only renames. Made when first used."""

    def __init__(self, rules: Rules) -> None:
        super().__init__()
        self._rules = rules

    def __missing__(self, step: int) -> _Reduction | None:
        rule = self._rules[-1 - step]
        made = self[step] = None if rule.only_renames else _reduction(rule)
        return made


def _reduction(rule: Rule) -> _Reduction:
    build = action(rule.action) if rule.action else None
    others = slice(1 - rule.size, None) if rule.size > 1 else None
    return _Reduction(rule.origin, slice(-rule.size, None), others, _chosen(rule, build), build)


def _chosen(rule: Rule, build: Action | None) -> Callable[[list[Any]], Any] | None:
    """What takes the arguments of a rule's action, or its value, out of its symbols; None if they are taken as they
    are."""
    places = rule.children
    if build is None and (not rule.makes_list or places == (-1,)):  # one symbol, or the list that is one
        return itemgetter(max(places[0] or 0, 0))
    if rule.keeps_all:
        return None
    if rule.makes_list or not places or any(place is not None and place < 0 for place in places[:-1]):
        return partial(_arguments, rule)
    if places[-1] is None or places[-1] >= 0:
        return _taken(places, rule.size)
    spliced = itemgetter(-1 - places[-1])
    if len(places) == 1:
        return spliced
    before = _taken(places[:-1], rule.size)
    return lambda symbols: (*before(symbols), *spliced(symbols))


def _taken(places: tuple[int | None, ...], size: int) -> Callable[[list[Any]], Sequence[Any]]:
    """What takes the symbols at these places, with None for those that are absent."""
    indexes = [size if place is None else place for place in places]
    take: Callable[[Sequence[Any]], Sequence[Any]]
    take = itemgetter(*indexes) if len(indexes) > 1 else itemgetter(slice(indexes[0], indexes[0] + 1))
    return take if size not in indexes else lambda symbols: take((*symbols, None))


@dataclass(frozen=True, slots=True)
class _Machine:
    """The table, with what each reduction does."""

    table: Table
    reductions: _Reductions
    choices: Choices


@cache
def _machine() -> _Machine:
    table = load_table()
    return _Machine(table, _Reductions(table.rules), Choices(table))


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


def tokens_of(text: str) -> list[Token]:
    """The tokens of a text, whether it is Cypher or not."""
    return tokenize(text, _machine().table.vocabulary)


def _parse(text: str, constants: bool, limits: TextLimits) -> Statement:
    table = _machine().table
    plain, offsets = replace_escapes(text)
    tokens = tokenize(plain, table.vocabulary, constants, limits)
    if offsets is not None:
        for token in tokens:
            token.start, token.end = offsets[token.start], offsets[token.end]
    if all(token.word in ("EXPLAIN", "PROFILE", "CYPHER", "integer", END) for token in tokens):
        raise end_of_input(text, tokens)
    refuse_option_values(text, tokens)
    refuse_old_forms(text, tokens)
    command = server_command(tokens)
    if command is not None:
        refuse_incomplete(text, tokens)
        return Statement(command, span=command.span)
    source = Source(text)
    statement = _run(source, tokens, limits)
    source.raise_first_complaint()
    if most_levels(tokens) > limits.max_nesting:
        check_depth(statement, text, limits)
    return statement


def _run(source: Source, tokens: list[Token], limits: TextLimits) -> Statement:
    machine = _machine()
    table, reductions, choices = machine.table, machine.reductions, machine.choices
    actions, climbs = table.actions, table.climbs
    state = table.start  # the one on top of the stack
    states = [state]
    values: list[Any] = []
    starts: list[int] = []
    end = 0  # of the last token shifted, and thus of the symbol on top
    deepest = limits.max_nesting * _STATES_FOR_LEVEL
    for position, token in enumerate(tokens):
        if not position & 0x3F:  # every 64th token
            check_time()
            if len(states) > deepest:
                raise too_deep(source.text, token.start, limits)
        kinds = token.kinds
        kind = kinds[0] if len(kinds) == 1 else choices[state, kinds] or choose_kind(table, states, kinds)
        while True:
            step = actions[state].get(kind)
            if step is None:
                raise unexpected(source.text, table, tokens, position)
            if step >= 0:
                state = step
                states.append(step)
                values.append(token)
                starts.append(token.start)
                end = token.end
                break
            reduction = reductions[step]
            if reduction is None:
                state = states[-1] = climbs.from_state(states[-2], state, kind)
                continue
            origin, symbols, others, chosen, build = reduction
            value: Any = values[symbols]
            if chosen is not None:
                value = chosen(value)
            if others is not None:  # the symbol made takes the place of the first one
                del states[others], values[others], starts[others]
            if build is not None:
                value = build(source, Span(starts[-1], end), *value)
            values[-1] = value
            state = states[-1] = climbs[states[-2], origin, kind]
            if kind == END and state == table.end:
                statement: Statement = value
                return statement
    raise AssertionError("the end of the text is accepted or refused")


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
