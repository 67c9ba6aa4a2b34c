"""What a statement may use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from numbers import Integral, Real
from typing import TYPE_CHECKING, Any, TypeAlias

from hoplite.allowance import Allowance, deadline_after
from hoplite.api.hydrate import Hydrator
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.disk.cache import byte_count

if TYPE_CHECKING:
    from hoplite.engine.prepare import Prepared
    from hoplite.grammar.limits import TextLimits
    from hoplite.storage.disk.graph import Durability
    from hoplite.storage.snapshot import Snapshot

Judge: TypeAlias = "Callable[[Prepared, Snapshot, Mapping[str, Any]], None]"
"""Raises if a statement, with its parameters, may not run."""


def check_number(setting: str, value: Any, what: str, *, whole: bool = False, least: int = 0) -> None:
    """Raise if a setting is not a number of at least `least`."""
    is_number = isinstance(value, Integral if whole else Real) and not isinstance(value, bool)
    if not is_number:
        raise TypeError(f"{setting}={value!r} is not {what}")
    if not value >= least:  # nor is it NaN
        raise ValueError(f"{setting}={value!r}: it must be {least} or more")


def check_settings(
    partitions: int | None, memory: str | int | None, durability: Durability | None, texts: TextLimits
) -> None:
    """Raise if a setting of a database makes no sense, also one that only a database on disk uses."""
    if partitions is not None:
        check_number("partitions", partitions, "a number of partitions", whole=True, least=1)
    if memory is not None:
        byte_count(memory)
    if durability not in (None, "full", "relaxed"):
        raise ValueError(f"durability={durability!r}: it is 'full' or 'relaxed'")
    check_number("max_text_length", texts.max_text_length, "a number of characters", whole=True)
    check_number("max_tokens", texts.max_tokens, "a number of tokens", whole=True)
    check_number("max_nesting", texts.max_nesting, "a number of levels", whole=True)


@dataclass(frozen=True, slots=True)
class Limits:
    """What a statement may use, who may stop it, and what is attached to its transaction. None means no limit."""

    timeout: float | None = None
    max_rows: int | None = None
    read_only: bool = False
    memory_bytes: int | None = None
    stop: threading.Event | None = None  # set from another thread to end the statement
    metadata: dict[str, Any] | None = None  # as `tx.getMetaData` shows it and `tx.setMetaData` changes it
    judge: Judge | None = None  # called for every statement, and for those that it runs in turn
    hydrator: type[Hydrator] = Hydrator  # makes the values of rows
    _without_deadline: Allowance = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        if self.timeout is not None:
            check_number("timeout", self.timeout, "a number of seconds")
        if self.max_rows is not None:
            check_number("max_rows", self.max_rows, "a number of rows", whole=True)
        object.__setattr__(self, "_without_deadline", Allowance(None, self.stop, self.memory_bytes))

    def allowance(self) -> Allowance:
        """What a statement that begins now may use."""
        if self.timeout is None:
            return self._without_deadline
        return Allowance(deadline_after(self.timeout), self.stop, self.memory_bytes)

    def within(self, timeout: float | None, max_rows: int | None, read_only: bool | None) -> Limits:
        """These limits with some replaced; a read-only database stays read-only."""
        return replace(
            self,
            timeout=self.timeout if timeout is None else timeout,
            max_rows=self.max_rows if max_rows is None else max_rows,
            read_only=self.read_only or bool(read_only),
        )
