"""Single calls of functions that take long or make much of little: regular expressions, texts, collections."""

from __future__ import annotations

from tests.hostile.statement import Hostile, of
from tests.hostile.written import written

_A = "reduce(s = '', i IN range(1, {}) | s + 'a')"


def _a(count: int) -> str:
    return _A.format(count)


# A pattern, and the expression of a text on which it takes long.
_PATTERNS = {
    "a? thirty times": ("(a?){30}a{30}", _a(30)),
    "a or a": ("(a|a){30}b", _a(31)),
    "a or aa": ("(a|aa){40}b", _a(50)),
    "a or aa and no end": ("(a|aa)+$b", _a(40)),
    "loop in a loop": ("(a+)+b", _a(40)),
    "loops in loops": ("((a+)+)+b", _a(40)),
    "star in a star": ("(a*)*b", _a(40)),
    "loops one after another": (".*.*.*.*.*.*.*.*.*.*b", _a(2000)),
    "back-reference": ("(a*)\\\\1b", _a(5000)),
    "back-references": ("(a*)(a*)(a*)\\\\1\\\\2\\\\3b", _a(300)),
    "back-reference ignoring case": ("(?i)(a|ä|aa)*\\\\1b", _a(60) + " + 'ä'"),
    "back-reference ignoring case, nested": ("(?i)((a|aa)+)\\\\1+b", _a(60) + " + 'ä'"),
    "counted loops nested": ("((a{1,10}){1,10}){1,10}b", _a(60)),
    "counted loops nested deeply": ("(((((a{1,5}){1,5}){1,5}){1,5}){1,5})b", _a(40)),
    "sixteen characters": ("((((a*)*)*)*)*b", _a(16)),
    "sixteen characters, deeper": ("(((((((a|aa)*)*)*)*)*)*)*b", _a(16)),
    "a huge count": ("(a{1,65000}){1,65000}b", _a(1000)),
    "huge counts nested": ("((a{0,1000}){0,1000}){0,1000}", _a(1000)),
    "a huge least count": ("a{2000000000}", _a(10)),
    "many optional groups": ("(a?)" * 25 + "a{25}", _a(25)),
    "look-ahead in a loop": ("((?=a+)a|a)*b", _a(40)),
    "look-behind in a loop": ("((?<=a)a|a|aa)*b", _a(40)),
    "possessive beside greedy": ("(a*+a|a)*b", _a(40)),
    "lazy loops": ("(a+?)+?b", _a(40)),
    "letters by property": ("(\\\\p{L}|\\\\p{Ll})+[^\\\\p{L}]", _a(60)),
    "classes intersected": ("([a-z&&[^b]]|[a-c])+d", _a(60)),
    "ignoring case": ("(?i)(A|a|aa)+b", _a(60)),
    "ignoring case of all letters": ("(?iu)(ä|Ä|a|aa)+b", _a(60)),
    "an address": ("^([a-zA-Z0-9])(([\\\\-.]|[_]+)?([a-zA-Z0-9]+))*(@){1}[a-z0-9]+[.]{1}$", _a(60)),
    "words": ("(\\\\w+\\\\s*)+:", _a(60)),
    "alternatives that begin alike": ("(a|ab|abc|abcd|aa|aab)*e", _a(60)),
    "dots": ("(.*a){25}b", _a(60)),
}  # fmt: skip

_WAYS = {
    "=~": "RETURN {1} =~ '{0}' AS x",
    "regexGroups": "RETURN apoc.text.regexGroups({1}, '{0}') AS x",
    "split": "RETURN apoc.text.split({1}, '{0}') AS x",
    "replace": "RETURN apoc.text.replace({1}, '{0}', '') AS x",
}

_EVERY_WAY = ("a? thirty times", "a or aa", "loop in a loop", "words")
_SAMPLES = {("=~", "a or aa"), ("replace", "words")}
_ALTERNATIVES = "|".join("a" * (length % 50 + 1) for length in range(5000))

_MATCHING = [
    of(f"{way} {name}", _WAYS[way].format(pattern, text), sample=(way, name) in _SAMPLES)
    for name, (pattern, text) in _PATTERNS.items()
    for way in (_WAYS if name in _EVERY_WAY else ("=~", "regexGroups"))
] + [
    Hostile("=~ long alternation", lambda: _WAYS["=~"].format(f"({_ALTERNATIVES})*b", _a(100))),
    Hostile("regexGroups long alternation", lambda: _WAYS["regexGroups"].format(f"({_ALTERNATIVES})*b", _a(100))),
    Hostile("=~ many classes", lambda: "RETURN 'a' =~ '" + "[a-z&&[^aeiou]]" * 5000 + "' AS x"),
    Hostile("=~ many properties", lambda: "RETURN 'a' =~ '" + r"\\p{L}\\p{IsAlphabetic}\\P{Lu}" * 1000 + "' AS x"),
    Hostile("=~ many groups", lambda: "RETURN 'a' =~ '" + "(a)?" * 20000 + "' AS x"),
    Hostile("=~ deep groups", lambda: "RETURN 'a' =~ '" + "(" * 5000 + "a" + ")" * 5000 + "' AS x"),
    Hostile("=~ deep loops", lambda: f"RETURN {_a(30)} =~ '" + "(" * 50 + "a" + ")*" * 50 + "c' AS x"),
]

STATEMENTS: list[Hostile] = [*_MATCHING, *written("function_calls.txt")]
