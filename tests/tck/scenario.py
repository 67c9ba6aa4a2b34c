"""Runs one scenario, step by step, on a fresh database and says whether it passed.

Side effects are measured as the TCK defines them, by comparing the graph before and after the query: nodes and
relationships by identity, labels as the set that occurs, properties as (entity, key, value).
"""

from __future__ import annotations

import json
import re
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from neo4j.exceptions import Neo4jError

from tests.suites.workers import PASSED, Verdict, internal_error
from tests.tck.gherkin import Scenario, Step
from tests.tck.values import parse, render

_RESULT = re.compile(r"the result should be(, in any order|, in order)?( \(ignoring element order for lists\))?:")
_ERROR = re.compile(r"an? (\w+) should be raised at (compile time|runtime|any time): .*")
_PROCEDURE = re.compile(r"there exists a procedure (.*?) ?:")
_GRAPH = re.compile(r"the ([\w-]+) graph")

# The last part of a Neo4j code, where the TCK calls that class of errors by another name.
_NEO4J_NAMES = {
    "ProcedureError": ("ProcedureNotFound", "ProcedureCallFailed"),
    "ConstraintVerificationFailed": ("ConstraintValidationFailed",),
}


class Database(Protocol):
    """What a scenario needs of `hoplite.open()`."""

    def run(self, query: str, parameters: dict[str, Any] | None = None, /) -> Any: ...

    def register_procedure(self, signature: str, rows: list[dict[str, Any]], /) -> None: ...


@dataclass(frozen=True, slots=True)
class Answer:
    columns: list[str]
    rows: list[list[Any]]


class Failure(Exception):
    def __init__(self, kind: str, detail: str) -> None:
        super().__init__(kind, detail)
        self.verdict = Verdict("failed", kind, " ".join(detail.split())[:400])


Graph = dict[str, frozenset[Any]]


@dataclass(slots=True)
class Execution:
    """`accepted_code`: the code that Neo4j raises here where that is not of the TCK's class."""

    db: Database
    graphs: Path
    accepted_code: str | None = None
    parameters: dict[str, Any] = field(default_factory=dict)
    answer: Answer | None = None
    error: Neo4jError | None = None
    before: Graph | None = None
    checked: bool = False

    def run(self, scenario: Scenario) -> Verdict:
        """Every step is taken; a scenario in which nothing was checked fails."""
        try:
            for step in scenario.steps:
                self.take(step)
            self.require_no_error()
            if not self.checked:
                raise Failure("nothing checked", "no step compared anything")
        except Failure as failure:
            return failure.verdict
        except Neo4jError as error:
            return Verdict("failed", "set-up failed", f"{error.code}: {error.message}"[:400])
        except Exception as error:
            return internal_error(error)
        return PASSED

    def take(self, step: Step) -> None:
        match step.text:
            case "an empty graph" | "any graph":
                pass
            case "having executed:":
                self.execute(_doc(step), {})
            case "parameters are:":
                self.parameters.update((name, parse(value)) for name, value in step.table or ())
            case "executing query:":
                self.before = self.observe()
                self.ask(_doc(step))
            case "executing control query:":
                self.require_no_error()
                self.ask(_doc(step))
            case "the result should be empty":
                self.require_rows((), columns=None, ordered=False, bags=False)
            case "no side effects":
                self.require_no_error()
                self.require_side_effects({})
            case "the side effects should be:":
                self.require_no_error()
                self.require_side_effects({name: int(count) for name, count in step.table or ()})
            case text if found := _RESULT.fullmatch(text):
                header, *rows = step.table or ((),)
                self.require_rows(
                    tuple(rows), columns=list(header), ordered=found[1] == ", in order", bags=bool(found[2])
                )
            case text if found := _ERROR.fullmatch(text):
                self.require_error(found[1])
            case text if found := _PROCEDURE.fullmatch(text):
                header, *rows = step.table or ((),)
                values = [{name: parse(cell) for name, cell in zip(header, row, strict=True)} for row in rows]
                self.db.register_procedure(found[1], values)
            case text if found := _GRAPH.fullmatch(text):
                self.load(found[1])
            case unknown:
                raise Failure("unknown step", unknown)

    def execute(self, query: str, parameters: dict[str, Any]) -> Answer:
        result = self.db.run(query, parameters)
        return Answer(list(result.keys()), [list(record.values()) for record in result])

    def ask(self, query: str) -> None:
        self.answer = self.error = None
        try:
            self.answer = self.execute(query, self.parameters)
        except Neo4jError as error:
            self.error = error

    def load(self, graph: str) -> None:
        folder = self.graphs / graph
        for script in json.loads((folder / f"{graph}.json").read_text())["scripts"]:
            self.execute((folder / f"{script}.cypher").read_text(), {})

    def require_no_error(self) -> None:
        if self.error is not None:
            raise Failure("error", f"{self.error.code}: {self.error.message}")

    def require_rows(
        self, expected: tuple[tuple[str, ...], ...], *, columns: list[str] | None, ordered: bool, bags: bool
    ) -> None:
        self.require_no_error()
        if self.answer is None:
            raise Failure("no query", "a result is expected of no query")
        self.checked = True
        if columns is not None and self.answer.columns != columns:
            raise Failure("columns differ", f"{self.answer.columns}, expected {columns}")
        want = [tuple(render(parse(cell), bags=bags) for cell in row) for row in expected]
        got = [tuple(render(value, bags=bags) for value in row) for row in self.answer.rows]
        missing, surplus = Counter(want) - Counter(got), Counter(got) - Counter(want)
        if missing or surplus:
            first = " | ".join(next(iter(surplus), ("nothing",)))
            instead = " | ".join(next(iter(missing), ("nothing",)))
            raise Failure("rows differ", f"got {first}, expected {instead} ({len(got)} rows, expected {len(want)})")
        if ordered and want != got:
            raise Failure("order differs", f"got {got[:5]}, expected {want[:5]}")

    def require_error(self, tck_class: str) -> None:
        if self.answer is not None:
            raise Failure("no error", f"{len(self.answer.rows)} rows, expected {tck_class}")
        if self.error is None:
            raise Failure("no query", "an error is expected of no query")
        self.checked = True
        code = self.error.code or ""
        names = (tck_class, *_NEO4J_NAMES.get(tck_class, ()))
        if code.rpartition(".")[2] not in names and code != self.accepted_code:
            raise Failure("other error", f"{code}: {self.error.message}, expected {tck_class}")
        self.error = None
        self.require_side_effects({})

    def require_side_effects(self, expected: dict[str, int]) -> None:
        if self.before is None:
            raise Failure("no query", "side effects are expected of no query")
        after = self.observe()
        got: dict[str, int] = {}
        for what, before in self.before.items():
            got[f"+{what}"] = len(after[what] - before)
            got[f"-{what}"] = len(before - after[what])
        if unknown := expected.keys() - got.keys():
            raise Failure("unknown step", f"side effects {sorted(unknown)}")
        differing = [f"{name} {got[name]}, expected {expected.get(name, 0)}" for name in got
                     if got[name] != expected.get(name, 0)]  # fmt: skip
        if differing:
            raise Failure("side effects differ", "; ".join(differing))

    def observe(self) -> Graph:
        nodes = [node for (node,) in self.execute("MATCH (n) RETURN n", {}).rows]
        relationships = [hop for (hop,) in self.execute("MATCH ()-[r]->() RETURN r", {}).rows]
        properties = [(entity.element_id, key, render(value)) for entity in nodes + relationships
                      for key, value in entity.items()]  # fmt: skip
        return {
            "nodes": frozenset(node.element_id for node in nodes),
            "relationships": frozenset(hop.element_id for hop in relationships),
            "labels": frozenset(label for node in nodes for label in node.labels),
            "properties": frozenset(properties),
        }


def _doc(step: Step) -> str:
    if step.doc is None:
        raise Failure("unknown step", f"{step.text} without a query")
    return step.doc
