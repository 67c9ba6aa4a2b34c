"""Vector indexes: the entities whose vectors are nearest to a given one.

For each vector length that occurs (one, if the index was created for one):

    entities  int64[k]       positions, ascending
    ids       int64[k]       their public ids
    matrix    float32[k, d]  their vectors, of length 1 where similarity is by cosine

cosine      score = (1 + matrix · v) / 2
euclidean   score = 1 / (1 + |matrix - v|²)

Squared distances from products, |a|² + |v|² - 2 a·v, select the candidates; their scores are computed from differences,
because products lose precision for near vectors. Where there are many vectors, a graph of neighbours proposes whom to
look at (`neighbours.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from time import monotonic
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.base import Base
from hoplite.storage.delta import Delta
from hoplite.storage.schema import Entity, Index
from hoplite.storage.search import neighbours
from hoplite.storage.search.building import Building, Task
from hoplite.storage.search.changes import changes_of, covered, still_covered, value_of
from hoplite.storage.search.earlier import Earlier
from hoplite.storage.search.neighbours import NAMES, Neighbours
from hoplite.values.columns import Bools, FloatLists, Int64s

Float32s = NDArray[np.float32]

_ROWS = 1 << 14  # vectors prepared at once
_NOBODY: Int64s = np.zeros(0, np.int64)
_PROPOSED, _PROPOSED_MORE = 2, 16  # a graph is asked for so many times as many, and for so many more
_WORTH_IT = 16  # a graph that is asked for more than this part of all vectors saves nothing


# --- settings ---


def vector_setting(index: Index, name: str) -> Any:
    """A setting of a vector index, whatever the case of its name."""
    for key, value in index.config.items():
        if key.lower() == f"vector.{name}":
            return value
    return None


def is_cosine(index: Index) -> bool:
    """Whether vectors are compared by their angle."""
    return str(vector_setting(index, "similarity_function") or "COSINE").upper() == "COSINE"


# --- vectors as they are compared ---


def prepared(matrix: NDArray[Any], normalise: bool) -> tuple[Float32s, Bools]:
    """The rows in 32 bits, normalised to length 1 if requested, and which of them can be compared at all: those that
    are finite and, if only the angle counts, not zero."""
    doubles = matrix.astype(np.float64)
    with np.errstate(all="ignore"):
        if normalise:
            norms = np.sqrt(np.einsum("ij,ij->i", doubles, doubles))
            valid = (norms > 0) & np.isfinite(norms)
            doubles /= np.where(valid, norms, 1.0)[:, None]
        else:
            valid = np.ones(len(doubles), np.bool_)
        single = doubles.astype(np.float32)
    valid &= np.isfinite(single).all(axis=1)
    return single, valid


def rows_by_length(values: Sequence[Any]) -> Iterator[tuple[Int64s, NDArray[np.float64]]]:
    """Of values of any kind, those that are lists of numbers: their rows and their numbers, one length at a time."""
    rows: dict[int, list[int]] = {}
    for row, value in enumerate(values):
        if isinstance(value, list) and value and set(map(type, value)) <= {int, float}:
            rows.setdefault(len(value), []).append(row)
    for some in rows.values():
        yield np.array(some, np.int64), np.array([values[row] for row in some], np.float64)


@dataclass(frozen=True, eq=False)
class Vectors:
    """Vectors of one length; see the top of the file. Those of a base may have a graph of neighbours, or a graph of
    what was there before a fold."""

    entities: Int64s
    matrix: Float32s
    ids: Int64s = field(default_factory=lambda: _NOBODY)
    graph: Neighbours | None = None
    graph_before: Neighbours | None = None

    @cached_property
    def _by_id(self) -> tuple[Int64s, Int64s | None]:
        if bool((self.ids[1:] > self.ids[:-1]).all()):
            return self.ids, None
        order = np.argsort(self.ids)
        return self.ids[order], order

    def rows_of(self, ids: Int64s) -> Int64s:
        """The rows of public ids, without those that have none."""
        known, order = self._by_id
        places: Int64s = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        places = places[known[places] == ids]
        return places if order is None else order[places]

    @cached_property
    def squares(self) -> Float32s:
        """The square of each vector's length."""
        squares: Float32s = np.einsum("ij,ij->i", self.matrix, self.matrix)
        return squares

    def scores(self, vector: Float32s, by_cosine: bool, rows: Int64s | None = None) -> Float32s:
        """How similar each vector is, or each of some."""
        matrix = self.matrix if rows is None else self.matrix[rows]
        one, two = np.float32(1), np.float32(2)
        with np.errstate(all="ignore"):
            if by_cosine:
                scores: Float32s = np.maximum((one + matrix @ vector) / two, np.float32(0))
            else:
                apart = matrix - vector
                scores = one / (one + np.einsum("ij,ij->i", apart, apart))
        return scores

    def best(self, vector: Float32s, by_cosine: bool, count: int, hidden: Int64s) -> tuple[Int64s, Float32s]:
        """The most similar, best first, without the hidden rows: their rows and scores."""
        if by_cosine:
            closeness = self.matrix @ vector
            closeness[hidden] = -np.inf
            rows = _largest(closeness, count)
        else:
            with np.errstate(all="ignore"):
                products = self.matrix @ vector
                square = np.float32(vector @ vector)
                closeness = 2 * products - self.squares
                # What rounding may have done to the largest of the numbers added up.
                doubt = 16 * np.finfo(np.float32).eps * (self.squares.max(initial=0) + square)
            closeness[hidden] = -np.inf
            rows = _largest(closeness, count, doubt) if np.isfinite(doubt) else np.arange(len(closeness))
        return self._ranked(rows, vector, by_cosine, count, hidden)

    def _ranked(
        self, rows: Int64s, vector: Float32s, by_cosine: bool, count: int, hidden: Int64s
    ) -> tuple[Int64s, Float32s]:
        rows = rows[~np.isin(rows, hidden)] if len(hidden) else rows
        scores = self.scores(vector, by_cosine, rows)
        order = np.argsort(-scores, kind="stable")[:count]
        return rows[order], scores[order]

    def near(
        self, graph: Neighbours, vector: Float32s, by_cosine: bool, count: int, hidden: Int64s
    ) -> tuple[Int64s, Float32s]:
        """The same from what a graph proposes: more than are asked for, and more again where too many of those are
        hidden, until all might as well be looked at."""
        wanted = _PROPOSED * count + _PROPOSED_MORE
        while wanted * _WORTH_IT <= len(self.entities):
            rows = np.sort(self.rows_of(graph.propose(vector, wanted)))
            if len(rows) - (int(np.isin(rows, hidden).sum()) if len(hidden) else 0) >= wanted // 2:
                return self._ranked(rows, vector, by_cosine, count, hidden)
            wanted *= 4
        return self.best(vector, by_cosine, count, hidden)


def _largest(numbers: Float32s, count: int, doubt: float = 0.0) -> Int64s:
    """The places of the largest numbers, ascending, and of all that may be as large as the last of them."""
    if count >= len(numbers):
        return np.arange(len(numbers))
    last = np.partition(numbers, len(numbers) - count)[len(numbers) - count]
    return np.flatnonzero(numbers >= last - np.float32(doubt))


# --- over a base ---


@dataclass(frozen=True, eq=False)
class VectorIndex:
    """The vectors of a base, by length."""

    by_length: dict[int, Vectors]
    index: Index

    @classmethod
    def of(cls, base: Base, index: Index, earlier: Earlier | None = None) -> VectorIndex:
        """Made of the column. A graph of neighbours is brought up to date when it is asked for."""
        columns = base.node_columns if index.entity is Entity.NODE else base.relationship_columns
        column = columns.get(index.keys[0])
        if column is None:
            return VectorIndex({}, index)
        positions, values = column.entries()
        kept = np.flatnonzero(covered(base, index)[positions])
        length, normalise = vector_setting(index, "dimensions"), is_cosine(index)
        found: dict[int, Vectors] = {}
        for rows, matrix in _matrices(values, kept):
            if length in (None, matrix.shape[1]) and len(matrix):
                ready, valid = _all_prepared(matrix, rows, normalise)
                entities = positions[rows[valid]]
                before = None if earlier is None else graph_of(earlier.delta.base, index, matrix.shape[1])
                found[matrix.shape[1]] = Vectors(
                    entities, ready, _public_ids(base, index, entities), graph_before=before
                )
        return VectorIndex(found, index)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """Entities, public ids and matrix of each length, and its graph, which is brought up to date for this where
        there was one before."""
        found: dict[str, NDArray[Any]] = {}
        for length, vectors in self.by_length.items():
            found[f"entities-{length}"], found[f"matrix-{length}"] = vectors.entities, vectors.matrix.reshape(-1)
            if vectors.ids is not vectors.entities:
                found[f"ids-{length}"] = vectors.ids
            graph, before = vectors.graph, vectors.graph_before
            if graph is None and before is not None:
                graph = before.updated(vectors.matrix, vectors.ids, self.index, lambda _: True)
            if graph is not None:
                found |= {f"{name}-{length}": array for name, array in graph.arrays().items()}
        return found

    @classmethod
    def of_arrays(cls, index: Index, arrays: Mapping[str, NDArray[Any]]) -> VectorIndex:
        """The index from its arrays."""
        found: dict[int, Vectors] = {}
        for name, entities in arrays.items():
            what, _, length = name.partition("-")
            if what == "entities":
                graph = None
                if f"links-{length}" in arrays:
                    own = {part: arrays[f"{part}-{length}"] for part in NAMES}
                    graph = Neighbours.of_arrays(own, len(entities), index)
                matrix = arrays[f"matrix-{length}"].reshape(len(entities), int(length))
                ids = arrays.get(f"ids-{length}", entities)
                if len(ids) != len(entities):
                    raise ValueError("arrays that do not fit each other")
                found[int(length)] = Vectors(entities, matrix, ids, graph)
        return VectorIndex(found, index)

    def agrees_with(self, expected: VectorIndex) -> bool:
        """Whether the vectors are those, and the graphs are of them."""
        if self.by_length.keys() != expected.by_length.keys():
            return False
        return all(_is_same(mine, expected.by_length[length]) for length, mine in self.by_length.items())


def _is_same(mine: Vectors, expected: Vectors) -> bool:
    return (
        np.array_equal(mine.entities, expected.entities)
        and np.array_equal(mine.ids, expected.ids)
        and np.array_equal(mine.matrix, expected.matrix)
        and (mine.graph is None or mine.graph.agrees_with(mine.matrix, mine.ids))
    )


def _public_ids(base: Base, index: Index, entities: Int64s) -> Int64s:
    ids = base.node_ids if index.entity is Entity.NODE else base.relationship_ids
    return entities if ids is None else ids[entities]


def graph_of(base: Base, index: Index, length: int) -> Neighbours | None:
    """The graph of neighbours of an index over a base, where there is one by now."""
    building = base.buildings.get((index.id, length))
    if building is not None and building.found is not None:
        return building.found
    known = base.known_search_index(index, VectorIndex)
    vectors = None if known is None else known.by_length.get(length)
    return None if vectors is None else vectors.graph or vectors.graph_before


def _usable_graph(base: Base, index: Index, vectors: Vectors) -> Neighbours | None:
    """The graph of these vectors. Where there is none and one is worth it, it is begun in the background."""
    if vectors.graph is not None or vectors.matrix.size < neighbours.LEAST_NUMBERS:
        return vectors.graph
    key = (index.id, vectors.matrix.shape[1])
    before = base.inherited.get(key)
    if before is not None and before.is_under_way:
        return None
    building = base.buildings.get(key)
    if building is None or not (building.is_over or building.is_under_way):  # it stayed in the process before a fork
        if not base.has_room_for(neighbours.size_of(vectors.matrix, index)) or not neighbours.is_available():
            return None
        graph = vectors.graph_before if before is None or before.found is None else before.found
        task = Task(vectors.matrix, vectors.ids, index, graph)
        building = base.buildings[key] = Building(task, base.when_built)
    return building.found


def await_graphs(delta: Delta, index: Index, seconds: float) -> bool:
    """Wait until the graphs of an index are made, where it is to have some, or the time is over; whether they are."""
    base, end = delta.base, monotonic() + seconds
    for length, vectors in base.search_index(index, VectorIndex).by_length.items():
        for _ in range(2):  # what was begun before a fold, then what is made of it
            _usable_graph(base, index, vectors)
            for buildings in (base.inherited, base.buildings):
                if (building := buildings.get((index.id, length))) is not None:
                    building.wait(max(end - monotonic(), 0))
                    if building.is_under_way:
                        return False
    return True


def _matrices(values: Any, kept: Int64s) -> Iterator[tuple[Int64s, NDArray[Any]]]:
    """The rows that are kept, and a matrix that has them in this order; or the whole column's, if it is one."""
    if isinstance(values, FloatLists):
        yield kept, values.matrix
        return
    objects = values.objects()
    for rows, matrix in rows_by_length([objects[row] for row in kept.tolist()]):
        yield kept[rows], matrix


def _all_prepared(matrix: NDArray[Any], rows: Int64s, normalise: bool) -> tuple[Float32s, Bools]:
    """The rows made ready, a piece at a time, without those that cannot be compared; and which could."""
    is_whole = len(matrix) != len(rows)
    ready = np.empty((len(rows), matrix.shape[1]), np.float32)
    valid = np.empty(len(rows), np.bool_)
    for first in range(0, len(rows), _ROWS):
        some = slice(first, first + _ROWS)
        ready[some], valid[some] = prepared(matrix[rows[some]] if is_whole else matrix[some], normalise)
    return (ready if bool(valid.all()) else ready[valid]), valid


# --- above it ---


@dataclass(slots=True)
class _Written:
    """Written vectors of one length, in arrays with room for more. A row without an entity has -1."""

    matrix: Float32s
    entities: Int64s = field(default_factory=lambda: np.zeros(0, np.int64))
    used: int = 0
    row_of: dict[int, int] = field(default_factory=dict)

    def put(self, positions: Int64s, vectors: Float32s) -> None:
        """Vectors of entities that have none here."""
        needed = self.used + len(positions)
        if needed > len(self.entities):
            room = max(needed, 2 * len(self.entities), 16)
            matrix, entities = np.zeros((room, self.matrix.shape[1]), np.float32), np.full(room, -1, np.int64)
            matrix[: self.used], entities[: self.used] = self.matrix[: self.used], self.entities[: self.used]
            self.matrix, self.entities = matrix, entities
        self.matrix[self.used : needed], self.entities[self.used : needed] = vectors, positions
        self.row_of.update(zip(positions.tolist(), range(self.used, needed), strict=True))
        self.used = needed

    def drop(self, position: int) -> None:
        """An entity has no vector of this length any more."""
        row = self.row_of.pop(position, None)
        if row is not None:
            self.entities[row] = -1

    def copy(self) -> _Written:
        return _Written(self.matrix.copy(), self.entities.copy(), self.used, dict(self.row_of))


class VectorChanges:
    """The vectors of entities that were written to since the base was made."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._by_length: dict[int, _Written] = {}
        self.touched: Int64s = _NOBODY  # ascending: of these the base's index knows nothing
        self._hidden: dict[int, tuple[Int64s, Int64s]] = {}

    def look_again(self, delta: Delta, positions: Int64s) -> None:
        """Update what is known about these entities."""
        for written in self._by_length.values():
            for position in positions.tolist():
                written.drop(position)
        self.touched = np.union1d(self.touched, positions)
        kept = still_covered(delta, self._index, positions)
        values = [value_of(delta, self._index, position, self._index.keys[0]) for position in kept.tolist()]
        length, normalise = vector_setting(self._index, "dimensions"), is_cosine(self._index)
        for rows, matrix in rows_by_length(values):
            if length in (None, matrix.shape[1]):
                ready, valid = prepared(matrix, normalise)
                written = self._by_length.setdefault(matrix.shape[1], _Written(ready[:0]))
                written.put(kept[rows[valid]], ready[valid])

    def copy(self) -> VectorChanges:
        """An independent copy."""
        twin = VectorChanges(self._index)
        twin._by_length = {length: written.copy() for length, written in self._by_length.items()}
        twin.touched = self.touched
        return twin

    def hidden(self, vectors: Vectors) -> Int64s:
        """The rows of the base's vectors that belong to entities that were written to."""
        length = vectors.matrix.shape[1]
        known = self._hidden.get(length)
        if known is None or known[0] is not self.touched:
            places = np.searchsorted(vectors.entities, self.touched)
            inside = np.flatnonzero(places < len(vectors.entities))
            same = vectors.entities[places[inside]] == self.touched[inside]
            known = self._hidden[length] = (self.touched, places[inside][same])
        return known[1]

    def best(self, vector: Float32s, by_cosine: bool, count: int) -> tuple[Int64s, Float32s]:
        """The most similar among them: entities and scores, best first."""
        written = self._by_length.get(len(vector))
        if written is None:
            return _NOBODY, np.zeros(0, np.float32)
        entities = written.entities[: written.used]
        vectors = Vectors(entities, written.matrix[: written.used])
        rows, scores = vectors.best(vector, by_cosine, count, np.flatnonzero(entities < 0))
        return entities[rows], scores


def nearest(delta: Delta, index: Index, vector: Float32s, count: int) -> tuple[Int64s, Float32s]:
    """The entities nearest to a vector, best first, and their scores. The vector is of length 1 if the index compares
    angles."""
    by_cosine = is_cosine(index)
    known = delta.base.search_index(index, VectorIndex)
    changes = changes_of(delta, index, VectorChanges)
    entities, scores = changes.best(vector, by_cosine, count)
    vectors = known.by_length.get(len(vector))
    if vectors is not None and len(vectors.entities):
        hidden, graph = changes.hidden(vectors), _usable_graph(delta.base, index, vectors)
        if graph is None:
            rows, more = vectors.best(vector, by_cosine, count, hidden)
        else:
            rows, more = vectors.near(graph, vector, by_cosine, count, hidden)
        entities, scores = np.concatenate([vectors.entities[rows], entities]), np.concatenate([more, scores])
    order = np.lexsort((entities, -scores))[:count]
    return entities[order], scores[order]
