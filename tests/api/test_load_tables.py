"""`db.load`: column names for each table, rows that are left out, constraints that are reported."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from neo4j.exceptions import ClientError, ConstraintError

import hoplite
from hoplite.engine.hops import select

DRUGS = {"drugbank": ["a", "b"], "name": ["Aspirin", "Bupropion"]}
DISEASES = {"id": [1, 2]}
TREATS = {"drug": ["a", "b"], "disease": [1, 2], "start": ["x", "y"]}
PATTERN = ("Drug", "TREATS", "Disease")


def test_each_table_has_names_of_its_own() -> None:
    with hoplite.open() as db:
        calls: list[tuple[int, int | None]] = []
        made = db.load(
            {"Drug": DRUGS, ("Disease", "Thing"): DISEASES},
            {PATTERN: TREATS},
            key={"Drug": "drugbank"},
            start={PATTERN: "drug"},
            end="disease",
            progress=lambda done, total: calls.append((done, total)),
        )
        assert made == {"nodes": 4, "relationships": 2}
        assert made.constraints == (("Drug", "drugbank"), ("Disease", "id"))
        assert repr(made).endswith(", unique (:Drug {drugbank}), unique (:Disease {id})>")
        assert calls == [(1, 3), (2, 3), (3, 3)]
        rows = db.run("MATCH (d)-[r]->(x) RETURN d.name, x.id, properties(r) ORDER BY x.id").values()
        assert rows == [["Aspirin", 1, {"start": "x"}], ["Bupropion", 2, {"start": "y"}]]


@pytest.mark.parametrize("names", [{"key": {"Drugs": "x"}}, {"start": {("Drug", "TREAT", "Disease"): "x"}}])
def test_a_name_for_no_table_is_an_error(names: dict[str, Any]) -> None:
    with hoplite.open() as db, pytest.raises(ClientError, match="no such table"):
        db.load({"Drug": DRUGS}, key=names.get("key", "drugbank"), start=names.get("start", "start"))


def test_constraints_are_made_only_where_they_are_wanted() -> None:
    with hoplite.open() as db:
        assert db.load({"A": {"id": [1, 1]}}, unique=False).constraints == ()
        assert db.load({"B": {"x": [1, None]}}, key=None).constraints == ()
        assert db.run("SHOW CONSTRAINTS").data() == []
        assert db.run("MATCH (n) RETURN count(n)").value() == [4]
        db.load({"C": {"id": [1]}})
        assert db.load({"C": {"id": [2]}}).constraints == ()


def test_rows_that_cannot_be_loaded_are_left_out_where_that_is_asked_for() -> None:
    nodes: Any = {"N": {"id": [1, None, 2, 1, 7], "name": ["a", "b", "c", "d", "e"]}}
    ends = {("N", "R", "N"): {"start": [1, 2, 9, 8], "end": [2, 9, 1, 8], "w": [1, 2, 3, 4]}}
    with hoplite.open() as db:
        db.load({"N": {"id": [7]}})
        with pytest.raises(ClientError, match="row 1: the key 'id' is null"):
            db.load(nodes, ends)
        made = db.load(nodes, ends, on_error="report")
        assert (made["nodes"], made["relationships"], made["skipped"]) == (2, 1, 6)
        assert made["problems"] == [
            "nodes['N'], row 1: the key 'id' is null",
            "nodes['N'], row 3: there is another node with label 'N' and 'id' = 1",
            "nodes['N'], row 4: there is another node with label 'N' and 'id' = 7",
            "relationships[(N)-[R]->(N)], row 2: start: no node with label 'N' has 'id' = 9",
            "relationships[(N)-[R]->(N)], row 3: start: no node with label 'N' has 'id' = 8",
            "relationships[(N)-[R]->(N)], row 1: end: no node with label 'N' has 'id' = 9",
        ]
        assert db.run("MATCH (n:N) RETURN n.id, n.name ORDER BY n.id").values() == [[1, "a"], [2, "c"], [7, None]]
        assert db.run("MATCH (a)-[r:R]->(b) RETURN a.id, r.w, b.id").values() == [[1, 1, 2]]
        assert "problems" not in db.load(nodes, on_error="skip")


def test_other_constraints_are_not_mistaken_for_keys() -> None:
    table = {"id": [1, 1, 2], "mail": ["a", "b", "a"]}
    for named, message in [({"unique": False}, "`mail` = 'a'"), ({"on_error": "skip"}, "`mail` = 'a'")]:
        with hoplite.open() as db:
            db.run("CREATE CONSTRAINT FOR (p:P) REQUIRE p.mail IS UNIQUE").consume()
            arguments: Any = named
            with pytest.raises(ConstraintError) as caught:
                db.load({"P": table}, **arguments)
            assert message in str(caught.value.message)
    with hoplite.open() as db:
        db.run("CREATE CONSTRAINT FOR (p:P) REQUIRE p.id IS UNIQUE").consume()
        with pytest.raises(ConstraintError, match=r"row 1: a node with label 'P' and 'id' = 1 is also in"):
            db.load({"P": table})


ENDS = {"start": [1], "end": [1]}


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1, 2],), "nodes must map labels to tables, as in {'Person': people}; not a value of type list"),
        ((pd.DataFrame({"id": [1]}),), "nodes must map labels to tables"),
        (({"": DISEASES},), "A table of nodes needs a label, or a tuple of labels, none of them empty; not ''"),
        (({(): DISEASES},), "needs a label"),
        (({1: DISEASES},), "needs a label"),
        (({}, [1]), "relationships must map patterns to tables"),
        (({}, pd.DataFrame({"id": [1]})), "relationships must map patterns to tables"),
        (({}, {("A", "R"): ENDS}), "needs a label, a type and a label, as in ('Person', 'KNOWS', 'Person'); not"),
        (({}, {("A", "", "A"): ENDS}), "not ('A', '', 'A')"),
        (({}, {"R": ENDS}), "not 'R'"),
        (({"A": DISEASES}, None, ["id"]), "key must be the name of a column, or map each table to one"),
        (({"A": DISEASES}, None, ""), "key must be the name of a column"),
        (({"A": [1, 2]},), "nodes['A']: expected a table, not list"),
        (
            ({"A": DISEASES}, {("A", "R", "A"): ENDS}, None),
            "relationships[(A)-[R]->(A)]: the nodes with label 'A' can only be found by a key; name it, as in key='id'",
        ),
    ],
)
def test_arguments_of_another_shape_are_explained(arguments: Any, message: str) -> None:
    with hoplite.open() as db, pytest.raises(ClientError) as caught:
        db.load(*arguments)
    assert message in str(caught.value.message)


@pytest.mark.parametrize("ids", [[1, 2, 3], [1, 2, 5_000_000], [3, 1, 2], [1.0, 2.0, 3.5]])
@pytest.mark.parametrize(
    "starts",
    [
        pd.DataFrame({"start": [1, None, 2], "end": [2, 1, 1]}),
        {"start": [1.0, 1.5, 2.0], "end": [2, 1, 1]},
        {"start": np.array([1, np.inf, 2]), "end": [2, 1, 1]},
        {"start": np.array([1, 2.0**63, 2]), "end": [2, 1, 1]},
        {"start": [1, "x", 2.0], "end": [2, 1, 1]},
    ],
)
def test_floats_are_the_keys_that_they_equal(ids: list[float], starts: Any) -> None:
    with hoplite.open() as db:
        db.load({"N": {"id": ids}})
        made = db.load({}, {("N", "R", "N"): starts}, on_error="report")
        assert made["skipped"] == 1 and "row 1: start: " in made["problems"][0]
        assert db.run("MATCH (a)-[:R]->(b) RETURN a.id, b.id ORDER BY a.id").values() == [[1, 2], [2, 1]]
        again = db.load({"N": {"id": np.array(ids[:1], np.float64)}}, on_error="report")
        assert again["nodes"] == 0 and again["skipped"] == 1


def test_texts_among_others_are_found() -> None:
    with hoplite.open() as db:
        names = [f"n{place}" for place in range(20_000)]
        db.load({"N": {"id": names}})
        ends: Any = {"start": ["n1", 2, "n3"], "end": ["n2", "n2", "n4"]}
        made = db.load({}, {("N", "R", "N"): ends}, on_error="report")
        assert made["relationships"] == 2
        assert made["problems"] == [
            "relationships[(N)-[R]->(N)], row 1: start: no node with label 'N' has 'id' = 2, which is an integer;"
            " the values of these nodes are of the type text"
        ]


def test_compiled_loops_begin_to_load_before_the_tables_do(monkeypatch: pytest.MonkeyPatch) -> None:
    present: list[int] = []
    with hoplite.open() as db:
        monkeypatch.setattr(select, "anticipate", lambda *_: present.append(db._graph.snapshot().relationship_count))
        ends = np.arange(10_000)
        db.load(nodes={"N": {"id": ends}}, relationships={("N", "R", "N"): {"start": ends, "end": ends}})
    assert present == [0, 10_000]
