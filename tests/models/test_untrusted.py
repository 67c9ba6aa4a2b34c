"""Statements of strangers: what is refused, what is cut, and that pages are the whole answer."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

import pytest

import hoplite
from hoplite.engine.procedures.registry import PROCEDURES
from hoplite.models.untrusted import Answer
from hoplite.models.untrusted_judge import FORBIDDEN, WRITE_KINDS
from hoplite.sample import load_sample


@pytest.fixture(scope="module")
def sample() -> hoplite.Database:
    return load_sample()


def _code(answer: Answer) -> str:
    assert answer.error is not None, answer
    assert answer.rows == [] and answer.cursor is None
    json.loads(answer.to_json())
    return str(answer.error["code"])


# --- what may not run ---

WRITES = [
    "CREATE (:X)",
    "INSERT (:X)",
    "MERGE (:X {k: 1})",
    "MATCH (n) SET n.k = 1",
    "MATCH (n) SET n:X RETURN n",
    "MATCH (n) REMOVE n.name",
    "MATCH (n) DETACH DELETE n",
    "MATCH ()-[r]->() DELETE r",
    "UNWIND [1] AS x FOREACH (y IN [x] | CREATE (:X))",
    "CALL { CREATE (:X) } RETURN 1",
    "CALL () { MERGE (n:X) RETURN n } RETURN n",
    "MATCH (n) CALL (n) { SET n.x = 1 } IN TRANSACTIONS RETURN 1",
    "RETURN 1 AS x UNION CREATE (:X) RETURN 1 AS x",
    "PROFILE CREATE (:X)",
    "EXPLAIN CREATE (:X)",
    "CYPHER 5 CREATE (:X)",
    "CALL apoc.create.node(['X'], {})",
    "CALL apoc.cypher.doIt('CREATE (:X)', {})",
    "CALL apoc.cypher.run('CREATE (:X)', {})",
    "CALL apoc.cypher.run('CALL apoc.create.node([\"X\"], {}) YIELD node RETURN node', {}) YIELD value RETURN value",
    "CALL apoc.when(true, 'CREATE (:X)', '', {})",
    "CALL apoc.case([true, 'CREATE (:X)'], '', {})",
    "CALL apoc.periodic.iterate('UNWIND range(1, 3) AS x RETURN x', 'CREATE (:X)', {})",
    "CALL apoc.periodic.commit('CREATE (:X) RETURN 0', {})",
    "RETURN apoc.cypher.runFirstColumnSingle('CREATE (n:X) RETURN n', {})",
    "MATCH (n) RETURN apoc.cypher.runFirstColumnMany('MATCH (m) DETACH DELETE m RETURN 1', {})",
    "CALL apoc.graph.fromCypher('CREATE (n:X) RETURN n', {}, 'g', {})",
    "CALL apoc.refactor.rename.label('Drug', 'X')",
    "CALL db.create.setNodeVectorProperty(null, 'k', [1.0])",
]
COMMANDS = [
    "CREATE INDEX FOR (n:X) ON (n.k)",
    "CREATE CONSTRAINT FOR (n:X) REQUIRE n.k IS UNIQUE",
    "DROP INDEX x IF EXISTS",
    "DROP CONSTRAINT x IF EXISTS",
    "CREATE FULLTEXT INDEX f FOR (n:X) ON EACH [n.k]",
    "CREATE USER u SET PASSWORD 'secret123'",
    "CREATE DATABASE d",
    "SHOW SETTINGS",
    "SHOW TRANSACTIONS",
    "TERMINATE TRANSACTIONS 'neo4j-transaction-1'",
    "SHOW TRANSACTIONS YIELD transactionId AS id TERMINATE TRANSACTIONS id YIELD message RETURN message",
    "CALL db.clearQueryCaches()",
    "CALL dbms.listConfig()",
    "CALL tx.setMetaData({a: 1})",
    "CALL apoc.schema.assert({X: ['k']}, {})",
    "CALL apoc.cypher.runSchema('CREATE INDEX FOR (n:X) ON (n.k)', {})",
    "CALL apoc.cypher.runMany('CREATE (:X); CREATE INDEX FOR (n:X) ON (n.k)', {})",
    "CALL db.index.vector.createNodeIndex('v', 'X', 'k', 3, 'cosine')",
]
FILES = [
    "LOAD CSV FROM 'file:///data.csv' AS line RETURN line",
    "LOAD CSV FROM 'http://127.0.0.1:9/x.csv' AS line RETURN line",
    "CALL apoc.load.json('data.json') YIELD value RETURN value",
    "CALL apoc.load.xml('data.xml') YIELD value RETURN value",
    "CALL apoc.import.graphml('data.graphml', {})",
    "CALL apoc.export.csv.all('data.csv', {}) YIELD file RETURN file",
    "CALL apoc.cypher.run(\"CALL apoc.load.json('data.json') YIELD value RETURN value\", {}) YIELD value RETURN value",
    "CALL { LOAD CSV FROM 'file:///data.csv' AS line RETURN line } RETURN line",
    "RETURN COLLECT { LOAD CSV FROM 'file:///data.csv' AS line RETURN line } AS lines",
    "CALL apoc.cypher.run(\"LOAD CSV FROM 'file:///data.csv' AS line RETURN line\", {}) YIELD value RETURN value",
    "CALL apoc.load.json('file:///data.csv')",
    "CALL apoc.load.csv('http://127.0.0.1:9/x.csv')",
    "CALL apoc.export.csv.all('out.csv', {})",
    "CALL apoc.import.csv([], [], {})",
    "CALL apoc.export.csv.query('RETURN 1', 'out.csv', {})",
    "CALL apoc.export.json.all(null, {stream: true})",
    "CALL apoc.cypher.runTimeboxed(\"CALL apoc.load.json('data.csv') YIELD value RETURN value\", {}, 1000)",
    "CALL apoc.cypher.runManyReadOnly(\"LOAD CSV FROM 'file:///data.csv' AS line RETURN line;\", {})",
]
HEAVY = [
    "MATCH (a), (b), (c) RETURN count(*)",
    "MATCH (a), (b), (c) RETURN a",
    "UNWIND range(1, 1000000000) AS x RETURN x",
    "UNWIND range(1, 100000) AS x UNWIND range(1, 100000) AS y RETURN sum(x + y)",
    "MATCH (a)-[*..12]-(b) RETURN count(*)",
    "MATCH (a), (b) CALL (a, b) { MATCH (c), (d) RETURN count(*) AS n } RETURN sum(n)",
    "MATCH (a) RETURN COUNT { MATCH (b), (c) RETURN b } AS n",
    "CALL apoc.cypher.run('MATCH (a), (b), (c) RETURN count(*) AS n', {}) YIELD value RETURN value",
    "RETURN reduce(t = 'x', i IN range(1, 60) | t + t)",
    "RETURN reduce(l = [1], i IN range(1, 60) | l + l)",
    "WITH reduce(l = [1], i IN range(1, 40) | [l, l]) AS x RETURN x",
    "RETURN range(1, 9223372036854775806)",
    "RETURN apoc.text.repeat('x', 9000000000)",
    "CALL apoc.util.sleep(100000)",
]


@pytest.mark.parametrize("query", WRITES + COMMANDS + FILES + HEAVY)
def test_what_may_not_run_is_an_error_and_changes_nothing(sample: hoplite.Database, query: str, tmp_path: Path) -> None:
    version = sample._graph.snapshot().version
    answer = sample.run_untrusted(query, seconds=3)
    if answer.error is None:  # a value whose parts are shared may be made, and is too large to be handed out
        assert answer.rows == [] and answer.truncated and answer.cursor is None
    assert sample._graph.snapshot().version == version


def test_a_file_in_the_import_folder_stays_unread(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text("secret\n")
    with hoplite.open(import_folder=tmp_path) as db:
        assert db.run("LOAD CSV FROM 'file:///data.csv' AS l RETURN l[0]").value() == ["secret"]
        for query in FILES:
            assert db.run_untrusted(query).error is not None, query
            assert "secret" not in db.run_untrusted(query, procedures=["*"], functions=["*"]).to_json()
        assert [path.name for path in tmp_path.iterdir()] == ["data.csv"]


@pytest.mark.parametrize("name", sorted(PROCEDURES))
def test_procedures_that_do_more_than_read_are_refused(sample: hoplite.Database, name: str) -> None:
    procedure = PROCEDURES[name]
    inputs = ", ".join("null" for field in procedure.signature.inputs)
    answer = sample.run_untrusted(f"CALL {name}({inputs})", seconds=2)
    is_for_files = name.startswith(("apoc.load.", "apoc.export.", "apoc.import."))
    if (
        procedure.admin
        or is_for_files
        or name == "apoc.periodic.cancel"
        or procedure.signature.mode not in ("READ", "DEFAULT")
    ):
        assert _code(answer) == FORBIDDEN
    else:
        assert answer.error is None or answer.error["code"] != FORBIDDEN


@pytest.mark.parametrize("kind", WRITE_KINDS)
def test_writes_are_allowed_by_kind(kind: str) -> None:
    queries = {
        "create": "CREATE (:X)",
        "merge": "MERGE (x:X) ON CREATE SET x.new = true",
        "set": "MATCH (n:N) SET n.k = 2",
        "remove": "MATCH (n:N) REMOVE n.k",
        "delete": "MATCH (n:N) DELETE n",
    }
    for other, query in queries.items():
        with hoplite.open() as db:
            db.run("CREATE (:N {k: 1})")
            answer = db.run_untrusted(query, writes=[kind])
            assert (answer.error is None) == (other == kind)
            assert bool(answer.changes) == (other == kind)
    with hoplite.open() as db:
        # What does any of them is allowed where all of them are.
        call = "CALL apoc.create.node(['X'], {}) YIELD node RETURN node"
        assert _code(db.run_untrusted(call, writes=[kind])) == FORBIDDEN
        assert db.run_untrusted(call, writes=WRITE_KINDS).error is None
        with pytest.raises(ValueError, match="'drop' is not a kind of write"):
            db.run_untrusted("RETURN 1", writes=["drop"])


@pytest.mark.parametrize("call", ["submit('j', 'CREATE (:X)')", "repeat('j', 'CREATE (:X)', 1)", "cancel('j')"])
def test_nothing_runs_in_the_background(call: str) -> None:
    with hoplite.open() as db:
        answer = db.run_untrusted(f"CALL apoc.periodic.{call}", writes=WRITE_KINDS, procedures=["*"])
        assert _code(answer) == FORBIDDEN
        nested = f'CALL apoc.cypher.doIt("CALL apoc.periodic.{call} YIELD name RETURN name", {{}}) YIELD value RETURN 1'
        assert _code(db.run_untrusted(nested, writes=WRITE_KINDS)) == FORBIDDEN
        assert db.run("CALL apoc.periodic.list() YIELD name RETURN count(*)").value() == [0]


def test_a_read_only_database_stays_so(tmp_path: Path) -> None:
    with hoplite.open(tmp_path / "db") as db:
        db.run("CREATE (:X)")
    with hoplite.open(tmp_path / "db", read_only=True) as db:
        assert db.run_untrusted("CREATE (:X)", writes=["create"]).error is not None


def test_what_a_user_registered_has_to_be_named() -> None:
    with hoplite.open() as db:
        db.register_function("mine.twice(x :: INTEGER) :: INTEGER", lambda x: 2 * x)
        db.register_procedure("mine.rows() :: (x :: INTEGER)", [{"x": 1}])
        assert _code(db.run_untrusted("RETURN mine.twice(1)")) == FORBIDDEN
        assert _code(db.run_untrusted("CALL mine.rows()")) == FORBIDDEN
        assert (
            _code(db.run_untrusted("RETURN apoc.cypher.runFirstColumnSingle('RETURN mine.twice(1)', {})")) == FORBIDDEN
        )
        assert db.run_untrusted("RETURN mine.twice(1)", functions=["mine.*"]).rows == [[2]]
        assert db.run_untrusted("CALL mine.rows()", procedures=["mine.rows"]).rows == [[1]]
        # A list of names takes the place of the usual ones.
        assert _code(db.run_untrusted("RETURN toUpper('a')", functions=["mine.*"])) == FORBIDDEN
        assert _code(db.run_untrusted("CALL db.labels()", procedures=[])) == FORBIDDEN


@pytest.mark.parametrize("query", HEAVY[:7])
def test_what_is_too_much_is_refused_before_it_runs(sample: hoplite.Database, query: str) -> None:
    assert _code(sample.run_untrusted(query)) == "Neo.ClientError.Statement.ResultLimitExceeded"


def test_what_is_small_is_not_refused_for_its_estimate(sample: hoplite.Database) -> None:
    for query, count in (
        ("MATCH (a), (b), (c) RETURN a.name LIMIT 3", 3),
        ("UNWIND range(1, 1000000000) AS x RETURN x LIMIT 2", 2),
        ("MATCH (a:Drug)-[:TREATS]->(d)-[:HAS_SYMPTOM]->(s) RETURN count(*)", 1),
        ("MATCH (a:Drug {name: 'Aspirin'})-[*..3]->(b) RETURN count(DISTINCT b)", 1),
        ("SHOW INDEXES YIELD name", 2),
        ("CALL db.labels()", 7),
        ("CALL apoc.cypher.run('MATCH (n:Drug) RETURN n.name AS x LIMIT 4', {}) YIELD value RETURN value.x", 4),
    ):
        answer = sample.run_untrusted(query, estimated_rows=100_000)
        assert answer.error is None, answer.error
        assert len(answer.rows) == count
    assert sample.run_untrusted("MATCH (n) RETURN n.name", estimated_rows=100).error is not None


def test_matches_that_are_only_counted_are_estimated_too(sample: hoplite.Database) -> None:
    cycles = "MATCH (a)--(b)--(c)--(d)--(a) RETURN count(*)"
    assert "CountMatches" in sample.explain(cycles)
    assert sample.run_untrusted(cycles, estimated_rows=1_000).error is not None
    assert sample.run_untrusted(cycles, estimated_rows=10**12).error is None


# --- pages ---


@pytest.mark.parametrize(("rows", "size"), [(1, 10**6), (7, 10**6), (100, 10**6), (1000, 2500), (10**6, 10**7)])
@pytest.mark.parametrize(
    "query",
    [
        "MATCH (a:Drug)-[r]->(b) RETURN a.name, r, b ORDER BY a.name, type(r), b.name",
        "MATCH (a:Gene)-[r]->(b) RETURN a, type(r), b.name",
        "MATCH (n:Drug) WHERE n.name STARTS WITH 'nobody' RETURN n",
        "UNWIND range(1, 20) AS x RETURN x, 'y' + x",
    ],
)
def test_pages_together_are_the_whole_answer(sample: hoplite.Database, query: str, rows: int, size: int) -> None:
    if rows == 1:
        query += " LIMIT 25" if "UNWIND" not in query else ""
    whole = sample.run_untrusted(query, rows=10**6, bytes=10**8)
    assert not whole.truncated and whole.cursor is None
    found: list[list[Any]] = []
    cursor = None
    while True:
        answer = sample.run_untrusted(query, rows=rows, bytes=size, cursor=cursor)
        assert answer.error is None and answer.columns == whole.columns
        assert len(answer.rows) <= rows and len(json.dumps(answer.rows)) <= size + 2 * len(answer.rows)
        assert answer.truncated == (answer.cursor is not None) == (answer.reason is not None)
        found += answer.rows
        cursor = answer.cursor
        if cursor is None:
            break
    assert found == whole.rows


def test_a_cursor_can_be_used_again(sample: hoplite.Database) -> None:
    query = "UNWIND range(1, 10) AS x RETURN x"
    cursor = sample.run_untrusted(query, rows=4).cursor
    for _ in range(2):
        assert sample.run_untrusted(query, rows=4, cursor=cursor).rows == [[5], [6], [7], [8]]
    assert len(sample.run_untrusted(query, rows=100, bytes=100, cursor=cursor).rows) == 6


def test_a_cursor_of_something_else_is_refused() -> None:
    with hoplite.open() as db, hoplite.open() as other:
        for one in (db, other):
            one.run("UNWIND range(1, 9) AS x CREATE (:N {x: x})")
        query = "MATCH (n:N) WHERE n.x > $least RETURN n.x"
        cursor = db.run_untrusted(query, {"least": 0}, rows=2).cursor
        assert cursor is not None
        assert len(db.run_untrusted(query, {"least": 0}, cursor=cursor).rows) == 7

        def message(db: hoplite.Database, query: str, parameters: dict[str, Any], cursor: str) -> str:
            answer = db.run_untrusted(query, parameters, rows=2, cursor=cursor)
            assert _code(answer) == "Neo.ClientError.Request.Invalid"
            assert answer.error is not None
            return str(answer.error["message"])

        assert "another statement" in message(db, query + " ", {"least": 0}, cursor)
        assert "other parameters" in message(db, query, {"least": 1}, cursor)
        assert "another statement" in message(other, query, {"least": 0}, cursor)
        for place in range(len(cursor)):
            changed = cursor[:place] + ("A" if cursor[place] != "A" else "B") + cursor[place + 1 :]
            if changed != cursor and place < len(cursor) - 1:  # the last character has bits that say nothing
                assert "was not issued here" in message(db, query, {"least": 0}, changed)
        for wrong in ("", "x", "a b", cursor[:-4], "é", cursor + "AAAA", "null"):
            assert "was not issued here" in message(db, query, {"least": 0}, wrong)
        db.run("CREATE (:Y)")
        assert "has changed" in message(db, query, {"least": 0}, cursor)


def test_an_answer_that_is_another_each_time_has_no_next_page() -> None:
    with hoplite.open() as db:
        answer = db.run_untrusted("UNWIND range(1, 9) AS x RETURN x, rand()", rows=3)
        assert answer.truncated and answer.cursor is None
        query = "UNWIND range(1, 9) AS x RETURN x, datetime()"
        answer = db.run_untrusted(query, rows=3, cursor=db.run_untrusted(query, rows=3).cursor)
        assert answer.error is not None and "each time it runs" in answer.error["message"]


def test_a_statement_that_writes_is_not_run_again_for_its_next_page() -> None:
    with hoplite.open() as db:
        answer = db.run_untrusted("UNWIND range(1, 9) AS x CREATE (n:N) RETURN x", rows=3, writes=["create"])
        assert answer.truncated and answer.cursor is None and len(answer.rows) == 3
        assert answer.changes == {"nodes_created": 9, "labels_added": 9}
        assert db.run("MATCH (n) RETURN count(n)").value() == [9]


def test_a_row_that_is_too_large_alone_is_said_to_be() -> None:
    with hoplite.open() as db:
        answer = db.run_untrusted("UNWIND ['a', apoc.text.repeat('x', 5000)] AS t RETURN t", bytes=1000)
        assert len(answer.rows) == 1 and answer.cursor is not None
        query = "UNWIND ['a', apoc.text.repeat('x', 5000)] AS t RETURN t"
        answer = db.run_untrusted(query, bytes=1000, cursor=answer.cursor)
        assert answer.rows == [] and answer.truncated and answer.cursor is None
        assert answer.reason is not None and "alone takes more than" in answer.reason


# --- limits and errors ---


def test_time_and_memory_are_bounded() -> None:
    with hoplite.open() as db:
        endless = "UNWIND range(1, 3000000000) AS x WITH x WHERE x < 0 RETURN x"
        answer = db.run_untrusted(endless, seconds=0.2, estimated_rows=None)
        assert "TransactionTimedOut" in _code(answer)
        large = "UNWIND range(1, 20000000) AS x RETURN collect(toString(x) + 'abcdefgh')"
        assert "OutOfMemory" in _code(db.run_untrusted(large, memory="200MB", seconds=60, estimated_rows=None))


def test_a_statement_is_stopped_from_outside() -> None:
    with hoplite.open() as db:
        stop = threading.Event()
        threading.Timer(0.2, stop.set).start()
        endless = "UNWIND range(1, 3000000000) AS x WITH x WHERE x < 0 RETURN x"
        answer = db.run_untrusted(endless, seconds=60, estimated_rows=None, stop=stop)
        assert _code(answer) == "Neo.ClientError.Transaction.TransactionTerminated"


def test_errors_and_warnings_come_with_the_answer(sample: hoplite.Database) -> None:
    assert _code(sample.run_untrusted("RETRUN 1")) == "Neo.ClientError.Statement.SyntaxError"
    assert _code(sample.run_untrusted("RETURN $missing")) == "Neo.ClientError.Statement.ParameterMissing"
    assert _code(sample.run_untrusted("RETURN 1 / 0")) == "Neo.ClientError.Statement.ArithmeticError"
    assert _code(sample.run_untrusted("RETURN $x", {"x": object()})) == "Neo.ClientError.Statement.ArgumentError"
    (warning,) = sample.run_untrusted("MATCH (n:Drugs) RETURN n").warnings
    assert warning["code"] == "Neo.ClientNotification.Statement.UnknownLabelWarning"
    assert warning["position"]["line"] == 1


# --- values ---


def test_every_type_has_a_form_in_json() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:A:B {k: [1, 2]})-[:R {since: date('2020-02-02')}]->(:C)")

        def value(expression: str) -> Any:
            answer = db.run_untrusted(f"MATCH p = (a:A)-[r]->(c) RETURN {expression} AS x")
            assert answer.error is None, answer.error
            (row,) = json.loads(answer.to_json())["rows"]
            assert answer.rows == [row]
            return row[0]

        plain: list[Any] = [None, True, 1, -9223372036854775807, 1.5, 'é"\n', [1, ["a"]], {"k": {"l": []}}]
        assert value("[null, true, 1, -9223372036854775807, 1.5, 'é\"\\n', [1, ['a']], {k: {l: []}}]") == plain
        assert value("[0.0 / 0, 1.0 / 0, -1.0 / 0]") == [
            {"$type": "Float", "value": name} for name in ("NaN", "Infinity", "-Infinity")
        ]
        for expression, name, text in (
            ("date('2024-02-29')", "Date", "2024-02-29"),
            ("time('10:00:01+02:00')", "Time", "10:00:01.000000000+02:00"),
            ("localtime('10:00')", "LocalTime", "10:00:00.000000000"),
            ("localdatetime('2024-02-29T10:00')", "LocalDateTime", "2024-02-29T10:00:00.000000000"),
            ("datetime('2024-02-29T10:00Z')", "DateTime", "2024-02-29T10:00:00.000000000+00:00"),
            (
                "datetime('2024-02-29T10:00[Europe/Berlin]')",
                "DateTime",
                "2024-02-29T10:00:00.000000000+01:00[Europe/Berlin]",
            ),
            ("duration('P1Y2M3DT4.5S')", "Duration", "P1Y2M3DT4.5S"),
        ):
            assert value(expression) == {"$type": name, "value": text}
        assert value("point({x: 1, y: 2, z: 3})") == {"$type": "Point", "srid": 9157, "coordinates": [1.0, 2.0, 3.0]}
        assert value("{`$type`: 'Node'}") == {"$type": "Map", "value": {"$type": "Node"}}
        start, end = value("elementId(a)"), value("elementId(c)")
        node = {"$type": "Node", "elementId": start, "labels": ["A", "B"], "properties": {"k": [1, 2]}}
        relationship = {
            "$type": "Relationship",
            "elementId": value("elementId(r)"),
            "type": "R",
            "startNodeElementId": start,
            "endNodeElementId": end,
            "properties": {"since": {"$type": "Date", "value": "2020-02-02"}},
        }
        assert value("a") == node
        assert value("{r: [r]}") == {"r": [relationship]}
        other = {"$type": "Node", "elementId": end, "labels": ["C"], "properties": {}}
        assert value("p") == {"$type": "Path", "nodes": [node, other], "relationships": [relationship]}


def test_bytes_are_base64() -> None:
    with hoplite.open() as db:
        assert db.run_untrusted("RETURN $b", {"b": b"\x01\x02"}).rows == [[{"$type": "ByteArray", "value": "AQI="}]]
