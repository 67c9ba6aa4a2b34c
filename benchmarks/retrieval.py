"""Batched retrieval against one query at a time: MetaQA's 3-hop questions, compared with a live Neo4j.

    python -m benchmarks.retrieval [--questions 1000] [--uri bolt://127.0.0.1:7687]

Needs MetaQA (HOPLITE_DATA) and a Neo4j whose data it may replace. All start at the name of the topic and end at the
names of the answers; each question is a chain of relationships in both. Neo4j has an index on the names, its queries
are a few texts with a parameter, and every text has run before it is measured. Answers are compared with the gold ones.
Times are wall time, the minimum of several rounds, and for local processes also CPU time.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Sequence

import neo4j

from examples.super_relations.questions import Question, Quiz, metaqa
from hoplite.retrieval import Step, follow

_ROUNDS = 3
_BLOCK = 10_000

Answers = list[set[str]]


def main() -> None:
    """Print a line for each way."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.retrieval", description=__doc__)
    parser.add_argument("--questions", type=int, default=1_000)
    parser.add_argument("--uri", help="of a Neo4j without authentication, whose data is replaced")
    options = parser.parse_args()
    quiz = metaqa(options.questions)
    questions = quiz.questions[3]
    ways: dict[str, Callable[[], Answers]] = {
        "hoplite.retrieval, all at once": lambda: batched(quiz, questions),
        "Hoplite, one query at a time": lambda: [
            {row[0] for row in quiz.db.run(query_of(one.chain), topic=one.topic).values()} for one in questions
        ],
    }
    driver = None if options.uri is None else neo4j.GraphDatabase.driver(options.uri)
    if driver is not None:
        fill(driver, quiz)
        ways["Neo4j, one query at a time"] = lambda: one_by_one(driver, questions)
    print(f"{len(questions)} questions over three hops")
    least = {name: report(name, way, questions) for name, way in ways.items()}
    ours = least["hoplite.retrieval, all at once"]
    for name, seconds in least.items():
        print(f"{seconds / ours:8.1f} times as long: {name}")
    if driver is not None:
        driver.close()


def report(name: str, way: Callable[[], Answers], questions: Sequence[Question]) -> float:
    """Print how long a way takes and how many of its answers are the gold ones; returns the minimum wall time."""
    way()
    least, cpu = float("inf"), float("inf")
    answers: Answers = []
    for _ in range(_ROUNDS):
        began, began_cpu = time.perf_counter(), time.process_time()
        answers = way()
        least = min(least, time.perf_counter() - began)
        cpu = min(cpu, time.process_time() - began_cpu)
    right = sum(found == one.answers for found, one in zip(answers, questions, strict=True))
    print(f"{1000 * least:10.1f} ms ({1000 * cpu:.1f} ms of CPU here), {right} of {len(questions)} exact: {name}")
    return least


def batched(quiz: Quiz, questions: Sequence[Question]) -> Answers:
    """Names to nodes, chains followed, nodes to names."""
    ends = follow(quiz.db, quiz.seeds(questions), [one.chain for one in questions])
    names = quiz.names
    return [{names[node] for node in ends[number].tolist()} for number in range(len(ends))]


def query_of(chain: Sequence[Step]) -> str:
    """The chain as a pattern."""
    text = "MATCH (:Entity {id: $topic})"
    for number, (types, direction) in enumerate(chain, start=1):
        before, after = ("-", "->") if direction == "out" else ("<-", "-")
        text += f"{before}[:{'|'.join(types or ())}]{after}(n{number})"
    return f"{text} RETURN DISTINCT n{len(chain)}.id"


def one_by_one(driver: neo4j.Driver, questions: Sequence[Question]) -> Answers:
    """Each question as a separate query, in one session."""
    found: Answers = []
    with driver.session(default_access_mode="READ") as session:
        for one in questions:
            rows = session.run(query_of(one.chain), topic=one.topic).values()
            found.append({row[0] for row in rows})
    return found


def fill(driver: neo4j.Driver, quiz: Quiz) -> None:
    """Put the same graph into Neo4j."""
    with driver.session() as session:
        session.run("MATCH (n) CALL (n) { DETACH DELETE n } IN TRANSACTIONS OF 5000 ROWS").consume()
        session.run("CREATE CONSTRAINT IF NOT EXISTS FOR (n:Entity) REQUIRE n.id IS UNIQUE").consume()
        names = list(quiz.names.values())
        for first in range(0, len(names), _BLOCK):
            session.run("UNWIND $names AS name CREATE (:Entity {id: name})", names=names[first : first + _BLOCK])
        for kind in quiz.types:
            rows = quiz.db.run(f"MATCH (a)-[:`{kind}`]->(b) RETURN a.id, b.id").values()
            create = "UNWIND $rows AS row MATCH (a:Entity {id: row[0]}), (b:Entity {id: row[1]}) "
            create += f"CREATE (a)-[:`{kind}`]->(b)"
            for first in range(0, len(rows), _BLOCK):
                session.run(create, rows=rows[first : first + _BLOCK])


if __name__ == "__main__":
    main()
