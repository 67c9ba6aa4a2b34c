"""Kernels for a CUDA device: one search in a queue, and many searches at once in the bits of words.

    queue    int32[nodes]             what a search has entered, in order; longer if sources may be entered again
    counts   int32[LEVELS + 1]        how many nodes each level has
    mark     int32[nodes]             the number of the last search that entered a node, so nothing has to be cleared
    words    int32[nodes, width]      bit q % 32 of word q // 32 belongs to search q

Kernels are not specialized on numbers: each is compiled once per combination of its upper-case arguments, not again for
a query whose numbers happen to be divisible by something.

A search goes from level to level without asking the host: each launch reads on the device where its level begins.
"""

from __future__ import annotations

from functools import cache

import torch
import triton
import triton.language as tl

# Levels searched before the host checks whether anything is left.
LEVELS = 63
# Nodes whose bits one program unpacks.
NODES = 512
_PROGRAMS_FOR_EACH = 16


@cache
def programs(device: torch.device) -> int:
    """The number of programs that keep the device busy; they share whatever work there is."""
    return int(torch.cuda.get_device_properties(device).multi_processor_count) * _PROGRAMS_FOR_EACH


@triton.jit(do_not_specialize=["count", "search"])
def mark_all(queue, count, mark, search, BLOCK: tl.constexpr):
    """Mark the first nodes of the queue."""
    lanes = tl.arange(0, BLOCK)
    for at in range(0, count, BLOCK):
        wanted = at + lanes < count
        node = tl.load(queue + at + lanes, mask=wanted, other=0)
        tl.store(mark + node, search + tl.zeros_like(node), mask=wanted)


@triton.jit(do_not_specialize=["begin", "level", "search", "flag_count"])
def push(
    queue, counts, begin, level, mark, search,
    indptr, neighbours, types, flags, flag_count,
    HAS_TYPES: tl.constexpr, BLOCK: tl.constexpr, SLOTS: tl.constexpr,
):  # fmt: skip
    """Enter the neighbours of one level: level l of this launch is queue[begin + sum(counts[:l])] and on."""
    slots = tl.arange(0, SLOTS)
    held = tl.load(counts + slots)
    head = begin + tl.sum(tl.where(slots < level, held, 0))
    tail = begin + tl.sum(tl.where(slots <= level, held, 0))
    lanes = tl.arange(0, BLOCK)
    for place in range(head + tl.program_id(0), tail, tl.num_programs(0)):
        node = tl.load(queue + place)
        first = tl.load(indptr + node)
        last = tl.load(indptr + node + 1)
        for at in range(first, last, BLOCK):
            entry = at + lanes
            wanted = entry < last
            neighbour = tl.load(neighbours + entry, mask=wanted, other=0)
            if HAS_TYPES:
                code = tl.load(types + entry, mask=wanted, other=0)
                wanted = wanted & (tl.load(flags + tl.minimum(code, flag_count - 1), mask=wanted, other=0) != 0)
            # Most neighbours were entered before: a plain read is cheaper than the atomic exchange that decides.
            wanted = wanted & (tl.load(mark + neighbour, mask=wanted, other=0) != search)
            new = wanted & (tl.atomic_xchg(mark + neighbour, search + tl.zeros_like(neighbour), mask=wanted) != search)
            flag = new.to(tl.int32)
            entered = tl.sum(flag)
            if entered > 0:
                base = tail + tl.atomic_add(counts + level + 1, entered)
                tl.store(queue + base + tl.cumsum(flag) - flag, neighbour, mask=new)


@triton.jit(do_not_specialize=["segment_count", "flag_count"])
def push_words(
    segment_nodes, segment_starts, segment_count,
    indptr, neighbours, types, flags, flag_count, frontier, seen, entered,
    HAS_TYPES: tl.constexpr, WIDTH: tl.constexpr, EDGES: tl.constexpr, LENGTH: tl.constexpr,
):  # fmt: skip
    """entered[neighbour] |= frontier[node] & ~seen[neighbour], for the entries of every segment."""
    words = tl.arange(0, WIDTH)
    edges = tl.arange(0, EDGES)
    for number in range(tl.program_id(0), segment_count, tl.num_programs(0)):
        node = tl.load(segment_nodes + number).to(tl.int64)
        bits = tl.load(frontier + node * WIDTH + words)
        if tl.max((bits != 0).to(tl.int32)) > 0:
            first = tl.load(segment_starts + number)
            last = tl.minimum(tl.load(indptr + node + 1), first + LENGTH)
            for at in range(first, last, EDGES):
                entry = at + edges
                wanted = entry < last
                neighbour = tl.load(neighbours + entry, mask=wanted, other=0).to(tl.int64)
                if HAS_TYPES:
                    code = tl.load(types + entry, mask=wanted, other=0)
                    wanted = wanted & (tl.load(flags + tl.minimum(code, flag_count - 1), mask=wanted, other=0) != 0)
                place = neighbour[:, None] * WIDTH + words[None, :]
                old = tl.load(seen + place, mask=wanted[:, None], other=-1)
                new = bits[None, :] & ~old
                tl.atomic_or(entered + place, new, mask=new != 0)


@triton.jit(do_not_specialize=["node_count", "blocks"])
def count_bits(seen, node_count, blocks, counts, WIDTH: tl.constexpr, NODES: tl.constexpr):
    """counts[q, b]: how many of the nodes of block b search q has entered."""
    block, word = tl.program_id(0), tl.program_id(1)
    node = block.to(tl.int64) * NODES + tl.arange(0, NODES)
    bits = tl.load(seen + node * WIDTH + word, mask=node < node_count, other=0)
    for bit in tl.static_range(32):
        tl.store(counts + (word * 32 + bit) * blocks + block, tl.sum((bits >> bit) & 1))


@triton.jit(do_not_specialize=["node_count", "blocks"])
def list_bits(
    seen, node_count, blocks, ends, counts, nodes,
    WIDTH: tl.constexpr, NODES: tl.constexpr,
):  # fmt: skip
    """The nodes that each search has entered, ascending, one search after another: ends[q, b] is where those of block b
    end."""
    block, word = tl.program_id(0), tl.program_id(1)
    node = block.to(tl.int64) * NODES + tl.arange(0, NODES)
    bits = tl.load(seen + node * WIDTH + word, mask=node < node_count, other=0)
    for bit in tl.static_range(32):
        cell = (word * 32 + bit) * blocks + block
        flag = (bits >> bit) & 1
        first = tl.load(ends + cell) - tl.load(counts + cell)
        tl.store(nodes + first + tl.cumsum(flag) - flag, node.to(tl.int32), mask=flag != 0)
