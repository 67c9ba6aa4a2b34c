"""What programs ask about the shape of a graph, to the letter, on every demo graph; and LOAD CSV of random files."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver
from neo4j.exceptions import Neo4jError
from neo4j.graph import Node, Relationship

import hoplite
from tests.golden.corpus import demo_rows
from tests.neo4j.graphs import load_into
from tests.suites.data import data_folder

CALLS = (
    "CALL apoc.meta.data({sample: -1})",
    "CALL apoc.meta.schema({sample: -1})",
    "CALL apoc.meta.stats() YIELD labelCount, relTypeCount, nodeCount, relCount, labels, relTypes, relTypesCount",
    "CALL apoc.meta.graph()",
    "CALL apoc.meta.graphSample()",
    "CALL apoc.meta.subGraph({})",
    "CALL apoc.meta.nodeTypeProperties({sample: -1})",
    "CALL apoc.meta.relTypeProperties({sample: -1, maxRels: 1000000})",
    "CALL db.schema.visualization()",
    "CALL db.schema.nodeTypeProperties()",
    "CALL db.schema.relTypeProperties()",
    "CALL db.labels()",
    "CALL db.relationshipTypes()",
    "CALL apoc.schema.nodes() YIELD name, label, properties, status, type, failure, populationProgress, size",
    "CALL apoc.schema.relationships()",
)


def graphs() -> list[str]:
    """The demo graphs; none where the recorded data is not there, for this is asked wherever tests are collected."""
    folder = data_folder() / "demo"
    return sorted(path.name for path in folder.iterdir() if path.is_dir()) if folder.exists() else []


def letters(value: Any) -> Any:
    """A value as text; what Neo4j orders by how it stored a graph is sorted."""
    match value:
        case Node():
            return ["node", sorted(value.labels), letters(dict(value))]
        case Relationship():
            return [
                "relationship",
                value.type,
                letters(value.start_node),
                letters(value.end_node),
                letters(dict(value)),
            ]
        case Mapping():
            return {key: letters(value[key]) for key in sorted(value)}
        case list():
            return sorted((letters(item) for item in value), key=lambda item: json.dumps(item, default=str))
        case _:
            return ":".join(sorted(value.split(":"))) if isinstance(value, str) and value.startswith(":`") else value


def answer(records: Iterable[Any]) -> list[str]:
    return sorted(json.dumps([letters(value) for value in record.values()], default=str) for record in records)


@pytest.mark.neo4j
@pytest.mark.parametrize("graph", graphs() or [pytest.param("", marks=pytest.mark.skip(reason="no demo graphs"))])
def test_metadata_is_the_same_on_a_demo_graph(empty: Driver, graph: str) -> None:
    load_into(empty, *demo_rows(graph))
    with hoplite.import_neo4j(empty) as db:
        for call in CALLS:
            here, there = answer(db.run(call)), answer(empty.execute_query(call).records)
            assert here == there, call


def random_file(choices: random.Random, terminator: str) -> str:
    style = choices.choice(("plain", "quoted", "mixed", "any"))
    special = ['""', "\n", "\r\n", terminator, "\\\\", '\\"', "\\n", "\u65e5", "\\"]

    def field() -> str:
        length = choices.randrange(6)
        if style == "plain":
            return "".join(choices.choices("abc 1\xe9'\\", k=length))
        if style == "quoted" or (style == "mixed" and choices.random() < 0.5):
            inside = "".join(choices.choices(["a", "b", " ", *special], k=length))
            return f'"{inside.rstrip(chr(92))}"'
        if style == "mixed":
            return "".join(choices.choices(["a", "1", "", "\\", " "], k=length))
        return "".join(choices.choices(['"', '"', "a", terminator, "\n", "\r", "\\", " "], k=length))

    end = choices.choice(("\n", "\r\n", "\r", "\n\n"))
    rows = [terminator.join(field() for _ in range(choices.randrange(1, 7))) for _ in range(choices.randrange(8))]
    return end.join(rows) + choices.choice((end, ""))


@pytest.mark.neo4j
def test_random_files_are_read_alike(empty: Driver) -> None:
    setting = "SHOW SETTINGS YIELD name, value WHERE name = 'server.directories.import' RETURN value"
    folder = Path(empty.execute_query(setting).records[0]["value"])
    if not folder.is_dir():
        pytest.skip(f"the server's folder of imports is not on this machine: {folder}")

    def outcome(records: Any, query: str) -> Any:
        try:
            return [list(record.values()) for record in records(query)]
        except Neo4jError as error:
            return error.code, error.message

    with hoplite.open(import_folder=folder) as db:
        for seed in range(300):
            choices = random.Random(seed)
            terminator = choices.choice([",", ",", ";", "|", " ", "a", '"'])
            (folder / "random.csv").write_text(random_file(choices, terminator), encoding="utf-8", newline="")
            headers = choices.choice(["", "WITH HEADERS "])
            query = f"LOAD CSV {headers}FROM 'file:///random.csv' AS r FIELDTERMINATOR '{terminator}' RETURN r"
            assert outcome(db.run, query) == outcome(lambda text: empty.execute_query(text).records, query), (
                seed,
                query,
            )
