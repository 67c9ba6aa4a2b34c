"""What a fold must not change: who has a value and who has none."""

from __future__ import annotations

from pathlib import Path

import pytest

import hoplite


@pytest.mark.parametrize("on_disk", [False, True])
def test_who_has_no_text_reads_null_after_two_folds(on_disk: bool, tmp_path: Path) -> None:
    with hoplite.open(tmp_path / "graph" if on_disk else None) as db:
        db.run("UNWIND range(1, 300) AS i CREATE (:A {s: 'a' + i})-[:R {s: 'r' + i}]->(:A)")
        db.run("CREATE (:B)-[:S]->(:B)")
        db.run("UNWIND range(1, 700) AS i CREATE (:C)")
        for entity in ("(n:B)", "()-[n:S]->()"):
            rows = db.run(
                f"MATCH {entity} RETURN n.s AS s, n.s IS NULL AS missing, coalesce(n.s, 'none') AS other,"
                " properties(n) AS all, keys(n) AS keys LIMIT 1"
            ).values()
            assert rows == [[None, True, "none", {}, []]]
            assert db.run(f"MATCH {entity} WHERE n.s = 'a1' OR n.s = 'r1' RETURN count(*)").values() == [[0]]
        db.run("MATCH (b:B) SET b.t = b.s")
        assert db.run("MATCH (b:B) WHERE b.t IS NOT NULL RETURN count(*)").values() == [[0]]
