"""The memory budget: what is loaded, what is evicted, and that partitions are balanced."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoplite
from hoplite.engine.hops.select import BackendName
from hoplite.storage.disk.cache import Cache, byte_count
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.partition import deal
from tests.disk.faults import QuickFiles


def test_the_least_recently_used_goes_first() -> None:
    cache = Cache(100)
    for key in ("a", "b", "a", "c"):
        cache.get(key, lambda: (object(), 40))
    assert (cache.statistics.loads, cache.statistics.hits, cache.statistics.evictions) == (3, 1, 1)
    cache.get("a", lambda: (object(), 40))
    assert cache.statistics.hits == 2  # b was evicted, a was not
    assert cache.statistics.used_bytes == 80


def test_what_readers_keep_lasts_until_something_is_evicted() -> None:
    cache = Cache(100)
    kept, other = cache.new_kept(), cache.new_kept()
    cache.get("a", lambda: (object(), 60))
    kept["view"] = other["view"] = "of a"
    cache.get("b", lambda: (object(), 40))
    assert kept["view"] == "of a"
    del other
    assert len(cache._kept) == 1  # nothing is left of what nobody holds
    cache.get("c", lambda: (object(), 1))
    assert not kept
    kept["view"] = "of b"
    cache.forget(lambda key: key == "a")
    assert kept  # nothing was forgotten
    cache.forget(lambda key: key == "b")
    assert not kept
    assert (cache.held("b"), cache.held("c") is None) == (None, False)
    assert cache.statistics.used_bytes == 1


def test_a_look_at_what_is_held_counts_as_use() -> None:
    cache = Cache(100)
    cache.get("a", lambda: ("a", 50))
    cache.get("b", lambda: ("b", 50))
    assert cache.held("a") == "a"
    cache.get("c", lambda: ("c", 50))
    assert (cache.held("a"), cache.held("b")) == ("a", None)


def test_a_checkpoint_lets_go_of_the_snapshots_before_it(tmp_path: Path) -> None:
    """Their files take up space until they are no longer mapped."""
    with hoplite.open(tmp_path / "graph.hop") as db:
        db.load(nodes={"N": {"id": np.arange(100_000)}}, key="id")
        used = []
        for number in range(4):
            assert db.run("MATCH (n:N) WHERE n.id > 99990 RETURN sum(n.id)").value() == [899_955]
            db.run("CREATE (:M {i: $i})", i=number).consume()
            db.checkpoint()
            assert db.run("MATCH (n:N {id: 7}) RETURN n.id").value() == [7]
            used.append(db.stats()["cache"]["used_bytes"])
        assert used[-1] <= used[0] + 10_000


def test_a_statement_on_disk_looks_nothing_up_twice(tmp_path: Path) -> None:
    ball = "UNWIND $seeds AS x MATCH (a:N {id: x})-[:E*0..2]->(b) RETURN DISTINCT b.id AS id"
    with hoplite.open(tmp_path / "graph.hop", backend="numba") as db:
        numbers = np.arange(1_000)
        edges = {"start": numbers, "end": numbers * 7 % 1_000}
        db.load(nodes={"N": {"id": numbers}}, relationships={("N", "E", "N"): edges}, key="id")
        for _ in range(2):
            assert sorted(db.run(ball, seeds=[3]).value()) == [3, 21, 147]
        hits = db.stats()["cache"]["hits"]
        assert sorted(db.run(ball, seeds=[5, 3]).value()) == [3, 5, 21, 35, 147, 245]
        assert db.stats()["cache"]["hits"] == hits


def test_one_that_is_larger_than_the_budget_is_held_alone() -> None:
    cache = Cache(10)
    held = cache.get("large", lambda: (object(), 1000))
    assert cache.get("large", lambda: (object(), 1000)) is held
    cache.get("other", lambda: (object(), 1))
    assert cache.statistics.entries == 1 and cache.statistics.used_bytes == 1


@pytest.mark.parametrize(
    ("written", "size"),
    [("512MB", 512 * 10**6), ("4GB", 4 * 10**9), ("1.5 GiB", 3 * 2**29), ("10", 10), (7, 7), ("64k", 64_000)],
)
def test_sizes_as_people_write_them(written: str | int, size: int) -> None:
    assert byte_count(written) == size


@pytest.mark.parametrize("written", ["", "GB", "-1", "1XB", 0, -5, "0"])
def test_what_is_no_size_is_refused(written: str | int) -> None:
    with pytest.raises(ValueError, match="memory="):
        byte_count(written)


@pytest.fixture(scope="module")
def chains(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """200 separate chains of 50 nodes in 16 partitions."""
    path = tmp_path_factory.mktemp("chains") / "chains.hop"
    graph = DiskGraph(path, files=QuickFiles(), partitions=16)
    starts = np.arange(10_000, dtype=np.int64)
    starts = starts[starts % 50 != 49]
    with graph.bulk() as load:
        load.add_nodes(("N",), 10_000, {})
        load.add_relationships("NEXT", starts, starts + 1, {})
        load.commit()
    graph.close()
    return path


def test_opening_loads_nothing(chains: Path) -> None:
    with hoplite.open(chains, read_only=True) as db:
        assert db.stats()["cache"]["loads"] == 0
        assert db.stats()["partitions"] == 16
        assert db.run("MATCH (n) RETURN count(n)").value() == [10_000]
        assert db.run("MATCH ()-[r:NEXT]->() RETURN count(r)").value() == [9_800]
        assert db.stats()["cache"]["loads"] == 0


def test_a_hop_loads_the_partitions_that_hold_its_nodes(chains: Path) -> None:
    with hoplite.open(chains, read_only=True) as db:
        assert db.khop([50], 1, exact=True).tolist() == [51]
        assert db.stats()["cache"]["loads"] == 1
        db.khop([50], 1)
        assert db.stats()["cache"]["loads"] == 1


def test_a_budget_of_one_partition_gives_the_same_answers(chains: Path) -> None:
    with hoplite.open(chains, read_only=True) as all_held, hoplite.open(chains, read_only=True, memory=1) as one_held:
        for k in (1, 3, 10):
            seeds = list(range(0, 10_000, 97))
            assert np.array_equal(np.sort(one_held.khop(seeds, k)), np.sort(all_held.khop(seeds, k)))
        assert all_held.stats()["cache"]["evictions"] == 0
        assert one_held.stats()["cache"]["evictions"] > 10
        assert one_held.stats()["cache"]["entries"] == 1


def test_profile_and_statistics_show_loads_and_evictions(chains: Path) -> None:
    query = "MATCH (a)-[:NEXT*1..3]->(b) WHERE id(a) % 97 = 0 RETURN count(DISTINCT b) AS n"
    with hoplite.open(chains, read_only=True, memory=1) as db:
        before = db.stats()["cache"]
        profile = profile_of(db, query)
        after = db.stats()["cache"]
        loads, evictions = after["loads"] - before["loads"], after["evictions"] - before["evictions"]
        assert loads > 10
        assert evictions > 10
        arguments = profile["args"]
        assert (arguments["PartitionLoads"], arguments["PartitionEvictions"]) == (loads, evictions)
        assert f"Loaded from disk: {loads:,}, evicted: {evictions:,}" in arguments["string-representation"]
        assert sum(misses(profile)) == loads
        assert "Loaded from disk: " in db.profile(query)
    with hoplite.open(chains, read_only=True) as db:
        db.run(query).data()
        profile = profile_of(db, query)
        assert (profile["args"]["PartitionLoads"], profile["args"]["PartitionEvictions"]) == (0, 0)
        assert sum(misses(profile)) == 0
    with hoplite.open() as db:
        assert "PartitionLoads" not in profile_of(db, query)["args"]


def profile_of(db: hoplite.Database, query: str) -> dict[str, Any]:
    found = db.run(f"PROFILE {query}").consume().profile
    assert found is not None
    return found


def misses(plan: dict[str, Any]) -> Iterator[int]:
    """Of every operator of a profile."""
    yield plan["pageCacheMisses"]
    for child in plan.get("children", ()):
        yield from misses(child)


@pytest.mark.parametrize("backend", ["numpy", "numba"])
def test_a_batch_loads_a_partition_for_all_of_its_queries(chains: Path, backend: BackendName) -> None:
    sets = [[node] for node in range(0, 10_000, 97)]
    with hoplite.open(chains, read_only=True, memory=1, backend=backend) as db:
        offsets, found = db.khop(sets, 2, batch=True)
        assert db.stats()["cache"]["loads"] <= 2 * 3 * 16 * 2  # hops, sweeps, partitions, batches of 64
        for number, (first, last) in enumerate(pairwise(offsets.tolist())):
            start = sets[number][0]
            assert found[first:last].tolist() == list(range(start, min(start + 2, start // 50 * 50 + 49) + 1))


def test_the_number_of_partitions_follows_the_budget(tmp_path: Path) -> None:
    def partitions(memory: int, name: str) -> int:
        with hoplite.open(tmp_path / name, memory=memory) as db:
            numbers = np.arange(100_000)
            edges = {"start": numbers, "end": numbers[::-1]}
            db.load(nodes={"N": {"id": numbers}}, relationships={("N", "R", "N"): edges})
            found: int = db.stats()["partitions"]
            return found

    assert partitions(10**9, "large.hop") == 1
    assert partitions(6 * 2**20, "small.hop") == 2
    assert partitions(1, "none.hop") == 3  # of a megabyte each


@pytest.mark.parametrize("partitions", [2, 7, 16])
def test_partitions_balance_to_within_five_percent(partitions: int) -> None:
    degrees = np.random.default_rng(1).zipf(1.8, 50_000).clip(1, 3_000).astype(np.int64)
    dealt = deal(degrees, degrees[::-1], partitions)
    for side in (degrees, degrees[::-1]):
        loads = np.bincount(dealt, weights=side, minlength=partitions)
        assert loads.max() <= 1.05 * loads.mean() and loads.min() >= 0.95 * loads.mean()
