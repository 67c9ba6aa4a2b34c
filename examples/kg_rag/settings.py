"""What the program runs on: BiomixQA's questions over Hetionet, or questions made of the graph that ships."""

from __future__ import annotations

import random
from dataclasses import dataclass
from pathlib import Path

import hoplite
from examples.datasets import MissingData, data_path
from examples.datasets.hetionet import read_hetionet
from examples.datasets.plain_graph import PlainGraph, sample_graph
from examples.kg_rag.builder import Builder
from examples.kg_rag.questions import Question, disease_names, read_questions
from hoplite.retrieval import Embed, Linker

METAEDGES = ("DaG", "DuG", "DdG", "DpS", "DlA", "DrD", "CtD", "CpD", "GiG")


@dataclass(frozen=True, slots=True)
class Setting:
    """Questions, a graph to answer them from, names that questions may mention, and where recorded answers lie."""

    title: str
    db: hoplite.Database
    questions: list[Question]
    label: str
    spotted: hoplite.Database | None = None
    recorded: Path | None = None

    def builder(self, embed: Embed, least_link: float) -> Builder:
        """A builder that takes a node for a mention whose link scores at least so much."""
        linker = Linker(self.db, [(self.label, "name"), (self.label, "synonyms")], embed=embed)
        spotter = None if self.spotted is None else Linker(self.spotted, [("Name", "name")])
        return Builder(self.db, embed, linker, spotter, least_link=least_link)


def biomixqa() -> Setting:
    """306 questions over Hetionet, which knows 25 of their 99 diseases by name.

    Raises `MissingData` where one of the two is not there.
    """
    folder = data_path("kg", "biomixqa")
    db = read_hetionet(METAEDGES).database()
    names = disease_names(folder)
    synonyms: dict[str, list[str]] = {}
    for name, id in names:
        synonyms.setdefault(f"Disease::{id}", []).append(name)
    rows = [[id, some] for id, some in synonyms.items()]
    db.run("UNWIND $rows AS row MATCH (d:Disease {id: row[0]}) SET d.synonyms = row[1]", rows=rows)
    spotted = hoplite.open()
    spotted.load({"Name": {"name": [name for name, _ in names]}}, key=None)
    return Setting("BiomixQA over Hetionet", db, read_questions(folder), "Disease", spotted, folder / "recorded")


def sample() -> Setting:
    """Questions about drugs that two diseases share, on the graph that ships: they only show that the program runs."""
    graph = sample_graph()
    questions = shared_questions(graph, "Disease", "Drug", 40)
    return Setting("questions made of the sample graph", graph.database(), questions, "Disease")


def shared_questions(graph: PlainGraph, label: str, asked: str, most: int) -> list[Question]:
    """Questions for what two nodes of a label have in common: one option is next to both, four to neither."""
    rng = random.Random(4)
    around: dict[str, set[str]] = {}
    for start, _, end in graph.edges:
        around.setdefault(start, set()).add(end)
        around.setdefault(end, set()).add(start)
    wanted = sorted(id for id, (_, kind) in graph.nodes.items() if kind == asked)
    pairs = [(one, other) for one in around for other in around if one < other and _are(graph, label, one, other)]
    made: list[Question] = []
    for one, other in rng.sample(sorted(pairs), len(pairs)):
        shared = sorted(set(wanted) & around[one] & around[other])
        others = [id for id in wanted if id not in around[one] | around[other]]
        if shared and len(others) >= 4 and len(made) < most:
            gold = rng.choice(shared)
            options = [graph.nodes[id][0] for id in rng.sample([gold, *rng.sample(others, 4)], 5)]
            names = (graph.nodes[one][0], graph.nodes[other][0])
            text = f"Out of the given list, which {asked} is associated with {names[0]} and {names[1]}. "
            text += f"Given list is: {', '.join(options)}"
            made.append(Question(text, tuple(options), graph.nodes[gold][0], names))
    return made


def _are(graph: PlainGraph, label: str, *ids: str) -> bool:
    return all(graph.nodes[id][1] == label for id in ids)


def best_setting() -> Setting:
    """BiomixQA where the data is, else the sample graph, with a word about what is missing."""
    try:
        return biomixqa()
    except MissingData as missing:
        print(f"{missing}\nWithout it the program runs on Hoplite's sample graph.\n")
        return sample()
