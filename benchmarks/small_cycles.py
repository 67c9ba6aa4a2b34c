"""Compiled kernels against NumPy on graphs of a few relationships that form cycles.

    python -m benchmarks.small_cycles

Unbounded patterns take a few milliseconds there, so the cost is what a backend does before it begins. Prints the CPU
time of each statement and backend, the minimum of several runs, and their ratio.
"""

from __future__ import annotations

import time

import hoplite
from hoplite.engine.hops import BackendName

_RUNS = 5
_GRAPHS = {
    "ring of 5": "UNWIND range(0, 4) AS i CREATE (:N {i: i}) WITH count(*) AS all "
    "MATCH (a:N), (b:N) WHERE b.i = (a.i + 1) % 5 CREATE (a)-[:R]->(b)",
    "two rings": "UNWIND range(0, 7) AS i CREATE (:N {i: i}) WITH count(*) AS all "
    "MATCH (a:N), (b:N) WHERE b.i = (a.i + 1) % 8 OR (a.i = 4 AND b.i = 0) CREATE (a)-[:R]->(b)",
    "loop and pair": "CREATE (a:N {i: 0})-[:R]->(a), (a)-[:R]->(b:N {i: 1}), (b)-[:R]->(a), (a)-[:R]->(b)",
}
_STATEMENTS = (
    "MATCH p = (a:N {i: 0})-[:R*]->(b) RETURN p",
    "MATCH (a)<-[r*]-(b)-[r2*]-(c) RETURN count(*)",
    "MATCH (c)((a)-->(b))+(d)-->(c) RETURN count(*)",
    "MATCH p = SHORTEST 1 (a)-->*(b)-->*(b)-->*(a) RETURN length(p)",
    "MATCH p = (a)-[*]->(a) RETURN count(p)",
    "MATCH (a)-[*1..1000]->(b) RETURN count(*)",
)


def measure(backend: BackendName, graph: str) -> list[float]:
    """Milliseconds of CPU time for each statement."""
    found = []
    with hoplite.open(backend=backend) as db:
        db.run(graph).consume()
        for statement in _STATEMENTS:
            least = float("inf")
            for _ in range(_RUNS):
                began = time.process_time()
                db.run(statement).values()
                least = min(least, time.process_time() - began)
            found.append(1000 * least)
    return found


def main() -> None:
    """Print a line for each graph and statement."""
    print(f"{'numpy ms':>9} {'numba ms':>9} {'ratio':>6}")
    for name, graph in _GRAPHS.items():
        for statement, numpy, numba in zip(_STATEMENTS, measure("numpy", graph), measure("numba", graph), strict=True):
            print(f"{numpy:9.2f} {numba:9.2f} {numba / numpy:6.2f}  {name}: {statement}")


if __name__ == "__main__":
    main()
