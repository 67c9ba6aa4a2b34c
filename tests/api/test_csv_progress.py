"""Progress of loading plain CSV: rows done, of all rows."""

from __future__ import annotations

from pathlib import Path

import pytest

import hoplite


def test_rows_are_counted_as_they_are_loaded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hoplite.api.csv_tables._ROWS_OF_PART", 4)
    monkeypatch.setattr("hoplite.api.csv_tables._ROWS_AT_ONCE", 4)
    people, knows, none = tmp_path / "people.csv", tmp_path / "knows.csv", tmp_path / "none.csv"
    people.write_text("id,born\n" + "".join(f"{n},{1900 + n if n % 3 else ''}\n" for n in range(10)), encoding="utf-8")
    knows.write_text("start,end\n" + "".join(f"{n},{n + 1}\n" for n in range(9)), encoding="utf-8")
    none.write_text("id\n", encoding="utf-8")
    pattern = ("People", "KNOWS", "People")
    seen: list[tuple[int, int | None]] = []

    def note(done: int, total: int | None) -> None:
        seen.append((done, total))

    with hoplite.open() as db, hoplite.open() as at_once:
        for one, progress in ((db, note), (at_once, None)):
            one.load_csv(people, key="id", tell=None, progress=progress)
            one.load_csv(knows, relationship=pattern, tell=None, progress=progress)
            one.load_csv(none, key="id", tell=None, progress=progress)
            one.load_csv(people, key="id", upsert=True, tell=None, progress=progress)
        query = "MATCH (a)-[:KNOWS]->(b) RETURN a.id, a.born, b.id, b.born ORDER BY a.id"
        assert db.run(query).values() == at_once.run(query).values()
    rows = [(0, 10), (4, 10), (8, 10), (10, 10)]
    assert seen == [*rows, *((min(done, 9), 9) for done, _ in rows), (0, 0), (0, 0), *rows[1:]]
