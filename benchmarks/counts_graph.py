"""The graphs of the counts: a forum in the shape of LSQB's, at any scale, and LSQB's own small one if it is available.

Nodes are numbered across all labels; relationships are arrays of starts and ends for each (label, type, label).
"""

from __future__ import annotations

import gzip
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]
Ends = tuple[str, str, str]
Some = Callable[[str, int, float], Integers]
Connect = Callable[[str, str, str, Integers, Integers], None]

_SEED = 20
# How many there are of each at scale 1, about as in LSQB's SF1: some do not grow with the scale.
_FIXED = {"Country": 110, "City": 1_350, "TagClass": 70, "Tag": 16_000}
_GROWING = {"Person": 17_000, "Forum": 137_000, "Post": 1_350_000, "Comment": 1_500_000}
MESSAGES = ("Post", "Comment")


@dataclass(frozen=True, slots=True)
class Graph:
    """Sizes by label, in the order of the numbers, and the ends of relationships."""

    name: str
    sizes: dict[str, int]
    relationships: dict[Ends, tuple[Integers, Integers]]

    @property
    def node_count(self) -> int:
        return sum(self.sizes.values())

    @property
    def relationship_count(self) -> int:
        return sum(len(start) for start, _ in self.relationships.values())

    def numbers(self, label: str) -> Integers:
        """The numbers of the nodes with a label."""
        first = 0
        for name, size in self.sizes.items():
            if name == label:
                return np.arange(first, first + size)
            first += size
        return np.zeros(0, np.int64)

    def ends(self, type_name: str) -> list[Ends]:
        return [ends for ends in self.relationships if ends[1] == type_name]


def forum_graph(scale: float) -> Graph:
    """Persons in cities of countries, who know each other, most of them within their country; forums with members,
    posts and comments in reply, tags and likes. Degrees are skewed throughout."""
    random = np.random.default_rng(_SEED)
    sizes = _FIXED | {label: max(int(size * scale), 10) for label, size in _GROWING.items()}
    graph = Graph(f"forum {scale:g}", sizes, {})

    def some(label: str, count: int, skew: float) -> Integers:
        """Nodes of a label, the first ones more often than the last."""
        size = sizes[label]
        return np.minimum((size * random.random(count) ** skew).astype(np.int64), size - 1)

    def connect(start: str, type_name: str, end: str, starts: Integers, ends: Integers) -> None:
        pairs = np.unique(np.stack([starts, ends], 1), axis=0)
        at = graph.numbers(start)[pairs[:, 0]], graph.numbers(end)[pairs[:, 1]]
        graph.relationships[start, type_name, end] = at

    def each(start: str, type_name: str, end: str, skew: float) -> Integers:
        """One relationship from every node of a label."""
        ends = some(end, sizes[start], skew)
        connect(start, type_name, end, np.arange(sizes[start]), ends)
        return ends

    country = each("City", "IS_PART_OF", "Country", 1.3)
    home = country[each("Person", "IS_LOCATED_IN", "City", 2.0)]
    each("Tag", "HAS_TYPE", "TagClass", 1.6)
    _connect_persons(random, home, connect, int(140_000 * scale))
    connect("Person", "HAS_INTEREST", "Tag", *_pairs(some, "Person", "Tag", int(380_000 * scale), 1.2))
    connect("Forum", "HAS_MEMBER", "Person", *_pairs(some, "Forum", "Person", int(1_230_000 * scale), 1.5))
    posts, comments = np.arange(sizes["Post"]), np.arange(sizes["Comment"])
    connect("Forum", "CONTAINER_OF", "Post", some("Forum", len(posts), 1.6), posts)
    for message in MESSAGES:
        each(message, "HAS_CREATOR", "Person", 1.6)
    to_post = random.random(len(comments)) < 0.5
    to_post[0] = True  # a reply comes after what it replies to
    connect("Comment", "REPLY_OF", "Post", comments[to_post], some("Post", int(to_post.sum()), 1.6))
    later = comments[~to_post]
    connect("Comment", "REPLY_OF", "Comment", later, (later * random.random(len(later))).astype(np.int64))
    connect("Post", "HAS_TAG", "Tag", *_pairs(some, "Post", "Tag", int(510_000 * scale), 1.2))
    connect("Comment", "HAS_TAG", "Tag", *_pairs(some, "Comment", "Tag", int(1_900_000 * scale), 1.2))
    connect("Person", "LIKES", "Post", *_pairs(some, "Person", "Post", int(470_000 * scale), 1.5))
    connect("Person", "LIKES", "Comment", *_pairs(some, "Person", "Comment", int(620_000 * scale), 1.5))
    return graph


def _pairs(some: Some, start: str, end: str, count: int, skew: float) -> tuple[Integers, Integers]:
    return some(start, count, skew), some(end, count, skew)


def _connect_persons(random: np.random.Generator, home: Integers, connect: Connect, count: int) -> None:
    """KNOWS, each pair of persons once: three in five are near in an order by country."""
    by_country = np.argsort(home, kind="stable")
    size = len(home)
    one = np.minimum((size * random.random(2 * count) ** 1.4).astype(np.int64), size - 1)
    anyone = np.minimum((size * random.random(2 * count) ** 1.4).astype(np.int64), size - 1)
    near = np.clip(one + random.integers(-40, 41, 2 * count), 0, size - 1)
    other = np.where(random.random(2 * count) < 0.6, near, anyone)
    pairs = np.unique(np.sort(by_country[np.stack([one, other], 1)[one != other]], axis=1), axis=0)
    pairs = pairs[random.permutation(len(pairs))[:count]]
    connect("Person", "KNOWS", "Person", pairs[:, 0], pairs[:, 1])


_FILES: dict[Ends, str] = {
    ("City", "IS_PART_OF", "Country"): "City_isPartOf_Country",
    ("Person", "IS_LOCATED_IN", "City"): "Person_isLocatedIn_City",
    ("Person", "KNOWS", "Person"): "Person_knows_Person",
    ("Person", "HAS_INTEREST", "Tag"): "Person_hasInterest_Tag",
}


def real_graph(folder: Path) -> Graph:
    """The part of LSQB's files that q3, q6 and q9 need."""
    sizes: dict[str, int] = {}
    numbers: dict[str, dict[int, int]] = {}
    for label in ("Country", "City", "Tag", "Person"):
        first = sum(sizes.values())
        numbers[label] = {key: first + place for place, (key,) in enumerate(_lines(folder / f"{label}.csv.gz"))}
        sizes[label] = len(numbers[label])
    relationships: dict[Ends, tuple[Integers, Integers]] = {}
    for ends, file in _FILES.items():
        pairs = _lines(folder / f"{file}.csv.gz")
        start, end = (
            np.array([numbers[ends[side]][pair[place]] for pair in pairs], np.int64) for side, place in ((0, 0), (2, 1))
        )
        relationships[ends] = start, end
    return Graph("LSQB SF0.1", sizes, relationships)


def _lines(path: Path) -> list[tuple[int, ...]]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        next(file)
        return [tuple(map(int, line.split("|"))) for line in file]
