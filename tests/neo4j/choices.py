"""Recorded random choices: replaying them gives the same result, fewer or smaller ones give a simpler result. A
generator requests numbers; 0 is always its simplest choice. Every list of numbers gives something valid, so a case is
shrunk by shortening its list.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


class Choices:
    """Draws numbers from a generator, or from a list (zeros after its end); `made` is what was drawn."""

    def __init__(self, source: random.Random | Sequence[int]) -> None:
        self._source = source
        self.made: list[int] = []

    def below(self, count: int) -> int:
        """A number from 0 to count - 1."""
        if isinstance(self._source, random.Random):
            number = self._source.randrange(count)
        else:
            position = len(self.made)
            number = min(self._source[position], count - 1) if position < len(self._source) else 0
        self.made.append(number)
        return number

    def pick(self, options: Sequence[T]) -> T:
        """One of them, the first being the simplest."""
        return options[self.below(len(options))]

    def chance(self, percent: int) -> bool:
        """True so often; false is the simple way."""
        return self.below(100) >= 100 - percent


def shrunk(choices: Sequence[int], fails: Callable[[Sequence[int]], bool], attempts: int) -> list[int]:
    """A shorter or smaller list that still fails, found within a number of attempts."""
    best = list(choices)
    left = attempts

    def try_list(candidate: list[int]) -> bool:
        nonlocal best, left
        if left <= 0 or candidate == best:
            return False
        left -= 1
        if fails(candidate):
            best = candidate
            return True
        return False

    improved = True
    while improved and left > 0:
        improved = False
        size = max(1, len(best) // 2)
        while size >= 1:
            start = 0
            while start < len(best):
                if try_list(best[:start] + best[start + size :]):
                    improved = True
                else:
                    start += size
            size //= 2
        for place in range(len(best)):
            if place < len(best) and best[place]:
                for smaller in (0, best[place] // 2, best[place] - 1):
                    if smaller < best[place] and try_list([*best[:place], smaller, *best[place + 1 :]]):
                        improved = True
                        break
    return best
