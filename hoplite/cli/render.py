"""Results in, text out: a table for the eye, JSON or CSV for the next program; paths drawn as one would on paper."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Literal, TextIO, get_args

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

Format = Literal["table", "json", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
CAPTION_KEYS = ("name", "title", "label", "id")
_NARROWEST = 6  # characters of a column that are still of use


def caption(node: Node) -> str:
    """What a node is called in a drawing: its name or title, else its labels."""
    for key in CAPTION_KEYS:
        if key in node:
            return str(node[key])
    return "".join(f":{label}" for label in sorted(node.labels))


def cypher_text(value: Any) -> str:
    """A value as one would write it in Cypher; a path with captions: (Aspirin)-[:INTERACTS_WITH]->(Warfarin)."""
    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return json.dumps(value, ensure_ascii=False)
        case Node():
            labels = "".join(f":{label}" for label in sorted(value.labels))
            return f"({labels}{_properties(value)})"
        case Relationship():
            return f"[:{value.type}{_properties(value)}]"
        case Path():
            drawing = f"({caption(value.nodes[0])})"
            for before, hop, after in zip(value.nodes, value.relationships, value.nodes[1:], strict=False):
                arrow = f"-[:{hop.type}]->" if hop.start_node == before else f"<-[:{hop.type}]-"
                drawing += f"{arrow}({caption(after)})"
            return drawing
        case Date() | DateTime() | Time() | Duration():
            return value.iso_format()
        case Point():
            return f"point({', '.join(map(str, value))})"
        case list() | tuple():
            return f"[{', '.join(map(cypher_text, value))}]"
        case dict():
            return "{" + ", ".join(f"{key}: {cypher_text(item)}" for key, item in value.items()) + "}"
        case _:
            return str(value)


def _properties(entity: Node | Relationship) -> str:
    return " " + cypher_text(dict(entity.items())) if len(entity) else ""


def cell_text(value: Any) -> str:
    """As `cypher_text`, but a string stands without quotes."""
    return value if isinstance(value, str) else cypher_text(value)


def plain(value: Any) -> Any:
    """A value for JSON. Entities keep their ids, and relationships their ends; what JSON lacks becomes text."""
    match value:
        case float() if not math.isfinite(value):
            return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
        case None | bool() | int() | float() | str():
            return value
        case Node():
            return {
                "elementId": value.element_id,
                "labels": sorted(value.labels),
                "properties": plain(dict(value.items())),
            }
        case Relationship():
            return {
                "elementId": value.element_id,
                "type": value.type,
                "startNodeElementId": _element_id(value.start_node),
                "endNodeElementId": _element_id(value.end_node),
                "properties": plain(dict(value.items())),
            }
        case Path():
            return {"nodes": [plain(node) for node in value.nodes], "relationships": [
                plain(hop) for hop in value.relationships]}  # fmt: skip
        case Point():
            return {"srid": value.srid, "coordinates": list(value)}
        case Date() | DateTime() | Time() | Duration():
            return value.iso_format()
        case list() | tuple():
            return [plain(item) for item in value]
        case dict():
            return {key: plain(item) for key, item in value.items()}
        case bytes() | bytearray():
            return bytes(value).hex()
        case _:
            return str(value)


def _element_id(node: Node | None) -> str | None:
    return None if node is None else node.element_id


def fitting(columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int) -> Table:
    """A table that can be read on a screen of that width: records below each other where columns would be slivers."""
    if len(columns) * (_NARROWEST + 3) + 1 <= width:
        return table(columns, rows)
    from rich import box
    from rich.table import Table

    drawn = Table(box=box.ROUNDED, show_header=False)
    drawn.add_column("column", style="bold", overflow="fold")
    drawn.add_column("value", overflow="fold")
    for row in rows:
        for column, value in zip(columns, row, strict=True):
            drawn.add_row(_text(column), _text(cell_text(value), _style(value)))
        drawn.add_section()
    return drawn


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]], title: str | None = None) -> Table:
    """A rich table; numbers stand at the right."""
    from rich import box
    from rich.table import Table

    rows = list(rows)
    drawn = Table(box=box.ROUNDED, header_style="bold", title=title, title_justify="left", title_style="dim")
    for position, column in enumerate(columns):
        numbers = bool(rows) and all(_is_number(row[position]) for row in rows)
        drawn.add_column(_text(column), justify="right" if numbers else "left", overflow="fold")
    for row in rows:
        drawn.add_row(*(_text(cell_text(value), _style(value)) for value in row))
    return drawn


def _is_number(value: Any) -> bool:
    return value is None or (isinstance(value, int | float) and not isinstance(value, bool))


def _style(value: Any) -> str:
    match value:
        case None:
            return "dim"
        case Path():
            return "green"
        case Node() | Relationship():
            return "cyan"
        case _:
            return ""


def _text(content: str, style: str = "") -> Text:
    """Text that is shown as it is: `[:TREATS]` is no markup."""
    from rich.text import Text

    return Text(content, style=style)


def write(columns: Sequence[str], rows: Iterable[Sequence[Any]], form: Format, out: TextIO) -> int:
    """Write an answer; the number of rows. JSON lines and CSV are written as the rows come."""
    count = 0
    match form:
        case "table":
            rows = list(rows)
            count = len(rows)
            _print_table(columns, rows, out)
        case "json":
            objects = [_object(columns, row) for row in rows]
            count = len(objects)
            write_json(objects, out)
        case "jsonl":
            for row in rows:
                out.write(json.dumps(_object(columns, row), ensure_ascii=False, allow_nan=False) + "\n")
                count += 1
        case "csv":
            writer = csv.writer(out, lineterminator="\n")
            writer.writerow(columns)
            for row in rows:
                writer.writerow(["" if value is None else _csv_cell(value) for value in row])
                count += 1
    return count


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], out: TextIO) -> None:
    """On a terminal it fits the screen; elsewhere lines are as long as they need to be."""
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(file=out)
    if console.is_terminal:
        console.print(fitting(columns, rows, console.width))
        return
    drawn = table(columns, rows)
    unbounded = console.options.update(max_width=1 << 20)
    Console(file=out, width=Measurement.get(console, unbounded, drawn).maximum).print(drawn)


def write_json(value: Any, out: TextIO) -> None:
    """One JSON document, indented."""
    out.write(json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False) + "\n")


def _object(columns: Sequence[str], row: Sequence[Any]) -> dict[str, Any]:
    return {column: plain(value) for column, value in zip(columns, row, strict=True)}


def _csv_cell(value: Any) -> str:
    converted = plain(value)
    return converted if isinstance(converted, str) else json.dumps(converted, ensure_ascii=False, allow_nan=False)


def to_text(columns: Sequence[str], rows: Iterable[Sequence[Any]], form: Format) -> str:
    out = io.StringIO()
    write(columns, rows, form, out)
    return out.getvalue()
