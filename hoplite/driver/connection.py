"""Connections as the driver's sessions use them: messages are queued, sent, and their replies fetched one at a time.

`run`, `pull` and the others only queue. When replies are fetched, a `Connection` processes the message in the calling
thread, an `AsyncConnection` in a thread of its pool, so that the event loop continues. The latter processes the whole
queue at once, because switching threads costs more than most messages.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import Executor
from contextlib import suppress
from dataclasses import field
from inspect import isawaitable
from itertools import count
from typing import Any, Protocol

import neo4j
from neo4j import READ_ACCESS
from neo4j.exceptions import DriverError, Neo4jError, ServiceUnavailable
from neo4j.graph import Graph

from hoplite.api.database import Database
from hoplite.api.records import Row
from hoplite.api.summary import ADDRESS, server_info
from hoplite.driver.conversation import NEWEST, Conversation, Metadata, Replies, Terms
from hoplite.driver.notifications import NotificationFilter
from hoplite.errors import CypherError, to_driver_error
from hoplite.lazy_dataclass import dataclass
from hoplite.values.driver import from_parameters

Handlers = Mapping[str, Callable[..., Any] | None]
Outcome = list[Row] | Metadata | BaseException
Call = tuple[str, tuple[Any, ...]]  # of a handler by its name

_IDS = count(1)

# Before 6.2, results of the driver change the order of rows that come several at a time.
_ONE_ROW_AT_A_TIME = tuple(map(int, neo4j.__version__.split(".")[:2])) < (6, 2)


@dataclass(slots=True)
class ResultScope:
    """What belongs together in one result on the client's side: nodes and relationships of one graph.

    It takes the place of the driver's tables for packing and unpacking values, which are not needed here.
    """

    graph: Graph = field(default_factory=Graph)

    @property
    def hydration_hooks(self) -> ResultScope:
        """Passed with every message, so that the result of a statement finds its scope."""
        return self

    dehydration_hooks = hydration_hooks

    def get_graph(self) -> Graph:
        """What `Result.graph` returns."""
        return self.graph


@dataclass(slots=True, eq=False)
class _Message:
    """A queued message, and the handlers of its replies."""

    replies: Replies
    handlers: Handlers


class Place(Protocol):
    """The pool's handle for a connection."""

    def let_go(self) -> bool:
        """Release it; returns whether it was held."""
        ...


class _Queue:
    """What both kinds of connection share: the message queue, and the names that sessions look up."""

    unresolved_address = ADDRESS
    ssr_enabled = False
    supports_multiple_results = True
    supports_multiple_databases = True
    supports_re_auth = True
    supports_notification_filtering = True
    most_recent_qid: int | None = None  # set by the driver's results up to version 5

    def __init__(self, database: Database, notifications: NotificationFilter, place: Place) -> None:
        self.place = place
        self._conversation = Conversation(database)
        self._notifications = notifications
        self._messages: deque[_Message] = deque()
        self._outcomes: deque[tuple[_Message, Outcome]] = deque()  # computed, but not reported yet
        self._closed = False
        self.log_id = self.local_port = next(_IDS) & 0xFFFF
        self.connection_id = f"hoplite-{self.log_id}"
        self.server_info = server_info()
        self.server_info.update({"connection_id": self.connection_id})

    # --- queueing ----------------------------------------------------------------------------------------------

    def begin(
        self,
        mode: str | None = None,
        bookmarks: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        db: str | None = None,
        imp_user: str | None = None,
        notifications_min_severity: str | None = None,
        notifications_disabled_classifications: Iterable[str] | None = None,
        dehydration_hooks: Any = None,
        hydration_hooks: Any = None,
        **handlers: Callable[..., Any] | None,
    ) -> None:
        """Open a transaction. Bookmarks need no waiting: every committed transaction is visible at once."""
        wanted = self._notifications.narrowed(notifications_min_severity, notifications_disabled_classifications)
        terms = Terms(db, mode == READ_ACCESS, checked_timeout(timeout), metadata, imp_user, wanted)
        self._queue(self._conversation.begin(terms), handlers)

    def run(
        self,
        query: str,
        parameters: Mapping[str, Any] | None = None,
        mode: str | None = None,
        bookmarks: Iterable[str] | None = None,
        metadata: Mapping[str, Any] | None = None,
        timeout: float | None = None,
        db: str | None = None,
        imp_user: str | None = None,
        notifications_min_severity: str | None = None,
        notifications_disabled_classifications: Iterable[str] | None = None,
        dehydration_hooks: ResultScope | None = None,
        hydration_hooks: ResultScope | None = None,
        **handlers: Callable[..., Any] | None,
    ) -> None:
        """Run a statement. Parameters are converted here, so that an invalid value is refused at once."""
        wanted = self._notifications.narrowed(notifications_min_severity, notifications_disabled_classifications)
        terms = Terms(db, mode == READ_ACCESS, checked_timeout(timeout), metadata, imp_user, wanted)
        given = parameters or {}
        try:
            taken = from_parameters(given, self._conversation.allowance(terms))
        except CypherError as error:
            raise to_driver_error(error) from None
        scope = dehydration_hooks or ResultScope()
        self._queue(self._conversation.run(query, given, taken, terms, scope), handlers)

    def pull(
        self,
        n: int = -1,
        qid: int = NEWEST,
        dehydration_hooks: Any = None,
        hydration_hooks: Any = None,
        **handlers: Callable[..., Any] | None,
    ) -> None:
        """Ask for the next rows of a result."""
        self._queue(self._conversation.pull(n, qid), handlers)

    def discard(
        self,
        n: int = -1,
        qid: int = NEWEST,
        dehydration_hooks: Any = None,
        hydration_hooks: Any = None,
        **handlers: Callable[..., Any] | None,
    ) -> None:
        """Discard the rest of a result."""
        self._queue(self._conversation.discard(n, qid), handlers)

    def commit(
        self, dehydration_hooks: Any = None, hydration_hooks: Any = None, **handlers: Callable[..., Any] | None
    ) -> None:
        """Commit the transaction."""
        self._queue(self._conversation.commit(), handlers)

    def rollback(
        self, dehydration_hooks: Any = None, hydration_hooks: Any = None, **handlers: Callable[..., Any] | None
    ) -> None:
        """Undo the transaction."""
        self._queue(self._conversation.rollback(), handlers)

    def telemetry(self, api: Any, **_: Any) -> None:
        """Usage of the API is not reported."""

    def _queue(self, replies: Replies, handlers: Handlers) -> None:
        self._messages.append(_Message(replies, handlers))

    # --- state -------------------------------------------------------------------------------------------------

    def new_hydration_scope(self) -> ResultScope:
        """The scope of one result."""
        return ResultScope()

    def defunct(self) -> bool:
        """A connection within the process does not break."""
        return False

    def closed(self) -> bool:
        """Returned to the pool, and not to be used again."""
        return self._closed

    @property
    def is_reset(self) -> bool:
        """Whether nothing is queued or open."""
        return not self._messages and not self._outcomes and self._conversation.is_idle

    def kill(self) -> None:
        """Stop what is running, without waiting for it."""
        self._closed = True
        self._forget()
        self._conversation.stop()

    def _work(self) -> bool:
        """Compute the next reply to the first message in the queue. Returns whether that was its end, without an
        error."""
        message = self._messages[0]
        outcome: Outcome
        try:
            outcome = self._conversation.next_reply(message.replies)
        except (Neo4jError, DriverError) as error:
            outcome = error
        except BaseException:  # the program is interrupted
            self.kill()
            raise
        if isinstance(outcome, list):
            parts = [[row] for row in outcome] if _ONE_ROW_AT_A_TIME else [outcome]
            self._outcomes.extend((message, part) for part in parts)
            return False
        with suppress(IndexError):  # killed meanwhile
            self._messages.popleft()
        self._outcomes.append((message, outcome))
        return not isinstance(outcome, BaseException)

    def _check_open(self) -> None:
        if self._closed:
            raise ServiceUnavailable("Failed to read from a connection that was closed.")

    def _forget(self) -> list[_Message]:
        """Empty the queue; returns what was in it."""
        messages = list(self._messages)
        self._messages.clear()
        self._outcomes.clear()
        return messages


def checked_timeout(timeout: float | None) -> float | None:
    """A timeout in seconds; refuses what the driver refuses: anything but a positive number."""
    if timeout is None:
        return None
    try:
        seconds = float(timeout)
    except (TypeError, ValueError):
        raise TypeError("Timeout must be specified as a number of seconds") from None
    if seconds < 0:
        raise ValueError("Timeout must be a positive number or 0.")
    return seconds


def _calls(outcome: Outcome) -> list[Call]:
    """The handlers to call for an outcome, with their arguments."""
    if isinstance(outcome, BaseException):
        return [("on_failure", ({},)), ("on_summary", ())]
    if isinstance(outcome, list):
        return [("on_records", (outcome,))]
    return [("on_success", (outcome,)), *([] if outcome.get("has_more") else [("on_summary", ())])]


_IGNORED: list[Call] = [("on_ignored", ({},)), ("on_summary", ())]


class Connection(_Queue):
    """A connection for one thread."""

    def send_all(self) -> None:
        """Nothing to send: replies are computed when they are fetched."""

    def fetch_message(self) -> tuple[int, int]:
        """Report the next reply. Returns how many rows and how many ends there were."""
        self._check_open()
        if not self._outcomes:
            if not self._messages:
                return 0, 0
            self._work()
        message, outcome = self._outcomes.popleft()
        if isinstance(outcome, BaseException):
            self.reset()
        self._tell(message, _calls(outcome))
        if isinstance(outcome, BaseException):
            raise outcome
        return (len(outcome), 0) if isinstance(outcome, list) else (0, 1)

    def fetch_all(self) -> None:
        """Process every message in the queue."""
        while self._messages or self._outcomes:
            self.fetch_message()

    def reset(self, dehydration_hooks: Any = None, hydration_hooks: Any = None) -> None:
        """Give up everything that is open; queued messages are ignored."""
        messages = self._forget()
        self._conversation.reset()
        for message in messages:
            self._tell(message, _IGNORED)

    def close(self) -> None:
        """End the connection."""
        self._closed = True
        self.reset()

    def _tell(self, message: _Message, calls: list[Call]) -> None:
        for name, arguments in calls:
            handler = message.handlers.get(name)
            if handler is not None:
                handler(*arguments)


class Threads(Protocol):
    """Provides the threads to work in."""

    @property
    def threads(self) -> Executor:
        """The threads of this process."""
        ...


class AsyncConnection(_Queue):
    """A connection for one task."""

    def __init__(self, database: Database, notifications: NotificationFilter, place: Place, pool: Threads) -> None:
        super().__init__(database, notifications, place)
        self._pool = pool

    async def send_all(self) -> None:
        """Nothing to send: replies are computed when they are fetched."""

    async def fetch_message(self) -> tuple[int, int]:
        """Report the next reply, processing the queue first if there is none yet."""
        self._check_open()
        if not self._outcomes:
            if not self._messages:
                return 0, 0
            await self._in_thread(self._work_on_queue)
        message, outcome = self._outcomes.popleft()
        if isinstance(outcome, BaseException):
            await self.reset()
        await self._tell(message, _calls(outcome))
        if isinstance(outcome, BaseException):
            raise outcome
        return (len(outcome), 0) if isinstance(outcome, list) else (0, 1)

    async def fetch_all(self) -> None:
        """Process every message in the queue."""
        while self._messages or self._outcomes:
            await self.fetch_message()

    async def reset(self, dehydration_hooks: Any = None, hydration_hooks: Any = None) -> None:
        """Give up everything that is open; queued messages are ignored."""
        messages = self._forget()
        if not self._conversation.is_idle:
            await self._in_thread(self._conversation.reset)
        for message in messages:
            await self._tell(message, _IGNORED)

    async def close(self) -> None:
        """End the connection."""
        self._closed = True
        await self.reset()

    def _work_on_queue(self) -> None:
        """Process messages until one has rows or an error, or none is left."""
        while self._messages and self._work():
            pass

    async def _in_thread(self, work: Callable[[], None]) -> None:
        """Run something in a thread; cancelling the task ends what runs there."""
        try:
            await asyncio.get_running_loop().run_in_executor(self._pool.threads, work)
        except asyncio.CancelledError:
            self.kill()
            raise

    async def _tell(self, message: _Message, calls: list[Call]) -> None:
        for name, arguments in calls:
            handler = message.handlers.get(name)
            if handler is not None:
                waiting = handler(*arguments)
                if isawaitable(waiting):
                    await waiting
