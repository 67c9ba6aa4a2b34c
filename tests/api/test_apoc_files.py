"""apoc.load, apoc.export and apoc.import: files in the import folder and nowhere else. Answers of a live Neo4j."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite import Database

GRAPH = (
    "CREATE (a:P:Q {n: 'a', i: 1, f: 1.0, l: [1, 2], d: date('2020-01-02'), t: datetime('2020-01-01T00:00Z'), "
    "p: point({latitude: 1, longitude: 2}), s: 'quo\"te, c\\nnl'}), (b:P {n: 'b'}), (c:U {k: 1, z: 'z'}), "
    "(a)-[:R {x: 1}]->(b), (c)-[:S]->(a)"
)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    inside = tmp_path / "import"
    inside.mkdir()
    (tmp_path / "secret.json").write_text('{"secret": 1}')
    (inside / "m.json").write_text('{"a": 1, "b": [1, 2.5, null], "c": {"d": "x"}}')
    (inside / "l.json").write_text('[{"a": 1}, {"a": 2}]')
    (inside / "s.json").write_text('[1, "x"]')
    (inside / "lines.json").write_text('\ufeff{"a": 1}\n{"a": 2}\n\n{"a": 3}')
    (inside / "link.json").symlink_to(tmp_path / "secret.json")
    (inside / "packed.json").write_bytes(gzip.compress(b'{"a": 7}'))
    return inside


@pytest.fixture
def db(folder: Path) -> Iterator[Database]:
    with hoplite.open(import_folder=folder) as database:
        yield database


@pytest.mark.parametrize(
    ("arguments", "values"),
    [
        ("'m.json'", [{"a": 1, "b": [1, 2.5, None], "c": {"d": "x"}}]),
        ("'/m.json', '$.c'", [{"d": "x"}]),
        ("'file:///m.json', '$.b'", [{"result": [1, 2.5, None]}]),
        ("'m.json', '$.a'", [{}]),
        ("'l.json'", [{"a": 1}, {"a": 2}]),
        ("'l.json', '$[?(@.a > 1)]'", [{"a": 2}]),
        ("'s.json'", [{"result": [1, "x"]}]),
        ("'lines.json'", [{"a": 1}, {"a": 2}, {"a": 3}]),
        ("'packed.json'", [{"a": 7}]),
        ("'nope.json', '', {failOnError: false}", []),
        ("null", []),
    ],
)
def test_objects_of_a_file_are_rows(db: Database, arguments: str, values: list[Any]) -> None:
    assert db.run(f"CALL apoc.load.json({arguments})").value() == values


def test_values_of_a_file_are_rows(db: Database) -> None:
    assert db.run("CALL apoc.load.jsonArray('s.json')").value() == [[1, "x"]]
    assert db.run("CALL apoc.load.jsonArray('l.json')").value() == [{"a": 1}, {"a": 2}]
    assert db.run("CALL apoc.load.jsonParams('m.json', null, null, '$.c')").value() == [{"d": "x"}]


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("../secret.json", "You're providing a directory outside the import directory"),
        ("link.json", "You're providing a directory outside the import directory"),
        ("file:///../secret.json", "Cannot open file"),
        ("file:///%2e%2e/secret.json", "Cannot open file"),
        ("nope.json", "Cannot open file"),
        ("", "Cannot open file"),
        ("http://127.0.0.1:1/x.json", "only files are read"),
        ("foo:m.json", "unknown protocol: foo"),
    ],
)
@pytest.mark.parametrize(
    "call",
    [
        "apoc.load.json($n)",
        "apoc.load.xml($n)",
        "apoc.import.json($n)",
        "apoc.import.csv([{fileName: $n}], [], {})",
        "apoc.import.graphml($n, {})",
    ],
)
def test_nothing_outside_of_the_folder_is_read(db: Database, name: str, words: str, call: str) -> None:
    with pytest.raises(ClientError, match="ProcedureCallFailed") as caught:
        db.run(f"CALL {call}", n=name).values()
    assert words in str(caught.value)
    assert "secret" not in str(caught.value).replace("secret.json", "")


@pytest.mark.parametrize("name", ["../out.json", "file:///../../out.json", "link.json", "none/out.json", "http://x/y"])
def test_nothing_outside_of_the_folder_is_written(db: Database, folder: Path, name: str) -> None:
    before = sorted(folder.parent.rglob("*"))
    for call in ("json.all($n)", "csv.all($n, {})", "cypher.all($n)"):
        if name.startswith("file:"):
            db.run(f"CALL apoc.export.{call}", n=name).values()
            (folder / "out.json").unlink()
        else:
            with pytest.raises(ClientError, match="ProcedureCallFailed"):
                db.run(f"CALL apoc.export.{call}", n=name).values()
    assert sorted(folder.parent.rglob("*")) == before
    assert (folder.parent / "secret.json").read_text() == '{"secret": 1}'


def test_without_a_folder_there_are_no_files_but_text() -> None:
    with hoplite.open() as db:
        db.run("CREATE ({a: 1})")
        for call in ("load.json('m.json')", "import.json('m.json')", "export.json.all('x.json')"):
            with pytest.raises(ClientError, match="no import_folder was given"):
                db.run(f"CALL apoc.{call}").values()
        (data,) = db.run("CALL apoc.export.json.all(null, {stream: true}) YIELD data").value()
        assert json.loads(data) == {"type": "node", "id": "0", "properties": {"a": 1}}


def test_a_read_only_run_writes_no_file(db: Database, folder: Path) -> None:
    with db.session(read_only=True) as session:
        assert session.run("CALL apoc.load.json('l.json')").value() == [{"a": 1}, {"a": 2}]
        with pytest.raises(ClientError, match="AccessMode"):
            session.run("CALL apoc.export.csv.all('x.csv', {})").values()
        with pytest.raises(ClientError, match="AccessMode"):
            session.run("CALL apoc.import.json('m.json')").values()
    assert not (folder / "x.csv").exists()


def test_a_file_is_written_although_nobody_reads_the_report(db: Database, folder: Path) -> None:
    db.run("CALL apoc.export.csv.all('unread.csv', {})")
    with db.begin() as transaction:
        transaction.run("CALL apoc.export.json.all('inside.json', {})").consume()
    db.run_plan(db.explain("CALL apoc.export.graphml.all('planned.xml', {})", format="json")).consume()
    assert {"unread.csv", "inside.json", "planned.xml"} <= {path.name for path in folder.iterdir()}


def test_an_export_reports_what_it_wrote(db: Database, folder: Path) -> None:
    db.run(GRAPH)
    (row,) = db.run("CALL apoc.export.json.all('x.json')").data()
    assert {key: row[key] for key in ("file", "source", "format", "nodes", "relationships", "properties", "rows")} == {
        "file": "x.json",
        "source": "database: nodes(3), rels(2)",
        "format": "json",
        "nodes": 3,
        "relationships": 2,
        "properties": 12,
        "rows": 5,
    }
    assert (row["batchSize"], row["batches"], row["done"], row["data"]) == (-1, 0, True, None)
    lines = [json.loads(line) for line in (folder / "x.json").read_text().splitlines()]
    assert lines[0]["properties"] | {"p": None} == {
        "p": None,
        "s": 'quo"te, c\nnl',
        "t": "2020-01-01T00:00Z",
        "d": "2020-01-02",
        "f": 1.0,
        "i": 1,
        "l": [1, 2],
        "n": "a",
    }
    assert list(lines[3]) == ["type", "id", "label", "properties", "start", "end"]


def test_a_table_has_quotes_as_asked(db: Database) -> None:
    db.run("CREATE (a:P {n: 'x,y'})-[:R {w: 1.5}]->(:Q)")
    export = "CALL apoc.export.csv.all(null, {stream: true, quotes: $quotes}) YIELD data"
    assert db.run(export, quotes="always").value() == [
        '"_id","_labels","n","_start","_end","_type","w"\n"0",":P","x,y",,,,\n"1",":Q","",,,,\n,,,"0","1","R","1.5"\n'
    ]
    assert db.run(export, quotes="ifNeeded").value() == [
        '_id,_labels,n,_start,_end,_type,w\n0,:P,"x,y",,,,\n1,:Q,,,,,\n,,,0,1,R,1.5\n'
    ]
    query = "MATCH (n)-[r]->() RETURN n.n AS n, r, [1] AS l, null AS nothing"
    (data,) = db.run("CALL apoc.export.csv.query($q, null, {stream: true}) YIELD data", q=query).value()
    assert data == (
        '"n","r","l","nothing"\n'
        '"x,y","{""id"":0,""type"":""R"",""start"":0,""end"":1,""properties"":{""w"":1.5}}","[1]",""\n'
    )


def test_graphml_has_keys_nodes_and_edges(db: Database) -> None:
    db.run("CREATE (:P:Q {n: 'a<b', l: [1, 2]})-[:R {x: 1}]->()")
    export = "CALL apoc.export.graphml.all(null, {stream: true, useTypes: true}) YIELD data"
    (data,) = db.run(export).value()
    assert data.splitlines()[2:] == [
        '<key id="l" for="node" attr.name="l" attr.type="string" attr.list="long"/>',
        '<key id="n" for="node" attr.name="n" attr.type="string"/>',
        '<key id="labels" for="node" attr.name="labels" attr.type="string"/>',
        '<key id="x" for="edge" attr.name="x" attr.type="long"/>',
        '<key id="label" for="edge" attr.name="label" attr.type="string"/>',
        '<graph id="G" edgedefault="directed">',
        '<node id="n0" labels=":P:Q"><data key="labels">:P:Q</data><data key="l">[1,2]</data>'
        '<data key="n">a&lt;b</data></node>',
        '<node id="n1"></node>',
        '<edge id="e0" source="n0" target="n1" label="R"><data key="label">R</data><data key="x">1</data></edge>',
        "</graph>",
        "</graphml>",
    ]


def test_statements_of_an_export_make_the_same_graph(db: Database) -> None:
    db.run("CREATE CONSTRAINT u FOR (n:U) REQUIRE n.k IS UNIQUE")
    db.run("CREATE INDEX FOR (n:P) ON (n.n)")
    db.run(GRAPH)
    for config in ("{format: 'plain'}", "{format: 'plain', useOptimizations: {type: 'NONE'}}"):
        (script,) = db.run(f"CALL apoc.export.cypher.all(null, {config}) YIELD cypherStatements").value()
        with hoplite.open() as copy:
            copy.run("CALL apoc.cypher.runMany($script, {}, {statistics: false})", script=script).values()
            for query in (
                "MATCH (n) RETURN labels(n) AS l, properties(n) AS p ORDER BY p.n, p.k",
                "MATCH (n)-[r]->(m) RETURN properties(n) AS n, type(r) AS t, properties(r) AS r, properties(m) AS m "
                "ORDER BY t",
                "SHOW INDEXES YIELD type, labelsOrTypes, properties RETURN * ORDER BY type, properties",
            ):
                assert copy.run(query).data() == db.run(query).data()


def test_an_exported_file_is_imported_again(db: Database) -> None:
    db.run(GRAPH)
    db.run("CALL apoc.export.json.all('x.json')").values()
    with pytest.raises(ClientError, match=r"CREATE CONSTRAINT FOR \(n:P\) REQUIRE n.neo4jImportId IS UNIQUE;"):
        db.run("CALL apoc.import.json('x.json')").values()
    db.run("MATCH (n) DETACH DELETE n")
    for label in ("P", "Q", "U"):
        db.run(f"CREATE CONSTRAINT FOR (n:{label}) REQUIRE n.neo4jImportId IS UNIQUE")
    mappings = "{P: {d: 'LocalDate', t: 'ZonedDateTime', p: 'Point'}}"
    (row,) = db.run(f"CALL apoc.import.json('x.json', {{nodePropertyMappings: {mappings}, cleanup: true}})").data()
    assert (row["nodes"], row["relationships"], row["properties"]) == (3, 2, 17)
    (found,) = db.run("MATCH (n:Q)<-[:S]-(u:U {k: 1}) WHERE n.neo4jImportId IS NULL RETURN properties(n)").value()
    with hoplite.open() as other:
        other.run(GRAPH)
        assert found == other.run("MATCH (n:Q) RETURN properties(n)").value()[0]


def test_tables_with_headers_are_imported(db: Database, folder: Path) -> None:
    (folder / "p.csv").write_text(":ID,name:STRING,age:long,tags:string[],:LABEL\n1,ann,3,a;b,X;Y\n2,bob,,,X\n")
    (folder / "k.csv").write_text(":START_ID,:END_ID,since:int,:TYPE\n1,2,2020,KNOWS\n2,1,,\n")
    call = "CALL apoc.import.csv([{fileName: 'p.csv', labels: ['Person']}], [{fileName: 'k.csv', type: 'DEF'}], {})"
    (row,) = db.run(call).data()
    assert (row["file"], row["nodes"], row["relationships"], row["properties"]) == ("progress.csv", 2, 2, 10)
    assert db.run("MATCH (n) RETURN labels(n), properties(n) ORDER BY n.name").values() == [
        [["Person", "X", "Y"], {"__csv_id": "1", "name": "ann", "age": 3, "tags": ["a", "b"]}],
        [["Person", "X"], {"__csv_id": "2", "name": "bob", "tags": [""]}],
    ]
    assert db.run("MATCH (n)-[r]->() RETURN type(r), properties(r) ORDER BY n.name").values() == [
        ["KNOWS", {"since": 2020, "__csv_type": "KNOWS"}],
        ["DEF", {"__csv_type": ""}],
    ]
    (folder / "k.csv").write_text(":START_ID,:END_ID,:TYPE\n1,9,KNOWS\n")
    with pytest.raises(ClientError, match="and id 9 not found"):
        db.run(call).values()
    assert db.run("MATCH (n) RETURN count(n)").value() == [2]
