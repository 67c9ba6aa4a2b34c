"""What the benchmark needs from an engine: to load a shape, and the ways in which it can be queried.

A way is one row of a table: a query text or call, and the form of its answers. Only the same forms are compared:

    columns   Arrow, NumPy or pandas columns; no Python object for each value where the engine can avoid it
    objects   lists, sets or records of Python objects

Preparing an engine's input (`seeds`) and reading an answer to check it (`ids`, `rows`) is not timed.
"""

from __future__ import annotations

import importlib
import importlib.metadata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any, ClassVar, Literal

import numpy as np

from benchmarks.shapes import Integers, Shape

Form = Literal["columns", "objects"]
Row = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class BallWay:
    """One way to ask for the nodes within k hops of the seeds, seeds included."""

    name: str
    form: Form
    ask: Callable[[Any, int], Any]
    seeds: Callable[[Integers], Any]
    ids: Callable[[Any], Integers]


@dataclass(frozen=True, slots=True)
class QueryWay:
    """One way to ask the queries of `workloads.py`, by their key."""

    name: str
    form: Form
    ask: Callable[[str], Any]
    rows: Callable[[str, Any], list[Row]]


@dataclass(frozen=True, slots=True)
class BatchWay:
    """One way to ask for many balls at once; the answer is read as an array of ids for each set of seeds."""

    name: str
    ask: Callable[[Any, int], Any]
    seeds: Callable[[Sequence[Integers]], Any]
    ids: Callable[[Any], Sequence[Integers]]


class Unavailable(Exception):
    """The engine cannot be measured here; the message says why."""


class Engine:
    """An engine in its own process. A subclass says how it loads and how it is queried."""

    title: ClassVar[str]
    package: ClassVar[str]  # the distribution whose version is shown
    module: ClassVar[str]  # what is imported
    in_process: ClassVar[bool] = True  # not a server, whose memory we cannot measure

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.library: ModuleType = self._import()

    def _import(self) -> ModuleType:
        try:
            return importlib.import_module(self.module)
        except ImportError as error:
            raise Unavailable(f"not installed, or cannot be imported: {error}") from error

    def version(self) -> str:
        return importlib.metadata.version(self.package)

    def load_ball(self, shape: Shape) -> Sequence[BallWay]:
        """Build what k-hop queries need: nodes N with a unique id, relationships E."""
        raise Unavailable("does not answer k-hop queries")

    def load_queries(self, shape: Shape) -> Sequence[QueryWay]:
        """Build what Cypher queries need: labels, types, and names."""
        raise Unavailable("has no query language")

    def warm_up(self) -> None:
        """What an engine needs after loading to reach full speed, beyond one question of each kind."""

    def batches(self) -> Sequence[BatchWay]:
        """Ways to ask for many balls at once, of the shape that `load_ball` loaded."""
        return ()

    def close(self) -> None:
        """Leave nothing behind."""


def as_list(seeds: Integers) -> list[int]:
    numbers: list[int] = seeds.tolist()
    return numbers


def as_ids(answer: Any) -> Integers:
    """Node numbers from an array, a list, a set, or an Arrow column."""
    if hasattr(answer, "to_numpy"):
        answer = answer.to_numpy()
    if isinstance(answer, set):
        answer = list(answer)
    return np.asarray(answer, np.int64)


def arrow_rows(table: Any) -> list[Row]:
    """The rows of an Arrow table; two columns may have the same name."""
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))
