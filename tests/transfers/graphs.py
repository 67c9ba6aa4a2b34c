"""A graph with every kind of value, and a canonical form in which equal graphs are equal."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import hoplite
from hoplite.storage.exporters.rows import node_rows, relationship_rows
from hoplite.values.render import describe

EVERY_KIND = r"""
CREATE (a:Value:`Odd label` {
  boolean: true, integer: -9223372036854775808, float: 0.1, tiny: 5e-324, nan: NaN, infinity: -Infinity,
  text: 'quote " comma , line
end \\ tab	é😀 `', empty: '', spaces: ' x ', number: '12', `odd key`: 1,
  booleans: [true, false], integers: [1, -2], floats: [1.5, NaN], texts: ['a;b', 'c|d', '"', '', 'x,y'], nothing: [],
  date: date('2024-02-29'), far: date('-9999-01-01'), localtime: localtime('10:20:30.000000001'),
  time: time('10:20+05:30'), localdatetime: localdatetime('2024-01-01T00:00:01.5'),
  offset: datetime('2024-01-01T00:00:01-07:00'), zulu: datetime('2024-01-01T00:00Z'),
  utc: datetime('2024-01-01T00:00[UTC]'), zoned: datetime('2024-07-01T00:00[Europe/Rome]'),
  duration: duration({months: -14, days: 3, seconds: -5, nanoseconds: 7}),
  durations: [duration('P1D'), duration('PT24H')],
  dates: [date('2020-01-01')], point: point({x: 1.25, y: -2}), space: point({x: 1, y: 2, z: 3}),
  place: point({longitude: 12, latitude: 55}), height: point({longitude: 12, latitude: 55, height: 7}),
  points: [point({x: 1, y: 2}), point({x: 3, y: 4})]})
CREATE (b:Value {integer: 'a text', boolean: 1.5, `odd:key`: 1, `odd, "key"`: 'x', `odd key:int`: 2, `schlüssel`: 3}),
  (c {integer: 3}), (d:Value)
CREATE (a)-[:R {w: 1}]->(a), (a)-[:R {w: 'x'}]->(b), (a)-[:R]->(b), (b)-[:`odd type` {when: date('2000-01-01')}]->(c)
"""


def fill(db: hoplite.Database, nodes: int = 0) -> None:
    """Every kind of value, and a number of further nodes."""
    db.run(EVERY_KIND)
    source = random.Random(nodes)
    db.run(
        "UNWIND $rows AS row CREATE (n:Item {number: row[0], name: 'item ' + row[0]}) WITH collect(n) AS items "
        "UNWIND $ends AS end WITH items[end[0]] AS a, items[end[1]] AS b CREATE (a)-[:NEXT {step: b.number}]->(b)",
        rows=[[number] for number in range(nodes)],
        ends=[[source.randrange(nodes), source.randrange(nodes)] for _ in range(2 * nodes)],
    )


def canonical(db: hoplite.Database) -> tuple[Counter[Any], Counter[Any]]:
    """Nodes and relationships by what they hold; ends by what they hold, too: its place among all that nodes hold."""
    snapshot = db._graph.snapshot()
    nodes = {row.id: (row.labels, _held(row.properties)) for row in node_rows(snapshot)}
    places = {held: place for place, held in enumerate(sorted(set(nodes.values())))}
    ends = {id: places[held] for id, held in nodes.items()}
    relationships = Counter(
        (row.type, ends[row.start], ends[row.end], _held(row.properties)) for row in relationship_rows(snapshot)
    )
    return Counter(nodes.values()), relationships


def _held(properties: dict[str, Any]) -> tuple[tuple[str, str], ...]:
    return tuple(sorted((key, f"{type(value).__name__} {describe(value)}") for key, value in properties.items()))
