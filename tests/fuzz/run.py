"""A fuzzer: damaged and recombined queries may only end in an answer or in a Cypher error.

    python -m tests.fuzz.run --count 100000 [--seed 1] [--seconds 600]

Queries come from tests/queries and, where there is recorded data (HOPLITE_DATA), from the recorded statements; tokens
are dropped, doubled, swapped, replaced by tokens of other queries, and clauses of two queries are put together. Each
runs on a small graph with a deadline, in a transaction that is rolled back. Anything but a
`neo4j.exceptions.Neo4jError`, and any query that overruns its deadline by much, is a finding: it is printed with its
seed, and the run fails.
"""

from __future__ import annotations

import argparse
import gzip
import json
import random
import re
import sys
import time
import traceback
from pathlib import Path

from neo4j.exceptions import BrokenRecordError, Neo4jError

import hoplite
from hoplite.engine.functions.registry import FUNCTIONS
from tests.casefiles import read_cases
from tests.suites.data import data_folder

TOKEN = re.compile(r"\s+|'(?:\\.|[^'\\])*'|\"(?:\\.|[^\"\\])*\"|`[^`]*`|\$\w+|\w+|<=|>=|<>|=~|\.\.|->|<-|.", re.S)
TIMEOUT, GRACE = 1.0, 10.0
SPICE = [
    "null",
    "[]",
    "{}",
    "-1",
    "9223372036854775807",
    "1e308",
    "''",
    "$p",
    "*",
    "(",
    ")",
    "NOT",
    "DISTINCT",
    "{1,2}",
]
CLAUSES = frozenset(
    (
        "MATCH",
        "WITH",
        "RETURN",
        "WHERE",
        "UNWIND",
        "CALL",
        "CREATE",
        "MERGE",
        "SET",
        "DELETE",
        "REMOVE",
        "ORDER",
        "BY",
        "SKIP",
        "LIMIT",
        "AS",
        "UNION",
    )
)
OPERATORS = frozenset(("+", "-", "*", "/", "%", "^", "=", "<>", "<", "<=", ">", ">=", "=~"))
GRAPH = (
    "CREATE (a:A {id: 1, k: 1, s: 'x', d: date('2020-01-31')}), (b:B {id: 2, k: 2.5}), (c:A:B {id: 3, l: [1, 2]}), "
    "(a)-[:R {w: 1}]->(b), (b)-[:R {w: 2}]->(c), (c)-[:S]->(a), (a)-[:S]->(a), (a)-[:R]->(b)"
)


def seeds() -> list[str]:
    """Queries to start from."""
    folder = Path(__file__).resolve().parents[1] / "queries"
    texts = [case.query for file in sorted(folder.glob("*.test")) for case in read_cases(file)]
    for name in ("cases", "patterns"):
        recorded = data_folder() / "golden" / f"{name}.jsonl.gz"
        if recorded.exists():
            with gzip.open(recorded, "rt", encoding="utf-8") as lines:
                texts += sorted({case["query"] for line in lines if "query" in (case := json.loads(line))})
    return texts


def kind(token: str) -> str:
    """The kind of a token, for which another of its kind may be substituted."""
    if token[0] in "'\"":
        return "string"
    if token[0].isdigit():
        return "number"
    if token.upper() in CLAUSES:
        return "clause"
    if token[0].isalpha():
        return "function" if token.lower() in FUNCTIONS else "name"
    return "operator" if token in OPERATORS else "other"


def recombined(texts: list[str], chance: random.Random) -> str:
    """A query with tokens replaced by those of others, kind for kind: most of these can be parsed."""
    tokens = TOKEN.findall(chance.choice(texts))
    others = [token for _ in range(3) for token in TOKEN.findall(chance.choice(texts))]
    for _ in range(chance.randint(1, 5)):
        if not tokens:
            break
        place = chance.randrange(len(tokens))
        wanted = kind(tokens[place])
        like = [token for token in others if kind(token) == wanted]
        if like and wanted not in ("other", "clause"):
            tokens[place] = chance.choice(like)
    first = "".join(tokens)
    match chance.randrange(5):
        case 0:  # one query after the other
            head = re.split(r"(?i)\bRETURN\b", first)[0]
            return f"{head} WITH * {chance.choice(texts)}" if head.strip() else first
        case 1:
            return f"CALL () {{ {first} }} RETURN *"
        case 2:
            return f"RETURN COUNT {{ {first} }} AS c, EXISTS {{ {chance.choice(texts)} }} AS e"
        case _:
            return first


def mutated(texts: list[str], chance: random.Random) -> str:
    """A damaged query."""
    if chance.random() < 0.7:
        return recombined(texts, chance)
    tokens = TOKEN.findall(chance.choice(texts))
    other = TOKEN.findall(chance.choice(texts)) or [" "]
    for _ in range(chance.randint(1, 4)):
        if not tokens:
            break
        place = chance.randrange(len(tokens))
        match chance.randrange(7):
            case 0:
                del tokens[place]
            case 1:
                tokens.insert(place, tokens[place])
            case 2:
                swap = chance.randrange(len(tokens))
                tokens[place], tokens[swap] = tokens[swap], tokens[place]
            case 3:
                tokens[place] = chance.choice(other)
            case 4:
                tokens[place] = chance.choice(SPICE)
            case 5:
                cut = chance.randrange(len(other))
                tokens[place:place] = [" ", *other[cut : cut + chance.randint(1, 12)], " "]
            case _:
                tokens = [*tokens[:place], " ", *other[chance.randrange(len(other)) :]]
    return "".join(tokens)


def parameters(chance: random.Random) -> dict[str, object]:
    """Values for the parameters that queries name."""
    values: list[object] = [None, 1, -1, 2.5, "a", [1, 2], ["a"], {"a": 1}, True, []]
    return {name: chance.choice(values) for name in ("p", "a", "b", "l", "x", "q0", "rows", "ids")}


def main() -> int:
    """Fuzz; returns how many findings there were."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=3000.0, help="stop after this long")
    arguments = parser.parse_args()
    texts = seeds()
    db = hoplite.open(timeout=TIMEOUT, max_rows=100_000)
    db.run(GRAPH)
    began, findings, answers, errors, done = time.monotonic(), 0, 0, 0, 0
    for number in range(arguments.seed, arguments.seed + arguments.count):
        if time.monotonic() - began > arguments.seconds:
            break
        chance = random.Random(number)
        query, given = mutated(texts, chance), parameters(chance)
        started = time.monotonic()
        done += 1
        try:
            with db.begin() as transaction:
                transaction.run(query, given).consume()
                transaction.run(query, given).values()
                transaction.rollback()
            answers += 1
        except (Neo4jError, BrokenRecordError):  # the driver cannot hold years beyond 1 to 9999
            errors += 1
        except Exception:
            findings += 1
            print(f"seed {number}: {query!r} {given}\n{traceback.format_exc(limit=-4)}", flush=True)
        if time.monotonic() - started > TIMEOUT + GRACE:
            findings += 1
            print(f"seed {number}: took {time.monotonic() - started:.1f} s: {query!r}", flush=True)
    print(f"seeds {arguments.seed} to {arguments.seed + done - 1}: {answers} answers, {errors} Cypher errors")
    print(f"{done - findings} passed, {findings} failed")
    return findings


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
