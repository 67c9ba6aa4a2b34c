"""Damaged messages sent to a server: it answers according to Bolt or hangs up, and continues to serve others.

python -m tests.server.fuzz --count 100000 --seed 1
"""

from __future__ import annotations

import argparse
import random
import socket
import struct
from dataclasses import dataclass, field
from typing import Any

from neo4j import GraphDatabase

import hoplite
from hoplite.server.framing import MAGIC, Unframer, framed
from hoplite.server.packstream import PackStreamError, Structure, packed, unpacked
from hoplite.values.temporal import Date, Duration
from tests.server.wire import REPLIES, TAGS

_AT_ONCE = 25
_ODD: tuple[Any, ...] = (
    None,
    True,
    -1,
    0,
    2**62,
    1.5,
    "",
    "x",
    "neo4j",
    b"",
    [],
    [1, "a"],
    {},
    {"a": 1},
    Date(3),
    Duration(1, 2, 3, 4),
)
_QUERIES = (
    "RETURN 1 AS x", "RETURN $x AS x", "UNWIND range(1, 50) AS x RETURN x", "CREATE (n:F {x: $x}) RETURN n",
    "RETURN 1 +", "MATCH (n:F) RETURN n LIMIT 3", "UNWIND [1, 0] AS x RETURN 1 / x", "MATCH (n:F) DETACH DELETE n", "",
)  # fmt: skip
_SCRIPTS = (
    ("RUN", "PULL", "RESET"), ("RUN", "PULL", "RESET"), ("RUN", "DISCARD", "RESET"), ("RUN", "PULL", "PULL", "RESET"),
    ("BEGIN", "RUN", "PULL", "COMMIT", "RESET"), ("BEGIN", "RUN", "RUN", "PULL", "PULL", "ROLLBACK", "RESET"),
    ("ROUTE", "RESET"), ("TELEMETRY", "RESET"), ("LOGOFF", "LOGON", "RESET"), ("RUN", "RESET", "RESET"),
    ("BEGIN", "HELLO"), ("COMMIT",),
)  # fmt: skip
_INTERNAL = "Neo.DatabaseError."


@dataclass
class Outcome:
    """What became of it."""

    messages: int = 0
    replies: int = 0
    problems: list[str] = field(default_factory=list)


def fuzz(count: int, dice: random.Random) -> Outcome:
    """At least this many messages, some at a time on each connection."""
    outcome = Outcome()
    with hoplite.open(timeout=5) as db, hoplite.serve(db, grace=5) as uri:
        port = int(uri.rpartition(":")[2])
        while outcome.messages < count:
            _connection(port, dice, outcome)
        with GraphDatabase.driver(uri) as driver:
            if driver.execute_query("RETURN 1 AS x").records[0]["x"] != 1:
                outcome.problems.append("the server does not answer any more")
    return outcome


def _connection(port: int, dice: random.Random, outcome: Outcome) -> None:
    sent: list[bytes] = []
    while len(sent) < _AT_ONCE:
        sent += [_message(name, dice) for name in dice.choice(_SCRIPTS)]
    outcome.messages += len(sent)
    hello = packed(Structure(TAGS["HELLO"], ({"user_agent": "f", "bolt_agent": {"product": "f"}},)))
    logon = packed(Structure(TAGS["LOGON"], ({"scheme": "none"},)))
    data = MAGIC + b"\x00\x00\x08\x05".ljust(16, b"\0")
    if dice.random() < 0.9:
        data += framed(hello) + framed(logon)
    data += b"".join(_framed(message, dice) for message in sent)
    is_cut = dice.random() < 0.05
    if is_cut:
        data += struct.pack(">H", dice.randrange(1, 0x10000)) + bytes(dice.randrange(30))
    else:
        data += framed(packed(Structure(TAGS["GOODBYE"], ())))
    with socket.create_connection(("127.0.0.1", port), 60) as connection:
        try:
            connection.sendall(data)
            if is_cut:
                connection.shutdown(socket.SHUT_WR)
        except OSError:
            return  # it has hung up already
        _read(connection, outcome, sent)


def _read(connection: socket.socket, outcome: Outcome, sent: list[bytes]) -> None:
    received = b""
    try:
        while some := connection.recv(1 << 16):
            received += some
    except TimeoutError:
        outcome.problems.append(f"no end of the connection after {[message.hex() for message in sent]}")
        return
    except ConnectionError:
        pass  # it was reset: something was left unread
    try:
        replies = Unframer(1 << 26).feed(received[4:])
        for reply in map(unpacked, replies):
            outcome.replies += 1
            _check(reply, outcome, sent)
    except PackStreamError as error:
        outcome.problems.append(f"{error} in a reply to {[message.hex() for message in sent]}")


def _check(reply: Any, outcome: Outcome, sent: list[bytes]) -> None:
    if not isinstance(reply, Structure) or reply.tag not in REPLIES:
        outcome.problems.append(f"{reply} is not a reply")
    elif REPLIES[reply.tag] == "FAILURE" and reply.fields[0]["neo4j_code"].startswith(_INTERNAL):
        outcome.problems.append(f"{reply.fields[0]} after {[message.hex() for message in sent]}")


def _message(name: str, dice: random.Random) -> bytes:
    """A message that is right, or wrong in a field, or with some bytes changed."""
    fields = _right(name, dice)
    if dice.random() < 0.25 and fields:
        place = dice.randrange(len(fields))
        fields[place] = _spoiled(fields[place], dice)
    if dice.random() < 0.03:
        fields = fields[:-1] if dice.random() < 0.5 else [*fields, 1]
    tag = TAGS[name] if dice.random() < 0.995 else dice.randrange(256)
    message = packed(Structure(tag, tuple(fields)))
    return _damaged(message, dice) if dice.random() < 0.25 else message


def _right(name: str, dice: random.Random) -> list[Any]:
    terms = {"db": "neo4j", "tx_timeout": 1000, "mode": "w"} if dice.random() < 0.5 else {}
    fields: dict[str, list[Any]] = {
        "RUN": [dice.choice(_QUERIES), {"x": dice.choice(_ODD)}, terms],
        "BEGIN": [terms],
        "PULL": [{"n": dice.choice((-1, 1, 2, 1000)), "qid": dice.choice((-1, -1, 0, 1))}],
        "DISCARD": [{"n": dice.choice((-1, 1))}],
        "ROUTE": [{"address": "localhost:7687"}, [], {}],
        "TELEMETRY": [1],
        "LOGON": [{"scheme": "none"}],
        "HELLO": [{"user_agent": "f", "bolt_agent": {}}],
    }
    return fields.get(name, [])


def _spoiled(value: Any, dice: random.Random) -> Any:
    if isinstance(value, dict) and value and dice.random() < 0.8:
        return {**value, dice.choice(list(value)): dice.choice(_ODD)}
    if dice.random() < 0.2:
        return Structure(dice.randrange(128), tuple(dice.choice(_ODD) for _ in range(dice.randrange(6))))
    return dice.choice(_ODD)


def _damaged(message: bytes, dice: random.Random) -> bytes:
    data = bytearray(message)
    for _ in range(dice.randint(1, 4)):
        match dice.randrange(4):
            case 0:
                data[dice.randrange(len(data))] = dice.randrange(256)
            case 1:
                data[dice.randrange(len(data))] ^= 1 << dice.randrange(8)
            case 2:
                del data[dice.randrange(len(data)) :]
            case _:
                place = dice.randrange(len(data) + 1)
                data[place:place] = bytes(dice.randrange(256) for _ in range(dice.randint(1, 9)))
        if not data:
            return b"\xc0"
    return bytes(data)


def _framed(message: bytes, dice: random.Random) -> bytes:
    """In one chunk, or in many, with empty ones between them."""
    what = dice.random()
    if what < 0.7:
        return framed(message)
    if what < 0.98:
        size = dice.randint(1, 9)
        pieces = [message[first : first + size] for first in range(0, len(message), size)]
        return b"".join(struct.pack(">H", len(piece)) + piece for piece in pieces) + b"\0\0" * dice.randint(1, 3)
    return b"\0\0" + framed(message)


def main() -> None:
    """Run, and say what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    outcome = fuzz(options.count, random.Random(options.seed))
    for problem in outcome.problems[:10]:
        print(problem)
    print(f"{outcome.messages} messages, {outcome.replies} replies, {len(outcome.problems)} problems")
    raise SystemExit(1 if outcome.problems else 0)


if __name__ == "__main__":
    main()
