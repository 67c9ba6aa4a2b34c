"""Digests of answers, the shapes, and the reference that the benchmark compares engines with."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from benchmarks.answers import ids_digest, ordered_digest, paths_digest, rows_digest
from benchmarks.by_hand import ByHand
from benchmarks.contest import Contender, Effort, Lost, Part, contenders, run_balls, run_batches, run_queries
from benchmarks.limit import Limit
from benchmarks.shapes import Shape, asked_drug, ibkh, umls
from benchmarks.store import ball_seeds, load_shape, store_shape
from benchmarks.tables import answers_that_differ
from benchmarks.workloads import WORKLOADS, label_pairs

SCALE = 0.005
EFFORT = Effort(queries=4, rounds=1, seconds=5.0, repeat=2, batch_sizes=(3,))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("shapes")


def test_a_digest_is_of_a_set_of_ids_without_their_order() -> None:
    assert ids_digest(np.array([3, 1, 2])) == ids_digest(np.array([1, 2, 3], np.int32).astype(np.int64))
    assert ids_digest(np.array([1, 2])) != ids_digest(np.array([1, 2, 2]))
    assert ids_digest(np.array([1, 2])) != ids_digest(np.array([1, 3]))


def test_a_digest_of_rows_sees_values_and_how_often_they_come() -> None:
    assert rows_digest([("a", 1), ("b", 2)]) == rows_digest([("b", np.int64(2)), ("a", 1)])
    assert rows_digest([("a", 1)]) != rows_digest([("a", 1), ("a", 1)])
    assert rows_digest([("a", "b c")]) != rows_digest([("a b", "c")])
    assert ordered_digest([("a",), ("b",)]) != ordered_digest([("b",), ("a",)])


def test_any_choice_of_different_paths_is_right_and_nothing_else() -> None:
    def exists(path: tuple[int, ...]) -> bool:
        return path[0] == 0

    right = paths_digest([(0, 1), (0, 2)], 2, exists)
    assert paths_digest([(0, 3), (0, 4)], 2, exists) == right
    assert paths_digest([(0, 1), (0, 1)], 2, exists) != right
    assert paths_digest([(0, 1)], 2, exists) != right
    assert paths_digest([(0, 1), (1, 2)], 2, exists) == "(1, 2) is not a path"


@pytest.mark.parametrize("make", [umls, ibkh])
def test_a_shape_has_no_loops_and_no_relationship_twice_and_comes_out_the_same(
    make: Callable[[float], Shape],
) -> None:
    shape, again = make(SCALE), make(SCALE)
    assert np.array_equal(shape.start, again.start)
    assert np.array_equal(shape.end, again.end)
    assert (shape.start != shape.end).all()
    triples = np.stack((shape.start, shape.end, shape.type))
    assert np.unique(triples, axis=1).shape == triples.shape
    assert shape.end.max() < shape.node_count


def test_interactions_go_both_ways_and_every_type_joins_two_labels() -> None:
    shape = ibkh(SCALE)
    start, end = shape.ends("INTERACTS_WITH")
    assert set(zip(start.tolist(), end.tolist(), strict=True)) == set(zip(end.tolist(), start.tolist(), strict=True))
    for name, (start_label, end_label) in label_pairs(shape).items():
        start, end = shape.ends(name)
        assert np.isin(start, shape.nodes(start_label)).all(), name
        assert np.isin(end, shape.nodes(end_label)).all(), name


def test_a_stored_shape_is_the_shape(folder: Path) -> None:
    shape = load_shape(folder, store_shape(folder, "ibkh", SCALE))
    made = ibkh(SCALE)
    assert shape.names == made.names
    assert np.array_equal(shape.type, made.type)
    assert asked_drug(shape) == asked_drug(made)


def test_the_limit_is_the_ball_that_sets_give() -> None:
    shape = umls(SCALE)
    neighbours: dict[int, set[int]] = {}
    for start, end in zip(shape.start.tolist(), shape.end.tolist(), strict=True):
        neighbours.setdefault(start, set()).add(end)
    limit = Limit(shape)
    for seeds in ball_seeds(shape, 5):
        for k in range(4):
            ball = set(seeds.tolist())
            for _ in range(k):
                ball = ball.union(*(neighbours.get(node, set()) for node in ball))
            assert sorted(limit.ball(seeds.astype(np.int32), k).tolist()) == sorted(ball)


def test_answers_by_hand_are_the_rows_that_loops_give() -> None:
    shape = ibkh(SCALE)
    hand = ByHand(shape)
    name = shape.names
    causes = list(zip(*(side.tolist() for side in shape.ends("CAUSES")), strict=True))
    treats = list(zip(*(side.tolist() for side in shape.ends("TREATS")), strict=True))
    asthma = {node for node in shape.nodes("Disease").tolist() if "asthma" in name[node].lower()}
    drugs = {drug for drug, disease in treats if disease in asthma}
    assert asthma
    assert set(hand.rows("b")) == {(name[effect], name[drug]) for drug, effect in causes if drug in drugs}
    effects: dict[str, set[str]] = {}
    for drug, effect in causes:
        effects.setdefault(name[drug], set()).add(name[effect])
    top = sorted(((text, len(some)) for text, some in effects.items()), key=lambda pair: (-pair[1], pair[0]))
    assert hand.rows("d1") == top[:10]
    interactions = list(zip(*(side.tolist() for side in shape.ends("INTERACTS_WITH")), strict=True))
    near = [end for start, end in interactions if start == hand.asked]
    assert hand.rows("c2") == [(len(near) + sum(start in near for start, _ in interactions),)]
    first = near[0]
    assert hand.is_path((hand.asked, first))
    assert not hand.is_path((first, hand.asked))


def test_hoplite_is_measured_and_agrees_with_the_reference(folder: Path) -> None:
    """Through the same processes as the benchmark, next to an engine that is always installed."""
    stored = store_shape(folder, "umls", SCALE)
    part = Part("umls", 0, 0)
    load = {"do": "load_ball", "shape": stored, "queries": EFFORT.queries}
    with contenders(["hoplite", "numpy"], folder, part, EFFORT, load, print) as running:
        run_balls(part, running, EFFORT, print)
    assert {row.engine for row in part.rows} == {"hoplite", "numpy"}
    assert all(len(row.samples["5"].time) == EFFORT.queries for row in part.rows)
    assert [row.samples["3"].problem for row in part.rows] == [""] * len(part.rows)
    assert answers_that_differ(part) == []
    batches = Part("umls", 0, 0)
    with contenders(["hoplite"], folder, batches, EFFORT, load, print, ways="batches") as running:
        run_batches(batches, running, EFFORT, print)
    assert all(len(row.samples["3 queries at k=2"].digest) == 3 for row in batches.rows)
    assert answers_that_differ(batches) == []


def test_hoplites_rows_are_those_by_hand(folder: Path) -> None:
    part = Part("ibkh", 0, 0)
    load = {"do": "load_queries", "shape": store_shape(folder, "ibkh", SCALE * 4)}
    with contenders(["hoplite"], folder, part, EFFORT, load, print) as running:
        run_queries(part, running, EFFORT, print)
    assert [row.samples[workload.key].problem for row in part.rows for workload in WORKLOADS] == [""] * 16
    assert answers_that_differ(part) == []


def test_an_engine_that_is_not_there_is_left_out_with_the_reason(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NEO4J_URI", raising=False)
    with pytest.raises(Lost, match="NEO4J_URI is not set"):
        Contender("neo4j", folder, tmp_path, "wall")
    part = Part("umls", 0, 0)
    load = {"do": "load_queries", "shape": "missing"}
    with contenders(["numpy"], folder, part, EFFORT, load, print) as running:
        assert running == []
    assert "FileNotFoundError" in part.absent["numpy"]
