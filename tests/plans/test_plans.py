"""Every case of the .test files in this folder: queries with their plans. `make plans` rewrites them."""

from __future__ import annotations

from pathlib import Path

import pytest

import hoplite
from tests.casefiles import Case, ExpectedPlan, read_cases

FILES = sorted(Path(__file__).parent.glob("*.test"))
CASES = [pytest.param(case, id=f"{path.stem}: {case.name}") for path in FILES for case in read_cases(path)]


def test_there_are_cases() -> None:
    assert len(CASES) > 20


@pytest.mark.parametrize("case", CASES)
def test_plan(case: Case) -> None:
    assert isinstance(case.expected, ExpectedPlan)
    assert plan_of(case) == case.expected.text


def plan_of(case: Case) -> str:
    """The text of EXPLAIN, without trailing spaces."""
    with hoplite.open() as db:
        for statement in (*case.graph, *case.before):
            db.run(statement).consume()
        return "\n".join(line.rstrip() for line in db.explain(case.query).splitlines() if line[:1] in "|+")
