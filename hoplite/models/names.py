"""How alike two names are: labels, types, property keys and functions as people and models misspell them.

Case, underscores, hyphens and plurals do not count. The rest is compared letter by letter (insertions, deletions,
replacements and swapped neighbours) and word by word.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import lru_cache

_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+|[^\W\d_]+")
_NOT_LETTERS = re.compile(r"[\W_]+")

CLOSE = 0.72  # a misspelling, or the same words in another order
ALIKE = 0.5  # worth suggesting


@lru_cache(4096)
def words(name: str) -> tuple[str, ...]:
    """The words of a name in lower case, in the singular.

    >>> words("HAS_BankAccounts")
    ('has', 'bank', 'account')
    """
    return tuple(_singular(word.lower()) for word in _WORDS.findall(name))


@lru_cache(4096)
def folded(name: str) -> str:
    """The letters of a name, whatever its case, separators and number.

    >>> folded("bank_accounts") == folded("BankAccount"), folded("movies") == folded("Movie")
    (True, True)
    """
    return _singular(_NOT_LETTERS.sub("", name).casefold())


def _singular(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith("ie"):  # of movies and cookies, whose plural ends the same way
        return word[:-2] + "y"
    if len(word) > 4 and word.endswith(("sses", "xes", "ches", "shes")):
        return word[:-2]
    if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")):
        return word[:-1]
    return word


@lru_cache(8192)
def likeness(one: str, other: str) -> float:
    """From 0 (nothing in common) to 1 (the same name)."""
    if one == other:
        return 1.0
    a, b = folded(one), folded(other)
    if a == b:
        return 0.98 if a else 0.0
    apart, length = distance(a, b), max(len(a), len(b))
    by_letters = 1 - apart / length
    if apart == 1 and length > 3:  # one typo, whatever the length
        by_letters = max(by_letters, 0.85)
    elif apart == 2 and length > 6:
        by_letters = max(by_letters, 0.8)
    mine, theirs = words(one), words(other)
    shared = _shared(mine, theirs)
    by_words = 2 * shared / (len(mine) + len(theirs)) if mine and theirs else 0.0
    contained = 0.0
    if min(len(a), len(b)) >= 3 and (a in b or b in a):
        contained = 0.5 + 0.4 * min(len(a), len(b)) / max(len(a), len(b))
    return min(0.97, max(by_letters, by_words * 0.95, contained))


def _shared(mine: tuple[str, ...], theirs: tuple[str, ...]) -> float:
    left = list(theirs)
    shared = 0.0
    for word in mine:
        best = max(left, key=lambda other: 1 - distance(word, other) / max(len(word), len(other)), default=None)
        if best is None:
            break
        alike = 1 - distance(word, best) / max(len(word), len(best))
        if alike > 0.7:
            shared += alike
            left.remove(best)
    return shared


@lru_cache(16384)
def distance(one: str, other: str) -> int:
    """The number of insertions, deletions, replacements and swaps of neighbouring letters.

    >>> distance("nmae", "name"), distance("tittle", "title")
    (1, 1)
    """
    if len(one) < len(other):
        one, other = other, one
    before: list[int] = []
    row = list(range(len(other) + 1))
    for i, letter in enumerate(one, 1):
        oldest, before, row = before, row, [i]
        for j, opposite in enumerate(other, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (letter != opposite))
            if i > 1 and j > 1 and letter == other[j - 2] and one[i - 2] == opposite:
                cost = min(cost, oldest[j - 2] + 1)
            row.append(cost)
    return row[-1]


def ranked(name: str, candidates: Iterable[str], least: float = ALIKE) -> list[str]:
    """The candidates similar to a name, the most similar first."""
    scored = [(likeness(name, candidate), candidate) for candidate in candidates if candidate != name]
    return [candidate for score, candidate in sorted(scored, key=lambda s: (-s[0], s[1])) if score >= least]


def closest(name: str, candidates: Iterable[str], least: float = CLOSE) -> str | None:
    """The one candidate that a name probably means; None if none is close, or two are equally close."""
    scored = sorted(((likeness(name, c), c) for c in candidates if c != name), reverse=True)
    if not scored or scored[0][0] < least:
        return None
    if len(scored) > 1 and scored[1][0] >= scored[0][0] - 0.01:
        return None
    return scored[0][1]
