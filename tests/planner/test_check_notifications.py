"""What is said beside the answer of a valid statement."""

from __future__ import annotations

import pytest

from hoplite.planner.types import LIST
from tests.planner.small_catalogue import checked


def notes(text: str) -> list[tuple[str, int | None]]:
    return [(n.gql_status, None if n.position is None else n.position.offset) for n in checked(text).notifications]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MATCH (a:A)-[:R]->() RETURN a.k", []),
        ("MATCH (a:B)-[:S {j: 1}]->() RETURN a.i", [("01N50", 9), ("01N51", 14), ("01N52", 17), ("01N52", 37)]),
        ("MATCH (a) WHERE a:B RETURN a {.j}", [("01N50", 18), ("01N52", 31)]),
        ("MATCH ()-[r]->() WHERE r:S RETURN r", [("01N51", 25)]),
        ("WITH {j: 1} AS m RETURN m.j, m.i", []),
        ("MATCH (a) RETURN a['j']", [("01N52", 19)]),
        ("MATCH p = (a)-->() RETURN nodes(p)[0].j", [("01N52", 38)]),
        ("CREATE (a:B {j: 1})-[:S]->()", []),
        ("MATCH (a) RETURN a.j AS x ORDER BY a.j", [("01N52", 19)]),
    ],
)
def test_unknown_names_are_reported_where_they_stand(text: str, expected: list[tuple[str, int]]) -> None:
    assert notes(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("MATCH (a), (b) RETURN a", [("03N90", 0)]),
        ("MATCH (a)-->(b), (b)-->(c) RETURN a", []),
        ("MATCH (a)-[r]->(b)-[r]->(c) RETURN r", [("01N63", 11)]),
        ("MATCH p = shortestPath((a)-[*]-(b)) RETURN p", [("03N91", 23)]),
        ("MATCH p = shortestPath((a)-[*..3]-(b)) WHERE length(p) > 1 RETURN p", [("03N92", 10)]),
        ("MATCH ()-[r:R&!R]->() RETURN r", [("01N61", 13)]),
        ("MATCH (a) RETURN id(a)", [("01N02", 17)]),
        ("MATCH (a) RETURN a ORDER BY id(a)", []),
        ("MATCH (a)-[:R|:R]->() RETURN a", [("01N01", 13)]),
        ("MATCH (a) CALL { WITH a RETURN 1 AS x } RETURN x", [("01N00", 10)]),
        ("MATCH (a) CALL { MATCH (a) RETURN 1 AS x } RETURN x", [("01N00", 10), ("03N60", 24)]),
        ("MATCH (a), (b) SET a = b", [("01N01", 23), ("03N90", 0)]),
        ("EXPLAIN RETURN $p", [("01N60", None)]),
        ("CYPHER runtime=pipelined RETURN 1", [("01N40", None)]),
        ("MATCH (a:A {k: 1}) USING INDEX a:A(k) RETURN a", [("01N31", None)]),
    ],
)
def test_deprecated_and_costly_forms_are_reported(text: str, expected: list[tuple[str, int | None]]) -> None:
    assert notes(text) == expected


def test_the_text_of_a_pattern_is_shown() -> None:
    (note,) = checked('MATCH (a:A {k:"x"}), ()-[:R*1..2]->(b) RETURN a').notifications
    assert "'(a:A {k: 'x'}), ()-[:R*1..2]->(b)'" in note.status_description
    assert note.description.endswith("(identifier is: (b))")


def test_a_list_in_place_of_a_boolean_is_reported() -> None:
    (note,) = checked("RETURN NOT $p", p=LIST).notifications
    assert note.gql_status == "01N02"
    assert note.category == "DEPRECATION"
