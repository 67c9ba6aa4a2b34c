"""Inverted indexes in arrays: documents of words go in, postings by word come out.

A segment has documents 0 .. n-1, each of an entity, and for each field

    terms       uint8[...] and int64[t + 1]   the words in UTF-8, ascending, and where each begins
    starts      int64[t + 1]                  where the postings of each word begin
    documents   int32[p]                      ascending for each word
    counts      int32[p]                      how often the word is in the document
    places      int64[t + 1]                  where the positions of each word begin
    positions   int32[sum of counts]          where it stands there, ascending
    lengths     int32[n]                      how many words the document has

Segments are never changed. `merged` makes one from several, without the documents that are gone.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Bools, Int64s, ragged_take

Int32s = NDArray[np.int32]
Words = Sequence[str | None]
"""The words of a text in order; None is a place where a word was left out."""


_EXACT_LENGTHS = 24
LENGTHS: Int64s = np.array(
    [*range(_EXACT_LENGTHS)]
    + [
        _EXACT_LENGTHS + (code if code < 8 else (code & 7 | 8) << ((code >> 3) - 1))
        for code in range(256 - _EXACT_LENGTHS)
    ],
    np.int64,
)
"""The lengths of documents that Lucene's byte for it stands for: all below 24, and four significant bits beyond."""


class Terms:
    """Sorted words."""

    def __init__(self, data: NDArray[np.uint8], offsets: Int64s) -> None:
        self.data = data
        self.offsets = offsets

    @staticmethod
    def of(words: Sequence[str]) -> Terms:
        """Words that are in the order of their code points, which is that of UTF-8."""
        encoded = [word.encode("utf-8", "surrogatepass") for word in words]
        offsets = np.zeros(len(encoded) + 1, np.int64)
        np.cumsum(np.fromiter(map(len, encoded), np.int64, len(encoded)), out=offsets[1:])
        return Terms(np.frombuffer(b"".join(encoded), np.uint8), offsets)

    def __len__(self) -> int:
        return len(self.offsets) - 1

    @cached_property
    def words(self) -> list[str]:
        """All of them."""
        data, bounds = self.data.tobytes(), self.offsets.tolist()
        return [data[a:b].decode("utf-8", "surrogatepass") for a, b in pairwise(bounds)]

    def find(self, word: str) -> int:
        """The index of a word; -1 if it does not occur."""
        place = self.place(word)
        wanted = word.encode("utf-8", "surrogatepass")
        return place if place < len(self) and self._bytes(place) == wanted else -1

    def place(self, word: str) -> int:
        """The index of a word, or where it would be."""
        wanted = word.encode("utf-8", "surrogatepass")
        low, high = 0, len(self)
        while low < high:
            middle = (low + high) // 2
            if self._bytes(middle) < wanted:
                low = middle + 1
            else:
                high = middle
        return low

    def _bytes(self, place: int) -> bytes:
        return self.data[self.offsets[place] : self.offsets[place + 1]].tobytes()


class _Lengths:
    """How many words the documents of a field have."""

    lengths: Int32s

    @cached_property
    def length_codes(self) -> NDArray[np.uint8]:
        """The length of each document, rounded down to one of `LENGTHS`, by its place there."""
        return (np.searchsorted(LENGTHS, self.lengths, "right") - 1).astype(np.uint8)

    @cached_property
    def having(self) -> int:
        """How many documents have words."""
        return int(np.count_nonzero(self.lengths))

    @cached_property
    def total(self) -> int:
        """How many words there are."""
        return int(self.lengths.sum(dtype=np.int64))


@dataclass(frozen=True, eq=False)
class Field(_Lengths):
    """The words of one property; see the top of the file."""

    terms: Terms
    starts: Int64s
    documents: Int32s
    counts: Int32s
    places: Int64s
    positions: Int32s
    lengths: Int32s

    @property
    def arranged(self) -> Field:
        """This one; see `RecentField`."""
        return self

    def may_have(self, word: str) -> bool:
        """Whether it is worth looking for a word."""
        return True

    def arrays(self) -> dict[str, NDArray[Any]]:
        """All of it, by name."""
        return {
            "terms": self.terms.data,
            "offsets": self.terms.offsets,
            "starts": self.starts,
            "documents": self.documents,
            "counts": self.counts,
            "places": self.places,
            "positions": self.positions,
            "lengths": self.lengths,
        }

    @staticmethod
    def of_arrays(arrays: Mapping[str, NDArray[Any]]) -> Field:
        """The field from its arrays."""
        terms = Terms(arrays["terms"], arrays["offsets"])
        names = ("starts", "documents", "counts", "places", "positions", "lengths")
        starts, documents, counts, places, positions, lengths = (arrays[name] for name in names)
        sizes = (len(starts), len(places), starts[-1], len(counts), places[-1])
        if sizes != (len(terms) + 1, len(terms) + 1, len(documents), len(documents), len(positions)):
            raise ValueError("arrays that do not fit each other")
        return Field(terms, starts, documents, counts, places, positions, lengths)


class RecentField(_Lengths):
    """A field of a few documents that were written lately. Its arrays are made when a word that it has is asked for, so
    that a write costs the searches for other words next to nothing.
    """

    def __init__(self, texts: Sequence[tuple[int, Words]], document_count: int) -> None:
        self._texts = texts
        self._words: set[str | None] = set()
        lengths = [0] * document_count
        for document, words in texts:
            self._words.update(words)
            lengths[document] = len(words) - words.count(None)
        self.lengths = np.array(lengths, np.int32)

    @cached_property
    def arranged(self) -> Field:
        """The field with its arrays."""
        return field_of(self._texts, len(self.lengths))

    def may_have(self, word: str) -> bool:
        """Whether it is worth looking for a word."""
        return word in self._words


@dataclass(frozen=True, eq=False)
class Segment:
    """Documents of entities, by field."""

    entities: Int64s
    fields: Mapping[str, Field | RecentField]


class _Numbers(dict[str | None, int]):
    """Words numbered in order of occurrence."""

    def __missing__(self, word: str | None) -> int:
        self[word] = number = len(self)
        return number


def field_of(texts: Sequence[tuple[int, Words]], document_count: int) -> Field:
    """The field of these documents, ascending; those that are not mentioned do not have it."""
    numbers = _Numbers()
    words: list[int] = []
    documents: list[int] = []
    lengths: list[int] = []
    for document, text in texts:
        words.extend(map(numbers.__getitem__, text))
        documents.append(document)
        lengths.append(len(text))
    left_out = numbers.get(None)
    known = sorted(word for word in numbers if word is not None)
    ranks = np.zeros(len(numbers), np.int64)
    ranks[[numbers[word] for word in known]] = np.arange(len(known))
    places = np.array(words, np.int64)
    sizes = np.array(lengths, np.int64)
    positions = np.arange(len(places)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    owners = np.repeat(np.array(documents, np.int64), sizes)
    if left_out is not None:
        kept = np.flatnonzero(places != left_out)
        places, positions, owners = places[kept], positions[kept], owners[kept]
    keys = ranks[places] * max(document_count, 1) + owners
    order = np.argsort(keys, kind="stable")
    return _field(Terms.of(known), keys[order], positions[order].astype(np.int32), document_count)


def _field(terms: Terms, keys: Int64s, positions: Int32s, document_count: int) -> Field:
    """Of words and documents as keys (word · documents + document), ascending, one for each position."""
    firsts = np.flatnonzero(np.diff(keys, prepend=-1))
    posted = keys[firsts]
    counts = np.diff(np.append(firsts, len(keys))).astype(np.int32)
    return _of_postings(terms, posted, counts, positions, document_count)


def _of_postings(terms: Terms, posted: Int64s, counts: Int32s, positions: Int32s, document_count: int) -> Field:
    total = max(document_count, 1)
    documents = posted % total
    starts = np.searchsorted(posted, np.arange(len(terms) + 1, dtype=np.int64) * total)
    ends = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    lengths = np.bincount(documents, counts, document_count).astype(np.int32)
    return Field(terms, starts, documents.astype(np.int32), counts, ends[starts], positions, lengths)


def merged(parts: Sequence[tuple[Segment, Int64s]], keys: Sequence[str]) -> Segment:
    """One segment from several. Each comes with the new entities of its documents, -1 for those that are gone."""
    entities = np.concatenate([entities for _, entities in parts])
    alive = np.flatnonzero(entities >= 0)
    order = alive[np.argsort(entities[alive], kind="stable")]
    numbers = np.full(len(entities), -1, np.int64)
    numbers[order] = np.arange(len(order))
    bounds = np.cumsum([0, *(len(entities) for _, entities in parts)])
    renumbered = [numbers[a:b] for a, b in pairwise(bounds)]
    fields = {
        key: _merged_field([segment.fields[key].arranged for segment, _ in parts], renumbered, len(order))
        for key in keys
    }
    return Segment(entities[order], fields)


def _merged_field(fields: Sequence[Field], numbers: Sequence[Int64s], document_count: int) -> Field:
    total = max(document_count, 1)
    words = sorted(set().union(*(field.terms.words for field in fields)))
    place_of = dict(zip(words, range(len(words)), strict=True))
    posted, counts, positions = [], [], []
    for field, renumbered in zip(fields, numbers, strict=True):
        places = np.fromiter((place_of[word] for word in field.terms.words), np.int64, len(field.terms))
        documents = renumbered[field.documents]
        keys = np.repeat(places, np.diff(field.starts)) * total + documents
        kept = np.flatnonzero(documents >= 0)
        ends = np.concatenate([[0], np.cumsum(field.counts, dtype=np.int64)])
        posted.append(keys[kept])
        counts.append(field.counts[kept])
        positions.append(field.positions[ragged_take(ends, kept)[1]] if len(kept) < len(keys) else field.positions)
    keys, sizes, where = np.concatenate(posted), np.concatenate(counts), np.concatenate(positions)
    order = np.argsort(keys, kind="stable")
    ends = np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)])
    where = where[ragged_take(ends, order)[1]]
    keys, sizes = keys[order], sizes[order]
    used = np.zeros(len(words), np.bool_)
    used[keys // total] = True
    if not bool(used.all()):
        new_places = np.cumsum(used) - 1
        keys = new_places[keys // total] * total + keys % total
        words = [word for word, is_used in zip(words, used.tolist(), strict=True) if is_used]
    return _of_postings(Terms.of(words), keys, sizes, where, document_count)


def postings(field: Field, place: int, alive: Bools | None) -> tuple[Int64s, Int32s, Int64s]:
    """Of a word of a field: the documents that have it, how often, and where their positions begin."""
    first, last = int(field.starts[place]), int(field.starts[place + 1])
    documents, counts = field.documents[first:last].astype(np.int64), field.counts[first:last]
    ends = np.cumsum(counts, dtype=np.int64) - counts + field.places[place]
    if alive is None:
        return documents, counts, ends
    kept = np.flatnonzero(alive[documents])
    return documents[kept], counts[kept], ends[kept]
