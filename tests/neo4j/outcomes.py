"""The outcome of each query that ran on both sides, line by line in a file, and the table of a whole run. An
interrupted run continues where it stopped: a query whose outcome is in the file, from the same code of Hoplite, is not
run again. The first line that a query has under a state of the code counts as that state's answer.
"""

from __future__ import annotations

import hashlib
import json
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TextIO

from hoplite.differ.compare import AMONG_EQUALS, Comparison, Verdict
from hoplite.differ.report import shown_rows
from tests.neo4j.explained import EXPLAINED
from tests.suites.data import REPOSITORY

_CODE = ("engine", "grammar", "planner", "storage", "hoplite", "tests/neo4j", "tests/golden")
AGREES, NOT_RECORDED = "agrees", "not determined or not recorded"


@dataclass(frozen=True, slots=True)
class Outcome:
    """One query. `hoplite_recorded` and `neo4j_recorded` say how each side's answer relates to the recorded one."""

    name: str
    graph: str
    verdict: str
    reason: str
    jaccard: float
    hoplite_seconds: float
    neo4j_seconds: float
    hoplite_recorded: str
    neo4j_recorded: str
    query: str
    rows: Mapping[str, Sequence[Sequence[str]]]
    """The first rows of each side that the other lacks, where there are such."""

    @property
    def explanation(self) -> str | None:
        """The class of a difference that is understood; None if it is not, or if there is none."""
        return EXPLAINED.get(self.name)

    @property
    def is_unexplained(self) -> bool:
        """Whether somebody must look at it: the two sides differ, or one of them contradicts the recorded answer."""
        if self.explanation is not None:
            return False
        return Verdict(self.verdict).is_difference or (self._contradicts_recording and not self._is_checked_tie)

    @property
    def _contradicts_recording(self) -> bool:
        return any(told not in (AGREES, NOT_RECORDED) for told in (self.hoplite_recorded, self.neo4j_recorded))

    @property
    def _is_checked_tie(self) -> bool:
        """Rows are right by what both sides answer without the LIMIT; the recording saw one choice three times."""
        return self.verdict == Verdict.EQUAL.value or self.reason == AMONG_EQUALS

    @property
    def kind(self) -> str:
        """The row of the table that it is counted in."""
        if self.explanation is not None:
            return f"explained: {self.explanation}"
        if self.is_unexplained:
            return "unexplained"
        shown = (
            f"{self.verdict}: {self.reason}"
            if self.reason and self.verdict != Verdict.BOTH_ERROR.value
            else self.verdict
        )
        return f"{shown}; recorded with another choice" if self._contradicts_recording else shown


def outcome_of(one: Comparison, graph: str, hoplite_recorded: str, neo4j_recorded: str) -> Outcome:
    """A comparison without its rows, but for the first that differ."""
    sides = (("Hoplite", one.only_hoplite), ("Neo4j", one.only_neo4j))
    return Outcome(
        one.name,
        graph,
        one.verdict.value,
        one.reason,
        one.jaccard,
        one.hoplite.seconds,
        one.neo4j.seconds,
        hoplite_recorded,
        neo4j_recorded,
        one.query,
        {side: shown_rows(rows) for side, rows in sides if rows},
    )


class OutcomeFile:
    """Outcomes as they come, each on disk before the next query runs."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._code = code_fingerprint()
        self.kept: dict[str, Outcome] = {}
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                self._take(line)
        path.parent.mkdir(parents=True, exist_ok=True)

    def _take(self, line: str) -> None:
        try:
            held = json.loads(line)
        except ValueError:  # the last line of a run that was cut off
            return
        if held.pop("code") == self._code:
            self.kept[held["name"]] = Outcome(**held)

    def append(self, outcome: Outcome) -> None:
        """Write it down."""
        self.kept[outcome.name] = outcome
        with self._path.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps({"code": self._code, **asdict(outcome)}, ensure_ascii=False) + "\n")


def code_fingerprint() -> str:
    """The same for the same sources of Hoplite and of these tests."""
    digest = hashlib.sha256()
    for folder in _CODE:
        for path in sorted((REPOSITORY / folder).rglob("*")):
            if path.suffix in (".py", ".lark", ".json") and path.is_file():
                digest.update(path.relative_to(REPOSITORY).as_posix().encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def print_table(outcomes: Sequence[Outcome], stream: TextIO) -> None:
    """Counts by graph, counts by class, and the unexplained one by one."""
    by_graph: dict[str, list[Outcome]] = {}
    for one in outcomes:
        by_graph.setdefault(one.graph, []).append(one)
    print("| graph | queries | " + " | ".join(_COLUMNS) + " | Neo4j's time / ours (median) |", file=stream)
    print("|---|" + "---:|" * (len(_COLUMNS) + 2), file=stream)
    for graph, group in (*sorted(by_graph.items()), ("all", list(outcomes))):
        counts = Counter(_column(one) for one in group)
        cells = " | ".join(str(counts[column]) for column in _COLUMNS)
        print(f"| {graph} | {len(group)} | {cells} | {_median_ratio(group):.1f} |", file=stream)
    print("\n| class | queries |\n|---|---:|", file=stream)
    for kind, count in Counter(one.kind for one in outcomes).most_common():
        print(f"| {kind} | {count} |", file=stream)
    for told in ("hoplite", "neo4j"):
        counts = Counter(getattr(one, f"{told}_recorded") for one in outcomes)
        shown = ", ".join(f"{count} {kind}" for kind, count in counts.most_common())
        print(f"\nThe recorded answers and {told.capitalize()} now: {shown}", file=stream)
    for one in unexplained(outcomes):
        print("\n" + "\n".join(_lines(one)), file=stream)


_COLUMNS = ("equal", "both error", "nondeterministic", "skipped", "explained", "unexplained")


def _column(one: Outcome) -> str:
    return re.split("[:;]", one.kind)[0]


def _median_ratio(group: Iterable[Outcome]) -> float:
    return statistics.median(one.neo4j_seconds / max(one.hoplite_seconds, 1e-9) for one in group)


def unexplained(outcomes: Iterable[Outcome]) -> list[Outcome]:
    """Those that somebody must look at."""
    return [one for one in outcomes if one.is_unexplained]


def _lines(one: Outcome) -> Iterator[str]:
    yield f"{one.name}: {one.verdict}: {one.reason[:300]}"
    yield f"  recorded: Hoplite {one.hoplite_recorded}; Neo4j {one.neo4j_recorded}"
    yield from (f"  {line}" for line in one.query.splitlines())
    for side, rows in one.rows.items():
        yield from (f"    only {side}: {' | '.join(row)[:400]}" for row in rows)
