"""The demo graphs and Hetionet through disk and every form, and back: what comes back is the same graph.

    python -m tests.transfers.every_graph                 all of them (minutes)
    python -m tests.transfers.every_graph movies pole     some

Printed are seconds of CPU for the way there and back. The data lies where HOPLITE_DATA says. Exit status 1: some graph
did not come back as it was.
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import hoplite
from hoplite.storage.importers.tables import load_tables
from tests.suites.data import data_path
from tests.transfers.graphs import canonical
from tests.transfers.trips import TRIPS

HETIONET = "hetionet"


def graph_names() -> list[str]:
    """Those that are there, smallest files first."""
    files = sorted(data_path("demo").glob("*/graph.jsonl.gz"), key=lambda path: path.stat().st_size)
    return [*(path.parent.name for path in files), HETIONET]


def load(name: str, db: hoplite.Database) -> None:
    """Fill a database with one of the graphs."""
    if name == HETIONET:
        _load_hetionet(db)
    else:
        db.import_jsonl(data_path("demo", name, "graph.jsonl.gz"))


def _load_hetionet(db: hoplite.Database) -> None:
    """Nodes with a label for their kind; a relationship type for each kind of edge."""
    import pyarrow.csv as arrow_csv

    options = arrow_csv.ParseOptions(delimiter="\t", quote_char=False)
    nodes = arrow_csv.read_csv(data_path("kg", HETIONET, "nodes.tsv.gz"), parse_options=options)
    edges = arrow_csv.read_csv(data_path("kg", HETIONET, "edges.tsv.gz"), parse_options=options)
    tables: dict[Any, Any] = {}
    kinds = [str(kind) for kind in nodes.column("kind").to_pylist()]
    ids, names = nodes.column("id").to_pylist(), nodes.column("name").to_pylist()
    for kind in sorted(set(kinds)):
        rows = [row for row, held in enumerate(kinds) if held == kind]
        tables["Entity", kind.replace(" ", "")] = {"id": [ids[r] for r in rows], "name": [names[r] for r in rows]}
    by_type: dict[str, tuple[list[str], list[str]]] = {}
    columns = (edges.column(name).to_pylist() for name in ("source", "metaedge", "target"))
    for source, metaedge, target in zip(*columns, strict=True):
        starts, ends = by_type.setdefault(metaedge, ([], []))
        starts.append(source)
        ends.append(target)
    relationships = {("Entity", type, "Entity"): {"start": s, "end": e} for type, (s, e) in by_type.items()}
    load_tables(db._graph, tables, relationships)


@dataclass(frozen=True, slots=True)
class Outcome:
    """One way there and back: the seconds of CPU it took, and whether the graph came back as it was."""

    way: str
    seconds: float
    is_equal: bool


def outcomes(name: str, folder: Path) -> Iterator[Outcome]:
    """Through disk, and from there through every form."""
    source = hoplite.open()
    load(name, source)
    expected = canonical(source)
    path = folder / f"{name}.hop"
    began = time.process_time()
    with hoplite.open(path, partitions=3) as db:
        load(name, db)
    with hoplite.open(path, memory="8MB") as stored:
        took = time.process_time() - began
        yield Outcome("disk", took, canonical(stored) == expected and stored.verify() == [])
        for trip in TRIPS:
            target = hoplite.open()
            inside = folder / trip.__name__
            inside.mkdir()
            began = time.process_time()
            trip(stored, target, inside)
            took = time.process_time() - began
            yield Outcome(trip.__name__.removeprefix("through_"), took, canonical(target) == expected)


def main(names: list[str]) -> int:
    """Run those graphs, or all, and print the seconds of CPU of every trip."""
    wrong = 0
    for name in names or graph_names():
        print(f"{name}:", end="", flush=True)
        different = []
        with tempfile.TemporaryDirectory(prefix="hoplite-trips-") as folder:
            for outcome in outcomes(name, Path(folder)):
                print(f" {outcome.way} {outcome.seconds:.1f}", end="", flush=True)
                if not outcome.is_equal:
                    different.append(outcome.way)
        wrong += bool(different)
        print(f" s: {f'DIFFERENT THROUGH {different}' if different else 'ok'}", flush=True)
    print(f"{wrong} graphs did not come back as they were")
    return int(wrong > 0)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
