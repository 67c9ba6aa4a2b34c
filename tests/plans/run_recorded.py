"""Recorded queries another way: every golden pattern and a sample of the machine-written queries, as plans that are
written to JSON and read back, and under PROFILE. Each must come to the verdict of the plain run.

    python -m tests.plans.run_recorded --patterns 500 --queries 1000        without --patterns: all of them
"""

from __future__ import annotations

import argparse
import random
import sys
from collections.abc import Iterator, Sequence
from typing import Any

from tests.golden import corpus, patterns
from tests.plans.other_ways import ThroughJson, ThroughProfile
from tests.suites.workers import Task, Verdict

WAYS = (ThroughJson, ThroughProfile)


def differences(runner: Any, tasks: Sequence[Task]) -> Iterator[str]:
    """What differs from the plain run."""
    for task in sorted(tasks, key=lambda task: task.group):
        plain = _verdict(runner, task, None)
        for way in WAYS:
            found = _verdict(runner, task, way)
            if (found.outcome, found.kind) != (plain.outcome, plain.kind):
                yield f"{task.name} {way.__name__}: {found} instead of {plain}\n{task.payload}"


def _verdict(runner: Any, task: Task, way: Any) -> Verdict:
    runner.prepare(task)
    plain = runner.db
    try:
        runner.db = plain if way is None else way(plain)
        verdict: Verdict = runner.run(task)
        return verdict
    finally:
        runner.db = plain


def sample(tasks: list[Task], count: int | None) -> list[Task]:
    """A sample of this many, always the same ones."""
    return tasks if count is None or count >= len(tasks) else random.Random(count).sample(tasks, count)


def all_differences(pattern_count: int | None, query_count: int | None) -> Iterator[str]:
    """Over both suites."""
    yield from differences(patterns.PatternRunner(), sample(patterns.read_tasks(), pattern_count))
    machine_written = [task for task in corpus.read_tasks() if task.group != corpus.EXPLAIN]
    yield from differences(corpus.CorpusRunner(), sample(machine_written, query_count))


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--patterns", type=int)
    parser.add_argument("--queries", type=int, default=1000)
    asked = parser.parse_args()
    count = 0
    for difference in all_differences(asked.patterns, asked.queries):
        print(difference, flush=True)
        count += 1
    print(f"{count} differences")
    return 1 if count else 0


if __name__ == "__main__":
    sys.exit(main())
