"""Synthetic knowledge graphs in the shape of real ones: a scale and a seed in, arrays out.

Degrees follow power laws on both sides, a few hubs stand out, half of the relationships of `umls` stay near their
subject (like concepts of one area), and relationship types are few and unequal. `python -m benchmarks.shapes` prints
statistics.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shape:
    """Relationship i goes from `start[i]` to `end[i]` and has the type `type_names[type[i]]`; the order is random.

    Nodes are 0..node_count-1; `label_begin[k]` is the first node of label k, whose nodes are consecutive.
    """

    name: str
    label_names: tuple[str, ...]
    label_begin: Integers  # one longer than label_names
    start: Integers
    end: Integers
    type: Integers
    type_names: tuple[str, ...]
    names: tuple[str, ...] = ()  # of the nodes, if the shape has names

    @property
    def node_count(self) -> int:
        return int(self.label_begin[-1])

    def nodes(self, label: str) -> Integers:
        """The nodes of a label, in order."""
        place = self.label_names.index(label)
        return np.arange(self.label_begin[place], self.label_begin[place + 1])

    def ends(self, type_name: str) -> tuple[Integers, Integers]:
        """Starts and ends of the relationships of one type."""
        chosen = self.type == self.type_names.index(type_name)
        return self.start[chosen], self.end[chosen]


# --- UMLS: concepts --------------------------------------------------------------------------------------------------

UMLS_NODES, UMLS_EDGES, UMLS_TYPES = 407_000, 3_400_000, 130
_HUB_SHARES = (
    0.0140,
    0.0120,
    0.0105,
    0.0095,
)  # share of all relationships at each of the four largest nodes of either side


def umls(scale: float = 1.0, seed: int = 7) -> Shape:
    """407,000 concepts of one label and 3.4 million relationships of 130 types, at scale 1, with four hubs each way."""
    rng = np.random.default_rng(seed)
    nodes, edges = int(UMLS_NODES * scale), int(UMLS_EDGES * scale)
    subject_law, object_law = _PowerLaw(nodes, 0.80, 4.0), _PowerLaw(nodes, 0.85, 4.0)
    type_law = _PowerLaw(UMLS_TYPES, 1.05, 0.0)
    subjects, objects = rng.permutation(nodes), rng.permutation(nodes)  # the node of each rank

    def draw(count: int) -> Integers:
        rank = subject_law.draw(rng, count)
        start = subjects[rank]
        far = objects[object_law.draw(rng, count)]
        # A node with many relationships has a wide neighbourhood, or most of its near ones would be repetitions.
        reach = np.maximum(40.0, edges * subject_law.share(rank))
        near = (start + rng.geometric(1 / reach) * rng.choice((-1, 1), count)) % nodes
        end = np.where(rng.random(count) < 0.5, near, far)
        return _keys(start, end, type_law.draw(rng, count), nodes, UMLS_TYPES)

    hubs = []
    for rank, share in enumerate(_HUB_SHARES):
        size = min(int(edges * share), nodes // 4)
        for hub, outgoing in ((subjects[rank], True), (objects[rank], False)):
            others, here = rng.choice(nodes, size, replace=False), np.full(size, hub)
            start, end = (here, others) if outgoing else (others, here)
            hubs.append(_keys(start, end, type_law.draw(rng, size), nodes, UMLS_TYPES))
    keys = rng.permutation(_distinct(rng, draw, edges, np.unique(np.concatenate(hubs))))
    start, end, type_ = keys // UMLS_TYPES // nodes, keys // UMLS_TYPES % nodes, keys % UMLS_TYPES
    type_names = tuple(f"R{number:03}" for number in range(UMLS_TYPES))
    return Shape("umls", ("N",), np.array([0, nodes]), start, end, type_, type_names)


# --- iBKH: drugs, diseases and what connects them --------------------------------------------------------------------

_IBKH_LABELS = (("Disease", 19_236), ("Drug", 37_997), ("Symptom", 1_361), ("SideEffect", 4_251), ("Pathway", 2_983))
# (type, subject's label, object's label, relationships at scale 1); INTERACTS_WITH comes before them.
_IBKH_TYPES = (
    ("TREATS", "Drug", "Disease", 64_000),
    ("PALLIATES", "Drug", "Disease", 6_400),
    ("CAUSES", "Drug", "SideEffect", 144_000),
    ("HAS_SYMPTOM", "Disease", "Symptom", 19_200),
    ("ASSOCIATED_WITH", "Disease", "Disease", 32_000),
    ("IS_A", "Disease", "Disease", 12_800),
    ("INVOLVES", "Disease", "Pathway", 28_800),
    ("AFFECTS_PATHWAY", "Drug", "Pathway", 12_800),
)
_INTERACTIONS, _INTERACTING = 2_680_000, 4_600  # stored both ways; only approved drugs interact, and densely
ASKED_OUT, ASKED_PATHS = (
    507,
    333_304,
)  # relationships of the drug in the queries, and its paths of 1..2 interactions


def ibkh(scale: float = 1.0, seed: int = 11) -> Shape:
    """65,828 named nodes of 5 labels and 3 million relationships of 9 types, most of them among 4,600 drugs."""
    rng = np.random.default_rng(seed)
    label_names = tuple(name for name, _ in _IBKH_LABELS)
    size = {name: max(40, int(count * scale)) for name, count in _IBKH_LABELS}
    label_begin = np.concatenate(([0], np.cumsum(list(size.values()))))
    first = dict(zip(label_names, label_begin.tolist(), strict=False))
    nodes = int(label_begin[-1])

    interacting = rng.permutation(size["Drug"])[: max(30, int(_INTERACTING * scale**0.5))]
    interacting = interacting[: size["Drug"]] + first["Drug"]
    pairs = _interactions(rng, len(interacting), int(_INTERACTIONS * scale) // 2)
    starts, ends, types = [], [], []
    for number, (_, subject, object_, count) in enumerate(_IBKH_TYPES, start=1):
        subject_law, object_law = _PowerLaw(size[subject], 0.55, 5.0), _PowerLaw(size[object_], 0.6, 5.0)
        subjects = rng.permutation(size[subject]) + first[subject]
        objects = rng.permutation(size[object_]) + first[object_]
        if subject == "Drug":  # the drugs in use are those that interact
            subjects = np.concatenate((interacting, np.setdiff1d(subjects, interacting)))

        def draw(
            count: int,
            subjects: Integers = subjects,
            objects: Integers = objects,
            subject_law: _PowerLaw = subject_law,
            object_law: _PowerLaw = object_law,
        ) -> Integers:
            drawn = subjects[subject_law.draw(rng, count)], objects[object_law.draw(rng, count)]
            return _keys(*drawn, np.zeros(count, np.int64), nodes, 1)

        keys = _distinct(rng, draw, int(count * scale), np.empty(0, np.int64))
        starts.append(keys // nodes)
        ends.append(keys % nodes)
        types.append(np.full(len(keys), number))

    if scale == 1.0:
        both = np.concatenate((pairs // len(interacting), pairs % len(interacting)))
        interactions = np.bincount(interacting[both], minlength=nodes)
        asked = _asked(interactions, interactions + np.bincount(np.concatenate(starts), minlength=nodes))
        drug = int(np.flatnonzero(interacting == asked)[0])
        pairs = _with_paths(pairs, len(interacting), drug, ASKED_PATHS)
    one, other = interacting[pairs // len(interacting)], interacting[pairs % len(interacting)]
    starts += [one, other]
    ends += [other, one]
    types.append(np.zeros(2 * len(pairs), np.int64))

    start, end, type_ = (np.concatenate(parts) for parts in (starts, ends, types))
    order = rng.permutation(len(start))
    shape = Shape(
        "ibkh",
        label_names,
        label_begin,
        start[order],
        end[order],
        type_[order],
        ("INTERACTS_WITH", *(row[0] for row in _IBKH_TYPES)),
    )
    return _named(rng, shape)


def asked_drug(shape: Shape) -> int:
    """The drug in the queries: it has ASKED_OUT relationships, and its interactions are closest to the median."""
    interactions = np.bincount(shape.ends("INTERACTS_WITH")[0], minlength=shape.node_count)
    return _asked(interactions, np.bincount(shape.start, minlength=shape.node_count))


def _asked(interactions: Integers, degree: Integers) -> int:
    interacting = np.flatnonzero(interactions)
    median = np.median(interactions[interacting])
    right = interacting[degree[interacting] == ASKED_OUT]
    candidates = right if len(right) else interacting
    return int(candidates[np.argmin(np.abs(interactions[candidates] - median))])


def _interactions(rng: np.random.Generator, drugs: int, count: int) -> Integers:
    """`count` distinct pairs of different drugs, as `lower * drugs + higher`."""
    law = _PowerLaw(drugs, 0.45, 20.0)
    count = min(count, drugs * (drugs - 1) // 4)
    pairs = np.empty(0, np.int64)
    while len(pairs) < count:  # twice as many as needed: pairs that the largest drugs draw repeatedly count once
        one, other = law.draw(rng, 2 * count), law.draw(rng, 2 * count)
        drawn = (np.minimum(one, other) * drugs + np.maximum(one, other))[one != other]
        pairs = np.unique(np.concatenate((pairs, drawn)))
    return np.sort(rng.choice(pairs, count, replace=False))


def _with_paths(pairs: Integers, drugs: int, drug: int, wanted: int) -> Integers:
    """The same pairs except for a few, so that the drug has exactly this many paths of length 1..2.

    A swap of (drug, x), (y, z) for (drug, y), (x, z) keeps every degree and adds degree[y] - degree[x] paths. It makes
    figures comparable with those of other generators of this shape.
    """
    adjacent = np.zeros((drugs, drugs), bool)
    adjacent[pairs // drugs, pairs % drugs] = True
    adjacent |= adjacent.T
    degree = adjacent.sum(axis=1)
    while missing := wanted - int(degree[drug] + degree[adjacent[drug]].sum()):
        x, y = _swap(degree, adjacent[drug], drug, missing)
        strangers = adjacent[y] & ~adjacent[x]
        strangers[[x, drug]] = False
        z = int(np.flatnonzero(strangers)[0])
        for one, other, present in ((drug, x, False), (y, z, False), (drug, y, True), (x, z, True)):
            adjacent[one, other] = adjacent[other, one] = present
    lower, higher = np.nonzero(np.triu(adjacent))
    return lower * drugs + higher


def _swap(degree: Integers, is_neighbour: NDArray[np.bool_], drug: int, wanted: int) -> tuple[int, int]:
    """A neighbour and a non-neighbour whose degrees differ by what is wanted, or by as close to it as possible."""
    neighbours = np.flatnonzero(is_neighbour)
    strangers = np.setdiff1d(np.flatnonzero(~is_neighbour), [drug])
    gain = degree[strangers][None, :] - degree[neighbours][:, None]
    x, y = np.unravel_index(np.argmin(np.abs(gain - wanted)), gain.shape)
    return int(neighbours[x]), int(strangers[y])


_PLACES = ("Cardiac", "Renal", "Hepatic", "Neural", "Dermal", "Gastric", "Pulmonary", "Vascular", "Ocular", "Muscular")
_KINDS = ("fibrosis", "dystrophy", "neoplasm", "insufficiency", "inflammation", "atrophy", "stenosis")
_COURSES = ("acute", "chronic", "familial", "juvenile", "secondary", "congenital")


def _named(rng: np.random.Generator, shape: Shape) -> Shape:
    """The shape with unique names: 15 diseases contain Alzheimer and 25 asthma, all with symptoms and drugs."""
    names: list[str] = []
    for label in shape.label_names:
        names += [f"{label} {node}" for node in shape.nodes(label).tolist()]
    for node in shape.nodes("Disease").tolist():
        course, place, kind = _COURSES[node % 6], _PLACES[node // 6 % 10], _KINDS[node // 60 % 7]
        names[node] = f"{place} {kind}, {course}, form {node}"
    symptoms = np.bincount(shape.ends("HAS_SYMPTOM")[0], minlength=shape.node_count)
    drugs = np.bincount(shape.ends("TREATS")[1], minlength=shape.node_count)
    known = np.flatnonzero((symptoms >= 2) & (drugs >= 2))
    for number, node in enumerate(rng.choice(known, min(40, len(known)), replace=False).tolist()):
        names[node] = f"Alzheimer disease {number}" if number < 15 else f"Occupational Asthma, grade {number - 15}"
    return Shape(
        shape.name,
        shape.label_names,
        shape.label_begin,
        shape.start,
        shape.end,
        shape.type,
        shape.type_names,
        tuple(names),
    )


# --- drawing ---------------------------------------------------------------------------------------------------------


class _PowerLaw:
    """Ranks 0..choices-1, rank i with a weight of (i + 1 + shift) ** -exponent."""

    def __init__(self, choices: int, exponent: float, shift: float) -> None:
        weights = (np.arange(1, choices + 1) + shift) ** -exponent
        self._shares = weights / weights.sum()
        self._summed = np.cumsum(self._shares)

    def draw(self, rng: np.random.Generator, count: int) -> Integers:
        found = np.searchsorted(self._summed, rng.random(count), side="right")
        return np.minimum(found, len(self._summed) - 1).astype(np.int64)

    def share(self, ranks: Integers) -> NDArray[np.float64]:
        """The share of all draws that these ranks get, on average."""
        shares: NDArray[np.float64] = self._shares[ranks]
        return shares


def _keys(start: Integers, end: Integers, type_: Integers, nodes: int, types: int) -> Integers:
    """One integer for each triple; self-loops are left out."""
    keys: Integers = ((start * nodes + end) * types + type_)[start != end]
    return keys


def _distinct(rng: np.random.Generator, draw: Callable[[int], Integers], count: int, keys: Integers) -> Integers:
    """Exactly `count` distinct keys: enough draws, without a random surplus."""
    while len(keys) < count:
        keys = np.unique(np.concatenate((keys, draw(int((count - len(keys)) * 1.05) + 1024))))
    return np.sort(rng.choice(keys, count, replace=False))


def _largest(counts: Integers) -> str:
    return ", ".join(f"{count:,}" for count in sorted(counts.tolist())[:-6:-1])


def main() -> None:
    for shape in (umls(), ibkh()):
        degree = np.bincount(shape.start, minlength=shape.node_count)
        incoming = np.bincount(shape.end, minlength=shape.node_count)
        types = np.bincount(shape.type)
        print(f"{shape.name}: {shape.node_count:,} nodes, {len(shape.start):,} relationships of {len(types)} types")
        pairs = len(np.unique(shape.start * shape.node_count + shape.end))
        print(f"  {pairs:,} pairs of nodes; largest types {_largest(types)}")
        shares = ", ".join(f"{np.percentile(degree, percent):.0f}" for percent in (50, 90, 99))
        print(f"  out-degree {shares} at 50, 90, 99%; largest {_largest(degree)}; 0: {(degree == 0).sum():,}")
        print(f"  in-degree: largest {_largest(incoming)}; 0: {(incoming == 0).sum():,}")
    drug = asked_drug(shape)
    start, end = shape.ends("INTERACTS_WITH")
    interactions = np.bincount(start, minlength=shape.node_count)
    near = end[start == drug]
    paths = len(near) + interactions[near].sum()
    print(f"  {shape.names[drug]}: {len(near)} interactions, {ASKED_OUT} relationships, {paths:,} paths of length 1..2")


if __name__ == "__main__":
    main()
