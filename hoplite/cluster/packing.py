"""What travels between processes: nodes in as few bytes as possible, and batches without what only one process has."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.batch import Batch
from hoplite.engine.hops.interface import Positions
from hoplite.values.columns import Column, Strings


class Packed(NamedTuple):
    """Distinct nodes: their positions, or a bit for each node of the graph where that is shorter."""

    array: NDArray[np.int32] | Positions | NDArray[np.uint8]
    is_bits: bool

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.array.nbytes)


def pack(nodes: Positions, node_count: int) -> Packed:
    """Distinct nodes in the shorter of the two forms."""
    width = 4 if node_count < 2**31 else 8
    if len(nodes) * width <= node_count // 8:
        return Packed(nodes.astype(np.int32) if width == 4 else nodes, False)
    bits = np.zeros(node_count, np.bool_)
    bits[nodes] = True
    return Packed(np.packbits(bits), True)


def unpack(packed: Packed) -> Positions:
    """The nodes; ascending if they came as bits."""
    if packed.is_bits:
        return np.flatnonzero(np.unpackbits(cast(NDArray[np.uint8], packed.array)))
    return packed.array.astype(np.int64)


def portable(batch: Batch) -> Batch:
    """The batch with copies of its texts, instead of places in a pool that only this process has."""
    return Batch({name: _portable(column) for name, column in batch.columns.items()}, batch.row_count)


def _portable(column: Column) -> Column:
    return Strings(column.values) if isinstance(column, Strings) and column.pool is not None else column
