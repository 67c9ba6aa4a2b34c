"""Vector indexes give what plain comparison gives, whatever was written, folded, checkpointed and reopened between."""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hoplite
from hoplite.storage.search.vectors import Vectors

_INDEX = "CREATE VECTOR INDEX {} FOR {} ON (n.e) OPTIONS {{indexConfig: {{`vector.similarity_function`: '{}'{}}}}}"
_NODES, _RELATIONSHIPS = "(n:D)", "()-[n:R]-()"


def _expected(vectors: dict[int, Any], query: list[float], by_cosine: bool, length: int | None) -> dict[int, float]:
    """Scores by the number of the entity, in double precision."""
    scores = {}
    wanted = np.array(query, np.float64)
    for number, value in vectors.items():
        if not isinstance(value, list) or len(value) != len(query) or length not in (None, len(value)):
            continue
        if not all(isinstance(item, int | float) and not isinstance(item, bool) for item in value):
            continue
        vector = np.array(value, np.float64)
        if by_cosine:
            if not vector.any():
                continue
            cosine = vector @ wanted / np.linalg.norm(vector) / np.linalg.norm(wanted)
            scores[number] = max((1 + cosine) / 2, 0)
        else:
            scores[number] = 1 / (1 + float((vector - wanted) @ (vector - wanted)))
    return scores


def _check(database: Any, name: str, vectors: dict[int, Any], query: list[float], by_cosine: bool, length: Any) -> None:
    kind = "Relationships" if name.startswith("r") else "Nodes"
    entity = "relationship" if name.startswith("r") else "node"
    expected = _expected(vectors, query, by_cosine, length)
    for count in (1, 3, 1000):
        text = (
            f"CALL db.index.vector.query{kind}('{name}', $count, $query) YIELD {entity} AS x, score RETURN x.i, score"
        )
        rows = [tuple(record) for record in database.run(text, count=count, query=query)]
        assert len(rows) == min(count, len(expected))
        assert [score for _, score in rows] == pytest.approx(sorted(expected.values(), reverse=True)[:count], abs=1e-6)
        assert [score for _, score in rows] == pytest.approx([expected[number] for number, _ in rows], abs=1e-6)
        assert len({number for number, _ in rows}) == len(rows)


def _vector(choose: random.Random) -> Any:
    kind = choose.random()
    if kind < 0.75:
        return [round(choose.uniform(-1, 1), 2) for _ in range(3)]
    return choose.choice(
        [[1, 2, 3], [0.0, 0.0, 0.0], [0.5, 0.5], "text", ["a", "b", "c"], [], [True, False, True], 7, [1.0, 2.0, 3.0]]
    )


def _write(database: Any, choose: random.Random, nodes: dict[int, Any], relationships: dict[int, Any]) -> None:
    """One random statement, done to the database and to the dictionaries of what the indexes cover."""
    value, number = _vector(choose), choose.randrange(10_000, 10**9)
    some = choose.choice(sorted(nodes)) if nodes else None
    what = choose.randrange(8)
    if what <= 1 or some is None:
        database.run("CREATE (:D {i: $i, e: $e})", i=number, e=value).consume()
        nodes[number] = value
    elif what == 2:
        database.run("MATCH (n {i: $i}) SET n.e = $e", i=some, e=value).consume()
        nodes[some] = value
    elif what == 3:
        database.run("MATCH (n {i: $i}) DETACH DELETE n", i=some).consume()
        del nodes[some]
    elif what == 4:
        database.run("MATCH (n:D {i: $i}) REMOVE n:D SET n:E", i=some).consume()
    elif what == 5:
        database.run("MATCH (n {i: $i}) REMOVE n:D:E", i=some).consume()
        nodes.pop(some)
    elif what == 6:
        database.run("CREATE (:A)-[:R {i: $i, e: $e}]->(:B)", i=number, e=value).consume()
        relationships[number] = value
    elif relationships:
        chosen = choose.choice(sorted(relationships))
        database.run("MATCH ()-[r:R {i: $i}]->() DELETE r", i=chosen).consume()
        del relationships[chosen]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("where", ["memory", "disk"])
def test_answers_follow_what_is_written(where: str, seed: int, tmp_path: Path) -> None:
    choose = random.Random(seed)
    path = tmp_path / "kg.hop"
    database = hoplite.Database(path) if where == "disk" else hoplite.Database()
    by_cosine, length = bool(seed % 2), 3 if seed % 3 else None
    similarity, config = (
        ("cosine" if by_cosine else "euclidean"),
        (f", `vector.dimensions`: {length}" if length else ""),
    )
    database.run(_INDEX.format("n1", _NODES, similarity, config)).consume()
    database.run(_INDEX.format("r1", _RELATIONSHIPS, similarity, config)).consume()
    nodes: dict[int, Any] = {}
    relationships: dict[int, Any] = {}
    for step in range(60):
        _write(database, choose, nodes, relationships)
        if step % 20 == 13:
            database.checkpoint()
        if step % 30 == 23 and where == "disk":
            database.close()
            database = hoplite.Database(path)
        query = [0.3, -0.2, 0.9]
        labelled = {r["i"]: r["e"] for r in database.run("MATCH (n:D) RETURN n.i AS i, n.e AS e")}
        _check(database, "n1", labelled, query, by_cosine, length)
        _check(database, "r1", relationships, query, by_cosine, length)
    if where == "disk":
        database.checkpoint()
        assert not database.verify()
    database.close()


def _found(result: Any) -> Any:
    return next(iter(result))["found"]


def test_a_transaction_sees_its_own_vectors_and_others_do_not() -> None:
    with hoplite.Database() as database:
        database.run(_INDEX.format("n1", "(n:D)", "cosine", "")).consume()
        database.run("CREATE (:D {i: 1, e: [1.0, 0.0]})").consume()
        ask = "CALL db.index.vector.queryNodes('n1', 9, [1.0, 0.0]) YIELD node RETURN collect(node.i) AS found"
        with database.begin() as transaction:
            transaction.run("CREATE (:D {i: 2, e: [0.0, 1.0]})").consume()
            assert _found(transaction.run(ask)) == [1, 2]
            transaction.run("MATCH (d:D {i: 1}) DELETE d").consume()
            assert _found(transaction.run(ask)) == [2]
            transaction.rollback()
        assert _found(database.run(ask)) == [1]


def test_near_vectors_far_from_the_origin_are_told_apart() -> None:
    rows = np.full((2000, 8), 1000.0, np.float32)
    rows[:, 0] += np.arange(2000, dtype=np.float32) / 64
    vectors = Vectors(np.arange(2000), rows)
    found, scores = vectors.best(rows[700], False, 3, np.zeros(0, np.int64))
    assert found[0] == 700 and set(found.tolist()) == {699, 700, 701}
    assert scores[0] == 1.0


def test_an_index_is_mapped_when_it_is_opened(tmp_path: Path) -> None:
    with hoplite.Database(tmp_path / "kg.hop") as database:
        database.run(_INDEX.format("n1", "(n:D)", "cosine", "")).consume()
        database.load(nodes={"D": {"id": np.arange(100), "e": np.random.default_rng(1).standard_normal((100, 5))}})
    with hoplite.Database(tmp_path / "kg.hop") as database:
        list(database.run("CALL db.index.vector.queryNodes('n1', 1, [1.0, 0, 0, 0, 0])"))
        base = database._graph.snapshot()._delta.base
        assert not base._search_indexes  # nothing was made
        manifest = database._graph._manifest  # type: ignore[attr-defined]
        assert [search.file for search in manifest.searches] == ["search-0.bin"]


def test_a_damaged_index_is_reported_and_recovered(tmp_path: Path) -> None:
    path = tmp_path / "kg.hop"
    with hoplite.Database(path) as database:
        database.run(_INDEX.format("n1", "(n:D)", "cosine", "")).consume()
        database.load(nodes={"D": {"id": np.arange(100), "e": np.random.default_rng(1).standard_normal((100, 5))}})
    (file,) = path.glob("snapshot-*/search-0.bin")
    content = bytearray(file.read_bytes())
    content[200] ^= 1
    file.write_bytes(content)
    with hoplite.Database(path) as database:
        with pytest.raises(Exception, match=r"search-0\.bin"):
            list(database.run("CALL db.index.vector.queryNodes('n1', 1, [1.0, 0, 0, 0, 0])"))
        assert any("search-0.bin" in problem for problem in database.verify())
    hoplite.recover(path, tmp_path / "again.hop")
    with hoplite.Database(tmp_path / "again.hop") as database:
        rows = list(database.run("CALL db.index.vector.queryNodes('n1', 7, [1.0, 0, 0, 0, 0])"))
        assert len(rows) == 7
