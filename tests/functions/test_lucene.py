"""Lucene's regular expressions: which words match, and what is refused; malformed queries. The answers are those of a
Neo4j 5.26."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

import hoplite
from hoplite.engine.procedures.lucene_regexp import RegexpError, regexp_matcher

_WORDS = ("", "a", "ab", "abc", "abab", "b", "5", "05", "007", "10", "12", "a.b", "a-b", "&", "a$", "x1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("~(a.*|b)", "|5|05|007|10|12|&|x1"),
        (".*&~(.*b.*)", "|a|5|05|007|10|12|&|a$|x1"),
        ("~~a", "a"),
        ("a&b", None),
        ("<1-10>", "5|05|007|10"),
        ("<01-12>", "05|10|12"),
        ("<5-1>", "5"),
        ("<1-12>&..", "05|10|12"),
        ("a@", "a|ab|abc|abab|a.b|a-b|a$"),
        ("#", None),
        ("()", ""),
        ('"a.b"', "a.b"),
        ("a.b", "a.b|a-b"),
        ("&", "&"),
        ("(ab){2}", "abab"),
        ("(a|b){2,}", "ab|abab"),
        ("[^a-c]", "5|&"),
        (r"\w\d", "05|10|12|x1"),
        (r"[a\-.b]+", "a|ab|abab|b|a.b|a-b"),
        ("a$", "a$"),
        ("a*?", "|a"),
        ("a**", "|a"),
    ],
)
def test_whole_words_match(text: str, expected: str | None) -> None:
    matches = regexp_matcher(text)
    found = [word for word in _WORDS if matches(word, None)]
    assert found == ([] if expected is None else expected.split("|"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a~", "unexpected end-of-string"),
        ("<a>", "'a' not found"),
        ("<1", "expected '>' at position 2"),
        ('"a', "expected '\"' at position 2"),
        ("(a", r"expected '\)' at position 2"),
        ("a)", "end-of-string expected at position 1"),
        ("a{,2}", "integer expected at position 2"),
        ("a{2,1}", r"out of order\): 2..1"),
        ("[]", "expected ']' at position 2"),
        ("[z-a]", r"from \(122\) cannot be > to \(97\)"),
        (r"\x", r"invalid character class \\120"),
        ("(" * 5000 + ")" * 5000, "too complex"),
        ("a" + "?" * 5000, "too complex"),
    ],
)
def test_what_is_not_an_expression_is_refused(text: str, message: str) -> None:
    with pytest.raises(RegexpError, match=message):
        regexp_matcher(text)


def test_the_error_has_the_class_of_the_exception() -> None:
    with hoplite.Database() as database:
        database.run("CREATE FULLTEXT INDEX f FOR (n:D) ON EACH [n.t]").consume()
        ask = "CALL db.index.fulltext.queryNodes('f', $query)"
        for query, end in (("/<1-/", "expected '>' at position 3"), ("/<1->/", "java.lang.NumberFormatException")):
            with pytest.raises(Exception, match=re.escape(end)) as caught:
                list(database.run(ask, query=query))
            assert caught.value.code == "Neo.ClientError.Procedure.ProcedureCallFailed"  # type: ignore[attr-defined]


_plain = st.recursive(
    st.sampled_from(["a", "b", "c", ".", "[ab]", "[^a]", "()"]),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map("".join),
        st.tuples(inner, inner).map(lambda two: f"({two[0]}|{two[1]})"),
        st.tuples(inner, st.sampled_from(["?", "*", "+", "{2}", "{1,3}", "{2,}"])).map(
            lambda two: f"({two[0]}){two[1]}"
        ),
    ),
    max_leaves=8,
)


@given(_plain, _plain, st.lists(st.text("abc", max_size=6), max_size=8))
def test_operators_agree_with_pythons_expressions(one: str, other: str, words: list[str]) -> None:
    first, second = re.compile(one), re.compile(other)
    intersection, union = (regexp_matcher(f"({one}){sign}({other})") for sign in "&|")
    complement = regexp_matcher(f"~({one})")
    for word in words:
        is_first, is_second = first.fullmatch(word) is not None, second.fullmatch(word) is not None
        assert intersection(word, None) is (is_first and is_second)
        assert union(word, None) is (is_first or is_second)
        assert complement(word, None) is not is_first


@pytest.mark.parametrize(
    ("query", "message"),
    [
        (r"\u12", "ParseException: Truncated unicode escape sequence."),
        (r"\uzzzz", "ParseException: Non-hex character in Unicode escape sequence: z"),
        ("a~1.5", "ParseException: Fractional edit distances are not allowed!"),
        ("foo AND", 'ParseException: Encountered "<EOF>" at line 1, column 7.'),
        ('"abc', 'TokenMgrError: Lexical error at line 1, column 5.  Encountered: <EOF> after prefix "\\"abc"'),
    ],
)
def test_malformed_queries_are_refused_in_the_words_of_lucene(query: str, message: str) -> None:
    with hoplite.Database() as database:
        database.run("CREATE FULLTEXT INDEX f FOR (n:D) ON EACH [n.t]").consume()
        with pytest.raises(Exception, match=re.escape(message)):
            list(database.run("CALL db.index.fulltext.queryNodes('f', $query)", query=query))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"skip": -1}, "IllegalStateException: Skip argument cannot be negative: -1."),
        ({"limit": -1}, "IllegalStateException: Limit argument cannot be negative: -1."),
        ({"analyzer": "klingon"}, "RuntimeException: Could not create fulltext analyzer: klingon."),
        ({"limit": "x"}, None),
        ({"skip": 1.5, "limit": 1}, None),
    ],
)
def test_options_are_checked_as_neo4j_does(options: dict[str, object], message: str | None) -> None:
    with hoplite.Database() as database:
        database.run("CREATE FULLTEXT INDEX f FOR (n:D) ON EACH [n.t]").consume()
        database.run("UNWIND range(1, 3) AS i CREATE (:D {t: 'a'})").consume()
        ask = "CALL db.index.fulltext.queryNodes('f', 'a', $options)"
        if message is None:
            assert len(list(database.run(ask, options=options))) == (1 if "skip" in options else 3)
        else:
            with pytest.raises(Exception, match=re.escape(message)):
                list(database.run(ask, options=options))
