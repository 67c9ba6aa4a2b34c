"""Large graphs have smaller integers in their arrays: kernels find the same in them, in every operation."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from hoplite.engine.hops import Excluded, Hop, Side
from hoplite.engine.hops.interface import unchecked
from hoplite.engine.hops.numba_arrays import incidence_arrays
from hoplite.engine.hops.scratch import Scratch
from hoplite.engine.hops.select import AutoBackend, backend_named
from hoplite.storage.incidence import Adjacency, Incidence
from tests.hops.test_work import random_hop

SOURCES = np.array([0, 3, 77], dtype=np.int64)


def narrow(incidence: Incidence) -> Incidence:
    return replace(
        incidence,
        indptr=incidence.indptr.astype(np.int32),
        types=incidence.types.astype(np.uint8),
        relationships=None if incidence.relationships is None else incidence.relationships.astype(np.int32),
    )


def narrow_hop(hop: Hop, *, with_delta: bool) -> Hop:
    def of(adjacency: Adjacency | None) -> Adjacency:
        assert adjacency is not None
        (incidence,) = adjacency.partitions
        changed = replace(adjacency, partitions=(narrow(incidence),))
        if not with_delta:
            return changed
        # What was written since has the usual integers, and one relationship is gone.
        newer = Incidence(
            np.array([0, 2]), np.array([5, 9], dtype=np.int32), np.array([1, 3], np.int32), np.array([9000, 9001])
        )
        return replace(changed, delta=newer, delta_rows=np.array([3]), removed=np.array([1]))

    return replace(hop, outgoing=of(hop.outgoing), incoming=of(hop.incoming))


def everything(hop: Hop, backend: Any) -> list[Any]:
    """What each operation finds, in an order that all backends share."""
    groups = np.arange(len(SOURCES))
    excluded = Excluded(np.array([0, 1, 1, 2]), np.array([0, 4]))
    found = backend.bfs_levels(hop, groups, SOURCES, 3, mark_starts=True)
    fewer = backend.bfs_levels(hop, groups, SOURCES, 2, mark_starts=False, excluded=excluded)
    balls = backend.bfs_batch(hop, np.arange(4), SOURCES, 3, mark_starts=True)
    answers = [
        sorted(zip(*(column.tolist() for column in backend.expand(hop, SOURCES)), strict=True)),
        sorted(backend.bfs_nodes(hop, SOURCES, 3, mark_starts=True).tolist()),
        sorted(zip(*(column.tolist() for column in found[:3]), strict=True)),
        sorted(zip(*(column.tolist() for column in fewer[:3]), strict=True)),
        [
            sorted(balls.nodes[first:last].tolist())
            for first, last in zip(balls.offsets, balls.offsets[1:], strict=False)
        ],
        backend.count_trails(hop, SOURCES[1:], 1, 3).tolist(),
        sorted(
            (row, tuple(batch.relationships[first:last].tolist()))
            for batch in backend.trails(hop, SOURCES[1:], 1, 2)
            for row, first, last in zip(batch.row.tolist(), batch.offsets, batch.offsets[1:], strict=False)
        ),
        sorted(backend.search(hop, 3, Scratch(1 << 9)).step(unchecked).tolist()),
        _spread(hop, backend),
    ]
    if hop.side is Side.BOTH:
        answers.append(backend.closing_lengths(hop, np.zeros(3, dtype=np.int64), SOURCES, 6).tolist())
    return answers


def _spread(hop: Hop, backend: Any) -> list[int]:
    spread = backend.spread(hop, Scratch(1 << 9))
    spread.step(SOURCES, unchecked)
    spread.step(spread.queue, unchecked)
    return sorted(spread.queue.tolist())


@pytest.mark.parametrize("with_delta", [False, True])
@pytest.mark.parametrize("types", [None, [1, 3]])
@pytest.mark.parametrize("side", list(Side))
def test_every_operation_finds_the_same(side: Side, types: list[int] | None, with_delta: bool) -> None:
    hop = narrow_hop(random_hop(400, 1_500, side, types), with_delta=with_delta)
    assert hop.is_narrow
    assert everything(hop, backend_named("numba")) == everything(hop, backend_named("numpy"))


def test_auto_takes_kernels_for_these_arrays_when_they_are_there() -> None:
    auto = AutoBackend()
    hop = narrow_hop(random_hop(400, 1_500, Side.OUTGOING), with_delta=False)
    auto._use_compiled("bfs_nodes", False)
    auto.start_loading()
    assert everything(hop, auto) == everything(hop, backend_named("numpy"))
    auto.wait_until_loaded()
    assert ("bfs_nodes", True) in auto._compiled
    assert everything(hop, auto) == everything(hop, backend_named("numpy"))


def test_arrays_are_prepared_once_unless_that_takes_a_copy() -> None:
    hop = random_hop(50, 200, Side.OUTGOING)
    assert hop.outgoing is not None
    whole = hop.outgoing.partitions[0]
    assert incidence_arrays(whole) is incidence_arrays(whole)
    copied = replace(whole, types=whole.types.astype(np.uint8))
    assert incidence_arrays(copied) is not incidence_arrays(copied)
    assert incidence_arrays(copied).types.tolist() == whole.types.tolist()
