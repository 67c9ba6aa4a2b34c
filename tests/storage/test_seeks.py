"""Range and prefix seeks, and equality at the edge of doubles, against looking at every node."""

from __future__ import annotations

import math
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from hoplite.storage.graph import Graph
from hoplite.storage.value_index import Bound
from hoplite.values.order import equals, less_or_equal, less_than
from hoplite.values.temporal import Date

NUMBERS = st.sampled_from([-2, 0, 1, 2, 3, 2**53, 2**53 + 1, 2**63 - 1]) | st.sampled_from(
    [-0.0, 0.5, 1.0, 2.5, 2.0**53, 2.0**63, math.inf, -math.inf, math.nan]
)
STRINGS = st.sampled_from(["", "a", "ab", "abc", "b", "é"])
MIXED: st.SearchStrategy[Any] = st.one_of(NUMBERS, STRINGS, st.booleans(), st.builds(Date, st.integers(0, 3)))
COLUMNS = st.one_of(
    st.lists(st.integers(-3, 3)),
    st.lists(st.sampled_from([0, 1, 2**53, 2**53 + 1, 2**53 + 2, 2**63 - 1])),
    st.lists(NUMBERS.filter(lambda v: isinstance(v, float))),
    st.lists(STRINGS),
    st.lists(MIXED),
)


def within(value: Any, low: Bound | None, high: Bound | None) -> bool:
    above = low is None or (less_or_equal if low.inclusive else less_than)(low.value, value)
    below = high is None or (less_or_equal if high.inclusive else less_than)(value, high.value)
    return above is True and below is True


@settings(max_examples=400)
@given(COLUMNS, st.lists(MIXED, max_size=4), MIXED, MIXED, st.booleans(), st.booleans(), st.sampled_from([0, 1, 2]))
def test_seeks_find_what_a_scan_finds(
    old: list[Any], new: list[Any], first: Any, second: Any, open_low: bool, open_high: bool, ends: int
) -> None:
    graph = Graph()
    with graph.begin() as tx:
        for value in old:
            tx.create_node(["A"], {"k": value})
        tx.create_node(["A"], {})
        tx.create_node(["B"], {"k": 1})
    graph.fold()
    tx = graph.begin()
    for at, value in enumerate(new):
        if at % 2 and at < len(old):
            tx.set_node_property(at, "k", value)
        else:
            tx.create_node(["A"], {"k": value})
    if len(old) > 2:
        tx.remove_label(2, "A")
    nodes = tx.nodes_with_label("A")
    values = dict(zip(nodes.tolist(), tx.node_property(nodes, "k").objects(), strict=True))
    low = None if ends == 1 else Bound(first, open_low)
    high = None if ends == 2 else Bound(second, open_high)
    expected = [node for node, value in values.items() if within(value, low, high)]
    assert tx.seek_range("A", "k", low, high).tolist() == expected
    prefixed = [node for node, value in values.items() if isinstance(value, str) and value.startswith("a")]
    assert tx.seek_prefix("A", "k", "a").tolist() == prefixed
    _, found = tx.seek_nodes("A", "k", [first])
    assert sorted(found.tolist()) == [node for node, value in values.items() if equals(value, first)]
