"""Functions of single values, results and errors as Neo4j 5.26 gives them; and of columns, which must agree."""

from __future__ import annotations

import math
from typing import Any

import pytest

from hoplite.engine.functions.registry import FUNCTIONS
from hoplite.errors import CypherError
from hoplite.values.columns import from_objects
from hoplite.values.temporal import Date

LARGEST, SMALLEST = 2**63 - 1, -(2**63)
NAN, INFINITY = math.nan, math.inf


def call(name: str, *arguments: Any) -> Any:
    """The function as the evaluator calls it."""
    function = FUNCTIONS[name.lower()]
    if function.null_in_null_out and any(argument is None for argument in arguments):
        return None
    return function.call(None, *arguments) if function.needs_context else function.call(*arguments)


@pytest.mark.parametrize(
    ("name", "arguments", "expected"),
    [
        ("left", ("a😀b", 2), "a😀"),
        ("left", ("abc", SMALLEST), ""),
        ("right", ("abc", 5), "abc"),
        ("right", ("abc", 0), ""),
        ("substring", ("hello", 1, 3), "ell"),
        ("substring", ("hello", 9), ""),
        ("substring", (None, -1), None),
        ("split", ("a,b;c", [",", ";"]), ["a", "b", "c"]),
        ("split", ("aXYbXc", ["X", "XY"]), ["a", "Yb", "c"]),
        ("split", ("a😀", ""), ["a", "?", "?"]),
        ("split", ("", ","), [""]),
        ("split", ("abc", []), ["abc"]),
        ("split", ("abc", ["b", None]), None),
        ("replace", ("abc", "", "x"), "xaxbxcx"),
        ("reverse", ("a😀b",), "b😀a"),
        ("reverse", ([1, None],), [None, 1]),
        ("trim", ("\u2003 a\u00a0",), "a\u00a0"),
        ("btrim", ("xyabcyx", "xy"), "abc"),
        ("ltrim", ("aabc", ""), "aabc"),
        ("toUpper", ("ß",), "SS"),
        ("lower", ("ΑΣ",), "ας"),
        ("normalize", ("ﬁ", "NFKC"), "fi"),
        ("toString", (1e7,), "1.0E7"),
        ("toString", (True,), "true"),
        ("toStringOrNull", ([1],), None),
        ("abs", (SMALLEST,), SMALLEST),
        ("abs", (-2.5,), 2.5),
        ("sign", (NAN,), 0),
        ("sign", (-0.5,), -1),
        ("round", (2.5,), 3.0),
        ("round", (-2.5,), -2.0),
        ("round", (0.49999999999999994,), 0.0),
        ("round", (1e300,), 9.223372036854776e18),
        ("round", (INFINITY,), INFINITY),
        ("round", (1.005, 2), 1.01),
        ("round", (-1.55, 1), -1.6),
        ("round", (1.25, 1, "HALF_EVEN"), 1.2),
        ("round", (-2.5, 0, "UP"), -3.0),
        ("round", (1.5, 1000), 1.5),
        ("ceil", (-0.5,), -0.0),
        ("log", (0,), -INFINITY),
        ("cot", (0,), INFINITY),
        ("atan2", (0, 0), 0.0),
        ("haversin", (1,), 0.22984884706593012),
        ("toInteger", ("1.9",), 1),
        ("toInteger", (" 1 ",), None),
        ("toInteger", ("1e3",), 1000),
        ("toInteger", (1e30,), LARGEST),
        ("toInteger", (NAN,), 0),
        ("toInteger", (True,), 1),
        ("toFloat", (" 1 ",), 1.0),
        ("toFloat", ("0x1p3",), 8.0),
        ("toFloat", ("1f",), 1.0),
        ("toFloat", ("-Infinity",), -INFINITY),
        ("toFloat", ("1e",), None),
        ("toBoolean", (" TRUE ",), True),
        ("toBoolean", ("yes",), None),
        ("toIntegerOrNull", ("9223372036854775808",), None),
        ("toIntegerList", (["1", "x", None, 2.5, [1]],), [1, None, None, 2, None]),
        ("toStringList", ([Date(0), 1],), ["1970-01-01", "1"]),
        ("range", (0, 10, 3), [0, 3, 6, 9]),
        ("range", (1, 0), []),
        ("range", (1, 0, 3), [1]),
        ("range", (LARGEST - 1, LARGEST), [LARGEST - 1, LARGEST]),
        ("range", (SMALLEST, LARGEST, LARGEST), [SMALLEST]),
        ("tail", ([1, 2],), [2]),
        ("tail", (1.5,), []),
        ("head", ([],), None),
        ("last", ([1, 2],), 2),
        ("size", ("a😀",), 2),
        ("isEmpty", ({},), True),
        ("keys", ({"b": 1, "a": None},), ["b", "a"]),
        ("coalesce", (None, 1, 2), 1),
        ("nullIf", (1, 1.0), None),
        ("nullIf", ([1, None], [1, None]), [1, None]),
        ("valueType", (None,), "NULL"),
        ("valueType", ([1, "a", None],), "LIST<STRING | INTEGER> NOT NULL"),
        ("valueType", ([[1], [None]],), "LIST<LIST<NULL> NOT NULL | LIST<INTEGER NOT NULL> NOT NULL> NOT NULL"),
        ("valueType", ([[], [1]],), "LIST<LIST<INTEGER NOT NULL> NOT NULL> NOT NULL"),
        ("valueType", ([],), "LIST<NOTHING> NOT NULL"),
        ("vector.similarity.cosine", ([1, 2], [-1, -2]), 2.9802322387695312e-08),
        ("vector.similarity.cosine", ([1, 2], [1, 2]), 1.0),
        ("vector.similarity.euclidean", ([1, 2], [-1, -2]), 0.0476190485060215),
    ],
)
def test_results(name: str, arguments: tuple[Any, ...], expected: Any) -> None:
    result = call(name, *arguments)
    assert type(result) is type(expected)
    assert result == expected
    if isinstance(expected, float):
        assert math.copysign(1, result) == math.copysign(1, expected)


@pytest.mark.parametrize(
    ("name", "arguments", "code", "gql", "message"),
    [
        ("abs", ("a",), "TypeError", "50N42", "abs() requires numbers"),
        ("degrees", (True,), "TypeError", "50N42", "toDegrees() requires numbers"),
        ("left", ("a", -1), "ExecutionFailed", "50N00", "Cannot handle negative start index nor negative length"),
        ("right", ("a", -1), "ExecutionFailed", "50N00", "negative length"),
        (
            "substring",
            ("a", 2147483648),
            "ExecutionFailed",
            "50N00",
            "Invalid input for start value in function 'substring()': Expected an integer between -2147483648 and "
            "2147483647, but got: 2147483648",
        ),
        (
            "upper",
            (1,),
            "TypeError",
            "50N42",
            "Expected a string value for `toUpper`, but got: Long(1); consider converting it to a string with "
            "toString().",
        ),
        (
            "replace",
            (1, "a", "b"),
            "TypeError",
            "50N42",
            "Expected a string value for `replace`, but got: Long(1); consider converting it to a string with "
            "toString().",
        ),
        (
            "size",
            (1,),
            "TypeError",
            "50N42",
            "Invalid input for function 'size()': Expected a String or List, got: Long(1)",
        ),
        (
            "toInteger",
            ([1],),
            "TypeError",
            "50N42",
            "Invalid input for function 'toInteger()': Expected a String, Float, Integer or Boolean, got: "
            "List{Long(1)}",
        ),
        ("toInteger", ("9223372036854775808",), "TypeError", "50N42", "integer, 9223372036854775808, is too large"),
        (
            "range",
            (None, 1),
            "TypeError",
            "22G03",
            "Invalid input for start value in function 'range()': Expected a numeric value but got: NO_VALUE",
        ),
        ("range", (1, 2, 0), "ArgumentError", "22N38", "Step argument to 'range()' cannot be zero"),
        ("round", (1.5, -1), "ArgumentError", "22N38", "Precision argument to 'round()' cannot be negative"),
        ("round", (1.25, 1, "UNNECESSARY"), "ExecutionFailed", "50N00", "Rounding necessary"),
        (
            "head",
            ({"a": 1},),
            "TypeError",
            "22G03",
            "Cannot access a map 'Map{a -> Long(1)}' by key 'Int(0)': Expected Int(0) to be a "
            "org.neo4j.values.storable.TextValue, but it was a org.neo4j.values.storable.IntValue",
        ),
        (
            "vector.similarity.cosine",
            ([0.0], [1.0]),
            "ArgumentError",
            "50N42",
            "Invalid input for 'vector.similarity.cosine()': Argument a is not a valid vector for this similarity "
            "function.",
        ),
    ],
)
def test_errors(name: str, arguments: tuple[Any, ...], code: str, gql: str, message: str) -> None:
    with pytest.raises(CypherError) as failure:
        call(name, *arguments)
    assert failure.value.code.endswith(f".{code}")
    assert failure.value.gql_status.code == gql
    assert failure.value.message == message


_OF_ONE_COLUMN = [
    name
    for name, function in FUNCTIONS.items()
    if function.column_call is not None
    and not function.needs_context
    and not function.signature.variadic
    and sum(not argument.optional for argument in function.signature.arguments) <= 1
]


@pytest.mark.parametrize("name", _OF_ONE_COLUMN)
@pytest.mark.parametrize(
    "values",
    [
        [1, None, SMALLEST, 7],
        [1.5, None, -0.0, NAN, INFINITY],
        [True, None, False],
        ["", None, " aB ", "😀"],
    ],
)
def test_columns_agree_with_values(name: str, values: list[Any]) -> None:
    function = FUNCTIONS[name]
    assert function.column_call is not None
    column = function.column_call(from_objects(values))
    if column is not None:
        assert repr(column.objects().tolist()) == repr([call(name, value) for value in values])
