"""Whether answers agree: a digest for each answer, and the ways that differ from the reference."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from benchmarks.engine import Row
from benchmarks.shapes import Integers


def ids_digest(ids: Integers) -> str:
    """The digest of a set of node numbers in any order; a repeated one changes it."""
    ordered = np.sort(np.asarray(ids, np.int64))
    return f"{len(ordered)}:{hashlib.blake2b(ordered.tobytes(), digest_size=12).hexdigest()}"


def rows_digest(rows: Sequence[Row]) -> str:
    """The digest of a bag of rows in any order. Values are compared as text, so that a NumPy 3 is a 3."""
    ordered = sorted("\x1f".join(str(value) for value in row) for row in rows)
    return f"{len(rows)}:{hashlib.blake2b(chr(10).join(ordered).encode(), digest_size=12).hexdigest()}"


def ordered_digest(rows: Sequence[Row]) -> str:
    """The digest of a list of rows whose order matters."""
    return rows_digest([(place, *row) for place, row in enumerate(rows)])


def paths_digest(rows: Sequence[Row], wanted: int, is_path: Callable[[Row], bool]) -> str:
    """The same for every valid choice of `wanted` distinct paths; otherwise what is wrong."""
    wrong = next((row for row in rows if not is_path(row)), None)
    if wrong is not None:
        return f"{wrong} is not a path"
    if len(rows) != wanted or len(set(rows)) != wanted:
        return f"{len(rows)} paths, {len(set(rows))} different ones, for {wanted}"
    return f"{wanted} different paths"


@dataclass(frozen=True, slots=True)
class Disagreement:
    """One way gave a different answer than the reference."""

    question: str
    way: str
    got: str
    wanted: str

    def __str__(self) -> str:
        return f"{self.question}: {self.way} answers {self.got}, where {self.wanted} is right"


def disagreements(
    question: str, reference: Mapping[int, str], answers: Mapping[str, Mapping[int, str]]
) -> list[Disagreement]:
    """Compare digests by query number; a way need not have run every query."""
    found = []
    for way, digests in answers.items():
        for number, digest in digests.items():
            if digest != reference[number]:
                found.append(Disagreement(f"{question}, query {number}", way, digest, reference[number]))
    return found
