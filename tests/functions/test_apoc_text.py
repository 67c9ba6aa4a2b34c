"""apoc.text.*: words on odd input, and regular expressions that could take forever; answers of APOC core 5.26."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import ClientError

import hoplite


@pytest.fixture(scope="module")
def db() -> hoplite.Database:
    return hoplite.open()


def value(db: hoplite.Database, expression: str, **parameters: Any) -> Any:
    (record,) = db.run(f"RETURN {expression} AS value", parameters)
    return record["value"]


@pytest.mark.parametrize(
    ("text", "snake", "camel", "constant"),
    [
        ("foo_bar", "foo-_bar", "fooBar", "FOO_BAR"),
        ("FOO_BAR", "foo-bar", "fooBar", "F_O_O_B_A_R"),
        ("XMLHttpRequest", "x-m-l-http-request", "xmlhttprequest", "X_M_L_HTTP_REQUEST"),
        ("user2ID", "user2-i-d", "user2id", "USER2_I_D"),
        ("éclair Über", "éclair-über", "éclairÜber", "CLAIR_BER"),
        ("ÉCLAIR_ÜBER", "éclair-über", "éclairÜber", "C_L_A_I_R_B_E_R"),
        ("straße", "straße", "straße", "STRA_SSE"),
        ("--foo--", "--foo--", "foo", "FOO"),
        ("a😀B", "a-?-?-b", "aB", "A_B"),
        ("日本語", "日-本-語", "日本語", ""),
        ("don't stop", "don-'t-stop", "donTStop", "DON_T_STOP"),
        ("foo\tbar", "foo-bar", "fooBar", "FOO_BAR"),
    ],
)
def test_words_begin_where_they_do_in_apoc(
    db: hoplite.Database, text: str, snake: str, camel: str, constant: str
) -> None:
    assert value(db, "apoc.text.snakeCase($text)", text=text) == snake
    assert value(db, "apoc.text.camelCase($text)", text=text) == camel
    assert value(db, "apoc.text.toUpperCase($text)", text=text) == constant


@pytest.mark.parametrize("name", ["camelCase", "upperCamelCase", "capitalize"])
def test_an_empty_text_has_no_first_letter(db: hoplite.Database, name: str) -> None:
    with pytest.raises(ClientError, match="Failed to invoke function"):
        value(db, f"apoc.text.{name}('')")


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("apoc.text.capitalizeAll(' a  ǆx ')", "A  ǅx"),
        ("apoc.text.decapitalize('İx')", "ix"),
        ("apoc.text.swapCase('Straße İ')", "sTRAßE i"),
        ("apoc.text.split('aXbXX', 'X')", ["a", "b"]),
        ("apoc.text.split('aXbXX', 'X', -1)", ["a", "b", "", ""]),
        ("apoc.text.split('abc', '')", ["a", "b", "c"]),
        ("apoc.text.split('aaa', 'a')", []),
        ("apoc.text.replace('a1b2', '([a-z])(\\\\d)', '$2$1\\\\$')", "1a$2b$"),
        ("apoc.text.replace('k=v', '(?<k>\\\\w)=(?<v>\\\\w)', '${v}=${k}')", "v=k"),
        ("apoc.text.replace('abc', 'x', '$7')", "abc"),
        ("apoc.text.regexGroups('a1b', '([a-z])(\\\\d)?')", [["a1", "a", "1"], ["b", "b", None]]),
        ("apoc.text.regexGroups('Éé', '(?i)é')", [["é"]]),
        ("apoc.text.regexGroupsByName('k=v', '(?<k>\\\\w)=')", [{"group": "k=", "matches": {"k": "k"}}]),
        ("apoc.text.rpad('ab', 4, 'xy')", "abxx"),
        ("apoc.text.indexesOf('aaa', 'aa')", [0, 1]),
        ("apoc.text.levenshteinSimilarity('abc', 'abd')", 2 / 3),
    ],
)
def test_answers_of_apoc(db: hoplite.Database, expression: str, expected: Any) -> None:
    assert value(db, expression) == expected


@pytest.mark.parametrize("expression", ["replace($text, '(a)', '$7')", "split($text, '(')", "regexGroups($text, '[')"])
def test_what_java_throws_on_is_refused(db: hoplite.Database, expression: str) -> None:
    with pytest.raises(ClientError, match="Failed to invoke function"):
        value(db, f"apoc.text.{expression}", text="aaa")


@pytest.mark.parametrize("function", ["regexGroups($t, $p)", "regexGroupsByName($t, $p)", "split($t, $p)"])
@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(?i)(É|aa|a)+$"])
def test_a_pattern_that_would_not_end_is_stopped(function: str, pattern: str) -> None:
    with (
        hoplite.open(timeout=0.3) as limited,
        pytest.raises(ClientError, match="has not completed within the timeout"),
    ):
        value(limited, f"apoc.text.{function}", t="a" * 4000 + "é!", p=pattern)


@pytest.mark.parametrize(("pattern", "found"), [("(a|aa)+", 1), ("(a|aa)+b", 1), ("(a?){30}a{30}", 0)])
def test_a_full_text_pattern_that_backtracking_would_not_end_is_answered(pattern: str, found: int) -> None:
    with hoplite.open(timeout=20) as limited:
        limited.run("CREATE FULLTEXT INDEX words FOR (n:Text) ON EACH [n.text]")
        limited.run("CREATE (:Text {text: $word})", word="a" * 4000 + "b")
        search = "CALL db.index.fulltext.queryNodes('words', $pattern) YIELD node RETURN count(node)"
        assert limited.run(search, pattern=f"/{pattern}/").values() == [[found]]


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("{b: 1, a: ['x', null], `c d`: 1.0}", "{a:['x',null],b:1,`c d`:1.0}"),
        ("[date('2020-01-02'), true]", "[true]"),
        ("date('2020-01-02')", None),
        ("{a: 1, b: 2}, {skipKeys: ['a']}", "{b:2}"),
        ("{a: 1, b: 2}, {keepValues: [1]}", "{a:1}"),
    ],
)
def test_values_as_cypher(db: hoplite.Database, expression: str, expected: str | None) -> None:
    assert value(db, f"apoc.text.toCypher({expression})") == expected


def test_entities_as_cypher() -> None:
    with hoplite.open() as graph:
        graph.run("CREATE (:A {x: 1})-[:R {w: 'y'}]->(:B)")
        (record,) = graph.run(
            "MATCH (a)-[r]->() RETURN apoc.text.toCypher(a, {node: 'n'}) AS node, apoc.text.toCypher(r) AS relationship"
        )
    assert record["node"] == "(n:A {x:1})"
    assert record["relationship"] == "(:A {x:1})-[:R {w:'y'}]->(:B {})"
