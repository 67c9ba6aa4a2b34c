"""Every form that a graph can leave in and come back from, as functions from one database to another."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import hoplite

Trip = Callable[[hoplite.Database, hoplite.Database, Path], object]


def through_jsonl(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_jsonl(folder / "graph.jsonl.gz")
    return target.import_jsonl(folder / "graph.jsonl.gz")


def through_csv(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_csv(folder / "csv")
    return target.import_csv_folder(folder / "csv")


def through_gzipped_csv(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_csv(folder / "csv", compress=True)
    return target.import_csv_folder(folder / "csv")


def through_parquet(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_parquet(folder / "parquet")
    return target.import_parquet(folder / "parquet")


def through_cypher(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_cypher(folder / "graph.cypher")
    return target.import_cypher(folder / "graph.cypher")


def through_ntriples(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    source.export_ntriples(folder / "graph.nt")
    return target.import_ntriples(folder / "graph.nt")


def through_networkx(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    return target.import_networkx(source.to_networkx(), key=None)


def through_igraph(source: hoplite.Database, target: hoplite.Database, folder: Path) -> object:
    return target.import_igraph(source.to_igraph(), key=None)


TRIPS: tuple[Trip, ...] = (
    through_jsonl,
    through_csv,
    through_gzipped_csv,
    through_parquet,
    through_cypher,
    through_ntriples,
    through_networkx,
    through_igraph,
)
