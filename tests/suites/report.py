"""The end of a run: a table per family, the first failures, and the verdict against the list of known failures."""

from __future__ import annotations

import argparse
import io
import json
import sys
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from tests.suites.known_failures import compare, read_known, updated, write_known
from tests.suites.workers import Task, Verdict


def add_options(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (default 2)")
    parser.add_argument("--show", type=int, default=0, metavar="N", help="print the first N failures of each family")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write every verdict to FILE")
    parser.add_argument("--update", action="store_true", help="strike off the known failures that pass now")
    parser.add_argument("--grow", action="store_true", help="with --update: also list what fails now (a first list)")


def finish(
    title: str,
    options: argparse.Namespace,
    known_path: Path,
    everything: Sequence[Task],
    verdicts: Mapping[str, Verdict],
    describe: Callable[[Task], str],
) -> bool:
    """Print the report; True where nothing regressed and nothing is left to strike off."""
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")  # answers may hold lone surrogates
    ran = [task for task in everything if task.name in verdicts]
    _print_table(ran, verdicts)
    _print_failures(ran, verdicts, options.show, describe)
    if options.json:
        _write_json(options.json, ran, verdicts)

    known = read_known(known_path)
    standing = compare(known, {task.name for task in everything}, verdicts)
    if options.update:
        known = updated(known, standing, grow=options.grow)
        write_known(known_path, known, f"{title}: known failures. May only shrink; --update strikes off what passes.")
        standing = compare(known, {task.name for task in everything}, verdicts)
    _print_names("fail and are not known failures", standing.regressions)
    _print_names("are known failures and pass: strike them off (--update)", standing.fixed)
    _print_names("are known failures and no case of this suite: strike them off (--update)", standing.unheard_of)
    remarks = Counter(remark for verdict in verdicts.values() for remark in verdict.remarks)
    if remarks:
        print("beside that: " + ", ".join(f"{count} {remark}" for remark, count in remarks.most_common()))
    skipped = f", {standing.skipped} skipped" if standing.skipped else ""
    print(f"{title}: {len(known)} known failures{skipped}")
    print(f"{standing.passed} passed, {standing.failed} failed", flush=True)
    return standing.clean


def _print_table(ran: Sequence[Task], verdicts: Mapping[str, Verdict]) -> None:
    table: dict[str, Counter[str]] = defaultdict(Counter)
    for task in ran:
        verdict = verdicts[task.name]
        table[task.family][verdict.outcome if verdict.outcome == "passed" else verdict.kind] += 1
        table[task.family]["total"] += 1
    width = max(map(len, table), default=0)
    for family, counts in sorted(table.items()):
        total, passed = counts.pop("total"), counts.pop("passed", 0)
        rest = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
        print(f"{family:{width}}  {passed:6} of {total:6} passed  {rest}")


def _print_failures(
    ran: Sequence[Task], verdicts: Mapping[str, Verdict], show: int, describe: Callable[[Task], str]
) -> None:
    shown: Counter[str] = Counter()
    for task in ran:
        verdict = verdicts[task.name]
        if verdict.outcome == "failed" and shown[task.family] < show:
            shown[task.family] += 1
            print(f"\n{task.name}\n  {verdict.kind}: {verdict.detail}\n{describe(task)}")


def _print_names(what: str, names: Sequence[str]) -> None:
    if names:
        print(f"\n{len(names)} {what}:")
        for name in names[:20]:
            print(f"  {name}")
        if len(names) > 20:
            print(f"  ... and {len(names) - 20} more")


def _write_json(path: Path, ran: Sequence[Task], verdicts: Mapping[str, Verdict]) -> None:
    rows = [
        {
            "name": task.name,
            "family": task.family,
            "outcome": verdicts[task.name].outcome,
            "kind": verdicts[task.name].kind,
            "detail": verdicts[task.name].detail,
            "remarks": list(verdicts[task.name].remarks),
        }
        for task in ran
    ]
    path.write_text(json.dumps(rows, indent=1) + "\n", encoding="ascii")  # answers may hold lone surrogates
