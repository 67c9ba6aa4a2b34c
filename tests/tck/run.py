"""The TCK from the command line: `python -m tests.tck.run [FOLDER] [--only REGEX] [--show N] [--json FILE] [--update]`.

An expected error passes with the TCK's class or with the code that Neo4j 5.26 gives there (neo4j_5_26.tsv beside the
features, where there is one). Ends with `N passed, M failed`; the exit status is 0 only where every failure is in
known_failures.txt and every scenario listed there still fails.
"""

from __future__ import annotations

import argparse
import re
import sys
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from tests.suites.data import MissingData, data_path
from tests.suites.report import add_options, finish
from tests.suites.workers import Task, Verdict, run_tasks
from tests.tck.gherkin import Scenario, read_folder
from tests.tck.scenario import Execution

KNOWN_FAILURES = Path(__file__).with_name("known_failures.txt")
DEADLINE_SECONDS = 20.0
_NEO4J_CODE = re.compile(r"differs: raises (\S+)")


@dataclass(frozen=True, slots=True)
class ScenarioRunner:
    """One new database in memory for each scenario."""

    graphs: Path
    accepted_codes: dict[str, str]

    def prepare(self, task: Task) -> None:
        import hoplite  # noqa: F401  (the first import is not the first scenario's time)

    def run(self, task: Task) -> Verdict:
        import hoplite

        with hoplite.open() as db:
            return Execution(db, self.graphs, self.accepted_codes.get(task.name)).run(task.payload)


def accepted_codes(table: Path) -> dict[str, str]:
    """The code that Neo4j raises, for the scenarios where that is not of the TCK's class."""
    codes: dict[str, str] = {}
    if table.exists():
        for line in table.read_text(encoding="utf-8").splitlines():
            feature, title, outcome = line.split("\t")
            if found := _NEO4J_CODE.match(outcome):
                codes[f"{feature}: {title}"] = found[1]
    return codes


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="the feature files (default: tck in HOPLITE_DATA)")
    parser.add_argument("--only", metavar="REGEX", help="only scenarios whose path and title match")
    add_options(parser)
    options = parser.parse_args()
    folder: Path = options.folder or data_path("tck")
    scenarios = read_folder(folder)
    if not scenarios:
        raise MissingData(f"There are no feature files under {folder}.")
    everything = [Task(scenario.name, scenario.folder, scenario.folder, scenario) for scenario in scenarios]
    chosen = [task for task in everything if not options.only or re.search(options.only, task.name)]

    runner = partial(ScenarioRunner, folder / "graphs", accepted_codes(folder / "neo4j_5_26.tsv"))
    verdicts = {task.name: verdict for task, verdict in run_tasks(runner, chosen, options.jobs, DEADLINE_SECONDS)}
    return 0 if finish("TCK", options, KNOWN_FAILURES, everything, verdicts, _describe) else 1


def _describe(task: Task) -> str:
    scenario: Scenario = task.payload
    lines = [line for step in scenario.steps if step.doc for line in step.doc.splitlines()]
    return "\n".join(f"    {line}" for line in (lines if len(lines) <= 30 else [*lines[:30], "..."]))


if __name__ == "__main__":
    sys.exit(main())
