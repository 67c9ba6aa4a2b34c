"""Neo4j's own tools for models on a graph in the process: `pip install mcp-neo4j-cypher`.

As a server of its own it needs `hoplite.install_driver()` before its `main`, and `--db-url hoplite:///path/to/kg.hop`.
`hoplite mcp kg.hop` offers the same tools, and bounds what they run.
"""

import asyncio

from fastmcp import Client
from mcp_neo4j_cypher.server import create_mcp_server

from hoplite import AsyncGraphDatabase
from hoplite.sample import load_sample


async def main() -> None:
    """Ask the server as a client would."""
    with load_sample() as db:
        async with AsyncGraphDatabase.driver(database=db) as driver, Client(create_mcp_server(driver)) as client:
            query = "MATCH (d:Drug)-[:TREATS]->(:Disease {name: 'Gout'}) RETURN d.name AS drug ORDER BY drug"
            answer = await client.call_tool("read_neo4j_cypher", {"query": query})
            print(answer.content[0].text)


asyncio.run(main())
