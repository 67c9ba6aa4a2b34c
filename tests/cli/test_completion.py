"""What Tab offers where."""

from __future__ import annotations

import pytest
from prompt_toolkit.completion import CompleteEvent
from prompt_toolkit.document import Document

import hoplite
from hoplite.cli.completion import COMMANDS, KEYWORDS, CypherCompleter, candidates
from hoplite.cli.schema import SchemaNames

NAMES = SchemaNames(
    labels=("Drug",),
    types=("TREATS",),
    keys=("name",),
    functions=("apoc.coll.subtract", "apoc.coll.sum", "datetime.truncate", "toUpper"),
    procedures=("db.labels",),
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
        ("RETURN apoc.coll.su", ("apoc.coll.subtract", "apoc.coll.sum", *NAMES.keys)),
        ("RETURN DateTime.", ("datetime.truncate", *NAMES.keys)),
        ("MATCH (n) // it's a node\nRETURN n.", NAMES.keys),
        ("/* it's */ MATCH (n:", NAMES.labels),
        ("MATCH (`it's`) RETURN `it's`.", NAMES.keys),
        ("MATCH (n) // see (n:", ()),
        ("MATCH (n) /* see (n:", ()),
        ("MATCH (n:`Dr", ()),
        ("RETURN 'https://', to", (*KEYWORDS, *NAMES.functions)),
    ],
)
def test_the_place_decides_what_is_offered(before: str, offered: tuple[str, ...]) -> None:
    assert tuple(candidates(before, NAMES)) == offered


@pytest.mark.parametrize(
    ("before", "completed"),
    [
        ("RETURN apoc.coll.su", ["RETURN apoc.coll.subtract", "RETURN apoc.coll.sum", "RETURN apoc.coll.sumLongs"]),
        ("RETURN datetime.tr", ["RETURN datetime.transaction", "RETURN datetime.truncate"]),
        ("CALL db.lab", ["CALL db.labels"]),
        ("MATCH (n) RETURN n.na", ["MATCH (n) RETURN n.name"]),
        ("MATCH (n {na", ["MATCH (n {name"]),
        ("RETURN toUpp", ["RETURN toUpper"]),
        (":sch", [":schema"]),
    ],
)
def test_tab_completes_what_was_typed(before: str, completed: list[str]) -> None:
    with hoplite.open() as db:
        db.run("CREATE ({name: 'A'})").consume()
        offered = CypherCompleter(db).get_completions(Document(before), CompleteEvent())
        assert [before[: len(before) + one.start_position] + one.text for one in offered] == completed
