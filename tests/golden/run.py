"""Recorded answers from the command line.

    python -m tests.golden.run --suite cases [--family temporal] [--limit 500] [--show 5] [--json FILE] [--update]

--suite (may be repeated): cases, patterns, llm. Each ends with `N passed, M failed`; the exit status is 0 only where
every failure is in known_failures/SUITE.txt and every case listed there still fails. --update strikes off what passes.
"""

from __future__ import annotations

import argparse
import random
import sys
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.golden import cases, corpus, patterns
from tests.suites.report import add_options, finish
from tests.suites.workers import Runner, Task, run_tasks

KNOWN_FAILURES = Path(__file__).with_name("known_failures")


@dataclass(frozen=True, slots=True)
class Suite:
    read_tasks: Callable[[], list[Task]]
    make_runner: Callable[[], Runner]
    describe: Callable[[Task], str]
    deadline_seconds: float


SUITES = {
    "cases": Suite(cases.read_tasks, cases.CaseRunner, cases.describe, cases.DEADLINE_SECONDS),
    "patterns": Suite(patterns.read_tasks, patterns.PatternRunner, patterns.describe, patterns.DEADLINE_SECONDS),
    "llm": Suite(corpus.read_tasks, corpus.CorpusRunner, corpus.describe, corpus.DEADLINE_SECONDS),
}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--suite", action="append", choices=SUITES, required=True)
    parser.add_argument("--family", action="append", help="only this family (of llm: this graph); may be repeated")
    parser.add_argument("--only", metavar="ID", action="append", help="only this case; may be repeated")
    parser.add_argument("--limit", type=int, metavar="N", help="at most N cases of each family, always the same ones")
    add_options(parser)
    options = parser.parse_args()
    clean, ran = True, False
    for name in options.suite:
        suite = SUITES[name]
        everything = suite.read_tasks()
        chosen = choose(everything, options.family, options.only, options.limit)
        if not chosen:
            continue
        ran = True
        print(f"\n{name}: {len(chosen)} of {len(everything)} cases", flush=True)
        results = run_tasks(suite.make_runner, chosen, options.jobs, suite.deadline_seconds)
        verdicts = {task.name: verdict for task, verdict in results}
        clean &= finish(name, options, KNOWN_FAILURES / f"{name}.txt", everything, verdicts, suite.describe)
    if not ran:
        raise SystemExit(f"No case of {', '.join(options.suite)} is of that family or name.")
    return 0 if clean else 1


def choose(
    tasks: Sequence[Task], families: Sequence[str] | None, names: Sequence[str] | None, limit: int | None
) -> list[Task]:
    by_family: dict[str, list[Task]] = defaultdict(list)
    for task in tasks:
        if (not families or task.family in families) and (not names or task.name in names):
            by_family[task.family].append(task)
    if limit is not None:
        for family, members in by_family.items():
            by_family[family] = random.Random(family).sample(members, min(limit, len(members)))
    return [task for members in by_family.values() for task in members]


if __name__ == "__main__":
    sys.exit(main())
