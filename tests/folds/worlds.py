"""The same program on databases that store their graph in different ways; their answers must be the same.

never      nothing is ever folded: the others are compared with this one
always     folded after every commit
sometimes  folded now and then, in three partitions, columns in small pieces
pinned     folded after every commit, while readers hold the versions before
disk       a checkpoint after every step, or closed and opened again, with a cache that holds nothing
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any
from unittest import mock

from neo4j.exceptions import Neo4jError

import hoplite
from hoplite.api.database import Database
from hoplite.api.result import Result
from hoplite.api.transaction import Transaction
from hoplite.engine.functions.registry import FUNCTIONS
from hoplite.engine.prepare import Preparer
from hoplite.engine.procedures.registry import PROCEDURES
from hoplite.storage import draft, property_columns
from hoplite.storage.disk import columns
from hoplite.storage.disk.graph import DiskGraph
from hoplite.storage.graph import Graph
from tests.folds.programs import OPENING, SCHEMA, Program, Step
from tests.folds.reads import FEW, Answer, answer, canonical, exported, reads

NEVER = 10**9
SOME: dict[str, Any] = {"v": "a", "vs": [1, "b"], "ids": [*range(0, 60, 4)]}
"""The parameters of reads that are made everywhere at the same moment."""


class World:
    """A database and what happens to it between the steps of a program."""

    def __init__(self, name: str, graph: Graph, schema: int) -> None:
        self.name = name
        self.db = _over(graph, schema)
        for statement in (*SCHEMA[schema], OPENING):
            self.db.run(statement).consume()

    def clear(self) -> None:
        """An empty graph for the next program."""
        self.db.run("MATCH (n) DETACH DELETE n").consume()

    def play(self, step: Step) -> list[Answer]:
        """What the statements of a step returned: counters, or the code of an error."""
        if not step.explicit:
            ((text, given),) = step.statements
            return [_outcome(self.db, text, given)]
        said = []
        transaction = self.db.begin()
        for text, given in step.statements:
            said.append(_outcome(transaction, text, given))
            if isinstance(said[-1], str):  # an error is the end of the transaction
                break
        else:
            said.append(answer(transaction, FEW[0], SOME))
            if step.commits:
                said.append(_committed(transaction))
        transaction.rollback()
        return said

    def after_step(self, number: int) -> None:
        """What distinguishes this one."""

    def close(self) -> None:
        """The end."""
        self.db._graph.close()
        self.db.close()


class PinnedWorld(World):
    """Readers hold old versions, and read them after what came later."""

    def __init__(self, name: str, graph: Graph, schema: int) -> None:
        super().__init__(name, graph, schema)
        self._held: list[tuple[Result, list[Any]]] = []

    def after_step(self, number: int) -> None:
        """Start reading what was written, and check what was being read before the last two steps."""
        if number % 2:
            return
        text = FEW[number // 2 % 2]
        wanted = self.db.run(text, p=SOME).values()
        self._held.append((self.db.run(text, p=SOME), canonical(wanted)))
        if len(self._held) > 1:
            result, wanted = self._held.pop(0)
            assert canonical(result.values()) == wanted, "a reader saw what was written after it began"


class DiskWorld(World):
    """In a folder."""

    def __init__(self, name: str, path: Path, schema: int) -> None:
        self._path = path
        super().__init__(name, self._opened(), schema)

    def _opened(self) -> DiskGraph:
        # A budget of one byte: only the last object loaded is held.
        return DiskGraph(self._path, fold_minimum=3, fold_share=NEVER, memory=1, durability="relaxed")

    def after_step(self, number: int) -> None:
        """A checkpoint, or everything from the files again."""
        match number % 3:
            case 0:
                self.db.checkpoint()
            case 1:
                self.db._graph.close()
                self.db._held_graph = self._opened()


@cache
def _prepared_under(schema: int) -> Preparer:
    """The plans of all databases with the same schema: names and indexes come about in the same order in each."""
    return Preparer(FUNCTIONS, PROCEDURES)


def _over(graph: Graph, schema: int) -> Database:
    """A database over a graph with the given settings."""
    db = hoplite.open()
    db._held_graph, db._preparer = graph, _prepared_under(schema)
    return db


def _outcome(runner: Any, text: str, given: dict[str, Any]) -> Answer:
    try:
        summary = runner.run(text, p=given).consume()
    except Neo4jError as error:
        return f"error {error.code}"
    return sorted((name, count) for name, count in vars(summary.counters).items() if count)


def _committed(transaction: Transaction) -> Answer:
    try:
        transaction.commit()
    except Neo4jError as error:
        return f"error {error.code}"
    return None


@contextmanager
def small_pieces() -> Iterator[None]:
    """Limits so low that small graphs reach the code for large ones."""
    with (
        mock.patch.object(draft, "PIECE", 7),
        mock.patch.object(property_columns, "_LOOKED_AT", 5),
        mock.patch.object(columns, "SMALL_COLUMN", 0),
    ):
        yield


class Worlds:
    """One that never folds and some others, for one program after the other."""

    def __init__(self, folder: Path, schema: int, kinds: Sequence[str]) -> None:
        self._folder = folder
        make: dict[str, Callable[[], World]] = {
            "never": lambda: World("never", Graph(fold_minimum=NEVER), schema),
            "always": lambda: World("always", Graph(fold_minimum=1, fold_share=NEVER), schema),
            "sometimes": lambda: World("sometimes", Graph(3, fold_minimum=25, fold_share=NEVER), schema),
            "pinned": lambda: PinnedWorld("pinned", Graph(fold_minimum=1, fold_share=NEVER), schema),
            "disk": lambda: DiskWorld("disk", folder / "graph.hop", schema),
        }
        self.worlds = [make[kind]() for kind in ("never", *kinds)]

    def differences(self, program: Program, seed: int) -> list[str]:
        """What the worlds disagree about after a program."""
        found: list[str] = []
        for world in self.worlds:
            world.clear()
        for number, step in enumerate(program):
            self._compare(f"step {number}", [world.play(step) for world in self.worlds], found)
            for world in self.worlds:
                world.after_step(number)
            if number % 2 == 0:
                given, text = _asked(seed + number, program), FEW[number // 2 % 2]
                self._compare(text, [answer(world.db, text, given) for world in self.worlds], found)
            if found:
                return found
        given = _asked(seed, program)
        for text in reads(seed):
            self._compare(text, [answer(world.db, text, given) for world in self.worlds], found)
        if seed % 5 == 0:
            self._compare("export", [exported(world.db, self._folder) for world in self.worlds], found)
        return found

    def _compare(self, about: str, answers: list[Answer], found: list[str]) -> None:
        for world, said in zip(self.worlds[1:], answers[1:], strict=True):
            if said != answers[0]:
                mine, theirs = _apart(answers[0], said)
                found.append(f"{about}\n  {self.worlds[0].name}: {mine}\n  {world.name}: {theirs}")
        for world, said in zip(self.worlds, answers, strict=True):
            if isinstance(said, list):
                found += [f"{about}\n  {world.name}: {row}" for row in said if "contradicts itself" in str(row)[:200]]

    def close(self) -> None:
        """The end."""
        for world in self.worlds:
            world.close()


def _apart(first: Answer, second: Answer) -> tuple[Answer, Answer]:
    """What differs of two answers: of lists, the rows that only one of them has."""
    if not isinstance(first, list) or not isinstance(second, list):
        return first, second
    apart = [row for row in first if row not in second][:3], [row for row in second if row not in first][:3]
    return apart if any(apart) else (first, second)


def _asked(seed: int, program: Program) -> dict[str, Any]:
    """The parameters of the reads: values that were written, and a few ids."""
    chance = random.Random(seed)
    values = [given[name] for step in program for _, given in step.statements for name in "vw"]
    return {
        "v": chance.choice(values),
        "vs": [chance.choice(values), chance.choice(values), "a"],
        "ids": [chance.randrange(60) for _ in range(12)],
    }
