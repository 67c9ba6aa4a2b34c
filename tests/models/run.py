"""Repair compared with recorded data: `python -m tests.models.run [--every 8] [--graphs movies,..]`.

No alarms on recorded queries or gold queries that gave an answer; mistakes planted into them are found; of the queries
that models wrote for the recorded questions, some are fixed and none is made worse. Anything else fails the run. An
answer of only nulls and zeros does not count as one.
"""

from __future__ import annotations

import argparse
import hashlib
import random
import sys
from collections import Counter
from collections.abc import Iterator
from typing import Any

from neo4j.exceptions import Neo4jError

import hoplite
from hoplite import Database
from hoplite.models.facts import Facts
from tests.models.planting import flips, misspellings
from tests.suites.data import data_path, json_lines

_SECONDS, _ROWS = 10, 50_000
_LEAST = 0.9  # of first suggestions


def _opened(graph: str) -> Database:
    db = hoplite.open()
    db.import_jsonl(data_path("demo", graph, "graph.jsonl.gz"))
    return db


def _is_nothing(rows: list[Any]) -> bool:
    return all(value in (None, 0, []) for row in rows for value in row)


def _sampled(name: str, every: int) -> bool:
    return int(hashlib.sha256(name.encode()).hexdigest()[:8], 16) % every == 0


# --- recorded queries -------------------------------------------------------------------------------------------------


def _recorded(graph: str, texts: dict[str, str], every: int) -> Iterator[str]:
    """The recorded queries of a graph that Neo4j ran to an answer."""
    for answer in json_lines(data_path("golden", "llm", f"{graph}.jsonl.gz")):
        if answer["status"] != "ok" or not answer["rows"] or not _sampled(answer["id"], every):
            continue
        if not _is_nothing(answer.get("all") or answer.get("head") or [[1]]):
            yield texts[answer["id"]]


def alarms(graphs: list[str], every: int) -> Counter[str]:
    """False alarms on right queries, and planted mistakes that are missed."""
    texts = {query["id"]: query["cypher"] for query in json_lines(data_path("cypher", "llm_queries.jsonl.gz"))}
    counts: Counter[str] = Counter()
    chance = random.Random(7)
    for graph in graphs:
        db = _opened(graph)
        facts = Facts(db._graph.snapshot())
        for text in _recorded(graph, texts, every):
            counts["right queries"] += 1
            repair = db.repair(text)
            if repair.query != text or not db.check(text).ok:
                counts["false alarms"] += 1
                print(f"false alarm, {graph}:\n  {text}\n  {repair}")
                continue
            if counts["right queries"] % 4 == 0:
                _plant(db, facts, text, chance, counts)
        db.close()
    return counts


def _plant(db: Database, facts: Facts, text: str, chance: random.Random, counts: Counter[str]) -> None:
    for mistake in flips(text, facts):
        counts["flips"] += 1
        if not any(problem.kind == "direction" for problem in db.check(mistake.query).problems):
            counts["flips missed"] += 1
            print(f"flip missed:\n  {mistake.query}")
    for mistake in misspellings(text, chance):
        counts[f"misspelled {mistake.kind}"] += 1
        firsts = [name for problem in db.check(mistake.query).problems for name in problem.suggestions[:1]]
        counts[f"first right {mistake.kind}"] += any(map(mistake.is_named_by, firsts))


# --- questions --------------------------------------------------------------------------------------------------------


def questions(every: int) -> dict[str, Counter[str]]:
    """By model: how many queries are right before and after, mended and spoiled."""
    found: dict[str, Counter[str]] = {}
    dbs: dict[str, Database] = {}
    for question in json_lines(data_path("repair", "questions.jsonl.gz")):
        if not _sampled(question["graph"] + question["question"], every):
            continue
        db = dbs.get(question["graph"]) or dbs.setdefault(question["graph"], _opened(question["graph"]))
        wanted = _answer(db, question["gold"])
        for model, text in question["models"].items():
            counts = found.setdefault(model, Counter())
            repaired = db.repair(text or "").query
            before = wanted is not None and _answer(db, text or "") == wanted
            after = before if repaired == text else wanted is not None and _answer(db, repaired) == wanted
            counts.update(queries=1, right=before, after=after, mended=after > before, spoiled=before > after)
    return found


def _answer(db: Database, text: str) -> Counter[Any] | None:
    """The rows as a bag, columns in any order; None for an error."""
    try:
        with db.session(read_only=True, timeout=_SECONDS, max_rows=_ROWS) as session:
            return Counter(tuple(sorted(map(_plain, row), key=repr)) for row in session.run(text).values())
    except Neo4jError:
        return None


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return tuple(sorted(map(_plain, value), key=repr))
    if isinstance(value, dict):
        return tuple(sorted((key, _plain(item)) for key, item in value.items()))
    if hasattr(value, "element_id"):
        return value.element_id
    return round(value, 6) if isinstance(value, float) else repr(value)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--every", type=int, default=1, help="one query in so many, by a hash of it")
    parser.add_argument("--graphs", help="only these, of the recorded queries")
    asked = parser.parse_args()
    there = sorted(path.name.removesuffix(".jsonl.gz") for path in data_path("golden", "llm").glob("*.jsonl.gz"))
    graphs = asked.graphs.split(",") if asked.graphs else [name for name in there if name != "explain"]
    counts = alarms(graphs, asked.every)
    print(", ".join(f"{name}: {count}" for name, count in sorted(counts.items())))
    models = questions(asked.every)
    for model, of_model in models.items():
        print(model, ", ".join(f"{name}: {count}" for name, count in of_model.items()))
    failed = counts["false alarms"] + counts["flips missed"] + sum(found["spoiled"] for found in models.values())
    for kind in ("label", "type", "property", "function"):
        failed += counts[f"first right {kind}"] < _LEAST * counts[f"misspelled {kind}"]
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
