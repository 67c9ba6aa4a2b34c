"""The queries of the second table: Cypher for engines that support it, SQL for those that do not.

SQL sees node(id, label, name) and one table for each relationship type, with columns a and b, ordered by a.
Parameters: $id and $n are the number and the name of `shapes.asked_drug`.
"""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.shapes import Shape, asked_drug


@dataclass(frozen=True, slots=True)
class Workload:
    """A query; `any_rows` if a LIMIT without an order leaves the choice of rows to the engine."""

    key: str
    title: str
    cypher: str
    sql: str
    parameters: tuple[str, ...] = ()
    any_rows: bool = False


_PATHS = "MATCH p = (a:Drug {name: $n})-[:INTERACTS_WITH*1..2]->(b:Drug)"
_SQL_TYPES = (
    "INTERACTS_WITH",
    "TREATS",
    "PALLIATES",
    "CAUSES",
    "AFFECTS_PATHWAY",
)  # types that start at a drug: SQL has to list what a pattern without a type leaves open

WORKLOADS = (
    Workload(
        "e1",
        "point look-up",
        "MATCH (n:Drug {id: $id}) RETURN n.name",
        "SELECT name FROM node WHERE id = $id AND label = 'Drug'",
        ("id",),
    ),
    Workload(
        "e2",
        "one hop, any type",
        "MATCH (n:Drug {id: $id})-[]->(m) RETURN m.id",
        " UNION ALL ".join(f"SELECT b FROM {name} WHERE a = $id" for name in _SQL_TYPES),
        ("id",),
    ),
    Workload(
        "a",
        "contains, then 1 hop",
        "MATCH (d:Disease)-[:HAS_SYMPTOM]->(s:Symptom) WHERE toLower(d.name) CONTAINS 'alzheimer' RETURN s.name",
        "SELECT s.name FROM node d JOIN HAS_SYMPTOM h ON h.a = d.id JOIN node s ON s.id = h.b "
        "WHERE d.label = 'Disease' AND contains(lower(d.name), 'alzheimer')",
    ),
    Workload(
        "b",
        "contains, then 2 hops, distinct",
        "MATCH (d:Disease)<-[:TREATS]-(dr:Drug) WHERE toLower(d.name) CONTAINS 'asthma' "
        "MATCH (dr)-[:CAUSES]->(se:SideEffect) RETURN DISTINCT se.name, dr.name",
        "SELECT DISTINCT se.name, dr.name FROM node d JOIN TREATS t ON t.b = d.id JOIN node dr ON dr.id = t.a "
        "JOIN CAUSES c ON c.a = dr.id JOIN node se ON se.id = c.b "
        "WHERE d.label = 'Disease' AND contains(lower(d.name), 'asthma')",
    ),
    Workload(
        "c1",
        "paths of 1..2 hops, LIMIT 1000",
        f"{_PATHS} RETURN p LIMIT 1000",
        "WITH start AS (SELECT id FROM node WHERE label = 'Drug' AND name = $n) "
        "SELECT a, b, NULL AS c FROM INTERACTS_WITH WHERE a IN (SELECT id FROM start) UNION ALL "
        "SELECT x.a, x.b, y.b FROM INTERACTS_WITH x JOIN INTERACTS_WITH y ON y.a = x.b "
        "WHERE x.a IN (SELECT id FROM start) LIMIT 1000",
        ("n",),
        any_rows=True,
    ),
    Workload(
        "c2",
        "count of paths of 1..2 hops",
        f"{_PATHS} RETURN count(*) AS c",
        "WITH start AS (SELECT id FROM node WHERE label = 'Drug' AND name = $n) "
        "SELECT (SELECT count(*) FROM INTERACTS_WITH WHERE a IN (SELECT id FROM start)) + "
        "(SELECT count(*) FROM INTERACTS_WITH x JOIN INTERACTS_WITH y ON y.a = x.b "
        "WHERE x.a IN (SELECT id FROM start)) AS c",
        ("n",),
    ),
    Workload(
        "d1",
        "top 10 over 1 hop",
        "MATCH (d:Drug)-[:CAUSES]->(s:SideEffect) "
        "RETURN d.name, count(DISTINCT s.name) AS c ORDER BY c DESC, d.name LIMIT 10",
        "SELECT d.name, count(DISTINCT s.name) AS c FROM CAUSES e JOIN node d ON d.id = e.a JOIN node s ON s.id = e.b "
        "GROUP BY d.name ORDER BY c DESC, d.name LIMIT 10",
    ),
    Workload(
        "d2",
        "top 10 over 2 hops",
        "MATCH (x:Disease)<-[:TREATS]-(d:Drug)-[:CAUSES]->(s:SideEffect) "
        "RETURN x.name, count(DISTINCT s.name) AS c ORDER BY c DESC, x.name LIMIT 10",
        "SELECT x.name, count(DISTINCT s.name) AS c FROM TREATS t JOIN CAUSES e ON e.a = t.a "
        "JOIN node x ON x.id = t.b JOIN node s ON s.id = e.b GROUP BY x.name ORDER BY c DESC, x.name LIMIT 10",
    ),
)
BY_KEY = {workload.key: workload for workload in WORKLOADS}


def parameters(shape: Shape) -> dict[str, dict[str, int | str]]:
    """The parameters of each query, by its key."""
    drug = asked_drug(shape)
    values: dict[str, int | str] = {"id": drug, "n": shape.names[drug]}
    return {workload.key: {name: values[name] for name in workload.parameters} for workload in WORKLOADS}


def label_pairs(shape: Shape) -> dict[str, tuple[str, str]]:
    """The labels at both ends of each relationship type."""
    pairs: dict[str, tuple[str, str]] = {}
    for name in shape.type_names:
        start, end = shape.ends(name)
        pairs[name] = (label_of(shape, int(start[0])), label_of(shape, int(end[0])))
    return pairs


def label_of(shape: Shape, node: int) -> str:
    place = int(shape.label_begin.searchsorted(node, side="right")) - 1
    return shape.label_names[place]
