"""The TCK's value literals and their canonical text."""

from __future__ import annotations

import math
from typing import Any

import pytest
from neo4j.time import Date, DateTime, Duration, Time

from tests.tck.values import BadLiteral, parse, render


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("null", None),
        ("true", True),
        ("-1", -1),
        ("1.5e3", 1500.0),
        (".5", 0.5),
        ("-Infinity", -math.inf),
        ("'it\\'s'", "it's"),
        ("[1, [2], 'x']", [1, [2], "x"]),
        ("{a: 1, b: {}}", {"a": 1, "b": {}}),
        ("[]", []),
    ],
)
def test_plain_literals_become_python_values(text: str, value: Any) -> None:
    parsed = parse(text)
    assert parsed == value and type(parsed) is type(value)


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("{b: 1, a: 2}", "{a: 2, b: 1}"),
        ("(:B:A {x: 1})", "(:A:B {x: 1})"),
        ("()", "()"),
        ("[:T {x: 1}]", "[:T {x: 1}]"),
        ("<(:A)-[:T]->()<-[:S {w: 1}]-()>", "<(:A)-[:T]->()<-[:S {w: 1}]-()>"),
        ("<()>", "<()>"),
        ("-0.0", "0.0"),
        ("1e0", "1.0"),
        ("-Inf", "-Infinity"),
        ("NaN", "NaN"),
    ],
)
def test_equal_values_have_one_text(text: str, canonical: str) -> None:
    assert render(parse(text)) == canonical


def test_an_integer_is_not_a_float() -> None:
    assert render(1) != render(1.0)


def test_order_inside_lists_counts_unless_they_are_bags() -> None:
    assert render([1, 2]) != render([2, 1])
    assert render([1, [3, 2]], bags=True) == render([[2, 3], 1], bags=True)


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Date(1984, 10, 11), "'1984-10-11'"),
        (Time(12, 0, 0), "'12:00'"),
        (Time(12, 31, 14, 645_000_000), "'12:31:14.645'"),
        (DateTime(2000, 1, 1, 0, 0, 5, 1_000), "'2000-01-01T00:00:05.000001'"),
        (Duration(months=14, days=3, seconds=-3661), "'P1Y2M3DT-1H-1M-1S'"),
        (Duration(months=-14), "'P-1Y-2M'"),
        (Duration(seconds=1, nanoseconds=500_000_000), "'PT1.5S'"),
        (Duration(), "'PT0S'"),
    ],
)
def test_temporal_values_are_written_as_the_tck_writes_them(value: Any, text: str) -> None:
    assert render(value) == text


@pytest.mark.parametrize("text", ["", "[1", "{a 1}", "1 2", "word", "'open", "(:A"])
def test_what_is_no_literal_is_refused(text: str) -> None:
    with pytest.raises(BadLiteral):
        parse(text)
