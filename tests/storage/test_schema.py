"""Indexes and constraints: names, messages, and what constraints forbid."""

from __future__ import annotations

from typing import Any

import pytest

from hoplite.errors import CypherError
from hoplite.storage.graph import Graph
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.schema_names import constraint_name, index_name
from tests.storage.model import node_id


def failure(call: Any, *arguments: Any, **named: Any) -> tuple[str, str]:
    with pytest.raises(CypherError) as caught:
        call(*arguments, **named)
    return caught.value.code.removeprefix("Neo."), caught.value.message


def test_generated_names_are_those_of_neo4j() -> None:
    node, relationship = Entity.NODE, Entity.RELATIONSHIP
    assert index_name(IndexKind.LOOKUP, node, (), ()) == "index_343aff4e"
    assert index_name(IndexKind.LOOKUP, relationship, (), ()) == "index_f7700477"
    assert index_name(IndexKind.RANGE, node, ("T__L",), ("p",)) == "index_5c49f43e"
    assert index_name(IndexKind.RANGE, node, ("T__L",), ("p", "q")) == "index_832f18b0"
    assert index_name(IndexKind.TEXT, node, ("T__L",), ("p",)) == "index_d88ca6c7"
    assert index_name(IndexKind.POINT, node, ("T__L",), ("p",)) == "index_af4110a3"
    assert index_name(IndexKind.VECTOR, node, ("T__L",), ("p",)) == "index_f0ddfbe2"
    assert index_name(IndexKind.FULLTEXT, node, ("T__L", "T__M"), ("p", "q")) == "index_3c8099a9"
    assert index_name(IndexKind.RANGE, relationship, ("T__R",), ("p",)) == "index_2280a3b"
    assert constraint_name(node, ("T__L",), ("p", "q")) == "constraint_5b38a542"
    assert constraint_name(relationship, ("T__R",), ("p",)) == "constraint_5c6b63cf"


def test_a_new_database_has_two_lookup_indexes() -> None:
    indexes = Graph().snapshot().schema.indexes
    assert [(index.name, index.kind) for index in indexes] == [
        ("index_343aff4e", IndexKind.LOOKUP),
        ("index_f7700477", IndexKind.LOOKUP),
    ]


def test_a_second_index_on_the_same_thing_is_refused() -> None:
    with Graph().begin() as tx:
        make = (IndexKind.RANGE, Entity.NODE, ["P"], ["k"])
        assert tx.create_index("i", *make).is_new
        code, message = failure(tx.create_index, "i", *make)
        assert code == "ClientError.Schema.EquivalentSchemaRuleAlreadyExists"
        assert message == (
            "An equivalent index already exists, "
            "'Index( id=3, name='i', type='RANGE', schema=(:P {k}), indexProvider='range-1.0' )'."
        )
        assert failure(tx.create_index, "j", *make) == (
            "ClientError.Schema.IndexAlreadyExists",
            "There already exists an index (:P {k}).",
        )
        assert failure(tx.create_index, "i", IndexKind.RANGE, Entity.NODE, ["Q"], ["k"]) == (
            "ClientError.Schema.IndexWithNameAlreadyExists",
            "There already exists an index called 'i'.",
        )
        assert failure(tx.create_constraint, "c", Entity.NODE, "P", ["k"]) == (
            "ClientError.Schema.IndexAlreadyExists",
            "There already exists an index (:P {k}). A constraint cannot be created until the index has been dropped.",
        )
        assert not tx.create_index("i", IndexKind.RANGE, Entity.NODE, ["Q"], ["k"], if_not_exists=True).is_new
        assert tx.has_index("P", "k") and not tx.has_index("Q", "k")
        assert tx.drop_index("i") and not tx.has_index("P", "k")
        assert failure(tx.drop_index, "i")[0] == "DatabaseError.Schema.IndexDropFailed"
        assert not tx.drop_index("i", if_exists=True)


def test_a_constraint_owns_an_index() -> None:
    with Graph().begin() as tx:
        tx.create_constraint("c", Entity.NODE, "P", ["k"])
        assert tx.has_index("P", "k") and tx.is_unique("P", "k")
        assert failure(tx.drop_index, "c")[1] == "Unable to drop index: Index belongs to constraint: `c`"
        assert failure(tx.create_index, "i", IndexKind.RANGE, Entity.NODE, ["P"], ["k"]) == (
            "ClientError.Schema.ConstraintAlreadyExists",
            "There is a uniqueness constraint on (:P {k}), so an index is already created that matches this.",
        )
        assert failure(tx.create_constraint, "d", Entity.NODE, "P", ["k"])[1] == (
            "Constraint already exists: Constraint( id=4, name='c', type='UNIQUENESS', schema=(:P {k}), ownedIndex=3 )"
        )
        tx.create_index("t", IndexKind.TEXT, Entity.NODE, ["P"], ["k"])
        assert tx.drop_constraint("c")
        assert [index.name for index in tx.schema.indexes] == ["index_343aff4e", "index_f7700477", "t"]


@pytest.mark.parametrize("fold", [False, True])
def test_equal_values_are_refused_where_they_must_be_unique(fold: bool) -> None:
    graph = Graph()
    with graph.begin() as tx:
        tx.create_constraint("c", Entity.NODE, "P", ["k"])
        first = node_id(tx, tx.create_node(["P"], {"k": 1}))
        tx.create_node(["P"], {})
        tx.create_node(["P"], {})
        other = node_id(tx, tx.create_node(["Q"], {"k": 1}))
    if fold:
        graph.fold()
    tx = graph.begin()
    before = tx.node_count
    assert failure(tx.create_node, ["P"], {"k": 1.0}) == (
        "ClientError.Schema.ConstraintValidationFailed",
        f"Node({first}) already exists with label `P` and property `k` = 1.0",
    )
    assert tx.node_count == before
    position = int(tx.nodes_with_label("Q")[0])
    assert node_id(tx, position) == other
    assert failure(tx.add_label, position, "P")[0] == "ClientError.Schema.ConstraintValidationFailed"
    assert tx.label_count("P") == 3
    free = int(tx.nodes_with_label("P")[1])
    tx.set_node_property(free, "k", "x")
    tx.set_node_property(free, "k", "x")
    assert failure(tx.set_node_property, free, "k", 1)[1].endswith("property `k` = 1")
    assert tx.node_properties(free) == {"k": "x"}
    tx.delete_node(int(tx.nodes_with_label("P")[0]))
    assert tx.add_label(position, "P")
    tx.commit()


def test_several_keys_are_unique_together() -> None:
    with Graph().begin() as tx:
        tx.create_constraint("c", Entity.NODE, "P", ["a", "b"])
        tx.create_node(["P"], {"a": "x", "b": 1})
        tx.create_node(["P"], {"a": "x", "b": 2})
        tx.create_node(["P"], {"a": "x"})
        tx.create_node(["P"], {"a": "x"})
        assert failure(tx.create_node, ["P"], {"a": "x", "b": 2})[1] == (
            "Node(1) already exists with label `P` and properties `a` = 'x', `b` = 2"
        )


def test_relationships_can_be_unique_too() -> None:
    with Graph().begin() as tx:
        tx.create_constraint("c", Entity.RELATIONSHIP, "R", ["role"])
        node = tx.create_node([], {})
        tx.create_relationship(node, node, "R", {"role": "dev"})
        tx.create_relationship(node, node, "S", {"role": "dev"})
        assert failure(tx.create_relationship, node, node, "R", {"role": "dev"})[1] == (
            "Relationship(0) already exists with type `R` and property `role` = 'dev'"
        )
        assert tx.relationship_count == 2


def test_data_that_repeats_values_takes_no_constraint() -> None:
    with Graph().begin() as tx:
        tx.create_node(["P"], {"city": "Oslo"})
        tx.create_node(["P"], {"city": "Oslo"})
        assert failure(tx.create_constraint, "c1", Entity.NODE, "P", ["city"]) == (
            "DatabaseError.Schema.ConstraintCreationFailed",
            "Unable to create Constraint( name='c1', type='UNIQUENESS', schema=(:P {city}) ):\n"
            "Both Node(0) and Node(1) have the label `P` and property `city` = 'Oslo'. "
            "Note that only the first found violation is shown.",
        )
        assert not tx.schema.constraints


def test_options_are_checked_and_completed() -> None:
    with Graph().begin() as tx:
        config = {"vector.dimensions": 3, "vector.similarity_function": "cosine"}
        made = tx.create_index("v", IndexKind.VECTOR, Entity.NODE, ["P"], ["e"], {"indexConfig": config})
        assert made.rule.config["vector.similarity_function"] == "COSINE"  # type: ignore[union-attr]
        assert failure(
            tx.create_index, "w", IndexKind.VECTOR, Entity.NODE, ["P"], ["f"], {"indexConfig": {"vector.dimensions": 0}}
        ) == ("DatabaseError.Statement.ExecutionFailed", "'vector.dimensions' must be between 1 and 4096 inclusively")
        assert failure(
            tx.create_index, "w", IndexKind.RANGE, Entity.NODE, ["P"], ["f"], {"indexConfig": {"foo": "nope"}}
        )[1] == (
            "Could not create range node property index with specified index config '{foo: \"nope\"}': "
            "range indexes have no valid config values."
        )


def test_a_rollback_takes_schema_changes_back() -> None:
    graph = Graph()
    tx = graph.begin()
    tx.create_index("i", IndexKind.RANGE, Entity.NODE, ["P"], ["k"])
    assert graph.snapshot().schema.index("i") is None
    tx.rollback()
    assert graph.snapshot().schema.index("i") is None
    assert graph.snapshot().known_label("P")
