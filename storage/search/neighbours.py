"""Which vectors are near one, approximately: a graph that links each vector to near ones (HNSW), made by the package
`usearch` where it is installed.

The graph only proposes whom to look at: scores come from the matrix of the index, so that they are exact. It holds

    vectors  float16[k, d]: (vector - centre) · scale, so that half precision is precise enough, whatever their size
    owners   int64[k]: public ids, which stay when positions are dealt anew

A vector that is gone stays in the graph, for others are reached through it; its owner is -1.

Vectors of length 1 are nearest in angle where they are nearest in distance, so there is one kind of graph for both.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property
from hoplite.storage.schema import Index
from hoplite.values.columns import Int64s

Float32s = NDArray[np.float32]

LEAST_NUMBERS = 1 << 22
"""An index of fewer numbers than that, of all its vectors together, is looked through as quickly."""
_EXPANSION = 192  # how many of the best are kept on the way through the graph
_ADDED = 1 << 8  # vectors between two looks at whether to go on
_SAMPLED = 1 << 12  # vectors that the scale is taken from
_LARGEST = np.float32(6e4)  # that half precision has, about
_MOST_CHANGED = 4  # a graph of which more than this part is gone or new is made anew
_GONE = -1

NAMES = ("links", "owners", "centre", "scale")


def is_available() -> bool:
    """Whether the package is installed."""
    try:
        import usearch.index  # noqa: F401
    except ModuleNotFoundError:
        return False
    return True


def settings(index: Index) -> tuple[int, int]:
    """How many links a vector has, and how many of the best are kept when one is added."""
    config = {name.lower(): value for name, value in index.config.items()}
    return int(config.get("vector.hnsw.m") or 16), int(config.get("vector.hnsw.ef_construction") or 100)


def size_of(matrix: Float32s, index: Index) -> int:
    """How many bytes a graph of these vectors takes, about: two for each number, and links of four."""
    return len(matrix) * (2 * int(matrix.shape[1]) + 10 * settings(index)[0] + 16)


def _empty(length: int, links: int, construction: int) -> Any:
    from usearch.index import Index as Links

    return Links(
        ndim=length,
        metric="l2sq",
        dtype="f16",
        connectivity=links,
        expansion_add=construction,
        expansion_search=_EXPANSION,
    )


class Neighbours:
    """A graph over vectors of one length; see the top of the file. It is not changed once it is made."""

    def __init__(
        self, links: Any, owners: Int64s, centre: Float32s, scale: float, data: NDArray[np.uint8] | None = None
    ) -> None:
        self._links = links
        self._owners = owners
        self._centre = centre
        self._scale = scale
        self._data = data  # what is mapped, if it is

    @staticmethod
    def build(matrix: Float32s, ids: Int64s, index: Index, goes_on: Callable[[int], bool]) -> Neighbours | None:
        """A graph of all rows; None where they are all the same, or too large to be added up, or when it is not to go
        on. `goes_on` is told how many rows are in it."""
        sample = matrix[:: max(len(matrix) // _SAMPLED, 1)].astype(np.float64)
        centre = sample.mean(axis=0)
        spread = float(np.sqrt(np.mean((sample - centre) ** 2)))
        if not spread or not np.isfinite(np.float32(1 / spread)) or not np.isfinite(np.float32(spread)):
            return None
        links = _empty(matrix.shape[1], *settings(index))
        made = Neighbours(links, np.zeros(0, np.int64), centre.astype(np.float32), 1 / spread)
        return made if made._add(matrix, ids, goes_on) else None

    def updated(self, matrix: Float32s, ids: Int64s, index: Index, goes_on: Callable[[int], bool]) -> Neighbours | None:
        """A graph of these rows, made of this one: what is not among them, or is another vector now, leaves it. None
        where so much has changed that one is better made anew, or when it is not to go on."""
        rows = _places(ids, self._owners)
        held = np.flatnonzero(rows >= 0)
        stays = np.zeros(len(rows), np.bool_)
        for first in range(0, len(held), _ADDED):
            some = held[first : first + _ADDED]
            stays[some] = (self._held(some) == self._halved(matrix[rows[some]])).all(axis=1)
        is_there = np.zeros(len(ids), np.bool_)
        is_there[rows[stays]] = True
        missing = np.flatnonzero(~is_there)
        owners = np.where(stays, self._owners, _GONE)
        if not len(missing) and np.array_equal(owners, self._owners):
            return self
        if (len(owners) + len(missing) - len(ids)) * _MOST_CHANGED > len(ids):
            return None
        twin = Neighbours(_empty(matrix.shape[1], *settings(index)), owners, self._centre, self._scale)
        twin._links.load(self.data)
        twin._links.expansion_search = _EXPANSION
        return twin if twin._add(matrix[missing], ids[missing], goes_on) else None

    def _add(self, matrix: Float32s, ids: Int64s, goes_on: Callable[[int], bool]) -> bool:
        threads = max((os.cpu_count() or 1) // 2, 1)
        keys = np.arange(len(self._owners), len(self._owners) + len(ids)).astype(np.uint64)
        for first in range(0, len(ids), _ADDED):
            if not goes_on(first):
                return False
            some = slice(first, first + _ADDED)
            self._links.add(keys[some], self._halved(matrix[some]), threads=threads)
        self._owners = np.concatenate([self._owners, ids])
        return True

    def _held(self, keys: Int64s) -> NDArray[np.float16]:
        return np.stack(self._links.get(keys.astype(np.uint64)))

    def _halved(self, matrix: Float32s) -> NDArray[np.float16]:
        with np.errstate(all="ignore"):  # a difference may be infinite, but the scale is not 0
            scaled = (matrix - self._centre) * np.float32(self._scale)
            halved: NDArray[np.float16] = np.minimum(np.maximum(scaled, -_LARGEST), _LARGEST).astype(np.float16)
        return halved

    def propose(self, vector: Float32s, count: int) -> Int64s:
        """The public ids of vectors that are probably the nearest ones, without those that are gone: up to so many."""
        keys = self._links.search(self._halved(vector), count, threads=1).keys
        owners = self._owners[keys.astype(np.int64)]
        there: Int64s = owners[owners != _GONE]
        return there

    def agrees_with(self, matrix: Float32s, ids: Int64s) -> bool:
        """Whether exactly these vectors are in it."""
        held = np.flatnonzero(self._owners != _GONE)
        rows = _places(ids, self._owners[held])
        if len(held) != len(ids) or bool((rows < 0).any()):
            return False
        return not len(held) or bool((self._held(held) == self._halved(matrix[rows])).all())

    # --- as arrays ---

    @cached_property
    def data(self) -> NDArray[np.uint8]:
        """The graph in the package's own form."""
        if self._data is not None:
            return self._data
        return np.frombuffer(self._links.save(), np.uint8)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by name."""
        scale = np.array([self._scale], np.float64)
        return {"links": self.data, "owners": self._owners, "centre": self._centre, "scale": scale}

    @staticmethod
    def of_arrays(arrays: Mapping[str, NDArray[Any]], count: int, index: Index) -> Neighbours | None:
        """The same graph again, mapped and not read. None where the package is missing, or does not know it, or it is
        not one of so many vectors: then it does without."""
        if not is_available():
            return None
        data, owners, centre, scale = (arrays[name] for name in NAMES)
        links = _empty(len(centre), *settings(index))
        try:
            links.view(data)
        except (RuntimeError, ValueError):
            return None
        links.expansion_search = _EXPANSION
        fits = len(links) == len(owners) and links.ndim == len(centre) and len(scale) == 1
        if not fits or int(np.count_nonzero(owners != _GONE)) != count:
            return None
        return Neighbours(links, owners, centre, float(scale[0]), data)


def _places(ids: Int64s, wanted: Int64s) -> Int64s:
    """Where each of the wanted is among the ids; -1 where it is not."""
    if not len(ids):
        return np.full(len(wanted), -1)
    order = np.argsort(ids, kind="stable")
    places = order[np.minimum(np.searchsorted(ids, wanted, sorter=order), len(ids) - 1)]
    return np.where(ids[places] == wanted, places, -1)
