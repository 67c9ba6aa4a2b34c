"""What lies around seeds, ranked, with paths: held against `khop`; and what becomes of it in a prompt."""

from __future__ import annotations

import numpy as np
import pytest
from neo4j.graph import Node

import hoplite
from hoplite.engine.hops import BackendName
from hoplite.retrieval import Neighbourhood, NodeSets, Verbaliser, contexts, first_within, neighbourhood
from hoplite.retrieval.sets import Direction
from hoplite.retrieval.verbalise import type_words
from tests.hops.backends import every_backend
from tests.retrieval.test_sets import random_graph


def number(node: Node) -> int:
    return int(node.element_id.rpartition(":")[2])


def distances(found: Neighbourhood, question: int) -> dict[int, int]:
    rows = found.question == question
    return dict(zip(found.nodes[rows].tolist(), found.distance[rows].tolist(), strict=True))


@every_backend
@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_neighbourhoods_of_many_questions_are_their_k_hop_balls(direction: Direction, backend: BackendName) -> None:
    with random_graph(11, backend) as db:
        seeds = [[0], [1, 5], [2], []]
        found = neighbourhood(db, seeds, 3, direction=direction, types=["A", "B"])
        for question, own in enumerate(seeds):
            for node, distance in distances(found, question).items():
                ball = db.khop(own, distance, direction, ["A", "B"], exact=True)
                assert node in ball.tolist()
            ball = db.khop(own, 3, direction, ["A", "B"]) if own else np.zeros(0)
            assert sorted(distances(found, question)) == sorted(ball.tolist())


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_paths_are_shortest_and_lead_from_a_seed_to_each_node(direction: Direction) -> None:
    with random_graph(13) as db:
        found = neighbourhood(db, [[0], [1, 5]], 3, direction=direction)
        paths = found.paths()
        away = found.distance > 0
        assert len(paths) == away.sum()
        assert paths.lengths.tolist() == found.distance[away].tolist()
        assert paths.question.tolist() == found.question[away].tolist()
        for path, end, question in zip(paths, found.nodes[away].tolist(), paths.question.tolist(), strict=True):
            assert number(path.nodes[-1]) == end
            assert number(path.nodes[0]) in ([0], [1, 5])[question]
            for before, one, after in zip(path.nodes, path.relationships, path.nodes[1:], strict=False):
                ends = (one.start_node, one.end_node)
                assert ends == ((before, after) if direction == "out" else (after, before)) or (
                    direction == "both" and ends in ((before, after), (after, before))
                )


def test_there_are_as_many_paths_as_there_are_shortest_ones_up_to_each() -> None:
    with hoplite.open() as db:
        db.run(
            "CREATE (a:N {name: 'a'}), (b:N {name: 'b'}) FOREACH (i IN range(1, 4) | CREATE (a)-[:R]->(:M)-[:R]->(b))"
        )
        b = db.run("MATCH (n {name: 'b'}) RETURN id(n)").values()[0][0]
        to_b = neighbourhood(db, [[0]], 2).among(NodeSets.of([[b]]))
        assert [len(to_b.paths(each)) for each in (1, 3, 9)] == [1, 3, 4]
        assert len({tuple(map(number, path.nodes)) for path in to_b.paths(9)}) == 4


def test_paths_through_a_hub_lead_from_every_seed_next_to_it() -> None:
    with hoplite.open() as db:
        db.run("""CREATE (one:N), (two:N), (hub:N), (one)-[:R]->(hub), (one)-[:S]->(hub), (hub)-[:R]->(two)
                  FOREACH (i IN range(1, 200) | CREATE (hub)-[:R]->(:Leaf))""")
        found = neighbourhood(db, [[0, 1], [1], [0]], 2).with_label("Leaf").best(1)
        paths = found.paths(9)
        assert paths.question.tolist() == [0, 0, 0, 1, 2, 2]
        assert [number(path.nodes[0]) for path in paths] == [0, 0, 1, 1, 0, 0]
        assert len({path.relationships[0].element_id for path in paths}) == 3


def test_the_best_of_each_question_come_first_and_others_cost_no_path() -> None:
    with random_graph(17) as db:
        found = neighbourhood(db, [[0], [3]], 3)
        scored = found.scored(found.nodes.astype(float))
        best = scored.best(2)
        for question in (0, 1):
            expected = sorted(distances(found, question), reverse=True)[:2]
            assert best.nodes[best.question == question].tolist() == expected
        assert best.sets().sizes.tolist() == [2, 2]
        assert len(best.paths()) == (best.distance > 0).sum()
        with pytest.raises(ValueError, match="scores of the shape"):
            found.scored(np.zeros(3))


def test_labels_and_nearness_decide() -> None:
    with hoplite.load_sample() as db:
        aspirin = db.run("MATCH (d:Drug {name: 'Aspirin'}) RETURN id(d)").values()[0][0]
        found = neighbourhood(db, [[aspirin]], 2).with_label("Disease")
        assert found.scores.max() == found.best(1).scores[0]
        labels = {label for path in found.best(5).paths() for label in path.nodes[-1].labels}
        assert labels == {"Disease"}


def test_sentences_say_the_start_first_and_where_it_comes_from() -> None:
    with hoplite.open() as db:
        db.run("""CREATE (a:Drug {name: 'Aspirin'}), (h:Disease {title: 'Headache'}),
                  (a)-[:TREATS {source: 'X', pmids: [1, 2]}]->(h)<-[:IS_A]-(:Disease)""")
        said = Verbaliser(provenance=["source", "pmids"], templates={"IS_A": "{start} is a kind of {end}"})
        paths = neighbourhood(db, [[0]], 2).paths()
        first = "Aspirin treats Headache [source: X; pmids: 1, 2]"
        assert said.paths(paths) == [first, f"{first}; Disease 2 is a kind of Headache"]
        assert said.relationships(db, np.array([1])) == ["Disease 2 is a kind of Headache"]
        assert said.nodes(db, np.array([1, 0])) == ["Headache", "Aspirin"]
        facts = contexts(paths, 2, 1_000, verbaliser=said, form="facts")
        assert facts[0].lines == (first, "Disease 2 is a kind of Headache")
        assert (facts[1].lines, facts[1].tokens) == ((), 0)


def test_a_budget_keeps_the_first_lines_of_each_question() -> None:
    question, tokens = np.array([0, 0, 0, 2, 2]), np.array([4, 5, 1, 9, 1])
    assert first_within(question, tokens, 9).tolist() == [True, True, False, True, False]
    assert first_within(question[:0], tokens[:0], 9).tolist() == []
    with hoplite.load_sample() as db:
        paths = neighbourhood(db, [[0], [1]], 2).best(30).paths()
        for context in contexts(paths, 2, 100):
            assert 0 < context.tokens <= 100
            assert context.left_out + len(context.lines) <= 30
            assert context.left_out > 0


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("HAS_SYMPTOM", "has symptom"),
        ("people.person.place_of_birth", "place of birth"),
        ("actedIn", "acted in"),
        ("CiD", "ci d"),
    ],
)
def test_types_in_words(name: str, words: str) -> None:
    assert type_words(name) == words


def test_a_negative_number_of_hops_is_refused() -> None:
    with random_graph(13) as db, pytest.raises(ValueError, match="0 or more, not -1"):
        neighbourhood(db, [[0]], -1)
