"""Summaries: counters, types, plans, notifications and their filters."""

from __future__ import annotations

from typing import Any

import neo4j
import pytest

from hoplite import GraphDatabase

pytestmark = pytest.mark.filterwarnings("ignore:.*preview feature")  # status objects were one up to version 5


def _summary(driver: neo4j.Driver, query: str, **settings: Any) -> neo4j.ResultSummary:
    with driver.session(**settings) as session:
        return session.run(query, x=1).consume()


def test_counters(driver: neo4j.Driver) -> None:
    counters = _summary(driver, "CREATE (a:A:B {x: 1})-[:R {y: 1}]->(b) SET b.z = 1").counters
    assert (counters.nodes_created, counters.relationships_created) == (2, 1)
    assert (counters.labels_added, counters.properties_set) == (2, 3)
    assert counters.contains_updates
    assert not counters.contains_system_updates
    assert not _summary(driver, "MATCH (n) RETURN n").counters.contains_updates
    assert _summary(driver, "CREATE INDEX FOR (a:A) ON (a.x)").counters.indexes_added == 1


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("RETURN 1", "r"),
        ("CREATE (:A)", "w"),
        ("CREATE (a:A) RETURN a", "rw"),
        ("CREATE INDEX FOR (a:A) ON (a.x)", "s"),
        ("SHOW INDEXES", "r"),
        ("CALL db.labels()", "r"),
    ],
)
def test_query_types(driver: neo4j.Driver, query: str, kind: str) -> None:
    assert _summary(driver, query).query_type == kind


def test_everything_else(driver: neo4j.Driver) -> None:
    summary = _summary(driver, "RETURN $x AS y")
    assert summary.query == "RETURN $x AS y"
    assert summary.parameters == {"x": 1}
    assert summary.database == "neo4j"
    assert summary.server.agent == "Neo4j/5.26.12"
    assert isinstance(summary.result_available_after, int)
    assert isinstance(summary.result_consumed_after, int)
    assert summary.plan is None
    assert summary.profile is None


def test_outcomes(driver: neo4j.Driver) -> None:
    def outcome(query: str) -> str:
        return _summary(driver, query).gql_status_objects[0].gql_status

    assert outcome("RETURN 1") == "00000"
    assert outcome("UNWIND [] AS x RETURN x") == "02000"
    assert outcome("CREATE (:A)") == "00001"
    assert outcome("EXPLAIN RETURN 1") == "00001"


def _operators(plan: dict[str, Any]) -> list[str]:
    return [plan["operatorType"]] + [name for child in plan.get("children", ()) for name in _operators(child)]


def test_explain(driver: neo4j.Driver) -> None:
    driver.execute_query("UNWIND range(1, 3) AS i CREATE (:A {x: i})-[:R]->(:B)")
    records, summary, keys = driver.execute_query("EXPLAIN MATCH (a:A)-[r:R]->(b) WHERE a.x > 1 RETURN a.x AS x")
    assert (records, list(keys)) == ([], ["x"])
    plan = summary.plan
    assert plan is not None
    assert summary.profile is None
    assert _operators(plan)[0] == "ProduceResults@neo4j"
    assert {"Expand(All)@neo4j", "NodeByLabelScan@neo4j"} <= set(_operators(plan))
    arguments = plan["args"]
    assert arguments["planner"] == "COST"
    assert arguments["runtime-version"] == "5.26"
    assert "+NodeByLabelScan" in arguments["string-representation"]
    assert "x" in plan["identifiers"]
    leaf = plan
    while "children" in leaf:
        assert {"Details", "EstimatedRows", "Id"} <= leaf["args"].keys()
        leaf = leaf["children"][0]
    assert leaf["operatorType"] == "NodeByLabelScan@neo4j"


def test_profile(driver: neo4j.Driver) -> None:
    driver.execute_query("UNWIND range(1, 3) AS i CREATE (:A {x: i})-[:R]->(:B)")
    records, summary, _ = driver.execute_query(
        "PROFILE MATCH (a:A)-[r:R]->(b) WHERE EXISTS {(b)<--(:A)} RETURN a.x AS x"
    )
    assert len(records) == 3
    profile = summary.profile
    assert profile is not None
    assert summary.plan is None
    assert profile["rows"] == profile["args"]["Rows"] == 3
    assert {"dbHits", "pageCacheHits", "pageCacheMisses", "pageCacheHitRatio"} <= profile.keys()
    assert "Total database accesses:" in profile["args"]["string-representation"]
    written = driver.execute_query("PROFILE CREATE (n:C) RETURN n").summary
    assert written.profile is not None
    assert written.counters.nodes_created == 1


WARNING = "MATCH (n:Missing) RETURN n"
INFORMATION = "MATCH (a), (b) RETURN a"


def _notified(summary: neo4j.ResultSummary) -> list[str]:
    return [status.gql_status for status in summary.gql_status_objects if status.is_notification]


def test_notifications(driver: neo4j.Driver) -> None:
    (status,) = [s for s in _summary(driver, WARNING).gql_status_objects if s.is_notification]
    assert status.gql_status == "01N50"
    assert (status.raw_severity, status.raw_classification) == ("WARNING", "UNRECOGNIZED")
    assert status.position is not None
    assert (status.position.line, status.position.column, status.position.offset) == (1, 10, 9)
    assert _notified(_summary(driver, INFORMATION)) == ["03N90"]


@pytest.mark.parametrize(
    ("settings", "warned", "informed"),
    [
        ({"notifications_min_severity": "OFF"}, False, False),
        ({"notifications_min_severity": neo4j.NotificationMinimumSeverity.WARNING}, True, False),
        ({"notifications_min_severity": "INFORMATION"}, True, True),
        ({"notifications_disabled_classifications": ["UNRECOGNIZED"]}, False, True),
        (
            {"notifications_disabled_classifications": ["PERFORMANCE"]},
            True,
            False,
        ),
    ],
)
def test_filters_of_sessions_and_drivers(
    driver: neo4j.Driver, settings: dict[str, Any], warned: bool, informed: bool
) -> None:
    assert bool(_notified(_summary(driver, WARNING, **settings))) is warned
    assert bool(_notified(_summary(driver, INFORMATION, **settings))) is informed
    with GraphDatabase.driver("hoplite://memory", **settings) as other:
        assert bool(_notified(other.execute_query(WARNING).summary)) is warned
        assert bool(_notified(other.execute_query(INFORMATION).summary)) is informed
        assert _notified(_summary(other, WARNING, notifications_min_severity="OFF")) == []
