"""Phrases with gaps are counted side by side in many documents as they are one by one."""

from __future__ import annotations

import random

import numpy as np
import pytest

from hoplite.engine.procedures import sloppy_phrases
from hoplite.storage.search.fulltext import Postings
from hoplite.values.columns import Int64s


def _postings(texts: list[list[str]], word: str) -> Postings:
    having = [(number, [at for at, one in enumerate(text) if one == word]) for number, text in enumerate(texts)]
    having = [(number, places) for number, places in having if places]
    counts = np.array([len(places) for _, places in having], np.int32)
    starts: Int64s = np.cumsum(counts, dtype=np.int64) - counts
    positions = np.array([place for _, places in having for place in places], np.int32)
    return Postings(np.array([number for number, _ in having], np.int64), counts, starts, positions)


@pytest.mark.parametrize("seed", range(25))
def test_side_by_side_is_the_same_as_one_by_one(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    choose = random.Random(seed)
    count = choose.choice([2, 2, 3, 4])
    words = [f"w{number}" for number in range(count)]
    longest = choose.choice([5, 12, 40])
    vocabulary = [*words, "x", "y"][: count + choose.choice([0, 2])]
    texts = [choose.choices(vocabulary, k=choose.randrange(1, longest)) for _ in range(choose.choice([30, 90]))]
    places = sorted(choose.sample(range(count + 2), count))
    found = [_postings(texts, word) for word in words]
    documents = found[0].documents
    for postings in found[1:]:
        documents = np.intersect1d(documents, postings.documents)
    slop = choose.randrange(1, 9)
    answers = []
    for few in (1, 24, 1000):
        monkeypatch.setattr(sloppy_phrases, "_FEW", few)
        answers.append(
            sloppy_phrases.weights_of_phrase(documents, found, words, places, slop, lambda: None).tolist()
        )  # fmt: skip
    assert answers[0] == answers[1] == answers[2]
