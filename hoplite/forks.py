"""Making forks safe: `os.fork` copies everything, but only the thread that called it.

A lock that another thread held at that moment would stay locked in the child forever, and what it guards could be half
changed. So a fork waits for briefly held locks, and both processes find them free:

    brief_lock()   a new lock of that kind: never held while waiting for another lock
    watch(owner)   from now on, as long as it lives: `owner.before_fork()`, and in the two processes
                   `after_fork_in_parent()` and `after_fork_in_child()`

Owners may wait for their own locks in `before_fork`; these come before all brief ones.
"""

from __future__ import annotations

import logging  # noqa: F401 - its lock is then taken after ours: a holder of ours may still write a log
import os
import threading
import weakref
from functools import partial
from typing import Any, Protocol


class ForkAware(Protocol):
    """Has something to do when the process forks."""

    def before_fork(self) -> None:
        """Wait for what must not be under way."""
        ...

    def after_fork_in_parent(self) -> None:
        """Continue as before."""
        ...

    def after_fork_in_child(self) -> None:
        """Release what belongs to the parent."""
        ...


# By identity, in order of registration. Each step on these is one dict operation, safe between threads.
_owners: dict[int, weakref.ref[ForkAware]] = {}
_brief_locks: dict[int, weakref.ref[Any]] = {}

_forking = threading.Lock()  # one thread at a time; held from before the fork until after it
_told: list[ForkAware] = []
_held: list[Any] = []


def watch(owner: ForkAware) -> None:
    """Tell this object about forks, in order of registration."""
    _owners[id(owner)] = weakref.ref(owner, partial(_forget, _owners, id(owner)))


def brief_lock() -> threading.Lock:
    """A lock that is held briefly, and free in a forked process."""
    lock = threading.Lock()
    wait_for(lock)
    return lock


def wait_for(lock: Any) -> None:
    """Make forks wait for a brief lock created elsewhere."""
    _brief_locks[id(lock)] = weakref.ref(lock, partial(_forget, _brief_locks, id(lock)))


def _forget(known: dict[int, Any], key: int, _: object) -> None:
    known.pop(key, None)


def _before() -> None:
    _forking.acquire()
    _held.append(_forking)
    for reference in _owners.copy().values():
        owner = reference()
        if owner is not None:
            _told.append(owner)
            owner.before_fork()
    for lock_reference in _brief_locks.copy().values():
        lock = lock_reference()
        if lock is not None:
            lock.acquire()
            _held.append(lock)


def _after_in_parent() -> None:
    while _told:
        _told.pop().after_fork_in_parent()
    _release()


def _after_in_child() -> None:
    _told.clear()
    # Not only those told before: forks outside Python's own functions skip that step.
    for reference in _owners.copy().values():
        owner = reference()
        if owner is not None:
            owner.after_fork_in_child()
    _release()


def _release() -> None:
    while _held:  # released in reverse order
        _held.pop().release()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(before=_before, after_in_parent=_after_in_parent, after_in_child=_after_in_child)
