"""Java's regular expressions."""

import pytest

from hoplite.engine.expressions.regex import matcher
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
    assert matcher(pattern)(text) is matches


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
