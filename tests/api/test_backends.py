"""Which backend a database runs its hops in: names, devices, and what EXPLAIN says of it."""

from __future__ import annotations

from typing import Any

import pytest
from neo4j.exceptions import ClientError

import hoplite
from hoplite.engine.hops import BackendName
from tests.hops.backends import every_backend, needs_torch

ENDS = "MATCH (a:N {i: 0})-[:E*1..3]->(b) RETURN DISTINCT b.i AS i ORDER BY i"


def chain(**settings: Any) -> hoplite.Database:
    db = hoplite.open(**settings)
    db.run("UNWIND range(0, 9) AS i CREATE (:N {i: i})").consume()
    db.run("MATCH (a:N), (b:N) WHERE b.i = a.i + 1 CREATE (a)-[:E]->(b)").consume()
    return db


@every_backend
def test_answers_are_the_same(backend: BackendName) -> None:
    with chain(backend=backend) as db:
        assert db.run(ENDS).value() == [1, 2, 3]
        assert f"Hops run in: {backend}" in db.explain(ENDS)


def test_a_plan_without_hops_names_no_backend() -> None:
    with hoplite.open() as db:
        assert "Hops" not in db.explain("RETURN 1")


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"backend": "cuda"}, "backend is one of auto, numba, scipy, numpy, torch"),
        ({"backend": "numba", "device": "cuda"}, "A device is for the backends 'torch' and 'auto'"),
    ],
)
def test_what_cannot_be_is_refused_at_once(settings: dict[str, Any], reason: str) -> None:
    with pytest.raises(ClientError, match=reason):
        hoplite.open(**settings)


@needs_torch
def test_a_device_that_is_not_there_is_named() -> None:
    with pytest.raises(ClientError, match="Torch has no device 'cuda:97' here"):
        hoplite.open(backend="torch", device="cuda:97")


@needs_torch
@pytest.mark.parametrize("backend", ["torch", "auto"])
def test_a_device_may_be_named(backend: str) -> None:
    with chain(backend=backend, device="cpu") as db:
        assert db.run(ENDS).value() == [1, 2, 3]
        assert f"{backend}:cpu" in db.explain(ENDS)


@needs_torch
def test_what_was_written_since_is_seen_on_the_device_too() -> None:
    with chain(backend="torch", device="cpu") as db:
        assert db.run(ENDS).value() == [1, 2, 3]
        db.run("MATCH (a:N {i: 0}), (b:N {i: 7}) CREATE (a)-[:E]->(b)").consume()
        assert db.run(ENDS).value() == [1, 2, 3, 7, 8, 9]
        db.checkpoint()
        assert db.run(ENDS).value() == [1, 2, 3, 7, 8, 9]


@needs_torch
def test_auto_sends_large_batches_to_its_device() -> None:
    with chain(backend="auto", device="cpu") as db, chain() as plain:
        seeds = [[number % 10] for number in range(100)]
        offsets, found = db.khop(seeds, 2, batch=True)
        expected_offsets, expected = plain.khop(seeds, 2, batch=True)
        assert offsets.tolist() == expected_offsets.tolist() and found.tolist() == expected.tolist()
