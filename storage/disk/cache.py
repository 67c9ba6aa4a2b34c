"""The parts of a database on disk that are held in memory: partitions and columns, up to a budget in bytes; the least
recently used goes first.

Eviction only drops a reference: a reader of a partition keeps it mapped until it is done. What readers keep for later
(views of arrays, an index that was looked up) is in dictionaries of the cache, which are emptied at every eviction: as
long as everything fits, nothing has to be looked up again, and beyond that nothing stays in memory because of them.
"""

from __future__ import annotations

import os
import re
import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from functools import partial
from typing import Any, NamedTuple, TypeVar

from hoplite import forks
from hoplite.lazy_dataclass import dataclass

T = TypeVar("T")

ENTRIES = 384
"""The most entries held, whatever their size: each mapped file takes a file descriptor."""
_SEARCHED_SHARE = 16
_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "KI": 2**10, "MI": 2**20, "GI": 2**30, "TI": 2**40}


@dataclass(frozen=True, slots=True)
class CacheStatistics:
    """`budget_bytes` of None means no limit."""

    budget_bytes: int | None
    used_bytes: int
    entries: int
    hits: int
    loads: int
    evictions: int


class _Kept(dict[Any, Any]):
    """What a reader keeps of loaded objects."""

    __slots__ = ("__weakref__",)


class Cache:
    """Loaded objects by key."""

    def __init__(self, budget_bytes: int | None) -> None:
        self.budget_bytes = budget_bytes
        self._held: OrderedDict[Hashable, tuple[Any, int]] = OrderedDict()
        self._kept: dict[int, weakref.ref[_Kept]] = {}  # by identity; each step on it is one dict operation
        self._lock = forks.brief_lock()
        self._used = 0
        self._hits = 0
        self._loads = 0
        self._evictions = 0

    def get(self, key: Hashable, load: Callable[[], tuple[T, int]], *, from_disk: bool = True) -> T:
        """The object with this key; `load` makes it, from a file or from what is already held, and gives its size in
        bytes."""
        with self._lock:
            held = self._held.get(key)
            if held is not None:
                self._held.move_to_end(key)
                self._hits += 1
                found: T = held[0]
                return found
        loaded, size = load()
        with self._lock:
            self._loads += from_disk
            if key not in self._held:
                self._held[key] = (loaded, size)
                self._used += size
            evicted = self._shrink()
        if evicted:
            self._empty_kept()
        return loaded

    def held(self, key: Hashable) -> Any:
        """The object with this key, if it is held; None if it is not."""
        with self._lock:
            held = self._held.get(key)
            if held is None:
                return None
            self._held.move_to_end(key)
            return held[0]

    def new_kept(self) -> dict[Any, Any]:
        """A dictionary for what a reader keeps of loaded objects. It may be empty the next time."""
        made = _Kept()
        self._kept[id(made)] = weakref.ref(made, partial(_drop, self._kept, id(made)))
        return made

    def forget(self, about: Callable[[Any], bool]) -> None:
        """Drop what is no longer needed; not counted as evictions."""
        with self._lock:
            dropped = [self._held.pop(key) for key in [key for key in self._held if about(key)]]
            self._used -= sum(size for _, size in dropped)
        if dropped:
            self._empty_kept()

    def _shrink(self) -> list[Any]:
        """What had to go."""
        evicted = []
        while len(self._held) > 1 and (
            len(self._held) > ENTRIES or (self.budget_bytes is not None and self._used > self.budget_bytes)
        ):
            _, (loaded, size) = self._held.popitem(last=False)
            evicted.append(loaded)
            self._used -= size
            self._evictions += 1
        return evicted

    def _empty_kept(self) -> None:
        for reference in list(self._kept.values()):
            kept = reference()
            if kept is not None:
                kept.clear()

    def searched(self, size: int) -> int:
        """The size that counts for something that is searched rather than read: few of its pages are ever in memory,
        and it must not evict what is."""
        return size if self.budget_bytes is None else min(size, self.budget_bytes // _SEARCHED_SHARE)

    def fits(self, size: int) -> bool:
        """Whether something of this size leaves room for other objects."""
        return self.budget_bytes is None or size * 4 <= self.budget_bytes

    @property
    def statistics(self) -> CacheStatistics:
        """Its counters so far."""
        with self._lock:
            return CacheStatistics(
                self.budget_bytes, self._used, len(self._held), self._hits, self._loads, self._evictions
            )


class Place(NamedTuple):
    """Where a cache holds something that is derived from loaded objects."""

    cache: Cache
    key: Hashable

    def held(self) -> Any:
        """What is held there; None if nothing is."""
        return self.cache.held(self.key)

    def get(self, make: Callable[[], tuple[T, int]]) -> T:
        """What is held there; `make` makes it, and gives its size in bytes."""
        return self.cache.get(self.key, make, from_disk=False)


def _drop(kept: dict[int, weakref.ref[_Kept]], number: int, _: weakref.ref[_Kept]) -> None:
    kept.pop(number, None)


def byte_count(size: str | int, setting: str = "memory") -> int:
    """`512MB`, `4GB`, `1.5 GiB` or a number of bytes; `setting` names it in errors.

    >>> byte_count("512MB")
    512000000
    """
    if isinstance(size, int) and not isinstance(size, bool):
        if size <= 0:
            raise ValueError(f"{setting}={size!r}: a budget must be positive")
        return size
    written = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]I?)?B?\s*", str(size).upper())
    if written is None or float(written[1]) <= 0:
        raise ValueError(f"{setting}={size!r} is not a size: write it like '512MB' or '4GB', or as a number of bytes")
    return int(float(written[1]) * _UNITS[written[2] or ""])


def machine_memory() -> int:
    """The memory of the machine in bytes; 8 GB if it cannot be found out."""
    try:
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    except (AttributeError, ValueError, OSError):
        return 8 * 10**9
