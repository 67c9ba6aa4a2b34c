"""Importers: JSON lines, triples, tables; complete, or an error that names the place and leaves the graph alone."""

from __future__ import annotations

import datetime
import gzip
import json
import os
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hoplite.errors import CypherError
from hoplite.storage.graph import Graph
from hoplite.storage.importers.jsonl import import_jsonl
from hoplite.storage.importers.tables import load_tables
from hoplite.storage.importers.triples import import_triples
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime

DATA = Path(os.environ.get("HOPLITE_DATA", Path(__file__).parents[2] / ".." / "shared"))


def content(graph: Graph) -> tuple[list[Any], list[Any]]:
    """Nodes as (labels, properties), relationships as (start properties, type, end properties, properties)."""
    snapshot = graph.snapshot()
    nodes = snapshot.nodes()
    maps = dict(zip(nodes.tolist(), snapshot.node_property_maps(nodes), strict=True))
    relationships = snapshot.relationships()
    starts, ends = snapshot.endpoints(relationships)
    types = [snapshot.type_names[code] for code in snapshot.relationship_types(relationships).tolist()]
    properties = snapshot.relationship_property_maps(relationships)
    rows = zip(starts.tolist(), types, ends.tolist(), properties, strict=True)
    return (
        list(zip(snapshot.label_sets(nodes), maps.values(), strict=True)),
        sorted(((maps[start], type, maps[end], own) for start, type, end, own in rows), key=repr),
    )


# --- JSON lines ---

PLAIN = [
    {"type": "node", "id": 7, "labels": ["P"], "properties": {"name": "a", "born": {"$date": "1990-12-01"}}},
    {"type": "node", "id": 9, "labels": ["P", "Q"], "properties": {"at": {"$point": [1.5, 2.5], "crs": "wgs-84"}}},
    {"type": "relationship", "id": 1, "label": "R", "start": 9, "end": 7, "properties": {"w": [1, 2.5], "none": None}},
    {"type": "relationship", "id": 2, "label": "S", "start": 9, "end": 9, "properties": {}},
    {"type": "relationship", "id": 3, "label": "R", "start": 7, "end": 9},
]
APOC = [
    {"type": "node", "id": "7", "labels": ["P"], "properties": {"name": "a", "born": {"$date": "1990-12-01"}}},
    {
        "type": "node",
        "id": "9",
        "labels": ["P", "Q"],
        "properties": {"at": {"crs": "wgs-84", "latitude": 2.5, "longitude": 1.5, "height": None}},
    },
    {
        "id": "1",
        "type": "relationship",
        "label": "R",
        "properties": {"w": [1, 2.5]},
        "start": {"id": "9", "labels": ["P", "Q"]},
        "end": {"id": "7", "labels": ["P"]},
    },
    {"id": "2", "type": "relationship", "label": "S", "start": {"id": "9"}, "end": {"id": "9"}},
    {"id": "3", "type": "relationship", "label": "R", "start": {"id": "7"}, "end": {"id": "9"}},
]


def written(path: Path, lines: list[Any]) -> Path:
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines) + "\n"
    if path.suffix == ".gz":
        with gzip.open(path, "wt", encoding="utf-8") as file:
            file.write(text)
    else:
        path.write_text(text, encoding="utf-8")
    return path


@pytest.mark.parametrize("lines", [PLAIN, APOC], ids=["plain", "apoc"])
@pytest.mark.parametrize("name", ["graph.jsonl", "graph.jsonl.gz"])
@pytest.mark.parametrize("partitions", [1, 3])
def test_json_lines_become_a_graph(tmp_path: Path, lines: list[Any], name: str, partitions: int) -> None:
    graph = Graph(partitions)
    with graph.begin() as tx:
        tx.create_node(["Old"], {"name": "old"})
    assert import_jsonl(graph, written(tmp_path / name, lines)) == {"nodes": 2, "relationships": 3}
    a = {"name": "a", "born": Date.of(1990, 12, 1)}
    b = {"at": Point(4326, (1.5, 2.5))}
    nodes, relationships = content(graph)
    assert nodes == [(("Old",), {"name": "old"}), (("P",), a), (("P", "Q"), b)]
    expected = [(b, "R", a, {"w": [1.0, 2.5]}), (b, "S", b, {}), (a, "R", b, {})]
    assert relationships == sorted(expected, key=repr)
    with graph.begin() as tx:
        assert tx.create_node([], {}) == 3


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("{oops", "not JSON"),
        ("[1]", "not a JSON object"),
        ({"type": "edge"}, "type is neither node nor relationship but 'edge'"),
        ({"type": "node", "labels": []}, "'id' is missing"),
        ({"type": "node", "id": 7, "labels": []}, "a second node with id 7"),
        ({"type": "node", "id": 1, "labels": "P"}, "labels is not a list of strings but 'P'"),
        ({"type": "node", "id": 1, "properties": {"m": {"a": 1}}}, "a map cannot be a property"),
        ({"type": "node", "id": 1, "properties": {"m": [1, "a"]}}, "Neo4j only supports a subset of Cypher types"),
        ({"type": "node", "id": 1, "properties": {"d": {"$date": "2020-02-30"}}}, "Invalid date"),
        ({"type": "node", "id": 1, "properties": {"i": 2**63}}, "beyond 64 bits"),
        ({"type": "relationship", "label": "R", "start": 7, "end": 8}, "no node with id 8 on the lines before"),
    ],
)
def test_a_bad_line_is_named_and_nothing_is_imported(tmp_path: Path, line: Any, reason: str) -> None:
    graph = Graph()
    path = written(tmp_path / "bad.jsonl", [PLAIN[0], line])
    with pytest.raises(CypherError) as caught:
        import_jsonl(graph, path)
    assert caught.value.message.startswith(f"{path}, line 2: ")
    assert reason in caught.value.message
    assert graph.snapshot().node_count == 0 and graph.snapshot().labels() == ()
    graph.begin().rollback()


def test_a_missing_or_damaged_file_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CypherError, match="No such file"):
        import_jsonl(Graph(), tmp_path / "nope.jsonl")
    whole = written(tmp_path / "g.jsonl.gz", PLAIN * 1).read_bytes()
    (tmp_path / "cut.jsonl.gz").write_bytes(whole[:-20])
    with pytest.raises(CypherError, match="cannot be read"):
        import_jsonl(Graph(), tmp_path / "cut.jsonl.gz")


def test_progress_ends_at_the_size_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path / "g.jsonl", PLAIN)
    seen: list[tuple[int, int | None]] = []
    import_jsonl(Graph(), path, progress=lambda done, total: seen.append((done, total)))
    assert seen[-1] == (path.stat().st_size, path.stat().st_size)


def demo_graphs() -> dict[str, Any]:
    index = DATA / "demo" / "graphs.json"
    if not index.exists():
        return {}
    loaded: dict[str, Any] = json.loads(index.read_text())
    return loaded


@pytest.mark.skipif(not demo_graphs(), reason="demo graphs are not beside the project (HOPLITE_DATA)")
@pytest.mark.parametrize("name", sorted(demo_graphs()))
def test_demo_graphs_have_their_counts(name: str) -> None:
    expected = demo_graphs()[name]
    graph = Graph(partitions=1 + len(name) % 3)
    assert import_jsonl(graph, DATA / "demo" / name / "graph.jsonl.gz") == {
        "nodes": expected["nodes"],
        "relationships": expected["relationships"],
    }
    snapshot = graph.snapshot()
    assert {label: snapshot.label_count(label) for label in snapshot.labels()} == expected["labels"]
    assert {type: snapshot.type_count(type) for type in snapshot.type_names} == expected["types"]
    if "property_value_types" not in expected:
        return
    kinds: Counter[str] = Counter()
    for maps in (
        snapshot.node_property_maps(snapshot.nodes()),
        snapshot.relationship_property_maps(snapshot.relationships()),
    ):
        kinds.update(type(value).__name__ for properties in maps for value in properties.values())
    names = {"$point": "Point", "$date": "Date", "$datetime": "DateTime", "$localdatetime": "LocalDateTime"}
    names["$duration"] = "Duration"
    assert kinds == {names.get(kind, kind): count for kind, count in expected["property_value_types"].items()}


# --- triples ---


def test_triples_become_nodes_with_ids(tmp_path: Path) -> None:
    graph = Graph()
    path = written(tmp_path / "t.tsv", ["head\trelation\ttail", "a\tlikes\tb", "b\tlikes\ta", "a\tis a\ta"])
    assert import_triples(graph, path) == {"nodes": 2, "relationships": 3}
    nodes, relationships = content(graph)
    assert nodes == [(("Entity",), {"id": "a"}), (("Entity",), {"id": "b"})]
    assert [(s["id"], type, e["id"]) for s, type, e, _ in relationships] == [
        ("a", "is a", "a"),
        ("a", "likes", "b"),
        ("b", "likes", "a"),
    ]
    assert graph.snapshot().is_unique("Entity", "id")
    more = written(tmp_path / "more.tsv", ["b\tlikes\tc"])
    assert import_triples(graph, more) == {"nodes": 1, "relationships": 1}
    assert graph.snapshot().node_count == 3


def test_a_bad_triple_is_named(tmp_path: Path) -> None:
    graph = Graph()
    with pytest.raises(CypherError, match=r"line 2: expected 3 columns .* found 2"):
        import_triples(graph, written(tmp_path / "t.tsv", ["a\tr\tb", "a\tr"]))
    assert graph.snapshot().node_count == 0


# --- tables ---

DRUGS = {"id": ["d1", "d2", "d3"], "weight": [1.5, None, 2.5], "approved": [True, False, None]}
DISEASES = {"id": [10, 20], "name": ["flu", None]}
TREATS = {"start": ["d1", "d3", "d1"], "end": [20, 10, 20], "since": [1999, None, 2001]}


def as_pandas(table: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(table)


def as_nullable_pandas(table: dict[str, list[Any]]) -> Any:
    return pd.DataFrame(table).convert_dtypes()


def as_numpy(table: dict[str, list[Any]]) -> Any:
    return {name: np.array(values, dtype=object if None in values else None) for name, values in table.items()}


@pytest.mark.parametrize("form", [dict, as_numpy, as_pandas, as_nullable_pandas, pl.DataFrame, pa.table])
def test_tables_of_every_kind_become_the_same_graph(form: Any) -> None:
    graph = Graph(partitions=2)
    made = load_tables(
        graph,
        {"Drug": form(DRUGS), ("Disease", "Thing"): form(DISEASES)},
        {("Drug", "TREATS", "Thing"): form(TREATS)},
    )
    assert made == {"nodes": 5, "relationships": 3}
    nodes, relationships = content(graph)
    d1, d3 = {"id": "d1", "weight": 1.5, "approved": True}, {"id": "d3", "weight": 2.5}
    assert nodes == [
        (("Drug",), d1),
        (("Drug",), {"id": "d2", "approved": False}),
        (("Drug",), d3),
        (("Disease", "Thing"), {"id": 10, "name": "flu"}),
        (("Disease", "Thing"), {"id": 20}),
    ]
    assert relationships == sorted(
        [
            (d1, "TREATS", {"id": 20}, {"since": 1999}),
            (d1, "TREATS", {"id": 20}, {"since": 2001}),
            (d3, "TREATS", {"id": 10, "name": "flu"}, {}),
        ],
        key=repr,
    )
    snapshot = graph.snapshot()
    assert snapshot.is_unique("Drug", "id") and snapshot.is_unique("Disease", "id")
    assert not snapshot.is_unique("Thing", "id")


def test_relationships_may_refer_to_nodes_that_were_there() -> None:
    graph = Graph()
    load_tables(graph, {"Drug": DRUGS}, {})
    with graph.begin() as tx:
        tx.create_node(["Drug"], {"id": "d4"})
    load_tables(graph, {}, {("Drug", "LIKE", "Drug"): {"start": ["d1", "d4"], "end": ["d4", "d2"]}})
    _, relationships = content(graph)
    assert [(s["id"], e["id"]) for s, _, e, _ in relationships] == [("d1", "d4"), ("d4", "d2")]


def test_dates_and_durations_are_kept() -> None:
    zone = datetime.timezone(datetime.timedelta(hours=2))
    moment = datetime.datetime(2020, 5, 1, 12, 30, 15, 250)
    table = {
        "id": [1],
        "date": [datetime.date(1969, 12, 31)],
        "local": [moment],
        "zoned": [moment.replace(tzinfo=zone)],
        "stamp": np.array(["2020-05-01T12:30:15.000250"], "datetime64[us]"),
        "span": [datetime.timedelta(days=1, seconds=5)],
        "list": [[1, 2]],
    }
    graph = Graph()
    load_tables(graph, {"X": table}, {})
    ((_, properties),) = content(graph)[0]
    local = LocalDateTime.of_second(1588336215, 250_000)
    assert properties == {
        "id": 1,
        "date": Date.of(1969, 12, 31),
        "local": local,
        "zoned": DateTime.of_local(local, 7200),
        "stamp": local,
        "span": Duration(0, 1, 5, 0),
        "list": [1, 2],
    }
    again = Graph()
    load_tables(again, {"X": pd.DataFrame({"id": [1], "zoned": [pd.Timestamp(moment, tz=zone)]})}, {})
    assert content(again)[0][0][1]["zoned"] == DateTime.of_local(local, 7200)


@pytest.mark.parametrize(
    ("nodes", "relationships", "message"),
    [
        ({"A": {"x": [1]}}, {}, "nodes['A']: there is no key column 'id'; the columns are x"),
        ({"A": {"id": [1, None]}}, {}, "nodes['A'], row 1: the key 'id' is null"),
        ({"A": {"id": [1, 2], "x": [1]}}, {}, "nodes['A']: columns differ in length: {'id': 2, 'x': 1}"),
        (
            {"A": {"id": [1, 1]}},
            {},
            "nodes['A'], row 1: a node with label 'A' and 'id' = 1 is also in nodes['A'], row 0",
        ),
        (
            {"A": iter([{"id": [1]}, {"id": [1]}])},
            {},
            "Node(0) already exists with label `A` and property `id` = 1",
        ),
        ({"A": {"id": [1], "": [1]}}, {}, "nodes['A']: column 2 has no name: rename it, or leave it out"),
        ({"A": pd.DataFrame({"": [7], "id": [1]})}, {}, "nodes['A']: column 1 has no name"),
        ({"A": pa.table({"": [7], "id": [1]})}, {}, "nodes['A']: column 1 has no name"),
        ({"A": pa.table([pa.array([1])] * 3, ["id", "x", "x"])}, {}, "a name occurs twice among the columns: id, x, x"),
        ({"A": {"id": [1], "m": [{"a": 1}]}}, {}, "nodes['A']: Property values can only be of primitive types"),
        ({"A": 3}, {}, "nodes['A']: expected a table, not int"),
        (
            {"A": {"id": [1]}},
            {("A", "R", "A"): {"start": [1, 2], "end": [1, 1]}},
            "relationships[(A)-[R]->(A)], row 1: start: no node with label 'A' has 'id' = 2",
        ),
        ({"A": {"id": [1]}}, {("A", "R", "A"): {"start": [1]}}, "there is no column 'end'"),
    ],
)
def test_a_bad_table_is_named_and_nothing_is_loaded(nodes: Any, relationships: Any, message: str) -> None:
    graph = Graph()
    with pytest.raises(CypherError) as caught:
        load_tables(graph, nodes, relationships)
    assert message in caught.value.message
    assert graph.snapshot().node_count == 0 and not graph.snapshot().schema.constraints
    load_tables(graph, {"A": {"id": [1]}}, {})
