"""Names as small integers: labels, sets of labels, relationship types and property keys, numbered in the order
of first use.

Tokens are only ever added, even by transactions that are rolled back, so all versions of the graph share one `Tokens`.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from hoplite.errors import token_name_error

NO_LABELS = 0
"""The code of the empty set of labels."""


class Names:
    """Distinct names, numbered from 0."""

    __slots__ = ("_codes", "_names", "_tokens")

    def __init__(self, tokens: Tokens) -> None:
        self._tokens = tokens  # that these are part of
        self._names: list[str] = []
        self._codes: dict[str, int] = {}

    def code(self, name: str) -> int | None:
        """The number of a name, if it is known."""
        return self._codes.get(name)

    def intern(self, name: str) -> int:
        """The number of a name, which is added if it is new."""
        code = self._codes.get(name)
        if code is None:
            code = len(self._names)
            self._names.append(name)
            self._codes[name] = code
            self._tokens.count += 1
        return code

    def admit(self, name: str) -> int:
        """The number of a name from a statement; an error if the name is not valid."""
        code = self._codes.get(name)
        if code is None and (not name or "\0" in name):
            raise token_name_error(name)
        return self.intern(name) if code is None else code

    def name(self, code: int) -> str:
        """The name that has this number."""
        return self._names[code]

    def all(self) -> tuple[str, ...]:
        """Every name, by number."""
        return tuple(self._names)

    def __len__(self) -> int:
        return len(self._names)


class Tokens:
    """All names of a database. A node stores one integer for its whole set of labels."""

    __slots__ = ("_having", "_label_set_codes", "_label_set_names", "_label_sets", "count", "keys", "labels", "types")

    def __init__(self) -> None:
        self.count = 0  # of names; every query asks for it
        self.labels = Names(self)
        self.types = Names(self)
        self.keys = Names(self)
        self._label_sets: list[tuple[int, ...]] = [()]
        self._label_set_names: list[tuple[str, ...]] = [()]
        self._label_set_codes: dict[tuple[int, ...], int] = {(): NO_LABELS}
        self._having: dict[int, NDArray[np.bool_]] = {}

    @property
    def label_set_count(self) -> int:
        """How many sets of labels have been seen."""
        return len(self._label_sets)

    def label_set(self, labels: Iterable[int]) -> int:
        """The code of a set of labels."""
        wanted = tuple(sorted(set(labels)))
        code = self._label_set_codes.get(wanted)
        if code is None:
            code = len(self._label_sets)
            self._label_set_names.append(tuple(self.labels.name(label) for label in wanted))
            self._label_sets.append(wanted)
            self._label_set_codes[wanted] = code
        return code

    def label_set_of_names(self, labels: Iterable[str]) -> int:
        """The code of a set of labels given by name; unknown names are added."""
        return self.label_set([self.labels.admit(label) for label in labels])

    def labels_of(self, label_set: int) -> tuple[int, ...]:
        """The labels in a set, ascending."""
        return self._label_sets[label_set]

    def label_names_of(self, label_set: int) -> tuple[str, ...]:
        """The labels in a set by name, in the order of their numbers."""
        return self._label_set_names[label_set]

    def sets_having(self, label: int) -> NDArray[np.bool_]:
        """For each set of labels: is this label in it?"""
        known = self._having.get(label)
        if known is None or len(known) < len(self._label_sets):
            known = np.fromiter((label in labels for labels in self._label_sets), np.bool_)
            self._having[label] = known
        return known
