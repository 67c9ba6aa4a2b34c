"""A short life of a database: commits, schema with indexes of every kind, checkpoints, a bulk load. Each step is a
transaction that looks up what it needs, so that the rest runs also where one of them failed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import numpy as np

from hoplite.errors import CypherError
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.graph import Graph
from hoplite.storage.importers.tables import load_tables
from hoplite.storage.schema import Entity
from hoplite.storage.snapshot import Snapshot
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date
from tests.disk.searches import answers_of, create_indexes

State = tuple[Any, ...]


def _create(name: str, **properties: Any) -> Callable[[Graph], None]:
    def step(graph: Graph) -> None:
        with graph.begin() as tx:
            tx.create_node(["Person"], {"name": name, **properties})

    return step


def _link(first: str, second: str) -> Callable[[Graph], None]:
    def step(graph: Graph) -> None:
        with graph.begin() as tx:
            found = [tx.seek_nodes("Person", "name", [name])[1].tolist() for name in (first, second)]
            if all(found):
                properties = {"since": 2020, "note": f"{first} met {second}", "v": [1.0, 2.0, float(len(first))]}
                tx.create_relationship(found[0][0], found[1][0], "KNOWS", properties)
                tx.set_node_property(found[0][0], "links", 1)

    return step


def _delete(name: str) -> Callable[[Graph], None]:
    def step(graph: Graph) -> None:
        with graph.begin() as tx:
            for node in tx.seek_nodes("Person", "name", [name])[1].tolist():
                for relationship in tx.relationships_of(node).tolist():
                    tx.delete_relationship(relationship)
                tx.delete_node(node)

    return step


def _constrain(graph: Graph) -> None:
    with graph.begin() as tx:
        tx.create_constraint("names", Entity.NODE, "Person", ["name"], if_not_exists=True)


def _rewrite(name: str, **properties: Any) -> Callable[[Graph], None]:
    def step(graph: Graph) -> None:
        with graph.begin() as tx:
            for node in tx.seek_nodes("Person", "name", [name])[1].tolist():
                for key, value in properties.items():
                    tx.set_node_property(node, key, value)

    return step


def _relabel(graph: Graph) -> None:
    with graph.begin() as tx:
        for node in tx.nodes_with_label("Person").tolist():
            tx.add_label(node, "Known")


def _load(graph: Graph) -> None:
    more = {"id": [7], "name": ["Flo"], "about": ["graphs, loaded"], "v": [[0.25, 0.25, 1.0]]}
    load_tables(graph, {"City": {"id": [1, 2]}, "Person": more}, {("City", "NEAR", "City"): {"start": [1], "end": [2]}})


def checkpoint(graph: Graph) -> None:
    graph.checkpoint()


STEPS: Sequence[Callable[[Graph], None]] = (
    _create("Ann", born=Date.of(1990, 1, 2), about="likes graphs", v=[1.0, 0.0, 0.5], home=Point(7203, (1.0, 2.0))),
    _create("Bo", scores=[1.5, 2.5], about="likes a long walk", v=[0.0, 1.0, 0.5], home=Point(4326, (12.5, 55.5))),
    _constrain,
    create_indexes,
    _link("Ann", "Bo"),
    checkpoint,
    _create("Cy", about="walks", v=[0.5, 0.5, 0.5], home=Point(7203, (1.5, 2.5))),
    _link("Bo", "Cy"),
    _relabel,
    _rewrite("Bo", about="likes graphs too", v=[0.0, -1.0, 0.5], home=Point(7203, (9.0, 9.0))),
    _delete("Ann"),
    checkpoint,
    _load,
    _create("Di", about="a long talk about graphs", v=[2.0, 0.25, 0.0]),
    _link("Di", "Cy"),
)


def run(graph: DiskGraph, done: list[Callable[[Graph], None]], errors: list[CypherError] | None = None) -> None:
    """Run all steps, and note those that were acknowledged as they are. Errors are collected, or end it."""
    for step in STEPS:
        try:
            step(graph)
        except CypherError as error:
            if errors is None:
                raise
            errors.append(error)
        else:
            done.append(step)


def state_after(steps: Sequence[Callable[[Graph], None]]) -> State:
    """What a graph in memory holds after these steps."""
    return _state_after(tuple(steps))


@cache
def _state_after(steps: tuple[Callable[[Graph], None], ...]) -> State:
    graph = Graph()
    for step in steps:
        step(graph)
    return state_of(graph.snapshot())


def state_of(snapshot: Snapshot) -> State:
    """All that is in a graph, by public ids, and what its search indexes answer; and seeks, which must agree with
    it."""
    nodes, relationships = snapshot.nodes(), snapshot.relationships()
    starts, ends = snapshot.endpoints(relationships)
    found: list[tuple[Any, ...]] = []
    names = snapshot.node_property(nodes, "name").objects().tolist()
    for node, name, labels in zip(nodes.tolist(), names, snapshot.label_sets(nodes), strict=True):
        if name is not None and "Person" in labels:
            assert snapshot.seek_nodes("Person", "name", [name])[1].tolist() == [node]
    for node in nodes.tolist():
        for outgoing, side in ((True, starts), (False, ends)):
            reached = sorted(snapshot.neighbours(node, outgoing)[0].tolist())
            assert reached == np.sort(relationships[side == node]).tolist()
    maps = snapshot.node_property_maps(nodes)
    for public, labels, properties in zip(
        snapshot.node_ids(nodes).tolist(), snapshot.label_sets(nodes), maps, strict=True
    ):
        found.append(("node", public, labels, sorted(properties.items())))
    links = zip(
        snapshot.relationship_ids(relationships).tolist(),
        snapshot.node_ids(starts).tolist(),
        snapshot.node_ids(ends).tolist(),
        [snapshot.type_names[code] for code in snapshot.relationship_types(relationships).tolist()],
        snapshot.relationship_property_maps(relationships),
        strict=True,
    )
    found += [("relationship", *link[:4], sorted(link[4].items())) for link in links]
    constraints = [(rule.name, rule.labels, rule.keys) for rule in snapshot.schema.constraints]
    return (*sorted(found, key=repr), *sorted(constraints), *answers_of(snapshot))
