"""Queries with APOC's procedures that reshape, group, export and explain graphs, each the same on Hoplite and on Neo4j.

The graph is that of `apoc_queries.py`. Orders that are those of a store are sorted away.
"""

from __future__ import annotations

_A = "MATCH (a:Person {name: 'a'})"
_ROADS = "MATCH (d:Town {name: 'd'})-[r:ROAD]->(e) WITH d, e, r ORDER BY r.w WITH d, e, collect(r) AS rs"
_SORTED = "apoc.coll.sort([n IN nodes | n.name]) AS names"

MERGED = tuple(
    f"{_ROADS} CALL apoc.refactor.mergeRelationships(rs, {config}) YIELD rel RETURN rel.w AS w, type(rel) AS type"
    for config in (
        "{}",
        "{properties: 'combine'}",
        "{properties: 'discard'}",
        "{properties: 'overwrite'}",
        "{properties: 'nonsense'}",
        "{properties: {w: 'discard'}}",
        "{properties: {`w|x`: 'combine', `.`: 'discard'}, singleElementAsArray: true}",
    )
) + tuple(
    f"{_A}, (b:Person {{name: 'b'}}) CALL apoc.refactor.mergeNodes([a, b], {config}) YIELD node "
    "RETURN labels(node) AS labels, node.name AS name, node.age AS age, node.tags AS tags, "
    "COUNT { (node)--() } AS relationships, COUNT { (node)-->(node) } AS loops"
    for config in (
        "{}",
        "{properties: 'combine'}",
        "{properties: {name: 'discard', `a.*`: 'combine'}}",
        "{properties: 'discard', mergeRels: true}",
        "{mergeRels: true, produceSelfRel: false}",
        "{produceSelfRel: false}",
    )
)
COPIED = (
    "MATCH (n:Person) WITH collect(n) AS ns CALL apoc.refactor.cloneSubgraph(ns) YIELD output, error "
    "RETURN output.name AS name, error, COUNT { (output)--() } AS relationships",
    "MATCH (n:Person) WITH collect(n) AS ns CALL apoc.refactor.cloneSubgraph(ns, [], {skipProperties: ['age', 'w']}) "
    "YIELD output RETURN output.name AS name, output.age AS age, COUNT { (output)-[{w: 1.0}]-() } AS same",
    f"{_A}-[r:LIVES]->(d) CALL apoc.refactor.cloneSubgraph([a, d], [r], {{standinNodes: [[d, d]]}}) YIELD output "
    "RETURN output.name AS name, COUNT { (output)-[:LIVES]->(:Town {name: 'd'}) } AS homes",
    f"{_A} MATCH p = (a)-[:LIVES]->()-[:ROAD]->() WITH collect(p) AS ps "
    "CALL apoc.refactor.cloneSubgraphFromPaths(ps) YIELD output "
    "RETURN output.name AS name, COUNT { (output)--() } AS c",
    "MATCH p = (:Leaf)-->(m:Mid)-->(:Leaf) CALL apoc.refactor.deleteAndReconnect(p, [m]) YIELD nodes, relationships "
    "RETURN size(nodes) AS nodes, [r IN relationships | type(r)] AS types",
    "MATCH p = (:Leaf)-->(m:Mid)-->(:Leaf) CALL apoc.refactor.deleteAndReconnect(p, [m], "
    "{relationshipSelectionStrategy: 'merge'}) YIELD nodes, relationships "
    "RETURN [r IN relationships | type(r)] AS types",
    "MATCH (n:Person) CALL apoc.refactor.normalizeAsBoolean(n, 'name', ['a', 'c'], ['b', 'c']) RETURN n.name AS name",
)
GROUPED = tuple(
    f"CALL apoc.nodes.group({arguments}) YIELD node, relationship "
    "RETURN apoc.any.properties(node) AS node, type(relationship) AS type, apoc.any.properties(relationship) AS r"
    for arguments in (
        "['Town'], []",
        "['Person'], ['age']",
        "['Person', 'Town'], []",
        "['Person', 'Town'], [], [{age: ['sum', 'avg', 'min', 'max', 'count']}, {w: ['sum', 'max']}]",
        "['Person', 'Town'], [], [{`*`: 'count'}, {`*`: 'count'}], {selfRels: false, orphans: false}",
        "['Person', 'Town'], [], [{`*`: 'count'}, {`*`: 'count'}], {includeRels: ['KNOWS']}",
        "['Person', 'Town'], [], [{`*`: 'count'}, {}], {excludeRels: ['KNOWS'], filter: {`Person.count_*.min`: 9}}",
    )
) + tuple(
    f"MATCH (n:{label}) WITH n ORDER BY n.name WITH collect(n) AS ns CALL apoc.nodes.collapse(ns, {config}) "
    "YIELD from, rel, to RETURN apoc.any.property(from, 'name') AS a, apoc.any.property(from, 'count') AS n, "
    "type(rel) AS type, apoc.any.property(to, 'name') AS b"
    for label in ("Person", "Town")
    for config in ("{}", "{selfRel: true}", "{mergeRelsVirtual: false}", "{properties: 'discard', countMerge: false}")
)
CYCLES = (
    *(
        f"MATCH (n) WITH collect(n) AS ns CALL apoc.nodes.cycles(ns, {config}) YIELD path "
        "RETURN [n IN nodes(path) | n.name] AS names"
        for config in ("{}", "{maxDepth: 1}", "{relTypes: ['ROAD']}", "{relTypes: ['NONE', 'KNOWS']}")
    ),
    "MATCH (n:Person) WITH collect(n) AS ns CALL apoc.algo.cover(ns) YIELD rel RETURN rel.w AS w",
    "MATCH (n) WITH collect(elementId(n)) AS ns CALL apoc.algo.cover(ns) YIELD rel RETURN count(rel) AS count",
)
DOCUMENTS = tuple(
    f"CALL apoc.graph.fromDocument({document}) YIELD graph UNWIND graph.nodes AS n "
    "RETURN labels(n) AS labels, apoc.any.properties(n) AS properties, [r IN graph.relationships | type(r)] AS types"
    for document in (
        "{type: 'x', id: 1}",
        "{type: 'big_dog', id: 1, l: [1, 2], t: true}",
        "[{type: 'x', id: 1, k: {type: 'y', id: 2}}]",
        '\'{"type": "x", "id": 1, "k": [{"type": "y", "id": 2}]}\'',
        "{kind: 'x', nr: 1}, {labelField: 'kind', idField: 'nr'}",
    )
)
NUMBERS = (
    "CALL apoc.stats.degrees() YIELD type, direction, total, p50, p75, p90, max, min, mean RETURN *",
    "CALL apoc.stats.degrees('KNOWS>|<ROAD') YIELD type, direction, total, p50, p75, p90, max, min, mean RETURN *",
    "CALL apoc.math.regr('Person', 'age', 'age') YIELD r2, avgX, slope RETURN *",
    "CALL apoc.coll.elements([1, 'a', 2.5, true, [1]], 4, 1) YIELD elements, _1, _1s, _2f, _2i, _3b, _5 RETURN *",
    "CALL db.stats.retrieve('GRAPH COUNTS') YIELD data UNWIND data.relationships AS r "
    "WITH r WHERE r.count > 0 RETURN r.relationshipType AS t, r.startLabel AS s, r.endLabel AS e, r.count AS c",
)
EXPORTED = tuple(
    f"MATCH (n:Town) WITH collect(n) AS ns CALL apoc.export.{kind}.data(ns, [], null, {{stream: true}}) "
    "YIELD source, nodes, relationships, properties, rows, batchSize RETURN *"
    for kind in ("json", "csv", "graphml")
) + tuple(
    f"CALL apoc.export.{kind}.query('MATCH (n:Person) RETURN n.name AS name, n.age AS age, n.tags AS tags "
    "ORDER BY name', null, {stream: true}) YIELD source, nodes, properties, rows, data RETURN *"
    for kind in ("json", "csv")
)
STATEMENTS = tuple(
    f"CALL apoc.cypher.runMany({text}, {{x: 1}}, {{statistics: false}}) YIELD row, result RETURN row, result"
    for text in (
        "'RETURN $x AS x'",
        "'RETURN 1 AS a;\\nUNWIND [1, 2] AS b RETURN b;\\n'",
        "''",
        "':begin\\nRETURN 2 AS c;'",
    )
)

GRAPH_GROUPS = {
    "merged": MERGED,
    "copied": COPIED,
    "grouped": GROUPED,
    "cycles": CYCLES,
    "documents": DOCUMENTS,
    "numbers": NUMBERS,
    "exported": EXPORTED,
    "several statements": STATEMENTS,
}
REFUSED_GRAPHS = (
    "CALL apoc.nodes.group(null, []) YIELD node RETURN node",
    "CALL apoc.nodes.cycles(null) YIELD path RETURN path",
    "CALL apoc.algo.cover(null) YIELD rel RETURN rel",
    "MATCH (a:Person)-[r:KNOWS]->() WITH collect(r) AS rs "
    "CALL apoc.refactor.mergeRelationships(rs) YIELD rel RETURN rel",
    "CALL apoc.refactor.categorize('name', 'T', true, 'L', 'k', [], 1)",
    "CALL apoc.refactor.deleteAndReconnect(null, []) YIELD nodes RETURN nodes",
    "CALL apoc.graph.fromDocument({id: 1}) YIELD graph RETURN graph",
    "CALL apoc.graph.fromDocument('nope') YIELD graph RETURN graph",
    "CALL apoc.export.json.query('RETURN x', null, {stream: true}) YIELD data RETURN data",
    "CALL apoc.export.json.all(null, {stream: true, jsonFormat: 'NOPE'}) YIELD data RETURN data",
    "CALL apoc.load.json('none.json') YIELD value RETURN value",
    "CALL apoc.cypher.runMany('RETURN 1 AS a; RETURN 2 AS b', {}) YIELD row RETURN row",
    "CALL apoc.periodic.submit('j', 'RETURN x') YIELD name RETURN name",
    "CALL db.createLabel('')",
    "CALL db.stats.retrieve('nope') YIELD data RETURN data",
)
