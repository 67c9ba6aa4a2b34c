"""Synthetic knowledge graphs in the shape of real ones: a size and a seed in, arrays out.

Degrees follow a power law, hubs exist on both sides, half of the relationships stay near their subject (as concepts of
one area do), and relationship types are few and unequal.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Shape:
    """Relationship i goes from `start[i]` to `end[i]` and is of type `type_names[type[i]]`.

    Nodes are 0..node_count-1; `label_begin[k]` is the first node of label k, whose nodes are consecutive.
    """

    name: str
    label_names: tuple[str, ...]
    label_begin: Integers  # one longer than label_names
    start: Integers
    end: Integers
    type: Integers
    type_names: tuple[str, ...]

    @property
    def node_count(self) -> int:
        return int(self.label_begin[-1])


def umls(scale: float = 1.0, seed: int = 7) -> Shape:
    """407,000 concepts and 3.4 million relationships of 130 types, at scale 1: one label, heavy hubs."""
    rng = np.random.default_rng(seed)
    node_count, edge_count = int(407_000 * scale), int(3_400_000 * scale)
    subjects = rng.permutation(node_count)[_power_law(rng, node_count, edge_count, exponent=0.85)]
    far = rng.permutation(node_count)[_power_law(rng, node_count, edge_count, exponent=0.85)]
    near = (subjects + rng.geometric(0.01, edge_count) * rng.choice((-1, 1), edge_count)) % node_count
    objects = np.where(rng.random(edge_count) < 0.5, near, far)
    types = _power_law(rng, 130, edge_count, exponent=1.0)
    start, end, type_ = _distinct(subjects, objects, types)
    names = tuple(f"R{number:03}" for number in range(130))
    return Shape("umls", ("Concept",), np.array([0, node_count]), start, end, type_, names)


# (type, subject's label, object's label, relationships at scale 1)
_IBKH = (
    ("INTERACTS_WITH", "Drug", "Drug", 2_680_000),
    ("CAUSES", "Drug", "SideEffect", 144_000),
    ("TREATS", "Drug", "Disease", 70_000),
    ("ASSOCIATED_WITH", "Disease", "Disease", 32_000),
    ("INVOLVES", "Disease", "Pathway", 29_000),
    ("HAS_SYMPTOM", "Disease", "Symptom", 19_000),
    ("IS_A", "Disease", "Disease", 13_000),
    ("AFFECTS_PATHWAY", "Drug", "Pathway", 13_000),
)
_IBKH_LABELS = (("Disease", 19_236), ("Drug", 37_997), ("Symptom", 1_361), ("SideEffect", 4_251), ("Pathway", 2_983))


def ibkh(scale: float = 1.0, seed: int = 11) -> Shape:
    """65,828 nodes of 5 labels, 3 million relationships of 8 types, most of them among a dense core of drugs."""
    rng = np.random.default_rng(seed)
    label_names = tuple(name for name, _ in _IBKH_LABELS)
    sizes = [max(20, int(size * scale)) for _, size in _IBKH_LABELS]
    label_begin = np.concatenate(([0], np.cumsum(sizes)))
    first = dict(zip(label_names, label_begin[:-1].tolist(), strict=True))
    size = dict(zip(label_names, sizes, strict=True))
    parts = []
    for number, (name, subject, object_, count) in enumerate(_IBKH):
        count = int(count * scale)
        core = max(20, size["Drug"] // 8) if name == "INTERACTS_WITH" else None  # only approved drugs interact, densely
        starts = first[subject] + _power_law(rng, core or size[subject], count, exponent=0.4)
        ends = first[object_] + _power_law(rng, core or size[object_], count, exponent=0.4)
        parts.append((starts, ends, np.full(count, number)))
    start, end, type_ = _distinct(*(np.concatenate(columns) for columns in zip(*parts, strict=True)))
    return Shape("ibkh", label_names, label_begin, start, end, type_, tuple(row[0] for row in _IBKH))


def _power_law(rng: np.random.Generator, choices: int, count: int, exponent: float) -> Integers:
    """`count` draws from 0..choices-1, number i with a weight of (i + 1) ** -exponent."""
    weights = np.cumsum((np.arange(choices) + 1.0) ** -exponent)
    drawn: Integers = np.searchsorted(weights, rng.random(count) * weights[-1]).astype(np.int64)
    return drawn


def _distinct(start: Integers, end: Integers, type_: Integers) -> tuple[Integers, Integers, Integers]:
    """Without self-loops and repetitions."""
    nodes, types = int(max(start.max(), end.max())) + 1, int(type_.max()) + 1
    keys = np.unique(((start * nodes + end) * types + type_)[start != end])  # one integer for each triple
    return keys // types // nodes, keys // types % nodes, keys % types
