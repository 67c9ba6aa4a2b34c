"""db.create* and dbms.*: names registered before use, and where to connect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.errors import DATABASE_NOT_FOUND, TOKEN_NAME_ERROR, CypherError, invalid_token_name

# --- names ----------------------------------------------------------------------------------------------------------


def _checked(name: str | None) -> str:
    if name is None or not name or "\0" in name:
        raise CypherError(TOKEN_NAME_ERROR, invalid_token_name("Null" if name is None else f"'{name}'"))
    return name


@cypher_procedure(
    "db.createLabel(newLabel :: STRING)", mode="WRITE", description="Create a label", works_on_system=False
)
def create_label(context: Execution, name: str | None) -> Iterator[Row]:
    """No rows."""
    writer_of(context).admit(label=_checked(name))
    yield from ()


@cypher_procedure(
    "db.createRelationshipType(newRelationshipType :: STRING)",
    mode="WRITE",
    description="Create a RelationshipType",
    works_on_system=False,
)
def create_relationship_type(context: Execution, name: str | None) -> Iterator[Row]:
    """No rows."""
    writer_of(context).admit(type=_checked(name))
    yield from ()


@cypher_procedure(
    "db.createProperty(newProperty :: STRING)", mode="WRITE", description="Create a Property", works_on_system=False
)
def create_property(context: Execution, name: str | None) -> Iterator[Row]:
    """No rows."""
    writer_of(context).admit(key=_checked(name))
    yield from ()


# --- where to connect -----------------------------------------------------------------------------------------------

_ADDRESS = "localhost:7687"  # what a server advertises by default
_ROUTING = "(context :: MAP, database = null :: STRING) :: (ttl :: INTEGER, servers :: LIST<MAP>)"
_DATABASES = ("neo4j", "system")


def _routing_table(database: str | None) -> Iterator[Row]:
    if database is not None and database.lower() not in _DATABASES:
        message = f"Unable to get a routing table for database '{database}' because this database does not exist"
        raise CypherError(DATABASE_NOT_FOUND, message)
    yield 300, [{"addresses": [_ADDRESS], "role": role} for role in ("WRITE", "READ", "ROUTE")]


@cypher_procedure(
    f"dbms.routing.getRoutingTable{_ROUTING}",
    mode="DBMS",
    description="Returns the advertised bolt capable endpoints for a given database, divided by each endpoint's "
    "capabilities. For example, an endpoint may serve read queries, write queries, and/or future `getRoutingTable` "
    "requests.",
)
def routing_table(context: Execution, settings: dict[str, Any], database: str | None) -> Iterator[Row]:
    """One server in every role."""
    return _routing_table(database)


@cypher_procedure(
    f"dbms.cluster.routing.getRoutingTable{_ROUTING}",
    mode="DBMS",
    description="Returns the advertised bolt capable endpoints for a given database, divided by each endpoint's "
    "capabilities. For example, an endpoint may serve read queries, write queries, and/or future `getRoutingTable` "
    "requests.",
    deprecated_by="dbms.routing.getRoutingTable",
)
def cluster_routing_table(context: Execution, settings: dict[str, Any], database: str | None) -> Iterator[Row]:
    """One server in every role."""
    return _routing_table(database)


_NO_CONNECTION = "No connection found with this id"


@cypher_procedure(
    "dbms.killConnection(id :: STRING) :: (connectionId :: STRING, username :: STRING, message :: STRING)",
    mode="DBMS",
    description="Kill network connection with the given connection id.",
)
def kill_connection(context: Execution, connection: str) -> Iterator[Row]:
    """There is no network, so there is no connection with that id."""
    yield connection, "n/a", _NO_CONNECTION


@cypher_procedure(
    "dbms.killConnections(ids :: LIST<STRING>) :: (connectionId :: STRING, username :: STRING, message :: STRING)",
    mode="DBMS",
    description="Kill all network connections with the given connection ids.",
)
def kill_connections(context: Execution, connections: list[str] | None) -> Iterator[Row]:
    """There is no network, so there are no connections with these ids."""
    yield from ((connection, "n/a", _NO_CONNECTION) for connection in connections or ())


@cypher_procedure(
    "dbms.listCapabilities() :: (name :: STRING, description :: STRING, value :: ANY)",
    mode="DBMS",
    description="List capabilities.",
)
def list_capabilities(context: Execution) -> Iterator[Row]:
    """None, as the community edition has none."""
    yield from ()
