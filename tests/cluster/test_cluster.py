"""A cluster answers like one process: over workers that are threads here, and over Ray if it is installed."""

from __future__ import annotations

import os
import random
import threading
import time
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from neo4j.exceptions import ClientError, Neo4jError, TransientError

import hoplite
from hoplite import cluster
from hoplite.cluster import backend, placing
from hoplite.cluster.backend import ClusterBackend
from hoplite.cluster.database import Cluster, Route
from hoplite.cluster.owners import Owners
from hoplite.cluster.packing import pack, unpack
from hoplite.cluster.placing import Place, Split
from hoplite.errors import CypherError
from hoplite.storage.incidence import Adjacency
from tests.cluster.filtered import comparable, outcome, random_parameters, random_query
from tests.cluster.graphs import random_folder
from tests.cluster.pools import ThreadPool
from tests.docs.blocks import ROOT, blocks

SPLITS: tuple[Split, ...] = ("auto", "never", "always")
QUERIES = (
    "MATCH (a:N {id: $i})-[*1..4]->(b) RETURN count(DISTINCT b)",
    "MATCH (a:N {id: $i})-[:R|S*1..]->(b) RETURN DISTINCT b.id ORDER BY b.id",
    "MATCH (a:N {id: $i})-[*0..3]-(b) RETURN DISTINCT b ORDER BY b.id",
    "MATCH (a:N) WHERE a.id < $i MATCH (a)-[:R*2..3]->(b) RETURN a.id, count(DISTINCT b) ORDER BY a.id",
    "MATCH p = (a:N {id: $i})-[r:R*1..2]->(b) RETURN p ORDER BY length(p), [n IN nodes(p) | n.id], [x IN r | id(x)]",
    "MATCH p = shortestPath((a:N {id: $i})-[*..6]->(b:N {id: 1})) RETURN length(p)",
    "MATCH (a:N {id: $i})-[r:R]->(b) RETURN r.w, b.name, [r, a, b] ORDER BY r.w, b.id",
    "MATCH (a:N)-[r]->(b) RETURN a.x, count(*), collect(DISTINCT b.name)[0..0], avg(r.w) ORDER BY a.x",
    "MATCH (a:N {id: $i}) OPTIONAL MATCH (a)-[:S]->(b) RETURN a.name, b.id ORDER BY b.id LIMIT 3",
    "UNWIND [1, 'two', null, [3.5], {four: date('2024-02-29')}] AS value RETURN value",
    "MATCH (a:N) RETURN sum(a.id), min(a.name), max(a.x)",
    "CALL db.labels() YIELD label RETURN label",
    "RETURN $i + 1 AS one",
)


@pytest.fixture(params=SPLITS)
def split(request: pytest.FixtureRequest) -> Split:
    asked: Split = request.param
    return asked


def _rows(db: hoplite.Database, query: str, **parameters: Any) -> list[list[Any]]:
    return [comparable(record.values()) for record in db.run(query, parameters)]


@pytest.mark.parametrize(("workers", "partitions"), [(1, 3), (2, 1), (2, 4), (4, 9)])
def test_statements_answer_as_in_one_process(tmp_path: Path, split: Split, workers: int, partitions: int) -> None:
    path = random_folder(tmp_path, seed=partitions, partitions=partitions)
    with hoplite.open(path, read_only=True) as plain, Cluster(path, ThreadPool(workers), split=split) as several:
        for query in QUERIES:
            for i in (0, 5, 17):
                assert _rows(several, query, i=i) == _rows(plain, query, i=i), query


@pytest.mark.parametrize("seed", range(6))
def test_searches_answer_as_in_one_process(tmp_path: Path, split: Split, seed: int) -> None:
    rng = random.Random(seed)
    path = random_folder(tmp_path, seed=seed, nodes=400, relationships=900, partitions=1 + seed * 2)
    pool = ThreadPool(2 + seed % 3, faults=0.05, seed=seed)
    with hoplite.open(path, read_only=True) as plain, Cluster(path, pool, split=split) as several:
        alive = [record["id"] for record in plain.run("MATCH (n) RETURN id(n) AS id")]
        for _ in range(10):
            seeds = rng.sample(alive, rng.randrange(1, 9))
            asked: dict[str, Any] = {
                "direction": rng.choice(("out", "in", "both")),
                "types": rng.choice((None, "R", ["R", "S"])),
            }
            k, exact = rng.randrange(0, 7), rng.random() < 0.5
            one, many = plain.khop(seeds, k, exact=exact, **asked), several.khop(seeds, k, exact=exact, **asked)
            assert sorted(one.tolist()) == sorted(many.tolist()), (seeds, k, exact, asked)
            sets = [rng.sample(alive, rng.randrange(1, 4)) for _ in range(rng.randrange(1, 20))]
            here, there = (db.khop(sets, k, batch=True, exact=exact, **asked) for db in (plain, several))
            assert here.offsets.tolist() == there.offsets.tolist()
            for first, last in zip(here.offsets[:-1], here.offsets[1:], strict=True):
                assert sorted(here.values[first:last].tolist()) == sorted(there.values[first:last].tolist())


@pytest.mark.parametrize("seed", range(3))
def test_narrow_levels_are_taken_here_and_wide_ones_shared(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(backend, "_SHARED_STEPS", 60)
    monkeypatch.setattr(backend, "_FEW_STEPS", 8)
    rng = random.Random(seed)
    path = random_folder(tmp_path, seed=40 + seed, nodes=500, relationships=1_000, partitions=1 + 4 * seed)
    with hoplite.open(path, read_only=True) as plain, Cluster(path, ThreadPool(3)) as several:
        alive = [record["id"] for record in plain.run("MATCH (n) RETURN id(n) AS id")]
        for number in range(60):
            seeds = rng.sample(alive, rng.choice((1, 2, 8, 40)))
            k = rng.randrange(0, 8)
            direction: Any = rng.choice(("out", "in", "both"))
            here, there = (db.khop(seeds, k, direction, exact=number % 2 == 0) for db in (plain, several))
            assert sorted(here.tolist()) == sorted(there.tolist()), (seeds, k, direction)
        query = "MATCH (a:N {id: $i})-[*1..6]-(b) RETURN count(DISTINCT b), sum(DISTINCT b.id)"
        monkeypatch.setattr(placing, "WIDE_STEPS", 1)
        for i in (1, 7, 30):
            assert _rows(several, query, i=i) == _rows(plain, query, i=i)
        assert several._hops.calls.tally.table[:, 0].min() > 0, "every worker was asked"


PATHS = (
    "MATCH p = (a:N {id: $i})-[*0..3]->(b) RETURN p",
    "MATCH p = (a:N {id: $i})-[:R|S*2..3]-(b) RETURN p",
    "MATCH (a:N) WHERE a.id < $i MATCH p = (a)<-[*1..2]-(b) RETURN p",
    "MATCH p = (a:N {id: $i})-[r:R]-(b), q = (b)-[*1..2]-(c) RETURN p, q",
    "MATCH p = (a:N {id: $i})((x)-->(y)){1,3}(b) RETURN p, [n IN x | n.id]",
    "MATCH p = shortestPath((a:N {id: $i})-[*]-(b:N {id: $j})) RETURN length(p)",
    "MATCH p = allShortestPaths((a:N {id: $i})-[*]->(b:N {id: $j})) RETURN p",
    "MATCH (b:N) WHERE b.id % 3 = 0 AND b.id <> $i MATCH p = allShortestPaths((a:N {id: $i})-[:R*..5]-(b)) RETURN p",
    "MATCH p = ALL SHORTEST (a:N {id: $i})-[:R|S]-+(b:N) RETURN p",
    "MATCH p = SHORTEST 2 GROUPS (a:N {id: $i})--+(b:N {id: $j}) RETURN p",
)


@pytest.mark.parametrize("seed", range(4))
def test_trails_and_shortest_paths_answer_as_in_one_process(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = random_folder(tmp_path, seed=seed, nodes=40, relationships=70, partitions=1 + 2 * seed)
    pool = ThreadPool(2 + seed % 3)
    with hoplite.open(path, read_only=True) as plain, Cluster(path, pool, split="always") as several:
        for query in PATHS:
            assert "Runs: with its hops across" in several.explain(query, i=1, j=2), query
            for _ in range(3):
                asked = dict(zip("ij", rng.sample(range(40), 2), strict=True))
                here, there = (sorted(_rows(db, query, **asked), key=str) for db in (plain, several))
                assert here == there, (query, asked)
        assert several._hops.calls.tally.table[:, 0].min() > 0, "every worker was asked"


def test_wide_hops_are_shared(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=8, nodes=6_000, relationships=12_000, partitions=6)
    queries = (
        "MATCH (a:N)-[:R]->(b)-[:S]->(c) RETURN count(*), sum(c.id)",
        "MATCH (a:N) RETURN sum(COUNT { (a)-->() }), max(COUNT { (a)--() })",
    )
    with hoplite.open(path, read_only=True) as plain, Cluster(path, ThreadPool(3), split="never") as several:
        several._route = lambda prepared: Route(Place("here", "to be tested"))  # type: ignore[method-assign]
        for query in queries:
            assert _rows(several, query) == _rows(plain, query)
        assert several._hops.calls.tally.table[:, 0].min() > 0, "every worker was asked"


@pytest.mark.parametrize("seed", range(4))
def test_conditions_hold_where_they_are_evaluated(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    path = random_folder(tmp_path, seed=seed, partitions=1 + 2 * seed)
    pool = ThreadPool(2 + seed % 3, faults=0.02, seed=seed)
    with hoplite.open(path, read_only=True) as plain, Cluster(path, pool, split="always") as several:
        for _ in range(60):
            query, parameters = random_query(rng), random_parameters(rng)
            assert outcome(several, query, parameters) == outcome(plain, query, parameters), (query, parameters)
        assert several._hops.calls.tally.kinds[:2, 0].min() > 0, "workers were asked for hops and conditions"


def test_explain_says_who_evaluates_and_profile_what_it_took(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = random_folder(tmp_path, seed=14, nodes=300, relationships=900)
    start = "MATCH (a:N {id: 1})-[*1..6]-(b)"
    owned = f"{start} WHERE b:N AND b.x > $p RETURN count(DISTINCT b)"
    said = {
        owned: "The owners of b evaluate: b.x > $p, b:N",
        f"{start} WHERE b.x > a.x RETURN DISTINCT b": "This process evaluates: b.x > a.x (it reads a and b)",
        f"{start} WHERE EXISTS {{ (b)-[:S]->() }} RETURN DISTINCT b": "(it has a subquery)",
        f"{start} WHERE b.x > rand() RETURN DISTINCT b": "(rand differs from call to call)",
        f"{start}-[r:S]->(c) WHERE r.w = 2 RETURN DISTINCT c.id": "The owners of r evaluate: r.w = 2",
        "MATCH (a:N)-[r*1..6 {w: 2}]-(b) RETURN count(DISTINCT b)": "Workers that take a step evaluate: r.w = 2",
    }
    with Cluster(path, ThreadPool(2), split="always") as several:
        for query, line in said.items():
            assert line in several.explain(query, p=1), query
        kinds = several.profile(owned, p=0).rsplit("Asked for", 1)[1].splitlines()[1:]
        taken = {" ".join(line.split()[:-5]): int(line.split()[-1].replace(",", "")) for line in kinds}
        assert taken["hops"] > 0
        assert 0 < taken["conditions and values"] < 300, "a bit for each node comes back"
        filtered = f"{start} WHERE b:N AND b.x > 0 AND b.name <> 'n1' RETURN count(DISTINCT b)"
        with hoplite.open(path, read_only=True) as plain:
            counted = [
                [line.split("|")[1:5:3] for line in db.profile(filtered).splitlines() if line.startswith("| +")]
                for db in (plain, several)
            ]
        assert counted[0] == counted[1], "filters have the rows that they have in one process"
    monkeypatch.setattr(placing, "WIDE_STEPS", 1)
    with Cluster(path, ThreadPool(2)) as several:
        assert "The owners of b evaluate for 4,096 rows or more: b.x > $p" in several.explain(owned, p=1)
        several.register_function("my.twice(x :: INTEGER) :: INTEGER", lambda x: 2 * x)
        explained = several.explain(f"{start} WHERE my.twice(b.x) > 1 RETURN DISTINCT b")
        assert "This process evaluates: my.twice(b.x) > 1 (my.twice is a function of this process)" in explained


def test_values_are_read_by_owners_where_this_process_has_no_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backend, "_FEWEST_ROWS", 10)
    monkeypatch.setattr(placing, "WIDE_STEPS", 1)
    path = random_folder(tmp_path, seed=15, nodes=300, relationships=900)
    query = "MATCH (a:N {id: 1})-[*1..6]-(b) RETURN b.name + b.x AS c, count(DISTINCT b) AS d ORDER BY c"
    with hoplite.open(path, read_only=True) as plain:
        wanted = _rows(plain, query)
    for memory, asked in (("1KB", True), ("1GB", False)):
        with Cluster(path, ThreadPool(2), memory=memory) as several:
            assert _rows(several, query) == wanted
            assert (several._hops.calls.tally.kinds[1, 0] > 0) == asked
            assert ("The owners of b evaluate" in several.explain(query)) == asked


def test_clocks_and_limits_of_a_statement_hold_for_conditions(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=16, nodes=300, relationships=900)
    start = "MATCH (a:N {id: 1})-[*1..6]-(b) "
    with Cluster(path, ThreadPool(3), split="always", query_memory="200MB") as several:
        clocks = "WITH DISTINCT b RETURN count(DISTINCT [b.x * 0, datetime(), time.transaction()]) AS c"
        assert several.run(start + clocks).data() == [{"c": 1}]
        with several.session(timeout=0.3) as session, pytest.raises(Neo4jError) as raised:
            session.run(start + "WHERE size([i IN range(1, 200000000) WHERE i = b.x]) > 1 RETURN DISTINCT b").data()
        assert "TransactionTimedOut" in raised.value.code
        with pytest.raises(Neo4jError) as raised:
            several.run(start + "WHERE size(reduce(t = [b.x], i IN range(1, 40) | t + t)) > 1 RETURN DISTINCT b").data()
        assert "MemoryPoolOutOfMemory" in raised.value.code
        assert several.run("MATCH (n:N {id: 1}) RETURN n.id AS id").data() == [{"id": 1}], "the workers are free again"


def test_a_worker_that_dies_costs_time_alone(tmp_path: Path, split: Split) -> None:
    path = random_folder(tmp_path, seed=4)
    pool = ThreadPool(2, faults=0.1)
    with hoplite.open(path, read_only=True) as plain, Cluster(path, pool, split=split) as several:
        retried = 0
        for number in range(60):
            query = QUERIES[number % len(QUERIES)]
            while True:
                try:
                    found = _rows(several, query, i=number % 20)
                    break
                except TransientError as error:
                    assert error.code == "Neo.TransientError.Cluster.ReplicationFailure"
                    retried += 1
            assert found == _rows(plain, query, i=number % 20), query
        assert pool.killed > 0
        assert retried < 60


def test_a_worker_that_never_comes_back_is_an_error_to_retry(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=4)
    pool = ThreadPool(2, faults=1.0)
    with Cluster(path, pool, split="never") as several, pytest.raises(TransientError, match="retry"):
        several.run("MATCH (n) RETURN count(*)").data()


def test_errors_are_those_of_one_process(tmp_path: Path, split: Split) -> None:
    path = random_folder(tmp_path, seed=1)
    failing = (
        "MATCH (n:N) RETURN n.id / 0",
        "MATCH (n:N {id: $missing}) RETURN n",
        "RETURN date('no')",
        "MATCH (n RETURN n",
        "MATCH (a:N)-[*1..3]->(b) RETURN DISTINCT toInteger(b)",
    )
    with hoplite.open(path, read_only=True) as plain, Cluster(path, ThreadPool(2), split=split) as several:
        for query in failing:
            errors = []
            for db in (plain, several):
                with pytest.raises(Neo4jError) as raised:
                    db.run(query).data()
                errors.append((raised.value.code, raised.value.message, raised.value.gql_status))
            assert errors[0] == errors[1]


def test_it_reads_and_does_not_write(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=2)
    with Cluster(path, ThreadPool(2)) as several:
        for query in ("CREATE (:N)", "MATCH (n) DELETE n", "CREATE INDEX FOR (n:M) ON (n.x)"):
            with pytest.raises(ClientError) as raised:
                several.run(query)
            assert raised.value.code == "Neo.ClientError.Statement.AccessMode"


def test_it_stays_at_its_version_until_it_is_refreshed(tmp_path: Path, split: Split) -> None:
    path = random_folder(tmp_path, seed=3)
    count = "MATCH (n) RETURN count(*) AS c"
    with Cluster(path, pool := ThreadPool(2), split=split) as several:
        before = several.run(count).data()[0]["c"]
        with hoplite.open(path) as db:
            db.run("CREATE (:N {id: 1000})-[:R]->(:N {id: 1001})")
            assert several.run(count).data() == [{"c": before}]
            db.checkpoint()
        assert several.run(count).data() == [{"c": before}]
        several.refresh()
        assert several.run(count).data() == [{"c": before + 2}]
        assert several.run("MATCH (:N {id: 1000})-[*1..]->(b) RETURN count(DISTINCT b) AS c").data() == [{"c": 1}]
        pool.kill(0)
        pool.kill(1)
        assert several.run(count).data() == [{"c": before + 2}], "a worker that is started again has the same version"


def test_conditions_of_a_result_that_is_still_read_keep_their_version(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=17, nodes=2_000, relationships=10)
    query = "UNWIND range(1, 100) AS i MATCH (n:N) WHERE n.id % 2 = 0 RETURN n.id AS id"
    with Cluster(path, ThreadPool(2), split="always") as several:
        several._route = lambda prepared: Route(Place("here", "to be tested"))  # type: ignore[method-assign]
        wanted = [record["id"] for record in several.run(query)]
        result = several.run(query)
        found = [next(result)["id"]]
        with hoplite.open(path, partitions=4) as db:
            db.run("MATCH (n:N) WHERE n.id < 900 DETACH DELETE n")
            db.checkpoint()
        several.refresh()
        found += [record["id"] for record in result]
        assert found == wanted


def test_workers_of_another_version_are_not_asked(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=18)
    with Cluster(path, ThreadPool(2), split="always") as several:
        before = several._hops.calls
        several.refresh()
        with pytest.raises(CypherError, match="retry"):  # as in a thread that was about to ask
            before.ask("stop", [(0, ())], lambda: None)


def test_deadlines_and_cancellation_hold_in_workers(tmp_path: Path, split: Split) -> None:
    path = random_folder(tmp_path, seed=5, nodes=200, relationships=1_500)
    endless = "MATCH p = (a:N)-[*1..40]->(b) RETURN count(p)"
    with Cluster(path, ThreadPool(2), split=split) as several:
        begin = time.monotonic()
        with several.session(timeout=0.3) as session, pytest.raises(Neo4jError) as raised:
            session.run(endless).data()
        assert "TransactionTimedOut" in raised.value.code
        assert time.monotonic() - begin < 30
        assert several.run("MATCH (n:N {id: 1}) RETURN n.id AS id").data() == [{"id": 1}], "the workers are free again"


def test_memory_limits_hold_in_workers(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=6)
    with Cluster(path, ThreadPool(2), query_memory="8MB") as several, pytest.raises(TransientError) as raised:
        several.run("MATCH (a:N), (b:N), (c:N) RETURN collect([a.name, b.name, c.name]) AS all").data()
    assert raised.value.code == "Neo.TransientError.General.MemoryPoolOutOfMemoryError"


def test_many_statements_at_once(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=7)
    query = "MATCH (a:N {id: $i})-[*1..3]->(b) RETURN count(DISTINCT b) AS c"
    sets = [{"i": i} for i in range(60)]
    with hoplite.open(path, read_only=True) as plain, Cluster(path, ThreadPool(3)) as several:
        wanted = [plain.run(query, one).data() for one in sets]
        assert [result.data() for result in several.run_many(query, sets)] == wanted
        answers: dict[int, Any] = {}

        def ask(number: int) -> None:
            answers[number] = [several.run(query, one).data() for one in sets]

        threads = [threading.Thread(target=ask, args=(number,)) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [answers[number] for number in range(4)] == [wanted] * 4
        assert several._hops.calls.tally.table[:, 0].min() > 0


def test_explain_says_where_and_profile_who(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=9, nodes=300, relationships=900)
    search = "MATCH (a:N {id: 1})-[*1..6]->(b) RETURN count(DISTINCT b)"
    with Cluster(path, ThreadPool(2), split="always") as several:
        assert "Runs: with its hops across 2 workers" in several.explain(search)
        assert "Runs: with its hops across 2 workers" in several.explain(
            "MATCH p = (a:N {id: 1})-[*1..6]->(b) RETURN p"
        )
        assert "Runs: whole on one worker (a condition on each step is evaluated where it runs: it has a subquery)" in (
            several.explain("MATCH p = (a:N {id: 1}) ((x)-->(y) WHERE EXISTS { (y)-[:S]->() }){1,6} (b) RETURN p")
        )
        assert "Runs: in this process" in several.explain("CALL db.labels() YIELD label RETURN label")
        profile = several.profile(search)
        assert "VarLengthExpand" in profile
        shares = [line.split() for line in profile.splitlines() if line.strip()[:1].isdigit()]
        assert [share[0] for share in shares] == ["0", "1"]
        assert all(int(share[1]) > 0 for share in shares)
    with Cluster(path, ThreadPool(2)) as several:
        assert "too few to be split" in several.explain(search)


def test_functions_of_this_process_run_in_it(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=9)
    with Cluster(path, ThreadPool(2)) as several:
        several.register_function("my.twice(x :: INTEGER) :: INTEGER", lambda x: 2 * x)
        assert several.run("MATCH (n:N {id: 4}) RETURN my.twice(n.id) AS t").data() == [{"t": 8}]


def test_frontiers_are_packed_and_come_out_again() -> None:
    rng = np.random.default_rng(3)
    for node_count in (1, 7, 64, 1_000):
        for share in (0.0, 0.01, 0.5, 1.0):
            nodes = np.flatnonzero(rng.random(node_count) < share)
            packed = pack(nodes, node_count)
            assert unpack(packed).tolist() == nodes.tolist()
            assert packed.size <= 8 * (node_count // 64 + 1)


def test_owners_have_shares_of_one_size(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=11, nodes=3_000, relationships=3_000, partitions=16)
    with hoplite.open(path, read_only=True) as db:
        graph = db._graph.snapshot()
        owners = Owners(graph.adjacency(True), 4)
        shares = np.bincount(owners.of(np.arange(graph.node_count)), minlength=4)
        assert shares.sum() == graph.node_count
        assert shares.max() <= 1.5 * shares.mean()
        assert ClusterBackend.name == "cluster"


def test_owners_of_narrow_positions_do_not_overflow() -> None:
    owners = Owners(Adjacency(2**30 + 1, ()), 8)
    assert owners.of(np.array([0, 2**29, 2**30], np.int32)).tolist() == [0, 3, 7]


def test_relationships_newer_than_all_partitions_have_an_owner(tmp_path: Path) -> None:
    path = tmp_path / "few.hop"
    hops = "MATCH (a:N {id: 0})-[*1..2]->(m) WITH DISTINCT m MATCH (m)<-[r]-(b)"
    with hoplite.open(path, partitions=16) as db:
        db.run("CREATE (:N {id: 0})-[:R {w: 1}]->(:N {id: 1})-[:R {w: 2}]->(:N {id: 2})")
        with Cluster(path, ThreadPool(2), split="always") as several:  # everything is in the log
            assert _rows(several, f"{hops} WHERE r.w > 0 RETURN r.w, b.id ORDER BY r.w") == [[1, 0], [2, 1]]


def test_a_worker_loads_no_partition_but_its_own(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=13, nodes=2_000, relationships=4_000, partitions=16)
    with hoplite.open(path, partitions=16) as db:
        db.checkpoint()
    with Cluster(path, pool := ThreadPool(4), split="always") as several:
        for seed in (1, 2, 5):
            several.khop([seed], 6, "both")
        partition_of = several.snapshot().adjacency(True).partition_of
        assert partition_of is not None
        owner = several._hops.owners.of(np.arange(len(partition_of)))
        for number, worker in enumerate(filter(None, pool._workers)):
            loaded = {key[2] for key in worker._graph._delta.base._cache._held}  # type: ignore[attr-defined]
            assert loaded == set(partition_of[owner == number].tolist())


def test_bad_settings_are_refused(tmp_path: Path) -> None:
    path = random_folder(tmp_path, seed=12)
    with pytest.raises(ValueError, match="split is"):
        Cluster(path, ThreadPool(1), split="sometimes")  # type: ignore[arg-type]
    with pytest.raises(Neo4jError, match="there is no database"):
        Cluster(tmp_path / "nothing.hop", ThreadPool(1))
    with pytest.raises(Neo4jError, match="workers is a number"):
        cluster.open(path, workers=0)


# --- on Ray ---


def _ray() -> str:
    if find_spec("ray") is None:
        if os.environ.get("HOPLITE_RAY") == "required":
            pytest.fail("Ray is not installed")
        return "Ray is not installed: `make cluster-test` runs these"
    return ""


@pytest.fixture(scope="module")
def on_ray() -> Iterator[Callable[..., Cluster]]:
    if why := _ray():
        pytest.skip(why)
    opened: list[Cluster] = []
    import ray

    ray.init(num_cpus=2, include_dashboard=False, log_to_driver=False, logging_level="error")

    def make(path: Path, **settings: Any) -> Cluster:
        opened.append(cluster.open(path, **settings))
        return opened[-1]

    yield make
    for one in opened:
        one.close()
    ray.shutdown()


def test_ray_answers_as_one_process(tmp_path: Path, on_ray: Callable[..., Cluster]) -> None:
    path = random_folder(tmp_path, seed=20)
    several = on_ray(path, workers=2)
    with hoplite.open(path, read_only=True) as plain:
        for split in SPLITS:
            several._split = several._hops._split = split
            for query in QUERIES:
                assert _rows(several, query, i=5) == _rows(plain, query, i=5), query
        with pytest.raises(ClientError) as raised:
            several.run("MATCH (n:N) RETURN n.id / 0").data()
        assert raised.value.code == "Neo.ClientError.Statement.ArithmeticError"
        # A worker is killed before, and between, statements: the answers stay.
        for number in range(3):
            several._pool.kill(number % 2)  # type: ignore[attr-defined]
            found = _rows(several, QUERIES[number], i=5)
            assert found == _rows(plain, QUERIES[number], i=5)
    several.close()


def test_ray_stops_in_time(tmp_path: Path, on_ray: Callable[..., Cluster]) -> None:
    path = random_folder(tmp_path, seed=21, nodes=200, relationships=1_500)
    with on_ray(path, workers=2) as several:
        with several.session(timeout=1.0) as session, pytest.raises(Neo4jError) as raised:
            session.run("MATCH p = (a:N)-[*1..40]->(b) RETURN count(p)").data()
        assert "TransactionTimedOut" in raised.value.code
        assert several.run("MATCH (n:N {id: 1}) RETURN n.id AS id").data() == [{"id": 1}]


def test_ray_streams_many_rows(tmp_path: Path, on_ray: Callable[..., Cluster]) -> None:
    path = random_folder(tmp_path, seed=22)
    with on_ray(path, workers=1) as several:
        query = "UNWIND range(1, 300000) AS i RETURN i, 'text ' + i AS t"
        result = several.run(query)
        total = sum(record["i"] for record in result)
        assert total == 300_000 * 300_001 // 2


def test_ray_serves_several_readers_and_outlives_its_workers(tmp_path: Path, on_ray: Callable[..., Cluster]) -> None:
    path = random_folder(tmp_path, seed=23)
    query = "MATCH (a:N {id: $i})-[*1..3]->(b) RETURN count(DISTINCT b) AS c"
    sets = [{"i": i % 50} for i in range(300)]
    several = on_ray(path, workers=2)
    with hoplite.open(path, read_only=True) as plain:
        wanted = [plain.run(query, one).data() for one in sets]
    unread = [several.run("UNWIND range(1, 200000) AS i RETURN i") for _ in range(3)]
    first = [next(result)["i"] for result in unread]
    assert [result.data() for result in several.run_many(query, sets)] == wanted, "unread results block nobody"
    assert [one + sum(record["i"] for record in rest) for one, rest in zip(first, unread, strict=True)] == [
        200_000 * 200_001 // 2
    ] * 3
    killer = threading.Timer(0.05, several._pool.kill, args=(1,))  # type: ignore[attr-defined]
    killer.start()
    assert [result.data() for result in several.run_many(query, sets * 4)] == wanted * 4, "a worker died on the way"
    killer.join()
    closer = threading.Timer(0.5, several.close)
    closer.start()
    with pytest.raises((Neo4jError, RuntimeError)):
        several.run("MATCH p = (a:N)-[*1..60]-(b) RETURN count(p)").data()
    closer.join()


def test_ray_runs_the_lines_of_the_readme(
    tmp_path: Path, on_ray: Callable[..., Cluster], capsys: pytest.CaptureFixture[str]
) -> None:
    code = next(block.code for block in blocks(ROOT / "README.md") if "cluster.open" in block.code)
    path = tmp_path / "kg.hop"
    with hoplite.open(path) as db:
        db.run("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease)-[:HAS]->(:Symptom)")
    exec(code.replace("/shared/kg.hop", str(path)).replace("workers=16", "workers=2"), {})
    assert capsys.readouterr().out == "[[2]]\n"


def test_without_ray_the_error_says_what_to_install(tmp_path: Path) -> None:
    if find_spec("ray") is not None:
        pytest.skip("Ray is installed")
    with pytest.raises(ModuleNotFoundError, match=r"pip install 'hoplitedb\[ray\]'"):
        cluster.open(random_folder(tmp_path, seed=1))
