"""apoc.refactor.mergeNodes and mergeRelationships: merge several entities into one, and rules for their properties.

    overwrite, override    the later value wins
    discard                the first value wins
    combine                all distinct values, as a list if there are several
    anything else          nothing is taken over

`properties` in the settings names one of these for all keys, or for patterns of keys, where `.` means all others.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.strings import to_string
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.storage.transaction import Transaction
from hoplite.values.entities import NodeRef, RelationshipRef
from hoplite.values.order import group_key

_ALL_OTHERS = "."
_NULL = "java.lang.NullPointerException"


@dataclass(frozen=True, slots=True)
class MergeRules:
    """What happens to a property that both have."""

    by_pattern: Mapping[str, Any]
    keeps_lists: bool = False  # a single value becomes a list too

    @classmethod
    def of(cls, config: Mapping[str, Any], otherwise: str) -> MergeRules:
        """The rules in the settings, or `otherwise` if they do not mention properties."""
        given = config.get("properties")
        if given is None:
            given = otherwise
        keeps_lists = config.get("singleElementAsArray") is True
        return cls(given if isinstance(given, Mapping) else {_ALL_OTHERS: given}, keeps_lists)

    def _rule(self, key: str) -> Any:
        for pattern, rule in self.by_pattern.items():
            if pattern != _ALL_OTHERS and re.fullmatch(pattern, key):
                return rule
        return self.by_pattern.get(_ALL_OTHERS, "overwrite")

    def merged(self, mine: Mapping[str, Any], other: Mapping[str, Any]) -> dict[str, Any]:
        """The properties of `mine` that change, with their new values."""
        changed = {}
        for key, value in other.items():
            match self._rule(key):
                case "overwrite" | "override":
                    changed[key] = value
                case "discard" if key not in mine:
                    changed[key] = value
                case "combine":
                    changed[key] = self._combined(mine[key], value) if key in mine else value
        return changed

    def _combined(self, mine: Any, other: Any) -> Any:
        """All distinct values; as text unless they have the same type."""
        items = [*(mine if isinstance(mine, list) else [mine]), *(other if isinstance(other, list) else [other])]
        distinct = list({(type(item), group_key(item)): item for item in items}.values())
        if len(distinct) == 1 and not self.keeps_lists:
            return distinct[0]
        return distinct if len({type(item) for item in distinct}) == 1 else [to_string(item) for item in distinct]


# --- relationships --------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Parts:
    """What a relationship is made of."""

    start: int
    end: int
    type: str
    properties: dict[str, Any]

    @classmethod
    def of(cls, writer: Transaction, relationship: int) -> Parts:
        position = np.array([relationship], np.int64)
        start, end = (int(side[0]) for side in writer.endpoints(position))
        type_name = writer.type_names[int(writer.relationship_types(position)[0])]
        return cls(start, end, type_name, writer.relationship_properties(relationship))


def relationships_at(writer: Transaction, node: int) -> list[int]:
    """The relationships of a node, each once, newest first, as Neo4j goes through them."""
    return np.unique(writer.relationships_of(node))[::-1].tolist()  # type: ignore[no-any-return]


def _take_over(writer: Transaction, target: int, other: int, rules: MergeRules) -> None:
    """Merge the properties of another relationship, which is then deleted."""
    mine, properties = writer.relationship_properties(target), writer.relationship_properties(other)
    for key, value in rules.merged(mine, properties).items():
        writer.set_relationship_property(target, key, value)
    writer.delete_relationship(other)


@cypher_procedure(
    "apoc.refactor.mergeRelationships(rels :: LIST<RELATIONSHIP>, config = {} :: MAP) :: (rel :: RELATIONSHIP)",
    mode="WRITE",
    description="Merges relationships between the same nodes: the first takes over the others' properties.",
    works_on_system=False,
)
def merge_relationships(
    context: Execution, relationships: list[RelationshipRef | None] | None, config: dict[str, Any] | None
) -> Iterator[Row]:
    """The first. Properties are combined by default."""
    procedure = "apoc.refactor.mergeRelationships"
    distinct = list(dict.fromkeys(relationships or ()))
    if not distinct:
        return
    writer, rules = writer_of(context), MergeRules.of(config or {}, "combine")
    first, *others = distinct
    if first is None and not others:
        yield (None,)
        return
    if first is None or None in others:
        raise call_failed(procedure, _NULL, "a relationship to merge is null")
    ends = Parts.of(writer, first.position)
    for other in others:
        assert other is not None
        parts = Parts.of(writer, other.position)
        if (parts.start, parts.end) != (ends.start, ends.end):
            message = "All Relationships must have the same start and end nodes."
            raise call_failed(procedure, "java.lang.RuntimeException", message)
        context.check_time()
        _take_over(writer, first.position, other.position, rules)
    yield (first,)


# --- nodes ----------------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.refactor.mergeNodes(nodes :: LIST<NODE>, config = {} :: MAP) :: (node :: NODE)",
    mode="WRITE",
    description="Merges nodes: the first takes over the labels, properties and relationships of the others.",
    works_on_system=False,
)
def merge_nodes(context: Execution, nodes: list[NodeRef | None] | None, config: dict[str, Any] | None) -> Iterator[Row]:
    """The first. `mergeRels` merges its relationships of the same type to the same node."""
    distinct = list(dict.fromkeys(nodes or ()))
    if not distinct:
        return
    kept = [node for node in distinct if node is not None]
    if len(kept) < len(distinct):
        message = 'Cannot invoke "org.neo4j.graphdb.Entity.getId()" because "entity" is null'
        raise call_failed("apoc.refactor.mergeNodes", _NULL, message)
    settings = config or {}
    writer, target = writer_of(context), kept[0].position
    makes_loops = settings.get("produceSelfRel") is not False
    untouched: set[int] = set()
    if settings.get("preserveExistingSelfRels") is not False:
        untouched = {one for one in relationships_at(writer, target) if _is_loop(writer, one)}
    rules, of_relationships = MergeRules.of(settings, "overwrite"), MergeRules.of(settings, "combine")
    for other in kept[1:]:
        context.check_time()
        labels = writer.label_sets(np.array([other.position], np.int64))[0]
        properties = writer.node_properties(other.position)
        _move_relationships(writer, other.position, target, makes_loops)
        if settings.get("mergeRels") is True:
            _join_parallel(writer, target, of_relationships, untouched, makes_loops)
        writer.delete_node(other.position)
        for label in labels:
            writer.add_label(target, label)
        set_merged(rules, writer.node_properties(target), properties, writer.set_node_property, target)
    yield (kept[0],)


def set_merged(
    rules: MergeRules,
    mine: Mapping[str, Any],
    other: Mapping[str, Any],
    write: Callable[[int, str, Any], None],
    target: int,
) -> None:
    """Write what merging changes."""
    for key, value in rules.merged(mine, other).items():
        write(target, key, value)


def _is_loop(writer: Transaction, relationship: int) -> bool:
    starts, ends = writer.endpoints(np.array([relationship], np.int64))
    return bool(starts[0] == ends[0])


def _move_relationships(writer: Transaction, old: int, new: int, makes_loops: bool) -> None:
    for relationship in relationships_at(writer, old):
        parts = Parts.of(writer, relationship)
        writer.delete_relationship(relationship)
        if parts.start == parts.end and not makes_loops:
            continue
        start, end = (new if end == old else end for end in (parts.start, parts.end))
        writer.create_relationship(start, end, parts.type, parts.properties)


def _join_parallel(writer: Transaction, node: int, rules: MergeRules, untouched: set[int], makes_loops: bool) -> None:
    """Merge relationships of a node with the same start, type and end, except those that must stay as they are."""
    first: dict[tuple[int, int, str], int] = {}
    for relationship in relationships_at(writer, node):
        if relationship in untouched:
            continue
        parts = Parts.of(writer, relationship)
        if parts.start == parts.end and not makes_loops:
            writer.delete_relationship(relationship)
            continue
        target = first.setdefault((parts.start, parts.end, parts.type), relationship)
        if target != relationship:
            _take_over(writer, target, relationship, rules)
