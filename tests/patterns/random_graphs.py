"""Random small multigraphs, as a graph for the oracle and as a database; random bounds, directions and types."""

from __future__ import annotations

from dataclasses import dataclass

from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

import hoplite
from hoplite.engine.hops.select import BackendName
from tests.oracle import Graph, Relationship, Side, Trail, trails

TYPES = ("R", "S", "T")


@dataclass(frozen=True)
class Pattern:
    """`-[name:R|S*lower..upper]->`, for Cypher and for the oracle."""

    lower: int
    upper: int | None
    side: Side
    types: tuple[int, ...] | None

    def cypher(self, name: str = "", condition: str = "") -> str:
        types = "" if self.types is None else ":" + "|".join(TYPES[number] for number in self.types)
        bounds = f"*{self.lower}..{'' if self.upper is None else self.upper}"
        left, right = {"->": ("-", "->"), "<-": ("<-", "-"), "--": ("-", "-")}[self.side]
        return f"{left}[{name}{types}{bounds}{condition}]{right}"

    def trails(self, graph: Graph, start: int, used: tuple[int, ...] = ()) -> list[Trail]:
        return list(trails(graph, start, self.lower, self.upper, self.side, self.types, used=used))


@st.composite
def graphs(draw: DrawFn, most_relationships: int = 8) -> Graph:
    """Few nodes, so that self-loops, parallel relationships and cycles are common."""
    node_count = draw(st.integers(1, 5))
    node = st.integers(0, node_count - 1)
    triples = draw(st.lists(st.tuples(node, st.integers(0, 2), node), max_size=most_relationships))
    relationships = [Relationship(number, start, type_, end) for number, (start, type_, end) in enumerate(triples)]
    return Graph(list(range(node_count)), relationships)


@st.composite
def patterns(draw: DrawFn, most: int = 4) -> Pattern:
    lower = draw(st.integers(0, 3))
    upper = draw(st.one_of(st.none(), st.integers(lower, most)))
    side: Side = draw(st.sampled_from(("->", "<-", "--")))
    types = draw(st.one_of(st.none(), st.sets(st.integers(0, 2), min_size=1, max_size=2).map(sorted).map(tuple)))
    return Pattern(lower, upper, side, types)


def database(graph: Graph, backend: BackendName = "auto", partitions: int = 1) -> hoplite.Database:
    """Nodes are (:N {i}), relationships carry their number as `i` too. Half of them come in a second transaction."""
    db = hoplite.open(backend=backend, partitions=partitions)
    db.run("UNWIND $nodes AS i CREATE (:N {i: i})", nodes=graph.nodes).consume()
    half = len(graph.relationships) // 2
    for part in (graph.relationships[:half], graph.relationships[half:]):
        for number, name in enumerate(TYPES):
            rows = [{"i": r.id, "s": r.start, "e": r.end} for r in part if r.type == number]
            db.run(
                "UNWIND $rows AS row MATCH (a:N {i: row.s}), (b:N {i: row.e}) "
                f"CREATE (a)-[:{name} {{i: row.i}}]->(b)",
                rows=rows,
            ).consume()
    return db
