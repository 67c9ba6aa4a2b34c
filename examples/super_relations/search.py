"""The search: from the entities of many questions at once, step by step over super-relations, the best paths kept.

At step l the candidates are the super-relations that lead on from the entities reached. One call scores all candidates
of a question, the N best paths by the sum of their step scores are kept, and their entities move on by one hop over a
set of types. One more call says whether that is enough; after the last step one call chooses among the chains of
single relations that the paths stand for. These are 2 L* + 1 calls for L* steps, whatever N is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import NamedTuple, Protocol

import numpy as np

import hoplite
from hoplite.retrieval import NodeSets, Step, SuperRelation, expand, follow, steps_at

_CHAINS = 200  # that the last call chooses among, at most
_TRIES = 5  # chains that are followed, the best first, until one leads somewhere


class Move(NamedTuple):
    """A super-relation in one direction."""

    name: str
    step: Step


class Path(NamedTuple):
    """A path of a question: its moves, the single relations that were there at each of them, and its score."""

    moves: tuple[Move, ...]
    present: tuple[tuple[Step, ...], ...]
    score: float


class Scorer(Protocol):
    """Stands where the paper has a model. Questions are numbers; each method is one call for each question."""

    def score(self, question: int, paths: Sequence[tuple[Move, ...]]) -> Sequence[float]:
        """How good the last move of each path is, from 0 to 1."""
        ...

    def enough(self, question: int, paths: Sequence[Path]) -> bool:
        """Whether the paths so far answer the question."""
        ...

    def choose(self, question: int, chains: Sequence[tuple[Step, ...]]) -> Sequence[float]:
        """How likely each chain of single relations answers the question."""
        ...


@dataclass(frozen=True, slots=True)
class Settings:
    """How wide (N) and how long (L) a search is. `together` scores the candidates of all paths in one call; without,
    as a search relation by relation does, those of each path in a call of its own."""

    width: int = 3
    length: int = 3
    together: bool = True


@dataclass(slots=True)
class Found:
    """What a search found for one question: all entities reached, those of the chain that was chosen, and the calls."""

    reached: set[int] = field(default_factory=set)
    answers: list[int] = field(default_factory=list)
    chain: tuple[Step, ...] = ()
    calls: int = 0
    steps: int = 0


def moves_of(groups: Sequence[SuperRelation]) -> list[Move]:
    """Each super-relation in both directions."""
    return [
        move for group in groups for move in (Move(group.name, group.out()), Move(f"{group.name} of", group.back()))
    ]


def search(
    db: hoplite.Database, seeds: NodeSets, moves: Sequence[Move], scorer: Scorer, settings: Settings
) -> list[Found]:
    """Answer the questions whose entities are given, one set each."""
    found = [Found() for _ in range(len(seeds))]
    kept: list[list[Path]] = [[Path((), (), 0.0)] for _ in found]
    every: list[list[Path]] = [[] for _ in found]  # of all lengths: the last call chooses among these
    going = [number for number in range(len(seeds)) if len(seeds[number])]
    owners = [(number, kept[number][0]) for number in going]
    sets = seeds[np.array(going, np.int64)]
    for _ in range(settings.length):
        candidates = _candidates(db, owners, sets, moves)
        chosen: list[tuple[int, int, Path]] = []
        for number, options in candidates.items():
            if not options:
                continue
            one = found[number]
            one.calls += 1 if settings.together else len({place for place, _ in options})
            scores = scorer.score(number, [path.moves for _, path in options])
            ranked = sorted(
                (
                    (place, path._replace(score=path.score + score))
                    for (place, path), score in zip(options, scores, strict=True)
                ),
                key=lambda option: -option[1].score,
            )
            chosen += [(number, place, path) for place, path in ranked[: settings.width]]
        if not chosen:
            break
        places = np.array([place for _, place, _ in chosen], np.int64)
        sets = expand(db, sets[places], [path.moves[-1].step for _, _, path in chosen])
        owners = [(number, path) for number, _, path in chosen]
        stay = _told(scorer, owners, sets, found, every)
        owners = [owners[row] for row in stay]
        sets = sets[np.array(stay, np.int64)]
        if not owners:
            break
    _answer(db, seeds, scorer, found, every)
    return found


def _candidates(
    db: hoplite.Database, owners: Sequence[tuple[int, Path]], sets: NodeSets, moves: Sequence[Move]
) -> dict[int, list[tuple[int, Path]]]:
    """For each question the paths one move longer, each with the row whose entities it leads on from."""
    options: dict[tuple[Step, ...], list[tuple[Move, tuple[Step, ...]]]] = {}
    made: dict[int, list[tuple[int, Path]]] = {}
    for row, ((number, path), steps) in enumerate(zip(owners, steps_at(db, sets), strict=True)):
        there = tuple(steps)
        if there not in options:
            options[there] = [(move, same) for move in moves if (same := _within(move, there))]
        made.setdefault(number, []).extend(
            (row, Path((*path.moves, move), (*path.present, same), path.score)) for move, same in options[there]
        )
    return made


def _within(move: Move, steps: Sequence[Step]) -> tuple[Step, ...]:
    """The single relations of a move that are there."""
    types = set(move.step.types or ())
    return tuple(step for step in steps if step.direction == move.step.direction and set(step.types or ()) <= types)


def _told(
    scorer: Scorer,
    owners: Sequence[tuple[int, Path]],
    sets: NodeSets,
    found: Sequence[Found],
    every: Sequence[list[Path]],
) -> list[int]:
    """Note what was reached, and ask whether it is enough: the rows of the questions that go on."""
    rows: dict[int, list[int]] = {}
    for row, (number, path) in enumerate(owners):
        rows.setdefault(number, []).append(row)
        every[number].append(path)
        found[number].reached.update(sets[row].tolist())
    going: list[int] = []
    for number, own in rows.items():
        found[number].calls += 1
        found[number].steps += 1
        if not scorer.enough(number, [owners[row][1] for row in own]):
            going += own
    return sorted(going)


def _answer(
    db: hoplite.Database, seeds: NodeSets, scorer: Scorer, found: Sequence[Found], every: Sequence[Sequence[Path]]
) -> None:
    """The last call: the likeliest chain of single relations that leads somewhere, followed as Cypher would."""
    waiting: dict[int, list[tuple[Step, ...]]] = {}
    for number, paths in enumerate(every):
        chains = list(dict.fromkeys(chain for path in paths for chain in _chains(path)))[:_CHAINS]
        if chains:
            found[number].calls += 1
            scores = scorer.choose(number, chains)
            order = sorted(range(len(chains)), key=lambda place: -scores[place])
            waiting[number] = [chains[place] for place in order[:_TRIES]]
    while waiting:
        numbers = list(waiting)
        firsts = [waiting[number].pop(0) for number in numbers]
        ends = follow(db, seeds[np.array(numbers, np.int64)], firsts)
        for row, (number, chain) in enumerate(zip(numbers, firsts, strict=True)):
            topics = set(seeds[number].tolist())
            answers = [node for node in sorted(ends[row].tolist()) if node not in topics]
            if answers:
                found[number].answers, found[number].chain = answers, chain
            if answers or not waiting[number]:
                del waiting[number]


def _chains(path: Path) -> Iterator[tuple[Step, ...]]:
    return product(*path.present)
