"""db.create*, db.stats.retrieve and dbms.*: names registered before use, names and counts, and where to connect."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.errors import DATABASE_NOT_FOUND, TOKEN_NAME_ERROR, CypherError, invalid_token_name
from hoplite.storage.schema import Constraint, ConstraintKind, Entity, Index, IndexKind

_PROVIDERS = {
    IndexKind.RANGE: "range-1.0",
    IndexKind.TEXT: "text-2.0",
    IndexKind.POINT: "point-1.0",
    IndexKind.LOOKUP: "token-lookup-1.0",
}
"""The kinds of index that are counted."""
_SECTIONS = ("GRAPH COUNTS", "TOKENS", "QUERIES")


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


# --- counts ---------------------------------------------------------------------------------------------------------


@cypher_procedure(
    "db.stats.retrieve(section :: STRING, config = {} :: MAP) :: (section :: STRING, data :: MAP)",
    description="Retrieve statistical data about the current database. Valid sections are 'GRAPH COUNTS', 'TOKENS', "
    "'QUERIES', 'META'",
    admin=True,
)
def retrieve(context: Execution, section: str, config: dict[str, Any]) -> Iterator[Row]:
    """One row; queries are not collected, so that section is empty."""
    if section == "GRAPH COUNTS":
        yield section, _graph_counts(context)
    elif section == "TOKENS":
        graph = context.graph
        yield (
            section,
            {
                "labels": list(graph.labels()),
                "relationshipTypes": list(graph.type_names),
                "propertyKeys": list(graph.property_keys()),
            },
        )
    elif section != "QUERIES":
        message = f"Unknown section '{section}', known sections are [{', '.join(_SECTIONS)}]"
        raise CypherError("Neo.ClientError.General.InvalidArguments", message)


def _graph_counts(context: Execution) -> dict[str, Any]:
    graph = context.graph
    nodes: list[dict[str, Any]] = [{"count": graph.node_count}]
    nodes += [{"label": label, "count": graph.label_count(label)} for label in graph.labels()]
    relationships: list[dict[str, Any]] = [{"count": graph.relationship_count}]
    for name in graph.type_names:
        context.check_time()
        relationships.append({"relationshipType": name, "count": graph.type_count(name)})
        for label in graph.labels():
            if count := graph.pattern_count(label, name, None):
                relationships.append({"relationshipType": name, "startLabel": label, "count": count})
            if count := graph.pattern_count(None, name, label):
                relationships.append({"relationshipType": name, "endLabel": label, "count": count})
    return {
        "nodes": nodes,
        "relationships": relationships,
        "indexes": [_index(context, index) for index in graph.schema.indexes if index.kind in _PROVIDERS],
        "constraints": [_constraint(rule) for rule in graph.schema.constraints],
    }


def _place(rule: Index | Constraint) -> dict[str, Any]:
    return {"labels" if rule.entity is Entity.NODE else "relationshipTypes": list(rule.labels)}


def _index(context: Execution, index: Index) -> dict[str, Any]:
    graph, size, different = context.graph, 0, 0
    if index.finds_values and len(index.labels) == 1 and len(index.keys) == 1:
        (label,), (key,) = index.labels, index.keys
        is_of_nodes = index.entity is Entity.NODE
        members = graph.nodes_with_label(label) if is_of_nodes else graph.relationships_with_type(label)
        column = (graph.node_property if is_of_nodes else graph.relationship_property)(members, key)
        size = int((~column.null_mask()).sum())
        different = (graph.distinct_values(label, key) or 0) if is_of_nodes else size
    return {
        **_place(index),
        "properties": list(index.keys),
        "indexType": index.kind.value,
        "indexProvider": _PROVIDERS[index.kind],
        "totalSize": size,
        "estimatedUniqueSize": different,
        "updatesSinceEstimation": 0,
    }


def _constraint(rule: Constraint) -> dict[str, Any]:
    is_of_nodes = rule.kind is ConstraintKind.NODE_UNIQUE
    place = {"label": rule.labels[0]} if is_of_nodes else {"relationshipType": rule.labels[0]}
    return {**place, "properties": list(rule.keys), "type": "Uniqueness constraint"}


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
