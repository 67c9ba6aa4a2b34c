"""One hop between two given nodes: pairs of nodes go in, the steps between them come out."""

from __future__ import annotations

import numpy as np

from hoplite.engine.hops.expansion import chunked, gather, segments_of
from hoplite.engine.hops.interface import Check, Hop, Positions, Steps, unchecked
from hoplite.engine.hops.scratch import borrowed

_PIECE = 1 << 18
_LOOK_UP = 4  # entries read in the time it takes to look up a pair
_FEW_PAIRS = 32  # that hardly share nodes


def expand_into(hop: Hop, sources: Positions, targets: Positions, *, check: Check = unchecked) -> Steps:
    """The steps from each source to its target, searched for from the end with fewer relationships.

    If many pairs share nodes, the relationships of each node are read once and the pairs looked up among them.
    """
    if not hop.can_turn:
        ends = _Ends(hop, sources)
        if ends.together + _LOOK_UP * len(sources) < int(ends.sizes.sum()):
            return _masked(hop, _looked_up(hop, ends, targets, check), sources, targets)
        return _between(hop, sources, targets, check)
    turned = hop.turned()
    by_source, by_target = _Ends(hop, sources), _Ends(turned, targets)
    each = int(np.minimum(by_source.sizes, by_target.sizes).sum())
    if min(by_source.together, by_target.together) + _LOOK_UP * len(sources) < each:
        if by_source.together <= by_target.together:
            return _masked(hop, _looked_up(hop, by_source, targets, check), sources, targets)
        return _masked(hop, _looked_up(turned, by_target, sources, check), sources, targets)
    from_target = by_target.sizes < by_source.sizes
    if not from_target.any():
        return _between(hop, sources, targets, check)
    forwards, backwards = np.flatnonzero(~from_target), np.flatnonzero(from_target)
    near = _between(hop, sources[forwards], targets[forwards], check)
    far = _between(turned, targets[backwards], sources[backwards], check)
    far = _masked(hop, far, sources[backwards], targets[backwards])
    row = np.concatenate((forwards[near.row], backwards[far.row]))
    order = np.argsort(row, kind="stable")
    row = row[order]
    return Steps(row, np.concatenate((near.relationships, far.relationships))[order], targets[row])


class _Ends:
    """The distinct nodes at one end of some pairs, and how many entries a hop from each would read."""

    def __init__(self, hop: Hop, nodes: Positions) -> None:
        if len(nodes) <= _FEW_PAIRS:
            self.different, self.place = nodes, np.arange(len(nodes), dtype=np.int64)
            self.sizes = _sizes(hop, nodes)
            self.together = int(self.sizes.sum())
            return
        with borrowed(hop.node_count + 1) as scratch:  # the last place is for -1 (null)
            number = scratch.owner
            number[nodes] = np.arange(len(nodes))
            self.different = nodes[number[nodes] == np.arange(len(nodes))]
            number[self.different] = np.arange(len(self.different))
            self.place = number[nodes]
        counts = _sizes(hop, self.different)
        self.sizes = counts[self.place]
        self.together = int(counts.sum())


def _looked_up(hop: Hop, ends: _Ends, others: Positions, check: Check) -> Steps:
    """The steps between pairs with one end in `ends`, looked up among all steps from that end."""
    keys: list[Positions] = []
    relationships: list[Positions] = []
    for piece in chunked(hop.unmasked(), ends.different, _PIECE):
        check()
        steps = gather(hop.unmasked(), ends.different, piece.segments)
        keys.append(steps.row * hop.node_count + steps.neighbours)
        relationships.append(steps.relationships)
    none = np.zeros(0, dtype=np.int64)
    key = np.concatenate([none, *keys])
    if not len(key):
        return Steps(none, none, none)
    order = np.argsort(key, kind="stable")
    key = key[order]
    wanted = np.where(others < 0, -1, ends.place * hop.node_count + others)
    first = np.searchsorted(key, wanted)
    there = np.flatnonzero(key[np.minimum(first, len(key) - 1)] == wanted)
    last = np.searchsorted(key, wanted[there], side="right")
    counts = last - first[there]
    row = np.repeat(there, counts)
    begins = np.cumsum(counts) - counts
    at = np.arange(len(row)) - np.repeat(begins, counts) + np.repeat(first[there], counts)
    return Steps(row, np.concatenate(relationships)[order][at], others[row])


def _between(hop: Hop, sources: Positions, targets: Positions, check: Check) -> Steps:
    """The steps from each source that lead to its target. The mask is asked only about these."""
    pieces: list[Steps] = []
    for piece in chunked(hop.unmasked(), sources, _PIECE):
        check()
        steps = gather(hop.unmasked(), sources, piece.segments)
        kept = steps.neighbours == targets[steps.row]
        pieces.append(Steps(steps.row[kept], steps.relationships[kept], steps.neighbours[kept]))
    none = np.zeros(0, dtype=np.int64)
    found = (
        Steps(*(np.concatenate(columns) for columns in zip(*pieces, strict=True)))
        if pieces
        else Steps(none, none, none)
    )
    return _masked(hop, found, sources, targets)


def _masked(hop: Hop, steps: Steps, sources: Positions, targets: Positions) -> Steps:
    """The steps between the pairs that the hop's masks allow."""
    row, relationships = steps.row, steps.relationships
    if hop.relationship_mask is not None and len(row):
        kept = hop.relationship_mask(relationships, sources[row], targets[row])
        row, relationships = row[kept], relationships[kept]
    if hop.node_mask is not None and len(row):
        kept = hop.node_mask(targets[row])
        row, relationships = row[kept], relationships[kept]
    return Steps(row, relationships, targets[row])


def _sizes(hop: Hop, nodes: Positions) -> Positions:
    """How many entries a hop from each node would read."""
    sizes = np.zeros(len(nodes), dtype=np.int64)
    for segments in segments_of(hop, nodes):
        np.add.at(sizes, segments.row, segments.count)
    return sizes
