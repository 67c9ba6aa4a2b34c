"""What a statement may use."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, TypeAlias

from hoplite.allowance import Allowance, deadline_after
from hoplite.api.hydrate import Hydrator
from hoplite.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hoplite.engine.prepare import Prepared
    from hoplite.storage.snapshot import Snapshot

Judge: TypeAlias = "Callable[[Prepared, Snapshot, Mapping[str, Any]], None]"
"""Raises if a statement, with its parameters, may not run."""


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
