"""Pools of text: what is made of all texts together says the same as looking at each of them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from hoplite.engine.expressions.comparison import equal
from hoplite.engine.expressions.evaluator import broadcast
from hoplite.engine.expressions.text import contains_text, ends_with, starts_with
from hoplite.engine.grouping import Grouping
from hoplite.engine.ordering import sort_rows
from hoplite.values.columns import Column, Strings, concatenate, object_array
from hoplite.values.texts import EDGE, TextPool

pieces = st.text(st.sampled_from(["a", "b", "A", "ß", "Σ", "\U0001f600", EDGE]), max_size=3)
texts = st.lists(st.none() | pieces, min_size=1, max_size=40)


def _slots(values: list[str | None], places: list[int]) -> tuple[Strings, list[str | None]]:
    """A column of a pool at these slots, and what it should hold; a slot of -1 is null."""
    stored = Strings(object_array(values, len(values)))
    slots = [place % (len(values) + 1) - 1 for place in places]
    return stored.look_up(np.array(slots, np.int64)), [None if slot < 0 else values[slot] for slot in slots]


@given(texts, st.lists(st.integers(0, 100), max_size=30))
def test_slots_read_as_the_texts_they_stand_for(values: list[str | None], places: list[int]) -> None:
    column, wanted = _slots(values, places)
    assert column.objects().tolist() == wanted
    assert column.null_mask().tolist() == [text is None for text in wanted]
    rows = np.arange(len(wanted), dtype=np.int64)[::-1]
    assert column.take(rows).objects().tolist() == wanted[::-1]
    assert concatenate([column, column]).objects().tolist() == wanted + wanted


@given(texts, pieces, st.lists(st.integers(0, 100), min_size=1, max_size=60))
def test_texts_found_together_are_those_found_apart(values: list[str | None], part: str, places: list[int]) -> None:
    column, wanted = _slots(values, places)
    constant = broadcast(part, len(wanted))

    def said(answer: Column) -> list[object]:
        return list(answer.objects())

    tests: dict[Callable[[Column, Column], Column], Callable[[str], bool]] = {
        contains_text: lambda text: part in text,
        starts_with: lambda text: text.startswith(part),
        ends_with: lambda text: text.endswith(part),
        equal: lambda text: text == part,
    }
    for function, test in tests.items():
        assert said(function(column, constant)) == [None if text is None else test(text) for text in wanted]


@given(texts, st.sampled_from([("", ""), (EDGE, ""), ("", EDGE), (EDGE, EDGE)]), pieces)
def test_a_search_of_the_pool_never_leaves_a_text(values: list[str | None], edges: tuple[str, str], part: str) -> None:
    found = TextPool(object_array(values, len(values))).find(edges[0], part, edges[1], 0, len(values))
    if found is not None:
        framed = [None if text is None else f"{EDGE}{text}{EDGE}" for text in values]
        assert found.tolist() == [t is not None and edges[0] + part + edges[1] in t for t in framed]


@given(texts, st.lists(st.integers(0, 100), min_size=1, max_size=60), st.booleans())
def test_order_and_groups_are_those_of_the_texts(values: list[str | None], places: list[int], down: bool) -> None:
    column, wanted = _slots(values, places)
    plain = Strings(object_array(wanted, len(wanted)))
    assert sort_rows([column], [down]).tolist() == sort_rows([plain], [down]).tolist()
    groups, plain_groups = Grouping(), Grouping()
    for _ in range(2):  # pools and plain columns may take turns
        assert groups.assign([column]).tolist() == plain_groups.assign([plain]).tolist()
        assert groups.assign([plain]).tolist() == plain_groups.assign([column]).tolist()
    assert groups.keys()[0].objects().tolist() == plain_groups.keys()[0].objects().tolist()


@given(texts, st.lists(st.lists(st.integers(0, 100), max_size=8), max_size=8))
def test_groups_stay_the_same_when_texts_get_numbers_on_the_way(
    values: list[str | None], batches: list[list[int]]
) -> None:
    """Small batches first: numbers are worth having only after some of them."""
    stored = Strings(object_array(values * 8, len(values) * 8))
    groups, plain_groups = Grouping(), Grouping()
    for places in batches:
        slots = np.array([place % (len(values) + 1) - 1 for place in places], np.int64)
        column = stored.look_up(slots)
        wanted = [None if slot < 0 else values[slot] for slot in slots.tolist()]
        plain = Strings(object_array(wanted, len(wanted)))
        assert groups.assign([column]).tolist() == plain_groups.assign([plain]).tolist()
        assert groups.count == plain_groups.count


@given(texts)
def test_converted_texts_are_kept(values: list[str | None]) -> None:
    pool = TextPool(object_array(values, len(values)))
    lowered = pool.converted("toLower", str.lower)
    assert lowered.values.tolist() == [None if text is None else text.lower() for text in values]
    assert pool.converted("toLower", str.lower) is lowered
