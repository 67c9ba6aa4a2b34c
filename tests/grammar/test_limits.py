"""Texts beyond the limits, and long ones within them."""

from __future__ import annotations

import time

import pytest

from hoplite.allowance import Allowance, allowing
from hoplite.errors import OUT_OF_MEMORY, SYNTAX_ERROR, TRANSACTION_TIMED_OUT, CypherError
from hoplite.grammar.depth import check_depth, most_levels
from hoplite.grammar.limits import TextLimitReached, TextLimits
from hoplite.grammar.parse import parse, tokens_of

FEW = TextLimits(max_text_length=60_000, max_tokens=10_000, max_nesting=40)


def refused(text: str) -> TextLimitReached:
    with pytest.raises(TextLimitReached) as caught:
        parse(text, limits=FEW)
    assert caught.value.code == SYNTAX_ERROR
    assert caught.value.position is not None
    return caught.value


def test_a_text_may_only_be_so_long() -> None:
    error = refused("RETURN 1" + " " * 60_000)
    assert "`max_text_length` is 60,000" in error.message
    assert len(error.message) < 1_000


def test_a_text_may_only_have_so_many_tokens() -> None:
    assert "`max_tokens` is 10,000" in refused("RETURN " + "a," * 20_000 + "a").message


@pytest.mark.parametrize(("text", "count"), [("RETURN 1", 2), ("MATCH (n) RETURN n", 6), ("RETURN [1, 2]", 6)])
def test_the_number_of_tokens_is_exact(text: str, count: int) -> None:
    parse(text, limits=TextLimits(max_tokens=count))
    with pytest.raises(TextLimitReached, match=f"`max_tokens` is {count - 1}") as caught:
        parse(text, limits=TextLimits(max_tokens=count - 1))
    assert caught.value.position is not None
    assert caught.value.position.offset == len(text) - 1  # the last token of each is one character


def test_a_long_list_of_constants_is_one_token() -> None:
    parse("UNWIND [" + "1, " * 15_000 + "1] AS x RETURN x", limits=FEW)


@pytest.mark.parametrize(
    ("opening", "closing"),
    [
        ("[", "]"),
        ("{a: ", "}"),
        ("NOT ", ""),
        ("abs(", ")"),
        ("CASE WHEN true THEN ", " END"),
        ("[x IN [1] | ", "]"),
        ("COLLECT { RETURN ", " }"),
        ("1 ^ (", ")"),
    ],
)
def test_expressions_may_only_be_nested_so_deeply(opening: str, closing: str) -> None:
    parse(f"RETURN {opening * 6}true{closing * 6} AS x", limits=FEW)
    for levels in (60, 1_000):
        assert "`max_nesting` is 40" in refused(f"RETURN {opening * levels}true{closing * levels} AS x").message


@pytest.mark.parametrize(
    ("before", "opening", "inner", "closing", "after"),
    [
        ("RETURN ", "[", "true", "]", " AS x"),
        ("RETURN ", "NOT ", "true", "", " AS x"),
        ("RETURN ", "CASE WHEN true THEN a OR b AND c = ", "true", " END", " AS x"),
        ("RETURN ", "- ", "x", "", ""),
        ("RETURN ", "a OR b XOR c AND NOT d = e IN f + g * h ^ -(", "x", ")", " AS x"),
        ("RETURN ", "EXISTS { MATCH (a)-[r:A|B]->(b) WHERE a OR ", "x", " }", " AS x"),
        ("RETURN ", "COLLECT { CALL { RETURN ", "x", " AS x } RETURN x }", " AS x"),
        ("RETURN a", ".b", "", "", ""),
        ("RETURN a", "[0]", "", "", ""),
        ("RETURN a", " IS NULL", "", "", ""),
        ("RETURN a", ":A", "", "", " AS x"),
        ("RETURN a IS :: ", "LIST<", "INTEGER", ">", ""),
        ("RETURN a IS :: INTEGER", " LIST", "", "", ""),
        ("MATCH (n:", "!", "A", "", ") RETURN n"),
        ("MATCH (n:", "(A&", "B", ")", ") RETURN n"),
        ("MATCH ", "(", "(a)-->(b)", ")", " RETURN *"),
        ("", "FOREACH (x IN xs | ", "SET n.a = b OR c AND d.e", ")", ""),
        ("", "CALL { ", "RETURN 1 AS x", " RETURN x }", " RETURN 1 AS y"),
    ],
)
def test_no_tree_is_deeper_than_its_tokens_allow(
    before: str, opening: str, inner: str, closing: str, after: str
) -> None:
    depths = []
    for levels in range(1, 12):
        text = before + opening * levels + inner + closing * levels + after
        try:
            statement = parse(text)
        except CypherError:  # some of them cannot be repeated
            assert levels > 1
            break
        most = most_levels(tokens_of(text))
        check_depth(statement, text, TextLimits(max_nesting=most))
        depths.append(most)
    assert depths == sorted(depths)


@pytest.mark.parametrize("text", ["RETURN 1" + " + 1" * 1_000, "RETURN true" + " AND true" * 1_000])
def test_a_chain_of_operators_is_one_level(text: str) -> None:
    parse(text, limits=FEW)


def test_a_property_of_a_property_is_a_level() -> None:
    assert "`max_nesting`" in refused("RETURN a" + ".b" * 100).message


@pytest.mark.parametrize(
    "text",
    [
        "RETURN '" + "\\'" * 20_000,
        "RETURN " + "/* " * 20_000,
        "RETURN `" + "``" * 20_000,
        "RETURN " + "[x IN " * 5_000,
        "RETURN " + "CASE " * 9_000,
        "RETURN " + "(" * 9_000,
    ],
)
def test_what_is_never_closed_is_a_syntax_error(text: str) -> None:
    with pytest.raises(CypherError) as caught:
        parse(text, limits=FEW)
    assert caught.value.code == SYNTAX_ERROR


def test_the_deadline_ends_the_parsing() -> None:
    with allowing(Allowance(deadline=time.monotonic() - 1)), pytest.raises(CypherError) as caught:
        parse("RETURN 1")
    assert caught.value.code == TRANSACTION_TIMED_OUT


def test_tokens_and_constants_are_held_to_the_memory() -> None:
    for text in ("RETURN " + "a, " * 9_000 + "a", "UNWIND [" + "1, " * 15_000 + "1] AS x RETURN x"):
        with allowing(Allowance(memory_bytes=100_000)), pytest.raises(CypherError) as caught:
            parse(text)
        assert caught.value.code == OUT_OF_MEMORY


def test_an_integer_of_thousands_of_digits_is_too_large() -> None:
    with pytest.raises(CypherError, match="integer is too large"):
        parse("RETURN " + "9" * 5_000)


def test_unicode_escapes_leave_positions_as_they_were() -> None:
    with pytest.raises(CypherError, match=r"column 32 \(offset: 31\)"):
        parse(r"RETURN '\u0041\uD83D\uDE00b' + )")
