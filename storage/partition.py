"""Assigning nodes to partitions so that outgoing and incoming relationships are balanced.

All relationships of one subject live in the subject's partition, and so does the incoming side of a node. Nodes with
the same two degrees are equivalent and assigned together: largest first, to wherever the sum of the squares of all
loads stays smallest. The many small nodes thus make up for the imbalance caused by hubs.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.ordering import order_of
from hoplite.values.columns import Int64s

_SMALL = 64
"""Degrees below this are counted in a table."""
_PIECE = 1 << 20


def partition_type(partitions: int) -> type[np.uint8] | type[np.int32]:
    """The integers that name partitions."""
    return np.uint8 if partitions <= 256 else np.int32


def deal(out_degrees: NDArray[Any], in_degrees: NDArray[Any], partitions: int) -> NDArray[Any]:
    """The partition of each node. Deterministic: ties go to the lower node and the lower partition."""
    dealt = np.zeros(len(out_degrees), partition_type(partitions))
    if len(dealt) and partitions > 1:
        loads = _Loads(partitions)
        _deal_large(out_degrees, in_degrees, loads, dealt)
        _deal_small(out_degrees, in_degrees, loads, dealt)
    return dealt


class _Loads:
    """How many relationships begin and end in each partition so far."""

    def __init__(self, partitions: int) -> None:
        self._outs, self._ins = np.zeros(partitions), np.zeros(partitions)

    def share_out(self, out_degree: int, in_degree: int, count: int) -> Int64s:
        """How many of the nodes with these degrees go to each partition."""
        levels = np.zeros(len(self._outs))
        if out_degree or in_degree:
            square = out_degree * out_degree + in_degree * in_degree
            levels = (out_degree * self._outs + in_degree * self._ins) / square
        shares = _filled(levels, count)
        self._outs += shares * out_degree
        self._ins += shares * in_degree
        return shares


def _is_small(out_degrees: NDArray[Any], in_degrees: NDArray[Any]) -> NDArray[np.bool_]:
    return (out_degrees < _SMALL) & (in_degrees < _SMALL)


def _deal_large(outs: NDArray[Any], ins: NDArray[Any], loads: _Loads, dealt: NDArray[Any]) -> None:
    nodes = np.flatnonzero(~_is_small(outs, ins))
    if not len(nodes):
        return
    outs, ins = outs[nodes].astype(np.int64), ins[nodes].astype(np.int64)
    both = outs + ins
    order = order_of((both.max() - both, int(both.max()) + 1), (outs, int(outs.max()) + 1))
    if order is not None:
        nodes, outs, ins = nodes[order], outs[order], ins[order]
    firsts = np.concatenate([[0], np.flatnonzero((np.diff(outs) != 0) | (np.diff(ins) != 0)) + 1, [len(nodes)]])
    numbers = np.arange(len(loads._outs), dtype=dealt.dtype)
    for first, last in pairwise(firsts.tolist()):
        shares = loads.share_out(int(outs[first]), int(ins[first]), last - first)
        dealt[nodes[first:last]] = np.repeat(numbers, shares)


def _deal_small(outs: NDArray[Any], ins: NDArray[Any], loads: _Loads, dealt: NDArray[Any]) -> None:
    """Nearly all nodes: a few thousand pairs of degrees. The nodes of a pair are assigned in order, some thousands at a
    time, so that no array is as long as the number of nodes."""
    pairs = _SMALL * _SMALL
    pieces = range(0, len(dealt), _PIECE)
    counts = np.zeros(pairs + 1, np.int64)  # the last group are the large ones
    for first in pieces:
        counts += np.bincount(_pairs(outs, ins, first), minlength=pairs + 1)
    ends = np.zeros((pairs + 1, len(loads._outs)), np.int64)  # where each partition's share ends, by pair
    begins = np.cumsum(counts) - counts
    for pair in sorted(np.flatnonzero(counts[:-1]).tolist(), key=lambda pair: -(pair // _SMALL + pair % _SMALL)):
        ends[pair] = np.cumsum(loads.share_out(*divmod(pair, _SMALL), int(counts[pair])))
    ends += begins[:, None]
    bounds = ends.reshape(-1)
    seen = begins.copy()
    for first in pieces:
        codes = _pairs(outs, ins, first)
        order = np.argsort(codes, kind="stable")
        ordered = codes[order]
        here = np.bincount(codes, minlength=pairs + 1)
        place = np.arange(len(codes)) + np.repeat(seen - (np.cumsum(here) - here), here)
        seen += here
        small = ordered < pairs
        slots = np.searchsorted(bounds[: pairs * ends.shape[1]], place[small], "right")
        dealt[first + order[small]] = slots % ends.shape[1]


def _pairs(outs: NDArray[Any], ins: NDArray[Any], first: int) -> NDArray[np.uint16]:
    """A number for each pair of degrees of some nodes, one past the last for large ones."""
    some_outs, some_ins = outs[first : first + _PIECE], ins[first : first + _PIECE]
    small = _is_small(some_outs, some_ins)
    return np.where(small, some_outs * _SMALL + some_ins, _SMALL * _SMALL).astype(np.uint16)


def _filled(levels: NDArray[np.float64], amount: int) -> Int64s:
    """How many of `amount` equal pieces go on each of the levels, so that the lowest rise first and evenly."""
    order = np.argsort(levels, kind="stable")
    ordered = levels[order]
    raised = ordered * np.arange(1, len(levels) + 1) - np.cumsum(ordered)  # to raise all before to this level
    used = max(int(np.searchsorted(raised, amount, "right")), 1)
    surface = (amount + ordered[:used].sum()) / used
    filled = np.zeros(len(levels), np.int64)
    # Slightly less than the whole, because floats cannot represent such loads exactly: never more than there is.
    filled[order[:used]] = np.floor(np.maximum(surface - ordered[:used] - 1e-3, 0))
    left = amount - int(filled.sum())
    np.add.at(filled, np.resize(np.argsort(levels + filled, kind="stable"), left), 1)
    return filled
