"""Python's garbage collector, held back for a while; it goes on when the last of those who held it back lets go.

A program that has disabled the collector itself finds it disabled afterwards.
"""

from __future__ import annotations

import gc
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager

_lock = threading.Lock()
_holders: set[object] = set()
_was_enabled = False


def hold_back(holder: object) -> None:
    """No collection begins until this holder lets go; one that is running in another thread goes on."""
    global _was_enabled
    with _lock:
        if not _holders:
            _was_enabled = gc.isenabled()
            gc.disable()
        _holders.add(holder)


def let_go(holder: object) -> None:
    """The holder needs it no longer, or did not hold it back."""
    with _lock:
        if holder in _holders:
            _holders.remove(holder)
            if not _holders and _was_enabled:
                gc.enable()


@contextmanager
def held_back() -> Iterator[None]:
    """For loading modules: hundreds of thousands of objects are made and nearly all stay, so looking through them again
    and again for garbage is a tenth of the time that the engine takes to load.
    """
    holder = object()
    hold_back(holder)
    try:
        yield
    finally:
        if gc.get_freeze_count() == 0:
            # Together these move all objects to the oldest generation at no cost; as young ones they would be looked
            # through at once.
            gc.freeze()
            gc.unfreeze()
        let_go(holder)


def _forget() -> None:
    """In a child process, those who held it back in other threads are gone."""
    global _lock
    _lock = threading.Lock()
    if _holders:
        _holders.clear()
        if _was_enabled:
            gc.enable()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
