"""Errors: what the driver makes of them, and the GQL status objects that they carry."""

from __future__ import annotations

import pickle

import neo4j
import pytest
from neo4j.exceptions import CypherSyntaxError, CypherTypeError, GqlError, Neo4jError

from hoplite.errors import CypherError, cypher_error
from hoplite.gql_status import because

_RECORD = {"OPERATION": "", "OPERATION_CODE": "0", "CURRENT_SCHEMA": "/"}
_POSITION = {"line": 1, "column": 12, "offset": 11}


def _failure(driver: neo4j.Driver, query: str, **parameters: object) -> Neo4jError:
    with driver.session() as session, pytest.raises(Neo4jError) as raised:
        session.run(query, parameters).consume()
    return raised.value


def test_every_link_of_the_chain_has_its_record(driver: neo4j.Driver) -> None:
    error = _failure(driver, "RETURN NOT 1")
    assert isinstance(error, CypherSyntaxError)
    assert (error.gql_status, error.gql_raw_classification) == ("42001", "CLIENT_ERROR")
    assert error.gql_status_description == "error: syntax error or access rule violation - invalid syntax"
    assert error.diagnostic_record == {**_RECORD, "_classification": "CLIENT_ERROR", "_position": _POSITION}
    cause = error.__cause__
    assert isinstance(cause, GqlError)
    assert cause.gql_status == "22NB1"
    assert cause.message == "22NB1: Type mismatch: expected to be Boolean but was 'Integer'."
    assert cause.gql_status_description == f"error: data exception - type mismatch. {cause.message[7:]}"
    assert cause.diagnostic_record == error.diagnostic_record
    assert cause.__cause__ is None
    assert error.find_by_gql_status("22NB1") is cause


def test_a_status_for_all_kinds_of_errors_has_no_classification(driver: neo4j.Driver) -> None:
    error = _failure(driver, "RETURN $p.x", p=1.5)
    assert isinstance(error, CypherTypeError)
    assert (error.gql_status, error.gql_raw_classification) == ("22G03", None)
    assert error.diagnostic_record == _RECORD
    cause = error.__cause__
    assert isinstance(cause, GqlError)
    assert cause.diagnostic_record == {**_RECORD, "_classification": "CLIENT_ERROR"}


def test_an_unclassified_error_has_neither_place_nor_cause(driver: neo4j.Driver) -> None:
    error = _failure(driver, "RETURN x")
    assert "(line 1, column 8 (offset: 7))" in (error.message or "")
    assert (error.gql_status, error.diagnostic_record) == ("50N42", _RECORD)
    assert error.__cause__ is None


def test_an_error_travels_between_processes_with_its_status() -> None:
    error = cypher_error("Neo.ClientError.Statement.TypeError", "no", because("22N01", "1", "MAP", "INTEGER NOT NULL"))
    copy = pickle.loads(pickle.dumps(error))
    assert isinstance(copy, CypherError)
    assert copy.gql_status == error.gql_status


@pytest.mark.parametrize("call", ["apoc.meta.data()", "apoc.trigger.list()", "db.createLabel('A')"])
def test_the_system_database_refuses_procedures_of_other_databases(driver: neo4j.Driver, call: str) -> None:
    text = f"CALL {call}"
    with driver.session(database="system") as session, pytest.raises(Neo4jError) as raised:
        session.run(text).consume()
    assert raised.value.code == "Neo.ClientError.Statement.SemanticError"
    assert (raised.value.message or "").endswith(f"can only be executed in a user database: {text}")


def test_procedures_about_data_find_nothing_in_the_system_database(driver: neo4j.Driver) -> None:
    for call in ("db.stats.collect('x')", "db.schema.visualization()", "db.index.fulltext.queryNodes('x', 'x')"):
        assert driver.execute_query(f"CALL {call}", database_="system").records == []
    (record,) = driver.execute_query("CALL db.info()", database_="system").records
    assert record["name"] == "system"


def test_upgrades_belong_to_the_system_database(driver: neo4j.Driver) -> None:
    (record,) = driver.execute_query("CALL dbms.upgrade()", database_="system").records
    assert tuple(record) == ("CURRENT", "nothing to do")
    (record,) = driver.execute_query("CALL dbms.upgradeStatus()", database_="system").records
    assert tuple(record) == ("CURRENT", "The sub-graph is already at the current version", "nothing to do")
    with pytest.raises(Neo4jError, match=r"it should be executed against the system database: dbms\.upgrade") as raised:
        driver.execute_query("CALL dbms.upgrade()")
    assert raised.value.code == "Neo.ClientError.Procedure.ProcedureCallFailed"


def test_the_system_database_refuses_triggers_as_others_do(driver: neo4j.Driver) -> None:
    with pytest.raises(Neo4jError, match="Triggers have not been enabled"):
        driver.execute_query("CALL apoc.trigger.install('neo4j', 'a', 'RETURN 1', {})", database_="system")


@pytest.mark.parametrize(
    "text",
    [
        "CREATE (:A)",
        "CREATE INDEX FOR (n:A) ON (n.x)",
        "CALL apoc.cypher.doIt('CREATE (:A)', {})",
        "CALL db.createLabel('A')",
    ],
)
def test_nothing_is_written_to_the_system_database(driver: neo4j.Driver, text: str) -> None:
    refused = "user database|unsupported clauses"
    with pytest.raises(Neo4jError, match=refused):
        driver.execute_query(text, database_="system")
    with driver.session(database="system") as session, pytest.raises(Neo4jError, match=refused):
        session.begin_transaction().run(text).consume()


def test_the_system_database_names_the_clauses_that_it_refuses(driver: neo4j.Driver) -> None:
    with driver.session(database="system") as session, pytest.raises(Neo4jError) as raised:
        session.run("MATCH (n) SET n.x = 1 RETURN n").consume()
    assert (raised.value.message or "").startswith("The following unsupported clauses were used: MATCH, SET. \n")
    cause = raised.value.find_by_gql_status("42N17")
    assert cause is not None
    assert cause.message == "42N17: 'MATCH, SET' is not allowed on the system database."
