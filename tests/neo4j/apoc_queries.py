"""Queries with APOC's procedures and functions, each the same on Hoplite and on Neo4j; adding one is adding text.

The graph is `GRAPH`; what a query writes is compared, too.
"""

from __future__ import annotations

from tests.neo4j.apoc_graph_queries import GRAPH_GROUPS, REFUSED_GRAPHS

GRAPH = (
    "CREATE (a:Person:Old {name: 'a', age: 61, tags: ['x', 'y']}), (b:Person {name: 'b', age: 35}), "
    "(c:Person {name: 'c'}), (d:Town {name: 'd', since: date('2001-02-03')}), (e:Town {name: 'e', size: 2.5}), "
    "(a)-[:KNOWS {w: 1.0, n: 1}]->(b), (b)-[:KNOWS {w: 2.0}]->(c), (a)-[:KNOWS {w: 4.5}]->(c), "
    "(c)-[:KNOWS {w: 1.0}]->(a), (a)-[:LIVES {w: 1.0}]->(d), (b)-[:LIVES {w: 3.0}]->(e), (d)-[:ROAD {w: 7.0}]->(e), "
    "(d)-[:ROAD {w: 6.0}]->(e), (e)-[:ROAD {w: 1.0}]->(e), (:Leaf)-[:IN]->(:Mid {v: 1})-[:OUT]->(:Leaf)"
)

_A = "MATCH (a:Person {name: 'a'})"
_NAMES = "[n IN nodes(path) | n.name] AS names"

PATHS = tuple(
    f"{_A} CALL apoc.path.expand(a, {relationships}, {labels}, {least}, {most}) YIELD path RETURN {_NAMES}"
    for relationships, labels, least, most in (
        ("'KNOWS>'", "''", 0, 2),
        ("'KNOWS'", "''", 1, 3),
        ("'<KNOWS|LIVES>'", "null", 1, 3),
        ("'>'", "'+Person'", 0, 3),
        ("''", "'-Old'", 0, 2),
        ("''", "'-Old'", 1, 2),
        ("''", "'>Town'", 0, 3),
        ("''", "'/Town'", 0, 3),
        ("''", "'/Town|+Person|-Old'", 0, 4),
        ("'ROAD|LIVES>'", "''", 1, -1),
        ("'NOPE'", "''", 0, 3),
        ("'<'", "''", 1, 2),
    )
)
CONFIGURED = tuple(
    f"{_A} CALL apoc.path.expandConfig(a, {config}) YIELD path RETURN {_NAMES}"
    for config in (
        "{maxLevel: 2}",
        "{minLevel: 1, maxLevel: 2}",
        "{minLevel: 2, maxLevel: 3, uniqueness: 'NODE_PATH'}",
        "{maxLevel: 3, uniqueness: 'NODE_GLOBAL', relationshipFilter: 'KNOWS>'}",
        "{maxLevel: 3, uniqueness: 'RELATIONSHIP_GLOBAL', relationshipFilter: 'ROAD>|LIVES>'}",
        "{maxLevel: 2, labelFilter: '-Old'}",
        "{maxLevel: 2, labelFilter: '-Old', filterStartNode: true}",
        "{maxLevel: 3, labelFilter: '>Town', filterStartNode: false}",
        "{maxLevel: 3, labelFilter: '/Town'}",
        "{maxLevel: 3, relationshipFilter: 'KNOWS>,LIVES>'}",
        "{minLevel: 2, maxLevel: 2, relationshipFilter: 'LIVES>,ROAD>'}",
        "{minLevel: 5, maxLevel: 6, relationshipFilter: 'LIVES>', optional: true}",
        "{relationshipFilter: 'KNOWS>', uniqueness: 'NODE_PATH', bfs: false}",
    )
) + tuple(
    f"{_A} MATCH (e:Town {{name: 'e'}}) CALL apoc.path.expandConfig(a, {config}) YIELD path RETURN {_NAMES}"
    for config in (
        "{maxLevel: 3, endNodes: [e]}",
        "{maxLevel: 3, terminatorNodes: [e]}",
        "{maxLevel: 3, denylistNodes: [e]}",
        "{maxLevel: 3, blacklistNodes: [e], minLevel: 1}",
        "{maxLevel: 3, allowlistNodes: [e, a]}",
    )
)
SUBGRAPHS = tuple(
    f"{_A} CALL apoc.path.{name}(a, {config}) YIELD {result}"
    for config in (
        "{}",
        "{maxLevel: 1}",
        "{relationshipFilter: 'KNOWS>|LIVES>'}",
        "{labelFilter: '+Person'}",
        "{minLevel: 1, maxLevel: 2, labelFilter: '-Town'}",
        "{labelFilter: '>Town', maxLevel: 2}",
    )
    for name, result in (
        ("subgraphNodes", "node RETURN node.name"),
        ("spanningTree", "path RETURN last(nodes(path)).name AS name, length(path) AS length"),
        ("subgraphAll", "nodes, relationships RETURN size(nodes) AS n, size(relationships) AS r"),
    )
)
NEIGHBOURS = tuple(
    f"{_A} CALL apoc.neighbors.{name}(a, {types}, {distance}) YIELD {result}"
    for types, distance in (("'KNOWS>'", 1), ("'KNOWS'", 2), ("''", 2), ("'LIVES>|ROAD'", 3))
    for name, result in (
        ("tohop", "node RETURN node.name"),
        ("tohop.count", "value RETURN value"),
        ("byhop", "nodes RETURN apoc.coll.sort([n IN nodes | n.name]) AS names"),
        ("byhop.count", "value RETURN value"),
        ("athop", "node RETURN node.name"),
        ("athop.count", "value RETURN value"),
    )
)
ALGORITHMS = (
    *(
        f"{_A} MATCH (t {{name: '{end}'}}) CALL apoc.algo.dijkstra(a, t, '{types}', 'w') YIELD path, weight "
        f"RETURN {_NAMES}, weight"
        for end, types in (("c", "KNOWS>"), ("e", ""), ("e", "LIVES>|ROAD"), ("c", "<KNOWS"), ("d", "ROAD"))
    ),
    f"{_A} MATCH (t {{name: 'c'}}) CALL apoc.algo.dijkstra(a, t, 'KNOWS', 'nope', 3.0) YIELD path, weight "
    "RETURN weight",
    f"{_A} MATCH (t {{name: 'c'}}) CALL apoc.algo.dijkstra(a, t, 'KNOWS>', 'w', 1.0, 2) YIELD path, weight "
    f"RETURN {_NAMES}, weight",
    f"{_A} MATCH (t {{name: 'e'}}) CALL apoc.algo.allSimplePaths(a, t, '', 3) YIELD path RETURN {_NAMES}",
    f"{_A} MATCH (t {{name: 'c'}}) CALL apoc.algo.allSimplePaths(a, t, 'KNOWS>', 5) YIELD path RETURN {_NAMES}",
)
QUERIES_AS_VALUES = (
    "CALL apoc.cypher.run('MATCH (n:Person) WHERE n.age > $least RETURN n.name AS name, n.age AS age', {least: 40}) "
    "YIELD value RETURN value",
    "CALL apoc.cypher.run('RETURN least + 1 AS x', {least: 40}) YIELD value RETURN value.x AS x",
    f"{_A} CALL apoc.cypher.run('WITH a MATCH (a)-[:KNOWS]->(b) RETURN b.name AS name', {{a: a}}) YIELD value "
    "RETURN value",
    "CALL apoc.cypher.run('CREATE (n) RETURN n', {}) YIELD value RETURN value",
    "CALL apoc.cypher.run('RETURN nope', {}) YIELD value RETURN value",
    "CALL apoc.cypher.doIt('CREATE (n:New {x: $x}) RETURN n.x AS x', {x: 3}) YIELD value RETURN value",
    "CALL apoc.cypher.runWrite('MATCH (n:Town) SET n.seen = true RETURN n.name AS name', {}) YIELD value RETURN value",
    "CALL apoc.when(true, 'RETURN 1 AS x', 'RETURN 2 AS x') YIELD value RETURN value",
    "CALL apoc.when(false, 'RETURN 1 AS x', 'RETURN $y AS x', {y: 5}) YIELD value RETURN value",
    "CALL apoc.when(null, 'RETURN 1 AS x', 'RETURN 2 AS x') YIELD value RETURN value",
    "CALL apoc.when(false, 'RETURN 1 AS x') YIELD value RETURN value",
    "MATCH (n:Person) CALL apoc.do.when(n.age > 40, 'SET n.old = true RETURN n.name AS name', "
    "'SET n.old = false RETURN n.name AS name', {n: n}) YIELD value RETURN value.name AS name",
    "CALL apoc.case([false, 'RETURN 1 AS x', true, 'RETURN 2 AS x'], 'RETURN 3 AS x') YIELD value RETURN value",
    "CALL apoc.case([false, 'RETURN 1 AS x'], 'RETURN 3 AS x') YIELD value RETURN value",
    "CALL apoc.case([false, 'RETURN 1 AS x']) YIELD value RETURN value",
    "CALL apoc.do.case([true, 'CREATE (:New {x: 1}) RETURN 1 AS x'], '') YIELD value RETURN value",
    "RETURN apoc.cypher.runFirstColumnSingle('MATCH (n:Person) RETURN count(n)', {}) AS x",
    "RETURN apoc.cypher.runFirstColumnSingle('MATCH (n:Nope) RETURN n.x', {}) AS x",
    "RETURN apoc.coll.sort(apoc.cypher.runFirstColumnMany('MATCH (n:Person) RETURN n.name', {})) AS x",
)
CREATED = (
    "CALL apoc.create.nodes(['X', 'Y'], [{a: 1}, {a: 2}]) YIELD node RETURN node.a, labels(node)",
    f"{_A} CALL apoc.create.removeProperties(a, ['age', 'nope']) YIELD node RETURN node.age",
    f"{_A}-[r:LIVES]->() CALL apoc.create.setRelProperties(r, ['x', 'w'], [1, 2]) YIELD rel RETURN rel.x, rel.w",
    f"{_A}-[r:LIVES]->() CALL apoc.create.removeRelProperties(r, ['w']) YIELD rel RETURN rel.w",
    "CALL apoc.create.vNode(['X'], {a: 1}) YIELD node RETURN labels(node), node.a, apoc.any.properties(node) AS held",
    "RETURN labels(apoc.create.vNode(['X', 'Z'], {a: 1})) AS l",
    "RETURN apoc.any.property(apoc.create.vNode([], {a: 1}), 'a') AS a",
    f"{_A} MATCH (d:Town {{name: 'd'}}) CALL apoc.create.vRelationship(a, 'V', {{x: 1}}, d) YIELD rel "
    "RETURN type(rel), apoc.any.properties(rel) AS held, startNode(rel).name AS start, endNode(rel).name AS end",
    f"{_A} WITH apoc.create.virtual.fromNode(a, ['name']) AS v RETURN labels(v) AS l, apoc.any.properties(v) AS held",
    "CALL apoc.create.uuids(3) YIELD row, uuid RETURN row, size(uuid)",
    "RETURN size(apoc.create.uuid()) AS s",
    f"{_A} CALL apoc.nodes.get([id(a)]) YIELD node RETURN node.name",
    "MATCH (n:Person) WITH n ORDER BY n.name WITH collect(n) AS nodes CALL apoc.nodes.link(nodes, 'NEXT') "
    "MATCH (a)-[:NEXT]->(b) RETURN a.name, b.name",
    "CALL apoc.util.validate(false, 'wrong %d', [1]) RETURN 1 AS x",
    "CALL apoc.util.validate(true, 'wrong %d', [1]) RETURN 1 AS x",
    "RETURN apoc.util.validatePredicate(false, 'wrong', []) AS x",
    "RETURN apoc.util.validatePredicate(true, 'wrong', []) AS x",
)
REFACTORED = (
    f"{_A}-[r:LIVES]->() CALL apoc.refactor.setType(r, 'DWELLS') YIELD output, error RETURN type(output), error",
    f"{_A}-[r:LIVES]->() CALL apoc.refactor.invert(r) YIELD output RETURN startNode(output).name AS s, output.w",
    f"{_A}-[r:LIVES]->(), (c {{name: 'c'}}) CALL apoc.refactor.from(r, c) YIELD output "
    "RETURN startNode(output).name AS s",
    f"{_A}-[r:LIVES]->(), (e {{name: 'e'}}) CALL apoc.refactor.to(r, e) YIELD output RETURN endNode(output).name AS s",
    f"{_A} CALL apoc.refactor.cloneNodes([a]) YIELD output RETURN output.name, labels(output)",
    f"{_A} CALL apoc.refactor.cloneNodes([a], true, ['age']) YIELD output "
    "RETURN output.age, COUNT { (output)--() } AS d",
    "MATCH (m:Mid) CALL apoc.refactor.collapseNode(m, 'THROUGH') YIELD output RETURN type(output), output.v",
)
META = (
    "CALL apoc.meta.nodeTypeProperties() YIELD nodeType, nodeLabels, propertyName, propertyTypes, mandatory, "
    "propertyObservations, totalObservations RETURN *",
    "CALL apoc.meta.relTypeProperties() YIELD relType, sourceNodeLabels, targetNodeLabels, propertyName, "
    "propertyTypes, mandatory, propertyObservations, totalObservations RETURN *",
    "RETURN apoc.meta.nodes.count(['Person']) AS x, apoc.meta.nodes.count() AS y",
)
FUNCTIONS = tuple(
    f"MATCH (a {{name: 'a'}})-[r:LIVES]->(d) MATCH p = (a)-[:LIVES]->()-[:ROAD {{w: 7.0}}]->() RETURN {expression} AS x"
    for expression in (
        "apoc.node.id(a) = id(a)",
        "apoc.node.labels(a)",
        "apoc.coll.sort(apoc.node.relationship.types(a))",
        "apoc.coll.sort(apoc.node.relationship.types(a, 'KNOWS|ROAD'))",
        "apoc.node.relationships.exist(a, 'KNOWS>|ROAD|<LIVES')",
        "apoc.nodes.connected(a, d)",
        "apoc.nodes.connected(a, d, 'KNOWS')",
        "apoc.nodes.connected(d, a, '<LIVES')",
        "apoc.nodes.isDense(a)",
        "apoc.rel.id(r) = id(r)",
        "apoc.rel.type(r)",
        "apoc.rel.startNode(r) = a",
        "apoc.rel.endNode(r) = d",
        "[n IN nodes(apoc.path.slice(p, 1, 1)) | n.name]",
        "length(apoc.path.slice(p))",
        "size(apoc.path.elements(p))",
        "length(apoc.path.create(a, [r]))",
        "length(apoc.path.combine(apoc.path.create(a, [r]), apoc.path.slice(p, 1, 1)))",
        "apoc.any.isDeleted(a)",
        "apoc.coll.sortNodes([d, a], 'name') = [d, a]",
        "apoc.coll.sortNodes([d, a], '^name') = [a, d]",
        "apoc.coll.sortMulti([{a: 2, b: 1}, {a: 1, b: 2}, {a: 2, b: 0}], ['^a', 'b'])",
        "apoc.coll.sortMulti([{a: 2}, {a: 1}], ['a'], 1, 1)",
        "apoc.coll.sortText(['b', 'A', 'a'])",
        "apoc.coll.containsSorted([1, 2, 3], 2)",
        "apoc.coll.containsAllSorted([1, 2, 3], [2, 3])",
        "apoc.coll.containsAllSorted([1, 2, 3], [2, 4])",
        "apoc.coll.frequenciesAsMap([1, 1, 'a'])",
        "apoc.coll.pairWithOffset([1, 2, 3, 4], 2)",
        "apoc.coll.pairWithOffset([1, 2, 3], -1)",
        "size(apoc.coll.randomItems([1, 2, 3], 2))",
        "apoc.convert.toSet([1, 1, 2])",
        "apoc.convert.toNode(a) = a",
        "apoc.convert.toNode(1)",
        "apoc.convert.toRelationship(r) = r",
        "apoc.convert.toNodeList([a, d]) = [a, d]",
        "apoc.convert.toSortedJsonMap({b: 1, a: [1, null]})",
        "apoc.map.fromNodes('Town', 'name').d = d",
        "apoc.map.setLists({a: 1}, ['b', 'a'], [2, 3])",
        "apoc.map.setPairs({a: 1}, [['b', 2]])",
        "apoc.map.setValues({a: 1}, ['b', 2, 'c', 3])",
        "apoc.map.unflatten({`a.b`: 1, `a.c.d`: 2, e: 3})",
        "apoc.map.unflatten({`a_b`: 1}, '_')",
        *(
            f"apoc.math.{name}({value})"
            for name in ("sinh", "cosh", "tanh", "sigmoid", "sigmoidPrime")
            for value in (0.5, -2.0)
        ),
        *(f"apoc.math.{name}(1.5)" for name in ("coth", "csch", "sech")),
        *(f"apoc.math.{edge}{kind}()" for edge in ("max", "min") for kind in ("Long", "Int", "Byte", "Double")),
        "apoc.number.format(12345.678)",
        "apoc.number.format(12345)",
        "apoc.number.format(12345.6, '#,##0.00')",
        "apoc.number.format(12345.6, '#,##0.00;(#,##0.00)', 'it')",
        "apoc.number.parseInt('12,345')",
        "apoc.number.parseFloat('12,345.67')",
        "apoc.number.parseFloat('12.345,67', '#,##0.00;(#,##0.00)', 'it')",
        "apoc.number.parseInt('x')",
        "apoc.number.exact.add('1.10', '2.205')",
        "apoc.number.exact.sub('1.10', '2.205')",
        "apoc.number.exact.mul('1.10', '2.205')",
        "apoc.number.exact.mul('1.10', '2.205', 3, 'HALF_UP')",
        "apoc.number.exact.div('10', '4')",
        "apoc.number.exact.div('10', '3', 4, 'DOWN')",
        "apoc.number.exact.toInteger('1234', 2)",
        "apoc.number.exact.toFloat('12.345', 3)",
        "apoc.number.exact.toExact(5)",
        "apoc.text.byteCount('a\\u00e4')",
        "apoc.text.bytes('a\\u00e4')",
        "apoc.text.charAt('abc', 1)",
        "apoc.text.charAt('abc', 7)",
        "apoc.text.code(97)",
        "apoc.text.hexValue(255)",
        "apoc.text.hexCharAt('abc', 1)",
        "apoc.text.fuzzyMatch('The', 'Teh')",
        "apoc.text.fuzzyMatch('abcdef', 'xyzdef')",
        "apoc.text.doubleMetaphone('Smith Schmidt, Filipowicz & architects')",
        "apoc.text.phonetic('HellodearUser!')",
        "apoc.text.phonetic('Robert Tymczak Pfister')",
        "size(apoc.text.random(5))",
        "apoc.text.regexGroupsByName('a1 b2', '(?<letter>[a-z])(?<digit>[0-9])')",
        "apoc.text.base64UrlEncode('http://x.y/?a=b')",
        "apoc.text.base64UrlDecode('aHR0cDovL3gueS8_YT1i')",
        "apoc.scoring.existence(5, true)",
        "apoc.scoring.existence(5, false)",
        "apoc.scoring.pareto(2, 5, 8, 5)",
        "apoc.bitwise.op(60, '&', 13)",
        "apoc.bitwise.op(60, '|', 13)",
        "apoc.bitwise.op(60, '^', 13)",
        "apoc.bitwise.op(60, '<<', 2)",
        "apoc.bitwise.op(-60, '>>', 2)",
        "apoc.bitwise.op(-60, '>>>', 2)",
        "apoc.bitwise.op(60, '~', 0)",
        "apoc.diff.nodes(a, d)",
    )
)
ROWS = (
    "CALL apoc.coll.zipToRows([1, 2], ['a', 'b']) YIELD value RETURN value",
    "CALL apoc.coll.split([1, 2, 3, 2, 5], 2) YIELD value RETURN value",
    "CALL apoc.coll.partition([1, 2, 3, 4, 5], 2) YIELD value RETURN value",
    "CALL apoc.coll.pairWithOffset([1, 2, 3], 1) YIELD value RETURN value",
    "MATCH path = (:Person {name: 'a'})-[:KNOWS*1..2]->() WITH collect(path) AS paths "
    "CALL apoc.convert.toTree(paths) YIELD value RETURN value.name, size(value.knows)",
)

_ODD_TEXTS = (
    "", " ", "a", "hello world", "Hello  World", "  lead trail  ", "fooBar", "FOO_BAR", "foo_bar", "foo-bar", "foo.bar",
    "XMLHttpRequest", "userID2", "2fast2furious", "abc123def", "a1B2c3", "éclair Über", "ÉCLAIR_ÜBER", "straße", "ß",
    "foo__bar", "foo--bar", "--foo--", "_foo_", "foo!bar?", "foo\\tbar\\nbaz", "ABC DEF", "aBCd", "日本語 テスト",
    "ǆungla", "ΑΒΓ δεζ", "ΟΔΟΣ", "😀 smile", "a😀B", "don\\'t stop", "ŉ a", "İstanbul", "A1", "ALL-CAPS", "test_1_test",
    "ǅA", "Ⅷa", "a²B", "A\u0661", "aªb", "e\u0301a", "𐐨a 𐐨", "ﬁx", "foo\u00a0bar", "MiXeD_CaSe-foo BAR",
)  # fmt: skip
CASES = tuple(
    f"RETURN apoc.text.{name}('{text}') AS changed"
    for name in ("snakeCase", "camelCase", "upperCamelCase", "capitalize", "capitalizeAll", "decapitalize",
                 "decapitalizeAll", "toUpperCase", "swapCase", "slug", "clean", "phonetic", "urlencode")
    for text in _ODD_TEXTS
)  # fmt: skip
_PATTERNS = (
    "", "a", "a*", "X", r"\\s+", r"([a-z])(\\d)?", r"(\\d+)-(\\d+)-(\\d+)", "[.]", "(?i)é", "(?i)[a-c]", "(?iu)é", "$",
    "^", r"\\b", r"(?<k>\\w+)=(?<v>\\w+)", r"<(\\w+)>(.*?)</\\1>", "(", "(?=x)", "x?", "(?:a|b)+", r"\\p{Lu}", "(?m)^.",
)  # fmt: skip
_SEARCHED = ("", "aXbXc", "2024-01-02, 2023-12-31", "ÉcoleéCOLE", "<b>x</b><b>y</b> k=v")
PATTERNS = tuple(
    f"RETURN apoc.text.{call} AS found"
    for text in _SEARCHED
    for pattern in _PATTERNS
    for call in (
        f"regexGroups('{text}', '{pattern}')",
        f"regexGroupsByName('{text}', '{pattern}')",
        f"split('{text}', '{pattern}')",
        f"split('{text}', '{pattern}', 2)",
        f"split('{text}', '{pattern}', -1)",
        f"replace('{text}', '{pattern}', '[$0]')",
        rf"regreplace('{text}', '{pattern}', '$1\\$\\\\')",
        f"replace('{text}', '{pattern}', '${{k}}')",
    )
)
_AGGREGATED = tuple(
    f"UNWIND {values} AS x RETURN apoc.agg.{call} AS r"
    for values in (
        "[1, 2, 3, 4, 5]", "[3, 1, 2]", "[]", "[null]", "[null, 1, null, 2]", "['a', 'b']", "[1, 'a']", "[-1, 0, 1]",
        "[9223372036854775807, 2]", "[1, 1000000, 123456789]", "range(1, 3000)", "[2, 2, 2]", "[date('2020-01-01')]",
    )
    for call in (
        "first(x)", "last(x)", "nth(x, 1)", "nth(x, -1)", "nth(x, -2)", "nth(x, null)", "slice(x)", "slice(x, 1, 2)",
        "slice(x, -1, 2)", "product(x)", "median(x)", "percentiles(x)", "percentiles(x, [0.0, 0.5, 1.0, 1.5])",
        "statistics(x)", "statistics(x, [0.25])", "maxItems(x, x)", "minItems(x, 1, 2)", "maxItems(x, null)",
    )
)  # fmt: skip
AGGREGATES = (
    *_AGGREGATED,
    "UNWIND [1.5, 2, 3] AS x RETURN apoc.agg.product(x) AS p, apoc.agg.median(x) AS m, apoc.agg.first(x) AS f",
    "UNWIND [1, 2, 3, 4] AS x RETURN x % 2 AS k, apoc.agg.first(x) AS f, apoc.agg.product(x) AS p ORDER BY k",
    "UNWIND [1, 2, 3] AS x WITH x ORDER BY x DESC RETURN apoc.agg.first(x) AS f, apoc.agg.slice(x, 0, 2) AS s",
    "UNWIND [1, 1, 2] AS x RETURN apoc.agg.product(DISTINCT x) AS r",
    "MATCH (n:Person) RETURN apoc.agg.maxItems(n.name, n.age) AS r",
    "MATCH (n:Person) RETURN apoc.agg.minItems(n, n.age).items[0].name AS r",
    "MATCH (n) RETURN labels(n) AS labels, apoc.agg.statistics(n.age) AS r ORDER BY labels",
)  # fmt: skip
WITH_STATS = (
    "CALL apoc.merge.nodeWithStats(['Person'], {name: 'a'}, {c: 1}, {m: 1}) YIELD stats, node RETURN stats, node.m",
    "CALL apoc.merge.nodeWithStats(['Person', 'New'], {name: 'z', k: 2}, {c: 1}) YIELD stats, node "
    "RETURN stats, labels(node) AS labels, node.c AS c",
    "CALL apoc.merge.nodeWithStats(['Leaf'], {no: 1}) YIELD stats RETURN stats",
    "CALL apoc.merge.nodeWithStats(['Leaf'], {}) YIELD stats RETURN stats",
    "CALL apoc.merge.nodeWithStats(['Leaf', ''], {a: 1}) YIELD stats RETURN stats",
    "CALL apoc.merge.nodeWithStats.eager([], {name: 'q'}) YIELD stats RETURN stats",
    f"{_A} CALL apoc.merge.relationshipWithStats(a, 'NEW', {{k: 1}}, {{c: 1}}, a, {{}}) YIELD stats, rel "
    "RETURN stats, properties(rel) AS properties",
    f"{_A} MATCH (b:Person {{name: 'b'}}) "
    "CALL apoc.merge.relationshipWithStats(a, 'KNOWS', {n: 1}, {}, b, {m: 2, w: null}) YIELD stats, rel "
    "RETURN stats, properties(rel) AS properties",
    "MATCH (d:Town {name: 'd'}), (e:Town {name: 'e'}) "
    "CALL apoc.merge.relationshipWithStats.eager(d, 'ROAD', {}, {}, e, {m: 1}) YIELD stats, rel RETURN stats, rel.m",
    f"{_A} CALL apoc.merge.relationshipWithStats(a, '', {{}}, {{}}, a) YIELD stats RETURN stats",
)
SCHEMA = tuple(
    f"RETURN apoc.schema.{function}({arguments}) AS found"
    for function in ("node.indexExists", "node.constraintExists", "relationship.indexExists",
                     "relationship.constraintExists")
    for arguments in ("'Person', ['name']", "'Person', ['name', 'age']", "'KNOWS', ['w']", "'Nope', []", "null, ['a']")
)  # fmt: skip
AS_CYPHER = (
    *(
        f"RETURN apoc.text.toCypher({value}) AS text"
        for value in (
            "1", "1.5", "'x'", '"it\'s"', "true", "null", "[1, 'a', null, [2]]", "{b: 1, a: 'x', c: {z: 1, y: null}}",
            "date('2020-01-02')", "[date('2020-01-02'), 1]", "{a: date('2020-01-02'), b: 1}", "{`a b`: 1}", "1e100",
            "NaN", "-0.0", "{}", "[]", "{a: 1, b: 2}, {skipKeys: ['a']}", "{a: 1, b: 2}, {keepKeys: ['a']}",
            "{a: 1, b: 'x'}, {skipValues: ['x']}", "{a: 1, b: 'x'}, {keepValues: ['x']}",
        )
    ),
    "MATCH (n:Town) RETURN apoc.text.toCypher(n) AS text ORDER BY text",
    "MATCH (n:Town) RETURN apoc.text.toCypher(n, {node: 'n', skipKeys: ['name']}) AS text ORDER BY text",
    "MATCH ()-[r:ROAD|LIVES]->(:Town) RETURN apoc.text.toCypher(r) AS text ORDER BY text",
    "MATCH ()-[r:ROAD]->() RETURN apoc.text.toCypher(r, {relationship: 'r', start: 's', end: 'e'}) AS t ORDER BY t",
    "MATCH p = (:Mid)-[:OUT]->() RETURN apoc.text.toCypher(p) AS text",
)  # fmt: skip
_CHANGED = "YIELD container, property, oldValue, newValue RETURN property, oldValue, newValue"
ATOMIC = (
    *(
        f"{_A} CALL apoc.atomic.{call} {_CHANGED}"
        for call in (
            "add(a, 'age', 5)",
            "add(a, 'age', 1.5)",
            "subtract(a, 'age', 5)",
            "subtract(a, 'age', -2.9)",
            "concat(a, 'name', 'xyz')",
            "concat(a, 'age', 'xyz')",
            "insert(a, 'tags', 1, 'z')",
            "insert(a, 'tags', 9, 'z')",
            "insert(a, 'name', 0, 'z')",
            "remove(a, 'tags', 1)",
            "update(a, 'age', 'n.age * 2')",
        )
    ),
    f"MATCH ()-[r:KNOWS {{n: 1}}]->() CALL apoc.atomic.add(r, 'w', 1) {_CHANGED}",
    f"MATCH ()-[r:KNOWS {{n: 1}}]->() CALL apoc.atomic.update(r, 'w', 'n.w + 1') {_CHANGED}",
)
REFUSED_ATOMIC = tuple(
    f"{_A} CALL apoc.atomic.{call} {_CHANGED}"
    for call in (
        "add(a, 'age', null)",
        "add(a, 'none', 5)",
        "add(a, 'name', 5)",
        "add(5, 'w', 1)",
        "add(null, 'w', 1)",
        "concat(a, 'none', 'xyz')",
        "concat(a, 'name', null)",
        "insert(a, 'tags', 0, 5)",
        "insert(a, 'none', 0, 'z')",
        "remove(a, 'tags', 5)",
        "remove(a, 'name', 0)",
        "remove(a, 'none', 0)",
        "update(a, 'age', 'n.none')",
        "update(a, 'age', 'nope(')",
    )
)
SEARCHED = tuple(
    f"CALL apoc.search.{call} YIELD node RETURN node.name ORDER BY node.name"
    for call in (
        "node({Person: 'name'}, '=', 'a')",
        "node({Person: ['name', 'age'], Old: 'name'}, '=', 'a')",
        "nodeAll({Person: ['name', 'age'], Old: 'name'}, '=', 'a')",
        'node(\'{"Person": ["name", "age"], "Town": "name"}\', \'CONTAINS\', \'a\')',
        "node({Person: 'age'}, '>', '40')",
        "node({Person: 'name'}, ' Starts With', 'a')",
        "node({Person: 'name'}, '=~', '[ab]')",
        "node({Person: 'name'}, '<>', 'a')",
        "node({Person: 'name'}, 'foo', 'a')",
        "node({Person: 'name'}, null, 'a')",
        "node({Person: 'name'}, '=', null)",
        "node({Person: 5}, '=', 'a')",
        "node({Nope: 'name'}, '=', 'a')",
        "node({}, '=', 'a')",
        "node(null, '=', 'a')",
    )
) + tuple(
    f"CALL apoc.search.{call} YIELD labels, values RETURN labels, values"
    for call in (
        "nodeAllReduced({Person: ['name', 'age'], Old: 'name'}, 'exact', 'a')",
        "nodeAllReduced({Person: 'age'}, '>', 40)",
        "nodeReduced({Person: ['name', 'age']}, '=', 'a')",
        "multiSearchReduced({Town: ['name']}, '>=', 'e')",
    )
)
_GRAPH = (
    "YIELD graph RETURN graph.name, graph.properties, [n IN graph.nodes | n.name] AS nodes,"
    " apoc.coll.sort([r IN graph.relationships | type(r)]) AS relationships"
)
AS_GRAPHS = tuple(
    f"{before} CALL apoc.graph.{call} {_GRAPH}"
    for before, call in (
        (f"{_A} MATCH p = (a)-[:KNOWS*2]->(:Old)", "fromPath(p, 'g', {x: 1})"),
        (f"{_A} MATCH p = (a)-[:KNOWS*1..2]->() WITH collect(p) AS ps", "fromPaths(ps, 'g', {x: 1})"),
        (
            "MATCH (a)-[r:KNOWS]->(b) WITH collect(a) + collect(b) AS ns, collect(r) AS rs",
            "fromData(ns, rs, 'g', null)",
        ),
        ("", "fromDB('db', {})"),
        ("", "fromCypher('MATCH (a:Person)-[r:KNOWS]->(b) RETURN a, {x: [r]} AS z, 5 AS v', {}, 'c', {y: 1})"),
        ("", "fromCypher('MATCH (a:Person {name: $n}) RETURN a', {n: 'b'}, 'c', {})"),
        (
            f"{_A} MATCH p = (a)-[:KNOWS]->(x) WITH collect(p) AS ps, collect(x) AS xs",
            "from([ps, {k: xs}, 5], 'g', {})",
        ),
        ("", "from(null, 'g', {})"),
        ("", "from('text', 'g', {})"),
        ("", "fromPath(null, 'g', {x: 1})"),
        ("", "fromData(null, null, null, null)"),
    )
)

GROUPS = {
    "atomic": ATOMIC,
    "searched": SEARCHED,
    "as graphs": AS_GRAPHS,
    "written as Cypher": AS_CYPHER,
    "merged with statistics": WITH_STATS,
    "schema": SCHEMA,
    "aggregates": AGGREGATES,
    "upper and lower case": CASES,
    "patterns": PATTERNS,
    "paths": (*PATHS, *CONFIGURED, *SUBGRAPHS, *NEIGHBOURS, *ALGORITHMS),
    "meta": META,
    "functions": FUNCTIONS,
    "rows": ROWS,
    "queries as values": QUERIES_AS_VALUES,
    "created": CREATED,
    "refactored": REFACTORED,
    **GRAPH_GROUPS,
}

REFUSED = {"atomic": REFUSED_ATOMIC, "graphs": REFUSED_GRAPHS}
"""Queries that fail on both sides, with the same code."""
