"""Questions with the chain of relationships that answers them: MetaQA's, or some made for the sample graph."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import hoplite
from examples.datasets import data_path, rows_of
from hoplite.retrieval import Linker, NodeSets, Step, expand, steps_at
from hoplite.retrieval.verbalise import type_words

_METAQA_TYPES = {
    "director": "directed_by",
    "actor": "starred_actors",
    "writer": "written_by",
    "genre": "has_genre",
    "year": "release_year",
    "language": "in_language",
    "tags": "has_tags",
    "tag": "has_tags",
    "imdbrating": "has_imdb_rating",
    "imdbvotes": "has_imdb_votes",
}

_NAMESAKES = 10  # nodes of one name, at most


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the entity that it is about, the chain of steps that answers it, and the names of its answers."""

    text: str
    topic: str
    chain: tuple[Step, ...]
    answers: frozenset[str]

    @property
    def masked(self) -> str:
        """The text without the name in it, which says nothing about the way to go."""
        return re.sub(r"\[.*\]", "it", self.text)


@dataclass(frozen=True)
class Quiz:
    """A graph and its questions by their number of hops; nodes are called by `name_key`."""

    title: str
    db: hoplite.Database
    name_key: str
    questions: dict[int, list[Question]]

    def seeds(self, questions: Sequence[Question]) -> NodeSets:
        """The nodes of the name that each question is about; none where it is not known."""
        links = self._linker.link([one.topic for one in questions], ways=["exact"], most=_NAMESAKES)
        return NodeSets(links.offsets, links.nodes)

    @cached_property
    def _linker(self) -> Linker:
        return Linker(self.db, [(label, self.name_key) for label in self.db.schema()["labels"]])

    @cached_property
    def names(self) -> dict[int, str]:
        """What each node is called."""
        return dict(self.db.run(f"MATCH (n) RETURN id(n), n.`{self.name_key}`").values())

    @property
    def types(self) -> list[str]:
        """The relationship types."""
        return sorted(self.db.schema()["relationship_types"])


def metaqa(most: int | None = None, seed: int = 0) -> Quiz:
    """The graph and the questions of MetaQA; for each number of hops some at random, or all."""
    folder = data_path("kg", "metaqa")
    db = hoplite.open()
    db.import_triples(folder / "kb.tsv.gz")
    questions: dict[int, list[Question]] = {}
    for hops in (1, 2, 3):
        rows = list(rows_of(folder / f"qa_{hops}hop_dev.tsv.gz"))[1:]
        if most is not None and most < len(rows):
            rows = random.Random(seed).sample(rows, most)
        questions[hops] = [
            Question(text, topic, chain_of(kind), frozenset(answers.split("|"))) for text, topic, kind, answers in rows
        ]
    return Quiz("MetaQA", db, "id", questions)


def chain_of(kind: str) -> tuple[Step, ...]:
    """The steps of a kind of question: `movie_to_actor_to_movie` goes along starred_actors, and back."""
    return tuple(
        Step((_METAQA_TYPES[end],), "out") if start == "movie" else Step((_METAQA_TYPES[start],), "in")
        for start, end in pairwise(kind.split("_to_"))
    )


def sample_quiz(most: int = 60, seed: int = 0) -> Quiz:
    """Questions made for the sample graph: random chains that lead somewhere, said in the words of their types."""
    db = hoplite.load_sample()
    dice = random.Random(seed)
    names: dict[int, str] = dict(db.run("MATCH (n) RETURN id(n), n.name").values())
    questions: dict[int, list[Question]] = {1: [], 2: [], 3: []}
    for hops, found in questions.items():
        while len(found) < most:
            start = dice.choice(sorted(names))
            chain = _walk(db, start, hops, dice)
            if chain:
                topic = names[start]
                rows = db.run(f"MATCH {_pattern(chain)} RETURN DISTINCT n{hops}.name", topic=topic).values()
                answers = frozenset(name for (name,) in rows) - {topic}
                if answers:
                    found.append(Question(_text(topic, chain), topic, chain, answers))
    return Quiz("the sample graph", db, "name", questions)


def _walk(db: hoplite.Database, start: int, hops: int, dice: random.Random) -> tuple[Step, ...]:
    """Steps that lead on from a node, each chosen at random; none where there is no way on."""
    sets, chain = NodeSets.of([start]), []
    for _ in range(hops):
        (there,) = steps_at(db, sets)
        if not there:
            return ()
        chain.append(dice.choice(there))
        sets = expand(db, sets, chain[-1])
    return tuple(chain)


def _pattern(chain: Sequence[Step]) -> str:
    text = "(n0 {name: $topic})"
    for number, (types, direction) in enumerate(chain, start=1):
        before, after = ("-", "->") if direction == "out" else ("<-", "-")
        text += f"{before}[:{(types or ('',))[0]}]{after}(n{number})"
    return text


def _text(topic: str, chain: Sequence[Step]) -> str:
    ways = [f"{type_words((types or ('',))[0])}{'' if way == 'out' else ' of'}" for types, way in chain]
    return f"what is reached from [{topic}] by {', then '.join(ways)}"
