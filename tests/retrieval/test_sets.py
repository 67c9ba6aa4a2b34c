"""Steps and chains for many questions at once, held against what Cypher matches."""

from __future__ import annotations

import itertools
import random
from typing import Any

import numpy as np
import pytest
from neo4j.exceptions import Neo4jError

import hoplite
from hoplite.engine.hops import BackendName
from hoplite.retrieval import NodeSets, Step, expand, follow, steps_at
from hoplite.retrieval.sets import Direction
from tests.hops.backends import every_backend

_TYPES = ("A", "B", "C")
_DIRECTIONS: tuple[Direction, ...] = ("out", "in", "both")


def random_graph(
    seed: int, backend: BackendName = "auto", nodes: int = 12, relationships: int = 30
) -> hoplite.Database:
    """A multigraph with loops and parallel relationships; the last few are written after the load, some removed."""
    dice = random.Random(seed)
    db = hoplite.open(backend=backend)
    db.run("UNWIND range(1, $n) AS i CREATE (:N {i: i})", n=nodes)
    for _ in range(relationships):
        ends = {"a": dice.randint(1, nodes), "b": dice.randint(1, nodes)}
        db.run(f"MATCH (a:N {{i: $a}}), (b:N {{i: $b}}) CREATE (a)-[:{dice.choice(_TYPES)}]->(b)", ends)
    db.run("MATCH ()-[r]->() WITH r ORDER BY id(r) LIMIT 2 DELETE r")
    return db


def pattern(chain: list[Step]) -> str:
    arrows = {"out": ("-", "->"), "in": ("<-", "-"), "both": ("-", "-")}
    text = "(a)"
    for number, (types, direction) in enumerate(chain):
        before, after = arrows[direction]
        kinds = "" if types is None else ":" + "|".join(types)
        text += f"{before}[{kinds}]{after}(n{number})"
    return text


def matched(db: hoplite.Database, start: int, chain: list[Step]) -> set[int]:
    text = f"MATCH {pattern(chain)} WHERE id(a) = $start RETURN DISTINCT id(n{len(chain) - 1}) AS end"
    return {row["end"] for row in db.run(text, start=start)}


def random_chain(dice: random.Random) -> list[Step]:
    return [
        Step(
            dice.choice([None, *itertools.combinations(_TYPES, 1), *itertools.combinations(_TYPES, 2)]),
            dice.choice(_DIRECTIONS),
        )
        for _ in range(dice.randint(1, 4))
    ]


@every_backend
@pytest.mark.parametrize("seed", range(4))
def test_chains_end_where_cypher_ends(seed: int, backend: BackendName) -> None:
    dice = random.Random(seed)
    with random_graph(seed, backend) as db:
        ids = [row[0] for row in db.run("MATCH (n) RETURN id(n)").values()]
        chains = [random_chain(dice) for _ in range(15)]
        starts = [dice.choice(ids) for _ in chains]
        found = follow(db, NodeSets.of(starts), chains)
        for number, (start, chain) in enumerate(zip(starts, chains, strict=True)):
            assert set(found[number].tolist()) == matched(db, start, chain), pattern(chain)
            assert len(found[number]) == len(set(found[number].tolist()))


def test_one_chain_for_all_sets_is_the_union_over_the_starts_of_each() -> None:
    chain = [Step(("A", "B"), "both"), Step(None, "both")]
    with random_graph(7) as db:
        found = follow(db, NodeSets.of([[0, 1], [], [2]]), chain)
        assert set(found[0].tolist()) == matched(db, 0, chain) | matched(db, 1, chain)
        assert found.sizes[1] == 0
        assert set(found[2].tolist()) == matched(db, 2, chain)


def test_without_uniqueness_a_chain_may_go_back() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:Film)-[:DIRECTED_BY]->(:Person)")
        there_and_back = [Step(("DIRECTED_BY",)), Step(("DIRECTED_BY",), "in")]
        assert follow(db, NodeSets.of([0]), there_and_back).sizes.tolist() == [0]
        assert follow(db, NodeSets.of([0]), there_and_back, unique=False)[0].tolist() == [0]


def test_very_many_sets_are_followed_piece_by_piece() -> None:
    chain = [Step(("A",), "both"), Step(("A",), "both"), Step(("A",), "both")]
    with random_graph(3) as db:
        expected = {start: matched(db, start, chain) for start in range(12)}
        starts = [number % 12 for number in range(5_000)]
        found = follow(db, NodeSets.of(starts), chain)
        assert all(set(found[number].tolist()) == expected[start] for number, start in enumerate(starts))


@pytest.mark.parametrize("seed", range(3))
def test_steps_of_their_own_lead_each_set_on(seed: int) -> None:
    dice = random.Random(seed)
    with random_graph(seed) as db:
        sets = [[dice.randrange(12) for _ in range(dice.randint(0, 3))] for _ in range(20)]
        steps = [random_chain(dice)[0] for _ in sets]
        found = expand(db, NodeSets.of(sets), steps)
        for number, (nodes, step) in enumerate(zip(sets, steps, strict=True)):
            expected = set().union(*(matched(db, node, [step]) for node in nodes))
            assert set(found[number].tolist()) == expected
            assert len(found[number]) == len(expected)


def test_steps_at_are_those_that_lead_somewhere() -> None:
    with random_graph(5) as db:
        sets = NodeSets.of([[node] for node in range(12)] + [[]])
        every = [Step((name,), direction) for name in _TYPES for direction in ("in", "out")]
        for number, listed in enumerate(steps_at(db, sets)):
            start = number if number < 12 else -1
            assert listed == [step for step in every if matched(db, start, [step])]


def test_a_node_that_does_not_exist_is_an_error() -> None:
    with random_graph(1) as db:
        for asked in (lambda: expand(db, NodeSets.of([99]), Step(None)), lambda: steps_at(db, NodeSets.of([99]))):
            with pytest.raises(Neo4jError, match="There is no node with id 99"):
                asked()


def test_steps_and_chains_are_as_many_as_sets() -> None:
    with random_graph(1) as db:
        with pytest.raises(ValueError, match="1 sets and 2 steps"):
            expand(db, NodeSets.of([0]), [Step(None), Step(None)])
        with pytest.raises(ValueError, match="1 sets and 2 chains"):
            follow(db, NodeSets.of([0]), [[Step(None)], [Step(None)]])
        with pytest.raises(ValueError, match="direction is 'out'"):
            expand(db, NodeSets.of([0]), Step(None, "up"))  # type: ignore[arg-type]


def test_sets_are_taken_by_number() -> None:
    sets = NodeSets.of([[1, 2], 3, []])
    assert [sets[number].tolist() for number in (0, 1, -1)] == [[1, 2], [3], []]
    with pytest.raises(IndexError):
        sets[3]


@pytest.mark.parametrize(
    ("given", "named"),
    [
        (["Aspirin"], "'Aspirin'"),
        ([["Aspirin", 1]], "'Aspirin'"),
        ([[1, 2.5]], "2.5"),
        ([2.0], "2.0"),
        ([None], "None"),
        ([[[1, 2], [3]]], r"\[1, 2\]"),
        ("Aspirin", "'Aspirin' is a text"),
        ([2**70], str(2**70)),
    ],
)
def test_sets_are_made_of_ids_only(given: Any, named: str) -> None:
    with pytest.raises(ValueError, match=f"ids.*{named}"):
        NodeSets.of(given)


def test_ids_come_in_many_forms() -> None:
    sets = NodeSets.of([np.array([3, 1], np.int32), {5}, (2,), 7, np.int64(8), [], np.array([])])
    assert [sets[number].tolist() for number in range(len(sets))] == [[3, 1], [5], [2], [7], [8], [], []]


def test_a_step_takes_one_type_or_several() -> None:
    assert Step("A") == Step(["A"]) == Step(("A",), "out") == (("A",), "out")
    assert Step(None, "in") == (None, "in")
    with random_graph(1, "numpy") as db:
        start = NodeSets.of([db.run("MATCH (n) RETURN id(n) LIMIT 1").value()[0]])
        for kind in _TYPES:
            one, several = (expand(db, start, Step(types)) for types in (kind, [kind]))
            assert one.nodes.tolist() == several.nodes.tolist()
            assert follow(db, start, [Step(kind), Step([kind], "both")]).nodes.tolist() == (
                follow(db, start, [Step((kind,)), Step((kind,), "both")]).nodes.tolist()
            )
