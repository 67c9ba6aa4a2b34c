"""One client's messages in, replies out: the states of Bolt around a `Conversation`.

A generator of bytes processes each message, so that a long result is sent piece by piece. Everything here runs in one
thread at a time; `interrupt` and `stop` may be called from others.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import TYPE_CHECKING, Any

from hoplite.driver.conversation import NEWEST, Conversation, Metadata, Replies, Terms, driver_error, neo4j_error
from hoplite.driver.notifications import NotificationFilter
from hoplite.engine.procedures.database import AGENT
from hoplite.errors import CypherError, cypher_error, to_driver_error
from hoplite.gql_status import UNCLASSIFIED, GqlStatus, status
from hoplite.lazy_dataclass import dataclass
from hoplite.server.access import Access
from hoplite.server.fields import INVALID, Fields, ProtocolError
from hoplite.server.framing import Version, framed
from hoplite.server.packstream import PackStreamError, Structure, list_header, packed, structure_header, unpacked
from hoplite.server.sent import ended, failure

if TYPE_CHECKING:
    from neo4j.exceptions import Neo4jError

_SUCCESS, _RECORD, _IGNORED, _FAILURE = 0x70, 0x71, 0x7E, 0x7F
_HELLO, _GOODBYE, _RESET, _RUN, _BEGIN, _COMMIT, _ROLLBACK = 0x01, 0x02, 0x0F, 0x10, 0x11, 0x12, 0x13
_DISCARD, _PULL, _TELEMETRY, _ROUTE, _LOGON, _LOGOFF = 0x2F, 0x3F, 0x54, 0x66, 0x6A, 0x6B

_INVALID_FORMAT = "Neo.ClientError.Request.InvalidFormat"
_DATABASE_UNAVAILABLE = "Neo.TransientError.General.DatabaseUnavailable"
_ROUTES_LAST_S = 300


class _Closing(Exception):
    """Nothing is sent after the replies so far."""


class _TurnedAway(Exception):
    """The client failed to authenticate. The argument is what it is told before the connection ends."""


@dataclass(slots=True)
class _Client:
    """What a client has said about itself."""

    greeted: bool = False
    user: str | None = None  # who it is, once it has been let in
    notifications: NotificationFilter = field(default_factory=NotificationFilter)
    routing: dict[str, Any] | None = None


class Exchange:
    """What is said on one connection, after the handshake."""

    def __init__(self, conversation: Conversation, version: Version, name: str, access: Access, address: str) -> None:
        """`name` is the connection's, `address` the one that the client used for the server."""
        self._conversation = conversation
        self._version = version
        self._name = name
        self._access = access
        self._address = address
        self._client = _Client()
        self._failed = False
        self._resets = 0  # received and not answered yet; counted by two threads
        self._counting = threading.Lock()

    @property
    def is_authenticated(self) -> bool:
        """Whether the client is authenticated."""
        return self._client.user is not None

    @property
    def is_idle(self) -> bool:
        """Nothing would be lost if the connection ended now."""
        return self._conversation.is_idle

    def interrupt(self) -> None:
        """A RESET has arrived: end what is running, and ignore what waits before it."""
        with self._counting:
            self._resets += 1
        self._conversation.interrupt()

    def stop(self) -> None:
        """The connection is gone."""
        self._conversation.stop()

    # --- one message -------------------------------------------------------------------------------------------

    def replies(self, message: bytes) -> Iterator[bytes]:
        """The bytes to send back, in pieces. Raises `StopExchange` after the last one if the connection must end."""
        try:
            structure = _structure(message)
            if structure.tag == _RESET:
                yield from self._reset()
            elif structure.tag == _GOODBYE:
                raise _Closing
            elif self._resets or (self._failed and self._client.greeted):
                yield framed(structure_header(_IGNORED, 0))
            else:
                yield from self._handled(structure)
        except PackStreamError as error:
            yield self._refusal(ProtocolError(str(error), gql_status=_protocol_error()).error)
        except ProtocolError as error:
            yield self._refusal(error.error)
            if error.error.code == INVALID and error.error.gql_status == UNCLASSIFIED:
                raise StopExchange from None  # client and server no longer agree on their state
        except _TurnedAway as refused:
            yield refused.args[0]
            raise StopExchange from None
        except _Closing:
            raise StopExchange from None
        except neo4j_error() as error:
            self._failed = True
            yield self._failure(error)
        except driver_error() as error:
            self._failed = True
            yield self._failure(to_driver_error(cypher_error(_DATABASE_UNAVAILABLE, str(error))))

    def _handled(self, structure: Structure) -> Iterator[bytes]:
        handler = _HANDLERS.get(structure.tag)
        if handler is None or self._version < handler.since:
            raise _Closing  # like Neo4j: whatever follows cannot be understood either
        if self._state not in handler.states:
            raise ProtocolError(
                f"Message of type {handler.name}Message cannot be handled by a session in the {self._state} state."
            )
        fields = handler.checked(structure.fields)
        yield from handler.work(self, *fields)

    @property
    def _state(self) -> str:
        if not self._client.greeted:
            return "NEGOTIATION"
        if self._client.user is None:
            return "AUTHENTICATION"
        if self._conversation.is_open:
            return "IN_TRANSACTION"
        return "READY" if self._conversation.is_idle else "AUTO_COMMIT"

    def _refusal(self, error: CypherError) -> bytes:
        self._failed = True
        return self._failure(to_driver_error(error))

    def _failure(self, error: Neo4jError) -> bytes:
        return framed(packed(Structure(_FAILURE, (failure(error, self._version),))))

    def _success(self, metadata: Metadata) -> bytes:
        return framed(packed(Structure(_SUCCESS, (metadata,))))

    # --- who is there ------------------------------------------------------------------------------------------

    def _hello(self, extra: dict[str, Any]) -> Iterator[bytes]:
        if type(extra.get("user_agent")) is not str:
            raise ProtocolError('Illegal value for field "user_agent": Expected value to be non-null')
        if self._version >= (5, 3) and not isinstance(extra.get("bolt_agent"), dict):
            raise ProtocolError(
                'Illegal value for field "bolt_agent": Must be a map with string keys and string values.',
                gql_status=_protocol_error(),
            )
        self._client.notifications = self._filter(NotificationFilter(), Fields("metadata", extra))
        if self._version < (5, 1):
            self._let_in(extra)
        self._client.greeted = True
        metadata: Metadata = {"server": AGENT, "connection_id": self._name}
        hints = {"ssr.enabled": True} if self._version >= (5, 8) else {}
        yield self._success({**metadata, "hints": hints} if hints else metadata)

    def _logon(self, auth: dict[str, Any]) -> Iterator[bytes]:
        self._let_in(auth)
        yield self._success({"advertised_address": self._address} if self._version >= (5, 8) else {})

    def _let_in(self, auth: dict[str, Any]) -> None:
        try:
            self._client.user = self._access.user(auth)
        except neo4j_error() as error:
            raise _TurnedAway(self._failure(error)) from None

    def _logoff(self) -> Iterator[bytes]:
        self._client.user = None
        yield self._success({})

    def _telemetry(self, api: int) -> Iterator[bytes]:
        if api not in range(4):
            raise ProtocolError(f"Unknown driver interface type {api}", gql_status=_protocol_error())
        yield self._success({})  # usage of the driver is not reported

    def _route(self, routing: dict[str, Any], bookmarks: list[Any], extra: dict[str, Any]) -> Iterator[bytes]:
        terms = self._terms({**extra, "bookmarks": bookmarks})
        name = self._conversation.routed_name(terms)
        given = routing.get("address")
        address = given if isinstance(given, str) and given else self._address
        servers = [{"addresses": [address], "role": role} for role in ("WRITE", "READ", "ROUTE")]
        yield self._success({"rt": {"servers": servers, "ttl": _ROUTES_LAST_S, "db": name}})

    # --- statements --------------------------------------------------------------------------------------------

    def _begin(self, extra: dict[str, Any]) -> Iterator[bytes]:
        terms = self._terms(extra)
        metadata = self._ended(self._conversation.begin(terms))
        yield self._success(metadata if self._tells_database(terms) else {})

    def _run(self, text: str, parameters: dict[str, Any], extra: dict[str, Any]) -> Iterator[bytes]:
        terms = self._terms(extra)
        for name, value in parameters.items():
            _refuse_structures(name, value)
        explicit = self._conversation.is_open
        metadata = self._ended(self._conversation.run(text, parameters, parameters, terms))
        if explicit or not self._tells_database(terms):
            del metadata["db"]
        yield self._success(metadata)

    def _tells_database(self, terms: Terms) -> bool:
        """Whether a client that did not name a database is told which one it is."""
        return self._version >= (5, 8) and terms.database is None

    def _pull(self, extra: dict[str, Any]) -> Iterator[bytes]:
        count, number = self._wanted(extra)
        replies = self._conversation.pull(count, number)
        head = b""
        while isinstance(reply := self._conversation.next_reply(replies), list):
            if not head and reply:
                head = structure_header(_RECORD, 1) + list_header(len(reply[0]))
            yield b"".join([framed(b"".join((head, *row))) for row in reply])
        yield self._success(ended(reply, self._version))

    def _discard(self, extra: dict[str, Any]) -> Iterator[bytes]:
        count, number = self._wanted(extra)
        yield self._success(ended(self._ended(self._conversation.discard(count, number)), self._version))

    def _commit(self) -> Iterator[bytes]:
        metadata = self._ended(self._conversation.commit())
        yield self._success({"bookmark": metadata["bookmark"]})

    def _rollback(self) -> Iterator[bytes]:
        yield self._success(self._ended(self._conversation.rollback()))

    def _reset(self) -> Iterator[bytes]:
        if not self._client.greeted or self._client.user is None:
            raise ProtocolError(
                f"Message of type ResetMessage cannot be handled by a session in the {self._state} state."
            )
        with self._counting:
            self._resets = max(self._resets - 1, 0)
            is_last = not self._resets
        if not is_last:  # another one is pending, and that one ends the interruption
            yield framed(structure_header(_IGNORED, 0))
            return
        self._conversation.reset()
        self._failed = False
        yield self._success({})

    def _ended(self, replies: Replies) -> Metadata:
        """The metadata of a message without rows."""
        reply = self._conversation.next_reply(replies)
        assert isinstance(reply, dict)
        return reply

    def _wanted(self, extra: dict[str, Any]) -> tuple[int, int]:
        """How many rows of which result."""
        fields = Fields("meta", extra)
        count, given = fields.row_count("n"), fields.integer("qid")
        number = NEWEST if given is None else given
        if not self._conversation.has_result(number):
            raise ProtocolError(f"No such statement: {number}", _INVALID_FORMAT)
        return count, number

    def _terms(self, extra: dict[str, Any]) -> Terms:
        fields = Fields("metadata", extra)
        timeout = fields.integer("tx_timeout")
        fields.bookmarks("bookmarks")
        return Terms(
            database=fields.text("db"),
            read_only=fields.is_read_only("mode"),
            timeout=timeout / 1000 if timeout is not None and timeout > 0 else None,
            metadata=fields.dictionary("tx_metadata"),
            impersonated_user=fields.text("imp_user"),
            notifications=self._filter(self._client.notifications, fields),
        )

    def _filter(self, given: NotificationFilter, fields: Fields) -> NotificationFilter:
        if self._version < (5, 2):
            return given
        kinds = "classifications" if self._version >= (5, 5) else "categories"
        return given.narrowed(
            fields.severity("notifications_minimum_severity"), fields.classifications(f"notifications_disabled_{kinds}")
        )


class StopExchange(Exception):
    """The connection is to be closed when everything before has been sent."""


def _structure(message: bytes) -> Structure:
    value = unpacked(message)
    if not isinstance(value, Structure):
        raise PackStreamError(f"Unexpected type: Expected STRUCT but got {type(value).__name__}")
    return value


def _protocol_error() -> GqlStatus:
    return status("08N06")


def _refuse_structures(name: str, value: Any) -> None:
    """Nodes, relationships and paths cannot be sent to a server, nor can unknown structures."""
    kind = type(value)
    if kind is Structure:
        raise ProtocolError(
            f'Illegal value for field "params": Unexpected struct tag: 0x{value.tag:02X}', gql_status=_protocol_error()
        )
    if kind is list:
        for item in value:
            if type(item) in (list, dict, Structure):
                _refuse_structures(name, item)
    elif kind is dict:
        for item in value.values():
            _refuse_structures(name, item)


@dataclass(frozen=True, slots=True)
class _Handler:
    """A known message: its fields, when it is allowed, and its handler."""

    name: str
    kinds: tuple[tuple[str, type], ...]
    states: frozenset[str]
    work: Callable[..., Iterator[bytes]]
    since: Version = (5, 0)

    def checked(self, fields: tuple[Any, ...]) -> tuple[Any, ...]:
        if len(fields) != len(self.kinds):
            raise ProtocolError(
                f"Illegal struct size: Expected struct to be {len(self.kinds)} fields but got {len(fields)}",
                _INVALID_FORMAT,
            )
        for value, (name, kind) in zip(fields, self.kinds, strict=True):
            if type(value) is not kind:
                raise ProtocolError(
                    f'Illegal value for field "{name}": Unexpected type: Expected {_KINDS[kind]} but got '
                    f"{_KINDS.get(type(value), type(value).__name__)}",
                    gql_status=_protocol_error(),
                )
        return fields


_KINDS: dict[type, str] = {
    dict: "MAP", list: "LIST", str: "STRING", int: "INT", float: "FLOAT", bool: "BOOLEAN", bytes: "BYTES",
    type(None): "NONE", Structure: "STRUCT",
}  # fmt: skip
_NEW, _OUT, _READY = frozenset({"NEGOTIATION"}), frozenset({"AUTHENTICATION"}), frozenset({"READY"})
_OPEN, _STREAMING = frozenset({"IN_TRANSACTION"}), frozenset({"AUTO_COMMIT", "IN_TRANSACTION"})
_IN = _READY | _OPEN
_META, _METADATA = ("meta", dict), ("metadata", dict)

_HANDLERS: dict[int, _Handler] = {
    _HELLO: _Handler("Hello", (("extra", dict),), _NEW, Exchange._hello),
    _LOGON: _Handler("Logon", (("auth", dict),), _OUT, Exchange._logon, (5, 1)),
    _LOGOFF: _Handler("Logoff", (), _READY, Exchange._logoff, (5, 1)),
    _TELEMETRY: _Handler("Telemetry", (("api", int),), _READY, Exchange._telemetry, (5, 4)),
    _ROUTE: _Handler(
        "Route", (("routing", dict), ("bookmarks", list), ("extra", dict)), _READY, Exchange._route
    ),
    _BEGIN: _Handler("Begin", (_METADATA,), _READY, Exchange._begin),
    _RUN: _Handler("Run", (("statement", str), ("params", dict), _METADATA), _IN, Exchange._run),
    _PULL: _Handler("Pull", (_META,), _STREAMING, Exchange._pull),
    _DISCARD: _Handler("Discard", (_META,), _STREAMING, Exchange._discard),
    _COMMIT: _Handler("Commit", (), _OPEN, Exchange._commit),
    _ROLLBACK: _Handler("Rollback", (), _OPEN, Exchange._rollback),
}  # fmt: skip
