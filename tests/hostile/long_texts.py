"""Long and deep texts: operators, lists, clauses and patterns, chained and nested thousands of times."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from tests.hostile.statement import Hostile


def _joined(join: str, part: str) -> Callable[[int], str]:
    return lambda n: f"WITH 1 AS a RETURN {join.join([part] * n)} AS x"


def _nested(opening: str, closing: str, inside: str = "true") -> Callable[[int], str]:
    return lambda n: f"RETURN {opening * n}{inside}{closing * n} AS x"


def _numbered(join: str, part: str, head: str, tail: str) -> Callable[[int], str]:
    """`part` with its number in place of #, and the next number in place of +."""
    return lambda n: head + join.join(part.replace("#", str(i)).replace("+", str(i + 1)) for i in range(n)) + tail


_CHAINS: dict[str, Callable[[int], str]] = {
    "plus": _joined("+", "1"),
    "plus of variables": _joined(" + ", "a"),
    "minus chain": _joined(" - ", "1"),
    "texts put together": _joined(" + ", "'ab'"),
    "double bars": _joined(" || ", "'ab'"),
    "products": _joined(" * ", "1"),
    "remainders": _joined(" % ", "7"),
    "powers": _joined("^", "1"),
    "AND": _numbered(" AND ", "n.x <> #", "MATCH (n) WHERE ", " RETURN n"),
    "OR": _numbered(" OR ", "n.x = #", "MATCH (n) WHERE ", " RETURN n"),
    "XOR": _joined(" XOR ", "true"),
    "AND in OR": _numbered(" OR ", "(n.x = # AND n.y = +)", "MATCH (n) WHERE ", " RETURN n"),
    "OR in AND": _numbered(" AND ", "(n.x = # OR n.y = +)", "MATCH (n) WHERE ", " RETURN n"),
    "comparisons": _numbered(" < ", "#", "RETURN ", " AS x"),
    "index chain": lambda n: f"WITH $a AS a RETURN a{'[0]' * n} AS x",
    "property chain": lambda n: f"WITH $a AS a RETURN a{'.a' * n} AS x",
    "slices": lambda n: f"RETURN [1, 2]{'[0..1]' * n} AS x",
    "list of expressions": _joined(", ", "a + 1"),
    "IN a list of expressions": lambda n: f"WITH 1 AS a RETURN 5 IN [{', '.join(['a + 1'] * n)}] AS x",
    "IN a list of constants": lambda n: f"RETURN 0 IN [{', '.join(map(str, range(1, n)))}] AS x",
    "list of lists": lambda n: f"WITH 1 AS a RETURN [{', '.join(['[a]'] * n)}] AS x",
    "map of many keys": _numbered(", ", "k#: a", "WITH 1 AS a RETURN {", "} AS x"),
    "items of RETURN": _numbered(", ", "# AS x#", "RETURN ", ""),
    "DISTINCT items": _numbered(", ", "# AS x#", "RETURN DISTINCT ", ""),
    "aggregates": _numbered(", ", "count(n.x#) AS x#", "MATCH (n) RETURN ", ""),
    "CASE branches": lambda n: f"RETURN CASE {'WHEN false THEN 1 ' * n}ELSE 0 END AS x",
    "CASE of a value": lambda n: f"WITH 1 AS a RETURN CASE a {'WHEN 2 THEN 1 ' * n}ELSE 0 END AS x",
    "ORDER BY keys": _numbered(", ", "n.x#", "MATCH (n) RETURN n ORDER BY ", ""),
    "parameters": _numbered(" + ", "$p#", "RETURN ", " AS x"),
    "map projection": _numbered(", ", ".x#", "MATCH (n) RETURN n {", "} AS x"),
    "arguments": lambda n: f"WITH 1 AS a RETURN coalesce({', '.join(['a'] * n)}) AS x",
    "patterns as predicates": lambda n: f"MATCH (n) WHERE {' AND '.join(['(n)-->()'] * n)} RETURN n",
    "flat EXISTS": lambda n: f"MATCH (n) WHERE {' OR '.join(['EXISTS { (n)-->() }'] * n)} RETURN n",
    "flat COUNT": lambda n: f"MATCH (n) RETURN {' + '.join(['COUNT { (n)-->() }'] * n)} AS x",
    "labels or": _numbered("|", "L#", "MATCH (n:", ") RETURN n"),
    "labels and": _numbered("&", "L#", "MATCH (n:", ") RETURN n"),
    "types": _numbered("|", "T#", "MATCH ()-[:", "]->() RETURN 1 AS x"),
}

_NESTS: dict[str, Callable[[int], str]] = {
    "parentheses": _nested("(", ")"),
    "lists in lists": _nested("[", "]"),
    "lists of a variable": lambda n: f"WITH 1 AS a RETURN {'[' * n}a{']' * n} AS x",
    "maps in maps": _nested("{a: ", "}"),
    "NOT": _nested("NOT ", ""),
    "signs": _nested("-(", ")", "1"),
    "calls in calls": _nested("abs(", ")", "1"),
    "CASE in CASE": _nested("CASE WHEN true THEN ", " END"),
    "CASE without END": _nested("CASE WHEN true THEN ", ""),
    "comprehensions": _nested("[x IN ", " | x]", "[1]"),
    "comprehensions in their results": _nested("[x IN [1] | ", "]", "1"),
    "reduce in reduce": _nested("reduce(a = 0, x IN [1] | ", ")", "1"),
    "quantifiers": _nested("all(x IN [1] WHERE ", ")"),
    "EXISTS in EXISTS": _nested("EXISTS { RETURN ", " AS x }"),
    "COUNT in COUNT": _nested("COUNT { RETURN ", " AS x }"),
    "COLLECT in COLLECT": _nested("COLLECT { RETURN ", " AS x }"),
    "pattern comprehensions": _nested("[(a)-->(b) | ", "]", "1"),
    "subqueries": lambda n: f"{'CALL () { ' * n}RETURN 1 AS x{' } RETURN x' * n}",
    "subqueries with WITH": lambda n: f"WITH 1 AS a {'CALL { WITH a ' * n}RETURN 1 AS x{' } RETURN x' * n}",
    "EXISTS of patterns": lambda n: f"MATCH (n) WHERE {'EXISTS { (n)-->(n) WHERE ' * n}true{' }' * n} RETURN n",
    "FOREACH": lambda n: f"{''.join(f'FOREACH (x{i} IN [1] | ' for i in range(n))}CREATE (){')' * n}",
    "label not": lambda n: f"MATCH (n:{'!' * n}A) RETURN n",
    "label brackets": lambda n: f"MATCH (n:{'(' * n}A{')' * n}) RETURN n",
    "types of values": lambda n: f"RETURN 1 IS :: {'LIST<' * n}INTEGER{'>' * n} AS x",
    "path brackets": lambda n: f"MATCH {'(' * n}(a)-->(b){')' * n} RETURN a",
    "index in index": lambda n: f"WITH [0] AS a RETURN {'a[' * n}0{']' * n} AS x",
    "dynamic keys": lambda n: f"WITH {{a: 'a'}} AS m RETURN {'m[' * n}'a'{']' * n} AS x",
}

_CLAUSES: dict[str, Callable[[int], str]] = {
    "UNION": lambda n: " UNION ".join(["RETURN 1 AS x"] * n),
    "UNION ALL": lambda n: " UNION ALL ".join(["RETURN 1 AS x"] * n),
    "UNION of matches": lambda n: " UNION ".join(["MATCH (n)-->(m) RETURN n, m"] * n),
    "WITH": lambda n: f"{'WITH 1 AS x ' * n}RETURN x",
    "WITH DISTINCT": lambda n: f"{'WITH DISTINCT 1 AS x ' * n}RETURN x",
    "WITH and WHERE": lambda n: f"WITH 1 AS x {'WITH * WHERE x = 1 ' * n}RETURN x",
    "WITH and ORDER BY": lambda n: f"WITH 1 AS x {'WITH x ORDER BY x LIMIT 5 ' * n}RETURN x",
    "aggregating WITH": lambda n: f"WITH 1 AS x {'WITH count(x) AS x ' * n}RETURN x",
    "MATCH": _numbered("", "MATCH (a#) ", "", "RETURN 1 AS x"),
    "MATCH on": _numbered("", "MATCH (a#)-->(a+) ", "", "RETURN 1 AS x"),
    "OPTIONAL MATCH": _numbered("", "OPTIONAL MATCH (a#) ", "", "RETURN 1 AS x"),
    "OPTIONAL MATCH on": _numbered("", "OPTIONAL MATCH (a#)-->(a+) ", "MATCH (a0) ", "RETURN 1 AS x"),
    "UNWIND": _numbered("", "UNWIND [1] AS a# ", "", "RETURN 1 AS x"),
    "UNWIND of two": _numbered("", "UNWIND [1, 2] AS a# ", "", "RETURN count(*) AS x"),
    "CALL procedures": _numbered("", "CALL db.labels() YIELD label AS l# ", "", "RETURN 1 AS x"),
    "CALL subqueries": _numbered("", "CALL () { RETURN 1 AS x# } ", "", "RETURN 1 AS x"),
    "CREATE parts": _numbered(", ", "(:A {a: #})", "CREATE ", ""),
    "CREATE clauses": _numbered(" ", "CREATE (a#:A)", "", ""),
    "CREATE a path": lambda n: f"CREATE (){'-[:R]->()' * n}",
    "MERGE": _numbered(" ", "MERGE (a#:A {i: #})", "", ""),
    "MERGE a path": lambda n: f"MERGE (){'-[:R]->()' * n}",
    "SET items": _numbered(", ", "n.x# = 1", "MATCH (n) SET ", ""),
    "SET clauses": lambda n: f"MATCH (n) {'SET n.x = 1 ' * n}",
    "REMOVE items": _numbered(", ", "n.x#", "MATCH (n) REMOVE ", ""),
    "DELETE items": lambda n: f"MATCH (n) DELETE {', '.join(['n'] * n)}",
    "a long path": lambda n: f"MATCH (){'-->()' * n} RETURN 1 AS x",
    "a long path with names": _numbered("-[:R]-", "(a#:A {k: 1})", "MATCH ", " RETURN a0"),
    "patterns with commas": _numbered(", ", "(a#)", "MATCH ", " RETURN 1 AS x"),
    "relationships with commas": _numbered(", ", "(a#)-->(a+)", "MATCH ", " RETURN 1 AS x"),
    "patterns and equalities": lambda n: (
        f"MATCH {', '.join(f'(a{i})' for i in range(n))} "
        f"WHERE {' AND '.join(f'a{i}.k = a{i + 1}.k' for i in range(n - 1))} RETURN 1 AS x"
    ),
    "a clique": lambda n: (
        f"MATCH {', '.join(f'(a{i % 40})--(a{(i * 7 + i // 40) % 40})' for i in range(n))} RETURN 1 AS x"
    ),
    "quantified paths": _numbered("", "((a#)-->(b#)){1,2}", "MATCH ()", " RETURN 1 AS x"),
    "variable lengths": lambda n: f"MATCH (){'-[*1..2]->()' * n} RETURN 1 AS x",
    "shortest paths": _numbered(", ", "p# = shortestPath((a)-[*]->(b))", "MATCH (a), (b), ", " RETURN 1 AS x"),
    "path variables": _numbered(", ", "p# = (a#)-->(a+)", "MATCH ", " RETURN *"),
    "hints": lambda n: f"MATCH (n:A) {'USING INDEX n:A(x) ' * n}WHERE n.x = 1 RETURN n",
    "FOREACH clauses": lambda n: f"MATCH (n) {'FOREACH (i IN [1] | SET n.x = i) ' * n}",
}


def _sized(shapes: dict[str, Callable[[int], str]], *sizes: int) -> list[Hostile]:
    return [
        Hostile(f"{name} {size}", partial(make, size), graph="small", sample=size == 300 and name in _SAMPLES)
        for name, make in shapes.items()
        for size in sizes
    ]


_SAMPLES = (
    "plus",
    "AND",
    "lists in lists",
    "EXISTS in EXISTS",
    "MERGE",
    "OPTIONAL MATCH",
    "a long path",
    "patterns with commas",
)

STATEMENTS = [
    *_sized(_CHAINS, 300, 10_000, 1_000_000),
    *_sized(_NESTS, 300, 100_000),
    *_sized(_CLAUSES, 300, 1_000, 20_000),
]
