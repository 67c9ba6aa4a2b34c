"""`file()` and `linenumber()` under LOAD CSV, as a live Neo4j answers."""

from __future__ import annotations

from pathlib import Path

import pytest

import hoplite

LOAD = "LOAD CSV FROM 'file:///lines.csv' AS r"


@pytest.mark.parametrize(
    ("query", "rows"),
    [
        (f"{LOAD} RETURN linenumber(), file(), r[0]", [[n, "///lines.csv", x] for n, x in enumerate("a135", 1)]),
        (
            "LOAD CSV WITH HEADERS FROM 'file:///lines.csv' AS r RETURN linenumber(), r.a",
            [[2, "1"], [3, "3"], [4, "5"]],
        ),
        (f"{LOAD} WITH r WHERE linenumber() > 2 RETURN linenumber()", [[3], [4]]),
        (f"{LOAD} WITH r ORDER BY r[0] DESC RETURN linenumber()", [[1], [4], [3], [2]]),
        (f"{LOAD} WITH r, count(*) AS c RETURN linenumber()", [[None]] * 4),
        (f"{LOAD} CALL (r) {{ RETURN linenumber() AS l }} RETURN l", [[1], [2], [3], [4]]),
        (f"{LOAD} CREATE (n) RETURN linenumber()", [[1], [2], [3], [4]]),
        (f"{LOAD} RETURN COLLECT {{ RETURN linenumber() }}", [[[1]], [[2]], [[3]], [[4]]]),
        (f"{LOAD} WITH * RETURN *", [[["a", "b"]], [["1", "2"]], [["3", "x\ny"]], [["5", "6"]]]),
        ("RETURN linenumber(), file()", [[None, None]]),
    ],
)
def test_the_place_in_the_file_goes_with_the_row(tmp_path: Path, query: str, rows: list[list[object]]) -> None:
    """Empty lines do not count, and a line break within quotes does not either."""
    (tmp_path / "lines.csv").write_text('a,b\n1,2\n\n3,"x\ny"\n5,6\n')
    with hoplite.open(import_folder=tmp_path) as db:
        assert db.run(query).values() == rows
