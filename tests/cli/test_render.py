"""How values and answers are written for the terminal, for JSON and for CSV."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from neo4j.time import Date, Duration

import hoplite
from hoplite.cli.render import counted, cypher_text, plain, plain_table, to_text, write


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ('say "hi"', '"say \\"hi\\""'),
        ([1, None, "a"], '[1, null, "a"]'),
        ({"a": [1]}, "{a: [1]}"),
        (Date(2020, 2, 29), "2020-02-29"),
        (Duration(months=14), "P1Y2M"),
    ],
)
def test_values_are_written_as_in_cypher(value: Any, text: str) -> None:
    assert cypher_text(value) == text


def test_a_path_is_drawn_with_captions_and_arrows() -> None:
    with hoplite.open() as db:
        db.run("CREATE (:Drug {name: 'A'})-[:R {w: 1}]->(:Drug {title: 'B'})<-[:S]-(:Thing)").consume()
        path = db.run("MATCH p = ({name: 'A'})-->()<--() RETURN p").value()[0]
        assert cypher_text(path) == "(A)-[:R]->(B)<-[:S]-(:Thing)"
        assert cypher_text(path.relationships[0]) == "[:R {w: 1}]"
        assert cypher_text(path.nodes[0]) == '(:Drug {name: "A"})'
        start, end = path.nodes[:2]
        assert plain(start) == {"elementId": start.element_id, "labels": ["Drug"], "properties": {"name": "A"}}
        assert plain(path.relationships[0]) == {
            "elementId": path.relationships[0].element_id,
            "type": "R",
            "startNodeElementId": start.element_id,
            "endNodeElementId": end.element_id,
            "properties": {"w": 1},
        }


ROWS: list[list[Any]] = [[1, "a,b"], [None, ["x"]]]


def test_json_stays_json_for_numbers_that_it_lacks() -> None:
    rows = [[float("inf"), [float("-inf"), float("nan")]]]
    assert json.loads(to_text(["a", "b"], rows, "json")) == [{"a": "Infinity", "b": ["-Infinity", "NaN"]}]
    assert to_text(["a", "b"], rows, "csv") == 'a,b\nInfinity,"[""-Infinity"", ""NaN""]"\n'


def test_a_table_that_is_not_on_a_terminal_is_as_wide_as_it_needs_to_be() -> None:
    text = "x" * 500
    assert text in to_text(["long"], [[text]], "table")


def test_json_is_a_list_of_objects() -> None:
    assert json.loads(to_text(["n", "v"], ROWS, "json")) == [{"n": 1, "v": "a,b"}, {"n": None, "v": ["x"]}]


def test_json_lines_are_one_object_a_line() -> None:
    assert to_text(["n", "v"], ROWS, "jsonl") == '{"n": 1, "v": "a,b"}\n{"n": null, "v": ["x"]}\n'


def test_csv_quotes_what_it_must_and_leaves_null_empty() -> None:
    assert to_text(["n", "v"], ROWS, "csv") == 'n,v\n1,"a,b"\n,"[""x""]"\n'


def test_a_table_shows_markup_as_it_is() -> None:
    out = io.StringIO()
    assert write(["[bold]"], [["[:TREATS]"]], "table", out) == 1
    assert "[bold]" in out.getvalue() and "[:TREATS]" in out.getvalue()


CONTROL = "a\x1b[31mb\x07\x9b\x7f\r"


def test_a_table_does_not_pass_control_characters_to_the_terminal() -> None:
    shown = to_text([f"n{CONTROL}"], [[CONTROL], [[CONTROL]], ["two\nlines\tand a tab"]], "table")
    assert not set("\x1b\x07\x9b\x7f\r") & set(shown)
    assert "a\\u001b[31mb\\u0007\\u009b\\u007f\\u000d" in shown and "two " in shown and "lines" in shown
    drawn = plain_table([f"n{CONTROL}"], [[CONTROL], [[CONTROL]], ["two\nlines"]])
    assert not set("\x1b\x07\x9b\x7f\r") & set(drawn) and "a\\u001b[31mb" in drawn
    assert {len(line) for line in drawn.splitlines()} == {len(drawn.splitlines()[0])}


def test_formats_for_programs_keep_control_characters() -> None:
    assert json.loads(to_text(["n"], [[CONTROL]], "jsonl")) == {"n": CONTROL}
    assert to_text(["n"], [[CONTROL]], "csv") == f'n\n"{CONTROL}"\n'


@pytest.mark.parametrize(("number", "text"), [(0, "0 rows"), (1, "1 row"), (2, "2 rows"), (1000, "1,000 rows")])
def test_what_is_counted_agrees_with_its_number(number: int, text: str) -> None:
    assert counted(number, "row") == text
