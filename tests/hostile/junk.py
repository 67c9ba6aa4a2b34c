"""Ten megabytes that are not a statement, or barely one: junk, quotes, escapes, brackets, comments."""

from __future__ import annotations

import random
from collections.abc import Callable
from functools import partial

from tests.hostile.statement import Hostile

SIZE = 10_000_000


def _repeated(part: str, head: str = "RETURN ", tail: str = "") -> Callable[[], str]:
    return lambda: head + part * (SIZE // len(part)) + tail


def _random_characters(alphabet: str) -> str:
    return "".join(random.Random(1).choices(alphabet, k=SIZE))


_PRINTABLE = "".join(map(chr, range(32, 127)))

_TEXTS: dict[str, Callable[[], str]] = {
    "junk": partial(_random_characters, _PRINTABLE),
    "junk of brackets": partial(_random_characters, "()[]{}"),
    "junk of quotes": partial(_random_characters, "'\"`\\ a"),
    "junk of signs": partial(_random_characters, "+-*/<>=|&!.:,;"),
    "junk of Unicode": partial(_random_characters, "äßλ漢字🙂\u200b\ud800\uffff "),
    "spaces": _repeated(" ", "", "RETURN 1 AS x"),
    "empty": _repeated(" ", ""),
    "a string": _repeated("a", "RETURN '", "' AS x"),
    "a string of escapes": _repeated("\\n", "RETURN '", "' AS x"),
    "a string of escaped quotes": _repeated("\\'", "RETURN '", "' AS x"),
    "a string of Unicode escapes": _repeated("\\u0041", "RETURN '", "' AS x"),
    "a string of surrogates": _repeated("\\uD83D\\uDE00", "RETURN '", "' AS x"),
    "Unicode escapes": _repeated("\\u0041 "),
    "a wrong Unicode escape": _repeated("\\u0041", "RETURN '", "\\u00"),
    "backslashes": _repeated("\\"),
    "backslashes in a string": _repeated("\\\\", "RETURN '", "' AS x"),
    "a name in backticks": _repeated("a", "RETURN 1 AS `", "`"),
    "doubled backticks": _repeated("``", "RETURN 1 AS `", "`"),
    "an open backtick": _repeated("``", "RETURN 1 AS `"),
    "an open quote": _repeated("a", "RETURN '"),
    "an open quote of escapes": _repeated("\\'", "RETURN '"),
    "open quotes": _repeated("'\"", "RETURN "),
    "an open comment": _repeated("a ", "RETURN 1 /* "),
    "open comments": _repeated("/* "),
    "comments": _repeated("/**/", "RETURN 1 AS x "),
    "line comments": _repeated("//a\n", "RETURN 1 AS x "),
    "a comment of stars": _repeated("*", "RETURN 1 AS x /*", "/"),
    "open parentheses": _repeated("("),
    "open brackets": _repeated("["),
    "open braces": _repeated("{"),
    "open braces with keys": _repeated("{a:"),
    "open comprehensions": _repeated("[x IN "),
    "open calls": _repeated("abs("),
    "closed parentheses": _repeated(")"),
    "crossed brackets": _repeated("([)]"),
    "commas": _repeated(","),
    "dots": _repeated("."),
    "dotted names": _repeated("a.", "RETURN ", "a"),
    "dollars": _repeated("$"),
    "digits": _repeated("9"),
    "digits with underscores": _repeated("9_", "RETURN ", "9"),
    "hexadecimal digits": _repeated("f", "RETURN 0x"),
    "digits behind the point": _repeated("9", "RETURN 0."),
    "digits of an exponent": _repeated("9", "RETURN 1e"),
    "one long word": _repeated("a"),
    "words": _repeated("a "),
    "keywords": _repeated("MATCH "),
    "CASE words": _repeated("CASE "),
    "CASE WHEN words": _repeated("CASE WHEN "),
    "END words": _repeated("END "),
    "semicolons": _repeated(";", "RETURN 1 AS x"),
    "statements": _repeated("RETURN 1; ", ""),
    "new lines": _repeated("\n", "RETURN 1 AS x"),
    "NUL characters": _repeated("\0"),
    "arrows": _repeated("-->"),
    "relationships": _repeated("-[]-", "MATCH ()"),
    "a list of maps": _repeated("{a: 1, b: 'x'}, ", "UNWIND [", "{a: 1}] AS r RETURN count(r) AS x"),
    "a list of strings": _repeated("'abc', ", "UNWIND [", "'d'] AS r RETURN count(r) AS x"),
    "a list of numbers": _repeated("1, ", "UNWIND [", "1] AS r RETURN count(r) AS x"),
    "a list of lists": _repeated("[[1], [2]], ", "UNWIND [", "[]] AS r RETURN count(r) AS x"),
    "a list with a variable": _repeated("1, ", "WITH 1 AS a UNWIND [", "a] AS r RETURN count(r) AS x"),
    "a list that is not closed": _repeated("{a: 1}, ", "UNWIND ["),
    "a list of large numbers": _repeated("99999999999999999999, ", "RETURN [", "1] AS x"),
    "a list with a wrong end": _repeated("'abc', ", "UNWIND [", "'d'] AS r RETURN count(r) AS"),
    "an option": _repeated("planner=cost ", "CYPHER ", "RETURN 1 AS x"),
    "EXPLAIN words": _repeated("EXPLAIN ", ""),
}

STATEMENTS = [Hostile(f"10 MB: {name}", text, sample=name == "open comments") for name, text in _TEXTS.items()]
