"""A graph as plain Python data, of which a database is made: all of it, or without some edges that are held out."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import hoplite

Edge = tuple[str, str, str]  # a node, a kind of relationship, a node


@dataclass(frozen=True, slots=True)
class PlainGraph:
    """Nodes by id, as name and label; edges between ids; and for each kind of edge its type and where it comes from.

    `via` says for edges that were derived from others what they rest on.
    """

    nodes: Mapping[str, tuple[str, str]]
    edges: list[Edge]
    kinds: Mapping[str, tuple[str, str]]
    via: Mapping[Edge, str] = field(default_factory=dict)

    def database(self, left_out: Collection[Edge] = ()) -> hoplite.Database:
        """A database in memory with everything but some edges."""
        db = hoplite.open()
        self.fill(db, left_out)
        return db

    def fill(self, db: hoplite.Database, left_out: Collection[Edge] = ()) -> None:
        """Load it into an empty database. Nodes have `id` and `name`, relationships `kind` and `source`, and `via`
        where they were derived."""
        nodes: dict[Any, dict[str, list[str]]] = {}
        for id, (name, label) in self.nodes.items():
            table = nodes.setdefault(label, {"id": [], "name": []})
            table["id"].append(id)
            table["name"].append(name)
        db.load(nodes, self._relationship_tables(frozenset(left_out)))

    def _relationship_tables(self, left_out: frozenset[Edge]) -> dict[tuple[str, str, str], dict[str, list[Any]]]:
        """One for each type and its two labels, as `db.load` takes them."""
        tables: dict[tuple[str, str, str], dict[str, list[Any]]] = {}
        for edge in self.edges:
            if edge in left_out:
                continue
            start, kind, end = edge
            type_name, source = self.kinds[kind]
            key = (self.nodes[start][1], type_name, self.nodes[end][1])
            table = tables.setdefault(key, {"start": [], "end": [], "kind": [], "source": [], "via": []})
            for column, value in zip(table.values(), (start, end, kind, source, self.via.get(edge)), strict=True):
                column.append(value)
        for table in tables.values():
            if not any(table["via"]):
                del table["via"]
        return tables


def sample_graph() -> PlainGraph:
    """The graph that Hoplite ships, for when nothing else is there."""
    from hoplite.sample import load_sample

    with load_sample() as db:
        rows = db.run("MATCH (n) RETURN toString(id(n)), n.name, labels(n)[0]").values()
        nodes = {id: (name, label) for id, name, label in rows}
        edges = db.run("MATCH (a)-[r]->(b) RETURN toString(id(a)), type(r), toString(id(b)) ORDER BY id(r)").values()
    kinds = {kind: (kind, "Hoplite's sample graph") for _, kind, _ in edges}
    return PlainGraph(nodes, [(start, kind, end) for start, kind, end in edges], kinds)
