"""A list of known failures that may only shrink.

One name a line, sorted; lines that start with `#` are comments. A listed case that passes fails the run until it is
struck off; a failing case that is not listed fails the run too.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from tests.suites.workers import Verdict


@dataclass(frozen=True, slots=True)
class Standing:
    """Where a run stands against its list."""

    passed: int
    failed: int
    skipped: int
    regressions: tuple[str, ...]  # fail and are not listed
    fixed: tuple[str, ...]  # are listed and pass
    unheard_of: tuple[str, ...]  # are listed and no case of the suite

    @property
    def clean(self) -> bool:
        return not (self.regressions or self.fixed or self.unheard_of)


def read_known(path: Path) -> set[str]:
    if not path.exists():
        return set()
    return {line for line in path.read_text(encoding="utf-8").splitlines() if line and not line.startswith("#")}


def write_known(path: Path, names: Iterable[str], heading: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([f"# {heading}", *sorted(names)]) + "\n", encoding="utf-8")


def compare(known: set[str], all_names: set[str], verdicts: Mapping[str, Verdict]) -> Standing:
    """`all_names` are those of the whole suite, `verdicts` those that ran (perhaps a part)."""
    outcomes = [verdict.outcome for verdict in verdicts.values()]
    failing = {name for name, verdict in verdicts.items() if verdict.outcome == "failed"}
    passing = {name for name, verdict in verdicts.items() if verdict.outcome == "passed"}
    return Standing(
        passed=outcomes.count("passed"),
        failed=outcomes.count("failed"),
        skipped=outcomes.count("skipped"),
        regressions=tuple(sorted(failing - known)),
        fixed=tuple(sorted(passing & known)),
        unheard_of=tuple(sorted(known - all_names)),
    )


def updated(known: set[str], standing: Standing, *, grow: bool) -> set[str]:
    """The list after a run: without what passes now; with what fails only where it may grow."""
    kept = known - set(standing.fixed) - set(standing.unheard_of)
    return kept | set(standing.regressions) if grow else kept
