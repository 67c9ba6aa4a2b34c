"""Where aggregating functions may stand, what beside them, and what ORDER BY sees of it."""

from __future__ import annotations

import pytest

from tests.planner.small_catalogue import complaint, place

_LEFT_BEHIND = (
    "In a WITH/RETURN with DISTINCT or an aggregation, it is not possible to access variables declared before the "
    "WITH/RETURN: "
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH (a) WHERE count(a) > 1 RETURN a", "Invalid use of aggregating function count(...) in this context"),
        ("RETURN count(count(*))", "Can't use aggregate functions inside of aggregate functions."),
        (
            "RETURN [x IN [1] | count(*)]",
            "Can't use aggregating expressions inside of expressions executing over lists",
        ),
        (
            "UNWIND [count(*)] AS x RETURN x",
            "Can't use aggregating expressions inside of expressions executing over lists",
        ),
        ("RETURN count(rand())", "Can't use non-deterministic (random) functions inside of aggregate functions."),
        ("RETURN [x IN collect(1) | x]", ""),
        (
            "UNWIND [1] AS x RETURN percentileCont(x, 1.5)",
            "Invalid input '1.5' is not a valid argument, must be a number in the range 0.0 to 1.0",
        ),
    ],
)
def test_aggregates_stand_in_projections_only(text: str, message: str) -> None:
    assert complaint(text) == message


@pytest.mark.parametrize(
    ("text", "illegal"),
    [
        ("MATCH (a) RETURN a.k + count(*)", "a.k"),
        ("MATCH (a) RETURN a.k, a.k + count(*)", ""),
        ("MATCH (a) RETURN a, a.k + count(*)", ""),
        ("MATCH (a) RETURN *, a.k + count(*)", ""),
        ("MATCH (a) RETURN a.k + a.j, a.k + a.j + count(*)", "a.k, a.j"),
        ("MATCH (a) RETURN a {.k, c: count(*)}", "a, a.k"),
        ("MATCH (a) RETURN labels(a), labels(a) + collect(1)", "a"),
        ("MATCH (a) RETURN 1 + $p + count(*)", ""),
        ("MATCH (a) RETURN count(*) + COUNT { (a)-->() }", "a"),
    ],
)
def test_what_stands_beside_an_aggregate_is_a_grouping_key(text: str, illegal: str) -> None:
    assert complaint(text).rpartition("Illegal expression(s): ")[2] == illegal


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("MATCH (a) RETURN a.k AS x ORDER BY a.j", ""),
        ("MATCH (a) RETURN DISTINCT a.k AS x ORDER BY a.j", f"{_LEFT_BEHIND}a"),
        ("MATCH (a) RETURN DISTINCT a.k AS x ORDER BY a.k + 1", ""),
        ("MATCH (a) RETURN a.k AS x, count(*) AS c ORDER BY count(*), x", ""),
        ("MATCH (a) RETURN a.k AS x, count(*) AS c ORDER BY count(a)", f"{_LEFT_BEHIND}a"),
        ("MATCH (a) WITH a.k AS x, count(*) AS c WHERE a.j = 1 RETURN x", f"{_LEFT_BEHIND}a"),
        (
            "MATCH (a) RETURN a.k AS x ORDER BY count(*)",
            "Cannot use aggregation in ORDER BY if there are no aggregate expressions in the preceding RETURN",
        ),
    ],
)
def test_order_by_sees_what_is_left(text: str, message: str) -> None:
    assert complaint(text) == message


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RETURN 1 AS x LIMIT -1", "Invalid input. '-1' is not a valid value. Must be a non-negative integer."),
        ("RETURN 1 AS x LIMIT 1.5", "Invalid input. '1.5' is not a valid value. Must be a non-negative integer."),
        (
            "RETURN 1 AS x SKIP x",
            "It is not allowed to refer to variables in SKIP, so that the value for SKIP can be statically calculated.",
        ),
        ("RETURN 1 AS x LIMIT rand()", "Type mismatch: expected Integer but was Float"),
        ("RETURN 1 AS x LIMIT $p + 1", ""),
    ],
)
def test_limits_are_known_beforehand(text: str, message: str) -> None:
    assert complaint(text) == message


def test_a_grouping_message_points_at_the_expression() -> None:
    assert place("MATCH (a) RETURN 1 + a.k + count(*)") == len("MATCH (a) RETURN 1 + ")
