"""What results, databases, paths and graphs show in notebooks."""

from __future__ import annotations

import base64
import xml.etree.ElementTree as ET

import neo4j
import pytest

import hoplite
from hoplite.api.picture import NODES_SHOWN, layout, picture

_SVG = "{http://www.w3.org/2000/svg}"


@pytest.fixture
def db() -> hoplite.Database:
    made = hoplite.open()
    made.run("CREATE (a:Drug {name: 'A<b>&\"x\"'})-[:TREATS {since: 1999}]->(b:Disease {name: 'Gout'})-[:IS]->(b)")
    return made


def test_a_result_shows_its_first_rows_and_keeps_them(db: hoplite.Database) -> None:
    result = db.run("UNWIND range(1, 30) AS x RETURN x, 'row ' + x AS text")
    html = result._repr_html_()
    assert html.count("<tr>") == 21 and "and more" in html and "row 20" in html and "row 21" not in html
    assert result._repr_html_() == html
    assert result.value() == list(range(1, 31))
    assert "1 row<" in db.run("RETURN 1 AS x")._repr_html_()
    assert "CREATE" in db.run("CREATE (:X)")._repr_html_()


def test_values_are_text_and_never_markup(db: hoplite.Database) -> None:
    html = db.run(
        "MATCH (n:Drug)-[r]->(m) RETURN n, r, [n.name, null, true], {k: 1.5}, date('+100000-01-01')"
    )._repr_html_()
    assert "<b>" not in html and "A&lt;b&gt;&amp;" in html
    assert "[:TREATS {since: 1999}]" in html and "null, true]" in html and "+100000-01-01" in html
    assert "<script" not in db.run("RETURN '<script>' AS `<script>`")._repr_html_()


def test_long_values_are_cut_off(db: hoplite.Database) -> None:
    assert len(db.run("RETURN range(1, 100000) AS many, $text AS text", text="x" * 100_000)._repr_html_()) < 2_000


def test_a_database_shows_what_is_in_it(db: hoplite.Database) -> None:
    html = db._repr_html_()
    assert "Drug" in html and "TREATS" in html and "3 nodes" not in html
    db.close()
    assert "closed" in db._repr_html_()


def test_a_path_is_written_as_in_cypher(db: hoplite.Database) -> None:
    record = db.run("MATCH p = (:Disease)<-[:TREATS]-(:Drug) RETURN p").single(strict=True)
    assert record is not None
    path = record["p"]
    assert isinstance(path, neo4j.graph.Path)
    html = path._repr_html_()  # type: ignore[attr-defined]
    assert html.startswith("<code>(:Disease {name: &#x27;Gout&#x27;})&lt;-[:TREATS {since: 1999}]-(:Drug")
    assert db.run("MATCH p = (:Drug) RETURN [p]").value()[0][0]._repr_html_().startswith("<code>(:Drug")


def test_a_graph_is_a_picture_that_needs_no_script_and_no_network(db: hoplite.Database) -> None:
    graph = db.run("MATCH (n)-[r]->(m) RETURN n, r, m").graph()
    html = graph._repr_html_()  # type: ignore[attr-defined]
    image = html.partition("base64,")[2].partition('"')[0]
    svg = ET.fromstring(base64.b64decode(image))
    assert len(svg.findall(f".//{_SVG}g[@data-n]")) == 2 and len(svg.findall(f".//{_SVG}g[@data-a]")) == 2
    titles = [title.text for title in svg.iter(f"{_SVG}title")]
    assert any("A<b>&" in (title or "") for title in titles)
    assert "2 nodes, 2 relationships" in html
    assert html.replace("http://www.w3.org/2000/svg", "").count("http") == 0
    assert picture(graph) == picture(graph)


def test_a_large_graph_is_shown_in_part(db: hoplite.Database) -> None:
    db.run("UNWIND range(1, 400) AS x CREATE (:Many {id: x})")
    html = db.run("MATCH (n:Many) RETURN n").graph()._repr_html_()  # type: ignore[attr-defined]
    assert f"the first {NODES_SHOWN} nodes are shown" in html


def test_an_empty_graph_and_a_single_node_have_a_place() -> None:
    assert layout(0, []).shape == (0, 2)
    assert layout(1, [(0, 0)]).tolist() == [[360.0, 220.0]]
    places = layout(30, [(n, n + 1) for n in range(29)])
    assert (places >= 0).all() and (places[:, 0] <= 720).all() and (places[:, 1] <= 440).all()
