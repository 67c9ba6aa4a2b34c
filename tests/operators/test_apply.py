"""Running one plan over the rows of another."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.memory import Memory
from hoplite.engine.operators.apply import Apply
from hoplite.engine.operators.base import LARGEST_BATCH, SMALL_BATCH, Operator, argument_rows
from hoplite.planner.logical import ROW
from hoplite.values.columns import Integers

ROWS, PARTNERS = 1000, 900


@dataclass(eq=False)
class _Rows(Operator):
    """A number of rows, numbered, in one batch."""

    count: int

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        yield Batch({"i": Integers(np.arange(self.count, dtype=np.int64))}, self.count)


@dataclass(eq=False)
class _Partners(Operator):
    """Partners for every row except multiples of ten; records how many rows it is given at once."""

    asked: list[int]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        self.asked.append(argument.row_count)
        column = argument["i"]
        assert isinstance(column, Integers)
        numbers = argument_rows(argument)
        assert numbers is not None
        rows = np.repeat(numbers[column.values % 10 != 0], PARTNERS)[::-1].copy()  # in another order
        yield Batch({ROW: Integers(rows), "found": Integers(rows * 0 + 1)}, len(rows))


@dataclass
class _Context:
    memory: Memory
    profile: None = None

    def check_time(self) -> None:
        """Never stops."""


def _optional(memory: Memory) -> tuple[list[Batch], list[int]]:
    asked: list[int] = []
    apply = Apply(_Rows(ROWS), _Partners(asked), ("i",), ("found",), optional=True, row_by_row=False)
    return list(apply.run(cast(Any, _Context(memory)), Batch({}, 1))), asked


def test_rows_that_find_many_come_in_bounded_batches_and_in_order() -> None:
    batches, _ = _optional(Memory(None))
    assert max(batch.row_count for batch in batches) <= LARGEST_BATCH
    numbers = np.concatenate([batch["i"].objects() for batch in batches]).tolist()
    expected = [i for i in range(ROWS) for _ in range(PARTNERS if i % 10 else 1)]
    assert numbers == expected
    alone = [batch["i"].objects()[row] for batch in batches for row in np.flatnonzero(batch["found"].null_mask())]
    assert alone == list(range(0, ROWS, 10))


def test_batches_are_small_where_memory_is_short() -> None:
    memory = Memory(1 << 20)
    memory.taken = 1 << 19
    batches, _ = _optional(memory)
    assert max(batch.row_count for batch in batches) <= SMALL_BATCH
