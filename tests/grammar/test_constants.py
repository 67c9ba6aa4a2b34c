"""Long lists of constants are read at once, and mean the same as when spelled out."""

from __future__ import annotations

import math
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j.exceptions import CypherSyntaxError

import hoplite
from hoplite.api.cypher_script import literal
from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.parse import parse
from hoplite.values.render import describe


def unwound(text: str, constants: bool = True) -> ast.Expression:
    """The list of `UNWIND list AS row RETURN row`."""
    statement = parse(f"UNWIND {text} AS row RETURN row", constants)
    assert isinstance(statement.body, ast.SingleQuery)
    clause = statement.body.clauses[0]
    assert isinstance(clause, ast.UnwindClause)
    return clause.expression


def value(expression: Any) -> Any:
    """What a literal stands for, taken from the tree."""
    match expression:
        case ast.Literal(value=held) | ast.ConstantList(value=held):
            return held
        case ast.ListLiteral(items=items):
            return [value(item) for item in items]
        case ast.MapLiteral(entries=entries):
            return {key: value(item) for key, item in entries}
        case ast.Unary(operator="-", operand=operand):
            return -value(operand)
    raise AssertionError(expression)


def long(item: str) -> str:
    return "[" + ", ".join([item] * max(2, 600 // len(item) + 1)) + "]"


SAME = (
    *("1", "-1", "1.5", "-2.5e-3", "1E5", "9223372036854775807", "-9223372036854775808", "1e308", "-0.0", "0"),
    *("true", "FALSE", "null", "NaN", "Infinity", "-Infinity", "inf"),
    *("''", "'a'", '"b"', r"'it\'s'", r'"say \"x\""', r"'\\'", r"'\n\t'", r"'\x'", "'a\nb'", "'é😀'", "'x // y'"),
    *("'\"'", '"\'"', "'[{('", "'`'", "'$p'", "'a:'", r"'\\u0041'"),
    *("{}", "[]", "{a: 1}", "{ a :1 , b: [1, {c: 'x'}]}", "{true: false}", "{`odd ``key`: 1}", "{é: 1, `a:b`: 2}"),
    *("{a: 1, a: 2}", "[[1], [2, 'x']]", "{match: 1}", "{a:\n1}"),
)


@pytest.mark.parametrize("item", SAME)
def test_a_constant_means_what_it_means_spelled_out(item: str) -> None:
    folded, spelled = unwound(long(item)), unwound(long(item), constants=False)
    assert isinstance(folded, ast.ConstantList)
    assert isinstance(spelled, ast.ListLiteral)
    assert repr(value(folded)) == repr(value(spelled))
    assert folded.span == spelled.span


NO_CONSTANTS = (
    *("x", "1 + 1", "$p", "date('2020-01-01')", "{a: x}", "1 /* one */", "1 // one\n", "0x1F", "0o17", "1_000", ".5"),
    *("+1", "- 1", "n.x", "'a' + 'b'", "x:Label", "[x IN [1] | x]", "(1)", "1.5f", "[[[[[[[1]]]]]]]", "-NaN", "tru"),
    "{a: true:X}",
)
ERRORS = (
    *("9223372036854775808", "1e999", "017", "'a': 1", "{'a': 1}", "{1: 2}", "1,", "{a: 1,}", "{a}", "{a: 1 b: 2}"),
    *("{.a}", "1 2", "'"),
)


@pytest.mark.parametrize("item", [*NO_CONSTANTS, *ERRORS])
def test_whatever_else_stands_in_a_list_is_left_to_the_parser(item: str) -> None:
    text = f"WITH 1 AS x, {{}} AS n UNWIND {long(item)} AS row RETURN row"
    assert outcome(text, True) == outcome(text, False)
    assert ("Statement(" not in outcome(text, True)) == (item in ERRORS)


def outcome(text: str, constants: bool) -> str:
    """The tree, or the error."""
    try:
        return repr(parse(text, constants))
    except CypherError as error:
        return error.message


def test_short_lists_and_brackets_that_are_no_lists() -> None:
    assert isinstance(unwound("[1, 2, 3]"), ast.ListLiteral)
    key = "k" * 1000
    assert parse(f"RETURN n['{key}']") == parse(f"RETURN n['{key}']", constants=False)
    types = "|".join(f"T{number}" for number in range(300))
    assert parse(f"MATCH (a)-[:{types}]->(b) RETURN a") == parse(f"MATCH (a)-[:{types}]->(b) RETURN a", constants=False)
    assert parse(f"RETURN 'text {long('1')}'") == parse(f"RETURN 'text {long('1')}'", constants=False)


def test_types_and_positions_in_messages_are_those_of_a_list_that_is_spelled_out() -> None:
    db = hoplite.open()
    with pytest.raises(CypherSyntaxError, match=r"expected Map, Node.* but was Integer .line 1, column"):
        db.run(f"UNWIND {long('1')} AS row RETURN row.name")
    with pytest.raises(CypherSyntaxError, match="Variable `nope` not defined"):
        db.run(f"UNWIND {long('{a: 1}')} AS row RETURN nope")
    assert db.run(f"RETURN 3 IN {long('3')} AS a, size({long('3')}) > 100 AS b").data() == [{"a": True, "b": True}]
    assert db.run(f"UNWIND {long('[1, null]')} AS row RETURN sum(row[0]) > 50 AS x, count(row[1]) AS y").data() == [
        {"x": True, "y": 0}
    ]


def test_a_plan_tells_how_long_a_list_is() -> None:
    plan = hoplite.open().run(f"EXPLAIN UNWIND {long('12345')} AS x RETURN x").consume().plan
    assert "[... 121 constants] AS x" in str(plan)


scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**63), 2**63 - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(codec="utf-8", exclude_characters="\uffff"))
)
names = st.text(st.characters(codec="utf-8", exclude_characters="\uffff"), min_size=1)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(names, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=200)
@given(st.lists(values, min_size=2, max_size=5))
def test_any_list_of_values(items: list[Any]) -> None:
    text = literal([*items, "x" * 600])
    expression = unwound(text)
    assert [describe(item) for item in value(expression)[:-1]] == [describe(item) for item in items]


def test_not_a_number_is_one() -> None:
    expression = unwound(long("NaN"))
    assert isinstance(expression, ast.ConstantList)
    assert all(math.isnan(item) for item in expression.value)
