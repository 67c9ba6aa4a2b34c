"""Query cases once more: as plans that were written to JSON and read back, and under PROFILE."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import hoplite
from tests.casefiles import Case, read_cases
from tests.plans.other_ways import ThroughJson, ThroughProfile
from tests.plans.run_recorded import all_differences
from tests.queries.test_queries import assert_answered
from tests.suites.data import data_folder

_QUERIES = Path(__file__).parents[1] / "queries"
CASES = [
    pytest.param(replace(case, notes=None), id=f"{path.stem}: {case.name}")
    for path in sorted(_QUERIES.glob("*.test"))
    for case in read_cases(path)
]


@pytest.mark.parametrize("case", CASES)
def test_plans_read_back_answer_as_the_query_does(case: Case) -> None:
    assert_answered(_made(case, ThroughJson), case)


@pytest.mark.parametrize("case", CASES)
def test_profile_runs_the_operators_of_the_query(case: Case) -> None:
    assert_answered(_made(case, ThroughProfile), case)


def _made(case: Case, way: Any) -> Any:
    db = hoplite.open()
    for statement in (*case.graph, *case.before):
        db.run(statement).consume()
    return way(db)


@pytest.mark.skipif(not data_folder().joinpath("golden").exists(), reason="no recorded suites (HOPLITE_DATA)")
def test_a_sample_of_recorded_queries_comes_out_the_same_other_ways() -> None:
    assert not list(all_differences(pattern_count=60, query_count=10))
