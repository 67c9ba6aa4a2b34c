"""The kernels in Torch, on the CPU or a CUDA device: positions go in and come out as NumPy arrays; the graph and
everything in between stay on the device.

On a CUDA device with Triton, searches run in our own kernels (`torch_cuda`); elsewhere in Torch's operations
(`torch_frontier`). Trails and closed trails are found on the host, as is everything with masks or over writes newer
than the arrays.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from hoplite.engine.hops import torch_frontier
from hoplite.engine.hops.expansion import type_flags
from hoplite.engine.hops.interface import (
    UNLIMITED,
    Check,
    Excluded,
    Hop,
    NodeBatch,
    Positions,
    SearchLevels,
    Steps,
    unchecked,
)
from hoplite.engine.hops.numpy_backend import NumpyBackend
from hoplite.engine.hops.torch_frontier import Found, Sides
from hoplite.engine.hops.torch_resident import can_reside, resident
from hoplite.errors import OUT_OF_MEMORY, CypherError, argument_error

# Answers of at least this many bytes go to pinned memory, which the device writes to directly.
_PINNED_AT = 1 << 16


class TorchBackend(NumpyBackend):
    """Torch on one device; whatever cannot run there runs in NumPy."""

    name = "torch"

    def __init__(self, device: str | None = None) -> None:
        self.device = _device(device)
        self._cuda: Any = None
        if self.device.type == "cuda":
            try:
                from hoplite.engine.hops import torch_cuda
            except ImportError:
                return  # no Triton: Torch's own operations do the work, more slowly
            self._cuda = torch_cuda

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        if not can_reside(hop):
            return super().expand(hop, nodes)
        with _device_memory():
            found = torch_frontier.expand(self._sides(hop), self._tensor(nodes))
            return Steps(*(self._array(column) for column in found))

    def bfs_levels(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        excluded: Excluded | None = None,
        budget: int | None = None,
        check: Check = unchecked,
    ) -> SearchLevels:
        if not can_reside(hop) or excluded is not None or not len(groups):
            return super().bfs_levels(
                hop, groups, sources, upper, mark_starts=mark_starts, excluded=excluded, budget=budget, check=check
            )
        with _device_memory():
            sides = self._sides(hop)
            if groups[0] == groups[-1]:
                found = self._search(sides, sources, upper, mark_starts, budget, check)
                nodes = self._array(found.nodes).astype(np.int64, copy=False)
                sizes = np.diff(found.ends, prepend=0)
                level = np.repeat(np.arange(len(sizes)), sizes)
                depth = UNLIMITED if found.complete else len(sizes) - 1
                return SearchLevels(np.full(len(nodes), groups[0]), nodes, level, depth)
            keys = torch.unique(self._tensor(groups * hop.node_count + sources))
            key, reached, depth = torch_frontier.search_groups(sides, keys, upper, mark_starts, budget, check)
            pairs = self._array(key)
            return SearchLevels(pairs // hop.node_count, pairs % hop.node_count, self._array(reached), depth)

    def bfs_nodes(
        self, hop: Hop, sources: Positions, upper: int | None, *, mark_starts: bool, check: Check = unchecked
    ) -> Positions:
        if not can_reside(hop) or not len(sources):
            return super().bfs_nodes(hop, sources, upper, mark_starts=mark_starts, check=check)
        with _device_memory():
            found = self._search(self._sides(hop), sources, upper, mark_starts, None, check)
            return self._array(found.nodes).astype(np.int64, copy=False)

    def bfs_batch(
        self,
        hop: Hop,
        offsets: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        check: Check = unchecked,
    ) -> NodeBatch:
        if not can_reside(hop) or self._cuda is None or len(offsets) < 2:
            return super().bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check)
        with _device_memory():
            sides = self._sides(hop)
            most = self._cuda.MOST_SEARCHES
            found: list[NodeBatch] = []
            first = 0
            while first < len(offsets) - 1:
                last = min(first + most, len(offsets) - 1)
                try:
                    found.append(
                        self._some_groups(sides, offsets[first : last + 1], sources, upper, mark_starts, check)
                    )
                except torch.OutOfMemoryError:
                    # Fewer searches at once need less memory: words and answers grow with their number.
                    if most <= 32:
                        raise
                    most //= 2
                    torch.cuda.empty_cache()
                    continue
                first = last
        if len(found) == 1:
            return found[0]
        sizes = np.concatenate([np.diff(some.offsets) for some in found])
        return NodeBatch(np.concatenate(([0], np.cumsum(sizes))), np.concatenate([some.nodes for some in found]))

    def _some_groups(
        self, sides: Sides, offsets: Positions, sources: Positions, upper: int | None, mark_starts: bool, check: Check
    ) -> NodeBatch:
        count = len(offsets) - 1
        groups = np.repeat(np.arange(count), np.diff(offsets))
        pairs = np.sort(groups * sides.node_count + sources[offsets[0] : offsets[-1]])
        pairs = pairs[np.diff(pairs, prepend=-1) != 0]
        group, node = self._tensor(pairs // sides.node_count), self._tensor(pairs % sides.node_count)
        ends, nodes = self._cuda.bfs_batch(sides, group, node, count, upper, mark_starts, check)
        return NodeBatch(self._array(ends), self._array(nodes))

    def _search(
        self,
        sides: Sides,
        sources: Positions,
        upper: int | None,
        mark_starts: bool,
        budget: int | None,
        check: Check,
    ) -> Found:
        if self._cuda is None or budget is not None:
            return torch_frontier.search(sides, self._tensor(sources), upper, mark_starts, budget, check)
        starts = np.sort(sources)
        starts = starts[np.diff(starts, prepend=-1) != 0]
        found: Found = self._cuda.search(sides, torch.from_numpy(starts), upper, mark_starts, check)
        return found

    def _sides(self, hop: Hop) -> Sides:
        key = f"torch {self.device}"
        sides = hop.prepared.get(key)
        if sides is None:
            flags = None if hop.types is None else self._tensor(type_flags(hop.types))
            sides = Sides([resident(side, self.device) for side in hop.sides], flags, hop.node_count)
            hop.prepared[key] = sides
        assert isinstance(sides, Sides)
        return sides

    def _tensor(self, array: NDArray[Any]) -> torch.Tensor:
        return torch.from_numpy(np.ascontiguousarray(array)).to(self.device)

    def _array(self, tensor: torch.Tensor) -> NDArray[Any]:
        if tensor.device.type == "cuda" and tensor.numel() * tensor.element_size() >= _PINNED_AT:
            host = torch.empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)
            host.copy_(tensor, non_blocking=True)
            torch.cuda.current_stream(tensor.device).synchronize()
            tensor = host
        array: NDArray[Any] = tensor.cpu().numpy()
        return array


def _device(name: str | None) -> torch.device:
    if name is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
        torch.empty(1, device=device)
    except (RuntimeError, AssertionError) as error:
        raise argument_error(f"Torch has no device {name!r} here: {str(error).splitlines()[0]}") from None
    if device.type not in ("cpu", "cuda"):
        raise argument_error(f"device is 'cpu' or 'cuda', not {name!r}")
    return device


class _device_memory:
    """Turns Torch's error for a full device memory into that of a query that needs too much."""

    def __enter__(self) -> None: ...

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if kind is not None and issubclass(kind, torch.OutOfMemoryError):
            torch.cuda.empty_cache()
            raise CypherError(OUT_OF_MEMORY, "The device has too little memory for this graph and query.") from None
