"""How soon a new process searches at full speed. `python -m benchmarks.first_searches`

    python -m benchmarks.first_searches [--rounds 3] [--seconds 60] [--empty]

A fresh process loads a graph in the shape of UMLS and asks, over and over, for the nodes within 1 to 5 hops of a few.
Printed is when, counted from `hoplite.open()`, the median at each number of hops first was within 60 microseconds and
1.25 times the limit (`limit.py`), which the same process measures before. With `--empty` no process finds anything in
the user's cache: in a checkout, searches run in NumPy until the first kernels are compiled. A wheel brings them along.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.limit import Limit
from benchmarks.shapes import umls

_HOPS = (1, 2, 3, 4, 5)
_FIXED_SECONDS, _FACTOR = 60e-6, 1.25
_SEARCHES, _MOST_SEEDS = 60, 20
_PAUSE_SECONDS = 0.02  # between rounds, as a program has something else to do


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=60, help="how long each process tries")
    parser.add_argument("--empty", action="store_true", help="with an empty cache")
    parser.add_argument("--once", action="store_true", help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    if chosen.once:
        print(measure(chosen.seconds))
        return 0
    command = [sys.executable, "-m", "benchmarks.first_searches", "--once", "--seconds", str(chosen.seconds)]
    for _ in range(chosen.rounds):
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as cache:
            places = {"NUMBA_CACHE_DIR": cache, "XDG_CACHE_HOME": cache} if chosen.empty else {}
            subprocess.run(command, env={**os.environ, **places}, check=True)
    return 0


def measure(seconds: float) -> str:
    """When this process first reached the bound, for each number of hops."""
    import hoplite

    shape = umls()
    random = np.random.default_rng(3)
    having = np.unique(shape.start)
    seeds = [random.choice(having, random.integers(1, _MOST_SEEDS + 1), replace=False) for _ in range(_SEARCHES)]
    limit = Limit(shape)
    as_arrays = [some.astype(np.int32) for some in seeds]
    limit.ball(as_arrays[0], 1)  # compiles it
    bounds = {k: _FIXED_SECONDS + _FACTOR * _median(as_arrays, limit.ball, k) for k in _HOPS}

    began = time.perf_counter()
    db = hoplite.open()
    db.load(
        nodes={"N": {"id": np.arange(shape.node_count)}},
        relationships={("N", "E", "N"): {"start": shape.start, "end": shape.end}},
    )
    loaded = time.perf_counter() - began

    def search(some: NDArray[np.int64], k: int) -> Any:
        text = f"UNWIND $s AS x MATCH (a:N {{id: x}})-[:E*0..{k}]->(b) RETURN DISTINCT b.id AS id"
        return db.run(text, s=some.tolist()).to_arrow()["id"]

    reached: dict[int, str] = {}
    while len(reached) < len(_HOPS) and time.perf_counter() - began < seconds:
        for k in _HOPS:
            took = 0.0 if k in reached else _median(seeds, search, k)
            if k not in reached and took <= bounds[k]:
                after = time.perf_counter() - began
                reached[k] = f"{after:.2f} s ({took * 1e6:,.0f} of {bounds[k] * 1e6:,.0f} microseconds)"
        time.sleep(_PAUSE_SECONDS)
    told = "; ".join(f"{k} hops after {reached[k]}" if k in reached else f"{k} hops: not reached" for k in _HOPS)
    return f"loaded in {loaded:.2f} s; {told}"


def _median(given: list[Any], ask: Callable[[Any, int], object], k: int) -> float:
    """The median seconds of one search of k hops."""
    spent = []
    for seeds in given:
        began = time.perf_counter()
        ask(seeds, k)
        spent.append(time.perf_counter() - began)
    return statistics.median(spent)


if __name__ == "__main__":
    sys.exit(main())
