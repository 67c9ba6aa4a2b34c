"""Clients that mean harm, or are broken: refused, bounded, and nothing lost."""

from __future__ import annotations

import logging
import os
import random
import socket
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from neo4j import Driver, GraphDatabase

import hoplite
from hoplite.server.access import Access, users_from_environment, users_from_file
from hoplite.server.background import Served
from hoplite.server.packstream import Structure, packed
from hoplite.server.server import Server
from hoplite.server.settings import Settings
from tests.server.fuzz import fuzz
from tests.server.side_by_side import run as run_side_by_side
from tests.server.wire import MAGIC, Wire

NEWEST = (5, 8)


def _answers(served: Served) -> bool:
    with GraphDatabase.driver(served.uri) as driver:
        return bool(driver.execute_query("RETURN 1 AS x").records[0]["x"] == 1)


def _hangs_up(connection: socket.socket) -> bool:
    connection.settimeout(20)
    try:
        while connection.recv(1 << 16):
            pass
    except ConnectionError:
        pass
    return True


@pytest.mark.parametrize(
    "data",
    [
        b"\0" * 20,
        b"\x16\x03\x01\x02\x00\x01\x00\x01",
        MAGIC + b"\xff" * 16,
        random.Random(7).randbytes(64),
        b"SSH-2.0-x\r\n",
    ],
)
def test_other_protocols_are_hung_up_on(served: Served, data: bytes) -> None:
    with socket.create_connection(("127.0.0.1", served.port)) as connection:
        connection.sendall(data)
        assert _hangs_up(connection)
    assert _answers(served)


def test_a_message_is_not_longer_than_it_may_be(served: Served) -> None:
    with Wire(served.port, NEWEST) as wire:
        wire.socket.sendall((b"\xff\xff" + b"x" * 0xFFFF) * 2)  # before anybody said who is there
        assert _hangs_up(wire.socket)
    with Wire(served.port, NEWEST) as wire:
        wire.log_on(NEWEST)
        chunk = b"\xff\xff" + b"x" * 0xFFFF
        with pytest.raises((ConnectionError, TimeoutError)):
            wire.socket.settimeout(20)
            for _ in range(100_000):
                wire.socket.sendall(chunk)
    assert _answers(served)


def test_a_length_that_is_a_lie_costs_nothing(served: Served) -> None:
    with Wire(served.port, NEWEST) as wire:
        wire.log_on(NEWEST)
        for lie in (b"\xd6\x7f\xff\xff\xff", b"\xda\x7f\xff\xff\xff", b"\xd2\x7f\xff\xff\xff", b"\xce\xff\xff\xff\xff"):
            wire.send_bytes(b"\xb3\x10" + lie)
            assert wire.reply()[0] == "FAILURE"
            assert wire.ask("RESET") == ("SUCCESS", {})


def test_deep_values_are_refused(served: Served) -> None:
    with Wire(served.port, NEWEST) as wire:
        wire.log_on(NEWEST)
        wire.send_bytes(b"\xb3\x10" + b"\x91" * 60_000 + b"\x01")
        assert wire.reply()[0] == "FAILURE"
        value: list[object] = [1]
        for _ in range(200):
            value = [value]
        assert wire.ask("RESET") == ("SUCCESS", {})
        assert wire.ask("RUN", "RETURN $x", {"x": value}, {})[0] == "SUCCESS"
        wire.send("PULL", {"n": -1})
        assert wire.replies()[0] == ("RECORD", [value])


def test_half_a_handshake_is_not_waited_for_for_ever() -> None:
    with hoplite.open() as db:
        running = Served(Server(db, Settings(port=0, greeting=0.3)), None)
        try:
            for begun in (b"", MAGIC[:2], MAGIC + b"\0" * 4, b"GET / HT", MAGIC + b"\x00\x00\x08\x05" + b"\0" * 12):
                with socket.create_connection(("127.0.0.1", running.port)) as connection:
                    connection.sendall(begun)
                    assert _hangs_up(connection), begun
        finally:
            running.close()


def test_connections_that_have_not_begun_do_not_delay_the_end() -> None:
    with hoplite.open() as db:
        server = hoplite.serve(db, grace=60)
        held = []
        for begun in (b"", MAGIC[:2], MAGIC + b"\0" * 4, b"GET / HT"):
            connection = socket.create_connection(("127.0.0.1", server.port))
            connection.sendall(begun)
            held.append(connection)
        assert _answers(server)  # so that they were all accepted
        server.close()  # would take a minute
        for connection in held:
            assert _hangs_up(connection)
            connection.close()


def test_what_waits_to_be_handled_is_bounded() -> None:
    with hoplite.open() as db:
        server = Served(Server(db, Settings(port=0, message_bytes=1 << 20)), None)
        with db.begin() as writing, Wire(server.port, NEWEST) as wire:
            writing.run("CREATE (:Held)")
            wire.log_on(NEWEST)
            wire.send("RUN", "CREATE (:Waits)", {}, {})
            wire.socket.settimeout(1)
            large = packed(Structure(0x10, ("RETURN 1", {"text": "x" * (1 << 19)}, {})))
            with pytest.raises(TimeoutError):  # the server does not read on
                for _ in range(100):
                    wire.send_bytes(large)
        server.close()


def test_a_silent_connection_is_closed_and_a_working_one_is_not() -> None:
    server = hoplite.serve(idle=0.3)
    try:
        with Wire(server.port, NEWEST) as wire:
            wire.log_on(NEWEST)
            wire.ask("RUN", "CALL apoc.util.sleep(1200) RETURN 1 AS x", {}, {})
            wire.send("PULL", {"n": -1})
            assert wire.replies()[0] == ("RECORD", [1])
            assert _hangs_up(wire.socket)
    finally:
        server.close()


def test_more_connections_than_allowed_are_turned_away() -> None:
    server = hoplite.serve(max_connections=3)
    try:
        held = [Wire(server.port, NEWEST) for _ in range(3)]
        with socket.create_connection(("127.0.0.1", server.port)) as connection:
            assert _hangs_up(connection)
        held.pop().close()
        for _ in range(100):
            try:
                Wire(server.port, NEWEST).close()
                break
            except (EOFError, ConnectionError):
                time.sleep(0.05)
        else:
            raise AssertionError("the place is not free again")
        for wire in held:
            assert wire.log_on(NEWEST)[1][0] == "SUCCESS"
            wire.close()
    finally:
        server.close()


def test_passwords_cannot_be_found_by_trying() -> None:
    server = hoplite.serve(users={"alice": "secret"})
    try:
        codes = set()
        for number in range(300):
            with Wire(server.port, NEWEST) as wire:
                auth = {"scheme": "basic", "principal": "alice", "credentials": str(number)}
                name, metadata = wire.log_on(NEWEST, auth)[1]
                assert name == "FAILURE"
                codes.add(metadata["neo4j_code"])
                with pytest.raises(EOFError):
                    wire.reply()
        assert codes == {
            "Neo.ClientError.Security.Unauthorized",
            "Neo.ClientError.Security.AuthenticationRateLimit",
        }
    finally:
        server.close()


def test_the_right_password_is_not_looked_at_too_soon() -> None:
    access = Access({"alice": "secret"})
    for _ in range(3):
        with pytest.raises(Exception, match="unauthorized"):
            access.user({"scheme": "basic", "principal": "alice", "credentials": "x"})
    with pytest.raises(Exception, match="too many times"):
        access.user({"scheme": "basic", "principal": "alice", "credentials": "secret"})
    assert (
        Access({"alice": "secret"}).user({"scheme": "basic", "principal": "alice", "credentials": "secret"}) == "alice"
    )


def test_users_come_from_the_environment_or_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOPLITE_AUTH", "neo4j/a/b")
    assert users_from_environment() == {"neo4j": "a/b"}
    monkeypatch.setenv("HOPLITE_AUTH", "nonsense")
    with pytest.raises(ValueError):
        users_from_environment()
    file = tmp_path / "users"
    file.write_text("# people\nalice:one:two\n\nbob:three\n")
    file.chmod(0o644)
    if os.name == "posix":
        with pytest.raises(ValueError, match="chmod"):
            users_from_file(file)
    file.chmod(0o600)
    assert users_from_file(file) == {"alice": "one:two", "bob": "three"}


def test_nobody_comes_in_without_logging_on() -> None:
    server = hoplite.serve(users={"alice": "secret"})
    try:
        out_of_turn: list[Any] = [
            ("RUN", "RETURN 1", {}, {}),
            ("BEGIN", {}),
            ("RESET",),
            ("ROUTE", {}, [], {}),
            ("TELEMETRY", 1),
        ]
        for message in out_of_turn:
            with Wire(server.port, NEWEST) as wire:
                wire.ask("HELLO", {"user_agent": "t", "bolt_agent": {"product": "t"}})
                assert wire.ask(*message)[0] == "FAILURE"
                with pytest.raises(EOFError):
                    wire.reply()
    finally:
        server.close()


def test_a_failed_log_on_does_not_let_anybody_in_by_a_reset() -> None:
    server = hoplite.serve(users={"alice": "secret"})
    try:
        with Wire(server.port, NEWEST) as wire:
            wire.ask("HELLO", {"user_agent": "t", "bolt_agent": {"product": "t"}})
            wire.ask("LOGON", {"scheme": "none"})
            with pytest.raises((EOFError, ConnectionError)):
                wire.ask("RESET")
    finally:
        server.close()


_SERVE = """
import sys
import hoplite
server = hoplite.serve()
print(server.port, flush=True)
for line in sys.stdin:
    peak = next(line for line in open("/proc/self/status") if line.startswith("VmRSS"))
    print(int(peak.split()[1]) // 1024, flush=True)
"""


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the memory of a process from /proc")
def test_memory_is_flat_however_long_a_result_is() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _SERVE], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as server:
        assert server.stdin is not None and server.stdout is not None

        def megabytes() -> int:
            assert server.stdin is not None and server.stdout is not None
            print("?", file=server.stdin, flush=True)
            return int(server.stdout.readline())

        port = int(server.stdout.readline())
        with Wire(port, NEWEST, timeout=120) as wire:
            wire.log_on(NEWEST)
            _stream(wire, 10_000)
            before = megabytes()
            _stream(wire, 300_000)
            assert megabytes() - before < 40
            wire.send("RUN", "UNWIND range(1, 100000000) AS x RETURN x, toString(x)", {}, {})
            wire.send("PULL", {"n": -1})
            time.sleep(1.5)  # the client reads nothing of it
            assert megabytes() - before < 60
        server.stdin.close()


def _stream(wire: Wire, rows: int) -> None:
    wire.send("RUN", f"UNWIND range(1, {rows}) AS x RETURN x, toString(x) AS text", {}, {})
    wire.send("PULL", {"n": -1})
    tail = b""
    while b"bookmark" not in tail:
        tail = (tail + wire.socket.recv(1 << 20))[-4096:]
    wire.socket.settimeout(0.5)
    try:
        while wire.socket.recv(1 << 16):
            pass
    except TimeoutError:
        wire.socket.settimeout(120)


def test_damaged_messages_find_nothing_to_break(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.ERROR, "hoplite.server"):
        outcome = fuzz(1_500, random.Random(11))
    assert outcome.problems == [] and outcome.messages >= 1_500
    assert caplog.records == []


def test_connections_side_by_side_tear_nothing() -> None:
    outcome = run_side_by_side(connections=16, seconds=4)
    assert outcome.problems == [] and outcome.moves > 10 and outcome.sums > 10


def test_structures_in_parameters_are_refused_wherever_they_are(driver: Driver, served: Served) -> None:
    with Wire(served.port, NEWEST) as wire:
        wire.log_on(NEWEST)
        node = Structure(0x4E, (1, [], {}, "4:a:1"))
        for hidden in (node, [node], {"a": [{"b": node}]}, [[[node]]]):
            assert wire.ask("RUN", "RETURN $x", {"x": hidden}, {})[0] == "FAILURE"
            assert wire.ask("RESET") == ("SUCCESS", {})
