"""Every function of the hops, on every backend and layout, against plain enumeration."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.strategies import DrawFn

from hoplite.engine import hops
from hoplite.engine.hops import BackendName, Choice, Excluded, Hop, Positions, Side, TrailBatch
from hoplite.engine.hops import into as into_module
from tests import oracle
from tests.hops.backends import every_backend
from tests.hops.graphs import Sample, samples
from tests.oracle import Trail, end_of


def examples(count: int) -> settings:
    return settings(max_examples=count)


@dataclass(frozen=True)
class Case:
    """A hop with the oracle's view of it, bounds, and a few rows of sources."""

    sample: Sample
    hop: Hop
    side: oracle.Side
    types: list[int] | None
    allowed: oracle.Allowed
    lower: int
    upper: int | None
    sources: list[int]
    targets: list[int]
    used: list[tuple[int, ...]]

    @property
    def source_array(self) -> Positions:
        return np.array(self.sources, dtype=np.int64)

    @property
    def target_array(self) -> Positions:
        return np.array(self.targets, dtype=np.int64)

    @property
    def excluded(self) -> Excluded:
        offsets = np.concatenate(([0], np.cumsum([len(used) for used in self.used]))).astype(np.int64)
        return Excluded.of_lists(offsets, np.array([r for used in self.used for r in used], dtype=np.int64))

    def trails(self, row: int, lower: int | None = None, *, exclude: bool = False) -> list[Trail]:
        if self.sources[row] < 0:
            return []
        used = self.used[row] if exclude else ()
        lower = self.lower if lower is None else lower
        return list(
            oracle.trails(
                self.sample.graph, self.sources[row], lower, self.upper, self.side, self.types, self.allowed, used
            )
        )

    def steps(self, node: int) -> list[tuple[int, int]]:
        if node < 0:
            return []
        return sorted(oracle.steps(self.sample.graph, node, self.side, self.types, self.allowed))


@st.composite
def cases(draw: DrawFn, most_relationships: int = 10, *, unbounded: bool = True, turns: bool = False) -> Case:
    sample = draw(samples(most_relationships))
    side: oracle.Side = draw(st.sampled_from(["->", "<-", "--", "--"]))
    types = draw(st.none() | st.lists(st.integers(0, 3), max_size=3, unique=True))
    nodes = sample.graph.nodes
    lower = draw(st.integers(0, 3))
    upper = draw(st.integers(lower, 5) | st.none()) if unbounded else draw(st.integers(lower, 5))
    masks = draw(st.sampled_from(["none", "none", "symmetric", "oriented", "nodes"]))
    refused = draw(st.sets(st.tuples(st.integers(0, most_relationships), st.booleans()), max_size=4))
    closed_nodes = draw(st.sets(st.sampled_from(nodes), max_size=2))

    def may_follow(relationship: int, from_node: int, to_node: int) -> bool:
        return (relationship, masks == "oriented" and from_node > to_node) not in refused

    def allowed(relationship: int, from_node: int, to_node: int) -> bool:
        if masks == "none":
            return True
        if masks == "nodes":
            return to_node not in closed_nodes
        return may_follow(relationship, from_node, to_node)

    def relationship_mask(relationships: Positions, from_nodes: Positions, to_nodes: Positions) -> Any:
        rows = zip(relationships.tolist(), from_nodes.tolist(), to_nodes.tolist(), strict=True)
        return np.array([may_follow(*row) for row in rows], dtype=np.bool_)

    both = turns or draw(st.booleans())
    hop = Hop(
        Side(side),
        outgoing=sample.outgoing if side != "<-" or both else None,
        incoming=sample.incoming if side != "->" or both else None,
        types=None if types is None else np.array(types, dtype=np.int32),
        relationship_mask=hops.remember_relationships(relationship_mask)
        if masks in ("symmetric", "oriented")
        else None,
        node_mask=(
            hops.remember_nodes(lambda entered: ~np.isin(entered, list(closed_nodes))) if masks == "nodes" else None
        ),
        symmetric_mask=masks == "symmetric",
    )
    row = st.integers(-1, len(nodes) - 1)
    sources = draw(st.lists(row, min_size=1, max_size=4))
    targets = draw(st.lists(row, min_size=len(sources), max_size=len(sources)))
    some = st.lists(st.integers(0, most_relationships), max_size=2).map(tuple)
    used = draw(st.lists(some, min_size=len(sources), max_size=len(sources)))
    return Case(sample, hop, side, types, allowed, lower, upper, sources, targets, used)


def unpacked(batches: Iterator[TrailBatch]) -> list[tuple[int, Trail]]:
    """(row, trail) of every batch, in order."""
    found = []
    for batch in batches:
        assert len(batch.offsets) == len(batch.row) + 1
        assert batch.offsets[-1] == len(batch.relationships) == len(batch.nodes)
        for number, row in enumerate(batch.row.tolist()):
            part = slice(batch.offsets[number], batch.offsets[number + 1])
            found.append((row, (tuple(batch.relationships[part].tolist()), tuple(batch.nodes[part].tolist()))))
    return found


@every_backend
@examples(20)
@given(case=cases())
def test_expand_finds_the_relationships_of_each_node(backend: BackendName, case: Case) -> None:
    steps = hops.expand(case.hop, case.source_array, backend=backend)
    assert steps.row.tolist() == sorted(steps.row.tolist())
    found = Counter(zip(*(column.tolist() for column in steps), strict=True))
    assert found == Counter((row, *step) for row, node in enumerate(case.sources) for step in case.steps(node))


@examples(20)
@given(case=cases(), limit=st.integers(1, 5))
def test_expand_chunks_are_bounded_and_complete(case: Case, limit: int) -> None:
    pieces = list(hops.expand_chunks(case.hop, case.source_array, limit))
    assert all(0 < len(piece.row) <= limit for piece in pieces)
    rows = [row for piece in pieces for row in piece.row.tolist()]
    assert rows == sorted(rows)
    found = Counter(step for piece in pieces for step in zip(*(column.tolist() for column in piece), strict=True))
    assert found == Counter((row, *step) for row, node in enumerate(case.sources) for step in case.steps(node))


@pytest.mark.parametrize("look_up", ["never", "by cost", "always"])
@examples(20)
@given(case=cases())
def test_expand_into_finds_the_relationships_between_two_nodes(look_up: str, case: Case) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(into_module, "_FEW_PAIRS", 1)
        if look_up != "by cost":
            patch.setattr(into_module, "_LOOK_UP", 1 << 40 if look_up == "never" else -(1 << 40))
        _check_expand_into(case)


def _check_expand_into(case: Case) -> None:
    steps = hops.expand_into(case.hop, case.source_array, case.target_array)
    assert steps.row.tolist() == sorted(steps.row.tolist())
    found = Counter(zip(*(column.tolist() for column in steps), strict=True))
    pairs = enumerate(zip(case.sources, case.targets, strict=True))
    assert found == Counter(
        (row, *step) for row, (source, target) in pairs for step in case.steps(source) if step[1] == target
    )


@every_backend
@examples(13)
@given(case=cases())
def test_degrees_count_steps(backend: BackendName, case: Case) -> None:
    counts = hops.degrees(case.hop, case.source_array, backend=backend)
    assert counts.tolist() == [len(case.steps(node)) for node in case.sources]


@every_backend
@examples(50)
@given(case=cases(8))
def test_reach_finds_the_ends_of_trails(backend: BackendName, case: Case) -> None:
    ends = hops.reach(case.hop, case.source_array, case.lower, case.upper, backend=backend)
    assert ends.row.tolist() == sorted(ends.row.tolist())
    found = Counter(zip(ends.row.tolist(), ends.nodes.tolist(), strict=True))
    expected = {(row, end_of(start, trail)) for row, start in enumerate(case.sources) for trail in case.trails(row)}
    assert found == Counter(expected)


@every_backend
@examples(26)
@given(case=cases(8))
def test_reach_leaves_out_excluded_relationships(backend: BackendName, case: Case) -> None:
    ends = hops.reach(case.hop, case.source_array, case.lower, case.upper, excluded=case.excluded, backend=backend)
    found = Counter(zip(ends.row.tolist(), ends.nodes.tolist(), strict=True))
    expected = {
        (row, end_of(start, trail))
        for row, start in enumerate(case.sources)
        for trail in case.trails(row, exclude=True)
    }
    assert found == Counter(expected)


@every_backend
@examples(50)
@given(case=cases(8))
def test_reach_merged_finds_the_ends_from_any_source(backend: BackendName, case: Case) -> None:
    nodes = hops.reach_merged(case.hop, case.source_array, case.lower, case.upper, backend=backend)
    expected = {end_of(start, trail) for row, start in enumerate(case.sources) for trail in case.trails(row)}
    assert Counter(nodes.tolist()) == Counter(expected)


@every_backend
@examples(20)
@given(case=cases(8))
def test_levels_are_shortest_distances(backend: BackendName, case: Case) -> None:
    found = hops.levels(case.hop, case.source_array, case.upper, backend=backend)
    assert found.level.tolist() == sorted(found.level.tolist())
    shortest: dict[int, int] = {}
    for row, start in enumerate(case.sources):
        for trail in case.trails(row, 0):
            end = end_of(start, trail)
            shortest[end] = min(shortest.get(end, 99), len(trail[0]))
    assert dict(zip(found.nodes.tolist(), found.level.tolist(), strict=True)) == shortest
    assert len(found.nodes) == len(shortest)


@every_backend
@examples(26)
@given(case=cases(8), chunk=st.sampled_from([1, 5, 1000]), exclude=st.booleans())
def test_trails_are_all_there_once(backend: BackendName, case: Case, chunk: int, exclude: bool) -> None:
    batches = hops.trails(
        case.hop,
        case.source_array,
        case.lower,
        case.upper,
        excluded=case.excluded if exclude else None,
        chunk=chunk,
        backend=backend,
    )
    found = unpacked(batches)
    assert [row for row, _ in found] == sorted(row for row, _ in found)
    rows = range(len(case.sources))
    assert Counter(found) == Counter((row, trail) for row in rows for trail in case.trails(row, exclude=exclude))


@every_backend
@examples(26)
@given(case=cases(8), for_each_row=st.booleans())
def test_trails_to_given_ends(backend: BackendName, case: Case, for_each_row: bool) -> None:
    ask = partial(hops.trails, case.hop, case.source_array, case.lower, case.upper, backend=backend)
    batches = ask(ends=case.target_array) if for_each_row else ask(allowed_ends=case.target_array)
    found = unpacked(batches)
    assert [row for row, _ in found] == sorted(row for row, _ in found)
    expected = Counter(
        (row, trail)
        for row, start in enumerate(case.sources)
        for trail in case.trails(row)
        if end_of(start, trail) in (case.targets[row : row + 1] if for_each_row else case.targets)
    )
    assert Counter(found) == expected


@every_backend
@examples(20)
@given(case=cases(8))
def test_count_trails(backend: BackendName, case: Case) -> None:
    counts = hops.count_trails(case.hop, case.source_array, case.lower, case.upper, backend=backend)
    assert counts.tolist() == [len(case.trails(row)) for row in range(len(case.sources))]


@every_backend
@examples(26)
@given(case=cases(8, turns=True), lower=st.integers(0, 1), every=st.booleans(), from_one=st.booleans())
def test_shortest_paths(backend: BackendName, case: Case, lower: int, every: bool, from_one: bool) -> None:
    if from_one:
        nodes = case.sample.graph.nodes
        case = replace(case, sources=[case.sources[0]] * 2 * len(nodes), targets=[*nodes, *nodes])
    batches = hops.shortest_paths(
        case.hop, case.source_array, case.target_array, lower, case.upper, every=every, backend=backend
    )
    found = Counter(unpacked(batches))
    for row, (source, target) in enumerate(zip(case.sources, case.targets, strict=True)):
        mine = Counter({trail: count for (number, trail), count in found.items() if number == row})
        if source < 0 or target < 0 or (source == target and lower == 1):
            assert not mine
            continue
        expected = oracle.shortest(case.sample.graph, source, target, case.upper, case.side, case.types, case.allowed)
        if every or not expected:
            assert mine == Counter(expected)
        else:
            assert mine.total() == 1 and next(iter(mine)) in expected


choices = st.builds(Choice, paths=st.integers(1, 4)) | st.builds(Choice, lengths=st.integers(1, 3))


def assert_chosen(mine: Counter[Trail], expected: list[Trail], choice: Choice) -> None:
    """The shortest trails between two nodes: a number of them, or all of the first lengths."""
    assert mine <= Counter(expected)
    lengths = sorted(len(trail[0]) for trail in expected)
    if choice.paths is not None:
        wanted = lengths[: choice.paths]
    else:
        kept = sorted(set(lengths))[: choice.lengths]
        wanted = [length for length in lengths if length in kept]
    assert sorted(len(trail[0]) for trail in mine.elements()) == wanted


@every_backend
@examples(60)
@given(case=cases(9, turns=True), choice=choices, ends=st.sampled_from(["pairs", "from one", "to one", "all"]),
       odd=st.booleans())  # fmt: skip
def test_shortest_trails(backend: BackendName, case: Case, choice: Choice, ends: str, odd: bool) -> None:
    """Chosen among all trails, or among those whose relationships have an odd sum."""
    nodes = case.sample.graph.nodes
    if ends == "from one":
        case = replace(case, sources=[case.sources[0]] * 2 * len(nodes), targets=[*nodes, *nodes])
    elif ends == "to one":
        case = replace(case, sources=[*nodes, *nodes], targets=[case.targets[0]] * 2 * len(nodes))

    def is_odd(batch: TrailBatch) -> Any:
        sums: Any = np.add.reduceat(np.append(batch.relationships, 0), batch.offsets[:-1]) if len(batch.row) else []
        return (np.where(np.diff(batch.offsets) > 0, sums, 0) % 2 == 1).astype(np.bool_)

    batches = hops.shortest_trails(
        case.hop, case.source_array, None if ends == "all" else case.target_array, case.lower, case.upper, choice,
        keep=is_odd if odd else None, chunk=8, backend=backend,
    )  # fmt: skip
    found = Counter(unpacked(batches))
    for row, source in enumerate(case.sources):
        mine = [(trail, count) for (number, trail), count in found.items() if number == row]
        trails = [trail for trail in oracle_trails(case, source) if not odd or sum(trail[0]) % 2 == 1]
        for target in nodes if ends == "all" else [case.targets[row]]:
            between = [trail for trail in trails if end_of(source, trail) == target]
            chosen = Counter({trail: count for trail, count in mine if end_of(source, trail) == target})
            assert_chosen(chosen, between, choice)
        if ends != "all":
            assert all(end_of(source, trail) == case.targets[row] for trail, _ in mine)


def oracle_trails(case: Case, source: int) -> list[Trail]:
    if source < 0:
        return []
    return list(oracle.trails(case.sample.graph, source, case.lower, case.upper, case.side, case.types, case.allowed))
