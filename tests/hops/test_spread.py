"""Searches whose levels are taken here or elsewhere: whoever finds a node, and in whatever form, it is entered once."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from hoplite.engine.hops import BackendName, Side, numba_levels
from hoplite.engine.hops.interface import unchecked
from hoplite.engine.hops.scratch import Scratch, borrowed
from hoplite.engine.hops.select import AutoBackend, backend_named
from hoplite.engine.hops.spread import to_bits
from tests.hops.backends import every_backend
from tests.hops.test_bfs import parted
from tests.hops.test_hops import Case, cases, examples
from tests.hops.test_work import random_hop


@every_backend
@examples(60)
@given(case=cases(8), takers=st.lists(st.sampled_from(["here", "nodes", "bits", "halves"]), min_size=4, max_size=4))
def test_levels_may_be_taken_elsewhere(backend: BackendName, case: Case, takers: list[str]) -> None:
    kernels, hop = backend_named(backend), case.hop
    sources = np.array([node for node in case.sources if node >= 0], dtype=np.int64)
    wanted = backend_named("numpy").bfs_levels(hop, np.zeros(len(sources), np.int64), sources, 4, mark_starts=True)
    with borrowed(hop.node_count) as scratch:
        spread = kernels.spread(hop, scratch)
        spread.enter(sources)
        levels = [spread.queue]
        for taker in takers:
            before, frontier = spread.count, levels[-1].astype(np.int64)
            shares = [frontier[::2], frontier[1::2]] if taker == "halves" else [frontier]
            for number, share in enumerate(shares):
                if taker == "here":
                    spread.step(levels[-1], unchecked)
                    continue
                found = backend_named("numpy").bfs_nodes(hop, share, 1, mark_starts=False)
                if taker == "nodes" or number:
                    spread.enter(found.astype(np.int32))
                else:
                    marked = np.zeros(hop.node_count, np.bool_)
                    marked[found] = True
                    spread.enter_bits(to_bits(marked))
            levels.append(spread.queue[before:])
        assert [sorted(level.tolist()) for level in levels] == [
            sorted(wanted.nodes[wanted.level == number].tolist()) for number in range(5)
        ]
        assert kernels.from_bits(spread.as_bits()).tolist() == sorted(spread.queue.tolist())
        spread.clear()
        assert not scratch.mark.any()


@pytest.mark.parametrize("size", [1, 63, 64, 65, 5_000])
def test_bits_are_nodes_again(size: int) -> None:
    random = np.random.default_rng(size)
    for share in (0.0, 0.02, 0.5, 1.0):
        marked = random.random(size) < share
        bits = to_bits(marked)
        for backend in (backend_named("numpy"), backend_named("numba"), AutoBackend()):
            assert backend.from_bits(bits).tolist() == np.flatnonzero(marked).tolist()


@pytest.mark.parametrize("entered", [3, 400])
def test_marks_are_cleared_however_many_there_are(entered: int) -> None:
    hop = random_hop(400, 1_500, Side.BOTH)
    for backend in ("numpy", "numba"):
        scratch = Scratch(512)
        spread = backend_named(backend).spread(hop, scratch)
        spread.enter(np.arange(entered, dtype=np.int64))
        spread.clear()
        assert not scratch.mark.any()


@pytest.mark.parametrize("side", list(Side))
def test_a_wide_frontier_is_followed_in_any_order(side: Side, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba_levels, "SORTED_FROM", 2)
    hop = parted(random_hop(400, 1_500, side), 3)
    sources = np.array([7, 3, 300], dtype=np.int64)
    for upper in (1, 3, None):
        found, wanted = (
            backend_named(name).bfs_levels(hop, np.zeros(3, np.int64), sources, upper, mark_starts=True)
            for name in ("numba", "numpy")
        )
        assert sorted(zip(found.nodes, found.level, strict=True)) == sorted(
            zip(wanted.nodes, wanted.level, strict=True)
        )
