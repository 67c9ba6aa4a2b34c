"""A knowledge graph of any size, generated in pieces: degrees follow power laws on both sides, half of the
relationships stay near their subject, a few hubs stand out, types and labels are unequal. Only one piece is held.

The same arguments give the same graph. Unlike the smaller shapes of `shapes.py`, a relationship may occur twice.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]

PIECE = 1 << 22
_HUB_SHARES = (
    0.0140,
    0.0120,
    0.0105,
    0.0095,
)  # share of all relationships at each of the four largest nodes of either side
_SHIFT = 4.0  # added to a rank before raising it to a power, so that the first few are not out of proportion


@dataclass(frozen=True, slots=True)
class LargeGraph:
    """Nodes are 0 .. nodes - 1, each with the label `N` and one of the others."""

    name: str
    nodes: int
    edges: int
    types: int = 40
    labels: int = 12
    alpha_out: float = 0.60
    alpha_in: float = 0.70
    near: float = 0.5
    seed: int = 20_261_115

    # --- nodes ---

    def label_of(self, nodes: Integers) -> NDArray[np.uint8]:
        """The number of each node's label: twelve bits of a hash of the node, split by a power law."""
        share = np.cumsum(1.0 / np.arange(1, self.labels + 1))
        by_hash = np.searchsorted(share / share[-1], (np.arange(4096) + 0.5) / 4096).astype(np.uint8)
        found: NDArray[np.uint8] = by_hash[nodes * 2_654_435_761 >> 20 & 4095]
        return found

    def node_tables(self) -> dict[str | tuple[str, ...], Iterator[dict[str, Integers]]]:
        """What `db.load` takes: for each label its nodes, piece by piece."""
        return {("N", f"Type{label:02d}"): self._nodes_with(label) for label in range(self.labels)}

    def _nodes_with(self, label: int) -> Iterator[dict[str, Integers]]:
        for first in range(0, self.nodes, PIECE):
            nodes = np.arange(first, min(first + PIECE, self.nodes), dtype=np.int64)
            yield {"id": nodes[self.label_of(nodes) == label]}

    # --- relationships ---

    def type_counts(self) -> list[int]:
        """How many relationships each type has."""
        weights = 1.0 / np.arange(1, self.types + 1) ** 1.05
        counts = np.floor(weights / weights.sum() * self.edges).astype(np.int64)
        counts[0] += self.edges - counts.sum()
        found: list[int] = counts.tolist()
        return found

    def relationship_tables(self) -> dict[tuple[str, str, str], Iterator[dict[str, Integers]]]:
        """What `db.load` takes: for each type its relationships, piece by piece."""
        return {
            ("N", f"REL_{number:03d}", "N"): self._relationships(number, count)
            for number, count in enumerate(self.type_counts())
        }

    def _relationships(self, type_number: int, count: int) -> Iterator[dict[str, Integers]]:
        for piece, first in enumerate(range(0, count, PIECE)):
            rng = np.random.default_rng((self.seed, type_number, piece))
            start, end = self._drawn(rng, min(PIECE, count - first))
            yield {"start": start, "end": end}

    def _drawn(self, rng: np.random.Generator, count: int) -> tuple[Integers, Integers]:
        rank = self._ranks(rng, count, self.alpha_out)
        start = self._node(rank, 0)
        end = self._node(self._ranks(rng, count, self.alpha_in), 1)
        near = np.flatnonzero(rng.random(count) < self.near)
        # A larger node has a wider neighbourhood.
        exponent = 1.0 - self.alpha_out
        expected = self.edges * exponent * (rank[near] + _SHIFT) ** -self.alpha_out / self._mass(self.alpha_out)
        steps = np.ceil(-np.log1p(-rng.random(len(near))) * np.maximum(40.0, expected)).astype(np.int64)
        end[near] = (start[near] + np.where(rng.random(len(near)) < 0.5, -steps, steps)) % self.nodes
        # A few outright hubs, four on each side.
        which = rng.random(count)
        at = 0.0
        for hub, share in enumerate(_HUB_SHARES):
            share = min(share, self.nodes / 4 / self.edges)
            for side in (0, 1):
                chosen = np.flatnonzero((which >= at) & (which < at + share))
                others = rng.integers(0, self.nodes, len(chosen))
                centre = self._node(np.array([hub]), side)[0]
                start[chosen], end[chosen] = (centre, others) if side == 0 else (others, centre)
                at += share
        end[start == end] = (end[start == end] + 1) % self.nodes
        return start, end

    def _mass(self, alpha: float) -> float:
        exponent = 1.0 - alpha
        return float((self.nodes + _SHIFT) ** exponent - _SHIFT**exponent)

    def _ranks(self, rng: np.random.Generator, count: int, alpha: float) -> Integers:
        """Ranks r with probability proportional to (r + shift) ** -alpha, by the inverse of its integral."""
        exponent = 1.0 - alpha
        drawn = (rng.random(count) * self._mass(alpha) + _SHIFT**exponent) ** (1.0 / exponent) - _SHIFT
        ranks: Integers = np.minimum(drawn.astype(np.int64), self.nodes - 1)
        return ranks

    def _node(self, rank: Integers, side: int) -> Integers:
        """The node of a rank: ranks are scattered over all nodes by a multiplication, a different one on each side."""
        factor = (0.61803398875, 0.7548776662)[side] * self.nodes
        step = int(factor) | 1
        while np.gcd(step, self.nodes) != 1:
            step += 2
        return (rank * step + side * (self.nodes // 3)) % self.nodes


def pubmed(scale: float = 1.0) -> LargeGraph:
    """The shape of the PubMed graph: 54.4 million nodes, 86.5 million relationships of 40 types."""
    return LargeGraph("pubmed", int(54_400_000 * scale), int(86_500_000 * scale))


def billion(scale: float = 1.0) -> LargeGraph:
    """A hundred million nodes, a billion relationships."""
    return LargeGraph("billion", int(100_000_000 * scale), int(1_000_000_000 * scale))
