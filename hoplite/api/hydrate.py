"""From columns to the driver's values: nodes, relationships and paths of one `neo4j.graph.Graph`, temporal and
spatial types.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import pairwise
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

from hoplite.engine.guard import interruptible
from hoplite.errors import unsupported
from hoplite.lazy import cached_property
from hoplite.storage.snapshot import Snapshot, maps_of
from hoplite.values.columns import (
    Booleans,
    Column,
    EntityLists,
    Floats,
    Integers,
    Nodes,
    Paths,
    Relationships,
    Strings,
)
from hoplite.values.driver import to_driver
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualPath, VirtualRelationship

if TYPE_CHECKING:
    from neo4j import graph as driver_graph

_PLAIN = (int, str, float, bool, type(None))
PLAIN_TYPES = frozenset(_PLAIN)
_AT_ONCE = 1 << 14  # entities created between two checks
PLAIN_COLUMNS = (Integers, Floats, Booleans, Strings)  # columns of nothing but plain values


def _attributes(value: object) -> set[str]:
    return set(vars(value))


@cache
def _driver() -> ModuleType:
    """The driver's classes, loaded when the first entity is made."""
    from hoplite.api import entities

    return entities


@cache
def _sets_attributes() -> bool:
    """Whether the driver's classes have the attributes we know, so that these can be set without the constructors,
    which copy properties and compare nodes for each path."""
    driver = _driver()
    graph = driver.Graph()
    node = driver.Node(graph, "", 0)
    relationship = driver.Relationship(graph, "", 0, {})
    return (
        _attributes(node) == {"_graph", "_element_id", "_id", "_properties", "_labels"}
        and _attributes(relationship) == {"_graph", "_element_id", "_id", "_properties", "_start_node", "_end_node"}
        and _attributes(driver.Path(node)) == {"_nodes", "_relationships"}
    )


def _sent(name: str) -> str:
    """The name of a type as a server sends it. The driver makes a class of it, and half a surrogate pair is not
    text."""
    if "\0" in name:
        raise unsupported("a relationship type with a NUL character in a result, which the driver cannot represent")
    return name if name.isascii() else name.encode("utf-8", "replace").decode("utf-8")


class Hydrator:
    """Makes the values of one result; an entity is made once, however often it is returned."""

    def __init__(self, graph: Snapshot, check: Callable[[], None] = lambda: None) -> None:
        self.source = graph
        self._check = check
        self._nodes: dict[int, driver_graph.Node] = {}
        self._relationships: dict[int, driver_graph.Relationship] = {}

    @cached_property
    def graph(self) -> driver_graph.Graph:
        """The graph of all entities of the result."""
        made: driver_graph.Graph = _driver().Graph()
        return made

    def made_graph(self) -> driver_graph.Graph | None:
        """The graph of the entities created so far; None if there are none."""
        found: driver_graph.Graph | None = vars(self).get("graph")
        return found

    def column(self, column: Column) -> list[Any]:
        """The values of a column."""
        match column:
            case Nodes(positions=positions):
                self._make_nodes(positions)
                return [None if i < 0 else self._nodes[i] for i in positions.tolist()]
            case Relationships(positions=positions):
                self._make_relationships(positions)
                return [None if i < 0 else self._relationships[i] for i in positions.tolist()]
            case Integers(values=numbers, nulls=None) | Floats(values=numbers, nulls=None):
                plain: list[Any] = numbers.tolist()
                return plain
            case Integers() | Floats() | Booleans() | Strings():
                values: list[Any] = column.objects().tolist()
                return values
            case Paths():
                return self._paths(column)
            case EntityLists():
                return self._entity_lists(column)
            case _:
                objects = column.objects()
                self._prefetch(objects)
                with interruptible():
                    return [self.value(value) for value in objects]

    def _entity_lists(self, column: EntityLists) -> list[list[Any] | None]:
        ids = column.positions[column.offsets[0] : column.offsets[-1]]
        if column.of_nodes:
            self._make_nodes(ids)
        else:
            self._make_relationships(ids)
        known: dict[int, Any] = self._nodes if column.of_nodes else self._relationships
        null = column.null_mask().tolist()
        bounds = column.offsets.tolist()
        with interruptible():
            return [
                None if null[row] else [None if i < 0 else known[i] for i in column.positions[first:last].tolist()]
                for row, (first, last) in enumerate(pairwise(bounds))
            ]

    def _paths(self, column: Paths) -> list[driver_graph.Path | None]:
        """The paths of a column; they share the nodes and relationships of the result."""
        self._make_nodes(np.concatenate((column.starts, column.nodes)))
        self._make_relationships(column.relationships)
        known_nodes, known_relationships = self._nodes, self._relationships
        bounds = column.offsets.tolist()
        paths: list[driver_graph.Path | None] = []
        make_path, directly = _driver().Path, _sets_attributes()
        with interruptible():
            nodes = [known_nodes[i] for i in column.nodes.tolist()]
            relationships = [known_relationships[i] for i in column.relationships.tolist()]
            for start, first, last in zip(column.starts.tolist(), bounds[:-1], bounds[1:], strict=True):
                if start < 0:
                    paths.append(None)
                elif directly:
                    path: Any = object.__new__(make_path)
                    path._nodes = (known_nodes[start], *nodes[first:last])
                    path._relationships = tuple(relationships[first:last])
                    paths.append(path)
                else:
                    paths.append(make_path(known_nodes[start], *relationships[first:last]))
        return paths

    def value(self, value: Any) -> Any:
        """One value; its entities have already been created, because this may be interrupted."""
        if isinstance(value, _PLAIN):
            return value
        match value:
            case list() | tuple():
                return [self.value(item) for item in value]
            case dict():
                return {key: self.value(item) for key, item in value.items()}
            case VirtualNode():
                return self._virtual_node(value)
            case VirtualRelationship():
                return self._virtual_relationship(value)
            case NodeRef(position=node):
                if node not in self._nodes:
                    self._make_nodes(np.array([node], np.int64))
                return self._nodes[node]
            case RelationshipRef(position=relationship):
                if relationship not in self._relationships:
                    self._make_relationships(np.array([relationship], np.int64))
                return self._relationships[relationship]
            case VirtualPath():
                start, steps = value.node_refs()[0], value.relationship_refs()
                return _driver().Path(self.value(start), *map(self.value, steps))
            case PathValue(nodes=nodes, relationships=relationships):
                new = [r for r in relationships if r not in self._relationships]
                if new:
                    self._make_relationships(np.array(new, np.int64))
                start = self.value(NodeRef(nodes[0]))
                return _driver().Path(start, *(self._relationships[r] for r in relationships))
            case _:
                return to_driver(value)

    def _virtual_node(self, node: VirtualNode) -> driver_graph.Node:
        element_id = str(node.position)
        if element_id not in self.graph._nodes:
            properties = {key: self.value(item) for key, item in node.properties.items()}
            self.graph._nodes[element_id] = _driver().Node(
                self.graph, element_id, node.position, node.labels, properties
            )
        return self.graph._nodes[element_id]

    def _virtual_relationship(self, virtual: VirtualRelationship) -> driver_graph.Relationship:
        properties = {key: self.value(item) for key, item in virtual.properties.items()}
        kind = self.graph.relationship_type(_sent(virtual.type))
        relationship = kind(self.graph, str(virtual.position), virtual.position, properties)
        relationship._start_node = self.value(virtual.start)
        relationship._end_node = self.value(virtual.end)
        self.graph._relationships[str(virtual.position)] = relationship
        return relationship

    def _prefetch(self, values: Any) -> None:
        """Create the entities of paths and lists together: one read for all beats one for each."""
        nodes: set[int] = set()
        relationships: set[int] = set()

        seen: set[int] = set()  # lists and maps may share parts, which hold nothing new the second time

        def visit(value: Any) -> None:
            match value:
                case VirtualPath():
                    for element in value.elements():
                        visit(element)
                case PathValue():
                    nodes.update(value.nodes)
                    relationships.update(value.relationships)
                case NodeRef(position=node):
                    nodes.add(node)
                case RelationshipRef(position=relationship):
                    relationships.add(relationship)
                case list() | tuple() | dict():
                    if id(value) not in seen:
                        seen.add(id(value))
                        for item in value.values() if isinstance(value, dict) else value:
                            if type(item) not in PLAIN_TYPES:
                                visit(item)
                case VirtualNode(properties=properties):
                    visit(properties)
                case VirtualRelationship(start=start, end=end, properties=properties):
                    visit(start)
                    visit(end)
                    visit(properties)
                case _:
                    pass

        with interruptible():
            for value in values:
                visit(value)
        if nodes:
            self._make_nodes(np.array(sorted(nodes), np.int64))
        if relationships:
            self._make_relationships(np.array(sorted(relationships), np.int64))

    def _make_nodes(self, ids: Any) -> None:
        for first in range(0, len(ids), _AT_ONCE):
            if first:
                self._check()
            self._make_some_nodes(ids[first : first + _AT_ONCE])

    def _make_some_nodes(self, ids: Any) -> None:
        new = [i for i in dict.fromkeys(ids.tolist()) if i >= 0 and i not in self._nodes]
        if not new:
            return
        positions = np.array(new, np.int64)
        source = self.source
        public = source.node_ids(positions).tolist()
        alive = source.node_exists(positions).tolist()
        labels = source.label_sets(positions)
        properties = self._property_maps(len(new), source.node_property_columns(positions))
        prefix = f"4:{source.uuid}:"
        graph = self.graph
        label_sets: dict[tuple[str, ...], frozenset[str]] = {}
        make_node, directly = _driver().Node, _sets_attributes()
        for position, number, exists, names, values in zip(new, public, alive, labels, properties, strict=True):
            element_id = f"{prefix}{number}"
            shown = values if exists else {}
            if names not in label_sets:
                label_sets[names] = frozenset(names)
            shown_labels = label_sets[names] if exists else frozenset[str]()
            if directly:
                node: Any = object.__new__(make_node)
                node._graph, node._element_id, node._id = graph, element_id, number
                node._properties, node._labels = shown, shown_labels
            else:
                node = make_node(graph, element_id, number, shown_labels, shown)
            self._nodes[position] = node
            graph._nodes[element_id] = node

    def _property_maps(self, count: int, columns: dict[str, Column]) -> list[dict[str, Any]]:
        """Properties as the driver's values: most values of the columns already are."""
        maps = maps_of(count, columns)
        if not all(isinstance(column, PLAIN_COLUMNS) for column in columns.values()):
            for values in maps:
                if not PLAIN_TYPES.issuperset(map(type, values.values())):
                    values.update({key: self.value(value) for key, value in values.items()})
        return maps

    def _make_relationships(self, ids: Any) -> None:
        for first in range(0, len(ids), _AT_ONCE):
            if first:
                self._check()
            self._make_some_relationships(ids[first : first + _AT_ONCE])

    def _make_some_relationships(self, ids: Any) -> None:
        new = [i for i in dict.fromkeys(ids.tolist()) if i >= 0 and i not in self._relationships]
        if not new:
            return
        positions = np.array(new, np.int64)
        source = self.source
        starts, ends = source.endpoints(positions)
        self._make_nodes(np.concatenate([starts, ends]))
        public = source.relationship_ids(positions).tolist()
        alive = source.relationship_exists(positions).tolist()
        codes, names = source.relationship_types(positions).tolist(), source.type_names
        properties = self._property_maps(len(new), source.relationship_property_columns(positions))
        prefix = f"5:{source.uuid}:"
        graph, known, directly = self.graph, self._nodes, _sets_attributes()
        kinds = {code: graph.relationship_type(_sent(names[code])) for code in set(codes)}
        rows = zip(new, public, alive, codes, properties, starts.tolist(), ends.tolist(), strict=True)
        for position, number, exists, code, values, start, end in rows:
            element_id = f"{prefix}{number}"
            shown = values if exists else {}
            kind = kinds[code] if exists else graph.relationship_type("")
            if directly:
                relationship: Any = object.__new__(kind)
                relationship._graph, relationship._element_id, relationship._id = graph, element_id, number
                relationship._properties = shown
            else:
                relationship = kind(graph, element_id, number, shown)
            relationship._start_node, relationship._end_node = known[start], known[end]
            self._relationships[position] = relationship
            graph._relationships[element_id] = relationship
