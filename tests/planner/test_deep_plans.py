"""Plans of hundreds of operators on top of each other."""

from __future__ import annotations

import hoplite


def test_a_plan_of_hundreds_of_clauses_is_rewritten_and_run() -> None:
    text = "".join(f"OPTIONAL MATCH (a{number}:A) " for number in range(800)) + "RETURN count(*) AS rows"
    with hoplite.open() as db:
        db.run("CREATE (:A)")
        assert [record["rows"] for record in db.run(text)] == [1]
