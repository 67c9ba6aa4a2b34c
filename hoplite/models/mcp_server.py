"""A server of the Model Context Protocol over one database, on the official SDK (extra `mcp`).

A tool runs in its own thread, a few at a time. If a client gives up, the statement is stopped.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any

import anyio
from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp.types import ToolAnnotations
from neo4j.exceptions import DriverError, Neo4jError
from pydantic import Field

from hoplite.models.mcp_tools import Settings, ToolFailed, Tools

if TYPE_CHECKING:
    from hoplite.api.database import Database

_INSTRUCTIONS = """A graph database that speaks the Cypher of Neo4j 5.
Call get_neo4j_schema first; find_entities turns names of a question into nodes. Then write one Cypher query for
read_neo4j_cypher. Return properties rather than whole nodes, and use LIMIT. Where a query fails or finds nothing, try
repair_cypher and explain_cypher. neighbourhood shows what is around a node, with evidence."""

_READS = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
_WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, idempotent_hint=False, open_world_hint=False)

Query = Annotated[str, Field(description="One Cypher statement.")]
Parameters = Annotated[dict[str, Any] | None, Field(description="The statement's parameters by name.")]


def make_server(db: Database, settings: Settings) -> MCPServer:
    """The server with its tools; it offers writes only if the settings allow it."""
    server: MCPServer = MCPServer("hoplite", instructions=_INSTRUCTIONS, log_level="WARNING")
    tools = Tools(db, settings)
    at_once = threads()

    async def run(work: Callable[[threading.Event], str]) -> str:
        stop = threading.Event()
        try:
            return await anyio.to_thread.run_sync(
                partial(_attempt, work, stop), abandon_on_cancel=True, limiter=at_once
            )
        finally:
            stop.set()

    _add_cypher_tools(server, tools, run, settings.write)
    _add_graph_tools(server, tools, run)
    return server


Run = Callable[[Callable[[threading.Event], str]], Any]


def threads() -> anyio.CapacityLimiter:
    """How many statements run at once: more would share the same cores, and each needs memory."""
    return anyio.CapacityLimiter(2 * (os.cpu_count() or 1))


def _attempt(work: Callable[[threading.Event], str], stop: threading.Event) -> str:
    try:
        return work(stop)
    except ToolFailed as problem:
        raise ToolError(str(problem)) from None
    except Neo4jError as problem:
        raise ToolError(f"{problem.code}: {problem.message}") from None
    except (DriverError, ValueError, TypeError) as problem:
        raise ToolError(str(problem)) from None


def _add_cypher_tools(server: MCPServer, tools: Tools, run: Run, write: bool) -> None:
    async def read_neo4j_cypher(
        query: Query,
        params: Parameters = None,
        cursor: Annotated[str | None, Field(description="From the previous answer, for its next rows.")] = None,
    ) -> str:
        return str(await run(lambda stop: tools.read(query, params or {}, cursor, stop)))

    async def write_neo4j_cypher(query: Query, params: Parameters = None) -> str:
        return str(await run(lambda stop: tools.write(query, params or {}, stop)))

    async def explain_cypher(query: Query, params: Parameters = None) -> str:
        return str(await run(lambda stop: tools.explain(query, params or {}, stop)))

    async def repair_cypher(query: Query, params: Parameters = None) -> str:
        return str(await run(lambda stop: tools.repair(query, params or {})))

    _add(server, read_neo4j_cypher, _READS, "Run a Cypher statement that reads, and return its rows as JSON. Long "
         "answers are cut; the cursor in the answer leads to the next rows.")  # fmt: skip
    if write:
        _add(server, write_neo4j_cypher, _WRITES, "Run a Cypher statement that writes, and return what it changed.")
    _add(server, explain_cypher, _READS, "Show the plan of a Cypher statement without running it.")
    _add(server, repair_cypher, _READS, "Fix what is provably wrong in a Cypher statement (names, directions, "
         "syntax), and say what else is suspicious. Runs nothing.")  # fmt: skip


def _add_graph_tools(server: MCPServer, tools: Tools, run: Run) -> None:
    async def get_neo4j_schema(
        question: Annotated[
            str | None, Field(description="What the schema is for: what it mentions comes first.")
        ] = None,
        form: Annotated[str, Field(description="text, json or cypher")] = "text",
    ) -> str:
        return str(await run(lambda stop: tools.schema(question, form)))

    async def find_entities(
        names: Annotated[list[str], Field(description="Names, as in the question.")],
        label: Annotated[str | None, Field(description="Only nodes with this label.")] = None,
        limit: Annotated[int, Field(description="How many nodes for each name.")] = 5,
    ) -> str:
        return str(await run(lambda stop: tools.find(names, label, limit, stop)))

    async def neighbourhood(
        element_ids: Annotated[list[str], Field(description="Where to start: elementId of nodes.")],
        hops: Annotated[int, Field(description="How far, 1 to 6.")] = 1,
        types: Annotated[list[str] | None, Field(description="Only relationships of these types.")] = None,
        direction: Annotated[str, Field(description="out, in or both")] = "both",
        limit: Annotated[int, Field(description="How many nodes at most, the nearest first.")] = 50,
    ) -> str:
        return str(await run(lambda stop: tools.neighbourhood(element_ids, hops, types or (), direction, limit, stop)))

    _add(server, get_neo4j_schema, _READS, "Describe the graph: labels, relationship types, properties with types and "
         "values, and which patterns occur.")  # fmt: skip
    _add(server, find_entities, _READS, "Find the nodes that names in a question refer to: as written, in another "
         "case, as a prefix or part of a text, misspelt, or by a full-text index.")  # fmt: skip
    _add(server, neighbourhood, _READS, "Show what is within a number of hops of some nodes, each with one shortest "
         "path to it as evidence.")  # fmt: skip


def _add(server: MCPServer, tool: Callable[..., Any], annotations: ToolAnnotations, description: str) -> None:
    server.add_tool(tool, description=description, annotations=annotations, structured_output=False)
