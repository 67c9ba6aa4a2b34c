"""Every case of the .test files in this folder: queries with their rows, on one partition and on several."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest
from neo4j import ResultSummary
from neo4j.exceptions import GqlError, Neo4jError

import hoplite
from tests.casefiles import Case, ExpectedError, ExpectedNote, ExpectedPlan, ExpectedRows, read_cases
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
        case ExpectedError(code=code, message=message, statuses=statuses):
            with pytest.raises(Neo4jError) as raised:
                list(db.run(case.query, case.parameters))
            assert raised.value.code == code
            assert (raised.value.message or "").startswith(message)
            assert_statuses(raised.value, statuses)
        case ExpectedRows(columns=columns, rows=rows, ordered=ordered):
            result = db.run(case.query, case.parameters)
            assert tuple(result.keys()) == columns
            got = [tuple(render(value) for value in record.values()) for record in result]
            want = [tuple(render(parse(cell)) for cell in row) for row in rows]
            assert (got if ordered else Counter(got)) == (want if ordered else Counter(want))
            if case.notes is not None:
                assert_notified(result.consume(), case.notes)
        case ExpectedPlan():
            pytest.fail("plans belong into tests/plans")


def assert_statuses(error: Neo4jError, wanted: tuple[tuple[str, str], ...]) -> None:
    """The error's own GQL status and its causes, where a case names them."""
    if not wanted:
        return
    chain: list[GqlError] = []
    link: BaseException | None = error
    while isinstance(link, GqlError):
        chain.append(link)
        link = link.__cause__
    assert [link.gql_status for link in chain] == [code for code, _ in wanted]
    for link, (_, sentence) in zip(chain, wanted, strict=True):
        assert " ".join(link.gql_status_description.split()).endswith(sentence)


def assert_notified(summary: ResultSummary, wanted: tuple[ExpectedNote, ...]) -> None:
    notes = [status for status in summary.gql_status_objects if status.is_notification]
    places = [f"{note.position.line}:{note.position.column}" if note.position else "-" for note in notes]
    got = [(note.gql_status, place) for note, place in zip(notes, places, strict=True)]
    assert got == [(note.status, note.place) for note in wanted]
    for note, expected in zip(notes, wanted, strict=True):
        assert note.status_description.endswith(expected.ending)
