"""The texts of a stored column, with structures to group, order and search by.

Queries read a property column of text again and again. What they need besides the texts is made when it first pays and
kept with the column: numbers that are equal for equal texts (grouping), ranks (ordering), the texts in lower case
(searching), and all texts joined into one, in which Python's search is a hundred times as fast as in each of them
separately. `Strings` columns taken from it are slots of the pool until the texts are needed.

    values   object[n] of str, None is null
    nulls    bool[n + 1]
    codes    int64[n + 1] from 1, 0 for null
    ranks    int64[n + 1] in the order of code points, null last

The last entry of the arrays is null's, so that a slot of -1 finds it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

EDGE = "\x00"
"""Separates joined texts; in `TextPool.find`, the beginning or the end of a text."""

_WORTH = 4  # a structure for all texts is made once one in this many was used
_LARGEST_POOL = 1 << 23  # texts; for more, the structures would take too much memory
_LARGEST_JOINED = 1 << 28  # characters; beyond, texts are searched one by one
_FEW_HITS = 32  # at most one text in this many may match; with more, testing each is faster


class TextPool:
    """Texts by slot, and what is derived from them, which is why they must not be changed."""

    __slots__ = ("_asked", "_codes", "_converted", "_ends", "_joined", "_nulls", "_ranks", "values")

    def __init__(self, values: NDArray[np.object_]) -> None:
        values.flags.writeable = False
        self.values = values
        self._asked: dict[str, int] = {}
        self._codes: NDArray[np.int64] | None = None
        self._ranks: NDArray[np.int64] | None = None
        self._nulls: NDArray[np.bool_] | None = None
        self._joined: str | None = None
        self._ends: NDArray[np.int64] | None = None
        self._converted: dict[str, TextPool] = {}

    def __len__(self) -> int:
        return len(self.values)

    @property
    def nulls(self) -> NDArray[np.bool_]:
        """Where there is no text."""
        if self._nulls is None:
            nothing: Any = None
            self._nulls = np.append(np.equal(self.values, nothing), True)
        return self._nulls

    def pays(self, purpose: str, count: int) -> bool:
        """Whether enough texts were used, for some purpose, that working on all of them pays."""
        asked = self._asked[purpose] = self._asked.get(purpose, 0) + count
        return len(self.values) <= min(asked * _WORTH, _LARGEST_POOL)

    def codes(self) -> NDArray[np.int64]:
        """A number for each slot, the same for equal texts."""
        if self._codes is None:
            numbers: dict[Any, int] = {None: 0}
            add = numbers.setdefault
            codes = np.zeros(len(self.values) + 1, np.int64)
            codes[:-1] = np.fromiter((add(text, len(numbers)) for text in self.values), np.int64, len(self.values))
            self._codes = codes
        return self._codes

    def ranks(self) -> NDArray[np.int64]:
        """For each slot, how many different texts come before it."""
        if self._ranks is None:
            codes = self.codes()
            _, first = np.unique(codes, return_index=True)  # null's comes first
            texts = self.values[first[1:]].tolist()
            rank_of = np.full(len(first), len(first), np.int64)
            order = np.array(sorted(range(len(texts)), key=texts.__getitem__), np.int64)
            rank_of[order + 1] = np.arange(len(texts))
            self._ranks = rank_of[codes]
        return self._ranks

    def converted(self, name: str, convert: Callable[[str], str]) -> TextPool:
        """The pool of converted texts, slot by slot; `name` stands for the conversion."""
        known = self._converted.get(name)
        if known is None:
            texts = np.empty(len(self.values), dtype=object)
            texts[:] = [None if text is None else convert(text) for text in self.values]
            known = self._converted[name] = TextPool(texts)
        return known

    # --- searching ---

    def find(self, before: str, part: str, after: str, first: int, last: int) -> NDArray[np.bool_] | None:
        """Which of the slots first .. last have a text that contains the part; False for null.

        `before` and `after` are EDGE if the part must be at the beginning or the end of the text, else empty. None if
        the texts cannot be searched together, or if there are too many matches for it to be faster.
        """
        joined, ends = self._searchable()
        if ends is None or EDGE in part:
            return None
        if not part and not (before and after):  # every text contains the empty text, at any place
            return ~self.nulls[first:last]
        wanted = before + part + after
        hits: list[int] = []
        most = (last - first) // _FEW_HITS + 64
        place, stop = int(ends[first]), int(ends[last]) + 1
        while (place := joined.find(wanted, place, stop)) >= 0:
            hits.append(place + len(before))
            if len(hits) > most:
                return None
            place += 1
        found = np.zeros(last - first, np.bool_)
        # The text of slot i is at ends[i] + 1 .. ends[i + 1], between two separators.
        found[np.searchsorted(ends, np.array(hits, np.int64)) - 1 - first] = True
        return found & ~self.nulls[first:last] if not part else found

    def _searchable(self) -> tuple[str, NDArray[np.int64] | None]:
        """All texts joined, and the positions of the separators around them; None if they cannot be joined."""
        if self._joined is None:
            texts = ["" if text is None else text for text in self.values]
            lengths = np.fromiter(map(len, texts), np.int64, len(texts))
            joined = ""
            if int(lengths.sum()) <= _LARGEST_JOINED:
                joined = EDGE + EDGE.join(texts) + EDGE
                if joined.count(EDGE) != len(texts) + 1:
                    joined = ""
            if joined:
                self._ends = np.concatenate(([0], np.cumsum(lengths + 1)))
            self._joined = joined
        return self._joined, self._ends
