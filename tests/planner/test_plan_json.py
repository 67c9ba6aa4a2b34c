"""Plans as JSON: what can be written is read back, and nothing else is."""

from __future__ import annotations

import copy
import json
import math
import random
from typing import Any, get_args

import pytest
from neo4j.exceptions import ClientError, Neo4jError, TransactionError

import hoplite
from hoplite.grammar import ast
from hoplite.planner import physical as pp
from hoplite.planner.plan_constants import read_constant, written_constant
from hoplite.planner.plan_json import PlanError, form_digest, plan_from_json, plan_to_json
from hoplite.values.spatial import Point
from hoplite.values.temporal import Date, DateTime, Duration, LocalDateTime, LocalTime, Time

CONSTANTS = [
    *(None, True, False, 0, -1, 2**53, 2**53 + 1, -(2**63), 10**300, "", "a\ud800\U0001f600\x00"),
    *(0.0, -0.0, 0.1, 1e308, 5e-324, math.inf, -math.inf, b"", b"\x00\xff"),
    *([], [1, [2.0, None]], {}, {"a": {"float": 1}, "b": [1]}),
    *(Date(-719_528), LocalTime(1), Time(1, -3600), LocalDateTime(1, 2), Duration(-1, 2, -3, 4)),
    *(DateTime(1, 2, 3600), DateTime(-1, 2, 0, "Europe/Oslo"), Point(4326, (1.5, -0.0)), Point(9157, (1.0, 2.0, 3.0))),
]


@pytest.mark.parametrize("value", CONSTANTS, ids=repr)
def test_constants_of_every_type_come_back_as_they_were(value: Any) -> None:
    text = json.dumps(written_constant(value), allow_nan=False)
    back = read_constant(json.loads(text))
    assert repr(back) == repr(value) and type(back) is type(value)


def test_nan_is_a_constant_too() -> None:
    assert math.isnan(read_constant(json.loads(json.dumps(written_constant(math.nan)))))


@pytest.mark.parametrize(
    "found",
    [
        *({}, {"float": 1}, {"float": "x"}, {"integer": "1" * 5000}, {"date": []}, {"date": ["a"]}, {"date": [10**30]}),
        *({"time": [0, 10**9]}, {"datetime": [0, 0, 0, "Nowhere/At all"]}, {"datetime": [0, 0, 0, "../../etc"]}),
        *({"point": [1, "0", "0"]}, {"point": [4326, "0"]}, {"point": [7203, "nan", "0"]}, {"bytes": "?"}),
        *({"map": []}, {"float": "1", "integer": "1"}, {"python": "object"}, 2**60, 1.5),
    ],
    ids=repr,
)
def test_what_is_not_a_constant_is_refused(found: Any) -> None:
    with pytest.raises(ValueError):
        read_constant(found)


def envelope(**changes: Any) -> str:
    plan = pp.Results(pp.Project(pp.Argument(), (("x", ast.Literal(1)),), ("x",)), ("x",))
    return json.dumps(json.loads(plan_to_json(plan, {})) | changes)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "not JSON"),
        ("NaN", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "no `hoplite_plan`"),
        (envelope(hoplite_plan=2), "has version 2; this is version 1"),
        (envelope(hoplite_plan=True), "has version True"),
        (envelope(form="x"), "operators are others"),
        (envelope(nodes=None), "`nodes` is not a list"),
        (envelope(root=99), "not the number of a node"),
        (envelope(root=0), "not an operator"),
        (envelope(nodes=[1]), "not an object"),
        (envelope(nodes=[{"is": "Popen", "args": "rm"}]), "there is no node 'Popen'"),
        (envelope(nodes=[{"is": "SubqueryExpression"}]), "there is no node"),
        (envelope(nodes=[{"is": "Argument", "variables": [], "more": 1}]), "has no field 'more'"),
        (envelope(nodes=[{"is": "Argument"}]), "needs the field 'variables'"),
        (envelope(nodes=[{"is": "Argument", "variables": [1]}]), "is not of type str"),
        (envelope(nodes=[{"is": "Drain", "source": 0}]), "not the number of a node before this one"),
        (envelope(nodes=[{"is": "Parameter", "name": "x"}, {"is": "Drain", "source": 0}]), "cannot stand here"),
    ],
    ids=lambda value: value[:30],
)
def test_what_is_not_a_plan_is_refused(text: str, message: str) -> None:
    with pytest.raises(PlanError, match=message.replace("`", ".")):
        plan_from_json(text)


def test_nodes_that_share_cannot_make_a_plan_without_end() -> None:
    nodes: list[dict[str, Any]] = [{"is": "Literal", "value": 1}]
    nodes += [{"is": "Binary", "operator": "+", "left": i, "right": i} for i in range(60)]
    with pytest.raises(PlanError, match="at most"):
        plan_from_json(envelope(nodes=nodes, root=60))


def test_a_deep_plan_is_read_and_long_chains_run() -> None:
    with hoplite.open() as db:
        query = "RETURN " + " + ".join(["1"] * 5000) + " AS n"
        assert db.run_plan(db.explain(query, format="json")).data() == [{"n": 5000}]
        deep: pp.Plan = pp.Argument()
        for _ in range(20_000):
            deep = pp.Select(deep, ())
        with pytest.raises(ValueError, match="do not fit"):
            db.run_plan(plan_to_json(pp.Drain(deep), {}))


def test_sessions_and_transactions_run_plans_too() -> None:
    with hoplite.open() as db:
        creating = db.explain("CREATE (a:A {x: $x})", format="json")
        counting = db.explain("MATCH (a:A) RETURN count(*) AS n", format="json")
        with db.begin() as transaction:
            transaction.run_plan(creating, x=1)
            assert transaction.run_plan(counting).data() == [{"n": 1}]
            transaction.rollback()
        with db.session(read_only=True) as session:
            assert session.run_plan(counting).data() == [{"n": 0}]
            with pytest.raises(ClientError, match="not allowed"):
                session.run_plan(creating, x=1)
        with db.begin() as transaction:
            transaction.run("CREATE INDEX FOR (a:A) ON (a.x)")
            with pytest.raises(ClientError, match="Tried to execute Write query after"):
                transaction.run_plan(creating, x=1)
            with pytest.raises(TransactionError, match="Transaction failed"):
                transaction.run_plan(counting)


@pytest.mark.parametrize(
    ("query", "upper"),
    [
        ("MATCH (a)-->(b) RETURN b", 3),
        ("MATCH (a)-->(a) RETURN a", None),
        ("MATCH (a)-->()-->(b) RETURN DISTINCT b", 2),
        ("MATCH (a)-->() RETURN a, count(*)", None),
    ],
)
def test_lengths_that_an_operator_would_not_look_at_are_refused(query: str, upper: int | None) -> None:
    with hoplite.open() as db:
        plan = json.loads(db.explain(query, format="json"))
        (traversal, *_) = [node for node in plan["nodes"] if node["is"] == "Traversal"]
        traversal["upper"] = upper
        with pytest.raises(ValueError, match="cannot follow that many relationships"):
            db.run_plan(json.dumps(plan))


def test_every_operator_can_be_written() -> None:
    """The form is made for each node type: an annotation that nobody can write or read fails here."""
    assert len(form_digest()) == 12
    with pytest.raises(PlanError, match="needs the field"):
        for kind in get_args(pp.Plan):
            plan_from_json(envelope(nodes=[{"is": kind.__name__}]))


def test_commands_have_no_plan_and_formats_are_checked() -> None:
    with hoplite.open() as db:
        with pytest.raises(ClientError, match="A command as a plan"):
            db.explain("CREATE INDEX FOR (a:A) ON (a.x)", format="json")
        with pytest.raises(ValueError, match="'text' or 'json'"):
            db.explain("RETURN 1", format="yaml")  # type: ignore[arg-type]


def test_a_plan_may_do_what_a_statement_may() -> None:
    with hoplite.open() as writable:
        creating = writable.explain("CREATE (a:A {x: $x}) RETURN a.x AS x", format="json")
        calling = writable.explain("CALL db.createLabel('L')", format="json")
        with pytest.raises(ClientError, match="Expected parameter"):
            writable.run_plan(creating)
        result = writable.run_plan(creating, x=[1.5, -0.5])
        assert [record["x"] for record in result] == [[1.5, -0.5]]
        assert result.consume().counters.nodes_created == 1
    with hoplite.open(read_only=True) as db:
        for plan in (creating, calling):
            with pytest.raises(ClientError, match=r"(?i:read)"):
                db.run_plan(plan, x=1)


GRAPH = "CREATE (a:A {i: 1})-[:T]->(b:A {i: 2})-[:S]->(c:B {i: 3})-[:T]->(a), (b)-[:T]->(b), (:A {i: 4})"
MUTATED = (
    "MATCH (a:A {i: $i}) RETURN a.i + 1 AS x, labels(a) AS l",
    "UNWIND $is AS i MATCH (a:A {i: i})-[:T*1..3]->(b) RETURN count(DISTINCT b) AS n",
    "MATCH p = (a:A)-[r*1..2]-(b) WHERE b.i > 1 RETURN p, [x IN r | type(x)] AS types ORDER BY b.i SKIP 1 LIMIT 3",
    "MATCH (a:A)-[:T]-()-[:S]-(b) RETURN b.i AS k, count(DISTINCT a.i) AS n",
    "MATCH (a) OPTIONAL MATCH (a)-[r:S]->(b) RETURN a.i AS i, EXISTS { (b)-->(:A) } AS e, COUNT { (a)--() } AS n",
    "MATCH (a:A), (b:B) MATCH q = shortestPath((a)-[*]-(b)) RETURN length(q) AS n, a {.i, x: 1} AS m",
    "UNWIND range(1, 3) AS i CALL (i) { MERGE (m:M {k: i}) ON CREATE SET m.x = 1, m.y = 2 RETURN m } RETURN m.x AS x",
    "MATCH (a:A) SET a += {z: 1.5}, a:Z REMOVE a.i DETACH DELETE a",
    "FOREACH (x IN [1, 2] | CREATE (:K {k: x})-[:R]->(:K))",
    "MATCH (a) WITH a.i AS i, collect(a) AS all RETURN i, size(all) AS n UNION MATCH (a) RETURN a.i AS i, 1 AS n",
    "CALL db.labels() YIELD label RETURN CASE label WHEN 'A' THEN 1 ELSE label END AS l",
)
_VALUES: tuple[Any, ...] = (
    *(None, True, 0, 1, 7, -1, 2**70, 0.5, "", "a", "b", "x", "->"),
    *([], [0], ["a"], [["a", 0]], {}, {"float": "nan"}),
)


def mutated(plan: dict[str, Any], chance: random.Random) -> dict[str, Any]:
    changed = copy.deepcopy(plan)
    for _ in range(chance.choice((1, 1, 2))):
        nodes = changed["nodes"]
        node = chance.choice(nodes)
        name = chance.choice(list(node))
        match chance.randrange(6):
            case 0:
                node.pop(name)
            case 1:
                node[name] = chance.choice(_VALUES)
            case 2:
                node[name] = chance.choice(nodes).get(name, 1)
            case 3:
                other = chance.choice(nodes)
                node["is"], other["is"] = other.get("is"), node.get("is")
            case 4:
                node[name] = chance.randrange(len(nodes))
            case _:
                nodes[nodes.index(node)] = chance.choice(nodes)
    return changed


@pytest.mark.parametrize("query", MUTATED)
def test_damaged_plans_end_in_an_answer_or_an_error(query: str) -> None:
    chance = random.Random(query)
    parameters = {"i": 1, "is": [1, 2, None]}
    with hoplite.open(timeout=5) as db:
        db.run(GRAPH).consume()
        plan = json.loads(db.explain(query, parameters, format="json"))
        for _ in range(150):
            text = json.dumps(mutated(plan, chance))
            try:
                db.run_plan(text, parameters).data()
            except (ValueError, Neo4jError):
                continue
