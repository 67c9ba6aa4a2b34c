"""Dealing nodes to partitions so that their relationships balance, those that begin at a node and those that end at it.

All relationships of one subject live in the subject's partition, and so does the incoming side of a node. Nodes with
the same two degrees are alike, and dealt together: largest first, to wherever they leave the sum of the squares of all
loads least. What hubs put out of balance is so made good by the many small nodes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.storage.ordering import order_of
from hoplite.values.columns import Int64s


def partition_type(partitions: int) -> type[np.uint8] | type[np.int32]:
    """The integers that name partitions."""
    return np.uint8 if partitions <= 256 else np.int32


def deal(out_degrees: NDArray[Any], in_degrees: NDArray[Any], partitions: int) -> NDArray[Any]:
    """The partition of each node. Deterministic: ties go to the lower node and the lower partition."""
    count = len(out_degrees)
    dealt = np.zeros(count, partition_type(partitions))
    if not count or partitions == 1:
        return dealt
    both = out_degrees.astype(np.int64) + in_degrees
    largest = int(both.max())
    np.subtract(largest, both, out=both)  # largest first
    order = order_of((both, largest + 1), (out_degrees, int(out_degrees.max()) + 1))
    del both
    outs = out_degrees if order is None else out_degrees[order]
    ins = in_degrees if order is None else in_degrees[order]
    changes = np.flatnonzero((outs[1:] != outs[:-1]) | (ins[1:] != ins[:-1])) + 1
    firsts = np.concatenate([[0], changes])
    sizes = np.diff(np.append(firsts, count)).tolist()
    pairs = zip(outs[firsts].tolist(), ins[firsts].tolist(), sizes, strict=True)
    out_loads, in_loads = np.zeros(partitions), np.zeros(partitions)
    numbers = np.arange(partitions, dtype=dealt.dtype)
    at = 0
    for out_degree, in_degree, size in pairs:
        if out_degree or in_degree:
            square = out_degree * out_degree + in_degree * in_degree
            levels = (out_degree * out_loads + in_degree * in_loads) / square
        else:
            levels = np.zeros(partitions)
        if size == 1:
            lightest = int(levels.argmin())
            shares: Any = lightest
            out_loads[lightest] += out_degree
            in_loads[lightest] += in_degree
        else:
            filled = _filled(levels, size)
            out_loads += filled * out_degree
            in_loads += filled * in_degree
            shares = np.repeat(numbers, filled)
        places = slice(at, at + size) if order is None else order[at : at + size]
        dealt[places] = shares
        at += size
    return dealt


def _filled(levels: NDArray[np.float64], amount: int) -> Int64s:
    """How many of `amount` equal pieces go on each of the levels, so that the lowest are raised first and alike."""
    order = np.argsort(levels, kind="stable")
    ordered = levels[order]
    raised = ordered * np.arange(1, len(levels) + 1) - np.cumsum(ordered)  # what it takes to bring all before up to it
    used = max(int(np.searchsorted(raised, amount, "right")), 1)
    surface = (amount + ordered[:used].sum()) / used
    filled = np.zeros(len(levels), np.int64)
    # A little less than the whole, for loads are beyond what floats count exactly: never more than there is.
    filled[order[:used]] = np.floor(np.maximum(surface - ordered[:used] - 1e-3, 0))
    left = amount - int(filled.sum())
    np.add.at(filled, np.resize(np.argsort(levels + filled, kind="stable"), left), 1)
    return filled
