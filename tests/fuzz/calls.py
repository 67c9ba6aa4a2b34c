"""A fuzzer of calls: every function, aggregate and procedure with hostile arguments of every type.

    python -m tests.fuzz.calls [--calls 200] [--seed 1] [--only apoc.text]

Arguments are extreme values of every type: the largest integers, NaN and infinities, empty, long and odd texts, deep
lists and maps, dates at the ends of their range, nodes, relationships, paths and nulls; as constants, whose types the
check knows, and as values of a list, whose types it does not. Each call runs in a transaction that is rolled back. Only
an answer or a Cypher error is allowed.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import traceback
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

from neo4j.exceptions import BrokenRecordError, Neo4jError

import hoplite
from hoplite.engine.functions.registry import AGGREGATES, FUNCTIONS
from hoplite.engine.procedures.registry import PROCEDURES

GRAPH = (
    "CREATE (a:A {id: 1, s: 'x', d: date('2020-01-31'), l: [1, 2]})-[:R {w: 1}]->(b:B {id: 2.5})-[:S]->(a), "
    "(:A:B {k: ''})"
)
PATTERN = "MATCH p = (n:A)-[r:R]->(m) WITH p, n, r, m LIMIT 1 "
TIMEOUT = 2.0
_DAYS = ("-999999999-01-01", "+999999999-12-31", "0000-01-01", "2020-02-29", "9999-12-31")
VALUES = (
    *("null", "true", "false", "0", "-1", "1", "2", "100", "9223372036854775807", "-9223372036854775808", "4294967296"),
    *("0.0", "-0.0", "0.5", "1e308", "-1e308", "5e-324", "0.0 / 0.0", "1.0 / 0.0", "-1.0 / 0.0", "1e19"),
    *(
        "''",
        "' '",
        "'a'",
        "'A b'",
        "'\\\\'",
        "'%s %d %n'",
        "'\\ud800'",
        "'\\u0000'",
        "'ÄÖ🙂'",
        "'1'",
        "'-1e400'",
        "'NaN'",
    ),
    *("'(a'", "'$1'", "'*'", "'[1, {\"a\": 2}]'", "'{'", "'yyyy-MM-dd'", "'Europe/London'", "'ms'", "'P1Y2M3DT4.5S'"),
    *("'2020-01-31T12:00:00Z'", "'999999999999999999999999'", "'RETURN 1 AS x'", "'MATCH (n) RETURN n'", "'R>|<S'"),
    *(
        "$long",
        "$digits",
        "[]",
        "[null]",
        "[1, 2, 3]",
        "[1.5, 2]",
        "['a', 'b', 'a']",
        "[1, 'a', null, [1]]",
        "$deep",
        "$ints",
    ),
    *(
        "[9223372036854775807, 9223372036854775807]",
        "[[1, 2], [3, 4]]",
        "[{a: 1}, {a: 2}]",
        "range(1, 50)",
        "[n, m, n]",
    ),
    *("{}", "{a: null}", "{a: 1, b: 'x'}", "{a: {b: {c: [1]}}}", "{limit: -1}", "$map", "{`\\ud800`: 1}", "{``: 1}"),
    *(f"date('{day}')" for day in _DAYS),
    *(f"datetime('{day}T23:59:59.999999999+18:00')" for day in _DAYS),
    *("localdatetime('-999999999-01-01T00:00')", "time('23:59:59.999999999-18:00')", "localtime('00:00')"),
    *("datetime('2020-10-25T02:30[Europe/London]')", "duration('P1Y2M3DT4H5M6.789S')", "duration('-PT0.000000001S')"),
    *(
        "duration({seconds: 9223372036854775807})",
        "duration({months: 999999999999})",
        "duration({days: -999999999999})",
    ),
    *("point({x: 1e300, y: -1e300})", "point({x: 0.0 / 0.0, y: 0})", "point({longitude: 180, latitude: -90})"),
    *("point({x: 1, y: 2, z: 1.0 / 0.0})", "n", "m", "r", "p", "[r]", "[p]", "[n, r, p]", "properties(n)", "labels(n)"),
)
_FITTING = {  # by a part of the type's name, in the order in which it is looked for
    "list": r"\[|range|\$deep|\$ints|labels",
    "string": r"'|\$long|\$digits",
    "integer": r"-?\d+$",
    "float": r"-?\d+[.e]",
    "number": r"-?\d",
    "map": r"\{|\$map|properties",
    "node": r"[nm]$",
    "relationship": r"r$",
    "path": r"p$",
    "point": r"point",
    "boolean": r"true|false",
}
_WAITS = frozenset(["apoc.util.sleep"])  # they are meant to wait


def given() -> dict[str, object]:
    """The parameters that values name."""
    deep: object = [1]
    for _ in range(100):
        deep = [deep]
    nested: object = 1
    for _ in range(100):
        nested = {"a": nested}
    return {"long": "ab " * 20_000, "digits": "9" * 5_000, "deep": deep, "map": nested, "ints": list(range(-500, 500))}


@dataclass(frozen=True, slots=True)
class Callee:
    """`form` is a query with {} in place of the arguments."""

    name: str
    form: str
    types: tuple[str, ...]  # of the arguments
    fewest: int
    most: int


def callees() -> Iterator[Callee]:
    """Everything that can be called."""
    signatures = [function.signature for function in FUNCTIONS.values()]
    signatures += [aggregate.signature for aggregate in AGGREGATES.values()]
    for signature in signatures:
        types = tuple(str(argument.types[0]) for argument in signature.arguments)
        fewest = sum(not argument.optional for argument in signature.arguments)
        most = len(types) + (2 if signature.variadic else 0)
        yield Callee(signature.name, f"{PATTERN}RETURN {signature.name}({{}}) AS x", types, fewest, most)
    for procedure in PROCEDURES.values():
        shape = procedure.signature
        if shape.name in _WAITS:
            continue
        types = tuple(field.type for field in shape.inputs)
        fewest = sum(field.default is None for field in shape.inputs)
        outputs = ", ".join(f"`{field.name}` AS x{number}" for number, field in enumerate(shape.outputs))
        end = f" YIELD {outputs} RETURN * LIMIT 20" if outputs else ""
        yield Callee(shape.name, f"{PATTERN}CALL {shape.name}({{}}){end}", types, fewest, len(types))


@cache
def _fitting(type_name: str) -> tuple[str, ...]:
    """The values that are of a type, or might be."""
    for part, form in _FITTING.items():
        if part in type_name.lower():
            return tuple(value for value in VALUES if re.match(form, value))
    return VALUES


def call(callee: Callee, chance: random.Random) -> str:
    """A call with random arguments, most of them of the expected types."""
    values: list[str] = []
    for place in range(chance.randint(callee.fewest, callee.most)):
        wanted = callee.types[min(place, len(callee.types) - 1)]
        values.append(chance.choice(_fitting(wanted) if chance.random() < 0.85 else VALUES))
    if chance.random() < 0.3:
        return callee.form.format(", ".join(values))
    names = ", ".join(f"v[{index}]" for index in range(len(values)))
    query = callee.form.format(names)
    return query.replace("LIMIT 1 ", f"LIMIT 1 WITH *, [{', '.join(values)}] AS v ", 1) if values else query


def problem(db: hoplite.Database, query: str, parameters: dict[str, object]) -> str | None:
    """What came out of a query that should not have; None if all is well."""
    try:
        with db.begin() as transaction:
            transaction.run(query, parameters).values()
            transaction.rollback()
    except (Neo4jError, BrokenRecordError):  # the driver cannot hold years beyond 1 to 9999
        return None
    except Exception:
        return traceback.format_exc(limit=-3)
    return None


def database() -> hoplite.Database:
    """A small graph, under limits."""
    db = hoplite.open(timeout=TIMEOUT, max_rows=100_000, query_memory="512MB")
    db.run(GRAPH)
    return db


def main() -> int:
    """Fuzz; returns how many findings there were."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=200, help="of each function and procedure")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", default="", help="functions whose name contains this")
    arguments = parser.parse_args()
    db, parameters = database(), given()
    assert problem(db, PATTERN + "RETURN $deep", parameters) is None
    done, found = 0, set[str]()
    for callee in callees():
        if arguments.only not in callee.name:
            continue
        for number in range(arguments.seed, arguments.seed + arguments.calls):
            query = call(callee, random.Random(f"{callee.name} {number}"))
            done += 1
            finding = problem(db, query, parameters)
            if finding is not None and finding not in found:
                found.add(finding)
                print(f"{query}\n{finding}", flush=True)
    print(f"{done} calls, {len(found)} findings")
    return len(found)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
