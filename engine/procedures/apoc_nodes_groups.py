"""apoc.nodes.group, collapse and cycles, and apoc.algo.cover: summaries of graphs, and their cycles."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.apoc_nodes import next_virtual_id
from hoplite.engine.functions.entities import labels, relationship_type
from hoplite.engine.functions.given_entities import nodes_of
from hoplite.engine.procedures.apoc_refactor_merge import MergeRules
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship
from hoplite.values.order import group_key, sort_key

Config = dict[str, Any] | None
_NULL = "java.lang.NullPointerException"


def _latest_first(context: Execution, node: int) -> list[RelationshipRef]:
    """The relationships of a node, each once, newest first, as Neo4j goes through them."""
    return [RelationshipRef(one) for one in np.unique(context.graph.relationships_of(node))[::-1].tolist()]


# --- groups ---------------------------------------------------------------------------------------------------------


class _Aggregates:
    """The aggregates of a group's members: `{'*': 'count', 'age': ['sum', 'avg']}`."""

    def __init__(self, wanted: dict[str, list[str]]) -> None:
        self._wanted = wanted
        self._values: dict[str, list[Any]] = {key: [] for key in wanted}
        self._count = 0

    def add(self, properties: dict[str, Any]) -> None:
        self._count += 1
        for key, values in self._values.items():
            if properties.get(key) is not None:
                values.append(properties[key])

    def properties(self) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for key, names in self._wanted.items():
            values = self._values[key]
            for name in names:
                if key == "*":
                    if name == "count":
                        found["count_*"] = self._count
                elif values and (value := _aggregate(name, values)) is not None:
                    found[f"{name}_{key}"] = value
        return found


def _aggregate(name: str, values: list[Any]) -> Any:
    numbers = [value for value in values if isinstance(value, int | float) and not isinstance(value, bool)]
    match name:
        case "count":
            return len(values)
        case "collect":
            return list(values)
        case "min":
            return _whole(min(values, key=sort_key))
        case "max":
            return _whole(max(values, key=sort_key))
        case "sum" if numbers:
            return _whole(sum(numbers))
        case "avg" if numbers:
            return sum(numbers) / len(numbers)
    return None


def _whole(value: Any) -> Any:
    """A float without a fraction becomes an integer, as in APOC."""
    return int(value) if isinstance(value, float) and value.is_integer() else value


def _wanted(given: list[Any] | None, place: int) -> dict[str, list[str]]:
    listed = given if given else [{"*": "count"}, {"*": "count"}]
    chosen = listed[place] if place < len(listed) else {}
    return {key: names if isinstance(names, list) else [names] for key, names in (chosen or {}).items()}


def _is_kept(rules: dict[str, Any], kinds: Iterable[str], properties: dict[str, Any]) -> bool:
    """Whether the settings let a group through: `P.count_*.min: 2`, or without a label for all."""
    for rule, bound in rules.items():
        rest, _, side = rule.rpartition(".")
        kind, _, key = rest.rpartition(".")
        if side not in ("min", "max") or (kind and kind not in kinds):
            continue
        value = properties.get(key)
        if value is None or (value < bound if side == "min" else value > bound):
            return False
    return True


class _Grouping:
    """Groups of nodes by a label and some values, and the relationships between groups."""

    def __init__(self, context: Execution, keys: list[str], aggregations: Any, config: dict[str, Any]) -> None:
        self.context = context
        self.keys = keys
        self.aggregations = aggregations
        self.config = config
        self.nodes: dict[Any, tuple[VirtualNode, _Aggregates]] = {}
        self.members: dict[Any, list[NodeRef]] = {}
        self.places: dict[NodeRef, list[Any]] = {}
        self.relationships: dict[Any, dict[Any, tuple[VirtualNode, str, _Aggregates]]] = {}

    def add_nodes(self, label: str) -> None:
        for number in self.context.graph.nodes_with_label(label).tolist():
            self.context.check_time()
            node = NodeRef(number)
            properties = held_by(self.context, node)
            chosen = {key: properties.get(key) for key in self.keys}
            place = (label, group_key(list(chosen.values())))
            if place not in self.nodes:
                virtual = VirtualNode(next_virtual_id(), (label,), chosen)
                self.nodes[place] = (virtual, _Aggregates(_wanted(self.aggregations, 0)))
            self.nodes[place][1].add(properties)
            self.members.setdefault(place, []).append(node)
            self.places.setdefault(node, []).append(place)

    def add_relationships(self) -> None:
        included, excluded = (_names(self.config.get(name)) for name in ("includeRels", "excludeRels"))
        for place, members in self.members.items():
            found = self.relationships.setdefault(place, {})
            for node in members:
                for relationship in _latest_first(self.context, node.position):
                    self.context.check_time()
                    start, end = ends_of(self.context, relationship)
                    type_name = relationship_type(self.context, relationship) or ""
                    if start != node or type_name in excluded or (included and type_name not in included):
                        continue
                    for other in self.places.get(end, ()):
                        if other == place and self.config.get("selfRels") is False:
                            continue
                        self._count(found, other, type_name, relationship)

    def _count(self, found: dict[Any, Any], other: Any, type_name: str, relationship: RelationshipRef) -> None:
        if (other, type_name) not in found:
            found[other, type_name] = (self.nodes[other][0], type_name, _Aggregates(_wanted(self.aggregations, 1)))
        found[other, type_name][2].add(held_by(self.context, relationship))

    def rows(self) -> Iterator[Row]:
        """A row for each group with its first relationship and all of them, and one for each other relationship."""
        rules = self.config.get("filter") or {}
        finished = {
            place: VirtualNode(node.position, node.labels, {**node.properties, **aggregates.properties()})
            for place, (node, aggregates) in self.nodes.items()
        }
        for place, node in _first(finished.items(), self.config.get("limitNodes")):
            if not _is_kept(rules, node.labels, dict(node.properties)):
                continue
            made = []
            for (other, _), (_, type_name, aggregates) in self.relationships.get(place, {}).items():
                properties = aggregates.properties()
                if _is_kept(rules, (type_name,), properties):
                    made.append(VirtualRelationship(next_virtual_id(), type_name, node, finished[other], properties))
            made = list(_first(made, self.config.get("relsPerNode")))
            if made:
                yield [node], made, node, made[0]
                yield from (([node], [one], node, one) for one in made[1:])
            elif self.config.get("orphans") is not False:
                yield [node], [], node, None


def _first(items: Iterable[Any], limit: int | None) -> Iterator[Any]:
    """As many as the limit says, or all without one."""
    return islice(items, None if limit is None or limit < 0 else limit)


def _names(given: Any) -> set[str]:
    if given is None:
        return set()
    return set(given) if isinstance(given, list) else {str(given)}


@cypher_procedure(
    "apoc.nodes.group(labels :: LIST<STRING>, groupByProperties :: LIST<STRING>, aggregations = [{*=count}, "
    "{*=count}] :: LIST<MAP>, config = {} :: MAP) :: (nodes :: LIST<NODE>, relationships :: LIST<RELATIONSHIP>, node "
    ":: NODE, relationship :: RELATIONSHIP)",
    mode="DEFAULT",
    description="Groups nodes by a label and property values, and the relationships between them.",
    works_on_system=False,
)
def group(
    context: Execution, names: list[str] | None, keys: list[str] | None, aggregations: Any, config: Config
) -> Iterator[Row]:
    """Virtual nodes and relationships with counts and other aggregates."""
    for given, owner, method in ((names, "c", "Collection"), (keys, "groupByProperties", "List")):
        if given is None:
            message = f'Cannot invoke "java.util.{method}.size()" because "{owner}" is null'
            raise call_failed("apoc.nodes.group", _NULL, message)
    assert names is not None and keys is not None
    listed = aggregations if isinstance(aggregations, list) else None
    grouping = _Grouping(context, keys, listed, config or {})
    wanted = context.graph.labels_in_use() if "*" in names else names
    for label in dict.fromkeys(wanted):
        grouping.add_nodes(label)
    grouping.add_relationships()
    yield from grouping.rows()


# --- several nodes as one --------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.nodes.collapse(nodes :: LIST<NODE>, config = {} :: MAP) :: (from :: NODE, rel :: RELATIONSHIP, to :: NODE)",
    mode="DEFAULT",
    description="Returns a virtual node that represents several, with their relationships to others.",
    works_on_system=False,
)
def collapse(context: Execution, nodes: list[NodeRef] | None, config: Config) -> Iterator[Row]:
    """A row for each relationship. Properties are merged by the rules of apoc.refactor.mergeNodes."""
    settings = config or {}
    if not nodes:
        return
    if len(nodes) == 1:
        yield nodes[0], None, None
        return
    members = list(dict.fromkeys(nodes))
    counts = settings.get("countMerge") is not False
    rules = MergeRules.of(settings, "overwrite")
    properties: dict[str, Any] = {}
    names: dict[str, None] = {}
    for node in members:
        names.update(dict.fromkeys(labels(context, node) or ()))
        properties |= rules.merged(properties, held_by(context, node))
    if counts:
        properties["count"] = len(members)
    if settings.get("collapsedLabel") is True:
        names["Collapsed"] = None
    target = VirtualNode(next_virtual_id(), tuple(names), properties)
    relationships = _collapsed(context, target, members, settings, MergeRules.of(settings, "combine"))
    rows: list[Row] = [(one.start, one, one.end) for one in relationships]
    yield from rows or [(target, None, None)]


def _collapsed(
    context: Execution, target: VirtualNode, members: list[NodeRef], settings: dict[str, Any], rules: MergeRules
) -> Iterator[VirtualRelationship]:
    """The relationships of all members, with those between the same nodes merged."""
    inside = set(members)
    merges = settings.get("mergeRelsVirtual") is not False
    counts = settings.get("countMerge") is not False
    found: dict[Any, dict[str, Any]] = {}
    for node in members:
        for relationship in _latest_first(context, node.position):
            context.check_time()
            start, end = (target if one in inside else one for one in ends_of(context, relationship))
            if start is target and end is target and settings.get("selfRel") is not True:
                continue
            type_name = relationship_type(context, relationship)
            held = held_by(context, relationship)
            place = (start, type_name, end, None if merges else len(found))
            if place not in found:
                found[place] = dict(held)
                continue
            times = found[place].pop("count", 0) if counts else 0
            found[place] |= rules.merged(found[place], held)
            if counts:
                found[place]["count"] = times + 1
    for (start, type_name, end, _), properties in found.items():
        yield VirtualRelationship(next_virtual_id(), type_name, start, end, properties)


# --- cycles and covers
# ----------------------------------------------------------------------------------------------------


@cypher_procedure(
    "apoc.nodes.cycles(nodes :: LIST<NODE>, config = {} :: MAP) :: (path :: PATH)",
    mode="DEFAULT",
    description="Returns cycles: from each node along a relationship, and a shortest path back.",
    works_on_system=False,
)
def cycles(context: Execution, nodes: list[NodeRef] | None, config: Config) -> Iterator[Row]:
    """`maxDepth` bounds the length, `relTypes` names the types of relationships."""
    if nodes is None:
        message = 'Cannot invoke "java.util.List.stream()" because "nodes" is null'
        raise call_failed("apoc.nodes.cycles", _NULL, message)
    settings = config or {}
    codes = None
    if settings.get("relTypes"):
        known = (context.graph.type_code(name) for name in settings["relTypes"])
        codes = tuple(code for code in known if code is not None)
    most = settings.get("maxDepth", -1)
    for node in dict.fromkeys(nodes):
        for path in _closed(context, node.position, codes, most):
            yield (path,)


def _closed(context: Execution, node: int, codes: Any, most: int) -> Iterator[PathValue]:
    """For each node that a relationship leads to, the newest one and a shortest path back."""
    if codes == ():
        return
    out, ends = context.graph.neighbours(node, True, codes)
    leaving: dict[int, int] = {}
    for relationship, end in sorted(zip(out.tolist(), ends.tolist(), strict=True), reverse=True):
        leaving.setdefault(end, relationship)
    onward = _ways_to(context, node, codes, most, set(leaving) - {node})
    for end, relationship in leaving.items():
        if end == node or end in onward:
            nodes, relationships = [node, end], [relationship]
            while nodes[-1] != node:
                step, following = onward[nodes[-1]]
                relationships.append(step)
                nodes.append(following)
            yield PathValue(tuple(nodes), tuple(relationships))


def _ways_to(context: Execution, node: int, codes: Any, most: int, wanted: set[int]) -> dict[int, tuple[int, int]]:
    """The next relationship and node on a shortest path to a node, for all nodes as near as the wanted ones."""
    onward: dict[int, tuple[int, int]] = {}
    level, depth, missing = [node], 0, set(wanted)
    while level and missing and (most < 0 or depth < most):
        depth += 1
        following = []
        for at in level:
            context.check_time()
            into, starts = context.graph.neighbours(at, False, codes)
            for relationship, start in sorted(zip(into.tolist(), starts.tolist(), strict=True), reverse=True):
                if start != node and start not in onward:
                    onward[start] = (relationship, at)
                    following.append(start)
                    missing.discard(start)
        level = following
    return onward


@cypher_procedure(
    "apoc.algo.cover(nodes :: ANY) :: (rel :: RELATIONSHIP)",
    mode="DEFAULT",
    description="Returns all relationships between some nodes.",
    works_on_system=False,
)
def cover(context: Execution, given: Any) -> Iterator[Row]:
    """Each once."""
    if given is None:
        message = (
            'Cannot invoke "java.util.List.stream()" because the return value of '
            '"apoc.convert.ConvertUtils.convertToList(Object)" is null'
        )
        raise call_failed("apoc.algo.cover", _NULL, message)
    members = list(dict.fromkeys(nodes_of(context, given)))
    inside = {node.position for node in members}
    for node in members:
        context.check_time()
        out, ends = context.graph.neighbours(node.position, True)
        for relationship, end in zip(out.tolist(), ends.tolist(), strict=True):
            if end in inside:
                yield (RelationshipRef(relationship),)
