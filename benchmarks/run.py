"""The benchmark: `make bench`, or a part of it alone in a minute.

    python -m benchmarks.run [--quick] [--only khop|cypher] [--engines hoplite,kglite] [--queries N] [--rounds N]

Shapes are built once and kept in benchmarks/results, where the numbers go too, as JSON. Exit status 1 says that two
engines gave different answers. docs/BENCHMARKS.md says what is measured, and how.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.table import Table as Drawn

from benchmarks.contest import FULL, QUICK, Effort, Part, contenders, run_balls, run_queries
from benchmarks.engines import ENGINES
from benchmarks.store import load_shape, store_shape
from benchmarks.tables import Table, agreement, answers_that_differ, ball_tables, load_table, query_tables

RESULTS = Path(__file__).with_name("results")
PARTS = ("khop", "cypher")
SLOW = ("neo4j", "kuzu")  # not in --quick, unless they are named


def options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer queries and rounds; five minutes in all")
    parser.add_argument("--only", choices=PARTS, action="append", help="this part; may be repeated")
    parser.add_argument("--engines", help=f"some of {','.join(ENGINES)}")
    parser.add_argument("--scale", type=float, default=1.0, help="of the shapes; 0.05 to try things out")
    parser.add_argument("--queries", type=int, help="sets of seeds")
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--seconds", type=float, help="for one engine, question and round")
    parser.add_argument(
        "--clock",
        choices=("wall", "cpu"),
        help="cpu: time that the engine's process spent computing, for a machine that others use; not for a server",
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
    parts = []
    wrong = False
    for name in chosen.only or PARTS:
        part = (
            khop(names, effort, chosen.scale, console)
            if name == "khop"
            else cypher(names, effort, chosen.scale, console)
        )
        differing = answers_that_differ(part)
        wrong = wrong or bool(differing)
        for table in ball_tables(part) if name == "khop" else query_tables(part):
            draw(console, table)
        console.print(agreement(part, differing), style="red" if differing else "green")
        for engine, reason in part.absent.items():
            console.print(f"{engine} was not measured: {reason}")
        parts.append(part)
    draw(console, load_table(parts))
    return 1 if wrong else 0


def khop(names: Sequence[str], effort: Effort, scale: float, console: Console) -> Part:
    stored = store_shape(RESULTS / "shapes", "umls", scale)
    part = _part(stored)
    load = {"do": "load_ball", "shape": stored, "queries": effort.queries}
    with contenders(names, RESULTS / "shapes", part, effort, load, console.print) as running:
        run_balls(part, running, effort, console.print)
    return part


def cypher(names: Sequence[str], effort: Effort, scale: float, console: Console) -> Part:
    stored = store_shape(RESULTS / "shapes", "ibkh", scale)
    part = _part(stored)
    load = {"do": "load_queries", "shape": stored}
    with contenders(names, RESULTS / "shapes", part, effort, load, console.print) as running:
        run_queries(part, running, effort, console.print)
    return part


def _part(stored: str) -> Part:
    shape = load_shape(RESULTS / "shapes", stored)
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
