"""Statements that are short and run for long: values that grow or share their parts, searches, products of rows.

Those whose parts are shared are made here: `reduce` doubles a value thirty times without holding more than thirty of
them. The others are written down in `running.txt`.
"""

from __future__ import annotations

from tests.hostile.statement import Hostile, of
from tests.hostile.written import written

_MAPS = "reduce(m = {a: 1}, i IN range(1, 30) | {l: m, r: m})"
_LISTS = "reduce(m = [1, 'x'], i IN range(1, 30) | [m, m, 'x', i])"
_MIXED = "reduce(m = {a: date()}, i IN range(1, 30) | {a: [m, i, m], b: i})"

_USES = {
    "returned": "RETURN {0} AS x",
    "equal": "WITH {0} AS x, {0} AS y RETURN x = y AS same",
    "different": "WITH {0} AS x, {0} AS y RETURN x <> y AS same",
    "smaller": "WITH {0} AS x, {0} AS y RETURN x < y AS smaller",
    "DISTINCT": "UNWIND [1, 2] AS i WITH DISTINCT {0} AS x RETURN count(*) AS n",
    "grouped": "UNWIND [1, 2] AS i RETURN size(keys({{x: 1}})) AS k, {0} AS x, count(*) AS n",
    "count DISTINCT": "UNWIND [1, 2] AS i RETURN count(DISTINCT {0}) AS n",
    "ORDER BY": "UNWIND [1, 2, 3] AS i WITH {0} AS x, i ORDER BY x, i RETURN i",
    "IN": "WITH {0} AS x, {0} AS y RETURN x IN [1, y, [y]] AS found",
    "collect": "UNWIND [1, 2] AS i RETURN size(collect({0})) AS n",
    "collect DISTINCT": "UNWIND [1, 2] AS i RETURN size(collect(DISTINCT {0})) AS n",
    "max": "UNWIND [1, 2] AS i RETURN size(toString(i)) AS s, max({0}) AS x",
    "min": "UNWIND [1, 2] AS i WITH min({0}) AS x RETURN 1 AS one",
    "UNION": "RETURN {0} AS x UNION RETURN {0} AS x",
    "toJson": "RETURN size(apoc.convert.toJson({0})) AS n",
    "apoc.coll.toSet": "RETURN size(apoc.coll.toSet([{0}, {0}])) AS n",
    "apoc.coll.contains": "RETURN apoc.coll.contains([{0}], {0}) AS n",
    "apoc.coll.sort": "RETURN size(apoc.coll.sort([{0}, {0}, 1])) AS n",
    "apoc.coll.frequencies": "RETURN size(apoc.coll.frequencies([{0}, {0}])) AS n",
    "apoc.util.md5": "RETURN apoc.util.md5([{0}]) AS n",
    "apoc.text.format": "RETURN size(apoc.text.format('%s', [{0}])) AS n",
    "apoc.coll.flatten": "RETURN size(apoc.coll.flatten([{0}], true)) AS n",
    "apoc.map.flatten": "RETURN size(keys(apoc.map.flatten({{x: {0}}}))) AS n",
    "valueType": "RETURN size(valueType({0})) AS n",
    "IS ::": "RETURN {0} IS :: LIST<ANY> AS n",
    "hashed in a join": "UNWIND [1, 2] AS i WITH {0} AS x UNWIND [x] AS y WITH DISTINCT x, y RETURN count(*) AS n",
    "in an error": "RETURN 1 + toInteger({0}) AS n",
    "in a message": "RETURN date({0}) AS n",
    "as a property": "CREATE (n:T {{x: {0}}}) RETURN n",
    "as properties": "CREATE (n:T) SET n = {{x: {0}}} RETURN n",
    "CASE": "RETURN CASE {0} WHEN {0} THEN 1 ELSE 2 END AS n",
    "percentile": "UNWIND [1, 2] AS i RETURN percentileCont(CASE WHEN {0} = {0} THEN i ELSE 0 END, 0.5) AS n",
}

_SHARED = [
    of(f"shared {kind}: {use}", text.format(value), sample=(kind, use) in {("maps", "equal"), ("lists", "returned")})
    for kind, value in (("maps", _MAPS), ("lists", _LISTS))
    for use, text in _USES.items()
] + [of(f"shared mixed: {use}", _USES[use].format(_MIXED)) for use in ("returned", "DISTINCT", "toJson", "ORDER BY")]

_RECURSION = "UNWIND [1, 2] AS a CALL apoc.cypher.run($q, {q: $q}) YIELD value RETURN value"

STATEMENTS: list[Hostile] = [
    *_SHARED,
    *written("running.txt"),
    Hostile("cypher that doubles itself", lambda: _RECURSION, lambda: {"q": _RECURSION}, sample=True),
]
