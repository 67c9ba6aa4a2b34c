"""Small programs over the driver's API do the same on Hoplite and on a live Neo4j, to the class of every error.

They leave nothing behind: what they write is rolled back, fails, or is in a transaction that is never committed.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import neo4j
import pytest
from neo4j.exceptions import DriverError, Neo4jError

from hoplite import GraphDatabase

pytestmark = pytest.mark.neo4j

Program = Callable[[neo4j.Driver], Any]
PROGRAMS: dict[str, Program] = {}


def program(function: Program) -> Program:
    PROGRAMS[function.__name__] = function
    return function


def attempt(action: Callable[[], Any]) -> Any:
    """What an action returns, or its error as class, code and message."""
    try:
        return action()
    except Neo4jError as error:
        return type(error).__name__, error.code, error.message, error.gql_status
    except (DriverError, ValueError, TypeError, OverflowError) as error:
        return type(error).__name__, str(error).partition("transaction: ")[0]


def in_transaction(driver: neo4j.Driver, *queries: str) -> list[Any]:
    """The answers of some statements in one transaction that is rolled back."""
    with driver.session() as session, session.begin_transaction() as transaction:
        answers = [attempt(lambda query=query: transaction.run(query).values()) for query in queries]  # type: ignore[misc]
        transaction.rollback()
    return answers


@program
def errors_by_moment(driver: neo4j.Driver) -> Any:
    """Which errors are raised by `run`, and which with the rows."""
    moments = []
    for query in (
        "CREATE (n:X) RETURN 1 / 0",
        "CREATE (n:X {a: 1 / 0})",
        "UNWIND [1, 0] AS x RETURN 1 / x",
        "RETURN $missing",
        "CALL db.index.vector.queryNodes('nope', 1, [1.0])",
        "NONSENSE",
        "RETURN foo",
    ):
        with driver.session() as session:
            result = attempt(lambda query=query, session=session: session.run(query))  # type: ignore[misc]
            if isinstance(result, neo4j.Result):
                moments.append((query, "rows", attempt(result.consume)))
            else:
                moments.append((query, "run", result[:2]))
    return moments


@program
def read_only_sessions(driver: neo4j.Driver) -> Any:
    with driver.session(default_access_mode="READ") as session:
        queries = "CREATE (:X) RETURN 1", "CREATE (:X)", "MATCH (n:Nope) SET n.x = 1", "CREATE INDEX FOR (n:X) ON (n.y)"
        return [attempt(lambda query=query: session.run(query).consume()) for query in queries]  # type: ignore[misc]


@program
def databases_by_name(driver: neo4j.Driver) -> Any:
    found: list[tuple[Any, ...]] = []
    for name in ("neo4j", "NEO4J", "nope", "system"):
        for query in ("RETURN 1 AS x", "CALL db.labels()", "SHOW DATABASES YIELD name"):
            with driver.session(database=name) as session:
                found.append((name, query, attempt(lambda query=query, session=session: _ended(session.run(query)))))  # type: ignore[misc]
        with driver.session(database=name) as session:
            found.append((name, attempt(lambda session=session: session.begin_transaction().close())))  # type: ignore[misc]
    return [one for one in found if one[:2] != ("system", "CALL db.labels()")]


def _ended(result: neo4j.Result) -> Any:
    return len(result.fetch(5)), result.consume().database


@program
def transactions_after_an_error(driver: neo4j.Driver) -> Any:
    with driver.session() as session:
        transaction = session.begin_transaction()
        first = transaction.run("UNWIND range(1, 10) AS x RETURN x")
        steps = [first.peek(), transaction.run("RETURN 2 AS x").data()]
        steps += [attempt(lambda: transaction.run("RETURN 1 / 0").consume())]
        steps += [attempt(lambda: transaction.run("RETURN 1")), attempt(first.data), attempt(transaction.commit)]
        transaction.close()
        return [*steps, transaction.closed(), session.run("RETURN 1 AS x").data()]


@program
def results_out_of_scope(driver: neo4j.Driver) -> Any:
    with driver.session() as session:
        transaction = session.begin_transaction()
        result = transaction.run("RETURN 1 AS x")
        transaction.rollback()
        consumed = session.run("RETURN 1 AS x")
        consumed.consume()
        return attempt(result.data), result.closed(), attempt(consumed.data), consumed.closed(), list(consumed.keys())


@program
def transactions_that_took_too_long(driver: neo4j.Driver) -> Any:
    with driver.session() as session:
        outcomes = []
        for action in ("run", "commit"):
            transaction = session.begin_transaction(timeout=0.2)
            time.sleep(4)  # a server looks for such transactions every two seconds
            if action == "run":
                outcomes.append(attempt(lambda t=transaction: t.run("RETURN 1").consume()))  # type: ignore[misc]
            else:
                outcomes.append(attempt(transaction.commit))
            transaction.close()
        return outcomes


@program
def settings_that_are_refused(driver: neo4j.Driver) -> Any:
    return [
        attempt(lambda: driver.execute_query("RETURN 1", impersonated_user_="somebody")),
        attempt(lambda: driver.execute_query(neo4j.Query("RETURN 1", timeout=-1))),
        attempt(lambda: driver.execute_query("RETURN 1", routing_="x")),  # type: ignore[call-overload]
        attempt(lambda: driver.execute_query("RETURN $x", x=object())),
        attempt(lambda: driver.execute_query("RETURN $x", x=2**63)),
    ]


@program
def metadata_of_transactions(driver: neo4j.Driver) -> Any:
    with driver.session() as session, session.begin_transaction(metadata={"a": 1, "b": ["c"]}) as transaction:
        return transaction.run("CALL tx.getMetaData()").data()


@program
def outcomes_in_summaries(driver: neo4j.Driver) -> Any:
    seen = []
    with driver.session() as session:
        for query in (
            "RETURN 1 AS x",
            "UNWIND [] AS x RETURN x",
            "EXPLAIN RETURN 1",
            "EXPLAIN CREATE (:X)",
            "SHOW INDEXES",
        ):
            summary = session.run(query).consume()
            statuses = [(s.gql_status, s.status_description, s.diagnostic_record) for s in summary.gql_status_objects]
            seen.append((query, summary.query_type, summary.database, statuses, summary.counters.contains_updates))
    return seen


@program
def counters(driver: neo4j.Driver) -> Any:
    with driver.session() as session, session.begin_transaction() as transaction:
        summary = transaction.run("CREATE (a:A:B {x: 1})-[:R {y: 1}]->(b) SET b.z = 1 REMOVE a:B").consume()
        transaction.rollback()
        return sorted(vars(summary.counters).items()), summary.query_type


@program
def plans(driver: neo4j.Driver) -> Any:
    with driver.session() as session:
        plan = session.run("EXPLAIN MATCH (n) RETURN n.x AS x").consume().plan
        profile = session.run("PROFILE RETURN 1 AS x").consume().profile
    assert plan is not None
    assert profile is not None
    leaf = plan["children"][0]["children"][0]
    return (
        [
            plan["operatorType"],
            leaf["operatorType"],
            leaf["identifiers"],
            leaf["args"]["Details"],
            sorted(plan["args"]),
        ],
        [profile["operatorType"], profile["rows"], sorted(leaf), "children" in leaf],
    )


@program
def two_results_at_once(driver: neo4j.Driver) -> Any:
    return in_transaction(
        driver, "CREATE (a:X {x: 1}) RETURN a.x", "MATCH (a:X) RETURN count(a)", "RETURN 1 / 0", "RETURN 1"
    )


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_do_the_same(empty: neo4j.Driver, name: str) -> None:
    with GraphDatabase.driver("hoplite://memory", notifications_min_severity="OFF") as ours:
        assert PROGRAMS[name](ours) == PROGRAMS[name](empty)
