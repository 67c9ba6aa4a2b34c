"""Forms that models write, as the lenient setting reads them."""

from __future__ import annotations

import pytest
from neo4j.exceptions import CypherSyntaxError

import hoplite
from hoplite.grammar.lenient import relaxed


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("```cypher\nMATCH (n) RETURN n\n```", "MATCH (n) RETURN n\n"),
        ("cypher\nMATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("Here is the query: MATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("MATCH (n) RETURN n\n\nThis finds all nodes.", "MATCH (n) RETURN n"),
        ("MATCH (n)\n\nRETURN n", "MATCH (n)\n\nRETURN n"),
        ("RETURN 1 != 2, 1 == 2, '!= =='", "RETURN 1 <> 2, 1 = 2, '!= =='"),
        ("MATCH (n) WHERE exists(n.p) RETURN n", "MATCH (n) WHERE (n.p IS NOT NULL) RETURN n"),
        ("MATCH (n) WHERE exists((n)-->()) RETURN n", "MATCH (n) WHERE exists((n)-->()) RETURN n"),
        ("MATCH (n) RETURN size((n)-->(:X)) AS c", "MATCH (n) RETURN COUNT { (n)-->(:X) } AS c"),
        ("RETURN size([1]), toInt('1') // toInt", "RETURN size([1]), toInteger('1') // toInt"),
    ],
)
def test_old_forms_are_read_as_those_of_today(written: str, read: str) -> None:
    assert relaxed(written)[0] == read


def test_a_lenient_database_says_what_it_changed() -> None:
    text = "```cypher\nUNWIND [1, 2] AS x WITH x WHERE x != 1 RETURN toInt('3') + x AS v\n```"
    with pytest.raises(CypherSyntaxError):
        hoplite.open().run(text)
    result = hoplite.open(lenient=True).run(text)
    assert result.value() == [5]
    notes = [s.status_description for s in result.consume().gql_status_objects if s.gql_status == "01N00"]
    assert len(notes) == 3
    assert any("'!=' was read as '<>'" in note for note in notes)


def test_a_text_that_is_wrong_either_way_keeps_its_own_error() -> None:
    with pytest.raises(CypherSyntaxError) as caught:
        hoplite.open(lenient=True).run("MATCH (n RETURN n != 1")
    assert "line 1, column 10" in str(caught.value)
