"""Matches of a pattern counted in plain NumPy: a few thousand partial matches at a time, step by step."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from hoplite.engine.hops.exact_sums import Sums, product
from hoplite.engine.hops.expansion import chunked, gather
from hoplite.engine.hops.interface import Booleans, Check, Hop, Positions
from hoplite.engine.hops.into import expand_into
from hoplite.engine.hops.pattern import Compare, Differ, EndCounts, Follow, Given, Look, Pattern
from hoplite.lazy_dataclass import dataclass

_PIECE = 1 << 16  # partial matches passed from one step to the next
_ROWS = 1 << 10  # whose ends are held at once


def _forget(amount: int) -> None:
    """The `note_work` of a caller that does not ask how much work it was."""


@dataclass(frozen=True, slots=True, eq=False)
class _Partial:
    """Partial matches: the row each belongs to, its registers so far, and its weight."""

    row: Positions
    registers: Given
    ways: Positions

    def take(self, places: Positions | Booleans) -> _Partial:
        return _Partial(
            self.row[places],
            {number: values[places] for number, values in self.registers.items()},
            self.ways[places],
        )


def count_matches(
    pattern: Pattern, given: Given, row_count: int, check: Check, note_work: Callable[[int], None] = _forget
) -> Positions:
    """The weighted number of matches from each row. `note_work` is told how many partial matches it takes."""
    sums = Sums(row_count)
    for partial in _matched(pattern, given, row_count, check, note_work):
        sums.add(partial.row, partial.ways)
    return sums.totals()


def count_matches_by_end(
    pattern: Pattern, given: Given, row_count: int, check: Check, note_work: Callable[[int], None] = _forget
) -> Iterator[EndCounts]:
    """The same for each row and node at the end of the pattern, for a few rows at a time."""
    node_count = pattern.first_hop.node_count
    for begin in range(0, row_count, _ROWS):
        size = min(_ROWS, row_count - begin)
        of_rows = {number: values[begin : begin + size] for number, values in given.items()}
        keys, ways = np.zeros(0, np.int64), np.zeros(0, np.int64)
        piled: list[tuple[Positions, Positions]] = []
        for partial in _matched(pattern, of_rows, size, check, note_work):
            piled.append((partial.row * node_count + partial.registers[pattern.end], partial.ways))
            if sum(len(more) for more, _ in piled) > max(len(keys), _PIECE):
                keys, ways = _merged([(keys, ways), *piled])
                piled = []
        keys, ways = _merged([(keys, ways), *piled])
        yield EndCounts(keys // node_count + begin, keys % node_count, ways)


def _merged(piled: list[tuple[Positions, Positions]]) -> tuple[Positions, Positions]:
    """The distinct keys, and the sum of the ways of each."""
    keys, place = np.unique(np.concatenate([keys for keys, _ in piled]), return_inverse=True)
    sums = Sums(len(keys))
    sums.add(place.reshape(-1), np.concatenate([ways for _, ways in piled]))
    return keys, sums.totals()


def _matched(
    pattern: Pattern, given: Given, row_count: int, check: Check, note_work: Callable[[int], None]
) -> Iterator[_Partial]:
    """The matches with their weights; those that differ only in a last step that is summed over are one."""
    begun = _Partial(np.arange(row_count, dtype=np.int64), dict(given), np.ones(row_count, np.int64))
    waiting = [iter((begun,))]  # one iterator for each step in progress
    summed = pattern.summed_step
    while waiting:
        check()
        partial = next(waiting[-1], None)
        if partial is None:
            waiting.pop()
        elif len(waiting) > len(pattern.steps):
            yield partial
        elif len(partial.row):
            note_work(len(partial.row))
            if len(waiting) - 1 == summed:
                ways = product(partial.ways, _ways_on(pattern, summed, partial, check))
                yield _Partial(partial.row, partial.registers, ways).take(ways > 0)
                continue
            waiting.append(_after(pattern, len(waiting) - 1, partial, check))


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
    """The partial matches, weighted by the nodes they have reached."""
    partial.registers[step.target] = nodes
    number = pattern.weighted.get(step.target)
    if number is None:
        return partial
    of_nodes = pattern.weights[number, nodes]
    kept = of_nodes > 0
    partial = partial.take(kept)
    return _Partial(partial.row, partial.registers, product(partial.ways, of_nodes[kept]))


def _ways_on(pattern: Pattern, number: int, partial: _Partial, check: Check) -> Positions:
    """The total weight of everything the last hop leads to, less what the steps after it forbid."""
    follow, registers = pattern.steps[number], partial.registers
    assert isinstance(follow, Follow)
    hop, sources = follow.hop, registers[follow.source]
    row = pattern.weighted.get(follow.target)
    weights = None if row is None else pattern.weights[row]
    different, place = np.unique(sources, return_inverse=True)
    sums = Sums(len(different))
    for piece in chunked(hop, different, _PIECE):
        check()
        steps = gather(hop, different, piece.segments, False)
        sums.add(steps.row, np.ones(len(steps.row), np.int64) if weights is None else weights[steps.neighbours])
    ways = sums.totals()[place.reshape(-1)]
    avoided: list[Positions] = []  # forbidden nodes, for each row
    ends = pattern.relationship_ends
    for step in sorted(pattern.steps[number + 1 :], key=lambda step: isinstance(step, Differ)):
        if isinstance(step, Compare):
            other = registers[step.right if step.left == follow.target else step.left]
            ways = np.where(other < 0, 0, ways)
        else:
            assert isinstance(step, Differ)
            one, two = (registers[end] for end in ends[step.right])
            other = np.where(sources == one, two, np.where(sources == two, one, -1))
        for earlier in avoided:
            other = np.where(other == earlier, -1, other)
        found = expand_into(hop, sources, other, check=check)
        rows = found.row
        if isinstance(step, Differ):
            rows = rows[found.relationships == registers[step.right][rows]]
        else:
            avoided.append(other)
        ways = ways - np.bincount(rows, minlength=len(ways)) * (1 if weights is None else weights[other])
    return np.maximum(ways, 0)


def _is_there(hop: Hop, sources: Positions, targets: Positions, check: Check) -> Booleans:
    found = np.zeros(len(sources), np.bool_)
    found[expand_into(hop, sources, targets, check=check).row] = True
    return found
