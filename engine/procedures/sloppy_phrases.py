"""How often phrases occur in documents, exactly or with words moved by a number of steps, as Lucene counts it.

The words of a phrase are at places 0, 1, ...; where a document has the exact phrase, each word's position less its
place is the same. Otherwise, the difference between the largest and the smallest of these is the number of steps that a
match needs. Repeated words of a phrase must not match the same position.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import groupby

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.search.fulltext import Postings
from hoplite.values.columns import Int64s

_MOST_SEEN = 1 << 26  # positions that are marked one by one
_FEWER = 16  # documents than another word has: these are looked up
_CHECKED = 256
_FEW = 24  # documents that are sooner done one by one


def weights_of_phrase(
    documents: Int64s,
    found: Sequence[Postings],
    words: Sequence[str],
    places: Sequence[int],
    slop: int,
    check_time: Callable[[], None],
) -> NDArray[np.float32]:
    """How often the phrase occurs in each document, an occurrence of s steps counting 1 / (1 + s). All documents have
    all of the words."""
    if slop == 0:
        return _exact(documents, found, places)
    rows = [_rows(postings.documents, documents) for postings in found]
    weights = np.zeros(len(documents), np.float32)
    left = np.arange(len(documents))
    if len(set(words)) == len(words):
        left = _side_by_side(weights, rows, found, places, slop, check_time)
    for number in left.tolist():
        if number % _CHECKED == 0:
            check_time()
        positions = []
        for postings, row in zip(found, rows, strict=True):
            first = int(postings.starts[row[number]])
            positions.append(postings.positions[first : first + int(postings.counts[row[number]])].tolist())
        weights[number] = _sloppy(positions, words, places, slop)
    return weights


def _exact(documents: Int64s, found: Sequence[Postings], places: Sequence[int]) -> NDArray[np.float32]:
    """Encode document and beginning of the phrase as one number per position of a word; keep those that all words
    have, beginning with the word that has the fewest."""
    if not len(documents):
        return np.zeros(0, np.float32)
    width = max(int(postings.positions.max()) for postings in found) + max(places) + 1
    ordered = sorted(zip(found, places, strict=True), key=lambda word: len(word[0].positions))
    keys = (_beginnings(documents, postings, max(places) - place, width) for postings, place in ordered)
    beginnings = next(keys)
    seen = np.zeros(len(documents) * width, np.bool_) if len(documents) * width <= _MOST_SEEN else None
    for mine in keys:
        if seen is None:
            beginnings = np.intersect1d(beginnings, mine, assume_unique=True)
        else:
            seen[beginnings] = True
            common = mine[seen[mine]]
            seen[beginnings] = False
            beginnings = common
    return np.bincount(beginnings // width, minlength=len(documents)).astype(np.float32)


def _beginnings(documents: Int64s, postings: Postings, shift: int, width: int) -> Int64s:
    """The positions of a word in some documents, each with the number of its document."""
    rows = _rows(postings.documents, documents)
    counts = postings.counts[rows].astype(np.int64)
    offsets = np.cumsum(counts) - counts
    items = np.arange(int(counts.sum())) + np.repeat(postings.starts[rows] - offsets, counts)
    beginnings: Int64s = np.repeat(np.arange(shift, shift + len(rows) * width, width), counts)
    beginnings += postings.positions[items]
    return beginnings


def _rows(having: Int64s, documents: Int64s) -> Int64s:
    """Where documents are among those that have a word; all of them do."""
    if len(documents) * _FEWER < len(having):
        return np.searchsorted(having, documents)
    place_of = np.empty(int(having[-1]) + 1, np.int64)
    place_of[having] = np.arange(len(having))
    rows: Int64s = place_of[documents]
    return rows


def common_documents(found: Sequence[Postings]) -> Int64s:
    """The documents that have all of the words."""
    few, *others = sorted((postings.documents for postings in found), key=len)
    for having in others:
        if len(few) * _FEWER < len(having):
            places = np.minimum(np.searchsorted(having, few), len(having) - 1)
            few = few[having[places] == few]
        else:
            marks = np.zeros(max(int(having[-1]), int(few[-1]) if len(few) else 0) + 1, np.bool_)
            marks[having] = True
            few = few[marks[few]]
    return few


# --- with gaps: Lucene's SloppyPhraseMatcher ---


def _side_by_side(
    weights: NDArray[np.float32],
    rows: Sequence[Int64s],
    found: Sequence[Postings],
    places: Sequence[int],
    slop: int,
    check_time: Callable[[], None],
) -> Int64s:
    """The matcher below for words that all differ, in all documents at once, a step of each at a time. Fills in the
    weights; the documents that are left when only few go on are returned, with no weight yet.

    In each document the word that is first is moved on, until it is beyond the one that was second.
    """
    count = len(found)
    ranks = np.argsort(np.argsort(places, kind="stable"))
    firsts = np.stack([postings.starts[mine] for postings, mine in zip(found, rows, strict=True)])
    ends = firsts + np.stack([postings.counts[mine] for postings, mine in zip(found, rows, strict=True)])
    # All positions in one array, each as one number with the rank of its word, so that no two are the same.
    bases = np.cumsum([0, *(len(postings.positions) for postings in found)])[:-1, None]
    parts = zip(found, places, ranks.tolist(), strict=True)
    keys = np.concatenate([(mine.positions.astype(np.int64) - place) * count + rank for mine, place, rank in parts])
    at, ends = firsts + bases, ends + bases
    going = np.arange(len(weights))
    now = keys[at] if len(going) else np.zeros((count, 0), np.int64)
    last = (now // count).max(axis=0, initial=np.iinfo(np.int64).min)
    word, length, following = _first_of(now, last, count)
    while len(going) >= _FEW:
        check_time()
        columns = np.arange(len(going))
        step = at[word, columns] + 1
        is_over = step >= ends[word, columns]
        moved = keys[np.minimum(step, len(keys) - 1)]
        position = moved // count
        is_beyond = ~is_over & (position > following)
        counted = (is_over | is_beyond) & (length <= slop)
        weights[going[counted]] += np.float32(1) / (np.float32(1) + length[counted].astype(np.float32))
        at[word, columns], now[word, columns] = step, moved
        last = np.maximum(last, position)
        length = np.minimum(length, last - position)
        turn = np.flatnonzero(is_beyond)
        word[turn], length[turn], following[turn] = _first_of(now[:, turn], last[turn], count)
        if bool(is_over.any()):
            kept = np.flatnonzero(~is_over)
            going, at, ends, now = going[kept], at[:, kept], ends[:, kept], now[:, kept]
            last, word, length, following = last[kept], word[kept], length[kept], following[kept]
    weights[going] = 0
    return going


def _first_of(now: Int64s, last: Int64s, count: int) -> tuple[Int64s, Int64s, Int64s]:
    """In each document the word that is first, how far the last is from it, and where the second is."""
    word = np.argmin(now, axis=0)
    columns = np.arange(now.shape[1])
    first = now[word, columns]
    others = now.copy()
    others[word, columns] = np.iinfo(np.int64).max
    return word, last - first // count, others.min(axis=0, initial=np.iinfo(np.int64).max) // count


@dataclass(slots=True, eq=False)
class _Word:
    """One word of the phrase as it advances through a document."""

    positions: list[int]
    place: int
    number: int
    at: int = 0
    group: int = -1
    number_in_group: int = -1

    @property
    def position(self) -> int:
        return self.positions[self.at] - self.place

    @property
    def key(self) -> tuple[int, int, int]:
        return (self.position, self.place, self.number)

    def advance(self) -> bool:
        if self.at + 1 >= len(self.positions):
            return False
        self.at += 1
        return True


class _Matcher:
    def __init__(self, positions: list[list[int]], words: Sequence[str], places: Sequence[int]) -> None:
        pairs = zip(positions, places, strict=True)
        self.words = [_Word(mine, place, number) for number, (mine, place) in enumerate(pairs)]
        self.groups: list[list[_Word]] = []
        numbered = sorted(range(len(words)), key=lambda number: (words[number], places[number]))
        for _, same in groupby(numbered, key=lambda number: words[number]):
            members = [self.words[number] for number in same]
            if len(members) > 1:
                for number, word in enumerate(members):
                    word.group, word.number_in_group = len(self.groups), number
                self.groups.append(members)
        self.queue: list[_Word] = []
        self.end = 0

    def begin(self) -> bool:
        """Place words that occur more than once in the phrase at different positions."""
        for members in self.groups:
            for number, word in enumerate(members):
                if not all(word.advance() for _ in range(number)):
                    return False
        self.queue = sorted(self.words, key=lambda word: word.key)
        self.end = max(word.position for word in self.words)
        return True

    def _pop(self) -> _Word:
        return self.queue.pop(0)

    def _push(self, word: _Word) -> None:
        self.queue.append(word)
        self.queue.sort(key=lambda one: one.key)

    def _advance(self, word: _Word) -> bool:
        if not word.advance():
            return False
        self.end = max(self.end, word.position)
        return True

    def _collision(self, word: _Word) -> _Word | None:
        position = word.position + word.place
        for other in self.groups[word.group]:
            if other is not word and other.position + other.place == position:
                return other
        return None

    def _resolve(self, word: _Word) -> bool:
        """Advance words that collide at the same position, until none do."""
        if word.group < 0:
            return True
        first = word
        moved = False
        while (other := self._collision(word)) is not None:
            is_lesser = (word.position, word.place) < (other.position, other.place)
            word = word if is_lesser else other
            if not self._advance(word):
                return False
            moved = moved or word is not first
        if moved:
            self.queue.sort(key=lambda one: one.key)
        return True

    def weight(self, slop: int) -> float:
        """The sum over the matches of a document."""
        total = np.float32(0)
        if not self.begin():
            return 0.0
        is_placed = True
        while is_placed:
            word = self._pop()
            length = self.end - word.position
            following = self.queue[0].position
            is_match = False
            while self._advance(word):
                if self.groups and not self._resolve(word):
                    break
                if word.position > following:
                    self._push(word)
                    if length <= slop:
                        is_match = True
                        break
                    word = self._pop()
                    following = self.queue[0].position
                    length = self.end - word.position
                else:
                    length = min(length, self.end - word.position)
            else:
                is_placed = False
            if not is_match:
                is_placed = False
            if length <= slop:
                total += np.float32(1) / (np.float32(1) + np.float32(length))
        return float(total)


def _sloppy(positions: list[list[int]], words: Sequence[str], places: Sequence[int], slop: int) -> float:
    return _Matcher(positions, words, places).weight(slop)
