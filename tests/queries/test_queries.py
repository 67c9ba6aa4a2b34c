"""Every case of the .test files in this folder: queries with their rows, on one partition and on several."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from neo4j.exceptions import Neo4jError

import hoplite
from tests.casefiles import Case, ExpectedError, ExpectedPlan, ExpectedRows, read_cases
from tests.tck.values import parse, render

FILES = sorted(Path(__file__).parent.glob("*.test"))
CASES = [pytest.param(case, id=f"{path.stem}: {case.name}") for path in FILES for case in read_cases(path)]


def test_there_are_cases() -> None:
    assert len(CASES) > 200


@pytest.mark.parametrize("partitions", [1, 3])
@pytest.mark.parametrize("case", CASES)
def test_query(case: Case, partitions: int) -> None:
    with hoplite.open(partitions=partitions) as db:
        for statement in (*case.graph, *case.before):
            db.run(statement).consume()
        assert_answered(db, case)


def assert_answered(db: hoplite.Database, case: Case) -> None:
    match case.expected:
        case ExpectedError(code=code, message=message):
            with pytest.raises(Neo4jError) as raised:
                list(db.run(case.query, case.parameters))
            assert raised.value.code == code
            assert (raised.value.message or "").startswith(message)
        case ExpectedRows(columns=columns, rows=rows, ordered=ordered):
            result = db.run(case.query, case.parameters)
            assert tuple(result.keys()) == columns
            got = [tuple(render(value) for value in record.values()) for record in result]
            want = [tuple(render(parse(cell)) for cell in row) for row in rows]
            assert (got if ordered else Counter(got)) == (want if ordered else Counter(want))
        case ExpectedPlan():
            pytest.fail("plans belong into tests/plans")
