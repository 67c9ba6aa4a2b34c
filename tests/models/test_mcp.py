"""The Model Context Protocol server, by a real client over both of its transports."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest

import hoplite
from tests.models.test_untrusted import COMMANDS, FILES, HEAVY, WRITES

pytest.importorskip("mcp", reason="the extra `mcp` is not installed")

import anyio
from mcp import Client, MCPError
from mcp.client.stdio import StdioServerParameters

COMMAND = [sys.executable, "-c", "import sys; from hoplite.cli import main; sys.exit(main())", "mcp"]
Connect = Callable[..., AbstractAsyncContextManager[Client]]


def _environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": str(Path(hoplite.__file__).parents[1])}


def _over_stdio(*arguments: str) -> Client:
    command, *words = [*COMMAND, *arguments]
    return Client(StdioServerParameters(command=command, args=words, env=_environment()))


@contextmanager
def _http_server(*arguments: str) -> Iterator[str]:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    with subprocess.Popen([*COMMAND, *arguments, "--http", str(port)], env=_environment()) as process:
        try:
            for _ in range(600):
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        break
                assert process.poll() is None, "the server ended before it answered"
                time.sleep(0.1)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.kill()


def _with_client(transport: str, work: Callable[[Client], Awaitable[None]], *arguments: str) -> None:
    """Run `work` with a client of a new server over the sample graph."""
    words = arguments if any(Path(word).is_dir() for word in arguments) else ("--sample", *arguments)

    async def session(client: Client) -> None:
        with anyio.fail_after(240):
            async with client:
                await work(client)

    if transport == "stdio":
        anyio.run(session, _over_stdio(*words))
    else:
        with _http_server(*words) as url:
            anyio.run(session, Client(url))


async def _text(client: Client, tool: str, **arguments: Any) -> str:
    result = await client.call_tool(tool, arguments)
    (content,) = result.content
    assert content.type == "text"
    assert not result.is_error, content.text
    return content.text


async def _error(client: Client, tool: str, **arguments: Any) -> str:
    """The message of a call that has to fail."""
    try:
        result = await client.call_tool(tool, arguments)
    except MCPError as problem:
        return str(problem)
    assert result.is_error, (tool, arguments, result.content)
    (content,) = result.content
    assert content.type == "text"
    return content.text


READING = {
    "get_neo4j_schema", "read_neo4j_cypher", "repair_cypher", "explain_cypher", "find_entities", "neighbourhood",
}  # fmt: skip


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_client_lists_the_tools_and_calls_them(transport: str) -> None:
    async def work(client: Client) -> None:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        assert set(tools) == READING
        assert all(tool.description and tool.annotations and tool.annotations.read_only_hint for tool in tools.values())
        assert "(:Drug)-[:TREATS]->(:Disease)" in await _text(client, "get_neo4j_schema")
        assert json.loads(await _text(client, "get_neo4j_schema", form="json", question="genes"))["labels"]["Gene"]
        query = "MATCH (d:Drug {name: $name}) RETURN d.name, d.route"
        found = json.loads(await _text(client, "read_neo4j_cypher", query=query, params={"name": "Aspirin"}))
        assert found == {"columns": ["d.name", "d.route"], "rows": [["Aspirin", "oral"]]}
        assert "NodeByLabelScan" in await _text(client, "explain_cypher", query="MATCH (d:Drug) RETURN d")
        repaired = json.loads(await _text(client, "repair_cypher", query="MATCH (d:Drugs) RETURN d.name"))
        assert repaired["query"] == "MATCH (d:Drug) RETURN d.name"
        await _entities(client)

    _with_client(transport, work)


async def _entities(client: Client) -> None:
    names = ["Aspirin", "HEART FAILURE", "Asprin", "Coronary", "failure", "zzzzzz"]
    found = json.loads(await _text(client, "find_entities", names=names, limit=3))
    best = {name: [(node["value"], node["match"]) for node in found[name]["nodes"]] for name in names}
    assert best["Aspirin"][0] == ("Aspirin", "exact")
    assert best["HEART FAILURE"][0] == ("Heart failure", "case")
    assert best["Asprin"][0] == ("Aspirin", "similar")
    assert best["Coronary"][0] == ("Coronary artery disease", "prefix")
    assert ("Heart failure", "part") in best["failure"]
    assert best["zzzzzz"] == []
    aspirin = found["Aspirin"]["nodes"][0]["elementId"]
    around = json.loads(await _text(client, "neighbourhood", element_ids=[aspirin], hops=2, types=["TREATS"]))
    assert {path["hops"] for path in around["paths"]} == {1, 2}
    one = next(path for path in around["paths"] if path["hops"] == 1)
    assert one["nodes"][0] == aspirin and one["relationships"][0]["type"] == "TREATS"
    assert one["relationships"][0]["direction"] == "out"
    assert set(one["relationships"][0]["properties"]) == {"evidence"}
    assert around["nodes"][one["to"]]["labels"] == ["Disease"]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_answers_are_cut_and_go_on_by_cursor(transport: str) -> None:
    async def work(client: Client) -> None:
        query = "MATCH (n) RETURN n.name ORDER BY n.name"
        rows: list[Any] = []
        arguments: dict[str, Any] = {"query": query}
        while True:
            page = json.loads(await _text(client, "read_neo4j_cypher", **arguments))
            rows += page["rows"]
            if "cursor" not in page:
                break
            assert "call again" in page["hint"]
            arguments = {"query": query, "cursor": page["cursor"]}
        assert len(rows) == 811 and rows == sorted(rows)
        assert "another statement" in await _error(
            client, "read_neo4j_cypher", query="RETURN 1", cursor=arguments["cursor"]
        )
        for tool, said in (
            ("get_neo4j_schema", {}),
            ("find_entities", {"names": ["a", "e", "o"], "limit": 100}),
            ("neighbourhood", {"element_ids": await _ids(client), "hops": 3, "limit": 500}),
        ):
            assert len((await _text(client, tool, **said)).encode()) <= 700 * 3.5 + 10

    _with_client(transport, work, "--tokens", "700")


async def _ids(client: Client) -> list[str]:
    text = await _text(client, "read_neo4j_cypher", query="MATCH (d:Drug) RETURN elementId(d) LIMIT 5")
    return [row[0] for row in json.loads(text)["rows"]]


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_errors_come_back_as_errors(transport: str) -> None:
    async def work(client: Client) -> None:
        assert "SyntaxError" in await _error(client, "read_neo4j_cypher", query="RETRUN 1")
        assert "SyntaxError" in await _error(client, "explain_cypher", query="RETRUN 1")
        assert "ParameterMissing" in await _error(client, "read_neo4j_cypher", query="RETURN $x")
        assert "query" in await _error(client, "read_neo4j_cypher")
        assert "hops can be" in await _error(client, "neighbourhood", element_ids=["x"], hops=99)
        assert "direction can be" in await _error(client, "neighbourhood", element_ids=["x"], direction="up")
        assert "There is no label 'Nope'" in await _error(client, "find_entities", names=["x"], label="Nope")
        assert "form is" in await _error(client, "get_neo4j_schema", form="xml")
        assert await _error(client, "write_neo4j_cypher", query="CREATE (:X)")
        assert await _error(client, "no_such_tool")

    _with_client(transport, work)


def test_writing_has_to_be_asked_for(tmp_path: Path) -> None:
    folder = tmp_path / "db"
    with hoplite.open(folder) as db:
        db.run("CREATE (:N {k: 1})")

    async def writes(client: Client) -> None:
        assert {tool.name for tool in (await client.list_tools()).tools} == READING | {"write_neo4j_cypher"}
        answer = json.loads(await _text(client, "write_neo4j_cypher", query="CREATE (n:N {k: 2}) RETURN n.k"))
        assert answer["rows"] == [[2]] and answer["changes"]["nodes_created"] == 1
        assert "Forbidden" in await _error(client, "read_neo4j_cypher", query="CREATE (:N)")
        assert "Forbidden" in await _error(client, "write_neo4j_cypher", query="CREATE INDEX FOR (n:N) ON (n.k)")

    _with_client("stdio", writes, str(folder), "--write")

    async def reads(client: Client) -> None:
        text = await _text(client, "read_neo4j_cypher", query="MATCH (n:N) RETURN n.k ORDER BY n.k")
        assert json.loads(text)["rows"] == [[1], [2]]

    _with_client("stdio", reads, str(folder))


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_call_that_is_given_up_stops_its_statement(transport: str) -> None:
    endless = "UNWIND range(1, 3000000000) AS x WITH x WHERE x < 0 RETURN x"

    async def work(client: Client) -> None:
        async def give_up() -> None:
            with anyio.move_on_after(0.5):
                await client.call_tool("read_neo4j_cypher", {"query": endless})

        # More of them than run at once: if they went on, nobody else would get a turn.
        async with anyio.create_task_group() as group:
            for _ in range(4 * (os.cpu_count() or 1)):
                group.start_soon(give_up)
        with anyio.fail_after(100):
            assert json.loads(await _text(client, "read_neo4j_cypher", query="RETURN 1 AS x"))["rows"] == [[1]]

    _with_client(transport, work, "--timeout", "300", "--estimated-rows", "1e12")


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_hundred_calls_side_by_side(transport: str) -> None:
    async def work(client: Client) -> None:
        answers: dict[int, Any] = {}

        async def ask(number: int) -> None:
            query = "MATCH (d:Drug) WITH d ORDER BY d.name SKIP $n LIMIT 1 RETURN $n, d.name"
            text = await _text(client, "read_neo4j_cypher", query=query, params={"n": number})
            answers[number] = json.loads(text)["rows"]

        async with anyio.create_task_group() as group:
            for number in range(100):
                group.start_soon(ask, number)
        names = [rows[0][1] for _, rows in sorted(answers.items())]
        assert [rows[0][0] for _, rows in sorted(answers.items())] == list(range(100))
        assert names == sorted(names) and len(set(names)) == 100

    _with_client(transport, work)


@pytest.mark.parametrize("transport", ["stdio", "http"])
def test_a_hostile_client_gets_errors_only(transport: str) -> None:
    attempts: list[tuple[str, dict[str, Any]]] = [
        ("read_neo4j_cypher", {"query": query}) for query in (*WRITES, *COMMANDS, *FILES, *HEAVY)
    ]
    attempts += [("write_neo4j_cypher", {"query": query}) for query in WRITES[:8]]
    attempts += [
        ("read_neo4j_cypher", {"query": "RETURN 1", "cursor": "x" * 100}),
        ("read_neo4j_cypher", {"query": "RETURN " + "(" * 100_000}),
        ("read_neo4j_cypher", {"query": "RETURN " + "-" * 200_000 + "1"}),
        ("read_neo4j_cypher", {"query": 5}),
        ("read_neo4j_cypher", {"query": "UNWIND $x AS y UNWIND $x AS z UNWIND $x AS a RETURN 1",
                               "params": {"x": list(range(1000))}}),
        ("neighbourhood", {"element_ids": ["x"], "hops": 10**9}),
        ("find_entities", {"names": ["x"] * 1000}),
        ("explain_cypher", {"query": "RETURN " + "[" * 100_000}),
    ]  # fmt: skip
    assert len(attempts) >= 80

    async def work(client: Client) -> None:
        before = await _text(client, "get_neo4j_schema", form="json")
        for tool, arguments in attempts:
            message = await _error(client, tool, **arguments)
            assert "root:" not in message and "Traceback" not in message, message
        assert await _text(client, "get_neo4j_schema", form="json") == before

    _with_client(transport, work, "--timeout", "2")
