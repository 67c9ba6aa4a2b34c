"""Searches on a CUDA device with the kernels of `triton_kernels`: tensors in, tensors out, few waits for the host."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import accumulate
from typing import Any

import torch

from hoplite.engine.hops import triton_kernels as kernels
from hoplite.engine.hops.interface import Check
from hoplite.engine.hops.torch_frontier import Found, Sides
from hoplite.engine.hops.torch_resident import SEGMENT

# Searches that share a pass over the relationships, so that a row of words fills a memory transaction.
MOST_SEARCHES = 1024
_HEADER = kernels.LEVELS + 1
# Entries of the state that are copied to the host with the counts.
_HOST = 8192
_LARGEST_NUMBER = (1 << 31) - 2
# Levels launched before the first check for an empty frontier, if no bound is near.
_FIRST_LEVELS = 8


class _Scratch:
    """Tensors as long as the graph, kept between searches.

    state   int32[HEADER + nodes]   how many nodes each level has, then the queue
    host    its beginning, in pinned memory that the device accesses directly: most answers fit
    """

    def __init__(self, size: int, device: torch.device) -> None:
        self.mark = torch.zeros(size, dtype=torch.int32, device=device)
        self.state = torch.empty(_HEADER + size, dtype=torch.int32, device=device)
        self.host = torch.empty(min(_HEADER + size, _HOST), dtype=torch.int32, pin_memory=True)
        self.number = 0

    def next_number(self) -> int:
        """A number that no mark holds."""
        if self.number >= _LARGEST_NUMBER:
            self.mark.zero_()
            self.number = 0
        self.number += 1
        return self.number


_free: dict[tuple[int, torch.device], list[_Scratch]] = {}


@contextmanager
def _lent(size: int, device: torch.device) -> Iterator[_Scratch]:
    pool = _free.setdefault((size, device), [])
    try:
        scratch = pool.pop()
    except IndexError:
        scratch = _Scratch(size, device)
    try:
        yield scratch
    finally:
        # Safe after an error too: the next search has another number.
        pool.append(scratch)


def search(sides: Sides, sources: torch.Tensor, upper: int | None, mark_starts: bool, check: Check) -> Found:
    """As `torch_frontier.search`. There is at least one source; sources are distinct and on the host, as are the nodes
    found."""
    device, n, starts = sides.device, sides.node_count, len(sources)
    if upper == 0:
        found = sources if mark_starts else sources[:0]
        return Found(found, [len(found)], False)
    grid = (kernels.programs(device),)
    with _lent(n, device) as scratch:
        number = scratch.next_number()
        # Sources without marks may be entered again, which takes more room.
        state = scratch.state if mark_starts else torch.empty(_HEADER + n + starts, dtype=torch.int32, device=device)
        queue = state[_HEADER:]
        begun = (
            scratch.host if _HEADER + starts <= len(scratch.host) else torch.empty(_HEADER + starts, dtype=torch.int32)
        )
        begun[_HEADER : _HEADER + starts] = sources
        levels = [starts]
        begin, copied, chunk = 0, _HEADER + starts, _FIRST_LEVELS
        while levels[-1] and (upper is None or len(levels) <= upper):
            check()
            begun[:_HEADER] = 0
            begun[0] = levels[-1]
            state[:copied].copy_(begun[:copied], non_blocking=True)
            if mark_starts and not begin:
                kernels.mark_all[(1,)](queue, starts, scratch.mark, number, BLOCK=128)
            remaining = kernels.LEVELS if upper is None else upper - len(levels) + 1
            launched = min(remaining, chunk, kernels.LEVELS)
            for level in range(launched):
                for side in sides.residents:
                    kernels.push[grid](
                        queue, state, begin, level, scratch.mark, number,
                        side.indptr, side.neighbours, side.types, *_types(sides),
                        HAS_TYPES=sides.flags is not None, BLOCK=64, SLOTS=_HEADER, num_warps=2,
                    )  # fmt: skip
            scratch.host.copy_(state[: len(scratch.host)], non_blocking=True)
            torch.cuda.current_stream(device).synchronize()
            begun, copied, chunk = scratch.host, _HEADER, kernels.LEVELS
            held = scratch.host[: launched + 1].tolist()
            begin += sum(held[:launched])
            levels += held[1:]
            while len(levels) > 1 and not levels[-2]:
                levels.pop()
        if not mark_starts:
            levels[0] = 0
        ends = list(accumulate(levels))
        first = _HEADER if mark_starts else _HEADER + starts
        last = first + ends[-1]
        if last <= len(scratch.host):
            nodes = scratch.host[first:last].clone()
        else:
            nodes = torch.empty(ends[-1], dtype=torch.int32, pin_memory=True)
            nodes.copy_(state[first:last], non_blocking=True)
            torch.cuda.current_stream(device).synchronize()
    return Found(nodes, ends, not levels[-1])


def _types(sides: Sides) -> tuple[torch.Tensor, int]:
    """The flags and their number; if any type will do, a tensor that is never read."""
    if sides.flags is None:
        return sides.residents[0].types, 0
    return sides.flags.view(torch.uint8), len(sides.flags)


def bfs_batch(
    sides: Sides,
    groups: torch.Tensor,
    sources: torch.Tensor,
    count: int,
    upper: int | None,
    mark_starts: bool,
    check: Check,
) -> tuple[torch.Tensor, torch.Tensor]:
    """(offsets int64[count + 1], nodes int32) of searches 0 .. count - 1, up to MOST_SEARCHES of them; nodes ascend.

    `groups` and `sources` (int64) are distinct pairs.
    """
    device, n = sides.device, sides.node_count
    width = 1
    while 32 * width < count:
        width *= 2
    grid = (kernels.programs(device),)
    seen, frontier, entered = (torch.zeros(n * width, dtype=torch.int32, device=device) for _ in range(3))
    # Each pair has its own bit, so addition sets them; the last bit of a word is its sign.
    bits = torch.bitwise_left_shift(torch.ones_like(groups), groups % 32).to(torch.int32)
    frontier.index_add_(0, sources * width + groups // 32, bits)
    if mark_starts:
        seen.copy_(frontier)
    level = 0
    while upper is None or level < upper:
        check()
        level += 1
        for side in sides.residents:
            nodes, starts = side.segments()
            kernels.push_words[grid](
                nodes, starts, len(nodes), side.indptr, side.neighbours, side.types, *_types(sides),
                frontier, seen, entered,
                HAS_TYPES=sides.flags is not None, WIDTH=width, EDGES=max(8, 256 // width), LENGTH=SEGMENT, num_warps=2,
            )  # fmt: skip
        seen |= entered
        frontier.zero_()
        frontier, entered = entered, frontier
        if (upper is None or level < upper) and level % _FIRST_LEVELS == 0 and not bool(frontier.any()):
            break
    del frontier, entered
    return _listed(seen, n, width, count)


def _listed(seen: torch.Tensor, n: int, width: int, count: int) -> tuple[torch.Tensor, torch.Tensor]:
    blocks = -(-n // kernels.NODES)
    shape: dict[str, Any] = {"WIDTH": width, "NODES": kernels.NODES, "num_warps": 4}
    counts = torch.empty((32 * width, blocks), dtype=torch.int32, device=seen.device)
    kernels.count_bits[(blocks, width)](seen, n, blocks, counts, **shape)
    ends = counts.flatten().cumsum(0, dtype=torch.int64)
    offsets = torch.cat((ends.new_zeros(1), ends.view(32 * width, blocks)[:count, -1]))
    nodes = torch.empty(int(offsets[-1]), dtype=torch.int32, device=seen.device)
    kernels.list_bits[(blocks, width)](seen, n, blocks, ends, counts, nodes, **shape)
    return offsets, nodes
