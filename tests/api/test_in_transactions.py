"""CALL { } IN TRANSACTIONS and the transaction around it."""

from __future__ import annotations

import pytest
from neo4j.exceptions import Neo4jError

import hoplite


def test_batches_in_an_explicit_transaction_are_refused_with_the_first_row() -> None:
    with hoplite.open() as db:
        transaction = db.begin()
        with pytest.raises(Neo4jError) as raised:
            transaction.run("UNWIND [1] AS i CALL (i) { CREATE () } IN TRANSACTIONS").consume()
        assert raised.value.code == "Neo.DatabaseError.Transaction.TransactionStartFailed"
        transaction.rollback()


def test_batches_in_an_explicit_transaction_without_rows_do_nothing() -> None:
    with hoplite.open() as db:
        transaction = db.begin()
        assert list(transaction.run("MATCH (n:None) CALL (n) { SET n.x = 1 } IN TRANSACTIONS RETURN n")) == []
        transaction.commit()
