"""JSON and JSONPath as APOC core 5.26 reads them; the answers are its own."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

import hoplite

DOCUMENT = """{"a": {"b": 1, "c": [1, 2, 3, {"b": 5}], "name": "x"}, "list": [
  {"id": 1, "p": 5.5, "t": "red", "f": true}, {"id": 2, "p": 15, "t": "blue"}, {"id": 3, "t": null, "n": {"z": 1}}],
  "e": {}, "l": [], "s": "text", "n": null, "odd key": 7, "nums": [4, 2, 8.5]}"""


@pytest.fixture(scope="module")
def db() -> Any:
    with hoplite.open() as db:
        yield db


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("$.a.b", 1),
        ("a.b", 1),
        ("@.a.b", 1),
        ("$['a'][\"b\"]", 1),
        ("$['odd key']", 7),
        (".b", [None, 1, 5, None, None, None, None, None]),
        ("$..b", [None, 1, 5, None, None, None, None, None]),
        ("$.list..id", [1, 2, 3, None]),
        ("$..c[0]", [1]),
        ("$..[?(@.id == 1)].t", ["red"]),
        ("$.a.c[-1]", {"b": 5}),
        ("$.a.c[9]", None),
        ("$.a.c[0,2]", [1, 3]),
        ("$.a.c[1:3]", [2, 3]),
        ("$.a.c[-2:]", [3, {"b": 5}]),
        ("$.a.c[:-1]", [1, 2, 3]),
        ("$.a.*", [1, [1, 2, 3, {"b": 5}], "x"]),
        ("$.list[*].t", ["red", "blue", None]),
        ("$.list[*].nope", [None, None, None]),
        ("$.list.id", None),
        ("$.list[*]['id','t']", [{"id": 1, "t": "red"}, {"id": 2, "t": "blue"}, {"id": 3, "t": None}]),
        ("$.list[0]['id','nope']", {"id": 1, "nope": None}),
        ("$.nope.b", None),
        ("$[0]", None),
        ("$.l[*]", []),
        ("$.list[?(@.id >= 2 && @.p > 3)].id", [2]),
        ("$.list[?(@.id == 1 || @.id == 3)].id", [1, 3]),
        ("$.list[?(!@.p)].id", [3]),
        ("$.list[?(@.t != 'red')].id", [2, 3]),
        ("$.list[?(@.t =~ /RE.*/i)].id", [1]),
        ("$.list[?(@.t in ['red','x'])].id", [1]),
        ("$.list[?(@.t nin ['red'])].id", [2, 3]),
        ("$.list[?(@.id in $.nums)].id", [2]),
        ("$.list[?(@.id < $.a.c[2])].id", [1, 2]),
        ("$.list[?(@.t contains 'e')].id", [1, 2]),
        ("$.list[?(@.t size 3)].id", [1]),
        ("$.list[?(@.t empty false)].id", [1, 2]),
        ("$.list[?(@.nope == null)].id", [1, 2, 3]),
        ("$.nums[?(@ > 3)]", [4, 8.5]),
        ("$.nums.length()", 3),
        ("$.s.length()", None),
        ("$.nums.sum()", 14.5),
        ("$.nums.min()", 2.0),
        ("$.a.keys()", ["b", "c", "name"]),
        ("", "all"),
    ],
)
def test_a_path_finds(db: hoplite.Database, path: str, found: Any) -> None:
    query = "RETURN apoc.json.path($json, $path) AS found, apoc.json.path($json) AS all"
    (record,) = db.run(query, json=DOCUMENT, path=path)
    assert record["found"] == (record["all"] if found == "all" else found)


@pytest.mark.parametrize(
    ("call", "found"),
    [
        ('apoc.convert.fromJsonMap(\'{"product": {"name": "Bloom"}}\', \'$.product\')', {"name": "Bloom"}),
        ('apoc.convert.fromJsonList(\'[{"name":"a"},{"name":"b"}]\', \'.name\')', ["a", "b"]),
        ("apoc.convert.fromJsonList('{\"columns\": [1]}', '$..columns')", [[1]]),
        ("apoc.convert.fromJsonList('[{\"b\":1},{\"c\":1}]', '$..b', [])", [1]),
        ("apoc.json.path('{\"b\":1}', '$.b', ['ALWAYS_RETURN_LIST'])", [1]),
        ("apoc.json.path('{\"b\":1}', '$.b', ['AS_PATH_LIST'])", ["$['b']"]),
        ("apoc.convert.fromJsonMap('')", None),
        ("apoc.convert.fromJsonMap(null)", None),
        ("apoc.convert.fromJsonMap('{\"a\":1}x')", {"a": 1}),
    ],
)
def test_json_becomes_a_value(db: hoplite.Database, call: str, found: Any) -> None:
    assert db.run(f"RETURN {call} AS found").values() == [[found]]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            "apoc.convert.fromJsonMap('[1]')",
            "com.fasterxml.jackson.databind.exc.MismatchedInputException: Cannot deserialize value of type "
            "`java.util.LinkedHashMap<java.lang.Object,java.lang.Object>` from Array value (token "
            "`JsonToken.START_ARRAY`)\n at [Source: REDACTED (`StreamReadFeature.INCLUDE_SOURCE_IN_LOCATION` "
            "disabled); line: 1, column: 1]",
        ),
        (
            "apoc.convert.fromJsonList('{\"a\": 1}', '$.a')",
            "com.fasterxml.jackson.databind.exc.MismatchedInputException: Cannot deserialize value of type "
            "`java.util.ArrayList<java.lang.Object>` from Integer value (token `JsonToken.VALUE_NUMBER_INT`)\n"
            " at [Source: UNKNOWN; byte offset: #UNKNOWN]",
        ),
        (
            "apoc.convert.fromJsonMap('{\"b\":1}', '$.x', [])",
            "com.jayway.jsonpath.PathNotFoundException: No results for path: $['x']",
        ),
        (
            "apoc.json.path('{}', '$.')",
            "com.jayway.jsonpath.InvalidPathException: Path must not end with a '.' or '..'",
        ),
        (
            "apoc.json.path('{}', 'bad path')",
            "com.jayway.jsonpath.InvalidPathException: Use bracket notion ['my prop'] if your property contains blank "
            "characters. position: 2",
        ),
        (
            "apoc.json.path('{}', '$.list[::2]')",
            "com.jayway.jsonpath.InvalidPathException: Failed to parse SliceOperation: ::2",
        ),
        (
            "apoc.json.path('{}', '$.b', ['X'])",
            "java.lang.IllegalArgumentException: No enum constant com.jayway.jsonpath.Option.X",
        ),
    ],
)
def test_what_is_wrong_is_told_as_apoc_tells_it(db: hoplite.Database, call: str, message: str) -> None:
    with pytest.raises(Neo4jError) as raised:
        db.run(f"RETURN {call} AS found").values()
    name = call.partition("(")[0]
    assert raised.value.message == f"Failed to invoke function `{name}`: Caused by: {message}"


def test_a_path_that_finds_without_end_is_stopped() -> None:
    nested = "[" * 60 + "]" * 60
    with hoplite.open(timeout=0.2) as db, pytest.raises(Neo4jError) as raised:
        db.run("RETURN size(apoc.json.path($j, '$..*..*..*..*..*..*..*..*'))", j=nested).values()
    assert (raised.value.code or "").startswith("Neo.ClientError.Transaction.TransactionTimedOut")


def test_a_property_holds_json() -> None:
    with hoplite.open() as db:
        db.run('CREATE (:N {j: \'{"a": {"b": [1, 2]}}\'})')
        query = (
            "MATCH (n:N) RETURN apoc.convert.getJsonProperty(n, 'j', '$.a.b') AS a, "
            "apoc.convert.getJsonPropertyMap(n, 'j', '$.a') AS b, apoc.convert.getJsonProperty(n, 'none') AS c"
        )
        assert db.run(query).values() == [[[1, 2], {"b": [1, 2]}, None]]
        written = "MATCH (n:N) CALL apoc.convert.setJsonProperty(n, 'z', {a: [1, {c: null}]}) RETURN n.z AS z"
        assert db.run(written).values() == [['{"a":[1,{"c":null}]}']]
