"""Three calls of every function and procedure with every run of the tests; `make fuzz-calls` tries many more."""

from __future__ import annotations

import random

from tests.fuzz.calls import PATTERN, call, callees, database, given, problem


def test_calls_end_in_an_answer_or_a_cypher_error() -> None:
    db, parameters = database(), given()
    assert db.run(PATTERN + "RETURN $deep AS x, n, r, p", parameters).values()
    found = []
    for callee in callees():
        for number in range(3):
            query = call(callee, random.Random(f"{callee.name} {number}"))
            if (finding := problem(db, query, parameters)) is not None:
                found.append(f"{query}\n{finding}")
    assert found == []
