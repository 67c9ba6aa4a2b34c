"""The cost of a new text: parsing, checking, planning and building its operators.

    python -m benchmarks.planning [FILE] [--queries 1000] [--rounds 3]

FILE holds recorded queries, a JSON object with a `cypher` on each line, possibly compressed; the default is the file of
machine-written queries in the folder that HOPLITE_DATA names. They are prepared on a graph with every label, type and
key that they name. Measured is the thread's CPU time, for each text the minimum of all rounds; every round forgets all
plans. Rejected texts are skipped, and their number is printed.
"""

from __future__ import annotations

import argparse
import gzip
import json
import os
import time
from collections.abc import Iterable
from pathlib import Path

import numpy as np

import hoplite
from hoplite.engine.functions.registry import FUNCTIONS
from hoplite.engine.prepare import Preparer
from hoplite.engine.procedures.registry import PROCEDURES
from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.parse import parse
from hoplite.grammar.tree import walk

_DATA = Path(os.environ.get("HOPLITE_DATA") or Path(__file__).parents[2] / "shared")


def read_texts(path: Path, count: int) -> list[str]:
    """This many distinct texts, evenly spread over the file."""
    with gzip.open(path, "rt") if path.suffix == ".gz" else path.open() as lines:
        texts = list(dict.fromkeys(json.loads(line)["cypher"] for line in lines))
    places = np.linspace(0, len(texts) - 1, min(count, len(texts))).astype(int)
    return [texts[place] for place in places]


def readable(texts: Iterable[str]) -> list[str]:
    """Those that are Cypher."""
    found = []
    for text in texts:
        try:
            parse(text)
        except CypherError:
            continue
        found.append(text)
    return found


def graph_of(texts: Iterable[str]) -> hoplite.Database:
    """A node with every label and key that the texts name, and a relationship of every type."""
    labels, types, keys = set[str](), set[str](), set[str]()
    for text in texts:
        for node in walk(parse(text).body):
            match node:
                case ast.RelationshipPattern(types=names):
                    types |= {part.name for part in walk(names) if isinstance(part, ast.LabelName)}
                case ast.NodePattern(labels=names):
                    labels |= {part.name for part in walk(names) if isinstance(part, ast.LabelName)}
                case ast.Property(key=key):
                    keys.add(key)
    db = hoplite.open()
    db.run(
        "CREATE (n:$($labels)) WITH n UNWIND $types AS type CREATE (n)-[:$(type)]->(n)",
        labels=sorted(labels),
        types=sorted(types),
    )
    db.run("MATCH (n) SET n += $values", values=dict.fromkeys(sorted(keys), 1))
    return db


def prepare_times(db: hoplite.Database, texts: list[str], rounds: int) -> tuple[list[float], int]:
    """Milliseconds of each text that can be prepared, and how many cannot."""
    graph = db._graph.snapshot()
    least = dict.fromkeys(texts, float("inf"))
    refused: set[str] = set()
    for number in range(rounds + 1):  # the first round loads what the texts need, and does not count
        preparer = Preparer(FUNCTIONS, PROCEDURES)
        for text in texts:
            began = time.thread_time()
            try:
                preparer.prepare(text, graph, {})
            except CypherError:
                refused.add(text)
            if number:
                least[text] = min(least[text], (time.thread_time() - began) * 1000)
    return [spent for text, spent in least.items() if text not in refused], len(refused)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", nargs="?", type=Path, default=_DATA / "cypher" / "llm_queries.jsonl.gz")
    parser.add_argument("--queries", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=3)
    chosen = parser.parse_args()
    if not chosen.file.exists():
        parser.error(f"{chosen.file} does not exist: name a file of queries, or set HOPLITE_DATA")
    texts = readable(read_texts(chosen.file, chosen.queries))
    times, refused = prepare_times(graph_of(texts), texts, chosen.rounds)
    median, most = np.percentile(times, (50, 95))
    print(f"{len(times):,} texts: median {median:.2f} ms, 95% within {most:.2f} ms, at most {max(times):.1f} ms")
    print(f"{refused:,} refused when checked")


if __name__ == "__main__":
    main()
