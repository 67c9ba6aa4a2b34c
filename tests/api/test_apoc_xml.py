"""apoc.load.xml, apoc.xml.parse and apoc.import.graphml. Answers of a live Neo4j, unless a comment says otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError, Neo4jError

import hoplite
from hoplite import Database

BOOKS = """<?xml version="1.0" encoding="UTF-8"?>
<!-- a comment -->
<catalog xmlns:x="http://x.org/x">
   <book id="bk101" lang="en">
      <author>Gambardella, Matthew</author>
      <author>Arciniegas, Fabio</author>
      <title>XML Developer's Guide</title>
      <price>44.95</price>
   </book>
   <book id="bk102">
      <author>Ralls, Kim</author>
      <title>Midnight <b>Rain</b> tail</title>
      <empty/>
      <x:ns x:a="1">n</x:ns>
      <![CDATA[some <cdata>]]>
   </book>
</catalog>
"""
GRAPHML = """<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<key id="d0" for="node" attr.name="color" attr.type="string"><default>yellow</default></key>
<key id="d1" for="edge" attr.name="weight" attr.type="double"/>
<key id="d2" for="node" attr.name="n" attr.type="int"/>
<key id="d3" for="node" attr.name="l" attr.type="string" attr.list="long"/>
<key id="d4" for="node" attr.name="b" attr.type="boolean"/>
<key id="d5" for="node" attr.name="f" attr.type="float"/>
<graph id="G" edgedefault="undirected">
<node id="n0" labels=":A:B"><data key="labels">:A:B</data><data key="d0">green</data><data key="d2">5</data>
<data key="d3">[1,2]</data><data key="d4">true</data></node>
<node id="n1"><data key="zz">hello</data><data key="d0"></data><data key="d5">0.1</data></node>
<node id="n2"><data key="labels">Only:Data</data></node>
<edge id="e0" source="n0" target="n1" label="KNOWS"><data key="label">KNOWS</data><data key="d1">1.5</data></edge>
<edge source="n1" target="n2">
  <data key="label">TYP</data>
</edge>
<edge source="n2" target="n0"/>
</graph>
</graphml>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "books.xml").write_text(BOOKS, encoding="utf-8")
    (tmp_path / "g.graphml").write_text(GRAPHML, encoding="utf-8")
    (tmp_path / "broken.xml").write_text("<a><b>1</b>", encoding="utf-8")
    return tmp_path


@pytest.fixture
def db(folder: Path) -> Iterator[Database]:
    with hoplite.open(import_folder=folder) as database:
        yield database


def _text(kind: str, text: str) -> dict[str, Any]:
    return {"_type": kind, "_text": text}


def test_a_document_is_one_map(db: Database) -> None:
    (found,) = db.run("CALL apoc.load.xml('file:///books.xml')").value()
    first, second = found.pop("_children")
    assert found == {"_type": "catalog", "xmlns:x": "http://x.org/x"}
    assert first["id"] == "bk101"
    assert [child["_text"] for child in first["_children"]][2:] == ["XML Developer's Guide", "44.95"]
    assert second == {
        "_type": "book",
        "id": "bk102",
        "_text": "some <cdata>",
        "_children": [
            _text("author", "Ralls, Kim"),
            {"_type": "title", "_children": [_text("b", "Rain"), "Midnight", "tail"]},
            {"_type": "empty"},
            {"_type": "ns", "_text": "n", "x:a": "1"},
        ],
    }


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/catalog/book[@id='bk102']/author", [_text("author", "Ralls, Kim")]),
        ("//author[1]", [_text("author", "Gambardella, Matthew"), _text("author", "Ralls, Kim")]),
        ("(//author)[2]", [_text("author", "Arciniegas, Fabio")]),
        ('/catalog/*[title="XML Developer\'s Guide"]/@id', [_text("id", "bk101")]),
        ("//book[price > 40]/price", [_text("price", "44.95")]),
        ("//book[contains(title, 'Guide') and count(author) = 2]/price", [_text("price", "44.95")]),
        ("/catalog/book[not(price)]/@id", [_text("id", "bk102")]),
        ("//b/ancestor::book/@id", [_text("id", "bk102")]),
        ("//author[. = 'Ralls, Kim']/../empty", [{"_type": "empty"}]),
        ("//book[substring(@id, 3) = '101']/@lang | //empty", [_text("lang", "en"), {"_type": "empty"}]),
        ("//price[1 + 2 * 3 = 7 and 7 - 2 - 1 = 4 and 8 div 2 div 2 = 2]", [_text("price", "44.95")]),
        ("//price[. * 2 > 80 or . = 1]", [_text("price", "44.95")]),
        ("//author[last()]/following-sibling::price", [_text("price", "44.95")]),
        ("//*[local-name() = 'ns']", [{"_type": "ns", "_text": "n", "x:a": "1"}]),
        ("//ns", []),  # has a namespace, which the path has not
        ("//author/text()", []),
        ("/catalog/nope", []),
    ],
)
def test_a_path_finds_nodes(db: Database, path: str, found: list[dict[str, Any]]) -> None:
    assert db.run("CALL apoc.load.xml('books.xml', $path)", path=path).value() == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("<a> <b> x </b> </a>", {"_type": "a", "_children": [_text("b", "x")]}),
        ("<a>l1\n   l2   x\n</a>", _text("a", "l1 l2   x")),
        ("<a>1<!-- c -->2<?pi x?>3<![CDATA[<4>]]></a>", {"_type": "a", "_text": ["[[1, 2], 3]", "<4>"]}),
        ("<a>t<b/>u<b/>v</a>", {"_type": "a", "_children": [{"_type": "b"}, {"_type": "b"}, "[t, u]", "v"]}),
        # APOC gives what is before a comment to the element of the comment.
        ("<a><b/><c>x<!-- c --></c></a>", {"_type": "a", "_children": [{"_type": "b"}, _text("c", "x")]}),
    ],
)
def test_texts_are_read(db: Database, text: str, found: dict[str, Any]) -> None:
    assert db.run("RETURN apoc.xml.parse($text) AS x", text=text).value() == [found]


def test_children_are_named_after_their_element_in_the_simple_mode(db: Database) -> None:
    query = "RETURN apoc.xml.parse('<a x=\"1\">t<b/>u<b>2</b></a>', '/', {}, true) AS x"
    found = {"_type": "a", "x": "1", "_a": [{"_type": "b"}, _text("b", "2"), "t", "u"]}
    assert db.run(query).value() == [found]


@pytest.mark.parametrize(
    ("text", "path", "words"),
    [
        ("<!DOCTYPE a [<!ENTITY x 'boo'>]><a>&x;</a>", "/", "XML documents with a DOCTYPE are not allowed."),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "/", "XML documents with a DOCTYPE are not allowed."),
        ("<a>", "/", "columnNumber: 4; XML document structures must start and end within the same entity."),
        ("", "/", "Premature end of file."),
        ("hello", "/", "Content is not allowed in prolog."),
        ("<a></b>", "/", 'The element type "a" must be terminated by the matching end-tag "</a>".'),
        ("<a>&nope;</a>", "/", "SAXParseException"),
        ("<q:a/>", "/", 'The prefix "q" for element "q:a" is not bound.'),
        ("<a/>", "/a/[", "A location step was expected following the '/' or '//' token."),
        ("<a/>", "/a[", "A location path was expected, but the end of the XPath expression was found instead."),
        ("<a/>", "count(/a)", "Can not convert #NUMBER to a NodeList!"),
        ("<a/>", "nope(1)", "Could not find function: nope"),
        ("<a/>", "(" * 5000, "nested more than 50 levels deep"),
        ("<a/>", "a]", "Extra illegal tokens"),
    ],
)
def test_wrong_documents_and_paths_are_refused(db: Database, text: str, path: str, words: str) -> None:
    query = "RETURN apoc.xml.parse($text, $path) AS x"
    with pytest.raises(ClientError, match=r"Failed to invoke function `apoc\.xml\.parse`") as caught:
        db.run(query, text=text, path=path).values()
    assert words in str(caught.value)
    allowed = "RETURN apoc.xml.parse($text, $path, {failOnError: false}) AS x"
    assert db.run(allowed, text=text, path=path).value() == [{}]


def test_a_file_that_cannot_be_read_is_an_empty_map_if_that_is_allowed(db: Database) -> None:
    for name in ("broken.xml", "nope.xml"):
        assert db.run("CALL apoc.load.xml($n, '/', {failOnError: false})", n=name).value() == [{}]
        with pytest.raises(ClientError, match="ProcedureCallFailed"):
            db.run("CALL apoc.load.xml($n)", n=name).values()


def test_a_deep_document_ends_in_an_answer_or_a_cypher_error(db: Database) -> None:
    deep = "<a>" * 50_000 + "</a>" * 50_000
    assert db.run("RETURN apoc.xml.parse($x)._type AS t", x=deep).value() == ["a"]
    with suppress(Neo4jError):
        db.run("RETURN apoc.xml.parse($x) AS x", x=deep).values()


def test_a_path_over_all_pairs_stops_in_time(folder: Path) -> None:
    wide = "<r>" + "<a><b/></a>" * 20_000 + "</r>"
    with hoplite.open(timeout=0.5) as db, pytest.raises(Neo4jError, match="TransactionTimedOut"):
        db.run("RETURN apoc.xml.parse($x, '//a[count(//b[count(//a) > 1]) > 2]') AS x", x=wide).values()


def _graph(db: Database) -> tuple[list[Any], list[Any]]:
    nodes = db.run("MATCH (n) RETURN apoc.coll.sort(labels(n)), properties(n)").values()
    return nodes, db.run("MATCH ()-[r]->() RETURN type(r), properties(r)").values()


def test_graphml_is_imported_with_labels(db: Database) -> None:
    (row,) = db.run("CALL apoc.import.graphml('g.graphml', {readLabels: true})").data()
    assert (row["nodes"], row["relationships"], row["properties"], row["rows"]) == (3, 3, 8, 0)
    nodes, relationships = _graph(db)
    assert nodes == [
        [["A", "B"], {"color": "green", "n": 5, "l": [1, 2], "b": True}],
        [[], {"color": "yellow", "zz": "hello", "f": 0.10000000149011612}],
        [["Data", "Only"], {"color": "yellow"}],
    ]
    assert relationships == [["KNOWS", {"weight": 1.5}], ["TYP", {}], ["RELATED", {}]]


def test_graphml_is_imported_without_labels(db: Database) -> None:
    db.run("CALL apoc.import.graphml('g.graphml', {storeNodeIds: true, defaultRelationshipType: 'DEF'})").values()
    nodes, relationships = _graph(db)
    assert nodes[0] == [[], {"id": "n0", "labels": ":A:B", "color": "green", "n": 5, "l": [1, 2], "b": True}]
    # APOC loses what is in a <data> right behind an edge without a label.
    assert relationships == [["KNOWS", {"label": "KNOWS", "weight": 1.5}], ["DEF", {"label": "TYP"}], ["DEF", {}]]


def test_ends_of_edges_may_be_in_the_graph(db: Database, folder: Path) -> None:
    edge = '<graphml><graph><node id="a"/><edge source="a" target="b" label="X"/></graph></graphml>'
    (folder / "edge.graphml").write_text(edge, encoding="utf-8")
    with pytest.raises(ClientError, match="The node with the given id: b was not found"):
        db.run("CALL apoc.import.graphml('edge.graphml', {})").values()
    query = "CALL apoc.import.graphml('edge.graphml', {target: {label: 'Foo', id: 'name'}})"
    with pytest.raises(ClientError, match="Other node is null"):
        db.run(query).values()
    assert db.run("MATCH (n) RETURN count(n)").value() == [0]
    db.run("CREATE (:Foo {name: 'b'})")
    db.run(query).values()
    assert db.run("MATCH ()-[r:X]->(n:Foo) RETURN count(r)").value() == [1]


@pytest.mark.parametrize(
    ("found", "replaced", "words"),
    [
        ('attr.type="int"', 'attr.type="nope"', "No enum constant apoc.export.graphml.XmlGraphMLReader.Type.NOPE"),
        (">5<", ">abc<", 'NumberFormatException: For input string: "abc"'),
        ("<graphml ", "<!DOCTYPE graphml><graphml ", "XML documents with a DOCTYPE are not allowed."),
    ],
)
def test_wrong_graphml_is_refused(db: Database, folder: Path, found: str, replaced: str, words: str) -> None:
    (folder / "wrong.graphml").write_text(GRAPHML.replace(found, replaced), encoding="utf-8")
    with pytest.raises(ClientError) as caught:
        db.run("CALL apoc.import.graphml('wrong.graphml', {})").values()
    assert words in str(caught.value)
    assert db.run("MATCH (n) RETURN count(n)").value() == [0]


def test_an_exported_graph_comes_back(db: Database) -> None:
    db.run("CREATE (a:P:Q {n: 'a <&> \"b\"', i: 1, f: 1.5, l: ['x', 'y'], t: true})-[:R {w: 2}]->(:P {n: 'b'})")
    before = _graph(db)
    db.run("CALL apoc.export.graphml.all('out.graphml', {useTypes: true})").values()
    db.run("MATCH (n) DETACH DELETE n")
    db.run("CALL apoc.import.graphml('out.graphml', {readLabels: true})").values()
    assert _graph(db) == before
