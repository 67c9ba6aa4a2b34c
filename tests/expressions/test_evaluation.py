"""Expressions over columns: values, nulls, errors and the rows they belong to."""

import math
from typing import Any

import numpy as np
import pytest

from hoplite.engine.context import RowError
from hoplite.engine.expressions.compile import compile_expression
from hoplite.engine.functions.registry import FUNCTIONS
from hoplite.errors import ARITHMETIC_ERROR, ENTITY_NOT_FOUND, TYPE_ERROR
from hoplite.values.columns import Booleans, EntityLists, Integers, Nodes, Strings
from hoplite.values.entities import NodeRef, RelationshipRef
from tests.expressions.small_graph import SmallGraph, SmallWriter, an_execution, batch_of, evaluate, expression_of

NAN = float("nan")
GRAPH = SmallGraph(
    nodes=[(("A", "B"), {"age": 30, "name": "Ann"}), (("A",), {"age": 41}), ((), {"name": "Cy"})],
    relationships=[("KNOWS", {"since": 1999}), ("LIKES", {})],
)


def failure(text: str, execution: Any = None, /, **columns: Any) -> tuple[int, str, str]:
    with pytest.raises(RowError) as raised:
        evaluate(text, execution, **columns)
    return raised.value.row, raised.value.error.code, raised.value.error.message


# --- arithmetic ---


def test_integers_divide_toward_zero_and_keep_the_sign_of_the_dividend() -> None:
    assert evaluate("x / y", x=[7, -7, 7, -7], y=[2, 2, -2, -2]) == [3, -3, -3, 3]
    assert evaluate("x % y", x=[7, -7, 7, -7], y=[3, 3, -3, -3]) == [1, -1, 1, -1]
    assert evaluate("x / y", x=[-(2**63)], y=[-1]) == [-(2**63)]


@pytest.mark.parametrize(
    ("text", "x", "y"),
    [("x + y", 2**63 - 1, 1), ("x - y", -(2**63), 1), ("x * y", 2**62, 2), ("x * y", -(2**63), -1)],
)
def test_overflow_is_found_at_its_row(text: str, x: int, y: int) -> None:
    assert failure(text, x=[1, 1, x], y=[1, 1, y]) == (2, ARITHMETIC_ERROR, "long overflow")
    assert failure(text, x=["a", x] if text == "x + y" else [1.0, x], y=[1, y]) == (
        1,
        ARITHMETIC_ERROR,
        "long overflow",
    )


def test_products_near_the_limit_are_exact() -> None:
    assert evaluate("x * y", x=[3037000499, -(2**62)], y=[3037000499, 2]) == [3037000499**2, -(2**63)]


def test_null_rows_neither_fail_nor_count() -> None:
    assert evaluate("x / y", x=[1, None, 4], y=[1, 2, None]) == [1, None, None]
    assert evaluate("x % y", x=[1, None, 4], y=[1, 0, None]) == [0, None, None]


def test_only_an_integer_zero_refuses_to_divide() -> None:
    assert evaluate("x / 0.0", x=[1, -1]) == [math.inf, -math.inf]
    assert failure("x / 0", x=[1.0]) == (0, ARITHMETIC_ERROR, "/ by zero")
    assert failure("x / y", x=[1, None, 4], y=[1, 0, None]) == (1, ARITHMETIC_ERROR, "/ by zero")
    assert evaluate("1.0 / 0") == [math.inf]  # between literals


def test_text_takes_up_what_can_be_written() -> None:
    assert evaluate("'a' + x", x=[1, 1.0, True, "b", None, [2]]) == ["a1", "a1.0", "atrue", "ab", None, ["a", 2]]
    assert failure("'a' + x", x=["b", {"k": 1}])[2] == "Cannot add `String` and `Map`"


def test_powers_are_floats_and_follow_java() -> None:
    assert evaluate("2 ^ 3 ^ 2") == [64.0]
    assert evaluate("-2 ^ 2") == [4.0]
    assert all(math.isnan(v) for v in evaluate("x ^ y", x=[1.0, -1.0], y=[NAN, math.inf]))


# --- comparison ---


def test_integers_and_floats_compare_as_floats() -> None:
    assert evaluate("x = 9007199254740992.0", x=[9007199254740993]) == [True]
    assert evaluate("x > 9007199254740992.0", x=[9007199254740993]) == [False]


def test_nan_is_equal_to_nothing_and_comparable_with_numbers_only() -> None:
    assert evaluate("x < y", x=[NAN, NAN, 1], y=[1, "a", NAN]) == [False, None, False]
    assert evaluate("x <> x", x=[NAN, 1.0]) == [True, False]


def test_signed_zeros_are_equal_and_ordered() -> None:
    assert evaluate("x = y", x=[-0.0], y=[0.0]) == [True]
    assert evaluate("x < y", x=[-0.0, 0.0], y=[0.0, -0.0]) == [True, False]


def test_chains_are_conjunctions() -> None:
    assert evaluate("1 < x <= 3", x=[1, 2, 3, 4, None]) == [False, True, True, False, None]
    assert evaluate("1 = 1 = true") == [False]


def test_membership_knows_what_it_does_not_know() -> None:
    assert evaluate("x IN [1, 2.0, null]", x=[1, 2, 3, None]) == [True, True, None, None]
    assert evaluate("x IN []", x=[1, None]) == [False, False]
    assert evaluate("x IN ['a', 1]", x=["a", 1.0, True]) == [True, True, False]
    assert evaluate("x IN y", x=[1, 1], y=[[[1]], [None, 1]]) == [False, True]


def test_entities_are_found_in_their_lists() -> None:
    lists = EntityLists(np.array([0, 2, 2]), np.array([4, 5]), of_nodes=True)
    batch = batch_of({"n": [NodeRef(5), NodeRef(5)]}).with_columns({"ns": lists})
    column = compile_expression(expression_of("n IN ns"), FUNCTIONS)(batch, an_execution())
    assert column.objects().tolist() == [True, False]


def test_rows_may_share_one_long_list() -> None:
    shared = [1, 2.0, None]
    assert evaluate("x IN ys", x=[1, 2, 3] * 100, ys=[shared] * 300) == [True, True, None] * 100


# --- logic ---


def test_a_decided_conjunction_forgets_its_errors() -> None:
    assert evaluate("1 / x = 1 AND x <> 0", x=[1, 0, 2]) == [True, False, False]
    assert evaluate("x <> 0 AND 1 / x = 1", x=[1, 0, 2]) == [True, False, False]
    assert evaluate("1 / x = 1 OR x = 0", x=[1, 0]) == [True, True]


def test_an_undecided_conjunction_raises_its_first_error() -> None:
    assert failure("1 / x = 1 AND x < 1", x=[1, 0, 0]) == (1, ARITHMETIC_ERROR, "/ by zero")
    assert failure("y AND 1 / x = 1", x=[1, 0], y=[None, None]) == (1, ARITHMETIC_ERROR, "/ by zero")


def test_three_valued_tables() -> None:
    x, y = [True, False, None] * 3, [True] * 3 + [False] * 3 + [None] * 3
    assert evaluate("x AND y", x=x, y=y) == [True, False, None, False, False, False, None, False, None]
    assert evaluate("x OR y", x=x, y=y) == [True, True, True, True, False, None, True, None, None]
    assert evaluate("x XOR y", x=x, y=y) == [False, True, None, True, False, None, None, None, None]


def test_a_number_is_no_predicate() -> None:
    assert failure("NOT x", x=[True, 1]) == (1, TYPE_ERROR, "Don't know how to treat that as a predicate: Long(1)")


# --- conditionals ---


def test_case_guards_its_branches() -> None:
    assert evaluate("CASE WHEN x = 0 THEN 'none' ELSE 1 / x END", x=[1, 0, 2]) == [1, "none", 0]
    assert evaluate("CASE x WHEN 1 THEN 'a' WHEN > 5, IS NULL THEN 'b' END", x=[1.0, 6, None, 2]) == [
        "a",
        "b",
        "b",
        None,
    ]


def test_nested_cases_have_subjects_of_their_own() -> None:
    text = "CASE x WHEN 1 THEN CASE y WHEN > 1 THEN 'big' ELSE 'small' END ELSE 'other' END"
    assert evaluate(text, x=[1, 1, 2], y=[1, 2, 3]) == ["small", "big", "other"]


def test_coalesce_stops_at_the_first_value() -> None:
    assert evaluate("coalesce(x, 1 / y)", x=[5, None], y=[0, 1]) == [5, 1]
    assert failure("coalesce(x, 1 / y)", x=[5, None], y=[0, 0])[0] == 1


# --- lists ---


def test_comprehensions_see_outer_columns() -> None:
    got = evaluate("[x IN xs WHERE x > low | x * y]", xs=[[1, 2], None, [], [3]], low=[1, 0, 0, 0], y=[10, 1, 1, 2])
    assert got == [[20], None, [], [6]]


def test_an_inner_variable_hides_the_outer_one() -> None:
    assert evaluate("[x IN x | x + 1]", x=[[1], [2, 3]]) == [[2], [3, 4]]


def test_quantifiers_are_three_valued() -> None:
    lists = [[1, None], [2, None], [1, None, 1], [], None, [2]]
    assert evaluate("any(x IN xs WHERE x = 1)", xs=lists) == [True, None, True, False, None, False]
    assert evaluate("all(x IN xs WHERE x = 1)", xs=lists) == [None, False, None, True, None, False]
    assert evaluate("none(x IN xs WHERE x = 1)", xs=lists) == [False, None, False, True, None, True]
    assert evaluate("single(x IN xs WHERE x = 1)", xs=lists) == [None, None, False, False, None, False]


def test_quantifiers_stop_where_they_are_decided() -> None:
    assert evaluate("any(x IN xs WHERE 1 / x = 1)", xs=[[1, 0], [2]]) == [True, False]
    assert evaluate("single(x IN xs WHERE 1 / x = 1)", xs=[[1, 1, 0]]) == [False]
    assert failure("any(x IN xs WHERE 1 / x = 1)", xs=[[1], [0, 1]])[:2] == (1, ARITHMETIC_ERROR)


def test_reduce_steps_through_lists_of_different_length() -> None:
    assert evaluate("reduce(t = a, x IN xs | t * 2 + x)", xs=[[1, 2], [], None, [5]], a=[0, 7, 7, 1]) == [4, 7, None, 7]


def test_slices_and_indexes() -> None:
    assert evaluate("xs[1..]", xs=[[1, 2, 3], None, []]) == [[2, 3], None, []]
    assert evaluate("xs[-2..-1]", xs=[[1, 2, 3]]) == [[2]]
    assert evaluate("xs[i]", xs=[[1, 2]] * 4, i=[0, -1, 2, None]) == [1, 2, None, None]
    assert failure("xs[i]", xs=[[1]], i=[1.5])[2].startswith("Cannot access a list using an non-integer number index")


# --- entities and maps ---


def test_properties_of_nodes_are_one_typed_column() -> None:
    batch = batch_of({"n": [NodeRef(0), None, NodeRef(2)]})
    execution = an_execution(GRAPH)
    assert isinstance(batch["n"], Nodes)
    ages = compile_expression(expression_of("n.age"), FUNCTIONS)(batch, execution)
    older = compile_expression(expression_of("n.age > 20"), FUNCTIONS)(batch, execution)
    assert isinstance(ages, Integers) and ages.objects().tolist() == [30, None, None]
    assert isinstance(older, Booleans) and older.objects().tolist() == [True, None, None]


def test_a_mixed_column_is_read_by_kind() -> None:
    execution = an_execution(GRAPH)
    mixed = [NodeRef(0), {"name": "map"}, None, RelationshipRef(0), NodeRef(2)]
    assert evaluate("x.name", execution, x=mixed) == ["Ann", "map", None, None, "Cy"]
    row, code, message = failure("x.name", execution, x=[*mixed, 1, NodeRef(0)])
    assert (row, code, message) == (5, TYPE_ERROR, "Type mismatch: expected a map but was Long(1)")


def test_labels_and_types_are_asked_alike() -> None:
    execution = an_execution(GRAPH)
    column = [NodeRef(0), NodeRef(2), RelationshipRef(0), None]
    assert evaluate("x:A&B", execution, x=column) == [True, False, False, None]
    assert evaluate("x:KNOWS|A", execution, x=column) == [True, False, True, None]
    assert evaluate("x:%", execution, x=column) == [True, False, True, None]
    assert evaluate("x:!A", execution, x=column) == [False, True, True, None]


def test_a_deleted_node_has_no_properties_to_read() -> None:
    graph = SmallGraph(GRAPH.nodes, deleted={1})
    writer = SmallWriter(deleted_nodes=(1,))
    row, code, message = failure("n.age", an_execution(graph, writer=writer), n=[NodeRef(0), NodeRef(1)])
    assert (row, code) == (1, ENTITY_NOT_FOUND)
    assert message == "Node with id 101 has been deleted in this transaction"
    assert evaluate("n.never_used", an_execution(graph, writer=writer), n=[NodeRef(1)]) == [None]
    assert evaluate("n {.*}", an_execution(graph, writer=writer), n=[NodeRef(1)]) == [{}]


def test_projections_lay_entries_over_properties() -> None:
    execution = an_execution(GRAPH)
    got = evaluate("x {.*, .nope, age: 1}", execution, x=[NodeRef(0), None, {"k": 2}])
    assert got == [{"age": 1, "name": "Ann", "nope": None}, None, {"k": 2, "nope": None, "age": 1}]


def test_components_of_temporal_values() -> None:
    assert evaluate("date('2020-02-29').month") == [2]
    assert failure("date('2020-02-29').nope")[2] == "No such field: nope"


# --- types and text ---


def test_types_follow_the_values() -> None:
    values = [1, 1.5, "a", None, [1], [1, None]]
    assert evaluate("x IS :: INTEGER", x=values) == [True, False, False, True, False, False]
    assert evaluate("x IS :: LIST<INTEGER NOT NULL>", x=values) == [False, False, False, True, True, False]
    assert evaluate("x IS NOT :: INTEGER | FLOAT", x=[1, "a"]) == [False, True]
    assert evaluate("x IS :: INTEGER NOT NULL", x=[1, None]) == [True, False]


def test_text_predicates_are_null_on_other_values() -> None:
    assert evaluate("x CONTAINS 'b'", x=["abc", "x", None]) == [True, False, None]
    assert evaluate("x STARTS WITH 'a'", x=["abc", 1]) == [True, None]
    assert evaluate("x =~ 'a.*'", x=["abc", None, "b"]) == [True, None, False]


def test_columns_come_out_typed() -> None:
    batch = batch_of({"s": ["a", "B"]})
    assert isinstance(compile_expression(expression_of("toLower(s)"), FUNCTIONS)(batch, an_execution()), Strings)
    assert isinstance(compile_expression(expression_of("s = 'a'"), FUNCTIONS)(batch, an_execution()), Booleans)


# --- constants ---


def test_a_constant_fails_only_where_a_row_needs_it() -> None:
    assert evaluate("x = 1 OR 1 / 0 = 1", x=[1, 1]) == [True, True]
    assert evaluate("1 / 0", x=[]) == []
    assert failure("1 / 0", x=[1, 2])[0] == 0


def test_parameters_are_constants() -> None:
    execution = an_execution(parameters={"ids": [1, 3], "k": "name"})
    assert evaluate("x IN $ids", execution, x=[1, 2, 3]) == [True, False, True]
    assert evaluate("{name: x}[$k]", execution, x=[1]) == [1]


def test_the_first_failing_row_is_named_whatever_fails_first() -> None:
    # The left side fails at row 2, the right side already at row 1.
    assert failure("1 / x + 1 / y", x=[1, 1, 0], y=[1, 0, 1])[0] == 1
