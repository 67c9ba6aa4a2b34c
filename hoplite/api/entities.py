"""The driver's paths and graphs, with a display for notebooks."""

from __future__ import annotations

from neo4j import graph as driver_graph

Node = driver_graph.Node
Relationship = driver_graph.Relationship


class Graph(driver_graph.Graph):
    """A graph that notebooks draw."""

    def _repr_html_(self) -> str:
        from hoplite.api.picture import graph_html

        return graph_html(self)


class Path(driver_graph.Path):
    """A path that notebooks show as in Cypher."""

    def _repr_html_(self) -> str:
        from hoplite.api.display import path_html

        return path_html(self)
