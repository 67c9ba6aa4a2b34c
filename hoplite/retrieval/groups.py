"""Relationship types grouped into super-relations: sets of types that a search follows at once.

A group goes one way: what leads from films to people and what leads back are different super-relations.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hoplite.retrieval.embeddings import Embed, Vectors, unit_rows
from hoplite.retrieval.sets import Step
from hoplite.retrieval.verbalise import type_words

_ROUNDS = 50


@dataclass(frozen=True, slots=True)
class SuperRelation:
    """Types under one name. The name is a text that stands for all of them."""

    name: str
    types: tuple[str, ...]

    def out(self) -> Step:
        """Along the relationships."""
        return Step(self.types, "out")

    def back(self) -> Step:
        """Against them."""
        return Step(self.types, "in")


def by_prefix(types: Sequence[str], separator: str = ".", parts: int = 2) -> list[SuperRelation]:
    """Types that begin alike: with two parts, `people.person.place_of_birth` belongs to `people.person`."""
    groups: dict[str, list[str]] = {}
    for name in sorted(types):
        groups.setdefault(separator.join(name.split(separator)[:parts]), []).append(name)
    return [SuperRelation(prefix, tuple(members)) for prefix, members in groups.items()]


def by_meaning(types: Sequence[str], embed: Embed, count: int) -> list[SuperRelation]:
    """So many groups of types whose words lie close, each named after the type that is nearest to its centre.

    k-means on the sphere. The first centre is the type nearest to the middle of all, each further one the type that is
    farthest from those before, so that the same types always make the same groups.
    """
    names = sorted(types)
    count = min(count, len(names))
    vectors = unit_rows(embed([type_words(name) for name in names]))
    centres = vectors[_spread(vectors, count)]
    nearest = np.argmax(vectors @ centres.T, axis=1)
    for _ in range(_ROUNDS):
        sums = np.zeros_like(centres)
        np.add.at(sums, nearest, vectors)
        filled = np.bincount(nearest, minlength=count) > 0
        centres = np.where(filled[:, None], unit_rows(sums), centres)
        moved = np.argmax(vectors @ centres.T, axis=1)
        if (moved == nearest).all():
            break
        nearest = moved
    groups = []
    for number in range(count):
        members = np.flatnonzero(nearest == number)
        if len(members):
            middle = members[np.argmax(vectors[members] @ centres[number])]
            groups.append(SuperRelation(type_words(names[middle]), tuple(names[one] for one in members.tolist())))
    return groups


def random_groups(types: Sequence[str], sizes: Sequence[int], seed: int = 0) -> list[SuperRelation]:
    """Types dealt at random into groups of these sizes: the control for what groups with a meaning bring."""
    if sum(sizes) != len(types):
        raise ValueError(f"The sizes add up to {sum(sizes)}, and there are {len(types)} types.")
    dealt = np.random.default_rng(seed).permutation(sorted(types)).tolist()
    groups, first = [], 0
    for size in sizes:
        members = tuple(sorted(dealt[first : first + size]))
        groups.append(SuperRelation(", ".join(map(type_words, members)), members))
        first += size
    return groups


def one_each(types: Sequence[str]) -> list[SuperRelation]:
    """Each type alone: relation by relation."""
    return [SuperRelation(type_words(name), (name,)) for name in sorted(types)]


def _spread(vectors: Vectors, count: int) -> list[int]:
    middle = unit_rows(vectors.sum(axis=0, keepdims=True))
    chosen = [int(np.argmax(vectors @ middle[0]))]
    while len(chosen) < count:
        closeness = (vectors @ vectors[chosen].T).max(axis=1)
        closeness[chosen] = np.inf
        chosen.append(int(np.argmin(closeness)))
    return chosen
