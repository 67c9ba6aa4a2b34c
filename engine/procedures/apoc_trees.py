"""apoc.convert.toTree and apoc.paths.toJsonTree: paths as nested maps."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.entities import element_id, labels, public_id, relationship_type
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef

_ARGUMENTS = "(paths :: LIST<PATH>, lowerCaseRels = true :: BOOLEAN, config = {} :: MAP) :: (value :: MAP)"
_NULL = "java.lang.NullPointerException"

Tree = dict[str, Any]


@cypher_procedure(
    f"apoc.convert.toTree{_ARGUMENTS}",
    mode="DEFAULT",
    description="Returns paths from one node as nested maps.",
    works_on_system=False,
    deprecated_by="apoc.paths.toJsonTree",
)
def to_tree(
    context: Execution, paths: list[PathValue | None] | None, lower_case: bool | None, config: Any
) -> Iterator[Row]:
    """A map for each first node; a relationship type is a key, and its value the maps of the next nodes."""
    trees = _Trees(context, "apoc.convert.toTree", lower_case, config if paths else {})
    given = trees.sorted(paths, "iterator")
    maps: dict[NodeRef, Tree] = {}
    for path in given:
        nodes = path.node_refs()
        for node, step, child in zip(nodes[:-1], path.relationship_refs(), nodes[1:], strict=True):
            parent = maps[node] if node in maps else maps.setdefault(node, trees.node(node))
            if (made := trees.add_child(parent, step, child)) is not None:
                maps[child] = made
    roots = dict.fromkeys(path.node_refs()[0] for path in paths or () if path is not None)
    if not roots:
        yield ({},)
    yield from ((maps.get(node) or trees.node(node),) for node in roots)


@cypher_procedure(
    f"apoc.paths.toJsonTree{_ARGUMENTS}",
    mode="DEFAULT",
    description="Returns the relationships of paths as nested maps, from start nodes to end nodes.",
    works_on_system=False,
)
def to_json_tree(
    context: Execution, paths: list[PathValue | None] | None, lower_case: bool | None, config: Any
) -> Iterator[Row]:
    """A map for each node that has not been an end when it is first a start. A node is described once; what leads to
    it again ends in a map without anything below."""
    trees = _Trees(context, "apoc.paths.toJsonTree", lower_case, config if paths else {})
    maps: dict[NodeRef, Tree] = {}
    ends: set[NodeRef] = set()
    roots: dict[NodeRef, None] = {}
    for path in trees.sorted(paths, "relationships"):
        if not path.relationships:
            (node,) = path.node_refs()
            if node not in ends:
                maps.setdefault(node, trees.node(node))
                roots[node] = None
        for step in path.relationship_refs():
            node, child = ends_of(context, step)
            if node not in ends:
                roots[node] = None
            parent = maps[node] if node in maps else maps.setdefault(node, trees.node(node))
            if (made := trees.add_child(parent, step, child)) is not None:
                maps.setdefault(child, made)
                ends.add(child)
    if not roots:
        yield ({},)
    yield from ((maps[node],) for node in roots)


@dataclass(frozen=True, slots=True)
class _Filter:
    """Properties that are shown, or that are not."""

    keys: frozenset[str]
    is_of_hidden: bool

    def kept(self, held: Mapping[str, Any]) -> Mapping[str, Any]:
        """What is shown of these."""
        return {key: value for key, value in held.items() if (key in self.keys) is not self.is_of_hidden}


_EVERYTHING = _Filter(frozenset(), True)


class _Trees:
    """Makes the maps of nodes under one configuration."""

    def __init__(self, context: Execution, procedure: str, lower_case: bool | None, config: Any) -> None:
        self._context = context
        self._procedure = procedure
        if config is None:
            raise call_failed(procedure, _NULL, "`config` is null")
        if lower_case is None:
            raise self._wrong_class("null", "Boolean")
        self._lower_case = lower_case
        self._is_sorted = config.get("sortPaths", True) is not False
        self._below: dict[int, tuple[Tree, set[RelationshipRef]]] = {}  # by identity: a map, and what leads from it
        self._of_labels = self._filters(config.get("nodes", {}))
        self._of_types = self._filters(config.get("rels", {}))

    def sorted(self, paths: list[PathValue | None] | None, asked: str) -> list[PathValue]:
        """The paths, the longest first unless the configuration says otherwise."""
        given: list[PathValue] = []
        for path in paths or ():
            if path is None:
                message = f'Cannot invoke "org.neo4j.graphdb.Path.{asked}()" because "path" is null'
                raise call_failed(self._procedure, _NULL, message)
            given.append(path)
        return sorted(given, key=len, reverse=True) if self._is_sorted else given

    def node(self, node: NodeRef) -> Tree:
        """A node without anything below it."""
        context = self._context
        context.check_time()
        names = labels(context, node)
        shown = next((self._of_labels[name] for name in names if name in self._of_labels), _EVERYTHING)
        identity = {"_type": ":".join(names), "_id": public_id(context, node)}
        return {**shown.kept(held_by(context, node)), **identity, "_elementId": element_id(context, node)}

    def add_child(self, parent: Tree, step: RelationshipRef, child: NodeRef) -> Tree | None:
        """The new map of a node that a relationship leads to; None if the parent has it already."""
        context = self._context
        name = relationship_type(context, step) or ""
        key = name.lower() if self._lower_case else name
        children = parent.setdefault(key, [])
        _, below = self._below.setdefault(id(parent), (parent, set()))
        if step in below:
            return None
        below.add(step)
        held = self._of_types.get(key, _EVERYTHING).kept(held_by(context, step))
        made = {
            **self.node(child),
            **{f"{key}.{name}": value for name, value in held.items()},
            f"{key}._id": public_id(context, step),
            f"{key}._elementId": element_id(context, step),
        }
        children.append(made)
        return made

    def _filters(self, given: Any) -> dict[str, _Filter]:
        if given is None:
            raise call_failed(self._procedure, _NULL, "a map of filters is null")
        if not isinstance(given, dict):
            raise self._wrong_class(given, "Map")
        return {name: self._filter(keys) for name, keys in given.items()}

    def _filter(self, keys: Any) -> _Filter:
        if keys is None:
            raise call_failed(self._procedure, _NULL, "a filter is null")
        if not isinstance(keys, list):
            raise self._wrong_class(keys, "List")
        if not keys:
            message = "Index 0 out of bounds for length 0"
            raise call_failed(self._procedure, "java.lang.IndexOutOfBoundsException", message)
        dashed = [str(key).startswith("-") for key in keys]
        if any(dashed) and not all(dashed):
            message = "Only include or exclude attribute are possible!"
            raise call_failed(self._procedure, "java.lang.RuntimeException", message)
        return _Filter(frozenset(str(key).removeprefix("-") for key in keys), dashed[0])

    def _wrong_class(self, value: Any, wanted: str) -> CypherError:
        return call_failed(self._procedure, "java.lang.ClassCastException", f"{value} is not a {wanted}")
