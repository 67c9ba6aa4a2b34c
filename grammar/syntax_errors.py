"""The error for an unexpected token, in Neo4j's words and at Neo4j's position.

`Invalid input 'X': expected an expression, ',', 'AS' ... or <EOF>`: the parse table tells what was possible, and the
terminals that begin or continue an expression, a pattern or a name are summed up under that title.

If the construct that a word begins does not work out, Neo4j reads the word as a variable and then objects to the next
token. Two such cases are imitated here: an incomplete searched CASE (the error is at its first WHEN) and a function
whose first argument is missing (the error is at the parenthesis).
"""

from __future__ import annotations

from collections.abc import Sequence

from hoplite.errors import SYNTAX_ERROR, CypherError, Position, error_at, syntax_error
from hoplite.gql_status import because
from hoplite.grammar.lookahead import advance, can_shift, choose_kind
from hoplite.grammar.table import Table
from hoplite.grammar.tokens import END, Token
from hoplite.lazy_dataclass import dataclass

_NO_STATEMENT = because("42N45", "'CYPHER', 'EXPLAIN', 'PROFILE' or a query")


def unexpected(text: str, table: Table, tokens: list[Token], position: int) -> CypherError:
    """The error for the token at `position`, where the machine stopped."""
    past = _replay(table, tokens[:position])
    states = past.states
    undecided = _is_undecided(past)
    blamed = _searched_case(tokens, past.kinds) or (None if undecided else _function_bracket(past.kinds))
    if blamed is not None:
        position, renamed = blamed
        states = _replay_as_name(table, tokens[:position], renamed)
    token = tokens[position]
    if token.text in ("'", '"'):
        message = "Failed to parse string literal. The query must contain an even number of non-escaped quotes."
    elif "/*" in text[max(token.start - 1, 0) : token.start + 2]:
        message = "Failed to parse comment. A comment starting on `/*` must have a closing `*/`."
    else:
        shown = "$" if token.kinds == ("PARAMETER",) else token.text
        expected = "an expression" if undecided else _expected(table, states)
        message = f"Invalid input '{shown}': expected {expected}"
    return syntax_error(message, text, token.start)


def end_of_input(text: str, tokens: list[Token]) -> CypherError:
    """The error for a text without a statement, which may only contain words like EXPLAIN."""
    message = "Unexpected end of input: expected CYPHER, EXPLAIN, PROFILE or Query"
    if len(tokens) > 1:
        return error_at(SYNTAX_ERROR, message, text, tokens[-2].end, _NO_STATEMENT)
    # Neo4j's position is odd here: line 0, and an offset of 1 even in an empty text
    column = 1 if text else 0
    line = text.strip()
    caret = " " * (column + 1 if "\n" not in text else 1) + "^"
    return CypherError(
        SYNTAX_ERROR,
        f'{message} (line 0, column {column} (offset: 1))\n"{line}"\n{caret}',
        _NO_STATEMENT,
        Position(0, column, 1),
    )


# --- where the fault is ---------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Past:
    """How the machine read the tokens before the error: `operands` are the parentheses where an operand could begin."""

    states: list[int]
    kinds: list[str]
    operands: set[int]


def _replay(table: Table, tokens: list[Token]) -> _Past:
    past = _Past([table.start], [], set())
    for index, token in enumerate(tokens):
        kind = choose_kind(table, past.states, token.kinds)
        if kind in ("LPAR", "LSQB", "ITEMS_LSQB") and "CASE" in table.actions[past.states[-1]]:
            past.operands.add(index)
        advance(table, past.states, kind)
        past.kinds.append(kind)
    return past


def _replay_as_name(table: Table, tokens: list[Token], renamed: int) -> list[int]:
    """The states after these tokens if the one at `renamed` is a name."""
    states = _replay(table, tokens[:renamed]).states
    for index, token in enumerate(tokens[renamed:]):
        kind = "NAME" if index == 0 else choose_kind(table, states, token.kinds)
        advance(table, states, kind)
    return states


def _searched_case(tokens: list[Token], kinds: list[str]) -> tuple[int, int] | None:
    """The first WHEN of the outermost open `CASE WHEN`, and that CASE."""
    opened: list[int] = []
    for index, kind in enumerate(kinds):
        if kind == "CASE":
            opened.append(index)
        elif kind == "END" and opened:
            opened.pop()
    for index in opened:
        if tokens[index + 1].word in ("WHEN", "ELSE"):
            return index + 1, index
    return None


def _function_bracket(kinds: list[str]) -> tuple[int, int] | None:
    """The parenthesis that a function's arguments should have followed, and the function's first word."""
    bracket = len(kinds) - 1
    if bracket < 1 or kinds[bracket] != "LPAR":
        return None
    first = bracket - 1
    while kinds[first] == "NAME" and first >= 2 and kinds[first - 1] == "DOT":
        first -= 2
    return (bracket, first) if kinds[first] == "FUNCTION" else None


def _is_undecided(past: _Past) -> bool:
    """Whether Neo4j does not yet know what an open bracket is, so that it expects any expression:

    `[x ...` before a WHERE or "|" may become a list or a comprehension, `(x ...` inside an expression may become a
    pattern, and the same goes for `any(x IN ...` before its WHERE and the braces of a subquery before its first clause.
    """
    kinds = past.kinds
    if kinds[-1:] == ["LBRACE"] and kinds[-2:-1] in (["EXISTS"], ["COUNT"], ["COLLECT"]):
        return True
    opened: list[bool] = []
    for index, kind in enumerate(kinds):
        if kind in ("LPAR", "NODE_LPAR", "LSQB", "ITEMS_LSQB", "PATHS_LSQB", "LBRACE"):
            is_operand = index in past.operands and kinds[index + 1 : index + 2] == ["NAME"]
            opened.append(is_operand or kinds[index - 1 : index] == ["QUANTIFIER"])
        elif kind in ("RPAR", "RSQB", "RBRACE"):
            opened.pop()
        elif kind in ("WHERE", "SEPARATOR", "COMMA") and opened:
            opened[-1] = False
    return any(opened)


# --- what could have stood there ------------------------------------------------------------------------------

_EXPRESSION_SIGNS = frozenset(
    """
    PLUS MINUS SLASH PERCENT CIRCUMFLEX DOUBLE_BAR EQUAL NEQ LESSTHAN LE MORETHAN GE INVALID_NEQ REGEQ
    DOT COLON DOUBLE_COLON LSQB LPAR LBRACE VBAR AMPERSAND BANG DOLLAR _DASH _LEFT_HEAD NODE_LPAR ITEMS_LSQB PATHS_LSQB
    AND OR XOR NOT IN CONTAINS STARTS ENDS IS NULL TRUE FALSE INF INFINITY NAN CASE EXISTS COUNT COLLECT COUNT_STAR
    REDUCE QUANTIFIER TRIM FUNCTION SHORTESTPATH ALLSHORTESTPATHS NAME STRING INTEGER FLOAT PARAMETER ALL LIST ARRAY
    """.split()  # noqa: SIM905  (a list of words reads as a list of words)
)
_PATTERN_WORDS = frozenset(["ANY", "ALL", "SHORTEST", "SHORTESTPATH", "ALLSHORTESTPATHS"])
_CASE_OPERATORS = frozenset(
    ["INVALID_NEQ", "DOUBLE_COLON", "LESSTHAN", "LE", "NEQ", "EQUAL", "REGEQ", "MORETHAN", "GE", "IS", "ENDS", "STARTS"]
)
_LABEL_SIGNS = frozenset(["NAME", "DOLLAR", "PERCENT", "LPAR", "BANG"])
_UNMENTIONED = frozenset(
    """
    SEMICOLON EXPLAIN PROFILE CYPHER BANG TYPE_LESS FUNCTION CONSTANT _COMMAND_USE _LINE _LEFT_ARROW RIGHT_ARROW
    """.split()  # noqa: SIM905
)
_SERVER_COMMANDS = (
    *("ALTER", "USING PERIODIC COMMIT", "START DATABASE", "STOP DATABASE", "DEALLOCATE", "DENY", "DRYRUN"),
    *("GRANT", "REALLOCATE", "RENAME", "REVOKE", "ENABLE SERVER"),
)
_CREATE_COMMANDS = ("ALIAS", "DATABASE", "COMPOSITE DATABASE", "IMMUTABLE", "ROLE", "USER")
_SPELLED = {
    "SEPARATOR": "|",
    "_DASH": "-",
    "STRING_TYPE": "STRING",
    "INTEGER_TYPE": "INTEGER",
    "FLOAT_TYPE": "FLOAT",
    "FUNCTION_WORD": "FUNCTION",
    "SHORTESTPATH": "shortestPath",
    "ALLSHORTESTPATHS": "allShortestPaths",
    "ORDER": "ORDER BY",
    "LOAD": "LOAD CSV",
}
# Neo4j sorts what it expects by the last token it shows or knows of.
_SORTED_AS = {"FOREACH": "(", "LIST": "<", "ARRAY": "<"}


def _expected(table: Table, states: list[int]) -> str:
    row = table.actions[states[-1]]
    found = {kind for kind in row if can_shift(table, states, kind)} - _UNMENTIONED
    titles = _take_titles(found, _completes_list(table, states))
    words = sorted(_words(found, table), key=_sort_key)
    phrases = sorted(titles) + [f"'{word}'" for word in words]
    if "INTEGER" in found:
        phrases.append("a number" if "FLOAT" in found else "an integer value")
    if END in found:
        phrases.append("<EOF>")
    return _listed(phrases)


def _sort_key(word: str) -> tuple[str, int, str]:
    parts = word.split()
    return _SORTED_AS.get(word, parts[-1]), len(parts), word


def _completes_list(table: Table, states: list[int]) -> bool:
    """Whether `]` would end an empty list here."""
    step = table.actions[states[-1]].get("RSQB", -1)
    if step < 0:
        return False
    return any(after < 0 and table.rules[-1 - after].action == "list_literal" for after in table.actions[step].values())


def _take_titles(found: set[str], in_empty_list: bool) -> set[str]:
    """Sum up terminals under titles; those that a title covers are removed from `found`."""
    if "NORMALIZED" in found:
        found -= _LABEL_SIGNS
        return set()
    has_operand = "AND" in found or "CIRCUMFLEX" in found
    if has_operand and found <= _EXPRESSION_SIGNS | {"STAR", "WHEN"} and "WHEN" in found:  # the subject of a CASE
        found &= {"WHEN"}
        return set()
    if {"CASE", "NEQ"} <= found:  # after WHEN
        found &= _CASE_OPERATORS
        return {"an expression"}
    if has_operand or {"SHORTESTPATH", "RETURN"} <= found:  # after an operand, or EXISTS {
        return _take_expression(found, has_operand)
    if "CASE" in found:
        if in_empty_list:
            found.discard("RSQB")
        return _take_expression(found, False)
    titles = _take_pattern(found)
    if {"DOT", "LBRACE"} <= found or found == {"DOT", "EQUAL"}:  # the target of SET and REMOVE
        titles.add("an expression")
        found.discard("LBRACE")
    if "NAME" in found:
        found.discard("NAME")
        if "PERCENT" in found:
            titles.add("a node label/relationship type name")
        elif "COLON" in found:
            titles.add("a variable name")
        else:
            titles.add("an identifier")
    if "PARAMETER" in found:
        found.discard("PARAMETER")
        titles.add("a parameter")
    if "STRING" in found:
        found.discard("STRING")
        titles.add("a string")
    return titles


def _take_expression(found: set[str], has_operand: bool) -> set[str]:
    if {"SHORTESTPATH", "RETURN"} <= found and not has_operand:
        found.clear()
        return {"an expression"}
    found -= _EXPRESSION_SIGNS
    if has_operand:
        found.discard("STAR")
    return {"an expression"}


def _take_pattern(found: set[str]) -> set[str]:
    if found == {"LSQB", "MINUS"}:
        found.discard("LSQB")
    if found == {"_DASH", "_LEFT_HEAD"}:
        found.discard("_LEFT_HEAD")
        return set()
    if {"PLUS", "STAR", "LBRACE"} <= found:  # a quantifier may follow
        found -= {"PLUS", "STAR", "LBRACE", "MORETHAN"}
        if found == {"LPAR"}:
            return set()
    begins = "SHORTESTPATH" in found and "NAME" in found
    if begins:
        found -= {"NAME", *_PATTERN_WORDS}
    elif "SHORTESTPATH" in found:
        found -= {"ANY", "ALL", "SHORTEST"}
        return set()
    is_path_name = found == {"EQUAL"} or {"EQUAL", "COLON", "RPAR"} <= found
    if (
        begins
        or is_path_name
        or "_DASH" in found
        or ("LPAR" in found and "YIELD" not in found and {"RPAR", "COMMA", "RETURN"} & found)
    ):
        found -= {"LPAR", "_DASH", "_LEFT_HEAD", "EQUAL"}
        return {"a graph pattern"}
    return set()


def _words(found: set[str], table: Table) -> set[str]:
    spelled = {kind: sign for sign, (kind,) in table.vocabulary.signs.items()}
    spelled.update(_SPELLED)
    words = {spelled.get(kind, kind) for kind in found - {"INTEGER", "FLOAT", END}}
    if {"ALL", "RETURN"} <= words:  # after UNION
        words -= {"ALL", "DISTINCT"}
    if "SHOW" in words and "MATCH" in words:
        words.update(_SERVER_COMMANDS)
    if {"CONSTRAINT", "INDEX", "VECTOR"} <= words and "INDEXES" not in words:
        kinds = {"BTREE", "FULLTEXT", "LOOKUP", "POINT", "RANGE", "TEXT", "VECTOR"}
        words = (words - kinds - {"OR"}) | {f"{kind} INDEX" for kind in kinds} | {"OR REPLACE", *_CREATE_COMMANDS}
    if "IF" in words:
        words.discard("IF")
        words.add("IF NOT EXISTS" if "FOR" in words else "IF EXISTS")
    if {"ENDS", "STARTS"} <= words:
        words = (words - {"ENDS", "STARTS"}) | {"ENDS WITH", "STARTS WITH"}
    if "FROM" in words and "WITH" in words:
        words.discard("WITH")
        words.add("WITH HEADERS")
    if "PROPERTY" in words and "ZONED" in words:
        words.discard("PROPERTY")
        words.add("PROPERTY VALUE")
    return words


def _listed(phrases: Sequence[str]) -> str:
    if len(phrases) < 2:
        return "".join(phrases)
    return f"{', '.join(phrases[:-1])} or {phrases[-1]}"
