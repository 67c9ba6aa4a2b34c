"""Comparisons as a report: counts, JSON, a table in the terminal, and one self-contained HTML page."""

from __future__ import annotations

import html
import json
import statistics
from collections import Counter
from collections.abc import Sequence
from typing import Any, TextIO

from hoplite.differ.answers import Answer, Row
from hoplite.differ.compare import Comparison, Verdict
from hoplite.differ.values import written
from hoplite.lazy_dataclass import dataclass

ROWS_SHOWN = 5
_COLOURS = {
    Verdict.EQUAL: "green",
    Verdict.BOTH_ERROR: "green",
    Verdict.NONDETERMINISTIC: "yellow",
    Verdict.DIFFERENT: "red",
    Verdict.ONE_ERROR: "red",
    Verdict.SKIPPED: "blue",
}


@dataclass(frozen=True, slots=True)
class Report:
    """All comparisons of a run."""

    comparisons: tuple[Comparison, ...]

    @property
    def differences(self) -> tuple[Comparison, ...]:
        """Those that a person should look at."""
        return tuple(one for one in self.comparisons if one.verdict.is_difference)

    @property
    def exit_code(self) -> int:
        """0 if there is no difference, else 1."""
        return 1 if self.differences else 0

    def counts(self) -> dict[str, int]:
        """How many there are of each verdict."""
        counted = Counter(one.verdict for one in self.comparisons)
        return {verdict.value: counted[verdict] for verdict in Verdict if counted[verdict]}

    def summary(self) -> str:
        """One line: counts, mean Jaccard, and the median of the time ratios."""
        compared = [one for one in self.comparisons if one.verdict is not Verdict.SKIPPED]
        parts = [f"{count} {verdict}" for verdict, count in self.counts().items()]
        if compared:
            parts.append(f"mean Jaccard {statistics.fmean(one.jaccard for one in compared):.4f}")
        if ratios := [one.ratio for one in compared if one.ratio is not None]:
            parts.append(f"Neo4j takes {statistics.median(ratios):.1f} times as long (median)")
        return ", ".join(parts) or "nothing compared"

    def to_json(self) -> str:
        """The report as JSON, with the first differing rows of each query."""
        return json.dumps(
            {"counts": self.counts(), "queries": [_as_data(one) for one in self.comparisons]},
            ensure_ascii=False,
            indent=1,
        )

    def to_html(self) -> str:
        """One page: a summary, and each query with both answers side by side."""
        worst_first = sorted(self.comparisons, key=lambda one: (not one.verdict.is_difference, one.name))
        rows = "\n".join(_html_rows(one) for one in worst_first)
        return _PAGE.replace("{summary}", html.escape(self.summary())).replace("{rows}", rows)

    def print(self, stream: TextIO, everything: bool = False) -> None:
        """A table, by default of the differences only, and the summary."""
        from rich.console import Console
        from rich.table import Table

        console = Console(file=stream, soft_wrap=False)
        shown = self.comparisons if everything else self.differences
        if shown:
            table = Table("query", "verdict", "Jaccard", "Hoplite", "Neo4j", "ratio", "why", show_lines=False)
            for one in shown:
                colour = _COLOURS[one.verdict]
                ratio = "" if one.ratio is None else f"{one.ratio:.1f}"
                table.add_row(
                    one.name,
                    f"[{colour}]{one.verdict.value}[/]",
                    f"{one.jaccard:.2f}",
                    _milliseconds(one.hoplite),
                    _milliseconds(one.neo4j),
                    ratio,
                    _escaped(one.reason),
                )
            console.print(table)
        console.print(self.summary())


def _escaped(text: str) -> str:
    from rich.markup import escape

    return escape(text if len(text) <= 300 else text[:300] + "…")


def _milliseconds(answer: Answer) -> str:
    return f"{answer.seconds * 1000:.1f} ms"


def shown_rows(rows: Sequence[Row]) -> list[list[str]]:
    """The first rows as texts, sorted so that both sides can be read line by line."""
    return [[written(value) for value in row] for row in sorted(rows, key=repr)[:ROWS_SHOWN]]


def _as_data(one: Comparison) -> dict[str, Any]:
    return {
        "name": one.name,
        "query": one.query,
        "parameters": {key: str(value) for key, value in one.parameters.items()},
        "verdict": one.verdict.value,
        "reason": one.reason,
        "jaccard": one.jaccard,
        "hoplite": _answer_data(one.hoplite, one.only_hoplite),
        "neo4j": _answer_data(one.neo4j, one.only_neo4j),
        "ratio": one.ratio,
    }


def _answer_data(answer: Answer, only: Sequence[Row]) -> dict[str, Any]:
    data: dict[str, Any] = {"seconds": answer.seconds, "columns": list(answer.columns), "rows": len(answer.rows)}
    if answer.failure is not None:
        data["error"] = {"code": answer.failure.code, "message": answer.failure.message}
    if answer.counters:
        data["counters"] = dict(answer.counters)
    if only:
        data["only_here"] = shown_rows(only)
    return data


_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Hoplite compared with Neo4j</title><style>
body { font: 15px/1.4 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; width: 100%; }
th, td { text-align: left; vertical-align: top; padding: .3rem .6rem; border-bottom: 1px solid #ddd; }
pre { margin: 0; white-space: pre-wrap; font-size: 13px; }
.sides { display: grid; grid-template-columns: 1fr 1fr; gap: 1rem; }
.equal, .both-error { color: #1a7f37; } .different, .one-error { color: #cf222e; }
.nondeterministic { color: #9a6700; } .skipped { color: #57606a; }
</style></head><body>
<h1>Hoplite compared with Neo4j</h1>
<p>{summary}</p>
<table><thead><tr><th>query</th><th>verdict</th><th>Jaccard</th><th>Hoplite</th><th>Neo4j</th><th>ratio</th></tr></thead>
<tbody>
{rows}
</tbody></table></body></html>
"""


def _html_rows(one: Comparison) -> str:
    verdict = one.verdict.value
    ratio = "" if one.ratio is None else f"{one.ratio:.1f}"
    reason = f"<div>{html.escape(one.reason)}</div>" if one.reason else ""
    sides = ""
    if one.verdict.is_difference:
        sides = (
            "<div class=sides><div><b>only Hoplite</b>"
            f"{_html_side(one.hoplite, one.only_hoplite)}</div><div><b>only Neo4j</b>"
            f"{_html_side(one.neo4j, one.only_neo4j)}</div></div>"
        )
    return (
        f"<tr><td>{html.escape(one.name)}<pre>{html.escape(one.query)}</pre>{reason}{sides}</td>"
        f'<td class="{verdict.replace(" ", "-")}">{verdict}</td><td>{one.jaccard:.2f}</td>'
        f"<td>{_milliseconds(one.hoplite)}</td><td>{_milliseconds(one.neo4j)}</td><td>{ratio}</td></tr>"
    )


def _html_side(answer: Answer, only: Sequence[Row]) -> str:
    if answer.failure is not None:
        return f"<pre>{html.escape(answer.failure.code)}\n{html.escape(answer.failure.message)}</pre>"
    lines = [" | ".join(answer.columns), *(" | ".join(row) for row in shown_rows(only))]
    return f"<pre>{html.escape(chr(10).join(lines))}</pre>"
