"""apoc.meta.nodeTypeProperties and apoc.meta.relTypeProperties: which properties kinds of entities have, and how often.

APOC looks at the nodes of one label after the other, so that an entity counts once for each label of its (start) node.
Everything is looked at, whatever sample is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function
from hoplite.engine.procedures.registry import Row, cypher_procedure
from hoplite.engine.procedures.schema import property_types
from hoplite.values.columns import Int64s

Config = dict[str, Any] | None


def _wanted(names: tuple[str, ...], config: Config, kinds: tuple[str, str, str]) -> list[str]:
    """The names that the settings include (two ways to say so) and do not exclude."""
    settings = config or {}
    included = [*(settings.get(kinds[0]) or ()), *(settings.get(kinds[1]) or ())]
    excluded = settings.get(kinds[2]) or ()
    return [name for name in names if (not included or name in included) and name not in excluded]


def _wanted_labels(context: Execution, config: Config) -> list[str]:
    return _wanted(context.graph.labels_in_use(), config, ("includeLabels", "labels", "excludeLabels"))


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
    graph = context.graph
    members: dict[int, list[Int64s]] = {}
    for label in _wanted_labels(context, config):
        nodes = graph.nodes_with_label(label)
        codes = graph.label_set_codes(nodes)
        for code in np.unique(codes).tolist():
            members.setdefault(code, []).append(nodes[codes == code])
    for parts in members.values():
        nodes, times = parts[0], len(parts)
        labels = sorted(graph.label_sets(nodes[:1])[0])
        kind = "".join(f":`{label}`" for label in labels)
        for name, types, count in _observed(nodes, graph.property_keys(), graph.node_property):
            yield kind, labels, name, types, False, count * times, len(nodes) * times


@cypher_procedure(
    "apoc.meta.relTypeProperties(config = {} :: MAP) :: (relType :: STRING, sourceNodeLabels :: LIST<STRING>, "
    "targetNodeLabels :: LIST<STRING>, propertyName :: STRING, propertyTypes :: LIST<STRING>, mandatory :: BOOLEAN, "
    "propertyObservations :: INTEGER, totalObservations :: INTEGER)",
    mode="DEFAULT",
    description="Describes the properties of every type between two sets of labels as a table.",
    works_on_system=False,
)
def relationship_type_properties(context: Execution, config: Config) -> Iterator[Row]:
    """A row for each type, sets of labels and property."""
    graph = context.graph
    labels = set(_wanted_labels(context, config))
    for type_name in _wanted(graph.relationship_types_in_use(), config, ("includeRels", "rels", "excludeRels")):
        relationships = graph.relationships_with_type(type_name)
        starts, ends = (graph.label_set_codes(side).astype(np.int64) for side in graph.endpoints(relationships))
        kinds = np.unique(np.stack((starts, ends)), axis=1).T.tolist()
        for start, end in kinds:
            members = relationships[(starts == start) & (ends == end)]
            sides = [list(graph.label_sets(side[:1])[0]) for side in graph.endpoints(members)]
            times = len(labels.intersection(sides[0]))
            if not times:
                continue
            for name, types, count in _observed(members, graph.property_keys(), graph.relationship_property):
                yield f":`{type_name}`", *sides, name, types, False, count * times, len(members) * times


def _observed(entities: Int64s, keys: tuple[str, ...], read: Any) -> Iterator[tuple[str | None, list[str] | None, int]]:
    """Name, types and number of holders of each property of these entities; one empty row where there is none."""
    found = False
    for key in keys:
        column = read(entities, key)
        count = int((~column.null_mask()).sum())
        if count:
            found = True
            yield key, property_types(column), count
    if not found:
        yield None, None, 0


@apoc_function(
    "apoc.meta.nodes.count(nodes = [] :: LIST<STRING>, config = {} :: MAP) :: INTEGER",
    "Returns how many nodes have one of the labels.",
    needs_context=True,
)
def count_nodes(context: Execution, labels: list[str] | None, config: Config) -> int:
    """A node with several counts for each; no labels given are all there are."""
    graph = context.graph
    return sum(graph.label_count(label) for label in labels or graph.labels_in_use())
