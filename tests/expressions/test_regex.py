"""Java's regular expressions."""

import contextlib

import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite.engine.expressions.regex import limited, matcher
from hoplite.errors import SEMANTIC_ERROR, CypherError


@pytest.mark.parametrize(
    ("pattern", "text", "matches"),
    [
        ("a|abc", "abc", True),
        ("b", "abc", False),
        (".", "\n", False),
        ("(?s).", "\n", True),
        (".", "\u2028", False),
        ("a(?i)b|c", "aB", True),
        ("a(?i)b|c", "C", True),
        ("a(?i)b|c", "AB", False),
        ("(?i)É", "é", False),
        ("(?iu)É", "é", True),
        ("[a-z&&[^b]]+", "ac", True),
        ("[a-z&&[^b]]+", "abc", False),
        ("[a-c[x-z]]+", "axz", True),
        ("[^a-c[x-z]]+", "mn", True),
        ("[]a]+", "]a", True),
        (r"\Qa.c\E", "a.c", True),
        (r"\Qa.c\E", "abc", False),
        (r"\p{Lu}\p{L}*", "Éa", True),
        (r"\p{Alpha}+", "é", False),
        (r"\w+", "é", False),
        (r"(?U)\w+", "é", True),
        (r"\h*x\h*", "\u00a0x ", True),
        (r"\R", "\r\n", True),
        (r"(a)\1", "aa", True),
        (r"\1(a)", "a", False),
        (r"(?<x>a)\k<x>", "aa", True),
        ("a++b", "aab", True),
        ("a*+a", "aa", False),
        ("(?x) a b # letters", "ab", True),
        (r"\uD83D\uDE00", "😀", True),
        (r"\x{1F600}", "😀", True),
        ("(?m)^.$", "a", True),
        ("a$", "a\n", False),
    ],
)
def test_the_whole_text_must_match(pattern: str, text: str, matches: bool) -> None:
    assert matcher(pattern)(text, None) is matches
    # Where loops could add up, another package runs the pattern: it has to say the same.
    if "(?i)" not in pattern or (pattern + text).isascii():
        assert (limited(pattern).fullmatch(text) is not None) is matches


@pytest.mark.parametrize("pattern", ["(a|aa)+$", "(a+)+b", "(a|a)*b", "a*a*a*a*a*a*a*a*b", "(?i)(A|aa)+c", r"(a*)*\1b"])
def test_a_pattern_that_would_not_end_is_stopped(pattern: str) -> None:
    """It may also be that it is seen through."""
    with contextlib.suppress(TimeoutError):
        assert not matcher(pattern)("a" * 4000 + "!", 0.05)


def test_a_statement_with_such_a_pattern_is_stopped() -> None:
    with hoplite.open(timeout=0.2) as db, pytest.raises(ClientError, match="has not completed within the timeout"):
        db.run("RETURN reduce(s = 'a', i IN range(1, 12) | s + s) + '!' =~ '(a|aa)+$'").values()


@pytest.mark.parametrize(
    ("pattern", "message"),
    [
        ("(", "Unclosed group near index 1\n("),
        ("a)", "Unmatched closing ')' near index 0\na)\n^"),
        ("*", "Dangling meta character '*' near index 0\n*\n^"),
        ("[a-", "Illegal character range near index 3\n[a-"),
        ("[b-a]", "Illegal character range near index 3\n[b-a]\n   ^"),
        ("[a", "Unclosed character class near index 1\n[a\n ^"),
        ("a{2,1}", "Illegal repetition range near index 5\na{2,1}\n     ^"),
        (r"\y", "Illegal/unsupported escape sequence near index 1\n\\y\n ^"),
        (r"\p{Foo}", "Unknown character property name {Foo} near index 6\n\\p{Foo}\n      ^"),
        ("(?z)", "Unknown inline modifier near index 2\n(?z)\n  ^"),
    ],
)
def test_bad_patterns_are_refused_in_javas_words(pattern: str, message: str) -> None:
    with pytest.raises(CypherError) as raised:
        matcher(pattern)
    assert (raised.value.code, raised.value.message) == (SEMANTIC_ERROR, "Invalid Regex: " + message)
