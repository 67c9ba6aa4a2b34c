"""What is said on the wire, message by message, as a Neo4j 5.26 says it."""

from __future__ import annotations

from typing import Any

import pytest

import hoplite
from hoplite.server import Served
from hoplite.server.packstream import Structure
from tests.server.wire import Wire

VERSIONS = [(5, minor) for minor in range(9)]
NEWEST = (5, 8)


@pytest.fixture
def wire(served: Served) -> Any:
    with Wire(served.port, NEWEST) as connection:
        connection.log_on(NEWEST)
        yield connection


def test_the_newest_version_of_a_range_is_chosen(served: Served) -> None:
    with Wire(served.port) as wire:
        assert wire.shake_hands(b"\x00\x08\x08\x05") == b"\x00\x00\x08\x05"


def test_an_offer_beyond_the_newest_reaches_back_to_it(served: Served) -> None:
    with Wire(served.port) as wire:
        assert wire.shake_hands(b"\x00\x00\x00\x06", b"\x00\x02\x09\x05") == b"\x00\x00\x08\x05"


@pytest.mark.parametrize("offer", [b"\x00\x00\x00\x03", b"\x00\x02\x04\x04", b"\x00\x00\x09\x05", b"\x00\x00\x00\x00"])
def test_other_versions_are_declined(served: Served, offer: bytes) -> None:
    with Wire(served.port) as wire:
        assert wire.shake_hands(offer) == b"\x00\x00\x00\x00"
        with pytest.raises(EOFError):
            wire.read(1)


def test_the_manifest_lists_the_versions(served: Served) -> None:
    with Wire(served.port) as wire:
        assert wire.shake_hands(b"\x00\x00\x01\xff", b"\x00\x08\x08\x05") == b"\x00\x00\x01\xff"
        assert wire.read(6) == b"\x01\x00\x08\x08\x05\x00"
        wire.socket.sendall(b"\x00\x00\x07\x05\x00")
        assert [name for name, _ in wire.log_on((5, 7))] == ["SUCCESS", "SUCCESS"]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_whole_exchange_in_every_version(served: Served, version: tuple[int, int]) -> None:
    with Wire(served.port, version) as wire:
        greeted = wire.log_on(version)
        assert all(name == "SUCCESS" for name, _ in greeted)
        assert greeted[0][1]["server"] == "Neo4j/5.26.12"
        name, begun = wire.ask("RUN", "MATCH (n:Nowhere) RETURN n", {}, {})
        assert begun["fields"] == ["n"] and ("db" in begun) == (version >= (5, 8))
        name, ended = wire.ask("PULL", {"n": -1})
        assert name == "SUCCESS" and ended["type"] == "r" and ended["db"] == "neo4j" and ended["bookmark"]
        if version >= (5, 5):
            assert [one["gql_status"] for one in ended["statuses"]] == ["02000", "01N50"]
            assert "diagnostic_record" not in ended["statuses"][0]
        else:
            (notification,) = ended["notifications"]
            assert notification["code"] == "Neo.ClientNotification.Statement.UnknownLabelWarning"
            assert notification["position"] == {"line": 1, "column": 10, "offset": 9}
        name, failure = wire.ask("RUN", "RETURN 1 +", {}, {})
        assert name == "FAILURE"
        assert failure["neo4j_code" if version >= (5, 7) else "code"] == "Neo.ClientError.Statement.SyntaxError"
        assert ("gql_status" in failure) == (version >= (5, 7))
        assert wire.ask("PULL", {"n": -1}) == ("IGNORED", None)
        assert wire.ask("RESET") == ("SUCCESS", {})


def test_rows_come_in_the_parts_that_are_asked_for(wire: Wire) -> None:
    wire.ask("RUN", "UNWIND range(1, 5) AS x RETURN x", {}, {})
    wire.send("PULL", {"n": 2})
    assert wire.replies() == [("RECORD", [1]), ("RECORD", [2]), ("SUCCESS", {"has_more": True})]
    assert wire.ask("DISCARD", {"n": 1}) == ("SUCCESS", {"has_more": True})
    wire.send("PULL", {"n": 2})
    *rows, (_, ended) = wire.replies()
    assert rows == [("RECORD", [4]), ("RECORD", [5])] and "has_more" not in ended


def test_rows_of_a_write_come_in_parts_as_well(wire: Wire) -> None:
    wire.ask("RUN", "UNWIND range(1, 5) AS x CREATE (n:T {x: x}) RETURN n.x", {}, {})
    assert wire.ask("DISCARD", {"n": 3}) == ("SUCCESS", {"has_more": True})
    wire.send("PULL", {"n": -1})
    *rows, (_, ended) = wire.replies()
    assert rows == [("RECORD", [4]), ("RECORD", [5])]
    assert ended["stats"]["nodes-created"] == 5


def test_results_of_a_transaction_are_told_apart(wire: Wire) -> None:
    assert wire.ask("BEGIN", {}) == ("SUCCESS", {"db": "neo4j"})
    assert wire.ask("RUN", "UNWIND [1, 2] AS x RETURN x", {}, {})[1]["qid"] == 0
    assert wire.ask("RUN", "UNWIND [3, 4] AS x RETURN x", {}, {})[1]["qid"] == 1
    wire.send("PULL", {"n": 1, "qid": 0})
    assert wire.replies()[0] == ("RECORD", [1])
    wire.send("PULL", {"n": -1})
    assert [row for _, row in wire.replies()[:-1]] == [[3], [4]]
    wire.send("PULL", {"n": -1, "qid": 0})
    assert wire.replies()[0] == ("RECORD", [2])
    name, ended = wire.ask("COMMIT")
    assert name == "SUCCESS" and set(ended) == {"bookmark"}


def test_results_are_numbered_anew_in_each_transaction(wire: Wire) -> None:
    for _ in range(2):
        wire.ask("BEGIN", {})
        assert [wire.ask("RUN", "RETURN 1", {}, {})[1]["qid"] for _ in range(2)] == [0, 1]
        wire.ask("COMMIT")


def test_a_transaction_may_be_committed_before_its_rows_are_read(wire: Wire) -> None:
    wire.ask("BEGIN", {})
    wire.ask("RUN", "UNWIND range(1, 5) AS x RETURN x", {}, {})
    assert wire.ask("COMMIT")[0] == "SUCCESS"


@pytest.mark.parametrize(
    ("messages", "state"),
    [
        ([("PULL", {"n": 1})], "READY"),
        ([("COMMIT",)], "READY"),
        ([("LOGON", {"scheme": "none"})], "READY"),
        ([("RUN", "RETURN 1", {}, {}), ("RUN", "RETURN 1", {}, {})], "AUTO_COMMIT"),
        ([("BEGIN", {}), ("BEGIN", {})], "IN_TRANSACTION"),
        ([("LOGOFF",), ("RUN", "RETURN 1", {}, {})], "AUTHENTICATION"),
    ],
)
def test_a_message_out_of_turn_ends_the_connection(wire: Wire, messages: list[Any], state: str) -> None:
    for message in messages:
        name, metadata = wire.ask(*message)
    assert name == "FAILURE" and metadata["neo4j_code"] == "Neo.ClientError.Request.Invalid"
    assert metadata["message"].endswith(f"cannot be handled by a session in the {state} state.")
    with pytest.raises(EOFError):
        wire.reply()


@pytest.mark.parametrize(
    "message",
    [
        ("RUN", "RETURN 1"),
        ("RUN", 1, {}, {}),
        ("RUN", "RETURN 1", [1], {}),
        ("RUN", "RETURN 1", {}, {"mode": "x"}),
        ("RUN", "RETURN 1", {}, {"tx_timeout": "soon"}),
        ("RUN", "RETURN 1", {}, {"notifications_minimum_severity": "HUH"}),
        ("RUN", "RETURN $x", {"x": Structure(0x4E, (1, [], {}, "4:a:1"))}, {}),
        ("RUN", "RETURN $x", {"x": [Structure(ord("i"), (1, 0, "Nope/Zone"))]}, {}),
        ("RUN", "RETURN $x", {"x": {"k": Structure(ord("X"), (4326, 1.0, 200.0))}}, {}),
        ("RUN", "RETURN 1", {}, {"imp_user": "joe"}),
        ("RUN", "RETURN 1", {}, {"db": "nope"}),
        ("BEGIN", {"bookmarks": 1}),
        ("TELEMETRY", 99),
    ],
)
def test_a_message_that_cannot_be_understood_is_refused_until_a_reset(wire: Wire, message: Any) -> None:
    name, metadata = wire.ask(*message)
    assert name == "FAILURE" and metadata["neo4j_code"].startswith("Neo.ClientError.")
    assert wire.ask("RUN", "RETURN 1", {}, {}) == ("IGNORED", None)
    assert wire.ask("RESET") == ("SUCCESS", {})
    wire.ask("RUN", "RETURN 1", {}, {})
    wire.send("PULL", {"n": -1})
    assert wire.replies()[0] == ("RECORD", [1])


@pytest.mark.parametrize("extra", [{}, {"n": 0}, {"n": -2}, {"n": "1"}, {"n": 1, "qid": 7}])
def test_a_pull_says_how_much_of_what(wire: Wire, extra: dict[str, Any]) -> None:
    wire.ask("BEGIN", {})
    wire.ask("RUN", "RETURN 1", {}, {})
    assert wire.ask("PULL", extra)[0] == "FAILURE"
    assert wire.ask("RESET") == ("SUCCESS", {})


def test_routes_lead_here(wire: Wire) -> None:
    _, metadata = wire.ask("ROUTE", {"address": "localhost:7687"}, [], {})
    table = metadata["rt"]
    assert table["db"] == "neo4j" and table["ttl"] == 300
    assert {server["role"] for server in table["servers"]} == {"READ", "WRITE", "ROUTE"}
    assert all(server["addresses"] == ["localhost:7687"] for server in table["servers"])
    assert wire.ask("ROUTE", {}, [], {"db": "nope"})[0] == "FAILURE"


def test_notifications_are_sent_as_they_are_wanted(wire: Wire) -> None:
    for extra in (
        {"notifications_minimum_severity": "OFF"},
        {"notifications_disabled_classifications": ["UNRECOGNIZED"]},
    ):
        wire.ask("RUN", "MATCH (n:Nope) RETURN n", {}, extra)
        assert [one["gql_status"] for one in wire.ask("PULL", {"n": -1})[1]["statuses"]] == ["02000"]


def test_someone_else_may_log_on(wire: Wire) -> None:
    assert wire.ask("LOGOFF") == ("SUCCESS", {})
    assert wire.ask("LOGON", {"scheme": "basic", "principal": "x", "credentials": "y"})[0] == "SUCCESS"
    assert wire.ask("TELEMETRY", 1) == ("SUCCESS", {})


def test_goodbye_ends_the_connection(wire: Wire) -> None:
    wire.send("GOODBYE")
    with pytest.raises(EOFError):
        wire.reply()


def test_an_error_names_its_causes(wire: Wire) -> None:
    _, metadata = wire.ask("RUN", "RETURN $x AS x", {}, {"imp_user": "joe"})
    assert metadata["gql_status"] == "51N30"
    assert metadata["diagnostic_record"] == {"_classification": "CLIENT_ERROR"}
    wire.ask("RESET")
    _, metadata = wire.ask("RUN", "RETURN toBoolean(1.5)", {}, {})
    name, metadata = wire.ask("PULL", {"n": -1}) if _ == "SUCCESS" else (_, metadata)
    assert name == "FAILURE" and metadata["gql_status"]


def test_a_reset_cancels_what_is_running(wire: Wire) -> None:
    wire.send("RUN", "UNWIND range(1, 100000000) AS x WITH x WHERE x % 2 = 3 RETURN count(x)", {}, {})
    wire.send("PULL", {"n": -1})
    wire.send("RESET")
    names = [wire.reply()[0] for _ in range(3)]
    assert names[-1] == "SUCCESS" and names[-2] in ("IGNORED", "FAILURE")
    wire.ask("RUN", "RETURN 1", {}, {})
    wire.send("PULL", {"n": -1})
    assert wire.replies()[0] == ("RECORD", [1])


@pytest.mark.parametrize("messages", [[], [("BEGIN", {})]], ids=["alone", "in a transaction"])
def test_a_reset_cancels_what_waits_for_its_turn_to_write(
    wire: Wire, database: hoplite.Database, messages: list[tuple[Any, ...]]
) -> None:
    with database.begin() as writing:
        writing.run("CREATE (:Held)")
        for message in messages:
            wire.ask(*message)
        wire.send("RUN", "CREATE (:Waits)", {}, {})
        wire.send("RESET")
        name, metadata = wire.reply()
        assert name == "IGNORED" or metadata["neo4j_code"] == "Neo.ClientError.Transaction.TransactionTerminated"
        assert wire.reply()[0] == "SUCCESS"
        writing.commit()
    assert database.run("MATCH (n) RETURN labels(n)").values() == [[["Held"]]]


@pytest.mark.parametrize(
    ("query", "messages", "outcome"),
    [
        ("UNWIND [1, 2, 3] AS x RETURN x", [("DISCARD", -1)], "02N42"),
        ("UNWIND [] AS x RETURN x", [("DISCARD", -1)], "02N42"),
        ("UNWIND [] AS x RETURN x", [("DISCARD", 1)], "02000"),
        ("UNWIND [1, 2, 3] AS x RETURN x", [("DISCARD", 1), ("DISCARD", -1)], "00000"),
        ("UNWIND [1, 2, 3] AS x RETURN x", [("DISCARD", 9)], "00000"),
        ("UNWIND [1, 2, 3] AS x RETURN x", [("PULL", 1), ("DISCARD", -1)], "00000"),
        ("UNWIND [1, 2] AS x CREATE (n {x: x}) RETURN n.x", [("DISCARD", -1)], "00000"),
        ("MATCH (n:Nothing) CREATE (m) RETURN m", [("DISCARD", -1)], "02000"),
        ("CREATE ()", [("DISCARD", -1)], "00001"),
        ("EXPLAIN RETURN 1", [("DISCARD", -1)], "00001"),
        ("SHOW DATABASES YIELD name", [("DISCARD", -1)], "00000"),
        ("SHOW DATABASES YIELD name WHERE name = 'x'", [("PULL", -1)], "00000"),
    ],
)
def test_what_was_discarded_unread_is_not_known(
    wire: Wire, query: str, messages: list[tuple[str, int]], outcome: str
) -> None:
    wire.ask("RUN", query, {}, {})
    for name, count in messages:
        wire.send(name, {"n": count})
        replies = wire.replies()
    statuses = [one for one in replies[-1][1]["statuses"] if "neo4j_code" not in one]
    assert [one["gql_status"] for one in statuses] == [outcome]
    assert replies[-1][1]["type"] == ("s" if query.startswith("SHOW") else replies[-1][1]["type"])


def test_statements_on_the_system_database_administer(wire: Wire) -> None:
    for query, message in (("SHOW DATABASES YIELD name", "DISCARD"), ("SHOW FUNCTIONS YIELD name LIMIT 0", "PULL")):
        assert "db" not in wire.ask("RUN", query, {}, {"db": "system"})[1]
        _, metadata = wire.ask(message, {"n": -1})
        assert message == "PULL" or metadata["type"] == "s"
        assert metadata["statuses"] == [{"gql_status": "00000", "status_description": "note: successful completion"}]


def test_an_error_in_the_next_row_waits_until_it_is_asked_for(wire: Wire) -> None:
    query = "UNWIND [1, 0] AS x RETURN 1 / x"
    for message in ("PULL", "DISCARD"):
        wire.ask("RUN", query, {}, {})
        wire.send(message, {"n": 1})
        assert wire.replies()[-1] == ("SUCCESS", {"has_more": True})
        assert wire.ask("PULL", {"n": 1})[1]["neo4j_code"] == "Neo.ClientError.Statement.ArithmeticError"
        wire.ask("RESET")
    wire.ask("BEGIN", {})
    wire.ask("RUN", query, {}, {})
    wire.send("PULL", {"n": 1})
    wire.replies()
    assert wire.ask("RUN", "CREATE (:Kept)", {}, {})[0] == "SUCCESS"
    assert wire.ask("PULL", {"n": -1})[0] == wire.ask("COMMIT")[0] == "SUCCESS"


def test_the_database_is_told_to_those_who_did_not_name_it(wire: Wire) -> None:
    for extra in ({}, {"db": None}, {"db": "neo4j"}):
        told = not extra.get("db")
        assert ("db" in wire.ask("RUN", "RETURN 1", {}, extra)[1]) is told
        wire.send("PULL", {"n": -1})
        wire.replies()
        assert ("db" in wire.ask("BEGIN", extra)[1]) is told
        wire.ask("ROLLBACK")


def _causes(metadata: dict[str, Any]) -> list[str]:
    found = [metadata["gql_status"]]
    while metadata := metadata.get("cause", {}):
        found.append(metadata["message"])
    return found


_VALUES = [True, 1.5, b"a\xff", {"k": None}]
_SHOWN = "List{Boolean('true'), Double(1.500000e+00), ByteArray[97, -1], Map{k -> NO_VALUE}}"


@pytest.mark.parametrize(
    ("extra", "said", "value", "wanted", "kind"),
    [
        ({"db": 3}, "Expected string", "Long(3)", "STRING", "Long"),
        ({"mode": 3}, "Expected string", "Long(3)", "STRING", "Long"),
        ({"tx_timeout": "x"}, "Expected long", 'String("x")', "LONG", "String"),
        ({"tx_metadata": _VALUES}, "Expected dictionary", _SHOWN, "MAP", "List"),
        ({"bookmarks": ["a", 1]}, "Expected list of strings", "", "LIST<STRING>", "Long"),
        ({"bookmarks": "a"}, "Expected list", 'String("a")', "list", "String"),
        ({"notifications_minimum_severity": 3}, "Required to be a String", "Long(3)", "String", "Long"),
        ({"notifications_disabled_classifications": {}}, "a List::String", "Map{}", "LIST<STRING>", "Map"),
    ],
)
def test_what_type_an_entry_should_have_is_said(
    wire: Wire, extra: dict[str, Any], said: str, value: str, wanted: str, kind: str
) -> None:
    name, metadata = wire.ask("RUN", "RETURN 1", {}, extra)
    assert name == "FAILURE" and metadata["message"].endswith(said)
    assert _causes(metadata) == [
        "08N06",
        "08N06: General network protocol error.",
        "22G03",
        f"22N01: Expected the value {value} to be of type {wanted}, but was of type {kind}.",
    ]


@pytest.mark.parametrize(
    ("extra", "last"),
    [
        ({"mode": "W"}, "Invalid input 'W' for access mode value. Expected 'r' or 'w'."),
        (
            {"notifications_minimum_severity": "x"},
            "Invalid input 'x' for NotificationConfig minimumSeverity. Expected 'INFORMATION', 'WARNING' or 'NONE'.",
        ),
        (
            {"notifications_disabled_classifications": ["HINT", "x"]},
            "Invalid input 'x' for NotificationConfig category. Expected 'HINT', 'UNRECOGNIZED', 'UNSUPPORTED', "
            "'PERFORMANCE', 'DEPRECATION', 'GENERIC', 'SECURITY', 'TOPOLOGY' or 'SCHEMA'.",
        ),
    ],
)
def test_what_an_entry_may_be_is_said(wire: Wire, extra: dict[str, Any], last: str) -> None:
    name, metadata = wire.ask("RUN", "RETURN 1", {}, extra)
    assert name == "FAILURE" and metadata["message"].startswith('Illegal value for field "metadata"')
    assert _causes(metadata) == ["08N06", "08N06: General network protocol error.", f"22N04: {last}"]


@pytest.mark.parametrize(
    "extra",
    [{"notifications_minimum_severity": "warning"}, {"bookmarks": [None]}, {"notifications_disabled_categories": 3}],
)
def test_what_a_server_lets_pass(wire: Wire, extra: dict[str, Any]) -> None:
    assert wire.ask("RUN", "RETURN 1", {}, extra)[0] == "SUCCESS"
    assert wire.ask("PULL", {"n": -1, "qid": None})[0] == "RECORD"


def test_a_route_to_what_does_not_exist(wire: Wire) -> None:
    name, metadata = wire.ask("ROUTE", {}, [], {"db": "Nope"})
    assert name == "FAILURE" and metadata["message"].startswith("Unable to get a routing table for database 'Nope'")


def test_the_end_of_a_result_is_in_the_order_of_a_server(wire: Wire) -> None:
    wire.ask("RUN", "MATCH (n:Nope) RETURN n", {}, {})
    _, metadata = wire.ask("PULL", {"n": -1})
    assert list(metadata) == ["bookmark", "statuses", "type", "t_last", "db"]
    (notification,) = (one for one in metadata["statuses"] if "neo4j_code" in one)
    assert list(notification) == [
        "gql_status", "neo4j_code", "status_description", "diagnostic_record", "description", "title",
    ]  # fmt: skip
