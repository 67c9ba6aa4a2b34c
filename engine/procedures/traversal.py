"""Traversals as APOC describes them: textual filters and the name of a uniqueness go in, paths come out in the order
found.

    relationships   `KNOWS>|<LIKES|WORKS`, `>` for all outgoing ones; filters for successive steps are separated by
    commas labels          `+Person|-Old|>Goal|/Stop`: allowed, denied, an end (and continue), an end (and stop)

A path is a chain of `Step`s, each of which knows the one before it.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from dataclasses import field

import numpy as np

from hoplite.engine.context import Execution
from hoplite.lazy_dataclass import dataclass
from hoplite.values.entities import PathValue

Side = tuple[str | None, bool, bool]
"""A type (None for all), and whether its outgoing and its incoming relationships are followed."""


@dataclass(frozen=True, slots=True)
class Step:
    """The end of a path: a node, the relationship that led there, and the path before that."""

    node: int
    relationship: int = -1
    before: Step | None = None
    length: int = 0

    def back(self) -> Iterator[Step]:
        """This step and those before it, to the start."""
        step: Step | None = self
        while step is not None:
            yield step
            step = step.before

    def path(self) -> PathValue:
        """The path from its start."""
        steps = list(self.back())[::-1]
        return PathValue(tuple(step.node for step in steps), tuple(step.relationship for step in steps[1:]))


def parse_sides(text: str | None) -> list[Side]:
    """The relationships of one step; empty text means all of them, in both directions."""
    sides: list[Side] = []
    for part in (text or "").split("|"):
        name = part.strip().replace(":", "").replace("`", "")
        outgoing, incoming = name.endswith(">"), name.startswith("<")
        either = outgoing == incoming
        sides.append((name.strip("<>") or None, outgoing or either, incoming or either))
    return sides


@dataclass(frozen=True, slots=True)
class LabelFilter:
    """Which labels a step's node may have: APOC's four lists."""

    allowed: tuple[str, ...] = ()
    denied: tuple[str, ...] = ()
    ends: tuple[str, ...] = ()
    terminators: tuple[str, ...] = ()

    def verdict(self, labels: tuple[str, ...]) -> tuple[bool, bool]:
        """Whether a path to a node with these labels is an answer, and whether it continues."""
        held = set(labels)
        if held.intersection(self.denied):
            return False, False
        if held.intersection(self.terminators):
            return True, False
        if held.intersection(self.ends):
            return True, True
        may_pass = not self.allowed or "*" in self.allowed or bool(held.intersection(self.allowed))
        only_ends = bool(self.ends or self.terminators)
        return may_pass and not only_ends, may_pass


def parse_labels(text: str | None) -> LabelFilter:
    """`+A|-B|>C|/D`; a name without a sign is allowed."""
    lists: dict[str, list[str]] = {"+": [], "-": [], ">": [], "/": []}
    for part in (text or "").split("|"):
        name = part.strip()
        if name:
            sign = name[0] if name[0] in lists else "+"
            lists[sign].append(name.lstrip("+-></").lstrip(":"))
    return LabelFilter(tuple(lists["+"]), tuple(lists["-"]), tuple(lists[">"]), tuple(lists["/"]))


@dataclass(slots=True)
class Neighbours:
    """The relationships and neighbours of nodes, by what a step may follow; each node is read once."""

    context: Execution
    _known: dict[tuple[int, int], list[tuple[int, int]]] = field(default_factory=dict)

    def of(self, node: int, sides: list[Side]) -> list[tuple[int, int]]:
        """(relationship, node) pairs; each relationship once, even a loop."""
        key = (node, id(sides))
        if key not in self._known:
            self.context.check_time()
            found: dict[int, int] = {}
            for name, outgoing, incoming in sides:
                code = None if name is None else self.context.graph.type_code(name)
                if name is not None and code is None:
                    continue
                for wanted, away in ((outgoing, True), (incoming, False)):
                    if wanted:
                        codes = None if code is None else (code,)
                        relationships, nodes = self.context.graph.neighbours(node, away, codes)
                        found |= dict(zip(relationships.tolist(), nodes.tolist(), strict=True))
            self._known[key] = list(found.items())
        return self._known[key]


def _no_two_nodes(step: Step) -> bool:
    return step.before is None or all(one.node != step.node for one in step.before.back())


def _no_two_relationships(step: Step) -> bool:
    return step.before is None or all(one.relationship != step.relationship for one in step.before.back())


class _Global:
    """Nothing twice in the whole traversal."""

    def __init__(self, what: Callable[[Step], int]) -> None:
        self._what = what
        self._seen: set[int] = set()

    def __call__(self, step: Step) -> bool:
        key = self._what(step)
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


class _Level:
    """Nothing twice at one distance from the start."""

    def __init__(self, what: Callable[[Step], int]) -> None:
        self._what = what
        self._seen: set[tuple[int, int]] = set()

    def __call__(self, step: Step) -> bool:
        key = (step.length, self._what(step))
        if key in self._seen:
            return False
        self._seen.add(key)
        return True


def _node(step: Step) -> int:
    return step.node


def _relationship(step: Step) -> int:
    return step.relationship


UNIQUENESS: dict[str, Callable[[], Callable[[Step], bool]]] = {
    "RELATIONSHIP_PATH": lambda: _no_two_relationships,
    "NODE_PATH": lambda: _no_two_nodes,
    "NODE_GLOBAL": lambda: _Global(_node),
    "RELATIONSHIP_GLOBAL": lambda: _Global(_relationship),
    "NODE_LEVEL": lambda: _Level(_node),
    "RELATIONSHIP_LEVEL": lambda: _Level(_relationship),
    "NONE": lambda: lambda step: True,
}


@dataclass(frozen=True, slots=True)
class Traversal:
    """Where paths may go. `steps` and `labels` are used cyclically, one for each step; a length of -1 means no
    bound."""

    steps: tuple[list[Side], ...] = ()
    labels: tuple[LabelFilter, ...] = ()
    least: int = -1
    most: int = -1
    uniqueness: str = "RELATIONSHIP_PATH"
    filter_start: bool = False
    sequence_from_start: bool = True
    breadth_first: bool = True
    ends: frozenset[int] | None = None
    terminators: frozenset[int] | None = None
    allowed: frozenset[int] | None = None
    denied: frozenset[int] = frozenset()

    def paths(self, context: Execution, starts: list[int]) -> Iterator[Step]:
        """The paths that are answers."""
        neighbours, unique = Neighbours(context), UNIQUENESS[self.uniqueness]()
        waiting: deque[Step] = deque(Step(node) for node in dict.fromkeys(starts) if unique(Step(node)))
        while waiting:
            step = waiting.popleft() if self.breadth_first else waiting.pop()
            context.check_time()
            is_answer, goes_on = self._verdict(context, step)
            if is_answer and step.length >= self.least:
                yield step
            if not goes_on or 0 <= self.most <= step.length:
                continue
            sides = self.steps[step.length % len(self.steps)] if self.steps else _EVERYTHING
            found = (Step(node, edge, step, step.length + 1) for edge, node in neighbours.of(step.node, sides))
            waiting.extend(one for one in found if unique(one))

    def _verdict(self, context: Execution, step: Step) -> tuple[bool, bool]:
        is_answer, goes_on = self._by_labels(context, step)
        is_filtered = bool(step.length) or self.filter_start
        if is_filtered and (step.node in self.denied or not self._is_allowed(step.node)):
            return False, False
        if is_filtered and self.terminators is not None and step.node in self.terminators:
            return is_answer or goes_on, False
        if self.ends is not None or self.terminators is not None:
            wanted = (self.ends or frozenset()) | (self.terminators or frozenset())
            is_answer = is_answer and step.node in wanted
        return is_answer, goes_on

    def _is_allowed(self, node: int) -> bool:
        if self.allowed is None:
            return True
        return node in self.allowed or node in (self.ends or ()) or node in (self.terminators or ())

    def _by_labels(self, context: Execution, step: Step) -> tuple[bool, bool]:
        if not self.labels:
            return True, True
        if not step.length and not self.filter_start:
            return not any(one.ends or one.terminators for one in self.labels), True
        place = step.length if self.sequence_from_start else step.length - 1
        labels = context.graph.label_sets(np.array([step.node], np.int64))[0]
        return self.labels[place % len(self.labels)].verdict(labels)


_EVERYTHING: list[Side] = [(None, True, True)]
