"""Frontiers in Torch's own operations, on any device: gathers and scatters over the frontier, nothing as wide as the
graph.

Tensors of nodes are int64 on the graph's device. A search from one set of sources marks what it has seen in a tensor of
one byte per node, which it borrows and returns clear; several groups are searched together, over the pairs group *
node_count + node in sorted tensors.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import torch

from hoplite.engine.hops.interface import UNLIMITED, Check
from hoplite.engine.hops.torch_resident import Resident
from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """What a step may follow, on the device: one side or both, and the allowed types by code (the last entry stands for
    all larger codes; None: any type)."""

    residents: Sequence[Resident]
    flags: torch.Tensor | None
    node_count: int

    @property
    def device(self) -> torch.device:
        return self.residents[0].indptr.device


@dataclass(frozen=True, slots=True, eq=False)
class Found:
    """Nodes by ascending level; ends[l] of them are within l levels. `complete`: there is nothing beyond."""

    nodes: torch.Tensor
    ends: list[int]
    complete: bool


def entries_of(side: Resident, nodes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """(index into nodes, entry) for every entry of the nodes."""
    start = side.indptr[nodes]
    count = side.indptr[nodes + 1] - start
    row = torch.repeat_interleave(count)
    return row, torch.arange(len(row), device=row.device) + (start - count.cumsum(0) + count)[row]


def steps(sides: Sides, nodes: torch.Tensor) -> Iterator[tuple[Resident, int, torch.Tensor, torch.Tensor]]:
    """For each side, numbered, the entries that a step from the nodes may follow: (side, number, row, entry)."""
    for number, side in enumerate(sides.residents):
        row, entry = entries_of(side, nodes)
        if sides.flags is not None:
            allowed = sides.flags[side.types[entry].long().clamp_(max=len(sides.flags) - 1)]
            row, entry = row[allowed], entry[allowed]
        yield side, number, row, entry


def breadth(sides: Sides, nodes: torch.Tensor) -> int:
    """How many entries a step from the nodes looks at."""
    return sum(int((side.indptr[nodes + 1] - side.indptr[nodes]).sum()) for side in sides.residents)


def expand(sides: Sides, nodes: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """(row, relationship, neighbour) of every step from the nodes, by ascending row. -1 stands for no node."""
    kept = torch.nonzero((nodes >= 0) & (nodes < sides.node_count)).flatten()
    pieces = []
    for side, number, row, entry in steps(sides, nodes[kept]):
        neighbour = side.neighbours[entry].long()
        row = kept[row]
        if number == 1:
            # A self-loop is on both sides of its node: only one counts.
            other = neighbour != nodes[row]
            row, entry, neighbour = row[other], entry[other], neighbour[other]
        own = side.relationships
        pieces.append((row, entry + side.first_relationship if own is None else own[entry], neighbour))
    if len(pieces) == 1:
        return pieces[0]
    row, relationship, neighbour = (torch.cat(columns) for columns in zip(*pieces, strict=True))
    order = torch.sort(row, stable=True).indices
    return row[order], relationship[order], neighbour[order]


class Scratch:
    """Tensors with an entry per node, kept between searches: `mark` is all zero when borrowed and when returned."""

    def __init__(self, size: int, device: torch.device) -> None:
        self.mark = torch.zeros(size, dtype=torch.bool, device=device)
        self.owner = torch.empty(size, dtype=torch.int64, device=device)


_free: dict[tuple[int, torch.device], list[Scratch]] = {}


@contextmanager
def _lent(size: int, device: torch.device) -> Iterator[Scratch]:
    pool = _free.setdefault((size, device), [])
    try:
        scratch = pool.pop()
    except IndexError:
        scratch = Scratch(size, device)
    yield scratch
    # After an error marks may still be set: these tensors are not used again.
    pool.append(scratch)


def _distinct(nodes: torch.Tensor, owner: torch.Tensor) -> torch.Tensor:
    """The distinct nodes. Whichever index wins a node's place in `owner`, exactly one finds itself there."""
    numbers = torch.arange(len(nodes), device=nodes.device)
    owner[nodes] = numbers
    return nodes[owner[nodes] == numbers]


def search(
    sides: Sides, sources: torch.Tensor, upper: int | None, mark_starts: bool, budget: int | None, check: Check
) -> Found:
    """Breadth-first from all sources together. Without `mark_starts`, sources are found only when a walk comes back to
    them."""
    with _lent(sides.node_count, sides.device) as scratch:
        frontier = _distinct(sources, scratch.owner)
        levels = [frontier if mark_starts else frontier[:0]]
        scratch.mark[levels[0]] = True
        while len(frontier) and (upper is None or len(levels) <= upper):
            check()
            if budget is not None:
                budget -= breadth(sides, frontier)
                if budget < 0:
                    break
            entered = []
            for side, _, _, entry in steps(sides, frontier):
                neighbours = side.neighbours[entry].long()
                new = _distinct(neighbours[~scratch.mark[neighbours]], scratch.owner)
                scratch.mark[new] = True
                entered.append(new)
            frontier = entered[0] if len(entered) == 1 else torch.cat(entered)
            levels.append(frontier)
        nodes = torch.cat(levels)
        scratch.mark[nodes] = False
    ends = torch.tensor([len(level) for level in levels]).cumsum(0).tolist()
    return Found(nodes, ends, not len(frontier))


def search_groups(
    sides: Sides, keys: torch.Tensor, upper: int | None, mark_starts: bool, budget: int | None, check: Check
) -> tuple[torch.Tensor, torch.Tensor, int]:
    """Breadth-first for each group separately: `keys` are distinct pairs group * node_count + node, ascending.

    Returns such pairs with the level of each, by ascending group and level, and the depth up to which they are
    complete.
    """
    n = sides.node_count
    seen = keys if mark_starts else keys[:0]
    found, levels = [seen], [torch.zeros_like(seen)]
    frontier, level = keys, 0
    while len(frontier) and (upper is None or level < upper):
        check()
        nodes = frontier % n
        if budget is not None:
            budget -= breadth(sides, nodes)
            if budget < 0:
                break
        level += 1
        base = frontier - nodes
        entered = torch.unique(
            torch.cat([base[row] + side.neighbours[entry] for side, _, row, entry in steps(sides, nodes)])
        )
        place = torch.searchsorted(seen, entered)
        place.clamp_(max=max(len(seen) - 1, 0))
        new = entered[seen[place] != entered] if len(seen) else entered
        seen = torch.sort(torch.cat((seen, new))).values
        found.append(new)
        levels.append(torch.full_like(new, level))
        frontier = new
    key, reached = torch.cat(found), torch.cat(levels)
    order = torch.sort(key // n, stable=True).indices
    return key[order], reached[order], level if len(frontier) else UNLIMITED
