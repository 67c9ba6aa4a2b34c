"""Random write programs: a few transactions of statements that make, change and remove nodes and relationships.

Every statement does the same whatever order rows come in, so that graphs that are held in different ways must agree.
All values go through one parameter `p`, a map, so that texts repeat and their plans are kept.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from neo4j.spatial import CartesianPoint, WGS84Point
from neo4j.time import Date, DateTime, Duration, Time

from tests.neo4j.choices import Choices

LABELS, TYPES, KEYS = ("A", "B"), ("R", "S"), ("s", "t", "k")
LONG = "long " * 60

TEXTS = ("a", "b", "ab", "", "ä\U0001f600", LONG)
OTHERS: tuple[Any, ...] = (
    1,
    0,
    -7,
    2**62,
    1.0,
    -0.0,
    2.5,
    float("nan"),
    float("inf"),
    True,
    False,
    ["a", "b"],
    [],
    [1, 2],
    [1.5],
    [True],
    Date(2024, 2, 29),
    Time(12, 30, 1, 5),
    DateTime(2024, 2, 29, 12, 30, 1, 5),
    Duration(months=1, days=2, seconds=3),
    CartesianPoint((1.0, 2.0)),
    WGS84Point((1.0, 2.0, 3.0)),
    [Date(2024, 2, 29), Date(2024, 3, 1)],
)
SIZES = (1, 2, 5, 17, 40)
"""How many rows a statement makes: beyond 16 texts, columns are handed out in another way."""


@dataclass(frozen=True)
class Step:
    """Statements with their parameter `p` in one transaction; a single one may run by itself."""

    statements: tuple[tuple[str, dict[str, Any]], ...]
    explicit: bool = False
    commits: bool = True


Program = tuple[Step, ...]

SCHEMA = (
    (),
    ("CREATE INDEX ia FOR (n:A) ON (n.s)", "CREATE INDEX ir FOR ()-[r:R]-() ON (r.s)"),
    ("CREATE INDEX ia FOR (n:A) ON (n.s, n.t)", "CREATE TEXT INDEX ta FOR (n:B) ON (n.t)"),
    ("CREATE CONSTRAINT ca FOR (n:A) REQUIRE n.s IS UNIQUE", "CREATE INDEX ib FOR (n:B) ON (n.k)"),
)
"""What a family of programs runs under."""

OPENING = "CREATE (a:A:B {s: 1, t: 1, k: 1})-[:R]->(a)-[:S]->(a) DETACH DELETE a"
"""Makes all names known, so that plans stay good."""

_WHERE = "WHERE id({0}) % $p.m = $p.c"
_SOME = "MATCH (n:{label}) " + _WHERE.format("n")
_SOME_OF_ALL = "MATCH (n) " + _WHERE.format("n")
_SOME_LINKS = "MATCH ()-[r:{type}]->() " + _WHERE.format("r")

MAKING = (
    "UNWIND $p.rows AS row CREATE (n:{label}) SET n = row",
    "UNWIND $p.rows AS row CREATE (n:{label} {{s: row.s, t: row.t, k: row.k}})",
    "UNWIND $p.rows AS row CREATE (:A {{s: row.s}})-[:{type} {{t: row.t, k: row.k}}]->(:B {{k: row.s}})",
    "UNWIND $p.rows AS row CREATE ()-[r:{type}]->(:A:B) SET r += row",
    "CREATE (:{label} {{{key}: $p.v}})",
    "CREATE (:{label})",
    "UNWIND $p.rows AS row CREATE (:{label})",
    "MATCH (a:A) WITH a ORDER BY id(a) LIMIT 5 MATCH (b:B) WITH a, b ORDER BY id(a), id(b) LIMIT 17"
    " CREATE (a)-[r:{type} {{s: $p.v, t: a.s, k: b.{key}}}]->(b)",
    "UNWIND $p.vs AS v MERGE (n:{label} {{s: v}}) ON CREATE SET n.t = v ON MATCH SET n.k = v",
    "MATCH (a:{label}) WITH a ORDER BY id(a) LIMIT 3 MERGE (a)-[r:{type} {{s: $p.v}}]->(b:B {{t: $p.w}})"
    " ON CREATE SET r.k = 1 ON MATCH SET r.t = b.{key}",
    "MATCH (a:A), (b:B) WITH a, b ORDER BY id(a), id(b) LIMIT 4 MERGE (a)-[r:{type}]->(b) SET r.{key} = $p.v",
    "FOREACH (v IN $p.vs | CREATE (:{label} {{{key}: v}}))",
)
CHANGING = (
    f"{_SOME} SET n.{{key}} = $p.v",
    f"{_SOME_OF_ALL} SET n.{{key}} = $p.v, n.k = $p.w",
    "MATCH (n:{label}) SET n.{key} = $p.v",
    f"{_SOME} SET n += $p.row",
    f"{_SOME} SET n = $p.row",
    f"{_SOME} SET n.{{key}} = n.{{other}}",
    f"{_SOME} SET n.{{key}} = null",
    f"{_SOME_OF_ALL} REMOVE n.{{key}}",
    "MATCH (n:{label}) REMOVE n.{key}",
    f"{_SOME_OF_ALL} SET n:{{label}}",
    f"{_SOME_OF_ALL} REMOVE n:{{label}}",
    "MATCH (n:{label}) WHERE n.{key} IS NULL SET n.{key} = coalesce(n.{other}, 'was null')",
    "MATCH (n) WHERE n.{key} = $p.v SET n.{other} = properties(n).{key}",
    "MATCH (n) WHERE n.{key} IS NOT NULL SET n.{other} = n.{key}, n.{key} = null",
    f"{_SOME_LINKS} SET r.{{key}} = $p.v",
    f"{_SOME_LINKS} SET r = $p.row",
    f"{_SOME_LINKS} SET r += $p.row",
    f"{_SOME_LINKS} REMOVE r.{{key}}",
    "MATCH (a)-[r:{type}]->(b) SET r.{key} = b.{other}",
    "MATCH (a)-[r:{type}]->() WITH a, max(id(r)) AS last SET a.{key} = last",
    f"{_SOME} SET n.{{key}} = $p.v, n.{{key}} = $p.w",
)
REMOVING = (
    f"{_SOME_OF_ALL} DETACH DELETE n",
    f"{_SOME_LINKS} DELETE r",
    "MATCH (n:{label}) WHERE n.{key} = $p.v DETACH DELETE n",
    "MATCH (n:{label}) WHERE n.{key} IS NULL AND NOT (n)--() DELETE n",
    f"{_SOME_OF_ALL} DELETE n",
    "MATCH ()-[r]->() WHERE r.{key} = $p.v DELETE r",
)
FAILING = (
    f"{_SOME} SET n.{{key}} = $p.v WITH n RETURN 1 / (id(n) - id(n))",
    "CREATE (n:{label} {{{key}: $p.v}}) WITH n MATCH (m) SET m.{other} = [1, 'a']",
)
_KINDS = (MAKING,) * 5 + (CHANGING,) * 8 + (REMOVING,) * 2 + (FAILING,)


def random_program(choices: Choices) -> Program:
    """A few steps, the first of which makes something."""
    steps = [Step((_statement(choices, MAKING),))]
    for _ in range(1 + choices.below(5)):
        if choices.chance(25):
            several = tuple(_statement(choices, choices.pick(_KINDS)) for _ in range(1 + choices.below(3)))
            steps.append(Step(several, explicit=True, commits=not choices.chance(30)))
        else:
            steps.append(Step((_statement(choices, choices.pick(_KINDS)),)))
    return tuple(steps)


def _statement(choices: Choices, kind: tuple[str, ...]) -> tuple[str, dict[str, Any]]:
    template = choices.pick(kind)
    key = choices.pick(KEYS)
    other = choices.pick([name for name in KEYS if name != key])
    text = template.format(label=choices.pick(LABELS), type=choices.pick(TYPES), key=key, other=other)
    modulus = choices.pick((1, 2, 3, 7))
    given: dict[str, Any] = {"m": modulus, "c": choices.below(modulus), "v": _value(choices), "w": _value(choices)}
    if "$p.rows" in text:
        given["rows"] = _rows(choices, choices.pick(SIZES))
    if "$p.row " in f"{text} ":
        given["row"] = _row(choices, choices.below(10))
    if "$p.vs" in text:
        given["vs"] = [_value(choices) for _ in range(choices.below(4))]
    return text, given


def _value(choices: Choices) -> Any:
    return choices.pick(TEXTS) if choices.chance(60) else choices.pick((*OTHERS, None))


def _rows(choices: Choices, count: int) -> list[dict[str, Any]]:
    """Rows that share a shape, with a few that do not; each text of a long list is another."""
    shape = choices.below(10)
    rows = [_row(choices, shape) for _ in range(min(count, 3))]
    for number in range(len(rows), count):
        like = rows[number % len(rows)]
        rows.append({key: f"{value}{number}" if isinstance(value, str) else value for key, value in like.items()})
    return rows


def _row(choices: Choices, shape: int) -> dict[str, Any]:
    keys = ((), ("s",), ("t",), ("s", "t"), ("s", "t", "k"), ("k",), ("s", "k"), ("s",), ("s", "t"), ("t", "k"))[shape]
    return {key: choices.pick(TEXTS) if choices.chance(60) else _value(choices) for key in keys}
