"""One engine in its own process: commands come in as JSON lines on standard input, results go out as JSON lines.

    python -m benchmarks.worker ENGINE SHAPES_FOLDER SCRATCH_FOLDER wall|cpu

The engine's library is imported first (one of them must come before Numba), then the reference: the push loop for
balls, NumPy by hand for queries. Each question goes to the reference and to the engine in turn, so that load on the
machine affects both. Whatever libraries print goes to standard error.
"""

from __future__ import annotations

import gc
import json
import os
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.answers import ids_digest, ordered_digest, paths_digest, rows_digest
from benchmarks.engine import BallWay, BatchWay, Engine, QueryWay, Row, Unavailable
from benchmarks.engines import engine_class
from benchmarks.store import ball_seeds, load_shape
from benchmarks.workloads import BY_KEY

Reply = dict[str, Any]
CLOCKS = {"wall": time.perf_counter, "cpu": time.process_time}


class Worker:
    """The commands, one method each."""

    def __init__(self, name: str, shapes: Path, scratch: Path, clock: str) -> None:
        self._shapes = shapes
        self._clock = CLOCKS[clock]
        self._engine: Engine = engine_class(name)(scratch)

    def about(self) -> Reply:
        return {"title": self._engine.title, "version": self._engine.version()}

    def load_ball(self, shape: str, queries: int) -> Reply:
        """Load the shape of that name, and the reference; `queries` is the number of sets of seeds."""
        from benchmarks.limit import Limit

        loaded = load_shape(self._shapes, shape)
        self._compared: set[tuple[int, int, int]] = set()
        self._seeds = ball_seeds(loaded, queries)
        self._limit_seeds = [seeds.astype(np.int32) for seeds in self._seeds]
        self._limit = Limit(loaded)
        self._limit.ball(self._limit_seeds[0], 1)
        self._balls: Sequence[BallWay]
        reply, self._balls = self._loading(lambda: self._engine.load_ball(loaded))
        self._batches: Sequence[BatchWay] = self._engine.batches()
        return {**reply, "batches": [[way.name, "columns"] for way in self._batches]}

    def ball(self, way: int, k: int, first: int, count: int, seconds: float) -> Reply:
        """Up to `count` queries from number `first` on, until the time is up: times of reference and engine.

        Answers not compared before are first requested untimed: digesting one between two timed queries would evict the
        engine from the processor's caches. Their digests and sizes come with the times, by query number.
        """
        clock, asked = self._clock, self._balls[way]
        reply: Reply = {"number": [], "limit": [], "time": [], **self._compare(way, k, first, count, seconds)}
        until = time.perf_counter() + seconds
        for number in range(first, count):
            if (way, k, number) not in self._compared:
                break
            seeds, limit_seeds = asked.seeds(self._seeds[number]), self._limit_seeds[number]
            began = clock()
            self._limit.ball(limit_seeds, k)
            between = clock()
            asked.ask(seeds, k)
            ended = clock()
            reply["number"].append(number)
            reply["limit"].append(between - began)
            reply["time"].append(ended - between)
            if time.perf_counter() > until:
                break
        return reply

    def _compare(self, way: int, k: int, first: int, count: int, seconds: float) -> Reply:
        """Digests of answers not compared before, the reference's and the engine's."""
        asked = self._balls[way]
        reply: Reply = {"limit_digest": {}, "digest": {}, "size": {}}
        until = time.perf_counter() + seconds
        for number in range(first, count):
            if (way, k, number) in self._compared:
                continue
            right = self._limit.ball(self._limit_seeds[number], k)
            answer = asked.ask(asked.seeds(self._seeds[number]), k)
            self._compared.add((way, k, number))
            reply["limit_digest"][number] = ids_digest(right.astype(np.int64))
            reply["digest"][number] = ids_digest(asked.ids(answer))
            reply["size"][number] = len(right)
            if time.perf_counter() > until:
                break
        return reply

    def batch(self, way: int, k: int, count: int, repeat: int, seconds: float) -> Reply:
        """The first `count` sets of seeds in one call, against the reference one by one."""
        clock, asked = self._clock, self._batches[way]
        seeds = asked.seeds(self._seeds[:count])
        reply: Reply = {"limit": [], "time": [], "limit_digest": {}, "digest": {}, "size": {}}
        until = time.perf_counter() + seconds
        for _ in range(repeat):
            began = clock()
            right = [self._limit.ball(limit_seeds, k) for limit_seeds in self._limit_seeds[:count]]
            between = clock()
            answer = asked.ask(seeds, k)
            ended = clock()
            reply["limit"].append(between - began)
            reply["time"].append(ended - between)
            if time.perf_counter() > until:
                break
        if (way, k, count) not in self._compared:
            self._compared.add((way, k, count))
            reply["limit_digest"] = {i: ids_digest(ids.astype(np.int64)) for i, ids in enumerate(right)}
            reply["digest"] = {i: ids_digest(ids) for i, ids in enumerate(asked.ids(answer))}
        return reply

    def load_queries(self, shape: str) -> Reply:
        """Load the shape of that name, and the queries by hand."""
        from benchmarks.by_hand import ByHand

        loaded = load_shape(self._shapes, shape)
        self._by_hand = ByHand(loaded)
        self._queries: Sequence[QueryWay]
        reply, self._queries = self._loading(lambda: self._engine.load_queries(loaded))
        return reply

    def check(self, way: int, key: str) -> Reply:
        """Ask one query once, as a warm-up, and compare: digests of the engine's answer and of the one by hand."""
        asked = self._queries[way]
        answer = asked.ask(key)
        rows = asked.rows(key, answer)
        right = self._by_hand.rows(key)
        if key == "c1":
            right = [tuple(node for node in row if node >= 0) for row in right]
        digests = {"digest": self._digest(key, rows), "hand_digest": self._digest(key, right)}
        return {"rows": len(rows), **digests}

    def query(self, way: int, key: str, repeat: int, seconds: float) -> Reply:
        """One query, repeated up to `repeat` times or until the time is up: times of the engine, and by hand."""
        clock, asked = self._clock, self._queries[way]
        hand, times = [], []
        until = time.perf_counter() + seconds
        for _ in range(repeat):
            began = clock()
            self._by_hand.ask(key)
            between = clock()
            asked.ask(key)
            ended = clock()
            hand.append(between - began)
            times.append(ended - between)
            if time.perf_counter() > until:
                break
        return {"hand": hand, "time": times}

    def close(self) -> Reply:
        self._engine.close()
        return {}

    def _digest(self, key: str, rows: Sequence[Row]) -> str:
        if BY_KEY[key].any_rows:
            return paths_digest(rows, 1000, self._by_hand.is_path)
        return ordered_digest(rows) if "ORDER BY" in BY_KEY[key].cypher else rows_digest(rows)

    def _loading(self, load: Callable[[], Sequence[Any]]) -> tuple[Reply, Sequence[Any]]:
        """The time and memory of a load. Afterwards the garbage collector ignores what was loaded."""
        gc.collect()
        before = resident_mb()
        began = time.perf_counter()
        ways = load()
        seconds = time.perf_counter() - began
        gc.collect()
        gc.freeze()
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
        own = self._engine.in_process
        reply = {
            "seconds": seconds,
            "rss_mb": resident_mb() - before if own else None,
            "peak_mb": peak - before if own else None,
            "ways": [[way.name, way.form] for way in ways],
        }
        self._engine.warm_up()
        return reply, ways


def resident_mb() -> float:
    """The resident memory of this process."""
    with open("/proc/self/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * resource.getpagesize() / 2**20


def main() -> None:
    name, shapes, scratch, clock = sys.argv[1:]
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)

    def reply(message: Reply) -> None:
        replies.write(json.dumps(message) + "\n")
        replies.flush()

    try:
        worker = Worker(name, Path(shapes), Path(scratch), clock)
        reply(worker.about())
    except Unavailable as reason:
        return reply({"unavailable": str(reason)})
    for line in sys.stdin:
        command = json.loads(line)
        try:
            reply(getattr(worker, command.pop("do"))(**command))
        except Unavailable as reason:
            reply({"unavailable": str(reason)})
        except Exception as error:
            reply({"error": f"{type(error).__name__}: {str(error)[:300]}"})
    return None


if __name__ == "__main__":
    main()
