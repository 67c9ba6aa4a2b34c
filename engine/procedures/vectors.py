"""Vector indexes: the nearest neighbours of a vector, and the procedures that store one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.functions.arguments import are_numbers
from hoplite.engine.functions.vector import vector_of
from hoplite.engine.procedures.registry import (
    Row,
    call_failed,
    cypher_procedure,
    illegal_argument,
    schema_change_failed,
)
from hoplite.errors import CypherError
from hoplite.storage.schema import Constraint, Entity, Index, IndexKind
from hoplite.storage.search.vectors import is_cosine, vector_setting
from hoplite.values.columns import Floats, Int64s, Nodes, Relationships
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.render import describe

Float32s = NDArray[np.float32]


# --- settings of an index ---


def describe_index(index: Index, owner: Constraint | None = None) -> str:
    """An index, with the constraint that owns it, as Neo4j's messages write it."""
    labels, keys = ":".join(index.labels), ", ".join(index.keys)
    place = f"(:{labels} {{{keys}}})" if index.entity is Entity.NODE else f"()-[:{labels} {{{keys}}}]-()"
    if index.kind is IndexKind.LOOKUP:
        place = "(:<any-labels>)" if index.entity is Entity.NODE else "()-[:<any-types>]-()"
    return (
        f"Index( id={index.id}, name='{index.name}', type='{index.kind.value}', schema={place}, "
        f"indexProvider='{index.provider}'{f', owningConstraint={owner.id}' if owner else ''} )"
    )


def index_for(context: Execution, procedure: str, name: str, kind: IndexKind, entity: Entity) -> Index:
    """The index of that name; raises unless it has the right kind and entity type."""
    index = context.graph.schema.index(name)
    if index is None or index.kind is not kind:
        raise illegal_argument(
            procedure, f"There is no such {kind.value.lower()} schema index: {'null' if name is None else name}"
        )
    if index.entity is not entity:
        indexed, asked = ("nodes", "relationships") if entity is Entity.RELATIONSHIP else ("relationships", "nodes")
        raise illegal_argument(
            procedure,
            f"The '{name}' index ({describe_index(index)}) is an index on {indexed}, so it cannot be queried for "
            f"{asked}.",
        )
    return index


# --- looking up ---


def _query_vector(procedure: str, index: Index, query: Any) -> Float32s:
    if query is None:
        raise call_failed(procedure, "java.lang.NullPointerException", "'query' must not be null")
    if not isinstance(query, list) or not are_numbers(query):
        raise illegal_argument(procedure, f"Index query vector must be a list of numbers, but got: {describe(query)}")
    dimensions = vector_setting(index, "dimensions")
    if dimensions is not None and len(query) != dimensions:
        raise illegal_argument(
            procedure, f"Index query vector has {len(query)} dimensions, but indexed vectors have {dimensions}."
        )
    vector = vector_of(query, is_cosine(index))
    if vector is None:
        norm = ", and have positive and finite l2-norm" if is_cosine(index) else ""
        raise illegal_argument(
            procedure,
            f"Vector must only contain finite values{norm}. Provided: "
            f"SequenceValueVectorCandidate[sequence={describe(query)}]",
        )
    return vector


def _nearest(
    context: Execution, procedure: str, entity: Entity, name: str, count: int, query: Any
) -> tuple[Int64s, Float32s]:
    """The nearest entities, best first, and their scores."""
    index = index_for(context, procedure, name, IndexKind.VECTOR, entity)
    if count is None or count <= 0:
        raise illegal_argument(procedure, "'numberOfNearestNeighbours' must be positive")
    if count > _MOST_NEIGHBOURS:
        raise call_failed(procedure, "java.lang.ArithmeticException", "integer overflow")
    vector = _query_vector(procedure, index, query)
    return context.graph.nearest(index, vector, count)


_MOST_NEIGHBOURS = 2**31 - 1
_MOST_DIMENSIONS = 4096
_SIMILARITIES = ("COSINE", "EUCLIDEAN")


@cypher_procedure(
    "db.index.vector.createNodeIndex(indexName :: STRING, label :: STRING, propertyKey :: STRING, "
    "vectorDimension :: INTEGER, vectorSimilarityFunction :: STRING)",
    mode="SCHEMA",
    description="Create a named node vector index for the specified label and property with the given vector "
    "dimensionality using either the EUCLIDEAN or COSINE similarity function.\nBoth similarity functions are "
    "case-insensitive.\nUse the `db.index.vector.queryNodes` procedure to query the named index.\n",
    works_on_system=False,
    deprecated_by="CREATE VECTOR INDEX",
)
def create_node_index(
    context: Execution, name: str, label: str, key: str, dimensions: int, similarity: str
) -> Iterator[Row]:
    """No rows."""
    procedure = "db.index.vector.createNodeIndex"
    if not 1 <= dimensions <= _MOST_DIMENSIONS:
        raise illegal_argument(procedure, f"'vectorDimension' must be between 1 and {_MOST_DIMENSIONS} inclusively")
    if similarity.upper() not in _SIMILARITIES:
        message = f"'{similarity}' is an unsupported vector similarity function for index with provider vector-2.0."
        raise illegal_argument(procedure, f"{message} Supported: [{', '.join(_SIMILARITIES)}]")
    assert context.writer is not None
    config = {"vector.dimensions": dimensions, "vector.similarity_function": similarity.upper()}
    try:
        made = context.writer.create_index(
            name, IndexKind.VECTOR, Entity.NODE, (label,), (key,), {"indexConfig": config}, False
        )
    except CypherError as problem:
        raise schema_change_failed(procedure, problem) from None
    context.counters.indexes_added += int(made.is_new)
    yield from ()


@cypher_procedure(
    "db.index.vector.queryNodes(indexName :: STRING, numberOfNearestNeighbours :: INTEGER, query :: ANY) :: (node :: "
    "NODE, "
    "score :: FLOAT)",
    description="Query the given node vector index.\nReturns requested number of nearest neighbors to the provided "
    "query "
    "vector,\nand their similarity score to that query vector, based on the configured similarity function for the "
    "index.\n"
    "The similarity score is a value between [0, 1]; where 0 indicates least similar, 1 most similar.\n",
    works_on_system=False,
)
def query_nodes(context: Execution, name: str, count: int, query: Any) -> Iterator[Batch]:
    """Nodes, best first."""
    nodes, scores = _nearest(context, "db.index.vector.queryNodes", Entity.NODE, name, count, query)
    yield Batch({"node": Nodes(nodes), "score": Floats(scores.astype(np.float64))}, len(nodes))


@cypher_procedure(
    "db.index.vector.queryRelationships(indexName :: STRING, numberOfNearestNeighbours :: INTEGER, query :: ANY) :: "
    "(relationship :: RELATIONSHIP, score :: FLOAT)",
    description="Query the given relationship vector index.\nReturns requested number of nearest neighbors to the "
    "provided "
    "query vector,\nand their similarity score to that query vector, based on the configured similarity function for "
    "the "
    "index.\nThe similarity score is a value between [0, 1]; where 0 indicates least similar, 1 most similar.\n",
    works_on_system=False,
)
def query_relationships(context: Execution, name: str, count: int, query: Any) -> Iterator[Batch]:
    """Relationships, best first."""
    procedure = "db.index.vector.queryRelationships"
    found, scores = _nearest(context, procedure, Entity.RELATIONSHIP, name, count, query)
    yield Batch({"relationship": Relationships(found), "score": Floats(scores.astype(np.float64))}, len(found))


# --- storing ---


def _floats(procedure: str, vector: Any) -> list[float]:
    if vector is None:
        raise call_failed(procedure, "java.lang.NullPointerException", "'vector' must not be null")
    if not isinstance(vector, list) or not are_numbers(vector):
        raise illegal_argument(procedure, f"Vector must be a list of numbers, but got: {describe(vector)}")
    single: Float32s = np.array(vector, np.float32)
    numbers: list[float] = single.astype(np.float64).tolist()
    return numbers


def _set_vector(context: Execution, procedure: str, argument: str, entity: Any, key: str, vector: Any) -> None:
    for name, value in ((argument, entity), ("key", key)):
        if value is None:
            raise call_failed(procedure, "java.lang.NullPointerException", f"'{name}' must not be null")
    values = _floats(procedure, vector)
    assert context.writer is not None, "a procedure of mode WRITE runs in a transaction that may write"
    if isinstance(entity, NodeRef):
        context.writer.set_node_property(entity.position, key, values)
    else:
        context.writer.set_relationship_property(entity.position, key, values)


@cypher_procedure(
    "db.create.setNodeVectorProperty(node :: NODE, key :: STRING, vector :: ANY)",
    mode="WRITE",
    description="Set a vector property on a given node in a more space efficient representation than Cypher's SET.",
    works_on_system=False,
)
def set_node_vector(context: Execution, node: NodeRef, key: str, vector: Any) -> Iterator[Row]:
    """Stores the numbers as 32-bit floats."""
    _set_vector(context, "db.create.setNodeVectorProperty", "node", node, key, vector)
    yield from ()


@cypher_procedure(
    "db.create.setRelationshipVectorProperty(relationship :: RELATIONSHIP, key :: STRING, vector :: ANY)",
    mode="WRITE",
    description="Set a vector property on a given relationship in a more space efficient representation than Cypher's "
    "SET.",
    works_on_system=False,
)
def set_relationship_vector(context: Execution, relationship: RelationshipRef, key: str, vector: Any) -> Iterator[Row]:
    """Stores the numbers as 32-bit floats."""
    procedure = "db.create.setRelationshipVectorProperty"
    _set_vector(context, procedure, "relationship", relationship, key, vector)
    yield from ()


@cypher_procedure(
    "db.create.setVectorProperty(node :: NODE, key :: STRING, vector :: ANY) :: (node :: NODE)",
    mode="WRITE",
    description="Set a vector property on a given node in a more space efficient representation than Cypher's SET.",
    works_on_system=False,
    deprecated_by="db.create.setNodeVectorProperty",
)
def set_vector(context: Execution, node: NodeRef, key: str, vector: Any) -> Iterator[Row]:
    """The older form, which returns the node."""
    _set_vector(context, "db.create.setVectorProperty", "node", node, key, vector)
    yield (node,)
