"""k-hop retrieval and a few Cypher queries, timed: `python -m benchmarks.khop [--quick] [--shape umls] [--json FILE]`.

Hoplite is asked through `db.khop` and through Cypher text, next to whatever of scipy, networkx and igraph is installed;
all answers are compared. Numbers are medians in milliseconds on this machine, now: look at the ratios.
"""

from __future__ import annotations

import argparse
import itertools
import json
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import hoplite
from benchmarks.peers import PEERS, KHop
from benchmarks.shapes import Integers, Shape, ibkh, umls

SHAPES = {"umls": umls, "ibkh": ibkh}
MAX_HOPS = 5
BUDGET_SECONDS = 20.0  # for one engine at one k

# Queries on the iBKH shape, with parameters; $drug is a drug of the dense core.
CYPHER = {
    "point look-up": "MATCH (d:Drug {id: $drug}) RETURN d.id",
    "one typed hop": "MATCH (d:Drug {id: $drug})-[:CAUSES]->(s) RETURN s.id",
    "two typed hops, counted": "MATCH (d:Drug {id: $drug})-[:TREATS]->(x)-[:HAS_SYMPTOM]->(s) RETURN s.id, count(*)",
    "reachable in 3 hops": "MATCH (d:Drug {id: $drug})-[:INTERACTS_WITH*1..3]->(b) RETURN count(DISTINCT b)",
    "10 paths of up to 3 hops": "MATCH p = (d:Drug {id: $drug})-[:INTERACTS_WITH*1..3]->(b) RETURN p LIMIT 10",
    "aggregation over a type": "MATCH (d:Drug)-[:TREATS]->(x) RETURN x.id, count(d) AS n ORDER BY n DESC LIMIT 5",
}


def load(shape: Shape) -> tuple[hoplite.Database, Integers]:
    """A database with the shape in it, and the id of each node number."""
    labels = np.repeat(np.arange(len(shape.label_names)), np.diff(shape.label_begin))
    nodes: dict[str | tuple[str, ...], Any] = {
        name: {"id": np.flatnonzero(labels == number)} for number, name in enumerate(shape.label_names)
    }
    relationships: dict[tuple[str, str, str], dict[str, Integers]] = {}
    groups = (labels[shape.start] * len(shape.label_names) + labels[shape.end]) * len(shape.type_names) + shape.type
    order = np.argsort(groups, kind="stable")
    bounds = np.flatnonzero(np.diff(groups[order], prepend=-1, append=-1))
    for begin, end in itertools.pairwise(bounds):
        chosen = order[begin:end]
        first = chosen[0]
        key = (
            shape.label_names[labels[shape.start[first]]],
            shape.type_names[shape.type[first]],
            shape.label_names[labels[shape.end[first]]],
        )
        relationships[key] = {"start": shape.start[chosen], "end": shape.end[chosen]}
    db = hoplite.open()
    db.load(nodes=nodes, relationships=relationships, key="id")
    ids = np.empty(shape.node_count, np.int64)
    for number, identity in db.run("MATCH (n) RETURN n.id, id(n)").values():
        ids[number] = identity
    return db, ids


def engines(shape: Shape, console: Console) -> dict[str, KHop]:
    began = time.perf_counter()
    db, ids = load(shape)
    console.print(f"hoplite: loaded in {time.perf_counter() - began:.1f} s")
    texts = {
        k: f"MATCH (s) WHERE id(s) IN $seeds MATCH (s)-[*0..{k}]->(b) RETURN DISTINCT id(b)"
        for k in range(MAX_HOPS + 1)
    }
    number_of = np.empty(int(ids.max()) + 1, np.int64)
    number_of[ids] = np.arange(len(ids))

    def khop(seeds: Integers, k: int) -> Any:
        return number_of[db.khop(ids[seeds].tolist(), k)]

    def cypher(seeds: Integers, k: int) -> Any:
        return number_of[db.run(texts[k], seeds=ids[seeds].tolist()).value()]

    found: dict[str, KHop] = {"db.khop": khop, "Cypher text": cypher}
    for name, make in PEERS.items():
        began = time.perf_counter()
        try:
            found[name] = make(shape)
        except ImportError as error:
            console.print(f"{name}: not installed ({error.name}), left out")
        else:
            console.print(f"{name}: built in {time.perf_counter() - began:.1f} s")
    return found


def measure(call: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """The best of a few runs, in milliseconds, and the last answer."""
    times = []
    for _ in range(repeat):
        began = time.perf_counter()
        answer = call()
        times.append((time.perf_counter() - began) * 1000)
    return min(times), answer


def khop_table(shape: Shape, queries: int, console: Console) -> dict[str, list[float | None]]:
    rng = np.random.default_rng(3)
    starts = np.unique(shape.start)
    seeds = [rng.choice(starts, rng.integers(1, 21)) for _ in range(queries)]
    found = engines(shape, console)
    for call in found.values():
        call(seeds[0], 2)  # compile, fill caches
    medians: dict[str, list[float | None]] = {name: [] for name in found}
    for k in range(1, MAX_HOPS + 1):
        sizes: dict[int, int] = {}
        for name, call in found.items():
            times: list[float] = []
            began = time.perf_counter()
            for number, chosen in enumerate(seeds):
                elapsed, answer = measure(lambda call=call, chosen=chosen, k=k: call(chosen, k), 1)  # type: ignore[misc]
                times.append(elapsed)
                size = sizes.setdefault(number, len(answer))
                if size != len(answer):
                    raise SystemExit(f"{name}, k={k}: {len(answer)} nodes where another engine found {size}")
                if time.perf_counter() - began > BUDGET_SECONDS:
                    break
            medians[name].append(statistics.median(times))
    reference = medians["db.khop"]
    drawn = Table(title=f"k-hop, {shape.name} shape: {shape.node_count:,} nodes, {len(shape.start):,} relationships; "
                  "median ms (times slower than db.khop)", title_justify="left")  # fmt: skip
    drawn.add_column("engine", no_wrap=True)
    for k in range(1, MAX_HOPS + 1):
        drawn.add_column(f"k={k}", justify="right")
    for name, row in medians.items():
        cells = [
            f"{value:.2f} ({value / base:.1f}x)" for value, base in zip(row, reference, strict=True) if value and base
        ]
        drawn.add_row(name, *cells)
    console.print(drawn)
    return medians


def cypher_table(shape: Shape, repeat: int, console: Console) -> dict[str, float]:
    db, _ = load(shape)
    first_drug = int(shape.label_begin[shape.label_names.index("Drug")])
    drawn = Table(title=f"Cypher, {shape.name} shape: best of {repeat}, ms", title_justify="left")
    for column in ("query", "rows", "ms"):
        drawn.add_column(column, justify="left" if column == "query" else "right")
    times: dict[str, float] = {}
    for name, query in CYPHER.items():
        elapsed, rows = measure(lambda query=query: db.run(query, drug=first_drug).values(), repeat)  # type: ignore[misc]
        times[name] = elapsed
        drawn.add_row(name, str(len(rows)), f"{elapsed:.3f}")
    console.print(drawn)
    db.close()
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="graphs of a twentieth of the size, fewer queries")
    parser.add_argument("--shape", choices=SHAPES, action="append", help="only this one; may be repeated")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the numbers to FILE")
    options = parser.parse_args()
    console = Console()
    scale, queries, repeat = (0.05, 10, 5) if options.quick else (1.0, 50, 20)
    numbers: dict[str, Any] = {}
    for name in options.shape or SHAPES:
        shape = SHAPES[name](scale)
        numbers[f"{name} khop"] = khop_table(shape, queries, console)
        if name == "ibkh":
            numbers[f"{name} cypher"] = cypher_table(shape, repeat, console)
    if options.json:
        options.json.write_text(json.dumps(numbers, indent=1) + "\n")


if __name__ == "__main__":
    main()
