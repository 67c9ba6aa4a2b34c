"""Results: batches on their way out, as records, data frames, Arrow tables, or a graph. Rows are made when asked
for.
"""

from __future__ import annotations

import threading
import time
import warnings
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import ModuleType
from typing import TYPE_CHECKING, Any

from neo4j import ResultSummary

from hoplite.engine.batch import Batch
from hoplite.engine.context import Counters, Execution
from hoplite.engine.hydrate import Hydrator
from hoplite.engine.prepare import Prepared
from hoplite.engine.records import RecordMaker, Row, record_maker
from hoplite.engine.summary import make_summary, server_info, summary_metadata
from hoplite.errors import CypherError, nested_too_deeply, out_of_memory, to_driver_error
from hoplite.values.columns import Objects

if TYPE_CHECKING:
    import pandas
    import pyarrow
    from neo4j import Record
    from neo4j.graph import Graph


@cache
def _arrow() -> ModuleType:
    """What makes tables, loaded when the first one is asked for, and not looked for again."""
    from hoplite.engine import arrow

    return arrow


class Result:
    """The answer to one statement: an iterable of `neo4j.Record`, read once, and then a summary."""

    def __init__(
        self,
        prepared: Prepared,
        batches: Iterator[Batch],
        execution: Execution | None,
        parameters: Mapping[str, Any],
        max_rows: int | None,
        on_end: Callable[[], None],
    ) -> None:
        self._prepared = prepared
        self._batches = batches
        self._execution = execution
        self._parameters = parameters
        self._max_rows = max_rows
        self._on_end: Callable[[], None] | None = on_end
        self._hydrator = None if execution is None else Hydrator(execution.graph)
        self._buffer: list[Record] = []  # read and not yet handed out, the next one last
        self._record: RecordMaker = record_maker(prepared.columns, True)
        self._is_plain = True  # no value read so far can be broken
        self._row_count = 0
        self._began = time.perf_counter()
        self._available_ms = 0
        self._ended = False
        self._summary: ResultSummary | None = None

    # --- reading -----------------------------------------------------------------------------------------------

    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._prepared.columns

    def __iter__(self) -> Iterator[Record]:
        while self._buffer or self._more():
            buffer = self._buffer
            take = buffer.pop
            while buffer and buffer is self._buffer:  # whoever reads all in the middle of a loop leaves none for it
                yield take()

    def __next__(self) -> Record:
        if not self._buffer and not self._more():
            raise StopIteration
        return self._buffer.pop()

    def _next_batch(self) -> Batch | None:
        """The next batch with rows in it; None at the end."""
        if self._ended:
            return None
        try:
            for batch in self._batches:
                if not batch.row_count:
                    continue
                if not self._row_count:
                    self._available_ms = int((time.perf_counter() - self._began) * 1000)
                self._row_count += batch.row_count
                if self._max_rows is not None and self._row_count > self._max_rows:
                    raise CypherError(
                        "Neo.ClientError.Statement.ResultLimitExceeded",
                        f"The query returned more than the {self._max_rows} rows allowed by max_rows. "
                        "Add a LIMIT, aggregate, or raise max_rows.",
                    )
                return batch
        except CypherError as error:
            self._end()
            raise to_driver_error(error) from None
        except RecursionError:
            self._end()
            raise to_driver_error(nested_too_deeply()) from None
        except MemoryError:
            self._end()
            raise to_driver_error(out_of_memory()) from None
        except BaseException:
            self._end()
            raise
        self._end()
        return None

    def _more(self) -> bool:
        """Read the rows of the next batch."""
        rows = self.next_rows()
        if rows is None:
            return False
        self._buffer = self._records(rows)
        return True

    def _records(self, rows: list[Row]) -> list[Record]:
        """The records of rows, the first one last."""
        return list(map(self._record, reversed(rows)))

    def _taken(self) -> list[Row]:
        """All rows that are waiting. A sum of tuples looks at no value, which could be broken."""
        rows = [tuple.__add__(record, ()) for record in reversed(self._buffer)]
        self._buffer = []
        return rows

    def next_rows(self) -> list[Row] | None:
        """Some further rows, in the driver's values; None at the end."""
        if self._buffer:
            return self._taken()
        batch = self._next_batch()
        if batch is None:
            return None
        return self._rows(batch)

    def _rows(self, batch: Batch) -> list[Row]:
        columns = self._columns(batch)
        return list(zip(*columns, strict=True)) if columns else [()] * batch.row_count

    def _columns(self, batch: Batch) -> list[list[Any]]:
        """The columns of a batch, in the driver's values."""
        assert self._hydrator is not None
        if any(isinstance(batch[key], Objects) for key in self._prepared.columns):
            self._record, self._is_plain = record_maker(self._prepared.columns, False), False
        try:
            return [self._hydrator.column(batch[key]) for key in self._prepared.columns]
        except CypherError as error:
            self._end()
            raise to_driver_error(error) from None

    def _end(self) -> None:
        if not self._ended:
            self._ended = True
            close = getattr(self._batches, "close", None)
            if close is not None:
                close()
            if self._on_end is not None:
                self._on_end()
                self._on_end = None

    def detach(self) -> None:
        """Read everything into memory, so that the result no longer depends on the transaction it came from."""
        rows: list[Row] = []
        while (some := self.next_rows()) is not None:
            rows += some
        self._buffer = self._records(rows)

    # --- as the driver offers it -------------------------------------------------------------------------------

    def fetch(self, count: int) -> list[Record]:
        """Up to `count` further records."""
        found = []
        for record in self:
            found.append(record)
            if len(found) == count:
                break
        return found

    def peek(self) -> Record | None:
        """The next record, without taking it."""
        if not self._buffer and not self._more():
            return None
        return self._buffer[-1]

    def single(self, strict: bool = False) -> Record | None:
        """The only record; None where there is none. More than one is a warning, or an error where strict."""
        from neo4j.exceptions import ResultNotSingleError

        records = self.fetch(2)
        if len(records) == 1:
            return records[0]
        if not records:
            if strict:
                raise ResultNotSingleError(self, "No records found. Make sure your query returns exactly one record.")
            return None
        message = "Expected a result with a single record, but found multiple."
        if strict:
            raise ResultNotSingleError(self, message)
        warnings.warn(message, stacklevel=2)
        self.consume()
        return records[0]

    def value(self, key: int | str = 0, default: Any = None) -> list[Any]:
        """One column as a list."""
        names = self._prepared.columns
        place = names.index(key) if isinstance(key, str) and key in names else key
        found = [record.value(key, default) for record in reversed(self._buffer)]
        self._buffer = []
        while (batch := self._next_batch()) is not None:
            if isinstance(place, int) and 0 <= place < len(names) and not isinstance(batch[names[place]], Objects):
                found += self._columns(batch)[place]  # records of all rows would take twenty times as long
            else:
                found += [self._record(row).value(key, default) for row in self._rows(batch)]
        return found

    def values(self, *keys: int | str) -> list[list[Any]]:
        """The rows as lists."""
        found: list[list[Any]] = []
        while (rows := self.next_rows()) is not None:
            if self._is_plain and not keys:
                found += map(list, rows)
            else:
                found += [self._record(row).values(*keys) for row in rows]
        return found

    def data(self, *keys: int | str) -> list[dict[str, Any]]:
        """The rows as dictionaries of plain values."""
        return [record.data(*keys) for record in self]

    @property
    def entities(self) -> Graph:
        """The graph that the nodes and relationships read so far belong to."""
        from neo4j.graph import Graph

        return Graph() if self._hydrator is None else self._hydrator.graph

    def graph(self) -> Graph:
        """All nodes and relationships of the result."""
        self.detach()
        return self.entities

    def to_df(self) -> pandas.DataFrame:
        """The rows as a pandas DataFrame."""
        import pandas

        return pandas.DataFrame(self.values(), columns=list(self.keys()))

    def to_arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table; numbers and strings go out without a Python object for each."""
        arrow = _arrow()
        if self._hydrator is None or self._buffer:
            self.detach()
            waiting: pyarrow.Table = arrow.rows_to_table(self._prepared.columns, self._taken())
            return waiting
        batches: list[Batch] = []
        while (batch := self._next_batch()) is not None:
            batches.append(batch)
        table: pyarrow.Table = arrow.to_table(self._prepared.columns, batches, self._hydrator)
        return table

    # --- the end -----------------------------------------------------------------------------------------------

    def consume(self) -> ResultSummary:
        """Give up the rows that are left, and return the summary."""
        if self._summary is None:
            metadata = {
                "query": self._prepared.text,
                "parameters": dict(self._parameters),
                "server": server_info(),
                "t_first": self._available_ms,
                **self.end(),
            }
            self._summary = make_summary(metadata, self._prepared.columns, self._row_count)
        return self._summary

    def end(self) -> dict[str, Any]:
        """Give up the rows that are left, and return what a server would send at the end."""
        if self._prepared.mode == "PROFILE":
            self.detach()  # a profile is of the whole run
        self._buffer = []
        self._end()
        execution = self._execution
        elapsed = int((time.perf_counter() - self._began) * 1000)
        if execution is None:
            return summary_metadata(self._prepared, Counters(), (), self._row_count, elapsed, {})
        return summary_metadata(
            self._prepared,
            execution.counters,
            execution.notifications,
            self._row_count,
            elapsed,
            execution.measured,
        )

    def cancel(self) -> None:
        """Stop the query; may be called from another thread."""
        if self._execution is not None:
            if self._execution.cancelled is None:
                self._execution.cancelled = threading.Event()
            self._execution.cancelled.set()

    def close(self) -> None:
        """Release what the result holds."""
        self._buffer = []
        self._end()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Result {self._prepared.text!r}>"
