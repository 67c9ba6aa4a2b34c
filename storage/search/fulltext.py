"""Full-text indexes: the documents of a base, those written since, and searches over both.

A document is an entity with text in one of the index's properties, each of which is a field. The base has one segment;
the delta has some small ones, of which those of similar size are merged. Each knows which of its documents are still
current.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.base import Base
from hoplite.storage.delta import Delta
from hoplite.storage.schema import Entity, Index
from hoplite.storage.search.analyzers import DEFAULT_ANALYZER, Analyzer, analyzer
from hoplite.storage.search.changes import changes_of, covered, still_covered, value_of
from hoplite.storage.search.earlier import Earlier
from hoplite.storage.search.segments import Field, Int32s, RecentField, Segment, Words, field_of, merged, postings
from hoplite.values.columns import Bools, Int64s

_NOBODY: Int64s = np.zeros(0, np.int64)
_MERGED_AT_ONCE = 8
_FEW = 16


def analyzer_of(index: Index) -> Analyzer:
    """The analyzer of an index."""
    return analyzer(str(index.config.get("fulltext.analyzer") or DEFAULT_ANALYZER))


def _words(value: Any, analyze: Analyzer) -> Words | None:
    """The words of a text, or of a list of texts; None for any other value."""
    if isinstance(value, str):
        return analyze.words(value)
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return [word for item in value for word in analyze.words(item)]
    return None


# --- over a base ---


@dataclass(frozen=True, eq=False)
class FullTextIndex:
    """The documents of a base."""

    segment: Segment

    @classmethod
    def of(cls, base: Base, index: Index, earlier: Earlier | None = None) -> FullTextIndex:
        """Made of the columns; of what there was before a fold, only texts that were written since are taken apart."""
        before = None if earlier is None else earlier.index(index, FullTextIndex)
        included = covered(base, index)
        if earlier is None or before is None:
            return FullTextIndex(_segment(base, index, np.flatnonzero(included)))
        places = earlier.places(base, index, before.segment.entities)
        changed = earlier.written_to(base, index)
        later = _segment(base, index, changed[included[changed]])
        return FullTextIndex(merged([(before.segment, places), (later, later.entities)], index.keys))

    def agrees_with(self, expected: FullTextIndex) -> bool:
        """Whether it has the same words in the same places."""
        mine, theirs = self.arrays(), expected.arrays()
        return mine.keys() == theirs.keys() and all(np.array_equal(mine[name], theirs[name]) for name in mine)

    def arrays(self) -> dict[str, NDArray[Any]]:
        """The entities, and the arrays of each field."""
        found: dict[str, NDArray[Any]] = {"entities": self.segment.entities}
        for number, field in enumerate(self.segment.fields.values()):
            found.update({f"{number}-{name}": array for name, array in field.arranged.arrays().items()})
        return found

    @classmethod
    def of_arrays(cls, index: Index, arrays: Mapping[str, NDArray[Any]]) -> FullTextIndex:
        """The index from its arrays."""
        fields = {}
        for number, key in enumerate(index.keys):
            prefix = f"{number}-"
            own = {name[len(prefix) :]: array for name, array in arrays.items() if name.startswith(prefix)}
            fields[key] = Field.of_arrays(own)
            if len(fields[key].lengths) != len(arrays["entities"]):
                raise ValueError("arrays that do not fit each other")
        return FullTextIndex(Segment(arrays["entities"], fields))


def _segment(base: Base, index: Index, wanted: Int64s) -> Segment:
    """The texts of some entities of a base, taken apart."""
    columns = base.node_columns if index.entity is Entity.NODE else base.relationship_columns
    analyze = analyzer_of(index)
    texts: dict[str, list[tuple[int, Words]]] = {key: [] for key in index.keys}
    for key in index.keys:
        column = columns.get(key)
        if column is not None:
            positions, values = column.entries()
            kept = np.flatnonzero(np.isin(positions, wanted, assume_unique=True))
            for position, value in zip(positions[kept].tolist(), values.take(kept).objects(), strict=True):
                if (words := _words(value, analyze)) is not None:
                    texts[key].append((position, words))
    return segment_of(texts)


def segment_of(
    texts: Mapping[str, list[tuple[int, Words]]],
    make: Callable[[Sequence[tuple[int, Words]], int], Field | RecentField] = field_of,
) -> Segment:
    """The segment of the words that entities have in each field."""
    entities = sorted({entity for some in texts.values() for entity, _ in some})
    number_of = {entity: number for number, entity in enumerate(entities)}
    fields = {
        key: make([(number_of[entity], words) for entity, words in some], len(entities)) for key, some in texts.items()
    }
    return Segment(np.array(entities, np.int64), fields)


# --- above it ---


@dataclass(frozen=True, slots=True, eq=False)
class _Part:
    """A segment, and which of its documents are still current; None if all are."""

    segment: Segment
    alive: Bools | None = None

    def __len__(self) -> int:
        return len(self.segment.entities)

    def without(self, positions: Int64s) -> _Part:
        """The same after these entities, ascending, were written to."""
        entities = self.segment.entities
        if positions[0] > entities[-1] or positions[-1] < entities[0]:  # new entities come last
            return self
        return _Part(self.segment, _alive_without(positions, entities, self.alive))

    def current(self) -> Int64s:
        """The entities of its documents, -1 for those that are gone."""
        entities = self.segment.entities
        return entities if self.alive is None else np.where(self.alive, entities, -1)


def _alive_without(gone: Int64s, entities: Int64s, alive: Bools | None = None) -> Bools | None:
    """Which documents are current, by their ascending entities, after some entities were written to."""
    places = np.searchsorted(entities, gone)
    inside = places < len(entities)
    hidden = places[inside]
    hidden = hidden[entities[hidden] == gone[inside]]
    if not len(hidden):
        return alive
    left = np.ones(len(entities), np.bool_) if alive is None else alive.copy()
    left[hidden] = False
    return left


class TextChanges:
    """The documents of entities that were written to since the base was made."""

    def __init__(self, index: Index) -> None:
        self._index = index
        self._analyze = analyzer_of(index)
        self._parts: list[_Part] = []
        self._touched: Int64s = _NOBODY  # of these the base's index knows nothing; some may occur more than once
        self._search: tuple[FullTextIndex, Search] | None = None

    def look_again(self, delta: Delta, positions: Int64s) -> None:
        """Update what is known about these entities."""
        self._search = None
        self._parts = [part.without(positions) for part in self._parts]
        self._touched = np.concatenate([self._touched, positions])
        texts: dict[str, list[tuple[int, Words]]] = {key: [] for key in self._index.keys}
        for position in still_covered(delta, self._index, positions).tolist():
            for key, some in texts.items():
                words = _words(value_of(delta, self._index, position, key), self._analyze)
                if words is not None:
                    some.append((position, words))
        if any(texts.values()):
            made = segment_of(texts, RecentField if len(positions) <= _FEW else field_of)
            self._parts.append(_Part(made))
            self._merge()

    def _merge(self) -> None:
        """Several of similar size become one, so that there are few of them, and each document is moved few times."""
        parts = self._parts
        count, size = 1, len(parts[-1])
        while count < len(parts) and len(parts[-count - 1]) <= 2 * size:
            count, size = count + 1, size + len(parts[-count - 1])
        if count >= _MERGED_AT_ONCE:
            every = [(part.segment, part.current()) for part in parts[-count:]]
            segment = merged(every, self._index.keys)
            parts[-count:] = [_Part(segment)] if len(segment.entities) else []

    def copy(self) -> TextChanges:
        """An independent copy."""
        twin = TextChanges(self._index)
        twin._parts = list(self._parts)
        twin._touched = self._touched
        return twin

    def search(self, base: FullTextIndex) -> Search:
        """The base's documents that were not written to, and those that are here."""
        if self._search is None or self._search[0] is not base:
            parts = [(base.segment, _alive_without(self._touched, base.segment.entities))]
            parts += [(part.segment, part.alive) for part in self._parts]
            self._search = (base, Search(parts))
        return self._search[1]


# --- searching ---


@dataclass(frozen=True, slots=True, eq=False)
class Postings:
    """The documents with a word, ascending, how often each has it, and where: positions[starts[i]:][:counts[i]]."""

    documents: Int64s
    counts: Int32s
    starts: Int64s
    positions: Int32s


class Search:
    """All documents of an index, numbered through its segments."""

    def __init__(self, parts: list[tuple[Segment, Bools | None]]) -> None:
        self._parts = parts
        self._offsets = list(accumulate((len(segment.entities) for segment, _ in parts), initial=0))
        self.document_count: int = self._offsets[-1]

    def entities_of(self, documents: Int64s) -> Int64s:
        """The entities of some documents, which are ascending."""
        bounds = np.searchsorted(documents, self._offsets).tolist()
        found = [
            segment.entities[documents[first:last] - offset]
            for (segment, _), offset, (first, last) in zip(self._parts, self._offsets, pairwise(bounds), strict=False)
            if first < last
        ]
        return np.concatenate(found) if found else _NOBODY

    @cached_property
    def documents(self) -> Int64s:
        """The documents that are still current."""
        found = [
            np.arange(len(segment.entities)) if alive is None else np.flatnonzero(alive)
            for segment, alive in self._parts
        ]
        return np.concatenate([some + offset for some, offset in zip(found, self._offsets, strict=False)])

    @cached_property
    def _lengths(self) -> dict[str, tuple[NDArray[np.uint8], int, int]]:
        return {}

    def lengths(self, key: str) -> tuple[NDArray[np.uint8], int, int]:
        """How many words each document has in a field (as a place in `LENGTHS`), how many documents have one, and how
        many words these have."""
        known = self._lengths.get(key)
        if known is None:
            having = total = 0
            for segment, alive in self._parts:
                field = segment.fields[key]
                gone = _NOBODY if alive is None else field.lengths[np.flatnonzero(~alive)]
                having += field.having - int(np.count_nonzero(gone))
                total += field.total - int(gone.sum(dtype=np.int64))
            codes = [segment.fields[key].length_codes for segment, _ in self._parts]
            known = self._lengths[key] = (codes[0] if len(codes) == 1 else np.concatenate(codes), having, total)
        return known

    def postings(self, key: str, word: str) -> Postings | None:
        """Where a word is; None if it is nowhere."""
        found: list[tuple[Int64s, Int32s, Int64s, Int32s]] = []
        shift = 0
        for (segment, alive), offset in zip(self._parts, self._offsets, strict=False):
            maybe = segment.fields[key]
            if not maybe.may_have(word):
                continue
            field = maybe.arranged
            place = field.terms.find(word)
            if place >= 0:
                documents, counts, starts = postings(field, place, alive)
                if len(documents):
                    first, last = int(field.places[place]), int(field.places[place + 1])
                    found.append((documents + offset, counts, starts - first + shift, field.positions[first:last]))
                    shift += last - first
        if not found:
            return None
        if len(found) == 1:
            return Postings(*found[0])
        return Postings(
            np.concatenate([documents for documents, _, _, _ in found]),
            np.concatenate([counts for _, counts, _, _ in found]),
            np.concatenate([starts for _, _, starts, _ in found]),
            np.concatenate([positions for _, _, _, positions in found]),
        )

    def words(self, key: str, low: str | None = None, prefix: str | None = None) -> Iterator[str]:
        """All words of a field, each once; or those from a word on, or with a prefix."""
        if len(self._parts) == 1:
            yield from self._some_words(0, key, low, prefix)
            return
        seen: set[str] = set()
        for number in range(len(self._parts)):
            for word in self._some_words(number, key, low, prefix):
                if word not in seen:
                    seen.add(word)
                    yield word

    def _some_words(self, number: int, key: str, low: str | None, prefix: str | None) -> list[str]:
        terms = self._parts[number][0].fields[key].arranged.terms
        if prefix is not None:
            first = last = terms.place(prefix)
            words = terms.words
            while last < len(words) and words[last].startswith(prefix):
                last += 1
            return words[first:last]
        return terms.words if low is None else terms.words[terms.place(low) :]

    def union(self, key: str, words: list[str]) -> Int64s:
        """The documents that have one of the words, ascending."""
        having = np.zeros(self.document_count, np.bool_)
        for word in words:
            found = self.postings(key, word)
            if found is not None:
                having[found.documents] = True
        return np.flatnonzero(having)


def search(delta: Delta, index: Index) -> Search:
    """All documents of an index."""
    base = delta.base.search_index(index, FullTextIndex)
    return changes_of(delta, index, TextChanges).search(base)
