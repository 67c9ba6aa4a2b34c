"""`db.khop`: what seeds may be, what comes out, batches, paths; and the procedures hop.within and hop.paths."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from neo4j.exceptions import ClientError

import hoplite
from tests.oracle import Graph, Side, steps
from tests.patterns.random_graphs import TYPES, database, graphs

few = settings(max_examples=30)
SIDES: dict[str, Side] = {"out": "->", "in": "<-", "both": "--"}


def distances(graph: Graph, seeds: list[int], side: Side, types: list[int] | None) -> dict[int, int]:
    """How far each node is from the nearest seed."""
    found = dict.fromkeys(seeds, 0)
    frontier = list(found)
    while frontier:
        ends = [(end, found[node] + 1) for node in frontier for _, end in steps(graph, node, side, types)]
        frontier = [end for end, level in dict(ends).items() if end not in found and found.setdefault(end, level)]
    return found


asked = {
    "graph": graphs(),
    "k": st.integers(0, 4),
    "direction": st.sampled_from(list(SIDES)),
    "types": st.none() | st.lists(st.integers(0, 2), min_size=1, max_size=2, unique=True),
    "exact": st.booleans(),
    "partitions": st.sampled_from((1, 3)),
    "backend": st.sampled_from(("numpy", "numba")),
    "data": st.data(),
}


def names(types: list[int] | None) -> list[str] | None:
    return None if types is None else [TYPES[number] for number in types]


@few
@given(**asked)
def test_khop_finds_what_the_oracle_finds(
    graph: Graph, k: int, direction: str, types: list[int] | None, exact: bool, partitions: int, backend: Any, data: Any
) -> None:
    """Ids and values, one set of seeds and several, nodes and paths."""
    some = st.lists(st.sampled_from(graph.nodes), max_size=3)
    sets = data.draw(st.lists(some, min_size=1, max_size=4))
    with database(graph, backend, partitions) as db:
        number_of = dict(db.run("MATCH (n:N) RETURN id(n), n.i").values())
        id_of = {number: identity for identity, number in number_of.items()}
        how: dict[str, Any] = {"direction": direction, "types": names(types), "exact": exact}
        wanted = []
        for seeds in sets:
            away = distances(graph, seeds, SIDES[direction], types)
            wanted.append({node: level for node, level in away.items() if (level == k if exact else level <= k)})
        batch = db.khop([[id_of[seed] for seed in seeds] for seeds in sets], k, batch=True, **how)
        values = db.khop(sets, k, batch=True, by=("N", "i"), arrow=True, **how).to_pylist()
        for number, (seeds, want) in enumerate(zip(sets, wanted, strict=True)):
            ids = [id_of[seed] for seed in seeds]
            found = [number_of[node] for node in db.khop(ids, k, **how).tolist()]
            assert sorted(found) == sorted(want)
            assert [want[node] for node in found] == sorted(want.values())
            assert sorted(db.khop(seeds, k, by=("N", "i"), **how).tolist()) == sorted(want)
            in_batch = batch.values[batch.offsets[number] : batch.offsets[number + 1]].tolist()
            assert sorted(number_of[node] for node in in_batch) == sorted(want)
            assert sorted(values[number]) == sorted(want)
            called = db.run(
                "MATCH (n:N) WHERE n.i IN $seeds WITH collect(n) AS nodes CALL hop.within(nodes, $k, $how) "
                "YIELD node, distance RETURN node.i, distance",
                seeds=seeds,
                k=k,
                how=how,
            )
            assert dict(called.values()) == want
            paths = db.khop(ids, k, paths=True, **how)
            again = db.run(
                "MATCH (n:N) WHERE n.i IN $seeds WITH collect(n) AS nodes CALL hop.paths(nodes, $k, $how) "
                "YIELD path RETURN path",
                seeds=seeds,
                k=k,
                how=how,
            ).value()
            for some_paths in (paths, again):
                ends = {path.nodes[-1]["i"]: len(path) for path in some_paths}
                assert len(ends) == len(some_paths)
                assert ends == {node: level for node, level in want.items() if level > 0}
                for path in some_paths:
                    check_path(path, seeds, SIDES[direction], names(types))


def check_path(path: Any, seeds: list[int], side: Side, types: list[str] | None) -> None:
    assert path.nodes[0]["i"] in seeds
    for before, hop, after in zip(path.nodes, path.relationships, path.nodes[1:], strict=False):
        assert types is None or hop.type in types
        ways = {"->": [(before, after)], "<-": [(after, before)], "--": [(before, after), (after, before)]}[side]
        assert (hop.start_node, hop.end_node) in ways


@pytest.fixture
def db() -> hoplite.Database:
    made = hoplite.open()
    made.run(
        "CREATE (a:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Pain'})-[:IN]->(:Area), "
        "(:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Fever'}), (:Other {name: 'Aspirin'})"
    ).consume()
    return made


def test_a_value_may_be_that_of_several_nodes(db: hoplite.Database) -> None:
    found = db.khop("Aspirin", 1, by=("Drug", "name"))
    assert sorted(found.tolist()) == ["Aspirin", "Aspirin", "Fever", "Pain"]


def test_a_node_without_the_property_is_null(db: hoplite.Database) -> None:
    assert db.khop(["Pain"], 1, by=("Disease", "name")).tolist() == ["Pain", None]
    assert db.khop(["Pain"], 1, by=("Disease", "name"), arrow=True).to_pylist() == ["Pain", None]


def test_seeds_are_nodes_ids_or_arrays_of_them(db: hoplite.Database) -> None:
    node, number = db.run("MATCH (d:Disease {name: 'Pain'}) RETURN d, id(d)").values()[0]
    expected = db.khop(number, 1).tolist()
    for seeds in (node, [node], [number], (number,), np.array([number]), np.array([number], np.int32), {number}):
        assert db.khop(seeds, 1).tolist() == expected
    frozen = np.array([number])
    frozen.setflags(write=False)
    assert db.khop(frozen, 1).tolist() == expected
    assert db.khop([], 2).tolist() == []
    assert db.khop([], 2, batch=True).offsets.tolist() == [0]


def test_ids_outlive_a_deleted_node(db: hoplite.Database) -> None:
    db.run("MATCH (n:Other) DELETE n").consume()
    db.checkpoint()
    pain = db.run("MATCH (d:Disease {name: 'Pain'}) RETURN id(d)").value()[0]
    area = db.run("MATCH (a:Area) RETURN id(a)").value()[0]
    assert db.khop([pain], 1).tolist() == [pain, area]


@pytest.mark.parametrize(
    ("seeds", "how", "message"),
    [
        ([10_000], {}, "no node with id 10000"),
        ([-1], {}, "no node with id -1"),
        ([2**70], {}, "no node with id"),
        (["x"], {}, "A seed is a node or an id"),
        ([True], {}, "A seed is a node or an id"),
        ([1.5], {}, "A seed is a node or an id"),
        (["Nothing"], {"by": ("Drug", "name")}, "label Drug whose name is 'Nothing'"),
        (["Aspirin", "Nothing"], {"by": ("Drug", "name")}, "label Drug whose name is 'Nothing'"),
        ([0], {"by": "name"}, "by must be a label and a property"),
        ([0], {"direction": "sideways"}, "direction must be"),
        ([0], {"types": 5}, "types must be a relationship type"),
        ([0], {"types": ["R", 5]}, "types must be a relationship type"),
        (None, {}, "Seeds are nodes, ids or values"),
        (None, {"batch": True}, "A batch is a list of seed sets"),
        ([[0], [10_000]], {"batch": True}, "no node with id 10000"),
    ],
)
def test_what_cannot_be_meant_is_an_error(db: hoplite.Database, seeds: Any, how: dict[str, Any], message: str) -> None:
    with pytest.raises(ClientError, match=message):
        db.khop(seeds, 2, **how)


def test_a_node_of_another_database_is_an_error(db: hoplite.Database) -> None:
    with hoplite.open() as other:
        node = other.run("CREATE (n) RETURN n").value()[0]
        with pytest.raises(ClientError, match="not from this database"):
            db.khop(node, 1)


@pytest.mark.parametrize("k", [-1, 1.0, None, True])
def test_k_is_a_number_of_hops(db: hoplite.Database, k: Any) -> None:
    with pytest.raises(ClientError, match="k must be a number of hops"):
        db.khop([0], k)


def test_a_deadline_ends_a_long_search(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hoplite.engine.hops.numba_backend._WORK", 1)
    with hoplite.open(timeout=0.0, backend="numba") as late:
        with late.session(timeout=60) as session:
            session.run("UNWIND range(1, 50) AS i CREATE (:A {i: i})-[:R]->(:B)").consume()
            first = session.run("MATCH (a:A) RETURN id(a)").value()
        late.checkpoint()
        with pytest.raises(ClientError, match="terminated"):
            late.khop(first, 3)
