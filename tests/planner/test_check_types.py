"""Types that are known before a query runs, and contradictions between them."""

from __future__ import annotations

import pytest

from hoplite.planner.check.typespec import ALL, LISTS, any_of, exactly, list_spec
from hoplite.planner.types import BOOLEAN, FLOAT, INTEGER, LIST, MAP, NODE, NUMBER, STRING, CypherType
from tests.planner.small_catalogue import complaint, place


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RETURN 1 + true", "Type mismatch: expected Float, Integer, String or List<T> but was Boolean"),
        ("RETURN true + 1", "Type mismatch: expected List<T> but was Integer"),
        (
            "RETURN 'a' - 1",
            "Type mismatch: expected Float, Integer, Duration, Date, Time, LocalTime, LocalDateTime or "
            "DateTime but was String",
        ),
        ("RETURN date('2020-01-01') + 1", "Type mismatch: expected Duration or List<T> but was Integer"),
        ("RETURN NOT 1", "Type mismatch: expected Boolean but was Integer"),
        ("RETURN NOT [1]", "Coercion of list to boolean is not allowed. Please use `NOT isEmpty(...)` instead."),
        ("RETURN 1 IN 2", "Type mismatch: expected List<T> but was Integer"),
        ("RETURN [1, 2]['a']", "Type mismatch: list index must be given as Integer, but was String"),
        ("RETURN {a: 1}[0]", "Type mismatch: map key must be given as String, but was Integer"),
        ("RETURN 'abc'[0]", "Type mismatch: expected List<T> but was String"),
        ("RETURN abs('a')", "Type mismatch: expected Float or Integer but was String"),
        ("MATCH (a) RETURN type(a)", "Type mismatch: expected Relationship but was Node"),
        ("MATCH (a) DELETE [a]", "Type mismatch: expected Node, Path or Relationship but was List<Node>"),
        (
            "RETURN reduce(s = 0, x IN ['a'] | s + x)",
            "Type mismatch: accumulator is Integer but expression has type String",
        ),
        ("RETURN reduce(s = 0, x IN [1.5] | s + x)", ""),
        ("RETURN 1 STARTS WITH 'a', 1 < 'a', 1 = 'a'", ""),
        ("RETURN [1, 'a'][0].k, null.k, null + 1", ""),
        ("MATCH (a) RETURN a.k.x, a.k + 1, NOT a.k", ""),
        (
            "UNWIND [1] AS x RETURN x.k",
            "Type mismatch: expected Map, Node, Relationship, Point, Duration, Date, Time, "
            "LocalTime, LocalDateTime or DateTime but was Integer",
        ),
    ],
)
def test_contradictions_are_found(text: str, message: str) -> None:
    assert complaint(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RETURN abs()", "Insufficient parameters for function 'abs'"),
        ("RETURN ABS(1, 2)", "Too many parameters for function 'abs'"),
        ("RETURN toInt(1)", "Unknown function 'toInt'"),
        ("RETURN distance(1, 2)", "'distance' has been replaced by 'point.distance'"),
        ("RETURN size(DISTINCT [1])", "Invalid use of DISTINCT with function 'size'"),
        (
            "MATCH (a) RETURN size((a)-->())",
            "A pattern expression should only be used in order to test the existence of "
            "a pattern. It can no longer be used inside the function size(), an alternative is to replace size() with "
            "COUNT {}.",
        ),
        (
            "MATCH (a) WHERE exists(a.k) RETURN a",
            "The property existence syntax `... exists(variable.property)` is no "
            "longer supported. Please use `variable.property IS NOT NULL` instead.",
        ),
        (
            "CALL db.labels(1)",
            "Procedure call provides too many arguments: got 1 expected none.\n\nProcedure db.labels has "
            "signature: db.labels() :: label :: STRING\nmeaning that it expects no arguments\nDescription: Lists "
            "labels.",
        ),
        ("CALL db.labels() YIELD nope RETURN nope", "Unknown procedure output: `nope`"),
        (
            "CALL nope() YIELD x RETURN x",
            "There is no procedure with the name `nope` registered for this database "
            "instance. Please ensure you've spelled the procedure name correctly and that the procedure is properly "
            "deployed.",
        ),
    ],
)
def test_calls_must_fit(text: str, message: str) -> None:
    assert complaint(text) == message


def test_what_needs_no_lookup_is_found_first() -> None:
    assert place("RETURN localtime('12:00') ^ true") == len("RETURN localtime('12:00') ^ ")
    assert complaint("RETURN nope(1) + x") == "Variable `x` not defined"
    assert complaint("RETURN nope(1) + (date() * 2)") == "Unknown function 'nope'"


@pytest.mark.parametrize(
    ("type", "message"),
    [
        (STRING, "Type mismatch for parameter 'p': expected Float or Integer but was String"),
        (LIST, "Type mismatch for parameter 'p': expected Float or Integer but was List<T>"),
        (MAP, "Type mismatch for parameter 'p': expected Float or Integer but was Map, Node or Relationship"),
        (INTEGER, ""),
        (None, ""),
    ],
)
def test_types_of_parameters_take_part(type: CypherType | None, message: str) -> None:
    assert complaint("RETURN abs($p)", p=type) == message


def test_a_parameter_keeps_its_type_behind_a_name() -> None:
    assert complaint("WITH $p AS y RETURN abs(y)", p=STRING) == (
        "Type mismatch: expected Float or Integer but was String"
    )


def test_sets_of_types_are_written_as_neo4j_does() -> None:
    assert str(exactly(INTEGER, FLOAT)) == "Float or Integer"
    assert str(any_of((MAP,))) == "Map, Node or Relationship"
    assert str(LISTS) == "List<T>"
    assert str(list_spec(any_of((NUMBER,)))) == "List<Float>, List<Integer> or List<Number>"


def test_sets_of_types_meet_and_widen() -> None:
    assert exactly(INTEGER).within(exactly(FLOAT)) == exactly(FLOAT)
    assert not exactly(FLOAT).within(exactly(INTEGER))
    assert exactly(INTEGER).least_upper_bounds(exactly(FLOAT)) == exactly(NUMBER)
    assert exactly(NODE).least_upper_bounds(exactly(MAP)) == exactly(MAP)
    assert ALL & exactly(BOOLEAN) == exactly(BOOLEAN)
    assert not LISTS & exactly(BOOLEAN)
