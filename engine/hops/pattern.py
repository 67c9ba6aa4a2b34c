"""Patterns whose matches are counted from given nodes, without making any of them.

A pattern is a list of steps over registers. Each row gives some registers their nodes and relationships, and the steps
fill the others, one after another:

    Follow   a relationship from a bound node to a new one, or between two bound ones (`into`)
    Compare  two bound nodes are the same, or differ
    Look     a relationship between two bound nodes is there, or is missing
    Differ   two relationships are not the same

A match is a way through all steps, and counts as often as the product of its nodes' weights. A node's weight is the
number of ways to continue along branches that hang from it alone, and 0 where the pattern does not allow the node.

With an `end`, a register that a step fills, matches are counted separately for each node in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.hops.interface import Hop, Positions
from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class Follow:
    """One hop; `relationship` is the register for the relationship, -1 if none is needed."""

    hop: Hop
    source: int
    target: int
    relationship: int
    into: bool


@dataclass(frozen=True, slots=True, eq=False)
class Compare:
    """Two nodes are the same, or differ; null is neither equal to nor different from anything."""

    left: int
    right: int
    same: bool


@dataclass(frozen=True, slots=True, eq=False)
class Look:
    """A hop between two nodes exists, or does not."""

    hop: Hop
    source: int
    target: int
    there: bool


@dataclass(frozen=True, slots=True, eq=False)
class Differ:
    """Two relationships differ."""

    left: int
    right: int


MatchStep: TypeAlias = Follow | Compare | Look | Differ


@dataclass(frozen=True, slots=True, eq=False)
class Pattern:
    """Steps over registers. The register of a node that a step leads to may have weights: `weighted` names its row in
    `weights`, which has a column for each node of the graph.
    """

    steps: tuple[MatchStep, ...]
    register_count: int
    weighted: dict[int, int]
    weights: NDArray[np.int64]
    end: int = -1
    # What a backend keeps for the next rows of the same pattern.
    prepared: dict[str, object] = field(default_factory=dict)

    @property
    def summed_step(self) -> int | None:
        """The last step that follows a relationship, if the steps after it only ask that its node and relationship
        differ from others. Such a step need not be taken: all neighbours count, less those."""
        last = max(number for number, step in enumerate(self.steps) if isinstance(step, Follow))
        follow = self.steps[last]
        assert isinstance(follow, Follow)
        ends = self.relationship_ends
        for step in self.steps[last + 1 :]:
            match step:
                case Compare(left=left, right=right, same=False) if (left == follow.target) != (right == follow.target):
                    pass
                case Differ(left=left, right=right) if left == follow.relationship and right in ends:
                    pass
                case _:
                    return None
        return None if follow.into or follow.target == self.end else last

    @property
    def relationship_ends(self) -> dict[int, tuple[int, int]]:
        """The registers of a relationship's two nodes, by its own register."""
        return {
            step.relationship: (step.source, step.target)
            for step in self.steps
            if isinstance(step, Follow) and step.relationship >= 0
        }

    @property
    def hops(self) -> tuple[Hop, ...]:
        """What is followed and looked for."""
        return tuple(step.hop for step in self.steps if isinstance(step, Follow | Look))

    @property
    def first_hop(self) -> Hop:
        """Any hop of the graph."""
        return self.hops[0]


Given: TypeAlias = dict[int, Positions]
"""The contents of the registers that each row binds."""


@dataclass(frozen=True, slots=True, eq=False)
class EndCounts:
    """Pairs of a row and a node at the end of a pattern, each once, and the number of matches between them."""

    rows: Positions
    ends: Positions
    counts: Positions

    @staticmethod
    def joined(pieces: Sequence[EndCounts]) -> EndCounts:
        """All pairs together; no pair is in two pieces."""
        rows, ends, counts = ([getattr(one, name) for one in pieces] for name in ("rows", "ends", "counts"))
        return EndCounts(np.concatenate(rows), np.concatenate(ends), np.concatenate(counts))

    def moved(self, by: int) -> EndCounts:
        """The same for rows that come this many later."""
        return EndCounts(self.rows + by, self.ends, self.counts)
