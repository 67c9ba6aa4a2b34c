"""Columns must not change what a row-by-row reading says: n rows at once are n times one row."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hoplite.engine.batch import Batch
from hoplite.engine.context import RowError
from hoplite.engine.expressions.compile import compile_expression
from hoplite.engine.functions.registry import FUNCTIONS
from hoplite.values.columns import from_objects
from tests.expressions.small_graph import an_execution, expression_of

numbers = st.integers(-3, 3) | st.sampled_from([2**63 - 1, -(2**63)])
scalars = st.none() | numbers | st.sampled_from([0.0, -0.0, 1.5, float("nan"), float("inf")]) | st.booleans()
scalars |= st.sampled_from(["", "a", "ab", "1"])
values = scalars | st.lists(scalars, max_size=3) | st.dictionaries(st.sampled_from("ab"), scalars, max_size=2)
columns = st.sampled_from([numbers, scalars, values, st.lists(numbers | st.none(), max_size=3)])

LEAVES = ["x", "y", "z", "1", "0", "2.5", "'a'", "null", "true", "[1, 2, null]", "[]"]
FORMS = [
    *("({} + {})", "({} - {})", "({} * {})", "({} / {})", "({} % {})", "({} ^ {})", "({} || {})"),
    *("({} = {})", "({} <> {})", "({} < {})", "({} >= {})", "({} < {} <= {})", "({} IN {})", "(NOT {})", "(-{})"),
    *("({} AND {})", "({} OR {})", "({} XOR {})", "({} IS NULL)", "({} STARTS WITH {})", "({} CONTAINS {})"),
    *("{}[{}]", "{}[{}..{}]", "[{}, {}]", "{{a: {}}}.a", "coalesce({}, {})", "({} IS :: INTEGER)", "toString({})"),
    *(
        "CASE WHEN {} THEN {} ELSE {} END",
        "CASE {} WHEN {} THEN {} END",
        "[v IN {} WHERE {} | {}]",
        "[v IN {} | v + {}]",
    ),
    *("any(v IN {} WHERE v = {})", "all(v IN {} WHERE 1 / v > {})", "single(v IN {} WHERE {})"),
    *("reduce(t = {}, v IN {} | t + v)", "none(v IN {} WHERE v < {})", "({}).a", "size({})"),
]


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    if depth == 0 or draw(st.integers(0, 3)) == 0:
        return draw(st.sampled_from(LEAVES))
    form = draw(st.sampled_from(FORMS))
    count = form.count("{}")
    return form.format(*(draw(expressions(depth - 1)) for _ in range(count)))


def outcome(run: Any, batch: Batch) -> list[Any]:
    """The values up to the first failing row, and that row's error."""
    execution = an_execution()
    try:
        return [repr(value) for value in run(batch, execution).objects().tolist()]
    except RowError as failure:
        before = run(batch.head(failure.row), execution).objects().tolist() if failure.row else []
        return [*(repr(value) for value in before), failure.error.message]


@settings(max_examples=400)
@given(st.data())
def test_a_batch_is_its_rows(data: st.DataObject) -> None:
    text = data.draw(expressions())
    count = data.draw(st.integers(1, 5))
    kinds = [data.draw(columns) for _ in range(3)]
    table = {
        name: data.draw(st.lists(kind, min_size=count, max_size=count)) for name, kind in zip("xyz", kinds, strict=True)
    }
    batch = Batch({name: from_objects(column) for name, column in table.items()}, count)
    run = compile_expression(expression_of(text), FUNCTIONS)
    expected: list[Any] = []
    for row in range(count):
        one = outcome(run, Batch({name: from_objects([column[row]]) for name, column in table.items()}, 1))
        expected += one
        try:
            run(batch.rows(row, row + 1), an_execution())
        except RowError:
            break
    assert outcome(run, batch) == expected, text
