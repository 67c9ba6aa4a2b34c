"""What a statement answered besides its rows: its plan, its notifications, what it changed.

All of it is in what a server sends at the end (`Result.end`), which does not need the driver.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import chain, islice
from typing import IO, TYPE_CHECKING, Any

from hoplite.cli.render import Format, visible, write, write_json

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.api.records import Row
    from hoplite.api.result import Result

_COUNTERS = (
    *("nodes-created", "nodes-deleted", "relationships-created", "relationships-deleted", "properties-set"),
    *("labels-added", "labels-removed", "indexes-added", "indexes-removed"),
    *("constraints-added", "constraints-removed"),
)
Ending = Mapping[str, Any]


def plan_text(ending: Ending, hops: str | None = None) -> str | None:
    """The plan that EXPLAIN or PROFILE requested, as a table; `hops` says what runs its hops.

    The table is the driver's, which is Neo4j's, with a column for how Hoplite computes each operator.
    """
    plan = ending.get("profile") or ending.get("plan")
    if plan is None:
        return None
    lines = str(plan["args"]["string-representation"]).rstrip().split("\n")
    rulers = [number for number, line in enumerate(lines) if line.startswith("+-")]
    if rulers:
        lines[rulers[0] : rulers[-1] + 1] = _plan_table(plan)
    return "\n".join([*lines, *([f"Hops run in: {hops}"] if hops else [])])


def hops_text(db: Database, result: Result) -> str | None:
    """What runs the hops of a statement that was explained or profiled; None if it has none."""
    from hoplite.api.backends import describe_backend
    from hoplite.planner.explain import has_hops

    prepared = result._prepared
    if prepared.mode is None or prepared.plan is None or not has_hops(prepared.plan):
        return None
    return describe_backend(db._backend)


def _plan_table(plan: Mapping[str, Any]) -> list[str]:
    """The lines of the table of a plan."""
    header = ["Operator", "Id", "Details", "Computed by", "Estimated Rows"]
    if "rows" in plan:
        header += ["Rows", "DB Hits", "ms"]
    rows = []
    for depth, operator in _operators(plan, 0):
        arguments = operator["args"]
        name = f"{'| ' * depth}+{operator['operatorType'].removesuffix('@neo4j')}"
        row = [name, str(arguments["Id"]), arguments["Details"], arguments.get("ComputedBy", "")]
        row.append(str(round(arguments["EstimatedRows"])))
        if "rows" in plan:
            row += [str(operator["rows"]), str(operator["dbHits"]), f"{operator['time'] / 1e6:.2f}"]
        rows.append(row)
    widths = [max(map(len, column)) for column in zip(header, *rows, strict=True)]
    ruler = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    left_aligned = ("Operator", "Details", "Computed by")

    def drawn(cells: list[str], is_header: bool = False) -> str:
        aligned = (
            cell.ljust(width) if is_header or name in left_aligned else cell.rjust(width)
            for name, cell, width in zip(header, cells, widths, strict=True)
        )
        return f"| {' | '.join(aligned)} |"

    return [ruler, drawn(header, True), ruler, *map(drawn, rows), ruler]


def _operators(operator: Mapping[str, Any], depth: int) -> Iterator[tuple[int, Mapping[str, Any]]]:
    """Operators from the top with their depth: those beside one are indented, and come before its source."""
    yield depth, operator
    source, *beside = operator.get("children", [None])
    for branch in beside:
        yield from _operators(branch, depth + 1)
    if source is not None:
        yield from _operators(source, depth)


def write_plan(ending: Ending, hops: str | None, form: Format, out: IO[str], errors: IO[str]) -> None:
    """Print the plan, if there is one. With rows for another program, it goes to the user alone."""
    if is_explained(ending) and form in ("json", "jsonl"):
        write_json(ending["plan"], out)
    elif (plan := plan_text(ending, hops)) is not None:
        print(visible(plan), file=out if is_explained(ending) or form == "table" else errors)


def write_rows(result: Result, rows: Iterator[Row], form: Format, out: IO[str]) -> int:
    """Write rows as they come; returns how many. A statement that was only explained has not even columns."""
    columns = result.keys()
    first = list(islice(rows, 1))
    if not columns or (not first and is_explained(result.end())):
        return 0
    return write(columns, chain(first, rows), form, out)


def is_explained(ending: Ending) -> bool:
    """Whether the statement was only explained: its plan is its whole answer."""
    return "plan" in ending


def notification_lines(ending: Ending) -> list[str]:
    """One line for each notification: its severity, text and position in the query."""
    return [_line(status) for status in ending["statuses"] if "neo4j_code" in status]


def _line(status: Mapping[str, Any]) -> str:
    record = status["diagnostic_record"]
    place = record.get("_position")
    where = f" (line {place['line']}, column {place['column']})" if place else ""
    return f"{record['_severity'].lower()}: {status['description']}{where}"


def changes_text(ending: Ending) -> str:
    """What a statement changed: `nodes created: 1, properties set: 2`, or nothing."""
    counted = ((name, ending.get("stats", {}).get(name, 0)) for name in _COUNTERS)
    return ", ".join(f"{name.replace('-', ' ')}: {count:,}" for name, count in counted if count)
