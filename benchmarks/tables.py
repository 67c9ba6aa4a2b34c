"""Samples in, tables out: medians, ratios to the reference and to the best peer, targets met and missed.

Times of two ways are compared over the queries that both ran. A loss is shown like any other result.
"""

from __future__ import annotations

import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Literal

from benchmarks.answers import Disagreement, disagreements
from benchmarks.contest import HOPS, Part, Row, Samples, batch_key
from benchmarks.engine import Form
from benchmarks.workloads import BY_KEY, WORKLOADS

OURS = "hoplite"


@dataclass(frozen=True, slots=True)
class Table:
    """Text cells under a title; `notes` are lines below it."""

    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[str]]
    notes: Sequence[str] = field(default=())


# --- numbers ---------------------------------------------------------------------------------------------------------


def median_ms(samples: Samples) -> float:
    return statistics.median(samples.time) * 1000


def reference_ms(samples: Samples) -> float:
    return statistics.median(samples.reference) * 1000


def ratio(samples: Samples) -> float:
    """The time as a multiple of the reference's, over the same queries in the same process."""
    return statistics.median(samples.time) / statistics.median(samples.reference)


def times_as_long(one: Samples, other: Samples) -> float:
    """How many times as long `one` takes as `other`, over the queries that both ran."""
    common = set(one.number) & set(other.number)
    return _median_over(one, common) / _median_over(other, common)


def _median_over(samples: Samples, numbers: set[int]) -> float:
    return statistics.median(
        time for number, time in zip(samples.number, samples.time, strict=True) if number in numbers
    )


def best_peer(rows: Iterable[Row], question: str, form: Form, ours: Samples) -> tuple[Row, float] | None:
    """The peer that comes closest, or is ahead, in the same form, and its time as a multiple of ours."""
    peers = [row for row in rows if row.engine != OURS and row.form == form and row.samples[question].time]
    compared = [(row, times_as_long(row.samples[question], ours)) for row in peers]
    return min(compared, key=lambda pair: pair[1], default=None)


def answers_that_differ(part: Part) -> list[Disagreement]:
    """Compares every way's answers with the reference's, and those of every process's reference with each other."""
    found = []
    questions = dict.fromkeys(question for row in part.rows for question in row.samples)
    for question in questions:
        wanted: dict[int, str] = {}
        for row in part.rows:
            for number, digest in row.samples[question].reference_digest.items():
                if wanted.setdefault(number, digest) != digest:
                    found.append(Disagreement(f"{question}, query {number}", "the reference", digest, wanted[number]))
        answers = {f"{row.title} {row.way} ({row.form})": row.samples[question].digest for row in part.rows}
        found += disagreements(f"{part.shape}, {question}", wanted, answers)
    return found


# --- text ------------------------------------------------------------------------------------------------------------


def shown_ms(milliseconds: float) -> str:
    """Three digits: 0.00412, 0.412, 4.12, 412, 4,120."""
    if milliseconds >= 99.95:
        return f"{milliseconds:,.0f}"
    digits = 1 if milliseconds >= 9.995 else 2 if milliseconds >= 0.9995 else 3
    return f"{milliseconds:.{digits}f}"


def shown_ratio(value: float) -> str:
    return f"{value:,.0f}x" if value >= 9.95 else f"{value:.1f}x" if value >= 0.95 else f"{value:.2f}x"


def verdict(met: bool) -> str:
    return "met" if met else "**missed**"


def targets(tables: Iterable[Table]) -> tuple[int, int]:
    """How many targets were met, and how many were judged."""
    cells = [cell for table in tables for row in table.rows for cell in row]
    met, missed = cells.count(verdict(True)), cells.count(verdict(False))
    return met, met + missed


def _cell(samples: Samples, full: int) -> str:
    if not samples.time:
        return samples.problem or "not run"
    return f"{shown_ms(median_ms(samples))} ({shown_ratio(ratio(samples))}{fewer_queries(samples, full)})"


def fewer_queries(samples: Samples, full: int) -> str:
    """How many queries an engine ran, if it had no time for all of them."""
    ran = len(set(samples.number))
    return "" if ran >= full else f", q={ran}"


def queries_of(part: Part) -> int:
    """How many queries there are for each number of hops."""
    return max((len(set(row.samples[str(HOPS[0])].number)) for row in part.rows), default=0)


def _rows_of(part: Part, form: Form) -> list[Row]:
    return [row for row in part.rows if row.form == form]


# --- k-hop balls -----------------------------------------------------------------------------------------------------


def ball_tables(part: Part) -> list[Table]:
    return [
        *(_ball_table(part, form) for form in ("columns", "objects")),
        *(_ball_targets(part, way, extra, factor) for way, extra, factor in BALL_TARGETS),
    ]


# (way, milliseconds allowed, times the limit allowed)
BALL_TARGETS = (("Cypher", 0.060, 1.25), ("khop", 0.020, 1.1))


def _ball_table(part: Part, form: Literal["columns", "objects"]) -> Table:
    rows = _rows_of(part, form)
    full = queries_of(part)
    ours = [row for row in part.rows if row.engine == OURS] or part.rows
    limits = [limit_cell(ours, str(k)) for k in HOPS]
    cells = [[row.title, row.way, *(_cell(row.samples[str(k)], full) for k in HOPS)] for row in rows]
    names = {"columns": "as Arrow, NumPy or pandas columns", "objects": "as Python objects"}
    return Table(
        f"k-hop ball, {names[form]}: median ms (times the limit)",
        ["engine", "how", *(f"k={k}" for k in HOPS)],
        [["limit", "Numba push loop", *limits], *cells],
    )


def limit_cell(rows: Sequence[Row], question: str) -> str:
    """The median of the limit, as it was measured next to these rows."""
    known = [row.samples[question] for row in rows if row.samples[question].time]
    return shown_ms(statistics.median(reference_ms(samples) for samples in known)) if known else "not run"


def ball_allowed_ms(limit_ms: float, extra_ms: float, factor: float) -> float:
    return extra_ms + factor * limit_ms


def _ball_targets(part: Part, way: str, extra_ms: float, factor: float) -> Table:
    """What is allowed at each k, and whether every peer is behind, for answers as columns."""
    title = f"Hoplite's {way}, columns out: within {extra_ms * 1000:.0f} microseconds + {factor:g}x the limit"
    rows = []
    for row in part.rows:
        if row.engine != OURS or row.way != way or row.form != "columns":
            continue
        for k in HOPS:
            samples = row.samples[str(k)]
            if not samples.time:
                rows.append([f"{k}", "", samples.problem, "", verdict(False), "", ""])
                continue
            time, limit = median_ms(samples), reference_ms(samples)
            allowed = ball_allowed_ms(limit, extra_ms, factor)
            best = _against_best(part.rows, str(k), "columns", samples)
            rows.append([f"{k}", *map(shown_ms, (limit, time, allowed)), verdict(time <= allowed), *best])
    return Table(title, ["k", "limit ms", "ms", "allowed ms", "target", "best peer", "it takes"], rows)


def _against_best(rows: Sequence[Row], question: str, form: Form, ours: Samples) -> list[str]:
    best = best_peer(rows, question, form, ours)
    if best is None:
        return ["none", ""]
    row, factor = best
    return [f"{row.title} {row.way}", f"{shown_ratio(factor)} our time{'' if factor > 1 else ' (**ahead of us**)'}"]


# --- queries ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Target:
    """A limit for one form of a query: in milliseconds, or as a share of a peer's time."""

    key: str
    form: Form
    milliseconds: float | None = None
    peer: str | None = None
    share: float = 1.0

    def text(self) -> str:
        if self.milliseconds is not None:
            return f"under {self.milliseconds:g} ms"
        return f"under {self.share:g}x {self.peer}" if self.share != 1.0 else f"ahead of {self.peer}"


TARGETS = (
    Target("e1", "objects", milliseconds=0.1),
    Target("e2", "objects", milliseconds=0.4),
    Target("e2", "objects", peer="kglite"),
    *(Target(key, form, peer="ladybug", share=0.5) for key in ("a", "b") for form in ("columns", "objects")),
    Target("c1", "columns", peer="kglite", share=0.25),
    Target("c1", "objects", peer="kglite", share=1.5),
    Target("c2", "objects", milliseconds=2.0),
    *(Target(key, form, peer="ladybug", share=0.2) for key in ("d1", "d2") for form in ("columns", "objects")),
)


def query_tables(part: Part) -> list[Table]:
    return [*(_query_table(part, form) for form in ("columns", "objects")), _query_targets(part)]


def _query_table(part: Part, form: Literal["columns", "objects"]) -> Table:
    rows = _rows_of(part, form)
    cells = []
    for workload in WORKLOADS:
        key = workload.key
        hand = limit_cell([row for row in rows if row.engine == OURS] or rows, key)
        ours = next((row.samples[key] for row in rows if row.engine == OURS and row.samples[key].time), None)
        best = _against_best(rows, key, form, ours) if ours else ["", ""]
        cells.append([f"{key} {workload.title}", hand, *(_query_cell(row.samples[key]) for row in rows), *best])
    names = {"columns": "as columns", "objects": "as Python objects"}
    return Table(
        f"Queries, {names[form]}: median ms",
        ["query", "by hand", *(f"{row.title}" for row in rows), "best peer", "it takes"],
        cells,
    )


def _query_cell(samples: Samples) -> str:
    return shown_ms(median_ms(samples)) if samples.time else samples.problem or "not run"


def _query_targets(part: Part) -> Table:
    rows = []
    for target in TARGETS:
        ours = _samples(part, OURS, target.key, target.form)
        title = f"{target.key} {BY_KEY[target.key].title}"
        if ours is None:
            rows.append([title, target.form, target.text(), "not run", "", verdict(False)])
            continue
        time = median_ms(ours)
        if target.milliseconds is not None:
            allowed: float | None = target.milliseconds
        else:
            assert target.peer is not None
            theirs = _samples(part, target.peer, target.key, target.form)
            allowed = None if theirs is None else target.share * median_ms(theirs)
        if allowed is None:
            rows.append([title, target.form, target.text(), shown_ms(time), f"no time of {target.peer}", "not judged"])
        else:
            rows.append([title, target.form, target.text(), shown_ms(time), shown_ms(allowed), verdict(time < allowed)])
    return Table("Targets of the queries", ["query", "form", "target", "ms", "allowed ms", "verdict"], rows)


def _samples(part: Part, engine: str, key: str, form: Form) -> Samples | None:
    found = (row.samples[key] for row in part.rows if row.engine == engine and row.form == form)
    return next((samples for samples in found if samples.time), None)


# --- batches ---------------------------------------------------------------------------------------------------------


def batch_tables(part: Part, counts: Sequence[int]) -> list[Table]:
    tables = []
    for count in counts:
        rows = []
        for row in part.rows:
            cells = [_batch_cell(row.samples[batch_key(count, k)], count) for k in HOPS]
            rows.append([row.title, row.way, *cells])
        ours = [row for row in part.rows if row.engine == OURS] or part.rows
        limits = [_batch_limit_cell(ours, batch_key(count, k), count) for k in HOPS]
        tables.append(
            Table(
                f"{count} balls in one call, columns out: ms for each ball (times the limit, one ball after the other)",
                ["engine", "how", *(f"k={k}" for k in HOPS)],
                [["limit", "Numba push loop", *limits], *rows],
            )
        )
    return tables


def _batch_cell(samples: Samples, count: int) -> str:
    if not samples.time:
        return samples.problem or "not run"
    return f"{shown_ms(median_ms(samples) / count)} ({shown_ratio(ratio(samples))})"


def _batch_limit_cell(rows: Sequence[Row], question: str, count: int) -> str:
    known = [row.samples[question] for row in rows if row.samples[question].time]
    return shown_ms(statistics.median(map(reference_ms, known)) / count) if known else "not run"


# --- loads -----------------------------------------------------------------------------------------------------------


def load_table(parts: Sequence[Part]) -> Table:
    rows = [
        [part.shape, load.title, f"{load.seconds:.1f}", *map(_megabytes, (load.rss_mb, load.peak_mb))]
        for part in parts
        for load in part.loads
    ]
    return Table("Loading", ["shape", "engine", "seconds", "resident MB", "at most MB"], rows)


def _megabytes(value: float | None) -> str:
    return "a server" if value is None else f"{value:,.0f}"


def failures(part: Part) -> list[str]:
    """Where Hoplite itself gave no answer."""
    return [
        f"{row.title} {row.way} ({row.form}), {question}: {samples.problem}"
        for row in part.rows
        if row.engine == OURS
        for question, samples in row.samples.items()
        if samples.problem
    ] + [f"{engine}: {reason}" for engine, reason in part.absent.items() if engine == OURS]


def agreement(part: Part, differing: Sequence[Disagreement]) -> str:
    """A sentence on what was compared."""
    compared = sum(len(row.samples[question].digest) for row in part.rows for question in row.samples)
    if differing:
        return f"**{len(differing)} of {compared:,} answers differ** from the reference: " + "; ".join(
            str(one) for one in differing[:10]
        )
    return f"All {compared:,} answers compared (every engine, way and query; digest of the sorted ids or rows) agree."
