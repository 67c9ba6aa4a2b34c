"""Trails over partitions and a delta, compiled: with next to no room the same trails, in memory and on disk."""

from __future__ import annotations

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import hoplite
from hoplite.engine import hops
from hoplite.engine.hops import BackendName, Excluded, Hop, Side, numba_paged, numba_trails
from tests import oracle
from tests.hops.graphs import Sample, Triple, build
from tests.hops.test_bfs import parted
from tests.hops.test_hops import unpacked
from tests.hops.test_work import random_hop


@st.composite
def parted_samples(draw: DrawFn) -> Sample:
    """Multigraphs in 1..5 partitions, half of them with a delta and removed relationships."""
    node_count = draw(st.integers(1, 7))
    node = st.integers(0, node_count - 1)
    triples: list[Triple] = draw(st.lists(st.tuples(node, st.integers(0, 2), node), max_size=9))
    partitions = draw(st.integers(1, 5))
    if draw(st.booleans()):
        return build(node_count, triples, [], [], partitions, "parts", routed=True)
    newer = draw(st.integers(0, len(triples)))
    removed = [number for number in range(len(triples)) if draw(st.integers(0, 3)) == 0]
    return build(node_count, triples[newer:], triples[:newer], removed, partitions, "delta", routed=True)


@pytest.fixture
def next_to_no_room(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only a node or two are read at once, what is held is dropped constantly, and the kernel returns constantly."""
    monkeypatch.setattr(numba_paged, "_FEWEST_READ", 1)
    monkeypatch.setattr(numba_paged, "_MOST_READ", 2)
    monkeypatch.setattr(numba_paged, "_READ_ENTRIES", 2)
    monkeypatch.setattr(numba_paged, "_HELD_ENTRIES", 3)
    monkeypatch.setattr(numba_trails, "_FIRST_BATCH", 1)
    monkeypatch.setattr(numba_trails, "_WORK", 3)


@pytest.mark.usefixtures("next_to_no_room")
def test_with_next_to_no_room_all_trails_are_there_once() -> None:
    @settings(max_examples=150)
    @given(
        sample=parted_samples(),
        side=st.sampled_from(["->", "<-", "--"]),
        types=st.none() | st.lists(st.integers(0, 2), max_size=2, unique=True),
        lower=st.integers(0, 2),
        more=st.integers(0, 3) | st.none(),
        used=st.lists(st.integers(0, 8), max_size=2),
        data=st.data(),
    )
    def agrees(
        sample: Sample,
        side: oracle.Side,
        types: list[int] | None,
        lower: int,
        more: int | None,
        used: list[int],
        data: st.DataObject,
    ) -> None:
        codes = None if types is None else np.array(types, dtype=np.int32)
        hop = Hop(Side(side), outgoing=sample.outgoing, incoming=sample.incoming, types=codes)
        upper = None if more is None else lower + more
        sources = data.draw(st.lists(st.integers(-1, len(sample.graph.nodes) - 1), min_size=1, max_size=3))
        rows = np.array(sources, dtype=np.int64)
        lists = Excluded.of_lists(np.arange(len(sources) + 1) * len(used), np.array(used * len(sources), np.int64))
        found = unpacked(hops.trails(hop, rows, lower, upper, excluded=lists, chunk=4, backend="numba"))
        assert [row for row, _ in found] == sorted(row for row, _ in found)
        expected = Counter(
            (row, trail)
            for row, start in enumerate(sources)
            if start >= 0
            for trail in oracle.trails(sample.graph, start, lower, upper, side, types, used=tuple(used))
        )
        assert Counter(found) == expected
        counts = hops.count_trails(hop, rows, lower, upper, backend="numba")
        assert counts.tolist() == [
            len(list(oracle.trails(sample.graph, start, lower, upper, side, types))) if start >= 0 else 0
            for start in sources
        ]

    agrees()


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("types", [None, [1, 3]])
def test_a_larger_graph_has_the_same_trails_in_one_partition_and_in_five(side: Side, types: list[int] | None) -> None:
    whole = random_hop(400, 2_000, side, types)
    hop = parted(whole, 5)
    sources = np.array([0, 399, 17, -1, 17, 200, 1], dtype=np.int64)
    for lower, upper in ((0, 1), (1, 3), (2, 2)):
        expected = Counter(unpacked(hops.trails(whole, sources, lower, upper, backend="numpy")))
        assert Counter(unpacked(hops.trails(hop, sources, lower, upper, backend="numba"))) == expected
        counts = hops.count_trails(whole, sources, lower, upper, backend="numpy")
        assert hops.count_trails(hop, sources, lower, upper, backend="numba").tolist() == counts.tolist()
    steps = hops.expand(whole, sources, backend="numpy")
    assert sorted(zip(*hops.expand(hop, sources, backend="numba"), strict=True)) == sorted(zip(*steps, strict=True))


def test_the_first_trails_come_after_a_few_nodes_are_read(monkeypatch: pytest.MonkeyPatch) -> None:
    read = 0
    append = numba_paged.Entries._append

    def counted(entries: numba_paged.Entries, numbers: hops.Positions) -> int:
        nonlocal read
        done = append(entries, numbers)
        read += done
        return done

    monkeypatch.setattr(numba_paged.Entries, "_append", counted)
    hop = parted(random_hop(20_000, 100_000, Side.BOTH), 4)
    some = list(islice(hops.trails(hop, np.array([3], dtype=np.int64), 1, 6, backend="numba"), 1))
    assert len(some) == 1 and len(some[0].row)
    assert read < 1_000  # of 20,000


@pytest.mark.parametrize("upper", [None, 2_000])
@pytest.mark.parametrize("counting", [False, True])
@pytest.mark.parametrize("length", [1, 2, 5, 700])
def test_looking_ahead_goes_around_a_cycle_once(
    monkeypatch: pytest.MonkeyPatch, length: int, upper: int | None, counting: bool
) -> None:
    searches: list[numba_paged.Entries] = []
    begin = numba_paged.Entries.__init__

    def noted(entries: numba_paged.Entries, hop: Hop) -> None:
        begin(entries, hop)
        searches.append(entries)

    monkeypatch.setattr(numba_paged.Entries, "__init__", noted)
    ring = [(node, 0, (node + 1) % length) for node in range(length)]
    sample = build(length, ring[1:], ring[:1], [], 1, "delta", routed=False)
    hop = Hop(Side.OUTGOING, outgoing=sample.outgoing, incoming=sample.incoming)
    source = np.zeros(1, dtype=np.int64)
    if counting:
        assert hops.count_trails(hop, source, 1, upper, backend="numba").tolist() == [length]
    else:
        assert len(unpacked(hops.trails(hop, source, 1, upper, backend="numba"))) == length
    # Each entry when its node is read, and again where a later read sets out from what is known already.
    assert [entries.looked_at <= 3 * length + 2 for entries in searches] == [True]


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_a_graph_on_disk_with_room_for_one_partition_gives_the_same_paths(tmp_path: Path, backend: BackendName) -> None:
    random = np.random.default_rng(3)
    count, ends = 60, random.integers(0, 60, (2, 200))
    queries = (
        "MATCH (a:N {id: 1})-[r:E*1..3]->(b) RETURN [x IN r | x.w] AS r",
        "MATCH (a:N)-[r:E*2..2]-(b {id: 5}) RETURN [x IN r | x.w] AS r",
        "MATCH (a:N)-[:E]->(b)-[:E]->(c) RETURN a.id, b.id, c.id",
        "MATCH (a:N)-[:E*1..3]-(b) RETURN a.id, count(*)",
    )
    answers = []
    for place, partitions, memory in ((None, None, None), (tmp_path / "g.hop", 5, 1)):
        with hoplite.open(place, backend=backend, partitions=partitions, memory=memory) as db:
            db.load(
                nodes={"N": {"id": np.arange(count)}},
                relationships={("N", "E", "N"): {"start": ends[0], "end": ends[1], "w": np.arange(200)}},
            )
            db.run("MATCH (a {id: 7})-[r]->() WITH r LIMIT 1 DELETE r").consume()
            db.run("MATCH (a {id: 7}), (b {id: 8}) CREATE (a)-[:E {w: 1000}]->(b), (b)-[:E {w: 1001}]->(b)").consume()
            answers.append([Counter(map(str, db.run(query).values())) for query in queries])
    assert answers[0] == answers[1]
