"""Matches of a pattern counted in plain NumPy: a few thousand partial matches at a time, step by step."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from hoplite.engine.hops.exact_sums import Sums, product
from hoplite.engine.hops.expansion import chunked, gather
from hoplite.engine.hops.interface import Booleans, Check, Hop, Positions
from hoplite.engine.hops.into import expand_into
from hoplite.engine.hops.pattern import Compare, Differ, Follow, Given, Look, Pattern
from hoplite.lazy_dataclass import dataclass

_PIECE = 1 << 16  # partial matches that one step hands to the next


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """Partial matches: the row each began with, its registers so far and its weight."""

    row: Positions
    registers: Given
    ways: Positions

    def take(self, places: Positions | Booleans) -> _Partial:
        return _Partial(
            self.row[places],
            {number: values[places] for number, values in self.registers.items()},
            self.ways[places],
        )


def count_matches(pattern: Pattern, given: Given, row_count: int, check: Check) -> Positions:
    """How many matches there are from each row, by weight."""
    sums = Sums(row_count)
    begun = _Partial(np.arange(row_count, dtype=np.int64), dict(given), np.ones(row_count, np.int64))
    waiting = [iter((begun,))]  # one iterator for each step that is under way
    while waiting:
        check()
        partial = next(waiting[-1], None)
        if partial is None:
            waiting.pop()
        elif len(waiting) > len(pattern.steps):
            sums.add(partial.row, partial.ways)
        elif len(partial.row):
            waiting.append(_after(pattern, len(waiting) - 1, partial, check))
    return sums.totals()


def _after(pattern: Pattern, number: int, partial: _Partial, check: Check) -> Iterator[_Partial]:
    """The partial matches after a step."""
    step, registers = pattern.steps[number], partial.registers
    match step:
        case Compare(left=left, right=right, same=same):
            there = (registers[left] >= 0) & (registers[right] >= 0)
            yield partial.take(there & ((registers[left] == registers[right]) == same))
        case Differ(left=left, right=right):
            yield partial.take(registers[left] != registers[right])
        case Look(hop=hop, source=source, target=target, there=there_wanted):
            yield partial.take(_is_there(hop, registers[source], registers[target], check) == there_wanted)
        case Follow(hop=hop, source=source, target=target, into=True):
            steps = expand_into(hop, registers[source], registers[target], check=check)
            extended = partial.take(steps.row)
            if step.relationship >= 0:
                extended.registers[step.relationship] = steps.relationships
            yield extended
        case Follow(hop=hop, source=source):
            for piece in chunked(hop, registers[source], _PIECE):
                check()
                steps = gather(hop, registers[source], piece.segments, step.relationship >= 0)
                extended = partial.take(steps.row)
                if step.relationship >= 0:
                    extended.registers[step.relationship] = steps.relationships
                yield _weighted(pattern, step, extended, steps.neighbours)


def _weighted(pattern: Pattern, step: Follow, partial: _Partial, nodes: Positions) -> _Partial:
    """The partial matches with the nodes that were followed to."""
    partial.registers[step.target] = nodes
    number = pattern.weighted.get(step.target)
    if number is None:
        return partial
    of_nodes = pattern.weights[number, nodes]
    kept = of_nodes > 0
    partial = partial.take(kept)
    return _Partial(partial.row, partial.registers, product(partial.ways, of_nodes[kept]))


def _is_there(hop: Hop, sources: Positions, targets: Positions, check: Check) -> Booleans:
    found = np.zeros(len(sources), np.bool_)
    found[expand_into(hop, sources, targets, check=check).row] = True
    return found
