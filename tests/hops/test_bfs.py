"""Breadth-first searches: of many groups, in bounded pieces of work, deep, over partitions that kernels read
separately."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.engine import hops
from hoplite.engine.hops import BackendName, Hop, Positions, Side, numba_backend, numba_bfs
from hoplite.engine.hops.select import backend_named
from hoplite.storage.incidence import Adjacency, Incidence
from tests.hops.backends import every_backend
from tests.hops.test_hops import Case, cases, examples
from tests.hops.test_work import random_hop

few_backends = pytest.mark.parametrize("backend", ["numpy", "scipy", "numba"])


def parted(hop: Hop, partitions: int) -> Hop:
    """The same hop over partitions, each with every nth row."""

    def side(adjacency: Adjacency | None) -> Adjacency | None:
        if adjacency is None:
            return None
        whole = adjacency.partitions[0]
        listed = np.arange(len(whole.neighbours)) if whole.relationships is None else whole.relationships
        held = []
        for number in range(partitions):
            rows = np.arange(number, adjacency.node_count, partitions)
            starts, counts = whole.indptr[rows], np.diff(whole.indptr)[rows]
            entries = np.concatenate([np.arange(s, s + c) for s, c in zip(starts, counts, strict=True)]).astype(int)
            indptr = np.concatenate(([0], np.cumsum(counts))).astype(np.int64)
            held.append(Incidence(indptr, whole.neighbours[entries], whole.types[entries], listed[entries]))
        nodes = np.arange(adjacency.node_count, dtype=np.int32)
        return Adjacency(adjacency.node_count, Loaded(held), nodes % partitions, nodes // partitions)

    return Hop(hop.side, side(hop.outgoing), side(hop.incoming), hop.types)


class Loaded:
    """Partitions that are requested one by one, like those on disk; counts how often."""

    def __init__(self, held: list[Incidence]) -> None:
        self.held = held
        self.loads = 0

    def __len__(self) -> int:
        return len(self.held)

    def __getitem__(self, number: int, /) -> Incidence:
        self.loads += 1
        return self.held[number]

    def __iter__(self) -> Iterator[Incidence]:
        return (self[number] for number in range(len(self)))


@every_backend
@examples(30)
@given(case=cases(8), marks=st.booleans())
def test_a_batch_finds_the_nodes_of_each_group(backend: BackendName, case: Case, marks: bool) -> None:
    kernels = backend_named(backend)
    nodes = [node for node in case.sources if node >= 0]
    offsets = np.array([0, len(nodes) // 2, len(nodes), len(nodes)], dtype=np.int64)
    sources = np.array(nodes, dtype=np.int64)
    found = kernels.bfs_batch(case.hop, offsets, sources, case.upper, mark_starts=marks)
    assert found.offsets[0] == 0 and found.offsets[-1] == len(found.nodes)
    for group in range(3):
        own = sources[offsets[group] : offsets[group + 1]]
        expected = backend_named("numpy").bfs_nodes(case.hop, own, case.upper, mark_starts=marks)
        got = found.nodes[found.offsets[group] : found.offsets[group + 1]]
        assert sorted(got.tolist()) == sorted(expected.tolist())


@few_backends
@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("types", [None, [1, 3]])
@pytest.mark.parametrize("partitions", [1, 3])
def test_many_groups_are_searched_together(
    backend: BackendName, side: Side, types: list[int] | None, partitions: int
) -> None:
    """More groups than a word has bits."""
    hop = random_hop(400, 1_500, side, types)
    hop = parted(hop, partitions) if partitions > 1 else hop
    random = np.random.default_rng(3)
    sets = [random.integers(0, 400, random.integers(0, 4)) for _ in range(150)]
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    found = backend_named(backend).bfs_batch(hop, offsets, np.concatenate(sets), 5, mark_starts=True)
    for number, own in enumerate(sets):
        got = found.nodes[found.offsets[number] : found.offsets[number + 1]]
        assert sorted(got.tolist()) == sorted(hops.reach_merged(hop, own, 0, 5, backend="numpy").tolist())


def test_a_partition_is_loaded_once_for_all_groups() -> None:
    hop = parted(random_hop(400, 1_500, Side.OUTGOING), 3)
    sources = np.arange(60, dtype=np.int64)
    backend_named("numba").bfs_batch(hop, np.arange(61, dtype=np.int64), sources, 3, mark_starts=True)
    assert hop.outgoing is not None and isinstance(hop.outgoing.partitions, Loaded)
    assert hop.outgoing.partitions.loads <= 3 * 3


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("types", [None, [1, 3]])
@pytest.mark.parametrize("work", [1_000, 1 << 22])
def test_wide_levels_are_followed_in_ascending_order(
    side: Side, types: list[int] | None, work: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also if a level takes several calls."""
    monkeypatch.setattr(numba_backend, "_WORK", work)
    count = 60_000
    hop = random_hop(count, 90_000, side, types)
    sources = np.random.default_rng(5).permutation(count)[:5_000]
    groups = np.zeros(len(sources), dtype=np.int64)
    found, wanted = (
        backend_named(name).bfs_levels(hop, groups, sources, 5, mark_starts=True) for name in ("numba", "numpy")
    )
    assert found.level.tolist() == wanted.level.tolist()
    order = np.lexsort((wanted.nodes, wanted.level))
    assert found.nodes[np.lexsort((found.nodes, found.level))].tolist() == wanted.nodes[order].tolist()
    first = found.nodes[found.level == 0]
    assert len(first) >= numba_bfs.SORTED_FROM
    assert (np.diff(first) > 0).all()


@few_backends
def test_a_long_path_is_followed_to_its_end(backend: BackendName) -> None:
    count = 600
    indptr = np.minimum(np.arange(count + 1), count - 1).astype(np.int64)
    row = Incidence(indptr, np.arange(1, count, dtype=np.int32), np.zeros(count - 1, np.int32), None)
    hop = Hop(Side.OUTGOING, outgoing=Adjacency(count, (row,)))
    start = np.array([0], dtype=np.int64)
    assert hops.reach_merged(hop, start, 0, None, backend=backend).tolist() == list(range(count))
    nodes, level = hops.levels(hop, start, None, backend=backend)
    assert nodes.tolist() == level.tolist() == list(range(count))


def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    """Kernels return after a few entries."""
    monkeypatch.setattr("hoplite.engine.hops.numba_backend._WORK", 7)
    monkeypatch.setattr("hoplite.engine.hops.numba_levels._WORK", 7)
    monkeypatch.setattr("hoplite.engine.hops.numba_levels._ASKED_AT_ONCE", 3)


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("types", [None, [1, 3]])
@pytest.mark.parametrize("form", ["plain", "parted", "masked"])
def test_a_suspended_search_resumes_where_it_was(
    monkeypatch: pytest.MonkeyPatch, side: Side, types: list[int] | None, form: str
) -> None:
    small_pieces(monkeypatch)
    hop = random_hop(300, 2_000, side, types)
    if form == "parted":
        hop = parted(hop, 3)
    if form == "masked":
        hop = Hop(side, hop.outgoing, hop.incoming, hop.types, node_mask=lambda nodes: nodes % 5 != 0)
    sources = np.array([1, 0, 17], dtype=np.int64)
    for lower in (0, 1):
        for upper in (1, 2, 4, None):
            expected = hops.reach_merged(hop, sources, lower, upper, backend="numpy")
            found = hops.reach_merged(hop, sources, lower, upper, backend="numba")
            assert sorted(found.tolist()) == sorted(expected.tolist())
    expected_levels = hops.levels(hop, sources, None, backend="numpy")
    found_levels = hops.levels(hop, sources, None, backend="numba")
    assert sorted(zip(*found_levels, strict=True)) == sorted(zip(*expected_levels, strict=True))


@pytest.mark.parametrize("change", [lambda hop: hop, lambda hop: parted(hop, 3)])
def test_a_search_can_be_stopped_on_its_way(monkeypatch: pytest.MonkeyPatch, change: Callable[[Hop], Hop]) -> None:
    small_pieces(monkeypatch)
    hop = change(random_hop(300, 2_000, Side.OUTGOING))
    calls = iter(range(5))

    def check() -> None:
        if next(calls, None) is None:
            raise TimeoutError

    sources = np.array([1, 0, 17], dtype=np.int64)
    with pytest.raises(TimeoutError):
        hops.reach_merged(hop, sources, 0, None, check=check, backend="numba")
    again = hops.reach_merged(hop, sources, 0, None, backend="numba")
    assert sorted(again.tolist()) == sorted(hops.reach_merged(hop, sources, 0, None, backend="numpy").tolist())


def test_a_mask_is_asked_once_about_each_node() -> None:
    asked: list[int] = []

    def mask(nodes: Positions) -> hops.Booleans:
        asked.extend(nodes.tolist())
        even: hops.Booleans = nodes % 2 == 0
        return even

    plain = random_hop(300, 2_000, Side.BOTH)
    hop = Hop(Side.BOTH, plain.outgoing, plain.incoming, node_mask=hops.remember_nodes(mask))
    for _ in range(2):
        hops.reach_merged(hop, np.array([0, 1], dtype=np.int64), 0, 4, backend="numba")
    assert len(asked) == len(set(asked))
