"""apoc.meta.nodeTypeProperties and apoc.meta.relTypeProperties: the properties of each kind of entity, and how often.

APOC goes through the nodes label by label, so an entity counts once for each label of its (start) node. Everything is
examined, whatever sample is asked for: APOC's own sample is random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.engine.procedures.schema import property_types
from hoplite.values.columns import Column, Int64s
from hoplite.values.map_order import visiting_order

Config = dict[str, Any] | None


_MAX_RELATIONSHIPS = 100
_FEW_PROPERTIES = 3


class _Wanted:
    """What the settings include and exclude; for labels and types there are two names for each setting, and the shorter
    one wins."""

    def __init__(self, config: Config) -> None:
        settings = config or {}
        self._labels = set(settings.get("labels") or settings.get("includeLabels") or ())
        self._types = set(settings.get("rels") or settings.get("includeRels") or ())
        self._labels_left_out = set(settings.get("excludes") or settings.get("excludeLabels") or ())
        self._types_left_out = set(settings.get("excludeRels") or ())
        self.max_relationships: int = settings.get("maxRels", _MAX_RELATIONSHIPS)

    def label(self, name: str) -> bool:
        """Whether nodes with this label are included."""
        return name not in self._labels_left_out and (not self._labels or name in self._labels)

    def type(self, name: str) -> bool:
        """Whether relationships of this type are included."""
        return name not in self._types_left_out and (not self._types or name in self._types)


@cypher_procedure(
    "apoc.meta.nodeTypeProperties(config = {} :: MAP) :: (nodeType :: STRING, nodeLabels :: LIST<STRING>, "
    "propertyName :: STRING, propertyTypes :: LIST<STRING>, mandatory :: BOOLEAN, propertyObservations :: INTEGER, "
    "totalObservations :: INTEGER)",
    mode="DEFAULT",
    description="Describes the properties of every set of labels as a table.",
    works_on_system=False,
)
def node_type_properties(context: Execution, config: Config) -> Iterator[Row]:
    """A row for each set of labels and property."""
    graph, wanted = context.graph, _Wanted(config)
    every = _seen_nodes(context, wanted)
    members: dict[int, list[Int64s]] = {}
    for label in filter(wanted.label, graph.labels_in_use()):
        nodes = every[graph.has_label(every, label)]
        for code, some in _by_code(nodes, graph.label_set_codes(nodes)):
            members.setdefault(code, []).append(some)
    for parts in members.values():
        labels = sorted(graph.label_sets(parts[0][:1])[0])
        kind = "".join(f":`{label}`" for label in labels)
        columns = graph.node_property_columns(parts[0])
        total = len(parts[0]) * len(parts)
        for name, types, count in _observed(columns, graph.property_keys()):
            yield kind, labels, name, types, False, count * len(parts), total


def _seen_nodes(context: Execution, wanted: _Wanted) -> Int64s:
    """The nodes by id, without those that only have relationships of unwanted types."""
    graph = context.graph
    nodes = graph.nodes()
    nodes = nodes[np.argsort(graph.node_ids(nodes), kind="stable")]
    types = graph.relationship_types_in_use()
    if all(map(wanted.type, types)):
        return nodes
    some, any_wanted = np.zeros(0, np.int64), np.zeros(0, np.int64)
    for name in types:
        ends = np.concatenate(graph.endpoints(graph.relationships_with_type(name)))
        some = np.union1d(some, ends)
        any_wanted = np.union1d(any_wanted, ends) if wanted.type(name) else any_wanted
    return nodes[~np.isin(nodes, np.setdiff1d(some, any_wanted))]


def _by_code(entities: Int64s, codes: NDArray[Any]) -> Iterator[tuple[int, Int64s]]:
    """The entities of each code, in order of first appearance."""
    kinds, first = np.unique(codes, return_index=True)
    for code in kinds[np.argsort(first)].tolist():
        yield code, entities[codes == code]


@cypher_procedure(
    "apoc.meta.relTypeProperties(config = {} :: MAP) :: (relType :: STRING, sourceNodeLabels :: LIST<STRING>, "
    "targetNodeLabels :: LIST<STRING>, propertyName :: STRING, propertyTypes :: LIST<STRING>, mandatory :: BOOLEAN, "
    "propertyObservations :: INTEGER, totalObservations :: INTEGER)",
    mode="DEFAULT",
    description="Describes the properties of every type between two sets of labels as a table.",
    works_on_system=False,
)
def relationship_type_properties(context: Execution, config: Config) -> Iterator[Row]:
    """A row for each type, pair of label sets and property; only a sample of each kind of relationship is read."""
    graph, wanted = context.graph, _Wanted(config)
    every = _ordered_relationships(context, wanted)
    kinds: dict[tuple[int, int, int], list[Int64s]] = {}
    for label in filter(wanted.label, graph.labels_in_use()):
        relationships = every[graph.has_label(graph.endpoints(every)[0], label)]
        starts, ends = (graph.label_set_codes(side).astype(np.int64) for side in graph.endpoints(relationships))
        types = graph.relationship_types(relationships).astype(np.int64)
        for code, some in _by_code(relationships, starts << 42 | types << 21 | ends):
            kinds.setdefault((code >> 42, code >> 21 & 0x1FFFFF, code & 0x1FFFFF), []).append(some)
    for (start, type_code, end), parts in kinds.items():
        sides = [list(labels) for labels in graph.labels_of_sets(np.array([start, end], np.int32))]
        seen = np.concatenate(parts)
        looked_into = seen[: max(wanted.max_relationships, 0)]
        columns = graph.relationship_property_columns(looked_into)
        for name, types_found, count in _observed(columns, graph.property_keys()):
            yield f":`{graph.type_names[type_code]}`", *sides, name, types_found, False, count, len(seen)


def _ordered_relationships(context: Execution, wanted: _Wanted) -> Int64s:
    """The relationships of wanted types by start node and type, newest first."""
    graph = context.graph
    found = [graph.relationships_with_type(name) for name in graph.relationship_types_in_use() if wanted.type(name)]
    every = np.concatenate([np.zeros(0, np.int64), *found])
    starts = graph.node_ids(graph.endpoints(every)[0])
    return every[np.lexsort((-graph.relationship_ids(every), graph.relationship_types(every), starts))]


def _observed(columns: Mapping[str, Column], keys: Sequence[str]) -> Iterator[tuple[str | None, list[str] | None, int]]:
    """The name, types and number of holders of each property; one empty row if there is none.

    Names come in the order of a Java hash map made for few entries.
    """
    held = {key: column for key in keys if (column := columns.get(key)) is not None and not column.null_mask().all()}
    for key in visiting_order(held, _FEW_PROPERTIES):
        yield key, sorted(property_types(held[key])), int((~held[key].null_mask()).sum())
    if not held:
        yield None, None, 0


@apoc_function(
    "apoc.meta.nodes.count(nodes = [] :: LIST<STRING>, config = {} :: MAP) :: INTEGER",
    "Returns how many nodes have one of the labels.",
    needs_context=True,
)
def count_nodes(context: Execution, labels: list[str] | None, config: Config) -> int:
    """A node with several counts for each; without labels, all are counted. With types, each counts once that has one.

    A label that does not exist stands for all nodes, as it does in Neo4j's count store.
    """
    graph = context.graph
    names = [label.strip() for label in labels if label is not None] if labels else graph.labels_in_use()
    types = (config or {}).get("includeRels") or (config or {}).get("rels")
    if types:
        members = [graph.nodes_with_label(name) for name in names]
        found = np.unique(np.concatenate([*members, np.empty(0, np.int64)]))
        return sum(any(_has(context, node, type) for type in types) for node in found.tolist())
    return sum(graph.label_count(label) if graph.known_label(label) else graph.node_count for label in names)


def _has(context: Execution, node: int, written: str) -> bool:
    """Whether a node has a relationship of a type, written with its direction behind it: `R>`, `R<` or `R`."""
    outgoing, incoming = written[-1] != "<", written[-1] != ">"
    code = context.graph.type_code(written if outgoing and incoming else written[:-1])
    if code is None:
        return False
    position = np.array([node], np.int64)
    sides = [True] * outgoing + [False] * incoming
    return any(context.graph.degree(position, side, (code,))[0] for side in sides)
