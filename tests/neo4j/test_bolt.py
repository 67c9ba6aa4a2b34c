"""Conversations in Bolt, message by message, get the same replies from `hoplite serve` and from a live Neo4j.

What must differ is left out: times, bookmarks, names of connections, plans, hints, and the addresses of the servers.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from neo4j import Driver

import hoplite
from tests.server.wire import Wire

pytestmark = pytest.mark.neo4j

_VERSIONS = ((5, 0), (5, 1), (5, 2), (5, 3), (5, 4), (5, 6), (5, 7), (5, 8))  # Neo4j leaves out 5.5
_FIVE = "UNWIND range(1, 5) AS x RETURN x"
_FAILING = "UNWIND [1, 0] AS x RETURN 1 / x"
_KINDS = {"bookmark": str, "t_first": int, "t_last": int, "plan": dict, "profile": dict}

Message = tuple[Any, ...]


def run(text: str, parameters: dict[str, Any] | None = None, **extra: Any) -> Message:
    return ("RUN", text, parameters or {}, extra)


def pull(count: Any = -1, **extra: Any) -> Message:
    return ("PULL", {"n": count, **extra})


def discard(count: Any = -1, **extra: Any) -> Message:
    return ("DISCARD", {"n": count, **extra})


def begin(**extra: Any) -> Message:
    return ("BEGIN", extra)


def route(**extra: Any) -> Message:
    return ("ROUTE", {"address": "localhost:7687"}, [], extra)


COMMIT, ROLLBACK, RESET = ("COMMIT",), ("ROLLBACK",), ("RESET",)

CONVERSATIONS: dict[str, list[Message]] = {
    "parts": [run(_FIVE), pull(2), pull(2), pull()],
    "just so many": [run(_FIVE), pull(4), pull(1)],
    "discarded unread": [run(_FIVE), discard()],
    "discarded in parts": [run(_FIVE), discard(2), discard(2), discard(2)],
    "more discarded than there are": [run(_FIVE), discard(9)],
    "read and discarded": [run(_FIVE), pull(2), discard()],
    "no rows": [run("UNWIND [] AS x RETURN x"), pull()],
    "no rows discarded": [run("UNWIND [] AS x RETURN x"), discard(), run("UNWIND [] AS x RETURN x"), discard(1)],
    "written": [run("CREATE (:A {p: 1})"), pull(), run("MATCH (a:A) DETACH DELETE a"), discard()],
    "written and returned": [run("UNWIND [1, 2] AS x CREATE (n:A {p: x}) RETURN n.p"), pull(1), discard()],
    "written for no row": [run("MATCH (n:Nope) CREATE (m) RETURN m"), discard()],
    "explained": [run("EXPLAIN RETURN 1 AS a"), pull(), run("EXPLAIN CREATE (n)"), pull()],
    "cartesian": [run("MATCH (a), (b) RETURN count(*) AS c"), pull(), run("MATCH (a), (b) RETURN 1"), discard()],
    "deprecated": [run("RETURN id(null) AS c"), pull()],
    "nulls": [run("UNWIND [1, null] AS x RETURN max(x) AS c"), pull()],
    "procedures": [run("CALL db.awaitIndexes(1)"), pull(), run("CALL db.awaitIndexes(1)"), discard()],
    "schema": [run("CREATE INDEX ix FOR (n:L) ON (n.p)"), pull(), run("DROP INDEX ix"), discard()],
    "schema again": [run("DROP INDEX ix IF EXISTS"), pull()],
    "databases": [run("SHOW DATABASES YIELD name"), discard(), run("SHOW HOME DATABASE YIELD name"), pull()],
    "system": [run("SHOW DATABASES YIELD name", db="system"), pull()],
    "system in a transaction": [begin(db="system"), run("SHOW DATABASES YIELD name"), discard(), COMMIT],
    "no such database": [run("RETURN 1", db="nope"), pull(), RESET, begin(db="nope"), RESET],
    "named database": [run("RETURN 1", db="neo4j"), pull(), begin(db="NEO4J"), ROLLBACK],
    "read only": [run("RETURN 1", mode="r"), pull(), run("CREATE ()", mode="r"), pull(), RESET],
    "transaction": [begin(), run(_FIVE), pull(2), pull(), COMMIT, begin(), run(_FIVE), discard(), ROLLBACK],
    "two results": [begin(), run(_FIVE), run("RETURN 7"), pull(1, qid=0), pull(qid=1), discard(qid=0), COMMIT],
    "unread transaction": [begin(), run(_FIVE), COMMIT],
    "reset": [RESET, RESET, run(_FIVE), pull(1), RESET, begin(), run(_FIVE), RESET, run("RETURN 1"), pull()],
    "route": [route(), route(db="neo4j"), route(db="nope"), RESET],
    "syntax": [run("RETURN"), pull(), RESET, begin(), run("RETURN"), COMMIT, RESET],
    "failing": [run(_FAILING), pull(), RESET, run(_FAILING), discard()],
    "failing later": [run(_FAILING), pull(1), pull(1), RESET, run(_FAILING), discard(1), pull(), RESET],
    "failing unseen": [begin(), run(_FAILING), pull(1), run("RETURN 1"), pull(), COMMIT],
    "counts": [run(_FIVE), pull(0), RESET, run(_FIVE), pull("x"), RESET, run(_FIVE), pull(None), RESET],
    "entries": [
        run("RETURN 1", db=3),
        RESET,
        run("RETURN 1", mode="x"),
        RESET,
        run("RETURN 1", tx_metadata=[1]),
        RESET,
    ],
    "bookmarks": [run("RETURN 1", bookmarks="x"), RESET, run("RETURN 1", bookmarks=["a", 1]), RESET],
    "somebody else": [run("RETURN 1", imp_user="x"), RESET, begin(imp_user="x"), RESET],
    "parameters": [run("RETURN $a AS a", {"a": [1, 2.5, "x", None, True, {"k": [1]}, b"\1\2"]}), pull()],
    "telemetry": [("TELEMETRY", 0), ("TELEMETRY", 3)],
    "somebody new": [("LOGOFF",), ("LOGON", {"scheme": "none"}), run("RETURN 1"), pull()],
}
_SINCE = {"telemetry": (5, 4), "somebody new": (5, 1)}


@pytest.fixture
def ports(neo4j_uri: str) -> Iterator[tuple[int, int]]:
    with hoplite.serve() as uri:
        yield int(neo4j_uri.rpartition(":")[2]), int(uri.rpartition(":")[2])


def plain(value: Any) -> Any:
    """Without what differs from run to run."""
    if isinstance(value, dict):
        return {
            key: isinstance(one, _KINDS[key]) if key in _KINDS else plain(one)
            for key, one in value.items()
            if key not in ("_hints", "advertised_address")
        }
    return [plain(one) for one in value] if isinstance(value, list | tuple) else value


def talk(port: int, version: tuple[int, int], messages: list[Message]) -> list[Any]:
    """The replies to some messages; the server may hang up."""
    with Wire(port, version) as wire:
        wire.log_on(version)
        replies: list[Any] = []
        try:
            for name, *fields in messages:
                wire.send(name, *fields)
                replies.append((name, plain(wire.replies())))
        except (EOFError, ConnectionError):
            replies.append("hung up")
    return replies


@pytest.mark.parametrize("version", _VERSIONS, ids=lambda version: ".".join(map(str, version)))
def test_replies_are_the_same(empty: Driver, ports: tuple[int, int], version: tuple[int, int]) -> None:
    differing = {}
    for name, messages in CONVERSATIONS.items():
        if version >= _SINCE.get(name, (5, 0)):
            theirs, ours = (talk(port, version, messages) for port in ports)
            if theirs != ours:
                differing[name] = [pair for pair in zip(theirs, ours, strict=False) if pair[0] != pair[1]]
    assert differing == {}
