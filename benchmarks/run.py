"""The benchmark: `make bench`, or a single part of it in a minute.

    python -m benchmarks.run [--quick] [--only khop|cypher|batch] [--engines hoplite,kglite] [--queries N] [--rounds N]

Shapes are built once and kept in benchmarks/results, where the numbers go too, as JSON. Exit status 1 says that
answers differ, or that Hoplite gave none. docs/BENCHMARKS.md says what is measured, and how.
"""

from __future__ import annotations

import argparse
import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as Drawn

from benchmarks import plots
from benchmarks.contest import FULL, QUICK, Effort, Part, contenders, run_balls, run_batches, run_queries
from benchmarks.engines import ENGINES
from benchmarks.report import about, headline, machine, markdown, rewrite, save, saved
from benchmarks.store import load_shape, store_shape
from benchmarks.tables import (
    Table,
    agreement,
    answers_that_differ,
    ball_tables,
    batch_tables,
    failures,
    load_table,
    query_tables,
    targets,
)

DOCUMENTS = Path(__file__).resolve().parents[1]
RESULTS = Path(__file__).with_name("results")
SHAPES = RESULTS / "shapes"
PARTS = ("khop", "cypher", "batch")
WITHOUT_QUERIES = ("networkx", "igraph", "graphblas", "scipy", "numpy")  # they have no query language
WITH_BATCHES = ("hoplite", "graphblas")
Found = dict[str, tuple[Part, Effort]]
SLOW = ("neo4j", "kuzu")  # left out of --quick unless named


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer queries and rounds; five minutes in all")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may be repeated")
    parser.add_argument("--engines", help=f"some of {','.join(ENGINES)}")
    parser.add_argument("--scale", type=float, default=1.0, help="of the shapes; 0.05 to try things out")
    parser.add_argument("--queries", type=int, help="sets of seeds")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float, help="for one engine, question and round")
    parser.add_argument("--saved", action="store_true", help="measure nothing: tables and plots of the last run")
    parser.add_argument("--docs", action="store_true", help="write to docs/ in any case; a complete run always does")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        help="cpu: CPU time of the engine's process, for a machine shared with others; not for a server",
    )
    return parser.parse_args()


def main() -> int:
    chosen = options()
    console = Console() if sys.stdout.isatty() else Console(width=180)
    effort = QUICK if chosen.quick else FULL
    given = {name: getattr(chosen, name) for name in ("queries", "rounds", "seconds", "clock")}
    effort = dataclasses.replace(effort, **{name: value for name, value in given.items() if value is not None})
    names = chosen.engines.split(",") if chosen.engines else [n for n in ENGINES if not chosen.quick or n not in SLOW]
    unknown = set(names) - set(ENGINES)
    if unknown:
        console.print(f"No such engine: {', '.join(sorted(unknown))}. There are {', '.join(ENGINES)}.")
        return 2
    path = RESULTS / ("quick.json" if chosen.quick else "full.json")
    found: Found = {}
    for name in chosen.only or PARTS:
        if not chosen.saved:
            save(path, {name: measured(name, names, effort, chosen.scale, console)}, effort)
        entry = saved(path).get(name)
        if entry is None:
            console.print(f"{name}: nothing was saved")
            continue
        found[name] = entry
        show(console, name, *entry)
    loads = load_table([part for name, (part, _) in found.items() if name != "batch"])
    if loads.rows:
        draw(console, loads)
    met, judged = targets(table for name, (part, effort) in found.items() for table in TABLES[name](part, effort))
    console.print(f"{met} of {judged} targets met")
    wrong = any(failures(part) or answers_that_differ(part) for part, _ in found.values())
    whole = not (chosen.quick or chosen.engines or chosen.clock == "cpu" or chosen.scale != 1.0)
    if chosen.docs or (whole and not wrong):
        publish(found, console)
    else:
        draw_plots(found, RESULTS / "plots", console)
    return 1 if wrong else 0


def measured(name: str, names: Sequence[str], effort: Effort, scale: float, console: Console) -> Part:
    before = os.getloadavg()[0]
    part = MEASURE[name](names, effort, scale, console)
    part.machine, part.load_average = machine(), (before, os.getloadavg()[0])
    return part


def show(console: Console, name: str, part: Part, effort: Effort) -> None:
    """One part in the terminal."""
    for table in TABLES[name](part, effort):
        draw(console, table)
    differing = answers_that_differ(part)
    console.print(agreement(part, differing), style="red" if differing else "green")
    for problem in failures(part):
        console.print(problem, style="red")
    for engine, reason in part.absent.items():
        console.print(f"{engine} was not measured: {reason}")


def publish(found: Found, console: Console) -> None:
    """Update the documents: tables between their markers, plots next to them, the headline in the README."""
    texts = {
        name: "\n\n".join(
            [
                about(part, effort),
                *map(markdown, TABLES[name](part, effort)),
                agreement(part, answers_that_differ(part)),
            ]
        )
        for name, (part, effort) in found.items()
    }
    if {"khop", "cypher"} <= set(found):
        texts["loading"] = markdown(load_table([found["khop"][0], found["cypher"][0]]))
    rewrite(DOCUMENTS / "docs" / "BENCHMARKS.md", texts)
    if "khop" in found:
        rewrite(DOCUMENTS / "README.md", {"headline": headline(found["khop"][0])})
    draw_plots(found, DOCUMENTS / "docs" / "plots", console)


def draw_plots(found: Found, folder: Path, console: Console) -> None:
    try:
        written = plots.draw(found, folder)
    except ImportError as error:
        console.print(f"No plots: {error}")
    else:
        console.print(f"Drawn: {', '.join(path.name for path in written)} in {os.path.relpath(folder)}")


def khop(names: Sequence[str], effort: Effort, scale: float, console: Console) -> Part:
    """k-hop balls on the UMLS shape."""
    stored = store_shape(SHAPES, "umls", scale)
    part = _part(stored)
    load = {"do": "load_ball", "shape": stored, "queries": effort.queries}
    with contenders(names, SHAPES, part, effort, load, console.print) as running:
        run_balls(part, running, effort, console.print)
    return part


def cypher(names: Sequence[str], effort: Effort, scale: float, console: Console) -> Part:
    """The queries of `workloads.py` on the iBKH shape."""
    stored = store_shape(SHAPES, "ibkh", scale)
    part = _part(stored)
    spoken = [name for name in names if name not in WITHOUT_QUERIES]
    load = {"do": "load_queries", "shape": stored}
    with contenders(spoken, SHAPES, part, effort, load, console.print) as running:
        run_queries(part, running, effort, console.print)
    return part


def batch(names: Sequence[str], effort: Effort, scale: float, console: Console) -> Part:
    """Many balls in one call on the UMLS shape, for the engines that support it."""
    stored = store_shape(SHAPES, "umls", scale)
    part = _part(stored)
    able = [name for name in names if name in WITH_BATCHES]
    load = {"do": "load_ball", "shape": stored, "queries": max(effort.batch_sizes)}
    with contenders(able, SHAPES, part, effort, load, console.print, ways="batches") as running:
        run_batches(part, running, effort, console.print)
    return part


MEASURE = {"khop": khop, "cypher": cypher, "batch": batch}
TABLES: dict[str, Callable[[Part, Effort], list[Table]]] = {
    "khop": lambda part, _: ball_tables(part),
    "cypher": lambda part, _: query_tables(part),
    "batch": lambda part, effort: batch_tables(part, effort.batch_sizes),
}


def _part(stored: str) -> Part:
    shape = load_shape(SHAPES, stored)
    return Part(shape.name, shape.node_count, len(shape.start))


def draw(console: Console, table: Table) -> None:
    drawn = Drawn(title=table.title, title_justify="left")
    for place, column in enumerate(table.columns):
        drawn.add_column(column, justify="right" if place and column not in ("how", "engine") else "left")
    for row in table.rows:
        drawn.add_row(*(cell.replace("**", "") for cell in row))
    console.print(drawn)


if __name__ == "__main__":
    sys.exit(main())
