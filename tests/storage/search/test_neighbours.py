"""Graphs of neighbours propose what plain comparison finds, through writes, folds, checkpoints and reopening."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoplite
from hoplite.storage.search import neighbours
from hoplite.storage.search.neighbours import Neighbours
from hoplite.storage.search.vectors import Vectors
from tests.disk.faults import Dead, DieAt, QuickFiles

pytest.importorskip("usearch")

_INDEX = "CREATE VECTOR INDEX v FOR (n:D) ON (n.e) OPTIONS {indexConfig: {`vector.similarity_function`: $similarity}}"
_ASK = "CALL db.index.vector.queryNodes('v', $count, $query) YIELD node, score RETURN node.i AS i, score"


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Graphs for indexes of the size that tests have."""
    monkeypatch.setattr(neighbours, "LEAST_NUMBERS", 1000)


def _vectors(count: int, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal((count, 6)) + 3


def _graph(database: Any) -> Neighbours | None:
    from hoplite.storage.search.vectors import graph_of

    snapshot = database._graph.snapshot()
    return graph_of(snapshot._delta.base, snapshot.schema.index("v"), 6)


def _share_found(database: Any, held: dict[int, Any], by_cosine: bool, count: int = 5) -> float:
    """How many of the nearest were found; scores are exact."""
    found = 0
    numbers, matrix = np.array(list(held)), np.array(list(held.values()))
    for query in _vectors(20, 99):
        if by_cosine:
            scores = (1 + matrix @ query / np.linalg.norm(matrix, axis=1) / np.linalg.norm(query)) / 2
        else:
            scores = 1 / (1 + ((matrix - query) ** 2).sum(axis=1))
        expected = dict(zip(numbers.tolist(), scores.tolist(), strict=True))
        rows = [tuple(row) for row in database.run(_ASK, count=count, query=query.tolist())]
        assert len(rows) == count
        assert [score for _, score in rows] == pytest.approx([expected[i] for i, _ in rows], abs=1e-6)
        found += len({i for i, _ in rows} & set(sorted(expected, key=lambda i: -expected[i])[:count]))
    return found / (20 * count)


@pytest.mark.parametrize("where", ["memory", "disk"])
@pytest.mark.parametrize("similarity", ["cosine", "euclidean"])
def test_answers_follow_what_is_written(where: str, similarity: str, tmp_path: Path) -> None:
    path, by_cosine = tmp_path / "kg.hop", similarity == "cosine"
    database = hoplite.Database(path) if where == "disk" else hoplite.Database()
    database.run(_INDEX, similarity=similarity).consume()
    held = dict(enumerate(_vectors(2000)))
    database.load(nodes={"D": {"id": np.arange(2000), "i": np.arange(2000), "e": np.array(list(held.values()))}})
    database.run("CALL db.awaitIndexes()").consume()
    assert _graph(database) is not None
    assert _share_found(database, held, by_cosine) > 0.98

    # The nearest of every question are taken away, in turn by deletion and by another vector.
    for query in _vectors(20, 99):
        for number, (i, _) in enumerate(database.run(_ASK, count=8, query=query.tolist()).values()):
            if number % 2:
                database.run("MATCH (n:D {i: $i}) DELETE n", i=i).consume()
                del held[i]
            else:
                held[i] = np.array([100.0, number, 0, 0, 0, 1])
                database.run("MATCH (n:D {i: $i}) SET n.e = $e", i=i, e=held[i].tolist()).consume()
    held |= {10_000 + number: vector for number, vector in enumerate(_vectors(50, 7))}
    new = [{"i": i, "e": vector.tolist()} for i, vector in held.items() if i >= 10_000]
    database.run("UNWIND $rows AS row CREATE (n:D) SET n = row", rows=new).consume()
    assert _share_found(database, held, by_cosine) > 0.98

    database.checkpoint()
    database.run("CALL db.awaitIndexes()").consume()
    assert _graph(database) is not None
    assert _share_found(database, held, by_cosine) > 0.98
    if where == "disk":
        assert database.verify() == []
        database.close()
        database = hoplite.Database(path)
        assert _share_found(database, held, by_cosine) > 0.98
        assert not database._graph.snapshot()._delta.base.buildings  # it came with the file
    database.close()


@pytest.mark.parametrize("where", ["memory", "disk"])
def test_a_load_keeps_it(where: str, tmp_path: Path) -> None:
    database = hoplite.Database(tmp_path / "kg.hop") if where == "disk" else hoplite.Database()
    database.run(_INDEX, similarity="euclidean").consume()
    held = dict(enumerate(_vectors(2000)))
    database.load(nodes={"D": {"id": np.arange(2000), "i": np.arange(2000), "e": np.array(list(held.values()))}})
    database.run("CALL db.awaitIndexes()").consume()
    database.load(nodes={"Other": {"id": np.arange(50)}})
    assert _graph(database) is not None
    more = {2000 + number: vector for number, vector in enumerate(_vectors(50, 7))}
    database.load(
        nodes={"D": {"id": np.array(list(more)), "i": np.array(list(more)), "e": np.array(list(more.values()))}}
    )
    held |= more
    database.run("CALL db.awaitIndexes()").consume()
    assert _graph(database) is not None
    if where == "disk":
        assert not database._graph.snapshot()._delta.base.buildings  # it came with the file
        assert database.verify() == []
    assert _share_found(database, held, False) > 0.98
    database.close()


def test_it_is_asked_for_more_where_what_it_proposes_is_hidden() -> None:
    matrix = _vectors(4000).astype(np.float32)
    ids = np.arange(4000)
    index = _any_index()
    graph = Neighbours.build(matrix, ids, index, lambda _: True)
    assert graph is not None
    vectors = Vectors(ids, matrix, ids, graph)
    exact, _ = vectors.best(matrix[5], False, 300, np.zeros(0, np.int64))
    hidden = np.sort(exact[:200])  # the nearest 200 are gone
    found, scores = vectors.near(graph, matrix[5], False, 3, hidden)
    expected, expected_scores = vectors.best(matrix[5], False, 3, hidden)
    assert found.tolist() == expected.tolist() and scores.tolist() == expected_scores.tolist()


def _any_index(**config: Any) -> Any:
    with hoplite.Database() as database:
        settings = ", ".join(f"`vector.hnsw.{name}`: {value}" for name, value in config.items())
        database.run(f"CREATE VECTOR INDEX v FOR (n:D) ON (n.e) OPTIONS {{indexConfig: {{{settings}}}}}").consume()
        return database._graph.snapshot().schema.index("v")


def test_settings_of_the_index_are_those_of_the_graph() -> None:
    matrix, ids = _vectors(1000).astype(np.float32), np.arange(1000)
    few = Neighbours.build(matrix, ids, _any_index(m=2, ef_construction=4), lambda _: True)
    many = Neighbours.build(matrix, ids, _any_index(m=32, ef_construction=200), lambda _: True)
    assert few is not None and many is not None
    assert len(few.data) < len(many.data)
    assert (few._links.connectivity, few._links.expansion_add) == (2, 4)
    assert (many._links.connectivity, many._links.expansion_add) == (32, 200)


def test_building_can_be_stopped_and_says_how_far_it_is() -> None:
    matrix, ids = _vectors(2000).astype(np.float32), np.arange(2000)
    seen: list[int] = []

    def goes_on(done: int) -> bool:
        seen.append(done)
        return done < 1000

    assert Neighbours.build(matrix, ids, _any_index(), goes_on) is None
    assert seen == sorted(seen) and 1000 <= seen[-1] < 2000


def test_vectors_that_are_all_the_same_are_looked_through() -> None:
    same = np.ones((2000, 6), np.float32)
    assert Neighbours.build(same, np.arange(2000), _any_index(), lambda _: True) is None
    with hoplite.Database() as database:
        database.run(_INDEX, similarity="euclidean").consume()
        database.load(nodes={"D": {"id": np.arange(2000), "e": same.astype(np.float64)}})
        database.run("CALL db.awaitIndexes()").consume()
        assert len(database.run(_ASK, count=3, query=[1.0] * 6).values()) == 3


def test_a_graph_that_is_not_of_these_vectors_is_not_used() -> None:
    matrix, ids, index = _vectors(1000).astype(np.float32), np.arange(1000), _any_index()
    graph = Neighbours.build(matrix, ids, index, lambda _: True)
    assert graph is not None
    arrays = graph.arrays()
    again = Neighbours.of_arrays(arrays, 1000, index)
    assert again is not None and again.agrees_with(matrix, ids)
    assert not again.agrees_with(matrix[::-1], ids) and not again.agrees_with(matrix, ids + 1)
    assert Neighbours.of_arrays(arrays, 999, index) is None
    for data in (np.zeros(1000, np.uint8), arrays["links"][:500]):
        assert Neighbours.of_arrays(arrays | {"links": data}, 1000, index) is None


def test_a_process_that_ends_while_a_graph_is_written_leaves_one_that_is_sound(tmp_path: Path) -> None:
    from hoplite.storage.disk.graph import DiskGraph

    path = tmp_path / "kg.hop"
    with hoplite.Database(path) as database:
        database.run(_INDEX, similarity="euclidean").consume()
        database.load(nodes={"D": {"id": np.arange(500), "e": _vectors(500)}})
        database.run("CALL db.awaitIndexes()").consume()
        while database._graph._background is None:  # type: ignore[attr-defined]
            pass
        database._graph._background.join()  # type: ignore[attr-defined]
        assert "links-6" in _stored_arrays(database)
    finished = False
    for step in range(1, 2000, 11):
        copy = tmp_path / "copy.hop"
        shutil.copytree(path, copy)
        graph = None
        try:
            graph = DiskGraph(copy, files=DieAt(step))
            with graph.begin() as tx:
                tx.create_node(["D"], {"i": 777, "e": [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]})
            graph.checkpoint()
            finished = True
        except Dead:
            pass
        if graph is not None:
            graph._let_go()
        again = DiskGraph(copy, files=QuickFiles())
        assert again.verify() == []
        index = again.snapshot().schema.index("v")
        assert index is not None
        found, _ = again.snapshot().nearest(index, np.array([1, 2, 3, 4, 5, 6], np.float32), 1)
        assert len(found) == 1
        again.close()
        shutil.rmtree(copy)
        if finished:
            return
    raise AssertionError("the checkpoint took more steps than that")


def _stored_arrays(database: Any) -> dict[str, Any]:
    manifest = database._graph._manifest
    return next(file.arrays for file in manifest.files if file.name.startswith("search-"))
