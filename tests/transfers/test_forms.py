"""The forms that are read: headers and types of CSV, mappings, N-Triples, other libraries; and rows that are bad."""

from __future__ import annotations

import gzip
import inspect
import json
from pathlib import Path
from typing import Any

import igraph  # type: ignore[import-untyped]
import networkx  # type: ignore[import-untyped]
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from neo4j.exceptions import ClientError
from neo4j.spatial import WGS84Point
from neo4j.time import Date

import hoplite
from hoplite.storage.importers import neo4j_server, networks, triples
from hoplite.storage.importers.csv import CsvFiles, CsvFormat


def write(path: Path, *lines: str) -> Path:
    text = "\n".join(lines) + "\n"
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(text.encode()))
    else:
        path.write_text(text, encoding="utf-8")
    return path


def rows(db: hoplite.Database, query: str) -> list[dict[str, Any]]:
    return db.run(query).data()


def is_empty(db: hoplite.Database) -> bool:
    return rows(db, "MATCH (n) RETURN count(n) AS n") == [{"n": 0}]


# --- neo4j-admin CSV ---


def test_headers_types_groups_and_several_files(tmp_path: Path) -> None:
    people = write(
        tmp_path / "people-header.csv", "personId:ID(Person){id-type:long},name,born:date,scores:float[],:LABEL"
    )
    part_1 = write(tmp_path / "people-1.csv", '1,"Ann, the ""first""",2001-02-03,1.5;2,Admin;Staff', "2,Bob,,,")
    part_2 = write(tmp_path / "people-2.csv.gz", '3,"",2000-01-01,"",')
    films = write(tmp_path / "films.csv", ":ID(Film),title:string,place:point{crs:WGS-84},:IGNORE",
                  '1,Alien,"{latitude: 55.5, longitude: 12.5}",x')  # fmt: skip
    acted = write(tmp_path / "acted.csv", ":START_ID(Person),roles:string[],:END_ID(Film),:TYPE",
                  "1,Ripley;Ash,1,ACTED_IN", "3,,1,")  # fmt: skip
    db = hoplite.open()
    made = db.import_csv(
        nodes=[CsvFiles([people, part_1, part_2], labels=("Person",)), CsvFiles([films], labels=("Film",))],
        relationships=[CsvFiles([acted], type="SAW")],
    )
    assert made == {"nodes": 4, "relationships": 2}
    found = rows(db, "MATCH (p:Person) RETURN p.personId AS id, p.name AS name, p.born AS born, p.scores AS scores, "
                 "apoc.coll.sort(labels(p)) AS labels ORDER BY id")  # fmt: skip
    assert found == [
        {"id": 1, "name": 'Ann, the "first"', "born": Date(2001, 2, 3), "scores": [1.5, 2.0],
         "labels": ["Admin", "Person", "Staff"]},
        {"id": 2, "name": "Bob", "born": None, "scores": None, "labels": ["Person"]},
        {"id": 3, "name": "", "born": Date(2000, 1, 1), "scores": [], "labels": ["Person"]},
    ]  # fmt: skip
    found = rows(db, "MATCH (p)-[r]->(f) RETURN p.personId AS p, type(r) AS t, r.roles AS roles, f.place AS place, "
                 "apoc.coll.sort(keys(f)) AS k ORDER BY p")  # fmt: skip
    place = WGS84Point((12.5, 55.5))
    assert found == [
        {"p": 1, "t": "ACTED_IN", "roles": ["Ripley", "Ash"], "place": place, "k": ["place", "title"]},
        {"p": 3, "t": "SAW", "roles": None, "place": place, "k": ["place", "title"]},
    ]


def test_other_delimiters_and_fields_of_several_lines(tmp_path: Path) -> None:
    file = write(
        tmp_path / "n.csv",
        "id:ID;text;tags:string[];flag:boolean;b:byte;d:duration",
        "1;'two",
        "lines; it''s';a|b;TRUE;7;P1D",
    )
    db = hoplite.open()
    db.import_csv([CsvFiles([file])], format=CsvFormat(delimiter=";", array_delimiter="|", quote="'"))
    found = rows(db, "MATCH (n) RETURN n.text AS text, n.tags AS tags, n.flag AS flag, n.b AS b, toString(n.d) AS d")
    assert found == [{"text": "two\nlines; it's", "tags": ["a", "b"], "flag": True, "b": 7, "d": "P1D"}]


BAD_ROWS = (
    ("1,x", "'x' is not a valid int"),
    ("2,99999999999", "99999999999 is out of the range of int"),
    ("3", "expected 2 columns, found 1"),
    ("0,7", "a second node with id 0"),
)


@pytest.mark.parametrize(("row", "reason"), BAD_ROWS)
def test_a_bad_row_fails_the_import_and_leaves_nothing(row: str, reason: str, tmp_path: Path) -> None:
    file = write(tmp_path / "n.csv", "id:ID,age:int", "0,1", row)
    db = hoplite.open()
    with pytest.raises(ClientError) as raised:
        db.import_csv([file])
    assert raised.value.message == f"{file}, line 3: {reason}"
    assert is_empty(db)


def test_bad_rows_are_skipped_or_reported(tmp_path: Path) -> None:
    file = write(tmp_path / "n.csv", "id:ID,age:int", "0,1", *(row for row, _ in BAD_ROWS), "9,9")
    edges = write(tmp_path / "r.csv", ":START_ID,:END_ID", "0,9", "0,5")
    relationships = [CsvFiles([edges], type="R")]
    assert hoplite.open().import_csv([file], relationships, on_error="skip") == {
        "nodes": 2, "relationships": 1, "skipped": 5}  # fmt: skip
    reported = hoplite.open().import_csv([file], relationships, on_error="report")
    reasons = [f"{file}, line {number}: {reason}" for number, (_, reason) in enumerate(BAD_ROWS, 3)]
    assert reported["problems"] == [*reasons, f"{edges}, line 3: there is no node with id 5"]


def test_headers_that_cannot_be_read(tmp_path: Path) -> None:
    for header, reason in (
        ("id:ID,age:number", "'number' is not a column type"),
        ("id:ID,:int", "':int' has neither a name nor a role"),
    ):
        with pytest.raises(ClientError, match=reason):
            hoplite.open().import_csv([write(tmp_path / "n.csv", header, "1,2")])
    with pytest.raises(ClientError, match="must have one column :END_ID"):
        hoplite.open().import_csv([], [CsvFiles([write(tmp_path / "r.csv", ":START_ID", "1")], type="R")])
    with pytest.raises(ClientError, match="a quote that is never closed"):
        hoplite.open().import_csv([write(tmp_path / "n.csv", "id:ID,t", '1,"open')])
    with pytest.raises(ClientError, match=r"nope\.csv: No such file"):
        hoplite.open().import_csv([tmp_path / "nope.csv"])


def test_plain_csv_with_a_mapping(tmp_path: Path) -> None:
    write(tmp_path / "drugs.csv", "drug_id,title,weight,other", "d1,Aspirin,180,x", "d2,Zinc,65.4,y")
    write(tmp_path / "diseases.csv", "code,name", "d1,Flu")
    write(tmp_path / "treats.csv", "drug,disease,year", "d1,d1,1999", "d2,d1,")
    mapping: dict[str, Any] = {
        "nodes": [
            {"file": "drugs.csv", "label": ["Drug", "Substance"], "id": "drug_id",
             "properties": {"drug_id": "id", "title": "name", "weight": "weight:float"}},
            {"file": "diseases.csv", "label": "Disease", "id": "code"},
        ],
        "relationships": [
            {"file": "treats.csv", "type": "TREATS", "start": "drug", "start_label": "Drug", "end": "disease",
             "end_label": "Disease", "properties": {"year": "year:int"}},
        ],
    }  # fmt: skip
    path = write(tmp_path / "mapping.json", json.dumps(mapping))
    db = hoplite.open()
    assert db.import_csv_mapping(path) == {"nodes": 3, "relationships": 2}
    assert rows(db, "MATCH (a:Drug:Substance)-[r:TREATS]->(b:Disease) RETURN properties(a) AS a, r.year AS year, "
                "properties(b) AS b ORDER BY a.id") == [
        {"a": {"id": "d1", "name": "Aspirin", "weight": 180.0}, "year": 1999, "b": {"code": "d1", "name": "Flu"}},
        {"a": {"id": "d2", "name": "Zinc", "weight": 65.4}, "year": None, "b": {"code": "d1", "name": "Flu"}},
    ]  # fmt: skip
    mapping["nodes"][0]["properties"] = {"no such": "x"}
    with pytest.raises(ClientError, match="there is no column 'no such'"):
        hoplite.open().import_csv_mapping(write(path, json.dumps(mapping)))
    del mapping["nodes"][0]["id"]
    with pytest.raises(ClientError, match="an entry has no 'id'"):
        hoplite.open().import_csv_mapping(write(path, json.dumps(mapping)))


# --- N-Triples ---


def test_ntriples(tmp_path: Path) -> None:
    xsd = "http://www.w3.org/2001/XMLSchema#"
    path = write(
        tmp_path / "g.nt",
        "# a comment",
        "<http://ex.org/a> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://ex.org/types#Drug> .",
        "<http://ex.org/a> <http://ex.org/treats> <http://ex.org/b> .",
        "_:x <http://ex.org/treats> <http://ex.org/b> . # why not",
        r'<http://ex.org/a> <http://ex.org/name> "As\"pirin\u00e9"@en .',
        f'<http://ex.org/a> <http://ex.org/age> "7"^^<{xsd}integer> .',
        f'<http://ex.org/a> <http://ex.org/since> "2001-01-01"^^<{xsd}date> .',
        f'<http://ex.org/b> <http://ex.org/code> "1"^^<{xsd}integer> .',
        f'<http://ex.org/b> <http://ex.org/code> "2"^^<{xsd}integer> .',
    )
    db = hoplite.open()
    assert db.import_ntriples(path) == {"nodes": 3, "relationships": 2}
    query = "MATCH (a)-[:treats]->(b) RETURN properties(a) AS a, a:Drug AS l, b.code AS code ORDER BY a.uri"
    assert rows(db, query) == [
        {"a": {"uri": "_:x"}, "l": False, "code": [1, 2]},
        {"a": {"uri": "http://ex.org/a", "name": 'As"pirin\u00e9', "age": 7, "since": Date(2001, 1, 1)},
         "l": True, "code": [1, 2]},
    ]  # fmt: skip


def test_bad_ntriples_are_named(tmp_path: Path) -> None:
    path = write(tmp_path / "g.nt", "<a> <http://ex.org/p> <b> .", "<a> <p>", "<a> <http://ex.org/p> <c> .")
    db = hoplite.open()
    with pytest.raises(ClientError, match=r"g\.nt, line 2: not a triple"):
        db.import_ntriples(path)
    assert is_empty(db)
    assert db.import_ntriples(path, on_error="skip") == {"nodes": 3, "relationships": 2, "skipped": 1}


# --- triples ---


def test_bad_triples_are_named_by_line_whatever_the_block(tmp_path: Path) -> None:
    lines = ["head\trel\ttail", "a\tr\tb", "", "a\tr", "b\t\tc", "c\tr\td"] + [f"x{n}\tr\ty{n}" for n in range(50)]
    path = write(tmp_path / "t.tsv", *lines, "last\tr")
    for block_bytes in (16, 100, 1 << 20):
        db = hoplite.open()
        made = db.import_triples(path, on_error="report", block_bytes=block_bytes)
        assert made["problems"] == [
            f"{path}, line 4: expected 3 columns (subject, predicate, object), found 2",
            f"{path}, line 5: a column is empty",
            f"{path}, line 57: expected 3 columns (subject, predicate, object), found 2",
        ]
        assert (made["nodes"], made["relationships"]) == (104, 52)


def test_bad_json_lines_are_skipped(tmp_path: Path) -> None:
    path = write(
        tmp_path / "g.jsonl",
        '{"type": "node", "id": 1, "labels": ["A"], "properties": {"x": 1}}',
        '{"type": "node", "id": 2, "labels": ["A"], "properties": {"x": {"a": 1}}}',
        '{"type": "relationship", "label": "R", "start": 1, "end": 2}',
        '{"type": "relationship", "label": "R", "start": 1, "end": 1}',
        "nonsense",
    )
    db = hoplite.open()
    made = db.import_jsonl(path, on_error="report")
    assert (made["nodes"], made["relationships"], made["skipped"]) == (1, 1, 3)
    assert [problem.split(": ")[0] for problem in made["problems"]] == [f"{path}, line {n}" for n in (2, 3, 5)]


# --- Parquet, NetworkX, igraph, Cypher ---


def test_parquet_tables(tmp_path: Path) -> None:
    pq.write_table(pa.table({"id": ["a", "b"], "n": [1, None]}), tmp_path / "drugs.parquet")
    pq.write_table(pa.table({"start": ["a"], "end": ["b"], "w": [0.5]}), tmp_path / "like.parquet")
    db = hoplite.open()
    made = db.import_parquet(
        nodes={"Drug": tmp_path / "drugs.parquet"}, relationships={("Drug", "LIKE", "Drug"): tmp_path / "like.parquet"}
    )
    assert made == {"nodes": 2, "relationships": 1}
    assert rows(db, "MATCH (a)-[r:LIKE]->(b) RETURN a.id AS a, a.n AS n, r.w AS w, b.id AS b") == [
        {"a": "a", "n": 1, "w": 0.5, "b": "b"}
    ]
    with pytest.raises(ClientError, match="neither labels nor a type in its metadata"):
        db.import_parquet(tmp_path)


def test_networkx_graphs() -> None:
    network = networkx.Graph()
    network.add_node("a", label="Person", age=3)
    network.add_edge("a", "b", type="KNOWS", since=1999)
    network.add_edge("b", "b")
    db = hoplite.open()
    assert db.import_networkx(network) == {"nodes": 2, "relationships": 2}
    query = "MATCH (a)-[r]->(b) RETURN a.id AS a, labels(a) AS l, type(r) AS t, r.since AS s, b.id AS b ORDER BY a"
    assert rows(db, query) == [
        {"a": "a", "l": ["Person"], "t": "KNOWS", "s": 1999, "b": "b"},
        {"a": "b", "l": ["Node"], "t": "RELATED", "s": None, "b": "b"},
    ]  # fmt: skip
    network.add_node("c", odd=object())
    with pytest.raises(ClientError, match="node 'c': odd"):
        db.import_networkx(network)
    assert rows(db, "MATCH (n) RETURN count(n) AS n") == [{"n": 2}]


def test_igraph_graphs() -> None:
    network = igraph.Graph(directed=True)
    network.add_vertices(["a", "b"], attributes={"label": ["P", "Q"]})
    network.add_edges([(0, 1), (0, 1)], attributes={"weight": [1.5, 2.5]})
    db = hoplite.open()
    assert db.import_igraph(network, type="LINK") == {"nodes": 2, "relationships": 2}
    assert rows(db, "MATCH (a:P)-[r:LINK]->(b:Q) RETURN a.name AS a, r.weight AS w, b.id AS b ORDER BY w") == [
        {"a": "a", "w": 1.5, "b": "b"},
        {"a": "a", "w": 2.5, "b": "b"},
    ]


def test_a_script_is_one_transaction(tmp_path: Path) -> None:
    db = hoplite.open()
    good = write(
        tmp_path / "good.cypher",
        ":begin",
        "CREATE (:A {text: ';'});",
        "MATCH (n:A)",
        "CREATE (n)-[:R]->(:B)",
        ";",
        ":commit",
    )
    assert db.import_cypher(good) == {"nodes": 2, "relationships": 1}
    bad = write(tmp_path / "bad.cypher", "CREATE (:C);", "RETURN 1 / 0;")
    with pytest.raises(ClientError, match="/ by zero"):
        db.import_cypher(bad)
    assert rows(db, "MATCH (n) RETURN count(n) AS n") == [{"n": 2}]


def test_an_export_that_fails_leaves_no_file(tmp_path: Path) -> None:
    db = hoplite.open()
    db.run("CREATE (:A)")

    def stop(done: int, total: int | None) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        db.export_cypher(tmp_path / "s.cypher", progress=stop)
    assert list(tmp_path.iterdir()) == []


def test_what_is_no_network_is_refused() -> None:
    with hoplite.open() as db:
        with pytest.raises(ClientError, match="expected a NetworkX graph, not"):
            db.import_networkx(5)
        with pytest.raises(ClientError, match="expected an igraph graph, not"):
            db.import_igraph(None)


@pytest.mark.parametrize(
    ("method", "function"),
    [
        (hoplite.Database.import_triples, triples.import_triples),
        (hoplite.Database.import_networkx, networks.import_networkx),
        (hoplite.Database.import_igraph, networks.import_igraph),
        (hoplite.Database.import_neo4j, neo4j_server.import_neo4j),
        (hoplite.import_neo4j, neo4j_server.import_neo4j),
    ],
)
def test_settings_have_names_and_the_defaults_of_the_importer(method: Any, function: Any) -> None:
    offered, meant = inspect.signature(method).parameters, inspect.signature(function).parameters
    assert all(parameter.kind is not parameter.VAR_KEYWORD for parameter in offered.values())
    settings = {
        name: parameter.default
        for name, parameter in meant.items()
        if parameter.kind is parameter.KEYWORD_ONLY and name != "bad_rows"  # made from on_error
    }
    assert settings == {name: offered[name].default for name in settings}
