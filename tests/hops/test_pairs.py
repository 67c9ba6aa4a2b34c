"""Pairs of a row and a node next to it, against plain enumeration, on every backend and layout."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.engine import hops
from hoplite.engine.hops import BackendName, Neighbourhoods, Positions, Side
from hoplite.engine.hops.scratch import borrowed
from tests.hops.backends import every_backend
from tests.hops.test_bfs import few_backends, parted
from tests.hops.test_hops import Case, cases, examples
from tests.hops.test_work import random_hop


def sets_of(found: Neighbourhoods | None) -> list[list[int]]:
    """The nodes of each group, sorted, so that duplicates show."""
    assert found is not None
    assert sorted(found.every.tolist()) == sorted(set(found.nodes.tolist()))
    assert found.offsets[0] == 0 and found.offsets[-1] == len(found.nodes)
    return [sorted(part.tolist()) for part in np.split(found.nodes, found.offsets[1:-1])]


@every_backend
@examples(60)
@given(case=cases(12))
def test_neighbourhoods_are_the_distinct_ends_of_steps(backend: BackendName, case: Case) -> None:
    count = len(case.sources)
    offsets = np.array([0, count // 2, count, count], dtype=np.int64)
    groups = [case.sources[a:b] for a, b in zip(offsets[:-1].tolist(), offsets[1:].tolist(), strict=True)]
    expected = [sorted({end for node in group for _, end in case.steps(node)}) for group in groups]
    found = hops.neighbourhoods(case.hop, offsets, case.source_array, backend=backend)
    assert sets_of(found) == expected
    together = hops.neighbours_of_all(case.hop, case.source_array, backend=backend)
    assert sorted(together.tolist()) == sorted({end for node in case.sources for _, end in case.steps(node)})


@few_backends
@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("types", [None, [2], [1, 3], []])
@pytest.mark.parametrize("partitions", [1, 3])
def test_many_neighbourhoods_come_in_pieces(
    monkeypatch: pytest.MonkeyPatch, backend: BackendName, side: Side, types: list[int] | None, partitions: int
) -> None:
    monkeypatch.setattr("hoplite.engine.hops.numba_pairs._WORK", 7)
    monkeypatch.setattr("hoplite.engine.hops.numpy_pairs._PIECE", 5)
    hop = random_hop(300, 2_000, side, types)
    hop = parted(hop, partitions) if partitions > 1 else hop
    random = np.random.default_rng(3)
    sets = [random.integers(-1, 300, random.integers(0, 6)) for _ in range(100)]
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    found = hops.neighbourhoods(hop, offsets, np.concatenate(sets), backend=backend)
    expected = [sorted(set(hops.expand(hop, own, backend="numpy").neighbours.tolist())) for own in sets]
    assert sets_of(found) == expected
    size = sum(map(len, expected))
    assert hops.neighbourhoods(hop, offsets, np.concatenate(sets), size - 1, backend=backend) is None or not size


def test_stamps_restart_before_they_are_too_large() -> None:
    hop = random_hop(300, 2_000, Side.OUTGOING)
    offsets = np.arange(301, dtype=np.int64)
    expected = sets_of(hops.neighbourhoods(hop, offsets, np.arange(300), backend="numpy"))
    for stamped in (2**31 - 301, 2**31 - 300):
        with borrowed(300) as scratch:
            scratch.stamps[:] = stamped
            scratch.stamped = stamped
        assert sets_of(hops.neighbourhoods(hop, offsets, np.arange(300), backend="numba")) == expected


numbers = st.lists(st.integers(-1, 3), min_size=6, max_size=6)


@every_backend
@examples(60)
@given(rows=st.lists(st.lists(st.integers(0, 5), max_size=6), max_size=6), by_row=numbers, by_node=numbers)
@pytest.mark.parametrize("by_rows", [True, False])
@pytest.mark.parametrize("narrow", [True, False])
def test_pairs_of_numbers_count_once(
    backend: BackendName,
    rows: list[list[int]],
    by_row: list[int],
    by_node: list[int],
    by_rows: bool,
    narrow: bool,
) -> None:
    pairs = {(by_row[row], by_node[node]) for row, nodes in enumerate(rows) for node in nodes}
    expected = [sum(min(p) >= 0 and p[0 if by_rows else 1] == number for p in pairs) for number in range(4)]
    offsets = np.cumsum([0, *map(len, rows)], dtype=np.int64)
    ends = np.array([node for nodes in rows for node in nodes], np.int64)
    found = Neighbourhoods(offsets, ends.astype(np.int32) if narrow else ends, np.unique(ends))
    given_rows: Positions = np.array(by_row[: len(rows)], np.int64)
    counted = hops.count_pairs(found, given_rows, np.array(by_node, np.int64), (4, 4), by_rows=by_rows, backend=backend)
    assert counted.tolist() == expected
