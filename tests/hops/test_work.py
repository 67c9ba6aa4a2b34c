"""How the hops work: in bounded pieces, stopping when told to, and without waiting for compiled code."""

from __future__ import annotations

import subprocess
import sys
import time
from itertools import islice, pairwise

import numpy as np
import pytest

import hoplite
from hoplite.engine import hops
from hoplite.engine.hops import BackendName, Hop, Positions, Side, select
from hoplite.engine.hops.select import AutoBackend, backend_named
from hoplite.storage.incidence import Adjacency, Incidence
from tests.hops.backends import every_backend


def random_hop(nodes: int, relationships: int, side: Side, types: list[int] | None = None) -> Hop:
    """A graph with a few hubs: too large for the oracle, but backends can be compared with each other."""
    random = np.random.default_rng(5)
    start = random.zipf(1.3, relationships) % nodes
    end = random.integers(0, nodes, relationships)
    code = random.integers(0, 5, relationships)
    order = np.lexsort((end, code, start))
    start, end, code = start[order], end[order], code[order]
    by_end = np.lexsort((start, code, end))
    return Hop(
        side,
        outgoing=one_partition(nodes, start, end, code, None),
        incoming=one_partition(nodes, end[by_end], start[by_end], code[by_end], by_end.astype(np.int64)),
        types=None if types is None else np.array(types, dtype=np.int32),
    )


def one_partition(
    nodes: int, near: Positions, far: Positions, code: Positions, relationships: Positions | None
) -> Adjacency:
    indptr = np.concatenate(([0], np.cumsum(np.bincount(near, minlength=nodes)))).astype(np.int64)
    incidence = Incidence(indptr, far.astype(np.int32), code.astype(np.int32), relationships)
    # Read-only, as when mapped from a file.
    incidence.neighbours.setflags(write=False)
    incidence.types.setflags(write=False)
    return Adjacency(nodes, (incidence,))


@every_backend
@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("types", [None, [1, 3]])
def test_backends_agree_on_a_larger_graph(backend: BackendName, side: Side, types: list[int] | None) -> None:
    hop = random_hop(400, 3_000, side, types)
    sources = np.array([0, 399, 17, -1, 17, 200, 1], dtype=np.int64)
    for lower, upper in ((0, 2), (1, 3), (2, 2), (1, None)):
        expected = hops.reach(hop, sources, lower, upper, backend="numpy")
        found = hops.reach(hop, sources, lower, upper, backend=backend)
        assert sorted(zip(*found, strict=True)) == sorted(zip(*expected, strict=True))
        merged = hops.reach_merged(hop, sources, lower, upper, backend=backend)
        assert sorted(merged.tolist()) == np.unique(expected.nodes).tolist()
    counts = hops.count_trails(hop, sources, 1, 2, backend=backend)
    made = [batch.row for batch in hops.trails(hop, sources, 1, 2, backend=backend)]
    assert counts.tolist() == np.bincount(np.concatenate(made), minlength=len(sources)).tolist()
    steps = hops.expand(hop, sources, backend=backend)
    pieces = list(hops.expand_chunks(hop, sources, 100, backend=backend))
    assert max(len(piece.row) for piece in pieces) <= 100
    together = [np.concatenate(columns) for columns in zip(*pieces, strict=True)]
    assert sorted(zip(*together, strict=True)) == sorted(zip(*steps, strict=True))


@every_backend
@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("types", [None, [1, 3]])
def test_a_batch_agrees_with_searching_each_group(backend: BackendName, side: Side, types: list[int] | None) -> None:
    hop = random_hop(400, 3_000, side, types)
    sources = np.random.default_rng(3).integers(0, 400, 200)
    offsets = np.array([0, 1, 1, 4, 4, *range(5, 201, 5)], dtype=np.int64)
    for upper, mark_starts in ((0, True), (1, True), (3, False), (None, True)):
        found = backend_named(backend).bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts)
        assert len(found.offsets) == len(offsets) and found.offsets[-1] == len(found.nodes)
        for number, (first, last) in enumerate(pairwise(offsets.tolist())):
            expected = backend_named("numpy").bfs_nodes(hop, sources[first:last], upper, mark_starts=mark_starts)
            nodes = found.nodes[found.offsets[number] : found.offsets[number + 1]]
            assert sorted(nodes.tolist()) == sorted(expected.tolist())


@every_backend
def test_trails_come_in_small_batches_first(backend: BackendName) -> None:
    hop = random_hop(400, 3_000, Side.OUTGOING)
    first = next(hops.trails(hop, np.array([1], dtype=np.int64), 1, 12, backend=backend))
    assert len(first.row) < 1000


@every_backend
def test_a_check_that_raises_stops_the_search_and_leaves_no_trace(backend: BackendName) -> None:
    hop = random_hop(400, 3_000, Side.OUTGOING)
    sources = np.array([1], dtype=np.int64)
    calls = iter(range(20))

    def check() -> None:
        if next(calls, None) is None:
            raise TimeoutError

    with pytest.raises(TimeoutError):
        for _ in hops.trails(hop, sources, 1, 8, check=check, backend=backend):
            pass
    for _ in islice(hops.trails(hop, sources, 1, 3, ends=np.array([7]), backend=backend), 1):
        pass
    found = hops.reach_merged(hop, sources, 1, 3, backend=backend)
    assert sorted(found.tolist()) == sorted(hops.reach_merged(hop, sources, 1, 3, backend="numpy").tolist())


def test_auto_begins_in_numpy_and_goes_over_to_compiled_kernels() -> None:
    auto = AutoBackend()
    hop = random_hop(400, 3_000, Side.OUTGOING)
    nodes = np.arange(400, dtype=np.int64)
    before = auto.expand(hop, nodes)
    for _ in range(40):
        auto.expand(hop, nodes)
    assert auto.is_loading
    auto.wait_until_loaded()
    after = auto.expand(hop, nodes)
    assert [column.tolist() for column in after] == [column.tolist() for column in before]


def test_kernels_that_are_only_expected_are_not_loaded_if_the_end_comes_first() -> None:
    auto = AutoBackend()
    auto.start_loading(delay=3600)
    assert auto.is_loading
    auto.stop_loading()
    assert auto.describe() == "NumPy until compiled loops are loaded"


def test_the_first_hop_loads_kernels_that_are_expected_later() -> None:
    auto = AutoBackend()
    auto.start_loading(delay=3600)
    auto.expand(random_hop(400, 3_000, Side.OUTGOING), np.arange(4, dtype=np.int64))
    end = time.monotonic() + 120
    while not auto._compiled and time.monotonic() < end:
        time.sleep(0.01)
    auto.stop_loading()
    assert auto._compiled


def test_a_small_query_in_a_fresh_process_loads_no_compiler() -> None:
    program = """
import sys
import numpy as np
from hoplite.engine import hops
from hoplite.storage.incidence import Adjacency, Incidence

row = Incidence(np.array([0, 1, 1]), np.array([1], dtype=np.int32), np.array([0], dtype=np.int32), None)
hop = hops.Hop(hops.Side.OUTGOING, outgoing=Adjacency(2, (row,)))
assert hops.reach_merged(hop, np.array([0]), 1, 3).tolist() == [1]
assert not {"numba", "scipy", "torch"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_limit_in_a_subquery_stops_the_work_for_each_row() -> None:
    """A complete graph has so many trails that making them all would not end."""
    with hoplite.open(timeout=60) as db:
        db.run("UNWIND range(0, 29) AS i CREATE (:N {i: i})").consume()
        db.run("MATCH (a:N), (b:N) CREATE (a)-[:R]->(b)").consume()
        query = "MATCH (a:N) CALL (a) { MATCH (a)-[r:R*1..9]->(b) RETURN b, r SKIP 2 LIMIT 3 } RETURN a.i, count(r)"
        assert sorted(db.run(query).values()) == [[i, 3] for i in range(30)]
        few = "MATCH (a:N) CALL (a) { MATCH (a)-[r:R]->(b) WHERE b.i < a.i RETURN b LIMIT 3 } RETURN a.i, count(b)"
        assert sorted(db.run(few).values()) == [[i, min(i, 3)] for i in range(1, 30)]


def test_auto_waits_for_compiled_kernels_over_a_very_large_graph(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(select, "_LARGE", 400)
    auto = AutoBackend()
    hop = random_hop(400, 3_000, Side.OUTGOING)
    sources = np.array([1], dtype=np.int64)
    found = auto.bfs_nodes(hop, sources, 3, mark_starts=True)
    assert ("bfs_nodes", False) in auto._compiled
    expected = backend_named("numpy").bfs_nodes(hop, sources, 3, mark_starts=True)
    assert sorted(found.tolist()) == sorted(expected.tolist())
