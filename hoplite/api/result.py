"""Results: batches on their way out, as records, data frames, Arrow tables, or a graph. Rows are made on demand.

A result holds its version of the graph only until its last row is made, so keeping a result costs no more than its
rows. It makes a few rows at first, and more as they are read: the others stay in columns.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cache, partial
from time import perf_counter
from types import MappingProxyType, ModuleType
from typing import TYPE_CHECKING, Any

from hoplite.api.hydrate import Hydrator
from hoplite.api.outcome import summary_metadata
from hoplite.api.plain_data import plain_rows
from hoplite.engine.batch import Batch
from hoplite.engine.context import Counters, Execution
from hoplite.engine.guard import Guarded, interruptible
from hoplite.engine.prepare import Prepared
from hoplite.errors import CypherError, nested_too_deeply, out_of_memory, to_driver_error
from hoplite.values.columns import Column, Objects

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow
    from neo4j import Record, ResultSummary
    from neo4j.graph import Graph

    from hoplite.api.records import RecordMaker, Row
    from hoplite.planner.explain import Measurement
    from hoplite.planner.notifications import Notification


@cache
def _arrow() -> ModuleType:
    """The module that makes tables, imported once, for the first table."""
    from hoplite.api import arrow

    return arrow


@cache
def _record_makers() -> Callable[[tuple[str, ...], bool], RecordMaker]:
    """The module that makes records, imported with the driver for the first record."""
    from hoplite.api.records import record_maker

    return record_maker


_NOTHING_CHANGED = Counters()
_NO_BATCHES: Iterator[Batch] = iter(())
_SHOWN_ROWS = 5
_FIRST_ROWS = 64
"""The number of rows made at first; each time twice as many as before."""


class _Reading(Guarded):
    """`with _Reading(result):` the statement runs. Work on its rows counts towards its limits too."""

    def __init__(self, result: Result) -> None:
        self._result = result
        self._execution = result._execution

    def _fail(self, error: BaseException, reason: CypherError | None) -> None:
        self._result._end()
        match reason or error:
            case CypherError() as found:
                raise to_driver_error(found) from None
            case RecursionError():
                raise to_driver_error(nested_too_deeply()) from None
            case MemoryError():
                raise to_driver_error(out_of_memory()) from None


class Result:
    """The answer to one statement: an iterable of `neo4j.Record`, read once, and then a summary."""

    # Most results never change these, and making one is a large part of a short statement.
    _counters = _NOTHING_CHANGED  # as they are at the end, like the next two
    _notifications: Sequence[Notification] = ()
    _measured: Mapping[int, Measurement] = MappingProxyType({})
    _hydrator: Hydrator | None = None  # once a value was made, and until the end
    _entities: Graph | None = None  # those of the hydrator, once it is gone
    _begun: Batch | None = None  # a batch of which this many rows are made
    _made = 0
    _step = _FIRST_ROWS
    _is_plain = True  # no value read so far can be broken
    _row_count = 0
    _available: float | None = None  # when the first row was, like `_began`
    _ended = False
    _summary: ResultSummary | None = None
    _failure: Exception | None = None  # raised while the first rows were shown; kept for the reader

    def __init__(
        self,
        prepared: Prepared,
        batches: Iterator[Batch],
        execution: Execution | None,
        parameters: Mapping[str, Any],
        max_rows: int | None,
        owner: object = None,
        hydrator: type[Hydrator] = Hydrator,
    ) -> None:
        """`owner` is held until the last row is made: without it, what the rows are read from may be released."""
        self._prepared = prepared
        self._batches = batches
        self._execution = execution
        self._parameters = parameters
        self._max_rows = max_rows
        self._owner = owner
        self._make_hydrator = hydrator
        self._buffer: list[Record] = []  # read and not yet returned, the next one last
        self._waiting: list[Row] = []  # those after them, where all were read into memory
        self._began = perf_counter()

    # --- reading -----------------------------------------------------------------------------------------------

    def keys(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._prepared.columns

    def __iter__(self) -> Iterator[Record]:
        while self._buffer or self._more():
            buffer = self._buffer
            take = buffer.pop
            while buffer and buffer is self._buffer:  # reading everything inside a loop empties it
                yield take()

    def __next__(self) -> Record:
        if not self._buffer and not self._more():
            raise StopIteration
        return self._buffer.pop()

    def _next_batch(self, most: int | None = None) -> Batch | None:
        """The next rows of a batch, all that are left or at most `count`; None at the end. Called under `_Reading`."""
        batch, first = self._begun, self._made
        if batch is None:
            batch, first = self._read_batch(), 0
            if batch is None:
                return None
        last = batch.row_count if most is None else first + most
        if last < batch.row_count:
            self._begun, self._made = batch, last
            return batch.rows(first, last)
        self._begun = None
        return batch.rows(first, last) if first else batch

    def _read_batch(self) -> Batch | None:
        """The next batch that has rows; None at the end."""
        if self._failure is not None:
            failure, self._failure = self._failure, None
            raise failure
        if self._ended:
            return None
        for batch in self._batches:
            count = batch.row_count
            if not count:
                continue
            if not self._row_count:
                self._available = perf_counter()
            self._row_count += count
            if self._max_rows is not None and self._row_count > self._max_rows:
                raise CypherError(
                    "Neo.ClientError.Statement.ResultLimitExceeded",
                    f"The query returned more than the {self._max_rows} rows allowed by max_rows. "
                    "Add a LIMIT, aggregate, or raise max_rows.",
                )
            return batch
        self._batches = _NO_BATCHES
        self._end()
        return None

    def _more(self) -> bool:
        """Make some of the next rows."""
        with _Reading(self):
            rows = self._next_rows(self._step)
            if rows is None:
                return False
            self._step *= 2
            self._buffer = self._records(rows)
            return True

    def _records(self, rows: list[Row]) -> list[Record]:
        """The records of rows, in reverse order."""
        return list(map(self._record_maker(), reversed(rows)))

    def _record_maker(self) -> RecordMaker:
        return _record_makers()(self._prepared.columns, self._is_plain)

    def _taken(self, most: int | None = None) -> list[Row]:
        """The pending rows, or at most `count` of them. A sum of tuples does not touch values, which could be
        broken."""
        kept = 0 if most is None else max(len(self._buffer) - most, 0)
        rows = [tuple.__add__(record, ()) for record in reversed(self._buffer[kept:])]
        self._buffer = self._buffer[:kept]
        return rows

    def next_rows(self, most: int | None = None) -> list[Row] | None:
        """Some more rows, as the driver's values; None at the end."""
        with _Reading(self):
            return self._next_rows(most)

    @property
    def is_unread(self) -> bool:
        """Whether nothing has looked for rows yet, although there may be some."""
        prepared = self._prepared
        is_lazy = prepared.mode is None and bool(prepared.columns) and not prepared.writes
        return is_lazy and not self._ended and not self._row_count and prepared.query_type != "s"

    def is_at_end(self) -> bool:
        """Whether no row is left; reads ahead if that is not known."""
        if self._buffer or self._waiting or self._begun is not None:
            return False
        with _Reading(self):
            self._begun, self._made = self._read_batch(), 0
        return self._begun is None

    def skip_rows(self, count: int) -> int:
        """Skip rows without making them; returns how many there were."""
        skipped = len(self._taken(count))
        waiting = min(len(self._waiting), count - skipped)
        self._waiting, skipped = self._waiting[waiting:], skipped + waiting
        with _Reading(self):
            while skipped < count and (batch := self._next_batch(count - skipped)) is not None:
                skipped += batch.row_count
        return skipped

    def _next_rows(self, most: int | None = None) -> list[Row] | None:
        if self._buffer:
            return self._taken(most)
        if self._waiting:
            rows, self._waiting = (self._waiting, []) if most is None else (self._waiting[:most], self._waiting[most:])
            return rows
        batch = self._next_batch(most)
        return None if batch is None else self._rows(batch)

    def _rows(self, batch: Batch) -> list[Row]:
        columns = self._columns(batch)
        return list(zip(*columns, strict=True)) if columns else [()] * batch.row_count

    def _columns(self, batch: Batch) -> list[list[Any]]:
        """The columns of a batch, as the driver's values."""
        hydrate, found = self._hydrating().column, []
        for name in self._prepared.columns:
            column = batch.columns[name]
            if isinstance(column, Objects):
                self._is_plain = False
            found.append(hydrate(column))
        return found

    def _hydrating(self) -> Hydrator:
        """The hydrator of this result."""
        hydrator = self._hydrator
        if hydrator is None:
            execution = self._execution
            assert execution is not None
            hydrator = self._hydrator = self._make_hydrator(execution.graph, execution.check_time)
        return hydrator

    def _end(self) -> None:
        """Keep what the summary needs, and release the graph."""
        if self._ended:
            return
        self._ended = True
        batches, execution, hydrator = self._batches, self._execution, self._hydrator
        if batches is not _NO_BATCHES:
            self._batches = _NO_BATCHES
            close = getattr(batches, "close", None)
            if close is not None:
                close()
        self._begun = self._execution = self._hydrator = self._owner = None
        if execution is not None:
            if execution.changes is not None:
                self._counters = execution.changes
            if execution.notes is not None:
                self._notifications = execution.notes
            if execution.profile is not None:
                self._measured = execution.profile.measured
        if hydrator is not None:
            self._entities = hydrator.made_graph()

    def detach(self) -> None:
        """Read everything into memory, so that the result no longer depends on the transaction it came from."""
        rows: list[Row] = []
        with _Reading(self):
            while (some := self._next_rows()) is not None:
                rows += some
            self._waiting = rows

    # --- as the driver offers it -------------------------------------------------------------------------------

    def fetch(self, count: int) -> list[Record]:
        """Up to `count` more records."""
        found = []
        for record in self:
            found.append(record)
            if len(found) == count:
                break
        return found

    def peek(self) -> Record | None:
        """The next record, without consuming it."""
        if not self._buffer and not self._more():
            return None
        return self._buffer[-1]

    def single(self, strict: bool = False) -> Record | None:
        """The only record; None if there is none. More than one is a warning, or an error if `strict`."""
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
        found: list[Any] = []
        with _Reading(self):
            if self._buffer or self._waiting:
                make = self._record_maker()
                while (self._buffer or self._waiting) and (rows := self._next_rows()) is not None:
                    found += [make(row).value(key, default) for row in rows]
            while (batch := self._next_batch()) is not None:
                if isinstance(place, int) and 0 <= place < len(names) and not isinstance(batch[names[place]], Objects):
                    found += self._columns(batch)[place]  # records of all rows would take twenty times as long
                else:
                    rows = self._rows(batch)
                    make = self._record_maker()
                    found += [make(row).value(key, default) for row in rows]
        return found

    def values(self, *keys: int | str) -> list[list[Any]]:
        """The rows as lists."""
        found: list[list[Any]] = []
        with _Reading(self):
            while (rows := self._next_rows()) is not None:
                if self._is_plain and not keys:
                    found += map(list, rows)
                else:
                    make = self._record_maker()
                    found += [make(row).values(*keys) for row in rows]
        return found

    def each_row(self) -> Iterator[Sequence[Any]]:
        """The values of each row, row by row. Plain values are read without the driver."""
        while (rows := self.next_rows(self._step)) is not None:
            self._step *= 2
            if self._is_plain:
                yield from rows
            else:
                make = self._record_maker()
                for row in rows:
                    yield make(row).values()

    def data(self, *keys: int | str) -> list[dict[str, Any]]:
        """The rows as dictionaries of plain values."""
        found: list[dict[str, Any]] = []
        with _Reading(self):
            while (some := self._next_columns()) is not None:
                columns, row_count = some
                with interruptible():
                    plain = None if keys else plain_rows(self._prepared.columns, columns, row_count)
                    if plain is None:  # the driver selects columns, and reports values that it does not know
                        make = self._record_maker()
                        rows = zip(*(values for _, values in columns), strict=True)
                        plain = [make(row).data(*keys) for row in rows]
                found += plain
        return found

    def _next_columns(self) -> tuple[list[tuple[Column | None, Sequence[Any]]], int] | None:
        """The values of some more rows by column, each with the column it comes from, if any."""
        names = self._prepared.columns
        if self._buffer or self._waiting:
            rows = self._next_rows() or []
            return [(None, [row[place] for row in rows]) for place in range(len(names))], len(rows)
        batch = self._next_batch()
        if batch is None:
            return None
        values = self._columns(batch)
        return [(batch[name], column) for name, column in zip(names, values, strict=True)], batch.row_count

    @property
    def entities(self) -> Graph:
        """The graph of the nodes and relationships read so far."""
        from neo4j.graph import Graph

        if self._execution is not None:
            return self._hydrating().graph
        return Graph() if self._entities is None else self._entities

    def graph(self) -> Graph:
        """All nodes and relationships of the result."""
        self.detach()
        return self.entities

    def to_df(self, *, parse_dates: bool = True) -> pandas.DataFrame:
        """The rows as a pandas DataFrame (extra `pandas`). Columns of dates and of points in time are typed, unless
        `parse_dates` is false: then they hold the driver's values, like all other columns that are not plain."""
        from hoplite.api.frames import to_pandas

        return to_pandas(self.keys(), self.values(), parse_dates)

    def to_polars(self) -> polars.DataFrame:
        """The rows as a Polars DataFrame (extra `polars`), by way of `to_arrow`."""
        from hoplite.api.frames import to_polars

        return to_polars(self.to_arrow())

    def to_networkx(self) -> Any:
        """All nodes and relationships of the result as a NetworkX MultiDiGraph (extra `networkx`), in the form that
        `Database.to_networkx` gives a whole graph."""
        from hoplite.api.frames import to_networkx

        return to_networkx(self.graph())

    def to_arrow(self) -> pyarrow.Table:
        """The rows as an Arrow table; numbers and strings are exported without a Python object for each."""
        arrow = _arrow()
        execution = self._execution
        if execution is None or self._buffer or self._waiting:
            self.detach()
            rows, self._waiting = self._waiting, []
            waiting: pyarrow.Table = arrow.rows_to_table(self._prepared.columns, rows)
            return waiting
        with _Reading(self):
            batches = []
            batch = self._read_batch() if self._begun is None else self._next_batch()
            while batch is not None:
                batches.append(batch)
                batch = self._read_batch()
            table: pyarrow.Table = arrow.to_table(
                self._prepared.columns, batches, partial(self._make_hydrator, execution.graph, execution.check_time)
            )
        return table

    # --- the end -----------------------------------------------------------------------------------------------

    def consume(self) -> ResultSummary:
        """Discard the remaining rows, and return the summary."""
        from hoplite.api.summary import make_summary, server_info

        if self._summary is None:
            metadata = {
                "query": self._prepared.text,
                "parameters": dict(self._parameters),
                "server": server_info(),
                "t_first": 0 if self._available is None else int((self._available - self._began) * 1000),
                **self.end(),
            }
            self._summary = make_summary(metadata, self._prepared.columns, self._row_count)
        return self._summary

    def end(self) -> dict[str, Any]:
        """Discard the remaining rows, and return what a server would send at the end."""
        if self._prepared.mode == "PROFILE":
            self.detach()  # a profile is of the whole run
        self._buffer, self._waiting = [], []
        self._end()
        elapsed = int((perf_counter() - self._began) * 1000)
        return summary_metadata(
            self._prepared, self._counters, self._notifications, self._row_count, elapsed, self._measured
        )

    @property
    def measured(self) -> Mapping[int, Measurement]:
        """What each operator did, by the identity of its plan, once a statement under PROFILE has ended."""
        return self._measured

    def cancel(self) -> None:
        """Stop the query; may be called from another thread."""
        execution = self._execution
        if execution is not None:
            if execution.cancelled is None:
                execution.cancelled = threading.Event()
            execution.cancelled.set()

    @property
    def graph_version(self) -> int | None:
        """The version of the graph being read; None if the statement writes, or has ended."""
        execution = self._execution
        return None if execution is None or execution.writer is not None else execution.graph.version

    def close(self) -> None:
        """Release what the result holds."""
        self._buffer, self._waiting = [], []
        self._end()

    def __enter__(self) -> Result:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        """The text and the next rows. These can still be read afterwards, and so can an error that they end in."""
        self._look_ahead(_SHOWN_ROWS + 1)
        shown = [f"  {record!r}" for record in reversed(self._buffer[-_SHOWN_ROWS:])]
        if len(self._buffer) > _SHOWN_ROWS:
            shown.append("  ...")
        elif self._failure is not None:
            shown.append(f"  {self._failure}")
        elif not shown:
            return f"<Result of {self._prepared.text!r}, no {'more ' if self._row_count else ''}rows>"
        return "\n".join((f"<Result of {self._prepared.text!r}", *shown)) + ">"

    def _repr_html_(self) -> str:
        from hoplite.api.display import ROWS_SHOWN, result_html, said

        columns = self._prepared.columns
        return result_html(columns, *self.first_rows(ROWS_SHOWN)) if columns else said(repr(self))

    def first_rows(self, count: int) -> tuple[list[Row], bool]:
        """The next rows, which can still be read afterwards, and whether there are more."""
        self._look_ahead(count + 1)
        rows = [tuple.__add__(record, ()) for record in reversed(self._buffer[-count:])]
        return rows, len(self._buffer) > count

    def _look_ahead(self, count: int) -> None:
        """Make this many rows, if there are that many. An error is kept for the reader."""
        while len(self._buffer) < count and self._failure is None:
            records, self._buffer = self._buffer, []
            try:
                is_end = not self._more()
            except Exception as error:
                self._failure, is_end = error, True
            self._buffer += records
            if is_end:
                return
