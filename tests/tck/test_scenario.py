"""The judge of scenarios, on a database that answers by rote: it must see every kind of wrong answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from neo4j.exceptions import Neo4jError

from tests.tck.gherkin import Scenario, read_feature
from tests.tck.scenario import Execution

EXPECTS_ROWS = """
Feature: F
  Scenario: S
    Given any graph
    When executing query:
      \"\"\"
      RETURN x
      \"\"\"
    Then the result should be, in order:
      | x   |
      | 1   |
      | 'a' |
    And no side effects
"""
EXPECTS_ERROR = """
Feature: F
  Scenario: S
    When executing query:
      \"\"\"
      RETURN x
      \"\"\"
    Then a SyntaxError should be raised at compile time: UndefinedVariable
"""


class Rote:
    """Answers every query but those that observe the graph with the given columns and rows, or raises."""

    def __init__(self, columns: list[str], rows: list[list[Any]], error: Exception | None = None) -> None:
        self.columns, self.rows, self.error = columns, rows, error

    def run(self, query: str, parameters: dict[str, Any] | None = None, /) -> Any:
        if query.startswith("MATCH"):
            return Answered([], [])
        if self.error:
            raise self.error
        return Answered(self.columns, self.rows)

    def register_procedure(self, signature: str, rows: list[dict[str, Any]], /) -> None:
        raise NotImplementedError


class Answered:
    def __init__(self, columns: list[str], rows: list[list[Any]]) -> None:
        self.columns, self.rows = columns, rows

    def keys(self) -> list[str]:
        return self.columns

    def __iter__(self) -> Any:
        return iter(dict(enumerate(row)) for row in self.rows)


def scenario(text: str) -> Scenario:
    (found,) = read_feature("f", text)
    return found


def verdict_on(text: str, db: Rote, accepted_code: str | None = None) -> tuple[str, str]:
    verdict = Execution(db, Path(), accepted_code).run(scenario(text))
    return verdict.outcome, verdict.kind


def raised(code: str) -> Neo4jError:
    return Neo4jError._hydrate_neo4j(code=code, message="no")


def test_the_right_rows_pass() -> None:
    assert verdict_on(EXPECTS_ROWS, Rote(["x"], [[1], ["a"]])) == ("passed", "")


@pytest.mark.parametrize(
    ("db", "kind"),
    [
        (Rote(["y"], [[1], ["a"]]), "columns differ"),
        (Rote(["x"], [[1]]), "rows differ"),
        (Rote(["x"], [[1], ["a"], ["a"]]), "rows differ"),
        (Rote(["x"], [[1.0], ["a"]]), "rows differ"),
        (Rote(["x"], [["a"], [1]]), "order differs"),
        (Rote(["x"], [[1], ["a"]], raised("Neo.ClientError.Statement.SyntaxError")), "error"),
        (Rote(["x"], [[1], ["a"]], ValueError("bug")), "internal error"),
        (Rote(["x"], [[1], [object()]]), "internal error"),
    ],
)
def test_a_wrong_answer_fails(db: Rote, kind: str) -> None:
    assert verdict_on(EXPECTS_ROWS, db) == ("failed", kind)


def test_an_error_passes_with_the_class_of_the_tck_or_the_code_of_neo4j() -> None:
    syntax, other = "Neo.ClientError.Statement.SyntaxError", "Neo.ClientError.Statement.TypeError"
    assert verdict_on(EXPECTS_ERROR, Rote([], [], raised(syntax))) == ("passed", "")
    assert verdict_on(EXPECTS_ERROR, Rote([], [], raised(other))) == ("failed", "other error")
    assert verdict_on(EXPECTS_ERROR, Rote([], [], raised(other)), accepted_code=other) == ("passed", "")
    assert verdict_on(EXPECTS_ERROR, Rote(["x"], [])) == ("failed", "no error")


def test_a_scenario_that_checks_nothing_fails() -> None:
    text = 'Feature: F\nScenario: S\n  When executing query:\n    """\n    RETURN 1\n    """\n'
    assert verdict_on(text, Rote(["x"], [])) == ("failed", "nothing checked")


def test_an_unknown_step_fails() -> None:
    assert verdict_on("Feature: F\nScenario: S\n  Given a moon\n", Rote([], [])) == ("failed", "unknown step")
