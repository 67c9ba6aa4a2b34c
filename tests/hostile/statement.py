"""A hostile statement: a name, how its text and parameters are made, and the graph that it runs on."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any


def _none() -> Mapping[str, Any]:
    return {}


@dataclass(frozen=True, slots=True)
class Hostile:
    """`text` and `parameters` are made where the statement runs: they may be large.

    `graph` names a function of `graphs.py`. `raises` are errors that the driver itself raises for a parameter that it
    cannot send; everything else must be an answer or a `Neo4jError`. `sample` marks the statements that every run of
    the tests tries.
    """

    name: str
    text: Callable[[], str]
    parameters: Callable[[], Mapping[str, Any]] = field(default=_none)
    graph: str = "empty"
    raises: tuple[type[Exception], ...] = ()
    sample: bool = False


def of(name: str, text: str, *, graph: str = "empty", sample: bool = False) -> Hostile:
    """A statement whose text is short enough to be written down."""
    return Hostile(name, lambda: text, graph=graph, sample=sample)
