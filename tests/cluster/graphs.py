"""Random multigraphs with self-loops, parallel relationships and cycles, in a folder."""

from __future__ import annotations

import random
from pathlib import Path

import hoplite


def random_folder(folder: Path, seed: int, nodes: int = 60, relationships: int = 150, partitions: int = 4) -> Path:
    """A database of that many partitions; some of it is still in the log."""
    rng = random.Random(seed)
    path = folder / f"graph-{seed}.hop"
    pairs = [
        {"a": rng.randrange(nodes), "b": rng.randrange(nodes), "w": rng.randrange(5), "t": rng.choice("RST")}
        for _ in range(relationships)
    ]
    pairs += [{"a": n, "b": n, "w": 1, "t": "R"} for n in range(0, nodes, 9)]
    with hoplite.open(path, partitions=partitions) as db:
        db.run("CREATE INDEX FOR (n:N) ON (n.id)")
        db.run("UNWIND range(0, $n - 1) AS i CREATE (:N {id: i, name: 'n' + (i % 7), x: i % 3})", n=nodes)
        half = len(pairs) // 2
        connect = "UNWIND $rows AS r MATCH (a:N {id: r.a}), (b:N {id: r.b}) CREATE (a)-[:$(r.t) {w: r.w}]->(b)"
        db.run(connect, rows=pairs[:half])
        db.checkpoint()
        db.run(connect, rows=pairs[half:])
        db.run("MATCH (n:N {id: 3}) DETACH DELETE n")
    return path
