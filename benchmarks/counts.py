"""Counts of patterns: LSQB's nine on a graph of its shape, and three of them on its own graph.

    python -m benchmarks.counts [--scale 0.1] [--rounds 5] [--engines hoplite,duckdb,ladybug,neo4j] [--docs] [--saved]

Each engine has its own process; all are loaded before the first question, then every round asks each in turn. All
counts must agree. Neo4j takes part if $NEO4J_URI names an empty database; LSQB's own graph is measured if $HOPLITE_DATA
has it, as lsqb/sf0.1. Exit status 1 means that counts differ, or that Hoplite gave none.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TextIO

from rich.console import Console

from benchmarks.counts_engines import COUNTERS
from benchmarks.counts_graph import Graph, forum_graph, real_graph
from benchmarks.counts_patterns import PATTERNS, SMALL
from benchmarks.engine import Unavailable
from benchmarks.plots import COLOURS, styled
from benchmarks.report import machine, markdown, rewrite
from benchmarks.tables import OURS, Table, shown_ms, shown_ratio

_HERE = Path(__file__).resolve().parent
_SAVED = _HERE / "results" / "counts.json"
_REAL = "real"


@dataclass(slots=True)
class Measured:
    """Seconds by engine and pattern, the first time and in the rounds; counts; why an engine is missing."""

    graph: str
    about: str
    versions: dict[str, str] = field(default_factory=dict)
    first: dict[str, dict[str, float]] = field(default_factory=dict)
    rounds: dict[str, dict[str, list[float]]] = field(default_factory=dict)
    counts: dict[str, dict[str, int | str]] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)

    def median(self, engine: str, key: str) -> float | None:
        seconds = self.rounds.get(engine, {}).get(key)
        return statistics.median(seconds) if seconds else None

    def differing(self) -> list[str]:
        """What is wrong with the counts."""
        found = []
        for key in self.counts.get(OURS, {}):
            counts = {engine: counts[key] for engine, counts in self.counts.items() if key in counts}
            if len({count for count in counts.values() if isinstance(count, int)}) > 1:
                found.append(f"{key}: {counts}")
            elif not isinstance(counts[OURS], int):
                found.append(f"{key}: {counts[OURS]}")
        return found


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, action="append", help="of the graph; may be repeated (0.1 and 1)")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--engines", default=",".join(COUNTERS))
    parser.add_argument("--seconds", type=float, default=60.0, help="for one count")
    parser.add_argument("--saved", action="store_true", help="measure nothing: the tables of the last run")
    parser.add_argument("--docs", action="store_true", help="write to docs/")
    parser.add_argument("--worker", choices=COUNTERS, help=argparse.SUPPRESS)
    chosen = parser.parse_args()
    names = [str(scale) for scale in chosen.scale or (0.1, 1.0)]
    if chosen.worker:
        return serve(chosen.worker, names[0] if chosen.scale else _REAL)
    console = Console(width=160)
    if chosen.saved:
        found = [Measured(**entry) for entry in json.loads(_SAVED.read_text(encoding="utf-8"))]
    else:
        if _real_folder().exists():
            names.append(_REAL)
        else:
            console.print(f"LSQB's own graph is left out: there is no {_real_folder()} (HOPLITE_DATA)")
        found = [measured(name, chosen.engines.split(","), chosen.rounds, chosen.seconds, console) for name in names]
        _SAVED.parent.mkdir(parents=True, exist_ok=True)
        _SAVED.write_text(json.dumps([_as_json(one) for one in found], indent=1) + "\n", encoding="utf-8")
    text = "\n\n".join(part for one in found for part in (one.about, *map(markdown, tables(one)), verdict(one)))
    console.print(text, markup=False)
    if chosen.docs:
        rewrite(
            _HERE.parent / "docs" / "BENCHMARKS.md", {"counts": f"![Counts of patterns](plots/counts.svg)\n\n{text}"}
        )
        draw(found, _HERE.parent / "docs" / "plots" / "counts.svg")
    return 1 if any(one.differing() for one in found) else 0


def _as_json(measured: Measured) -> dict[str, Any]:
    return {name: getattr(measured, name) for name in Measured.__slots__}


def _real_folder() -> Path:
    named = os.environ.get("HOPLITE_DATA")
    return (Path(named) if named else _HERE.parents[1] / "shared") / "lsqb" / "sf0.1"


def graph_named(name: str) -> Graph:
    return real_graph(_real_folder()) if name == _REAL else forum_graph(float(name))


class _Contender:
    """An engine in its process."""

    def __init__(self, engine: str, graph: str) -> None:
        scale = [] if graph == _REAL else ["--scale", graph]
        command = [sys.executable, "-m", "benchmarks.counts", "--worker", engine, *scale]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, question: dict[str, Any]) -> dict[str, Any]:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        print(json.dumps(question), file=self._process.stdin, flush=True)
        line = self._process.stdout.readline()
        return json.loads(line) if line else {"absent": "its process ended"}

    def close(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        self._process.wait(60)


def measured(name: str, engines: list[str], rounds: int, seconds: float, console: Console) -> Measured:
    """All engines on one graph."""
    graph = graph_named(name)
    before = os.getloadavg()[0]
    found = Measured(graph.name, "")
    contenders: dict[str, _Contender] = {}
    for engine in engines:
        contender = _Contender(engine, name)
        loaded = contender.ask({"load": True})
        if "absent" in loaded:
            found.absent[engine] = loaded["absent"]
            contender.close()
            continue
        contenders[engine] = contender
        found.versions[COUNTERS[engine].title] = loaded["version"]
        console.print(f"{graph.name}: {engine} loaded in {loaded['seconds']:.1f} s")
    for number in range(rounds + 1):
        for key in SMALL if name == _REAL else PATTERNS:
            for engine, contender in contenders.items():
                _note(found, engine, key, contender.ask({"key": key, "seconds": seconds}), number == 0)
    for contender in contenders.values():
        contender.close()
    versions = ", ".join(f"{title} {version}" for title, version in found.versions.items())
    absent = "".join(f"  \nNot measured: {engine}: {reason}" for engine, reason in found.absent.items())
    found.about = (
        f"{graph.name}: {graph.node_count:,} nodes, {graph.relationship_count:,} relationships; {rounds} rounds. "
        f"{versions}.  \n{machine()}. Load average {before:.1f} before, {os.getloadavg()[0]:.1f} after.{absent}"
    )
    return found


def _note(found: Measured, engine: str, key: str, answer: dict[str, Any], is_first: bool) -> None:
    counts = found.counts.setdefault(engine, {})
    if not isinstance(counts.setdefault(key, answer.get("count", "no answer")), int):
        return
    counts[key] = answer.get("count", "no answer")
    if not isinstance(counts[key], int):
        found.rounds.get(engine, {}).pop(key, None)
    elif is_first:
        found.first.setdefault(engine, {})[key] = answer["seconds"]
    else:
        found.rounds.setdefault(engine, {}).setdefault(key, []).append(answer["seconds"])


def serve(name: str, graph: str) -> int:
    """The process of an engine: load, then answer counts until its input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr  # libraries may print
    counter: Any = None
    for line in sys.stdin:
        question = json.loads(line)
        begun = time.perf_counter()
        if counter is None:
            try:
                counter = COUNTERS[name]()
                given = graph_named(graph)
                begun = time.perf_counter()
                counter.load(given)
                _say(answers, {"seconds": time.perf_counter() - begun, "version": counter.version()})
            except Unavailable as reason:
                _say(answers, {"absent": str(reason)})
                return 0
            continue
        try:
            count: int | str = counter.count(PATTERNS[question["key"]], question["seconds"])
        except Exception as error:
            count = f"{type(error).__name__}: {error}"[:80]
        _say(answers, {"seconds": time.perf_counter() - begun, "count": count})
    if counter is not None:
        counter.close()
    return 0


def _say(answers: TextIO, answer: dict[str, Any]) -> None:
    print(json.dumps(answer), file=answers, flush=True)


def tables(found: Measured) -> list[Table]:
    """Medians, with the best peer as a multiple of Hoplite's time, and first times."""
    engines = list(found.rounds)
    titles = [COUNTERS[engine].title for engine in engines]
    rows = []
    for key in found.counts.get(OURS, {}):
        medians = {engine: seconds for engine in engines if (seconds := found.median(engine, key)) is not None}
        others = {engine: seconds for engine, seconds in medians.items() if engine != OURS}
        best = min(others, key=others.__getitem__, default=None)
        ratio = "-"
        if best is not None and OURS in medians:
            ratio = f"{COUNTERS[best].title} {shown_ratio(others[best] / medians[OURS])}"
        cells = [shown_ms(1000 * medians[engine]) if engine in medians else "-" for engine in engines]
        rows.append([f"{key}: {PATTERNS[key].title}", *cells, ratio])
    whole = [sum(found.median(engine, key) or 0.0 for key in found.counts[OURS]) for engine in engines]
    rows.append(["all together", *(shown_ms(1000 * seconds) for seconds in whole), "-"])
    first = [
        [key, *(shown_ms(1000 * found.first[engine][key]) if key in found.first[engine] else "-" for engine in engines)]
        for key in found.counts.get(OURS, {})
    ]
    return [
        Table(f"Counts on {found.graph}, median ms; the best of the others as a multiple of Hoplite's time",
              ["count", *titles, "best peer"], rows),
        Table(f"Counts on {found.graph}, asked for the first time, ms", ["count", *titles], first),
    ]  # fmt: skip


def verdict(found: Measured) -> str:
    differing = found.differing()
    if differing:
        return "Counts differ: " + "; ".join(differing)
    return f"All counts of {', '.join(COUNTERS[engine].title for engine in found.counts)} are the same."


def draw(found: list[Measured], path: Path) -> None:
    """Bars for each pattern, a panel for each graph, on a logarithmic scale."""
    pyplot = styled()
    figure, panels = pyplot.subplots(len(found), 1, figsize=(9, 3.2 * len(found)), squeeze=False)
    for panel, one in zip(panels[:, 0], found, strict=True):
        keys = list(one.counts[OURS])
        width = 0.8 / max(len(one.rounds), 1)
        for number, engine in enumerate(one.rounds):
            places = [place + number * width for place in range(len(keys))]
            heights = [1000 * (one.median(engine, key) or 0.0) for key in keys]
            panel.bar(places, heights, width, label=COUNTERS[engine].title, color=COLOURS[engine])
        panel.set_yscale("log")
        panel.set_xticks([place + 0.4 - width / 2 for place in range(len(keys))], keys)
        panel.set_title(f"Counts on {one.graph}")
        panel.set_ylabel("median ms")
    panels[0, 0].legend(frameon=False, ncols=4)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
    pyplot.close(figure)


if __name__ == "__main__":
    sys.exit(main())
