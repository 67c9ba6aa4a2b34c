"""Parts in, SVG files out: lines over k for balls and batches, bars for queries, on logarithmic scales; bars for cold
starts."""

from __future__ import annotations

import importlib
from collections.abc import Mapping, Sequence
from pathlib import Path
from textwrap import fill
from typing import Any

from benchmarks.contest import HOPS, Effort, Part, Row, batch_key
from benchmarks.engine import Form
from benchmarks.tables import OURS, median_ms, reference_ms
from benchmarks.workloads import WORKLOADS

# Each engine has the same colour in every plot; Hoplite's lines are thick.
COLOURS = {
    "hoplite": "#c1272d",
    "kglite": "#0071bc",
    "ladybug": "#e69f00",
    "kuzu": "#8c6d31",
    "neo4j": "#2e8b57",
    "duckdb": "#6a51a3",
    "networkx": "#17a2b8",
    "igraph": "#7f7f7f",
    "graphblas": "#e377c2",
    "scipy": "#9acd32",
    "numpy": "#444444",
}
_FORMS: tuple[tuple[Form, str], ...] = (("columns", "columns out"), ("objects", "Python objects out"))


def styled() -> Any:
    """Matplotlib, set up in the style of all plots; ImportError without it."""
    matplotlib = importlib.import_module("matplotlib")
    matplotlib.use("Agg")
    pyplot = importlib.import_module("matplotlib.pyplot")
    pyplot.rcParams.update(
        {
            "svg.hashsalt": "hoplite",
            "svg.fonttype": "none",
            "font.size": 9,
            "axes.spines.top": False,
            "axes.spines.right": False,
        }
    )
    return pyplot


def draw_bars(values: Mapping[str, float], unit: str, path: Path) -> None:
    """A bar for each title, the smallest on top; Hoplite's in its colour."""
    pyplot = styled()
    titles = sorted(values, key=lambda title: -values[title])
    figure, panel = pyplot.subplots(figsize=(7.5, 0.5 + 0.3 * len(titles)))
    colours = [COLOURS[OURS] if title.lower().startswith(OURS) else "#999999" for title in titles]
    bars = panel.barh(titles, [values[title] for title in titles], color=colours)
    panel.bar_label(bars, fmt="%.2f", padding=3)
    panel.set_xlabel(unit)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None} if path.suffix == ".svg" else None)
    pyplot.close(figure)


def draw(parts: dict[str, tuple[Part, Effort]], folder: Path, suffix: str = "svg") -> list[Path]:
    """Draw the results of the parts; returns the files written."""
    pyplot = styled()
    folder.mkdir(parents=True, exist_ok=True)
    written = []
    for name, (part, effort) in parts.items():
        figure = {"khop": _balls, "cypher": _queries, "batch": _batches}[name](pyplot, part, effort.batch_sizes)
        path = folder / f"{name}.{suffix}"
        figure.savefig(path, bbox_inches="tight", metadata={"Date": None} if suffix == "svg" else None)
        pyplot.close(figure)
        written.append(path)
    return written


def _balls(pyplot: Any, part: Part, _: Sequence[int]) -> Any:
    figure, panels = pyplot.subplots(1, 2, figsize=(11, 4.6), sharey=True)
    for panel, (form, title) in zip(panels, _FORMS, strict=True):
        rows = [row for row in part.rows if row.form == form]
        _limit_line(panel, part, [str(k) for k in HOPS], 1)
        for row in rows:
            _line(panel, row, [str(k) for k in HOPS], 1)
        _finish(panel, f"k-hop ball, {title}", "median ms")
    panels[1].set_ylabel("")
    _legend(figure, panels)
    return figure


def _batches(pyplot: Any, part: Part, batch_sizes: Sequence[int]) -> Any:
    figure, panels = pyplot.subplots(
        1, len(batch_sizes), figsize=(5.5 * len(batch_sizes), 4.2), sharey=True, squeeze=False
    )
    for panel, count in zip(panels[0], batch_sizes, strict=True):
        questions = [batch_key(count, k) for k in HOPS]
        _limit_line(panel, part, questions, count)
        for row in part.rows:
            _line(panel, row, questions, count)
        _finish(panel, f"{count} balls in one call", "ms for each ball")
    _legend(figure, panels[0])
    return figure


def _line(panel: Any, row: Row, questions: Sequence[str], divisor: int) -> None:
    known = [
        (k, row.samples[question]) for k, question in zip(HOPS, questions, strict=True) if row.samples[question].time
    ]
    ours = row.engine == OURS
    panel.plot(
        [k for k, _ in known],
        [median_ms(samples) / divisor for _, samples in known],
        color=COLOURS[row.engine],
        linewidth=2.4 if ours else 1.2,
        linestyle="--" if ours and ("khop" in row.way and "batch" not in row.way) else "-",
        marker="o",
        markersize=4,
        label=f"{row.title}, {row.way}" if ours else row.title,
    )


def _limit_line(panel: Any, part: Part, questions: Sequence[str], divisor: int) -> None:
    rows = [row for row in part.rows if row.engine == OURS] or part.rows[:1]
    known = [
        (k, min(reference_ms(row.samples[question]) for row in rows if row.samples[question].time))
        for k, question in zip(HOPS, questions, strict=True)
        if any(row.samples[question].time for row in rows)
    ]
    values = [value / divisor for _, value in known]
    panel.plot(
        [k for k, _ in known], values, color="black", linestyle=":", linewidth=1.6, label="limit (Numba push loop)"
    )


def _finish(panel: Any, title: str, unit: str) -> None:
    panel.set_yscale("log")
    panel.set_xticks(list(HOPS))
    panel.set_xlabel("hops")
    panel.set_ylabel(unit)
    panel.set_title(title, loc="left", fontsize=10)
    panel.grid(axis="y", color="#dddddd", linewidth=0.6)


def _legend(figure: Any, panels: Sequence[Any]) -> None:
    """One legend for all panels, next to them: a line in two of them is named once."""
    named: dict[str, Any] = {}
    for panel in panels:
        lines, labels = panel.get_legend_handles_labels()
        named.update(zip(labels, lines, strict=True))
    figure.tight_layout()
    figure.legend(named.values(), named.keys(), fontsize=8, frameon=False, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _queries(pyplot: Any, part: Part, _: Sequence[int]) -> Any:
    figure, panels = pyplot.subplots(2, 1, figsize=(11, 7.2), sharex=True)
    for panel, (form, title) in zip(panels, _FORMS, strict=True):
        rows = [row for row in part.rows if row.form == form]
        width = 0.8 / max(len(rows) + 1, 1)
        hand = [row for row in rows if row.engine == OURS] or rows
        for place, workload in enumerate(WORKLOADS):
            known = [row.samples[workload.key] for row in hand if row.samples[workload.key].time]
            if known:
                label = "by hand" if place == 0 else None
                panel.bar(place - 0.4 + width / 2, reference_ms(known[0]), width, color="#bbbbbb", label=label)
        for number, row in enumerate(rows, start=1):
            known_places = [place for place, workload in enumerate(WORKLOADS) if row.samples[workload.key].time]
            panel.bar(
                [place - 0.4 + (number + 0.5) * width for place in known_places],
                [median_ms(row.samples[WORKLOADS[place].key]) for place in known_places],
                width,
                color=COLOURS[row.engine],
                label=row.title,
            )
        panel.set_yscale("log")
        panel.set_xticks(range(len(WORKLOADS)))
        panel.set_xticklabels([fill(f"{workload.key}: {workload.title}", 16) for workload in WORKLOADS], fontsize=8)
        panel.set_ylabel("median ms")
        panel.set_title(f"Queries, {title}", loc="left", fontsize=10)
        panel.grid(axis="y", color="#dddddd", linewidth=0.6)
        panel.set_axisbelow(True)
    _legend(figure, panels)
    return figure
