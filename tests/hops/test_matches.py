"""Matches of patterns, counted on every backend, against plain enumeration: every step is tried for every match."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from hoplite.engine import hops
from hoplite.engine.hops import BackendName, Hop, Side, numba_matches, numba_relations, numpy_matches, threads
from hoplite.engine.hops.numba_backend import load_kernels
from hoplite.engine.hops.pattern import Compare, Differ, Follow, Look, MatchStep, Pattern
from tests.hops.backends import every_backend
from tests.hops.test_bfs import parted
from tests.hops.test_work import random_hop

_NODES = 30


def steps_of(hop: Hop, node: int) -> list[tuple[int, int]]:
    """The relationships from a node and where they lead."""
    found = hops.expand(hop, np.array([node], dtype=np.int64), backend="numpy")
    return list(zip(found.relationships.tolist(), found.neighbours.tolist(), strict=True))


def enumerated(pattern: Pattern, registers: dict[int, int], at: int = 0) -> Iterator[tuple[dict[int, int], int]]:
    """The matches that continue from some registers, and their weights."""
    if at == len(pattern.steps):
        yield registers, 1
        return
    match pattern.steps[at]:
        case Compare(left=left, right=right, same=same):
            nodes = registers[left], registers[right]
            holds = min(nodes) >= 0 and (nodes[0] == nodes[1]) == same
        case Differ(left=left, right=right):
            holds = registers[left] != registers[right]
        case Look(hop=hop, source=source, target=target, there=there):
            holds = any(end == registers[target] for _, end in steps_of(hop, registers[source])) == there
        case Follow() as step:
            for now, weight in followed(pattern, step, registers):
                if weight:
                    yield from ((one, weight * more) for one, more in enumerated(pattern, now, at + 1))
            return
    if holds:
        yield from enumerated(pattern, registers, at + 1)


def followed(pattern: Pattern, step: Follow, registers: dict[int, int]) -> Iterator[tuple[dict[int, int], int]]:
    for relationship, node in steps_of(step.hop, registers[step.source]):
        if not step.into or node == registers[step.target]:
            row = None if step.into else pattern.weighted.get(step.target)
            weight = 1 if row is None else int(pattern.weights[row, node])
            yield {**registers, step.target: node, step.relationship: relationship}, weight


def random_pattern(chance: random.Random, partitions: int) -> tuple[Pattern, set[int]]:
    """A pattern of two to four hops from one or two nodes of a row, and the registers that the row gives."""
    made = [random_hop(_NODES, 90, side, types) for side in Side for types in (None, [1], [1, 2])]
    some = [parted(hop, partitions) if partitions > 1 else hop for hop in made]
    given = {0, 1} if chance.random() < 0.4 else {0}
    nodes, relationships, count = sorted(given), list[int](), len(given)
    steps: list[MatchStep] = []
    for _ in range(chance.randint(2, 4)):
        into = chance.random() < 0.3
        source = chance.choice(nodes)
        target = chance.choice(nodes) if into else count
        count += not into
        steps.append(Follow(chance.choice(some), source, target, count, into))
        if not into:
            nodes.append(target)
        relationships.append(count)
        count += 1
        while len(nodes) > 1 and chance.random() < 0.5:
            steps.append(random_check(chance, some, nodes, relationships))
    weighted = {
        step.target: number
        for number, step in enumerate(s for s in steps if isinstance(s, Follow) and not s.into)
        if chance.random() < 0.4
    }
    rows = {register: row for row, register in enumerate(weighted)}
    weights = np.array([[chance.randint(0, 3) for _ in range(_NODES)] for _ in rows], np.int64).reshape(-1, _NODES)
    return Pattern(tuple(steps), count, rows, weights), given


def random_check(chance: random.Random, some: list[Hop], nodes: list[int], relationships: list[int]) -> MatchStep:
    match chance.choice(("compare", "compare", "differ", "differ", "look")):
        case "compare":
            return Compare(chance.choice(nodes), chance.choice(nodes), chance.random() < 0.2)
        case "differ" if len(relationships) > 1:
            return Differ(relationships[-1], chance.choice(relationships[:-1]))
        case _:
            return Look(chance.choice(some), chance.choice(nodes), chance.choice(nodes), chance.random() < 0.4)


@every_backend
@pytest.mark.parametrize("seed", range(40))
def test_matches_are_those_that_enumeration_finds(
    monkeypatch: pytest.MonkeyPatch, backend: BackendName, seed: int
) -> None:
    monkeypatch.setattr(numba_matches, "_WORK", 7)
    monkeypatch.setattr(numba_matches, "_ALONE", 5)
    monkeypatch.setattr(threads, "thread_count", lambda: 1 + seed % 3)
    monkeypatch.setattr(numba_relations, "_NODES", 4)
    monkeypatch.setattr(numba_matches, "_FIRST_ROWS", 2 + 98 * (seed % 2))
    chance = random.Random(seed)
    for _ in range(4):
        pattern, given = random_pattern(chance, 1 + seed % 4 // 3)
        rows = {number: [chance.randint(-1, _NODES - 1) for _ in range(20)] for number in given}
        starts = [{number: rows[number][row] for number in given} for row in range(20)]
        expected = [sum(weight for _, weight in enumerated(pattern, start)) for start in starts]
        values = {number: np.array(nodes, np.int64) for number, nodes in rows.items()}
        found = [hops.count_matches(pattern, values, 20, backend=backend).tolist() for _ in range(2)]
        assert found == [expected, expected]


@every_backend
@pytest.mark.parametrize("seed", range(20))
def test_matches_are_counted_for_each_end(monkeypatch: pytest.MonkeyPatch, backend: BackendName, seed: int) -> None:
    monkeypatch.setattr(numba_matches, "_WORK", 7)
    monkeypatch.setattr(numba_matches, "_FIRST_ROWS_BY_END", 1 + seed % 5)
    monkeypatch.setattr(numba_matches, "_PAIRS_AT_ONCE", seed % 3 * 20)
    monkeypatch.setattr(threads, "thread_count", lambda: 1 + seed % 3)
    monkeypatch.setattr(numpy_matches, "_ROWS", 3)
    monkeypatch.setattr(numpy_matches, "_PIECE", 10)
    chance = random.Random(seed)
    for _ in range(2):
        pattern, given = random_pattern(chance, 1 + seed % 4 // 3)
        ends = [step.target for step in pattern.steps if isinstance(step, Follow) and not step.into]
        if not ends:
            continue
        pattern = replace(pattern, end=chance.choice(ends))
        rows = {number: [chance.randint(-1, _NODES - 1) for _ in range(6)] for number in given}
        expected: Counter[tuple[int, int]] = Counter()
        for row in range(6):
            for match, weight in enumerated(pattern, {number: rows[number][row] for number in given}):
                expected[row, match[pattern.end]] += weight
        values = {number: np.array(nodes, np.int64) for number, nodes in rows.items()}
        for _ in range(2):
            found = list(hops.count_matches_by_end(pattern, values, 6, backend=backend))
            pairs = [pair for one in found for pair in zip(one.rows.tolist(), one.ends.tolist(), strict=True)]
            assert len(pairs) == len(set(pairs))
            assert dict(zip(pairs, (n for one in found for n in one.counts.tolist()), strict=True)) == expected


def test_weights_beyond_what_loops_can_add_are_added_exactly() -> None:
    hop = random_hop(_NODES, 90, Side.BOTH, None)
    steps = (Follow(hop, 0, 1, -1, False), Follow(hop, 1, 2, -1, False))
    weights = np.full((2, _NODES), 1 << 20, np.int64)
    given = {0: np.arange(_NODES, dtype=np.int64)}
    found = hops.count_matches(Pattern(steps, 3, {1: 0, 2: 1}, weights), given, _NODES, backend="numba")
    plain = hops.count_matches(Pattern(steps, 3, {}, weights[:0]), given, _NODES, backend="numpy")
    assert found.tolist() == [count << 40 for count in plain.tolist()]


@pytest.mark.parametrize("side", list(Side))
@pytest.mark.parametrize("types", [None, [1], [1, 2]])
@pytest.mark.parametrize("partitions", [1, 3])
def test_entries_are_written_down_in_order_of_neighbours(
    monkeypatch: pytest.MonkeyPatch, side: Side, types: list[int] | None, partitions: int
) -> None:
    monkeypatch.setattr(numba_relations, "_NODES", 7)
    load_kernels()
    hop = random_hop(_NODES, 300, side, types)
    hop = parted(hop, partitions) if partitions > 1 else hop
    begins, neighbours, relationships = numba_relations.written(hop, hops.unchecked)
    for node in range(_NODES):
        here = slice(int(begins[node]), int(begins[node + 1]))
        found = list(zip(neighbours[here].tolist(), relationships[here].tolist(), strict=True))
        assert [end for end, _ in found] == sorted(end for end, _ in found)
        assert sorted(found) == sorted((end, relationship) for relationship, end in steps_of(hop, node))


@pytest.mark.parametrize("side", list(Side))
def test_sums_for_all_nodes_are_those_over_their_steps(side: Side) -> None:
    hop = random_hop(_NODES, 300, side, [1, 2])
    weights = np.arange(_NODES, dtype=np.int64) * 3
    sums, counts = (hops.sums_for_all(hop, given, backend="numba") for given in (weights, None))
    assert sums is not None
    assert counts is not None
    assert sums.tolist() == [sum(end * 3 for _, end in steps_of(hop, node)) for node in range(_NODES)]
    assert counts.tolist() == [len(steps_of(hop, node)) for node in range(_NODES)]
    assert hops.sums_for_all(hop, weights + (1 << 60), backend="numba") is None
