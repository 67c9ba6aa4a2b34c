"""apoc.map.*, apoc.convert.*, apoc.any.* and apoc.meta.cypher.*: functions of maps and of what has properties."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from math import isfinite
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.entities import labels, properties_of, public_id, relationship_type
from hoplite.engine.functions.java_format import java_text as object_text
from hoplite.engine.functions.strings import string_of
from hoplite.engine.guard import interruptible
from hoplite.errors import CypherError
from hoplite.storage.property_values import java_text
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualPath, VirtualRelationship
from hoplite.values.floats import float_text
from hoplite.values.order import equals
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

Map = dict[str, Any] | None


def _illegal_argument(function: str, message: str) -> CypherError:
    return function_failed(function, "java.lang.IllegalArgumentException", message)


# --- building maps ---


@apoc_function(
    "apoc.map.merge(map1 :: MAP, map2 :: MAP) :: MAP", "Returns the two maps merged; the second one takes precedence."
)
def merge(first: Map, second: Map) -> dict[str, Any]:
    """Null counts as an empty map."""
    return {**(first or {}), **(second or {})}


@apoc_function("apoc.map.mergeList(maps :: LIST<MAP>) :: MAP", "Returns all maps merged; later ones take precedence.")
def merge_list(maps: list[Map] | None) -> dict[str, Any]:
    """Nulls count as empty maps."""
    return {key: value for one in maps or () for key, value in (one or {}).items()}


@apoc_function("apoc.map.fromPairs(pairs :: LIST<LIST<ANY>>) :: MAP", "Returns a map of [key, value] pairs.")
def from_pairs(pairs: list[list[Any]] | None) -> dict[str, Any]:
    """`[['a', 1]]` becomes `{a: 1}`; a key alone has the value null, and null as a key is left out."""
    keyed = [pair for pair in pairs or () if pair and pair[0] is not None]
    return {object_text(pair[0]): pair[1] if len(pair) > 1 else None for pair in keyed}


@apoc_function(
    "apoc.map.fromLists(keys :: LIST<STRING>, values :: LIST<ANY>) :: MAP", "Returns a map of keys and values."
)
def from_lists(keys: list[str] | None, values: list[Any] | None) -> Map:
    """The lists must be equally long."""
    return _parallel("apoc.map.fromLists", keys, values)


def _parallel(function: str, keys: list[str] | None, values: list[Any] | None) -> dict[str, Any]:
    if keys is None or values is None or len(keys) != len(values):
        what = "keys and values lists have to be not null and of same size"
        raise function_failed(function, "java.lang.RuntimeException", what)
    return dict(zip(keys, values, strict=True))


@apoc_function("apoc.map.fromValues(values :: LIST<ANY>) :: MAP", "Returns a map of alternating keys and values.")
def from_values(values: list[Any] | None) -> dict[str, Any]:
    """`['a', 1]` becomes `{a: 1}`; null as a key is left out."""
    return _alternating("apoc.map.fromValues", values or [])


def _alternating(function: str, items: list[Any]) -> dict[str, Any]:
    if len(items) % 2:
        raise function_failed(function, "java.util.NoSuchElementException", "")
    return {object_text(key): value for key, value in zip(items[::2], items[1::2], strict=True) if key is not None}


@apoc_function(
    "apoc.map.updateTree(tree :: MAP, key :: STRING, data :: LIST<LIST<ANY>>) :: MAP",
    "Returns nested maps, each extended by the data given for the value of its key.",
)
def update_tree(tree: Map, key: str | None, data: list[list[Any]] | None) -> dict[str, Any]:
    """Applies to maps within maps and within lists, but not to lists within lists."""
    name = "apoc.map.updateTree"
    if tree is None or data is None:
        raise function_failed(name, "java.lang.NullPointerException", f'"{"m" if tree is None else "data"}" is null')
    added: dict[Any, dict[str, Any]] = {}
    for entry in data:
        if len(entry) != 2 or not isinstance(entry[1], dict):
            raise _illegal_argument(name, f"Wrong data list entry: {java_text(entry)}")
        added[_exact(entry[0])] = entry[1]

    def updated(one: Any) -> Any:
        if not isinstance(one, dict):
            return one
        changed = {
            name: [updated(item) for item in value] if isinstance(value, list) else updated(value)
            for name, value in one.items()
        }
        return {**changed, **added.get(_exact(one.get(key)), {})} if key in one else changed

    found: dict[str, Any] = updated(tree)
    return found


def _exact(value: Any) -> Any:
    """A key that tells values apart as Java's maps do: 1 is not 1.0."""
    return type(value), java_text(value) if isinstance(value, list | dict) else value


@apoc_function(
    "apoc.map.groupBy(values :: LIST<ANY>, key :: STRING) :: MAP",
    "Returns the maps by the value of a key; the last one with a value wins.",
    needs_context=True,
)
def group_by(context: Execution, values: list[Any] | None, key: str) -> dict[str, Any]:
    """Maps and entities without the key are left out, and so is everything else."""
    return {name: one[-1] for name, one in group_by_multi(context, values, key).items()}


@apoc_function(
    "apoc.map.groupByMulti(values :: LIST<ANY>, key :: STRING) :: MAP",
    "Returns lists of maps by the value of a key.",
    needs_context=True,
)
def group_by_multi(context: Execution, values: list[Any] | None, key: str) -> dict[str, list[Any]]:
    """Maps and entities without the key are left out, and so is everything else."""
    groups: dict[str, list[Any]] = {}
    for one in values or ():
        match one:
            case dict():
                held = one.get(key)
            case NodeRef() | RelationshipRef():
                held = held_by(context, one).get(key)
            case _:
                held = None
        if held is not None:
            groups.setdefault(object_text(held), []).append(one)
    return groups


# --- changing maps ---


@apoc_function(
    "apoc.map.clean(map :: MAP, keys :: LIST<STRING>, values :: LIST<ANY>) :: MAP",
    "Returns the map without these keys, without these values and without nulls.",
)
def clean(one: Map, keys: list[str] | None, values: list[Any] | None) -> dict[str, Any]:
    """The remaining entries."""
    return {
        key: value
        for key, value in (one or {}).items()
        if value is not None
        and key not in (keys or ())
        and not any(equals(value, other) is True for other in values or ())
    }


@apoc_function("apoc.map.setKey(map :: MAP, key :: STRING, value :: ANY) :: MAP", "Returns the map with a key set.")
@apoc_function("apoc.map.setEntry(map :: MAP, key :: STRING, value :: ANY) :: MAP", "Returns the map with a key set.")
def set_key(one: Map, key: str, value: Any) -> dict[str, Any]:
    """Null counts as an empty map; a null key sets nothing."""
    return dict(one or {}) if key is None else {**(one or {}), key: value}


@apoc_function(
    "apoc.map.removeKey(map :: MAP, key :: STRING, config = {} :: MAP) :: MAP", "Returns the map without a key."
)
def remove_key(one: Map, key: str, config: Map) -> Map:
    """In nested maps too if config.recursive is true."""
    return remove_keys(one, [key], config)


@apoc_function(
    "apoc.map.removeKeys(map :: MAP, keys :: LIST<STRING>, config = {} :: MAP) :: MAP", "Returns the map without keys."
)
def remove_keys(one: Map, keys: list[str] | None, config: Map) -> Map:
    """In nested maps too if config.recursive is true."""
    if one is None:
        return None
    kept = {key: value for key, value in one.items() if key not in (keys or ())}
    if not (config or {}).get("recursive"):
        return kept
    return {key: remove_keys(value, keys, config) if isinstance(value, dict) else value for key, value in kept.items()}


@apoc_function(
    "apoc.map.flatten(map :: MAP, delimiter = . :: STRING) :: MAP",
    "Returns nested maps as a single one, with their keys joined.",
)
def flatten(one: Map, delimiter: str | None) -> dict[str, Any]:
    """`{a: {b: 1}}` becomes `` {`a.b`: 1} ``."""
    delimiter = "." if delimiter is None else delimiter
    flat: dict[str, Any] = {}
    for key, value in (one or {}).items():
        if isinstance(value, dict):
            flat.update({f"{key}{delimiter}{inner}": item for inner, item in flatten(value, delimiter).items()})
        else:
            flat[key] = value
    return flat


# --- reading maps ---


def _missing_key(function: str, one: Map, key: str) -> CypherError:
    return _illegal_argument(function, f"Key {key} is not of one of the existing keys [{', '.join(one or {})}]")


@apoc_function(
    "apoc.map.get(map :: MAP, key :: STRING, value = null :: ANY, fail = true :: BOOLEAN) :: ANY",
    "Returns the value of a key, or a default; fails without either unless told not to.",
)
def get(one: Map, key: str, default: Any, fail: bool) -> Any:
    """`get({a: 1}, 'b', 7)` is 7."""
    if fail and key not in (one or {}) and default is None:
        raise _missing_key("apoc.map.get", one, key)
    return (one or {}).get(key, default)


@apoc_function(
    "apoc.map.mget(map :: MAP, keys :: LIST<STRING>, values = [] :: LIST<ANY>, fail = true :: BOOLEAN) :: LIST<ANY>",
    "Returns the values of several keys.",
)
def get_many(one: Map, keys: list[str] | None, defaults: list[Any] | None, fail: bool) -> list[Any] | None:
    """With a default for each key; null if the map or the list is null."""
    if one is None or keys is None:
        return None
    given = [*(defaults or ()), *([None] * len(keys or ()))]
    return [get(one, key, given[place], fail) for place, key in enumerate(keys or ())]


@apoc_function(
    "apoc.map.submap(map :: MAP, keys :: LIST<STRING>, values = [] :: LIST<ANY>, fail = true :: BOOLEAN) :: MAP",
    "Returns the map with only these keys.",
)
def submap(one: Map, keys: list[str] | None, defaults: list[Any] | None, fail: bool) -> Map:
    """With a default for each key; null if the map or the list is null."""
    found = get_many(one, keys, defaults, fail)
    return None if found is None else dict(zip(keys or (), found, strict=True))


@apoc_function(
    "apoc.map.values(map :: MAP, keys = [] :: LIST<STRING>, addNullsForMissing = false :: BOOLEAN) :: LIST<ANY>",
    "Returns the values of these keys.",
)
def values(one: Map, keys: list[str] | None, add_nulls: bool) -> list[Any] | None:
    """Missing keys are omitted, or give nulls."""
    if not keys:
        return []
    if one is None:
        raise function_failed("apoc.map.values", "java.lang.NullPointerException", "the map is null")
    return [one.get(key) for key in keys if add_nulls or key in one]


@apoc_function(
    "apoc.map.sortedProperties(map :: MAP, ignoreCase = true :: BOOLEAN) :: LIST<ANY>",
    "Returns the [key, value] pairs of a map, sorted by key.",
)
def sorted_properties(one: Map, ignore_case: bool) -> list[list[Any]]:
    """Ignoring case, unless told otherwise."""
    by_key = sorted((one or {}).items(), key=lambda entry: entry[0].lower() if ignore_case else entry[0])
    return [[key, value] for key, value in by_key]


@apoc_function(
    "apoc.any.property(object :: ANY, key :: STRING) :: ANY",
    "Returns a property of an entity or a map.",
    needs_context=True,
)
def any_property(context: Execution, thing: Any, key: str) -> Any:
    """Null for null."""
    found = any_properties(context, thing, None)
    return None if found is None else found.get(key)


def held_by(context: Execution, entity: NodeRef | RelationshipRef) -> dict[str, Any]:
    """All properties of an entity, virtual or not."""
    if isinstance(entity, VirtualNode | VirtualRelationship):
        return dict(entity.properties)
    return properties_of(context, entity)


def ends_of(context: Execution, relationship: RelationshipRef) -> tuple[NodeRef, NodeRef]:
    """The two nodes of a relationship, virtual or not."""
    if isinstance(relationship, VirtualRelationship):
        return relationship.start, relationship.end
    start, end = context.graph.endpoints(np.array([relationship.position], np.int64))
    return NodeRef(int(start[0])), NodeRef(int(end[0]))


@apoc_function(
    "apoc.any.properties(object :: ANY, keys = null :: LIST<STRING>) :: MAP",
    "Returns the properties of an entity or a map, or some of them.",
    needs_context=True,
)
def any_properties(context: Execution, thing: Any, keys: list[str] | None) -> Map:
    """Null for null."""
    match thing:
        case dict():
            found = thing
        case NodeRef() | RelationshipRef():
            found = held_by(context, thing)
        case _:
            return None
    return found if keys is None else {key: found[key] for key in keys if key in found}


# --- maps from other maps ---


@apoc_function(
    "apoc.map.setLists(map :: MAP, keys :: LIST<STRING>, values :: LIST<ANY>) :: MAP",
    "Returns a map with more entries.",
)
def set_lists(given: Map, keys: list[str] | None, values: list[Any] | None) -> Map:
    """Keys and values from two parallel lists."""
    return {**(given or {}), **_parallel("apoc.map.setLists", keys, values)}


@apoc_function("apoc.map.setPairs(map :: MAP, pairs :: LIST<LIST<ANY>>) :: MAP", "Returns a map with more entries.")
def set_pairs(given: Map, pairs: list[list[Any]] | None) -> Map:
    """Each pair is a list of a key and a value."""
    return {**(given or {}), **from_pairs(pairs)}


@apoc_function("apoc.map.setValues(map :: MAP, pairs :: LIST<ANY>) :: MAP", "Returns a map with more entries.")
def set_values(given: Map, values: list[Any] | None) -> Map:
    """Keys and values alternate."""
    return {**(given or {}), **_alternating("apoc.map.setValues", values or [])}


@apoc_function(
    "apoc.map.unflatten(map :: MAP, delimiter = . :: STRING) :: MAP", "Returns a nested map: the inverse of flatten."
)
def unflatten(given: Map, delimiter: str | None) -> Map:
    """`{`a.b`: 1}` becomes `{a: {b: 1}}`."""
    delimiter = "." if delimiter is None else delimiter
    nested: dict[str, Any] = {}
    for key, value in (given or {}).items():
        *parents, last = key.split(delimiter)
        place = nested
        for name in parents:
            place = place.setdefault(name, {})
        place[last] = value
    return nested


@apoc_function(
    "apoc.map.fromNodes(label :: STRING, prop :: STRING) :: MAP",
    "Returns the nodes of a label by a property.",
    needs_context=True,
)
def from_nodes(context: Execution, label: str, key: str) -> Map:
    """Nodes that have the property, under its text."""
    nodes = context.graph.nodes_with_label(label)
    values = context.graph.node_property(nodes, key).objects()
    return {
        str(string_of(value)): NodeRef(n) for n, value in zip(nodes.tolist(), values, strict=True) if value is not None
    }


# --- JSON ---


@apoc_function("apoc.convert.toJson(value :: ANY) :: STRING", "Converts a value to JSON.", needs_context=True)
def to_json(context: Execution, value: Any) -> str:
    """Nodes and relationships become objects with id, type, labels, properties."""
    return _as_json(context, value)


def _as_json(context: Execution, value: Any) -> str:
    """Entities are read first, because writing the values may be interrupted."""
    entities: dict[Any, Any] = {}
    with interruptible():
        wanted = set(_entities_in(value))
    for entity in wanted:
        context.check_time()
        entities[entity] = _plain(context, entity)
    with interruptible():
        return _written(value, context, entities)


def _entities_in(value: Any) -> Iterator[NodeRef | RelationshipRef | PathValue]:
    match value:
        case NodeRef() | RelationshipRef() | PathValue():
            yield value
        case list():
            for item in value:
                yield from _entities_in(item)
        case dict():
            for item in value.values():
                yield from _entities_in(item)


def _written(value: Any, context: Execution, entities: Mapping[Any, Any]) -> str:
    """JSON, one list or map at a time: Python's own writer, given everything, could not be interrupted."""
    match value:
        case list():
            return f"[{','.join(_written(item, context, entities) for item in value)}]"
        case dict():
            entries = (f"{_dumped(key)}:{_written(item, context, entities)}" for key, item in value.items())
            return f"{{{','.join(entries)}}}"
        case NodeRef() | RelationshipRef() | PathValue():
            return _dumped(entities[value])
        case _:
            return _dumped(_plain(context, value))


def _dumped(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def _plain(context: Execution, value: Any) -> Any:
    """A value in terms of JSON's types."""
    match value:
        case float() if not isfinite(value):
            return float_text(value)
        case None | bool() | int() | float() | str():
            return value
        case list():
            return [_plain(context, item) for item in value]
        case dict():
            return {key: _plain(context, item) for key, item in value.items()}
        case NodeRef():
            node: dict[str, Any] = {"id": str(public_id(context, value)), "type": "node"}
            names = labels(context, value)
            node |= {"labels": names} if names else {}
            held = held_by(context, value)
            return node | ({"properties": _plain(context, held)} if held else {})
        case RelationshipRef():
            start, end = ends_of(context, value)
            relationship: dict[str, Any] = {
                "id": str(public_id(context, value)),
                "type": "relationship",
                "label": relationship_type(context, value),
                "start": _plain(context, start),
                "end": _plain(context, end),
            }
            held = held_by(context, value)
            return relationship | ({"properties": _plain(context, held)} if held else {})
        case PathValue():
            return [_plain(context, element) for element in value.elements()]
        case Point():
            axes = ("longitude", "latitude", "height") if value.is_geographic else ("x", "y", "z")
            return {"crs": value.crs} | dict(zip(axes, (*value.coordinates, None), strict=False))
        case _:
            return string_of(value)


@apoc_function(
    "apoc.convert.toSortedJsonMap(value :: ANY, ignoreCase = true :: BOOLEAN) :: STRING",
    "Converts a map, or the properties of a node, to JSON with sorted keys.",
    needs_context=True,
)
def to_sorted_json_map(context: Execution, value: Any, ignore_case: bool) -> str:
    """Keys are sorted ignoring case, unless told otherwise."""
    if not isinstance(value, dict | NodeRef):
        message = "input value must be a Node or a map"
        raise function_failed("apoc.convert.toSortedJsonMap", "java.lang.IllegalArgumentException", message)
    found = any_properties(context, value, None) or {}
    ordered = sorted(found, key=lambda key: key.lower() if ignore_case else key)
    return _as_json(context, {key: found[key] for key in ordered})


@apoc_function("apoc.convert.toList(value :: ANY) :: LIST<ANY>", "Returns a value as a list.")
def to_list(value: Any) -> list[Any] | None:
    """A path becomes its nodes and relationships, any other single value a list of one element."""
    if isinstance(value, PathValue):
        return [*value.elements()]
    return value if value is None or isinstance(value, list) else [value]


@apoc_function(
    "apoc.convert.toMap(map :: ANY) :: MAP", "Returns a map, or the properties of an entity.", needs_context=True
)
def to_map(context: Execution, value: Any) -> Map:
    """Null for anything else."""
    return any_properties(context, value, None)


# --- types ---

_TYPES: dict[type, str] = {
    bool: "BOOLEAN",
    int: "INTEGER",
    float: "FLOAT",
    str: "STRING",
    dict: "MAP",
    Date: "DATE",
    DateTime: "DATE_TIME",
    LocalDateTime: "LOCAL_DATE_TIME",
    Time: "TIME",
    LocalTime: "LOCAL_TIME",
    Duration: "DURATION",
    Point: "POINT",
    NodeRef: "NODE",
    VirtualNode: "NODE",
    RelationshipRef: "RELATIONSHIP",
    VirtualRelationship: "RELATIONSHIP",
    PathValue: "PATH",
    VirtualPath: "PATH",
    type(None): "NULL",
}


@apoc_function("apoc.meta.cypher.type(value :: ANY) :: STRING", "Returns the name of a value's type.")
def cypher_type(value: Any) -> str:
    """`INTEGER`, `LIST OF STRING`."""
    if not isinstance(value, list):
        return _TYPES[type(value)]
    members = {cypher_type(item) for item in value}
    return f"LIST OF {members.pop() if len(members) == 1 else 'ANY'}"


@apoc_function(
    "apoc.meta.cypher.isType(value :: ANY, type :: STRING) :: BOOLEAN", "Returns whether a value is of the type."
)
def is_cypher_type(value: Any, name: str) -> bool:
    """Ignoring the case of the name."""
    return cypher_type(value) == (name or "").upper()


@apoc_function(
    "apoc.meta.cypher.types(props :: ANY) :: MAP", "Returns the names of the types of properties.", needs_context=True
)
def cypher_types(context: Execution, thing: Any) -> Map:
    """Of a map or an entity."""
    found = any_properties(context, thing, None)
    return {key: cypher_type(value) for key, value in (found or {}).items()}


# --- nodes ---


def types_and_sides(text: str | None) -> list[tuple[str | None, bool, bool]]:
    """`'KNOWS>|<LIKES|WORKS'` as (type, outgoing, incoming) each."""
    parts = [part.strip() for part in (text or "").split("|") if part.strip()] or [""]
    sides = []
    for part in parts:
        outgoing, incoming = part.endswith(">"), part.startswith("<")
        either = outgoing == incoming
        sides.append((part.strip("<>") or None, outgoing or either, incoming or either))
    return sides


def degree(
    context: Execution, node: NodeRef | None, text: str | None, out: bool = True, into: bool = True
) -> int | None:
    """How many relationships of these types and directions a node has."""
    if node is None:
        return None
    graph, position, total = context.graph, np.array([node.position], np.int64), 0
    for name, outgoing, incoming in types_and_sides(text):
        code = None if name is None else graph.type_code(name)
        if name is not None and code is None:
            continue
        codes = None if code is None else (code,)
        for wanted, side in ((outgoing and out, True), (incoming and into, False)):
            total += int(graph.degree(position, side, codes)[0]) if wanted else 0
    return total


@apoc_function(
    "apoc.node.degree(node :: NODE, relTypes =  :: STRING) :: INTEGER",
    "Returns the degree of a node.",
    needs_context=True,
)
def node_degree(context: Execution, node: NodeRef | None, text: str) -> int | None:
    """Of some types and directions: `'KNOWS>|<LIKES'`."""
    return degree(context, node, text)


@apoc_function(
    "apoc.node.degree.in(node :: NODE, relTypes =  :: STRING) :: INTEGER",
    "Returns the number of a node's incoming relationships.",
    needs_context=True,
)
def node_degree_in(context: Execution, node: NodeRef | None, text: str) -> int | None:
    """Of some types."""
    return degree(context, node, text, out=False)


@apoc_function(
    "apoc.node.degree.out(node :: NODE, relTypes =  :: STRING) :: INTEGER",
    "Returns the number of a node's outgoing relationships.",
    needs_context=True,
)
def node_degree_out(context: Execution, node: NodeRef | None, text: str) -> int | None:
    """Of some types."""
    return degree(context, node, text, into=False)


@apoc_function(
    "apoc.node.relationship.exists(node :: NODE, relTypes =  :: STRING) :: BOOLEAN",
    "Returns whether a node has relationships of the given types and directions.",
    needs_context=True,
)
def relationship_exists(context: Execution, node: NodeRef | None, text: str) -> bool | None:
    """Of some types and directions."""
    found = degree(context, node, text)
    return None if found is None else found > 0


@apoc_function(
    "apoc.label.exists(node :: ANY, label :: STRING) :: BOOLEAN",
    "Returns whether a node has a label.",
    needs_context=True,
)
def label_exists(context: Execution, node: Any, label: str) -> bool:
    """False for anything but a node."""
    return isinstance(node, NodeRef) and label in labels(context, node)


@apoc_function("apoc.version() :: STRING", "Returns the version of APOC that the answers match.")
def version() -> str:
    """The version that goes with Neo4j's."""
    return "5.26.12"
