"""What travels between processes: nodes and conditions in as few bytes as possible, and batches without what only one
process has."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.batch import Batch
from hoplite.engine.hops.interface import Positions
from hoplite.engine.hops.select import backend_named
from hoplite.engine.hops.spread import Spread, to_bits
from hoplite.values.columns import Booleans, Column, Strings


class Packed(NamedTuple):
    """Distinct nodes: their positions, or a bit for each node of the graph where that is shorter (`spread.py`)."""

    array: NDArray[np.int32] | Positions | NDArray[np.uint64]
    is_bits: bool

    @property
    def size(self) -> int:
        """Bytes."""
        return int(self.array.nbytes)


def are_shorter_as_bits(count: int, node_count: int) -> bool:
    """Whether a bit for each node of the graph takes fewer bytes than this many positions."""
    return count * _width(node_count) > node_count // 8


def as_bits(nodes: NDArray[np.int32] | Positions, node_count: int) -> NDArray[np.uint64]:
    """A bit for each node of the graph."""
    marked = np.zeros(node_count, np.bool_)
    marked[nodes] = True
    return to_bits(marked)


def pack(nodes: NDArray[np.int32] | Positions, node_count: int) -> Packed:
    """Distinct nodes in the shorter of the two forms."""
    if are_shorter_as_bits(len(nodes), node_count):
        return Packed(as_bits(nodes, node_count), True)
    return Packed(narrow(nodes, node_count), False)


def pack_entered(entered: Spread) -> Packed:
    """All nodes that a search has entered."""
    if are_shorter_as_bits(entered.count, entered.hop.node_count):
        return Packed(entered.as_bits(), True)
    return Packed(narrow(entered.queue.copy(), entered.hop.node_count), False)


def enter_all(entered: Spread, packed: Sequence[Packed]) -> None:
    """Let a search enter the nodes of several."""
    for one in _bits_together(packed):
        if one.is_bits:
            entered.enter_bits(cast(NDArray[np.uint64], one.array))
        else:
            entered.enter(cast(Positions, one.array))


def narrow(positions: NDArray[np.int32] | Positions, count: int | None = None) -> NDArray[np.int32] | Positions:
    """Positions below a count, or up to the largest of them, in 32 bits if they fit."""
    most = int(positions.max(initial=0)) + 1 if count is None else count
    return positions.astype(np.int32, copy=False) if _width(most) == 4 else positions


def _width(node_count: int) -> int:
    """Bytes of a position."""
    return 4 if node_count < 2**31 else 8


def unpack(packed: Packed) -> Positions:
    """The nodes; ascending if they came as bits."""
    if packed.is_bits:
        return backend_named("auto").from_bits(cast(NDArray[np.uint64], packed.array))
    return packed.array.astype(np.int64)


def unpack_all(packed: Sequence[Packed]) -> Positions:
    """The nodes of several."""
    return np.concatenate([unpack(one) for one in _bits_together(packed)])


def _bits_together(packed: Sequence[Packed]) -> Iterator[Packed]:
    """The same nodes, with at most one that has bits."""
    bits = [one.array for one in packed if one.is_bits]
    if bits:
        yield Packed(np.bitwise_or.reduce(bits), True)
    yield from (one for one in packed if not one.is_bits)


def portable(batch: Batch) -> Batch:
    """The batch with copies of its texts, instead of places in a pool that only this process has."""
    return Batch({name: _portable(column) for name, column in batch.columns.items()}, batch.row_count)


class PackedBooleans(NamedTuple):
    """Booleans in bits."""

    values: NDArray[np.uint8]
    nulls: NDArray[np.uint8] | None
    row_count: int


def pack_column(column: Column) -> Column | PackedBooleans:
    """A column in as few bytes as possible."""
    if isinstance(column, Booleans):
        nulls = None if column.nulls is None else np.packbits(column.nulls)
        return PackedBooleans(np.packbits(column.values), nulls, len(column))
    return _portable(column)


def unpack_column(packed: Column | PackedBooleans) -> Column:
    """The column."""
    if not isinstance(packed, PackedBooleans):
        return packed
    values, nulls = (
        None if bits is None else np.unpackbits(bits, count=packed.row_count).view(np.bool_) for bits in packed[:2]
    )
    assert values is not None
    return Booleans(values, nulls)


def _portable(column: Column) -> Column:
    return Strings(column.values) if isinstance(column, Strings) and column.pool is not None else column
