"""apoc.import.xml: graphs of documents as a live Neo4j makes them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import ClientError, Neo4jError

import hoplite
from hoplite import Database

MIXED = """<?xml version="1.0" encoding="UTF-8"?>
<?first a b?>
<r id="1" x:k="2" xmlns:x="urn:x"><w>one  two</w><!-- a comment -->three&amp;<![CDATA[ <four>]]><e/><?in?></r>
<?last c?>"""


@pytest.fixture
def db(tmp_path: Path) -> Database:
    return hoplite.open(import_folder=tmp_path)


def _import(db: Database, document: str | bytes, config: dict[str, Any] | None = None) -> dict[str, Any]:
    content = document.encode() if isinstance(document, str) else document
    (record,) = db.run("CALL apoc.import.xml($content, $config)", content=content, config=config or {})
    assert record["node"].labels == {"XmlDocument"}
    return dict(record["node"])


_NAME = "coalesce(n._name, n.text, n._piTarget)"


def _nodes(db: Database) -> list[tuple[str, Any]]:
    """Labels, and what a node is known by, in the order of the document."""
    rows = db.run(f"MATCH (:XmlDocument)-[:NEXT*]->(n) RETURN labels(n)[0] AS label, {_NAME} AS name")
    return [(record["label"], record["name"]) for record in rows]


def _links(db: Database, type_name: str) -> list[list[Any]]:
    query = f"MATCH (a)-[r:$($type)]->(b) WITH a, b ORDER BY id(r) RETURN [n IN [a, b] | {_NAME}] AS ends"
    rows = db.run(query, type=type_name)
    return [record["ends"] for record in rows]


def test_tags_words_and_instructions_are_nodes_in_their_order(db: Database) -> None:
    assert _import(db, MIXED) == {"_xmlVersion": "1.0", "_xmlEncoding": "UTF-8"}
    words = [("XmlCharacters", text) for text in ("one", " ", " ", "two", "three&", " ", "<four>")]
    assert _nodes(db) == [
        ("XmlProcessingInstruction", "first"),
        ("XmlTag", "r"),
        ("XmlTag", "w"),
        *words,
        ("XmlTag", "e"),
        ("XmlProcessingInstruction", "in"),
        ("XmlProcessingInstruction", "last"),
    ]
    (tag,) = db.run("MATCH (n:XmlTag {_name: 'r'}) RETURN n")
    assert dict(tag["n"]) == {"_name": "r", "id": "1", "k": "2"}
    (instruction,) = db.run("MATCH (n {_piTarget: 'first'}) RETURN n._piData AS data")
    assert instruction["data"] == "a b"
    places = [tuple(r) for r in db.run("MATCH (n:XmlCharacters) RETURN n.startIndex, n.endIndex ORDER BY id(n)")]
    assert places == [(0, 2), (3, 3), (4, 4), (5, 7), (8, 13), (14, 14), (15, 20)]


def test_parents_and_siblings(db: Database) -> None:
    _import(db, "<r><a/>x<b><c/></b></r>")
    assert _links(db, "IS_CHILD_OF") == [["r", None], ["a", "r"], ["x", "r"], ["b", "r"], ["c", "b"]]
    assert _links(db, "FIRST_CHILD_OF") == [["r", None], ["a", "r"], ["c", "b"]]
    assert _links(db, "LAST_CHILD_OF") == [["c", "b"], ["b", "r"]]  # none of the document
    assert _links(db, "NEXT_SIBLING") == [["a", "x"], ["x", "b"]]
    assert _links(db, "NE") == []


@pytest.mark.parametrize(
    ("config", "label", "type_name", "texts"),
    [
        ({"connectCharacters": True}, "XmlCharacters", "NE", ["a", " ", "b,c"]),
        ({"label": "W", "connectCharacters": False}, "W", "NE", ["a", " ", "b,c"]),
        ({"relType": "NEXT_WORD"}, "XmlCharacters", "NEXT_WORD", ["a", " ", "b,c"]),
        ({"delimiter": "[,b]"}, "XmlCharacters", "NE", ["a ", "b", ",", "c"]),
        ({"delimiter": "(?=b)"}, "XmlCharacters", "NE", ["a ", "", "b,c"]),
    ],
)
def test_texts_are_split_and_connected(
    db: Database, config: dict[str, Any], label: str, type_name: str, texts: list[str]
) -> None:
    _import(db, "<r>a b,c</r>", config)
    assert _nodes(db) == [("XmlTag", "r"), *((label, text) for text in texts)]
    assert _links(db, type_name) == [[a, b] for a, b in zip([None, *texts[:-1]], texts, strict=True)]


def test_lines_are_trimmed_and_tags_have_texts(db: Database) -> None:
    _import(db, "<r>  a\n\t b\n<lb/></r>", {"filterLeadingWhitespace": True, "charactersForTag": {"lb": "p q"}})
    assert [name for _, name in _nodes(db)] == ["r", " ", " ", "ab", "lb", "p q"]
    assert ["p q", "lb"] in _links(db, "LAST_CHILD_OF")


def test_a_document_has_its_own_encoding(db: Database, tmp_path: Path) -> None:
    document = '<?xml version="1.0" encoding="ISO-8859-1"?><r>\u00e9t\u00e9</r>'
    (tmp_path / "latin.xml").write_bytes(document.encode("latin-1"))
    (record,) = db.run("CALL apoc.import.xml('latin.xml')")
    assert dict(record["node"]) == {"_xmlVersion": "1.0", "_xmlEncoding": "ISO-8859-1", "url": "latin.xml"}
    assert _nodes(db) == [("XmlTag", "r"), ("XmlCharacters", "\u00e9t\u00e9")]
    (loaded,) = db.run("CALL apoc.load.xml('latin.xml')")
    assert loaded["value"] == {"_type": "r", "_text": "\u00e9t\u00e9"}


@pytest.mark.parametrize(
    ("document", "config", "words"),
    [
        ("<r><a></r>", {}, r"ParseError at \[row,col\]:\[1,9\]\nMessage: The element type \"a\" must be terminated"),
        ("", {}, r"ParseError at \[row,col\]:\[1,1\]\nMessage: Premature end of file"),
        ("<r>\n<a>", {}, r"\[2,4\]\nMessage: XML document structures must start and end"),
        ("<x:r/>", {}, "ElementPrefixUnbound.x&x:r"),
        ("<!DOCTYPE r []><r/>", {}, "XML documents with a DOCTYPE are not allowed"),
        ("<r/>", {"createNextWordRelationships": False}, "`createNextWordRelationships` is no longer allowed"),
        ("<r/>", {"delimiter": "("}, "java.util.regex.PatternSyntaxException: Unclosed group near index 1"),
        ("<r/>", {"charactersForTag": "x"}, "java.lang.ClassCastException"),
    ],
)
def test_wrong_documents_and_settings_leave_nothing_behind(
    db: Database, document: str, config: dict[str, Any], words: str
) -> None:
    with pytest.raises(ClientError, match=words):
        _import(db, document, config)
    assert db.run("MATCH (n) RETURN count(n) AS n").single(strict=True)["n"] == 0  # type: ignore[index]


def test_only_files_in_the_folder_are_imported(db: Database) -> None:
    for name, words in (
        ("../x.xml", "Cannot open file|outside the import directory"),
        ("nope.xml", "Cannot open file"),
    ):
        with pytest.raises(ClientError, match=words):
            db.run("CALL apoc.import.xml($name)", name=name)
    with pytest.raises(ClientError, match="Only byte"):
        db.run("CALL apoc.import.xml(1)")
    with hoplite.open() as other, pytest.raises(ClientError, match="no import_folder was given"):
        other.run("CALL apoc.import.xml('x.xml')")
    with pytest.raises(Neo4jError, match="read access mode"):
        db.session(read_only=True).run("CALL apoc.import.xml('x.xml')")
