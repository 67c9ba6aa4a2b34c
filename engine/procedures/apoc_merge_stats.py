"""apoc.merge.nodeWithStats and relationshipWithStats: the merges of `apoc_write.py`, with the changes of the whole call
in each row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.entities import properties_of
from hoplite.engine.procedures.apoc_write import Properties, matching_nodes, matching_relationships, merge_node
from hoplite.engine.procedures.apoc_write import merge_relationship as merge_plain_relationship
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.values.entities import NodeRef, RelationshipRef

_NOTHING = dict.fromkeys(
    ("nodesCreated", "nodesDeleted", "relationshipsCreated", "relationshipsDeleted", "propertiesSet", "labelsAdded",
     "labelsRemoved", "indexesAdded", "indexesRemoved", "constraintsAdded", "constraintsRemoved"), 0
)  # fmt: skip


def _changes_to(context: Execution, entity: NodeRef | RelationshipRef, matched: Properties) -> int:
    """How many properties a map changes; a null counts only if it removes one."""
    held = properties_of(context, entity)
    return sum(value is not None or key in held for key, value in (matched or {}).items())


def _merge_node(
    context: Execution, labels: list[str] | None, identity: Properties, created: Properties, matched: Properties
) -> Iterator[Row]:
    found = matching_nodes(context, labels or [], identity) if identity and all(labels or ()) else []
    if found:
        changed = {"propertiesSet": sum(_changes_to(context, NodeRef(node), matched) for node in found)}
    else:
        set_count = len(identity or {}) + len(created or {})
        changed = {"nodesCreated": 1, "labelsAdded": len(set(labels or ())), "propertiesSet": set_count}
    for (node,) in list(merge_node(context, labels, identity, created, matched)):
        yield ({**_NOTHING, **changed}, node)


def _merge_relationship(context: Execution, *arguments: Any) -> Iterator[Row]:
    start, type_name, identity, created, end, matched = arguments
    found: list[int] = []
    if type_name and start is not None and end is not None:
        found = matching_relationships(context, start, type_name, identity, end).tolist()
    if found:
        changed = {"propertiesSet": sum(_changes_to(context, RelationshipRef(one), matched) for one in found)}
    else:
        changed = {"relationshipsCreated": 1, "propertiesSet": len(identity or {}) + len(created or {})}
    for (relationship,) in list(merge_plain_relationship(context, *arguments)):
        yield ({**_NOTHING, **changed}, relationship)


for _eager in ("", ".eager"):
    cypher_procedure(
        f"apoc.merge.nodeWithStats{_eager}(labels :: LIST<STRING>, identProps :: MAP, onCreateProps = {{}} :: MAP, "
        "onMatchProps = {} :: MAP) :: (stats :: MAP, node :: NODE)",
        mode="WRITE",
        description="Merges a node with dynamic labels and properties, and returns what was changed.",
        works_on_system=False,
    )(_merge_node)
    cypher_procedure(
        f"apoc.merge.relationshipWithStats{_eager}(startNode :: NODE, relType :: STRING, identProps :: MAP, "
        "onCreateProps :: MAP, endNode :: NODE, onMatchProps = {} :: MAP) :: (stats :: MAP, rel :: RELATIONSHIP)",
        mode="WRITE",
        description="Merges a relationship with a dynamic type and properties, and returns what was changed.",
        works_on_system=False,
    )(_merge_relationship)
