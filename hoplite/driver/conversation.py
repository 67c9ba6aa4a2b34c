"""One conversation with a database: what a server does with the messages of one connection.

A message (`begin`, `run`, `pull`, `discard`, `commit`, `rollback`) is a generator of replies: lists of rows, and then,
as its return value, the metadata that ends it. Errors are the driver's. After an error the conversation must be
`reset`. Messages are processed one at a time by `next_reply`; meanwhile `stop` may be called from another thread.
"""

from __future__ import annotations

import base64
import threading
import time
import uuid
from collections.abc import Generator, Mapping
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, Protocol

from hoplite.allowance import Allowance
from hoplite.api.database import Database
from hoplite.api.limits import Limits
from hoplite.api.outcome import DATABASE, of_administration, of_unread
from hoplite.api.result import Result
from hoplite.api.transaction import Transaction
from hoplite.driver.notifications import NotificationFilter
from hoplite.driver.system_database import SYSTEM, open_system, refusal
from hoplite.errors import (
    ACCESS_MODE,
    ARGUMENT_ERROR,
    DATABASE_NOT_FOUND,
    CypherError,
    cypher_error,
    execution_failed,
    to_driver_error,
    transaction_timed_out,
)
from hoplite.gql_status import status
from hoplite.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from neo4j.exceptions import DriverError, Neo4jError
    from neo4j.graph import Graph

    from hoplite.api.records import Row

Metadata = dict[str, Any]
Replies = Generator["list[Row]", None, Metadata]

NEWEST = -1  # the result of the last statement that was run
EVERYTHING = -1  # of its rows


@dataclass(frozen=True, slots=True)
class Terms:
    """What a client specifies when it begins a transaction."""

    database: str | None = None
    read_only: bool = False
    timeout: float | None = None  # seconds; 0 is no limit
    metadata: Mapping[str, Any] | None = None
    impersonated_user: str | None = None
    notifications: NotificationFilter = field(default_factory=NotificationFilter)


class Scope(Protocol):
    """Told which graph the nodes and relationships of a result belong to."""

    graph: Graph


@dataclass(slots=True)
class _Stream:
    """The rows of one statement on their way to the client, or the error that replaces them."""

    result: Result | None
    terms: Terms
    failure: Neo4jError | None = None

    def take(self, count: int) -> list[Row] | None:
        """The next available rows, up to `count`; None at the end."""
        if self.failure is not None:
            raise self.failure
        assert self.result is not None
        return self.result.next_rows(None if count == EVERYTHING else count)

    def skip(self, count: int) -> bool:
        """Skip `count` rows; returns whether there were that many, so that more may follow."""
        if count == EVERYTHING or self.failure is not None:
            return False
        assert self.result is not None
        return self.result.skip_rows(count) == count

    def is_at_end(self) -> bool:
        """Whether no row is left. An error in looking for the next one is raised when it is asked for."""
        try:
            return self.result is not None and self.result.is_at_end()
        except neo4j_error() as error:
            self.failure = error
            return False

    def end(self) -> Metadata:
        """The metadata after the last row; the remaining rows are discarded."""
        if self.failure is not None:
            raise self.failure
        assert self.result is not None
        is_unread = self.result.is_unread
        metadata = self.result.end()
        if _name(self.terms) == SYSTEM:
            metadata = of_administration(metadata)
        elif is_unread:
            metadata = of_unread(metadata)
        metadata["statuses"] = self.terms.notifications.wanted(metadata["statuses"])
        metadata["db"] = _name(self.terms)
        return metadata


@dataclass(slots=True)
class _Open:
    """An explicit transaction, and its terms."""

    transaction: Transaction
    terms: Terms
    limits: Limits
    deadline: float | None

    def current_limits(self) -> Limits:
        """The limits of the next statement, with the time that is left."""
        if self.deadline is None:
            return self.limits
        left = self.deadline - time.monotonic()
        if left <= 0:
            raise to_driver_error(transaction_timed_out())
        return replace(self.limits, timeout=left)


def neo4j_error() -> type[Neo4jError]:
    """What a server reports as the error. The driver package is imported for the first one, which takes a while."""
    from neo4j.exceptions import Neo4jError

    return Neo4jError


def driver_error() -> type[DriverError]:
    """An error on the way to a server."""
    from neo4j.exceptions import DriverError

    return DriverError


class Conversation:
    """The server's side of a connection."""

    def __init__(self, database: Database, limits: Limits | None = None) -> None:
        """`limits` default to the database's."""
        self._database = database
        self._own_limits = database._limits if limits is None else limits
        self._open: _Open | None = None
        self._streams: dict[int, _Stream] = {}
        self._newest = -1
        self._stop = threading.Event()
        self._working = threading.Lock()
        self._stopped = False

    @property
    def is_open(self) -> bool:
        """Whether an explicit transaction is open."""
        return self._open is not None

    def has_result(self, number: int = NEWEST) -> bool:
        """Whether that result is waiting to be read."""
        return (self._newest if number == NEWEST else number) in self._streams

    @property
    def is_idle(self) -> bool:
        """Whether no transaction is open, and no result is waiting to be read."""
        return self._open is None and not self._streams

    # --- messages ----------------------------------------------------------------------------------------------

    def begin(self, terms: Terms) -> Replies:
        """Open an explicit transaction."""
        database = self._database_of(terms)
        limits = self._limits(database, terms)
        deadline = None if limits.timeout is None else time.monotonic() + limits.timeout
        self._open = _Open(Transaction(database, limits), terms, limits, deadline)
        self._newest = -1  # results are numbered anew in each transaction
        return {"db": _name(terms)}
        yield  # a message without rows

    def run(
        self,
        text: str,
        given: Mapping[str, Any],
        parameters: Mapping[str, Any],
        terms: Terms,
        scope: Scope | None = None,
    ) -> Replies:
        """Run a statement in the open transaction, or in its own under these terms.

        Errors in the statement are raised here. Errors while it runs are raised when its rows are pulled, unless it has
        none.
        """
        began = time.perf_counter()
        explicit = self._open
        terms = terms if explicit is None else explicit.terms
        database = self._database_of(terms, text)
        limits = self._limits(database, terms) if explicit is None else explicit.current_limits()
        try:
            if explicit is None:
                result = database._run_alone(text, given, limits, parameters)
            else:
                result = explicit.transaction._run(text, given, parameters, limits)
        except neo4j_error() as error:
            columns = () if error.code == ACCESS_MODE else _columns(database, text, parameters)
            if not columns:
                raise
            stream = _Stream(None, terms, error)
        else:
            columns = result.keys()
            stream = _Stream(result, terms)
            if scope is not None:
                scope.graph = result.entities
        self._newest = number = self._newest + 1
        self._streams[number] = stream
        metadata = {"t_first": int((time.perf_counter() - began) * 1000), "fields": list(columns), "db": _name(terms)}
        return metadata if explicit is None else {**metadata, "qid": number}
        yield  # a message without rows

    def pull(self, count: int, number: int) -> Replies:
        """Up to `count` rows of a result, in pieces as they are found."""
        stream = self._stream(number)
        left = count
        while left:
            rows = stream.take(left)
            if rows is None:
                return self._finish(number)
            yield rows
            if count != EVERYTHING:
                left -= len(rows)
        return self._finish(number) if stream.is_at_end() else {"has_more": True}

    def discard(self, count: int, number: int) -> Replies:
        """Discard `count` rows of a result."""
        stream = self._stream(number)
        if stream.skip(count) and not stream.is_at_end():
            return {"has_more": True}
        return self._finish(number)
        yield  # a message without rows

    def commit(self) -> Replies:
        """Commit the open transaction."""
        assert self._open is not None
        self._open.current_limits()
        opened, self._open = self._open, None
        self._streams.clear()
        try:
            opened.transaction.commit()
        except BaseException:
            opened.transaction.rollback()
            raise
        return {"bookmark": self._bookmark(), "db": _name(opened.terms)}
        yield  # a message without rows

    def rollback(self) -> Replies:
        """Undo the open transaction."""
        self.reset()
        return {}
        yield  # a message without rows

    # --- working on them ---------------------------------------------------------------------------------------

    def next_reply(self, replies: Replies) -> list[Row] | Metadata:
        """The next rows of a message, or the metadata at its end."""
        with self._working:
            try:
                return next(replies)
            except StopIteration as end:
                metadata: Metadata = end.value
                return metadata
            except Exception as error:
                if isinstance(error, (neo4j_error(), driver_error())):
                    raise
                raise to_driver_error(execution_failed(f"{type(error).__name__}: {error}")) from error
            finally:
                if self._stopped:
                    self.reset()

    def reset(self) -> None:
        """Give up everything that is open."""
        streams, self._streams = self._streams, {}
        for stream in streams.values():
            if stream.result is not None:
                stream.result.close()
        opened, self._open = self._open, None
        if opened is not None:
            opened.transaction.rollback()
        if not self._stopped:
            self._stop.clear()

    def interrupt(self) -> None:
        """End the running statement without waiting for it; from any thread. A `reset` must follow."""
        self._stop.set()

    def stop(self) -> None:
        """End the conversation and the running statement without waiting for it; from any thread."""
        self._stopped = True
        self._stop.set()
        if self._working.acquire(blocking=False):
            try:
                self.reset()
            finally:
                self._working.release()

    # --- inside ------------------------------------------------------------------------------------------------

    def _stream(self, number: int) -> _Stream:
        return self._streams[self._newest if number == NEWEST else number]

    def _finish(self, number: int) -> Metadata:
        metadata = self._stream(number).end()
        del self._streams[self._newest if number == NEWEST else number]
        if self._open is None:
            metadata["bookmark"] = self._bookmark()
        return metadata

    def routed_name(self, terms: Terms) -> str:
        """The name of the database that a client wants to be routed to. Raises if it does not exist, or may not be
        used this way."""
        name = _name(terms)
        if name not in (DATABASE, SYSTEM):
            message = f"Unable to get a routing table for database '{terms.database}' because this database "
            raise to_driver_error(cypher_error(DATABASE_NOT_FOUND, f"{message}does not exist"))
        self._database_of(terms)
        return name

    def allowance(self, terms: Terms) -> Allowance:
        """What a statement that begins now may use."""
        return self._limits(self._database, terms).allowance()

    def _limits(self, database: Database, terms: Terms) -> Limits:
        """The database's limits, tightened by what the client requests."""
        limits = self._own_limits
        if database is not self._database:
            limits = replace(database._limits, hydrator=limits.hydrator)
        asked, own = terms.timeout or None, limits.timeout
        timeout = asked if own is None else own if asked is None else min(asked, own)
        return replace(
            limits.within(timeout, None, terms.read_only),
            stop=self._stop,
            metadata=dict(terms.metadata or {}),
        )

    def _database_of(self, terms: Terms, text: str | None = None) -> Database:
        """The database of that name."""
        if self._database._closed:
            from hoplite.driver.closed import DatabaseClosed

            raise DatabaseClosed("The database is closed.")
        if terms.impersonated_user is not None:
            raise to_driver_error(
                cypher_error(ARGUMENT_ERROR, "Impersonation is not supported with auth disabled.", status("51N30"))
            )
        name = _name(terms)
        if name == DATABASE:
            return self._database
        if name != SYSTEM:
            raise to_driver_error(cypher_error(DATABASE_NOT_FOUND, f"Graph not found: {terms.database}"))
        refused = None if text is None else _refusal(text)
        if refused is not None:
            raise to_driver_error(refused)
        return open_system()

    def _bookmark(self) -> str:
        """A bookmark for the last committed version, in Neo4j's form."""
        graph = self._database._graph
        identity, version = uuid.UUID(graph.uuid).bytes, graph._version.to_bytes(8, "big")
        return "FB:" + base64.b64encode(b"\x91\xcc\x10" + identity + b"\xcb" + version + b"\x90").decode()


def _name(terms: Terms) -> str:
    return (terms.database or DATABASE).lower()


def _refusal(text: str) -> CypherError | None:
    try:
        return refusal(text)
    except CypherError as error:
        return error


def _columns(database: Database, text: str, parameters: Mapping[str, Any]) -> tuple[str, ...]:
    """The columns of a statement that failed; none if it failed before it ran."""
    try:
        return database._prepare(text, database._graph.snapshot(), parameters, database._limits.allowance()).columns
    except CypherError:
        return ()
