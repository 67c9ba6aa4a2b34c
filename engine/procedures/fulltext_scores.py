"""Lucene's results for a query: the documents that match it, and their scores.

BM25 with k1 = 1.2 and b = 0.75, in the 32-bit arithmetic of Lucene. For a word that is in n of N documents with the
field, c times in a document of l words, where a document has a words on average:

    idf    = ln(1 + (N - n + 0.5) / (n + 0.5))
    score  = boost · idf · c / (c + k1 · (1 - b + b · l / a))

l is rounded down as Lucene stores it (`LENGTHS`). For a phrase, idf is the sum over its words,
and c how often it occurs, where an occurrence with gaps of s in total counts 1 / (1 + s). Patterns and ranges score
their boost.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Callable, Iterable
from typing import assert_never

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.procedures.lucene import (
    Boolean,
    Boosted,
    Everything,
    Fuzzy,
    Occur,
    Pattern,
    Phrase,
    Prefix,
    Query,
    Range,
    Term,
)
from hoplite.engine.procedures.sloppy_phrases import common_documents, weights_of_phrase
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.search.fulltext import Postings, Search
from hoplite.storage.search.segments import LENGTHS
from hoplite.values.columns import Int64s

_K1, _B, _ONE = np.float32(1.2), np.float32(0.75), np.float32(1)
_MOST_SIMILAR_WORDS = 50
_CHECKED = 1 << 10  # words between two checks of the clock

Float32s = NDArray[np.float32]


@dataclass(frozen=True, slots=True, eq=False)
class Hits:
    """Documents, ascending, and their scores."""

    documents: Int64s
    scores: Float32s


_NOTHING = Hits(np.zeros(0, np.int64), np.zeros(0, np.float32))


class Scoring:
    """Queries over the documents of an index, which has these `fields`. `check_time` is called now and then;
    `seconds_left` says how long patterns may take."""

    def __init__(
        self,
        search: Search,
        fields: Iterable[str],
        check_time: Callable[[], None],
        seconds_left: Callable[[], float | None],
    ) -> None:
        self._search = search
        self._fields = frozenset(fields)
        self._check_time = check_time
        self._seconds_left = seconds_left

    def hits(self, query: Query, boost: float = 1.0) -> Hits:
        """The documents that match."""
        match query:
            case Boosted(query=inner, factor=factor):
                return self.hits(inner, float(np.float32(boost) * np.float32(factor)))
            case Boolean():
                return self._combined(query, boost)
            case Everything():
                return _constant(self._search.documents, boost)
        if query.field not in self._fields:
            return _NOTHING
        match query:
            case Term(field=field, word=word):
                found = self._search.postings(field, word)
                return _NOTHING if found is None else self._term(field, found, len(found.documents), boost)
            case Phrase():
                return self._phrase(query, boost)
            case Prefix(field=field, text=text):
                words = list(self._search.words(field, prefix=text))
            case Pattern(field=field, matches=matches):
                words = self._fitting(field, lambda word: matches(word, self._seconds_left()))
            case Range(field=field, low=low):
                words = self._fitting(field, lambda word: _is_within(word, query), low)
            case Fuzzy():
                return self._fuzzy(query, boost)
            case _:
                assert_never(query)
        return _constant(self._search.union(field, words), boost)

    def _fitting(self, field: str, fits: Callable[[str], bool], low: str | None = None) -> list[str]:
        found = []
        for number, word in enumerate(self._search.words(field, low)):
            if number % _CHECKED == 0:
                self._check_time()
            if fits(word):
                found.append(word)
        return found

    # --- BM25 ---

    def _idf(self, field: str, having: int) -> np.float32:
        count = self._search.lengths(field)[1]
        return np.float32(math.log(1 + (count - having + 0.5) / (having + 0.5)))

    def _weighted(self, field: str, documents: Int64s, counts: NDArray[np.float32], weight: np.float32) -> Float32s:
        codes, having, total = self._search.lengths(field)
        inverse = _ONE / (_K1 * ((_ONE - _B) + _B * LENGTHS.astype(np.float32) / np.float32(total / having)))
        scores: Float32s = weight - weight / (_ONE + counts * inverse[codes[documents]])
        return scores

    def _term(self, field: str, found: Postings, having: int, boost: float) -> Hits:
        weight = np.float32(boost) * self._idf(field, having)
        return Hits(found.documents, self._weighted(field, found.documents, found.counts.astype(np.float32), weight))

    def _phrase(self, query: Phrase, boost: float) -> Hits:
        every = [self._search.postings(query.field, word) for word, _ in query.words]
        found = [postings for postings in every if postings is not None]
        if len(found) < len(every):
            return _NOTHING
        idf = np.float32(sum(float(self._idf(query.field, len(postings.documents))) for postings in found))
        documents = common_documents(found)
        places = [place for _, place in query.words]
        words = [word for word, _ in query.words]
        weights = weights_of_phrase(documents, found, words, places, query.slop, self._check_time)
        kept = np.flatnonzero(weights > 0)
        documents = documents[kept]
        return Hits(documents, self._weighted(query.field, documents, weights[kept], np.float32(boost) * idf))

    def _fuzzy(self, query: Fuzzy, boost: float) -> Hits:
        """The words most similar to the given one. Lucene alone scores each as if it were in as many documents as the
        most common of them; Neo4j, which gathers statistics over several indexes, does not."""
        alike: list[tuple[float, str]] = []
        for number, word in enumerate(self._search.words(query.field)):
            if number % _CHECKED == 0:
                self._check_time()
            distance = edit_distance(query.text, word, query.edits)
            if distance <= query.edits:
                alike.append((_likeness(query.text, word, distance), word))
        best = heapq.nsmallest(_MOST_SIMILAR_WORDS, alike, key=lambda found: (-found[0], found[1]))
        found = [(likeness, self._search.postings(query.field, word)) for likeness, word in best]
        hits = [
            (
                Occur.SHOULD,
                self._term(query.field, postings, len(postings.documents), boost * likeness),
            )
            for likeness, postings in found
            if postings is not None
        ]
        return self._sum(hits)

    # --- clauses ---

    def _combined(self, query: Boolean, boost: float) -> Hits:
        return self._sum([(occur, self.hits(clause, boost)) for occur, clause in query.clauses])

    def _sum(self, clauses: list[tuple[Occur, Hits]]) -> Hits:
        if len(clauses) == 1 and clauses[0][0] is not Occur.MUST_NOT:
            return clauses[0][1]
        count = self._search.document_count
        scores = np.zeros(count, np.float64)
        required = sum(occur is Occur.MUST for occur, _ in clauses)
        met = np.zeros(count, np.int64)
        matched = np.zeros(count, np.bool_)
        for occur, hits in clauses:
            if occur is Occur.MUST_NOT:
                continue
            scores[hits.documents] += hits.scores
            matched[hits.documents] = True
            if occur is Occur.MUST:
                met[hits.documents] += 1
        if required:
            matched = met == required
        for occur, hits in clauses:
            if occur is Occur.MUST_NOT:
                matched[hits.documents] = False
        documents = np.flatnonzero(matched)
        return Hits(documents, scores[documents].astype(np.float32))


def _likeness(wanted: str, word: str, distance: int) -> float:
    if distance == 0:
        return 1.0
    shorter = min(len(wanted), len(word))
    return max(float(_ONE - np.float32(distance) / np.float32(max(shorter, 1))), 0.0)


def _constant(documents: Int64s, boost: float) -> Hits:
    return Hits(documents, np.full(len(documents), boost, np.float32))


def _is_within(word: str, query: Range) -> bool:
    above = query.low is None or query.low < word or (query.include_low and word == query.low)
    below = query.high is None or word < query.high or (query.include_high and word == query.high)
    return above and below


def edit_distance(left: str, right: str, limit: int) -> int:
    """The number of insertions, deletions, replacements and swaps of neighbours; limit + 1 for anything above the
    limit."""
    if left == right:
        return 0
    if abs(len(left) - len(right)) > limit or not limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, here in enumerate(left, 1):
        current = [row]
        for column, there in enumerate(right, 1):
            cost = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (here != there))
            if row > 1 and column > 1 and here == right[column - 2] and left[row - 2] == there:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        if min(current) > limit:
            return limit + 1
        before, previous = previous, current
    return min(previous[-1], limit + 1)
