"""What Tab offers where."""

from __future__ import annotations

import pytest

from hoplite.cli.completion import COMMANDS, KEYWORDS, candidates
from hoplite.cli.schema import SchemaNames

NAMES = SchemaNames(
    labels=("Drug",), types=("TREATS",), keys=("name",), functions=("toUpper",), procedures=("db.labels",)
)


@pytest.mark.parametrize(
    ("before", "offered"),
    [
        ("MATCH (n:", NAMES.labels),
        ("MATCH (n:Dr", NAMES.labels),
        ("MATCH (n:Drug|", NAMES.labels),
        ("MATCH (n)-[r:", NAMES.types),
        ("MATCH (n)-[:TREATS|TR", NAMES.types),
        ("MATCH (n) RETURN n.", NAMES.keys),
        ("MATCH (n) RETURN n.na", NAMES.keys),
        ("MATCH (n:Drug {", NAMES.keys),
        ("MATCH (n:Drug {name: 'x', ", NAMES.keys),
        ("MATCH (n) WHERE n:", NAMES.labels),
        ("MA", (*KEYWORDS, *NAMES.functions)),
        ("CALL ", NAMES.procedures),
        ("MATCH (n) CALL db.sch", NAMES.procedures),
        ("RETURN 'a:", ()),
        (":sch", COMMANDS),
    ],
)
def test_the_place_decides_what_is_offered(before: str, offered: tuple[str, ...]) -> None:
    assert candidates(before, NAMES) == offered
