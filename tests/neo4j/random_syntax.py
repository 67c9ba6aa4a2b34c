"""Random statements, valid and nearly valid, from the grammar of the Cypher manual: which of them are taken?

A statement is a few clauses with the parts that the manual lists for each; then, one time in three, a word is left out,
written twice or exchanged for another. Only whether it is accepted, or the code of its error, is compared: `EXPLAIN`
stands before each.

    python -m tests.neo4j.random_syntax --uri bolt://127.0.0.1:7700 --seed 1 --count 2000
"""

from __future__ import annotations

import argparse
import random
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from neo4j import Driver, GraphDatabase
from neo4j.exceptions import Neo4jError

import hoplite
from tests.neo4j.choices import Choices

# A rule's alternatives; <name> is another rule, <name?> may be missing.
RULES: dict[str, tuple[str, ...]] = {
    "statement": (
        "<match> RETURN <items> <tail?>",
        "<match> <clause> RETURN <items> <tail?>",
        "<clause> <clause> RETURN <items>",
        "<clause> <clause> <clause> RETURN <items> <tail?>",
        "RETURN <items> <tail?> UNION <all?> RETURN <items>",
        "<match> <write>",
        "<match> <clause> <write> RETURN <items>",
        "<use> <match> RETURN <items>",
        "CALL <scope?> { <inner> } <transactions?> RETURN <items>",
        "<match> CALL <scope?> { <inner> } RETURN <items>",
        "SHOW <shown> <yield?>",
        "<options> RETURN <items>",
        "<match> FINISH",
    ),
    "match": ("MATCH <pattern> <where?>", "OPTIONAL MATCH <pattern> <where?>", "MATCH <selected> <where?>"),
    "clause": (
        "<match>",
        "WITH <items> <tail?> <where?>",
        "WITH *",
        "UNWIND <expression> AS <name>",
        "CALL db.labels() YIELD label",
        "CALL { <inner> }",
        "<write>",
        "<tail>",
    ),
    "inner": (
        "RETURN <expression> AS c",
        "<match> RETURN a AS c",
        "WITH a RETURN a AS c",
        "WITH a <match> RETURN count(*) AS c",
        "<write>",
        "RETURN 1 AS c UNION RETURN 2 AS c",
    ),
    "write": (
        "CREATE <made>",
        "INSERT <made>",
        "MERGE <made>",
        "MERGE (a:<label>) ON CREATE SET <set> ON MATCH SET <set>",
        "SET <set>",
        "SET <set>, <set>",
        "REMOVE a.x",
        "REMOVE a:<label>, a[<expression>]",
        "DELETE a",
        "DETACH DELETE <expression>",
        "FOREACH (x IN <expression> | <write>)",
    ),
    "set": (
        "a.x = <expression>",
        "a[<string>] = <expression>",
        "a += <map>",
        "a = <map>",
        "a:<label>",
        "a IS <label>",
        "a:<label>:<label>",
        "a:$(<string>)",
    ),
    "made": ("(a)", "(a:<labels> <map?>)", "(a)-[r:R <map?>]->(b:<label>)", "p = (a)<-[:R]-(b)", "(a), (b {x: a.x})"),
    "pattern": (
        "<path>",
        "p = <path>",
        "<path>, <path>",
        "p = shortestPath((a)-[:R*]->(b))",
        "(<path> WHERE <condition>)",
    ),
    "selected": (
        "<selector> <path>",
        "p = <selector> <path>",
        "<selector> (p = <path> WHERE <condition>)",
        "<selector> (<path> WHERE <condition>)",
        "p = <selector> ((a)<arrow>(b) WHERE <condition>)+",
    ),
    "selector": (
        *("SHORTEST 1", "ANY", "ALL SHORTEST", "ANY SHORTEST PATHS", "SHORTEST 2 PATHS", "SHORTEST 2 GROUPS"),
        *("ALL", "ALL PATHS", "ANY 2", "SHORTEST GROUP", "SHORTEST 0"),
    ),
    "path": (
        "(a)",
        "<node><arrow><node>",
        "<node><arrow><node><arrow><node>",
        "<node><arrow><quantifier>(b)",
        "(a) (<node><arrow><node>)<quantifier> (b)",
        "<node>-[r<hops>]->(b)",
    ),
    "node": ("(a)", "(b)", "(:<labels>)", "(a:<labels> <map?>)", "(n IS <labels>)", "(a WHERE <condition>)", "()"),
    "arrow": (
        "-->",
        "<--",
        "--",
        "-[r]->",
        "-[:R]-",
        "-[r:<types>]->",
        "<-[:R <map?>]-",
        "-[r WHERE r.x > 1]->",
        "\u2013[:R]\u2013>",
    ),
    "quantifier": ("+", "*", "{1,2}", "{2}", "{,3}", "{1,}", "{0}", "{3,1}"),
    "hops": ("*", "*2", "*1..2", "*..3", ":R*", ":R*0..1 {x: 1}"),
    "labels": ("A", "A:B", "A&B", "A|B", "!A", "%", "(A|B)&!C", "$('A')", "A|:B"),
    "types": ("R", "R|S", "R|:S", "!R", "R&S", "$('R')", "%"),
    "label": ("A", "B", "`a b`", "match"),
    "where": ("WHERE <condition>",),
    "condition": (
        "a.x = <expression>",
        "<expression> IS NULL",
        "a:<labels>",
        "a IS <labels>",
        "EXISTS { <path> <where?> }",
        "NOT <condition>",
        "<condition> AND <condition>",
        "(a)-->(:<label>)",
        "a.x IS :: <type>",
        "a.x STARTS WITH <expression>",
        "any(x IN <expression> WHERE x > 1)",
        "a.x IN <expression>",
        "1 < a.x <= 3",
    ),
    "type": (
        "INTEGER",
        "STRING NOT NULL",
        "LIST<INTEGER>",
        "ANY<INTEGER | FLOAT>",
        "INTEGER | STRING",
        "POINT",
        "NOTHING",
    ),
    "items": (
        "*",
        "1 AS x",
        "<expression> AS x",
        "a",
        "a.x, count(*)",
        "DISTINCT a.x AS x",
        "a AS x, b AS y",
        "count(a) AS n",
    ),
    "tail": (
        "ORDER BY <expression>",
        "LIMIT 1",
        "SKIP 1 LIMIT 2",
        "ORDER BY a.x DESC, <expression> LIMIT $p",
        "ORDER BY COUNT(*)",
        "OFFSET 1",
    ),
    "expression": (
        "1",
        "a.x",
        "$p",
        "<string>",
        "null",
        "[1, <expression>]",
        "<map>",
        "<expression> + <expression>",
        "- <expression>",
        "toUpper(<string>)",
        "count(<expression>)",
        "COLLECT(a.x)",
        "[x IN <expression> WHERE x > 1 | x]",
        "[(a)-->(b) | b.x]",
        "CASE a.x WHEN <case> THEN 1 ELSE <expression> END",
        "CASE WHEN <condition> THEN 1 END",
        "COUNT { <path> <where?> }",
        "COLLECT { <inner> }",
        "a {.x, y: <expression>}",
        "reduce(s = 0, x IN <expression> | s + x)",
        "a[<expression>]",
        "<expression>[0..1]",
        "date('2020-01-01')",
        "size(<expression>)",
    ),
    "case": (
        "1",
        "> 1",
        "IS NULL",
        "IS NOT NULL",
        "IS TYPED <type>",
        "1, 2",
        "STARTS WITH 'a'",
        "=~ 'a'",
        "IS NORMALIZED",
    ),
    "string": ("'a'", '"b"', "''", "'it\\'s'"),
    "map": ("{x: 1}", "{}", "{x: <expression>, y: 2}", "{`a b`: 1}"),
    "name": ("x", "a", "b", "`x y`", "count", "WHERE"),
    "all": ("ALL", "DISTINCT"),
    "use": ("USE neo4j", "USE graph.byName('neo4j')"),
    "scope": ("()", "(*)", "(a)", "(a, b)"),
    "transactions": ("IN TRANSACTIONS", "IN TRANSACTIONS OF 2 ROWS", "IN 2 CONCURRENT TRANSACTIONS ON ERROR CONTINUE"),
    "shown": (
        "INDEXES",
        "CONSTRAINTS",
        "FUNCTIONS",
        "PROCEDURES",
        "ALL INDEXES",
        "UNIQUE CONSTRAINTS",
        "BUILT IN FUNCTIONS",
    ),
    "yield": (
        "YIELD name",
        "YIELD *",
        "YIELD name AS n WHERE n = 'a'",
        "YIELD name RETURN count(*)",
        "WHERE name = 'a'",
    ),
    "options": ("CYPHER 5", "CYPHER replan=default", "CYPHER runtime=slotted planner=idp"),
}
_PLACE = re.compile(r"<([a-z]+)(\?)?>")
_WORDS = re.compile(r"\s+|\w+|`[^`]*`|'[^']*'|\S")
_DEPTH = 5


def random_statement(choices: Choices) -> str:
    """A statement of the grammar, one time in three with a word that is wrong."""
    text = " ".join(_expanded("statement", choices, 0).split())
    if not choices.chance(33):
        return text
    words = _WORDS.findall(text)
    place = choices.below(len(words))
    change = choices.below(3)
    if change == 0:
        del words[place]
    elif change == 1:
        words.insert(place, words[place] + " ")
    else:
        other = choices.below(len(words))
        words[place], words[other] = words[other], words[place]
    return "".join(words)


def _expanded(rule: str, choices: Choices, depth: int) -> str:
    """One of a rule's alternatives; deep down those that end."""
    alternatives = RULES[rule]
    if depth > _DEPTH:
        alternatives = tuple(text for text in alternatives if f"<{rule}>" not in text)[:4]

    def place(match: re.Match[str]) -> str:
        if match.group(2) and not choices.chance(40 if depth <= _DEPTH else 0):
            return ""
        return _expanded(match.group(1), choices, depth + 1)

    return _PLACE.sub(place, choices.pick(alternatives)) if depth < 3 * _DEPTH else "1"


@dataclass(frozen=True, slots=True)
class Verdict:
    """What both sides say: a code, or nothing where they take the statement."""

    text: str
    theirs: str
    ours: str

    def __str__(self) -> str:
        return f"{self.text}\n  Neo4j:   {self.theirs}\n  Hoplite: {self.ours}"


def verdicts(driver: Driver, seeds: Iterable[int]) -> Iterator[Verdict]:
    """What each side says about the statement of each seed."""
    with driver.session() as session, hoplite.open() as db:
        for seed in seeds:
            text = f"EXPLAIN {random_statement(Choices(random.Random(seed)))}"
            yield Verdict(text, _said(session.run, text), _said(db.run, text))


def _said(run: Callable[..., Any], text: str) -> str:
    try:
        run(text, p=1).consume()
    except Neo4jError as error:
        return f"{error.code}: {(error.message or '').splitlines()[0]}"
    return ""


def differences(found: Iterable[Verdict]) -> list[Verdict]:
    """Those that are told apart by acceptance or code. Neo4j's own failures say nothing about a statement, and it looks
    at the options behind CYPHER before it reads on.
    """
    return [
        one
        for one in found
        if one.theirs.split(":")[0] != one.ours.split(":")[0]
        and not one.theirs.startswith("Neo.DatabaseError")
        and not ("CYPHER" in one.text and "ArgumentError" in one.theirs and one.ours)
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--uri", required=True)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=1000)
    given = parser.parse_args()
    with GraphDatabase.driver(given.uri, notifications_min_severity="OFF") as driver:
        every = list(verdicts(driver, range(given.seed, given.seed + given.count)))
    found = differences(every)
    for one in found:
        print(one)
    print(f"{len(every)} statements, {sum(not one.theirs for one in every)} accepted there, {len(found)} differences")


if __name__ == "__main__":
    main()
