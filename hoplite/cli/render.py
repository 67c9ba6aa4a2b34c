"""Results in, text out: a table for people, JSON or CSV for programs; paths drawn as in Cypher."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Iterator, Sequence
from importlib.util import find_spec
from itertools import zip_longest
from typing import IO, TYPE_CHECKING, Any, Literal, get_args

from hoplite.lazy import lazy_pattern

if TYPE_CHECKING:
    from rich.table import Table
    from rich.text import Text

Format = Literal["table", "json", "jsonl", "csv"]
FORMATS: tuple[Format, ...] = get_args(Format)
_CONTROL = lazy_pattern(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")  # all but tab and newline
_NARROWEST = 6  # characters of the narrowest useful column


def cypher_text(value: Any) -> str:
    """A value as Cypher would write it; a path with captions: (Aspirin)-[:INTERACTS_WITH]->(Warfarin)."""
    kind = type(value)
    if value is None:
        return "null"
    if kind is bool:
        return str(value).lower()
    if kind is str:
        return json.dumps(value, ensure_ascii=False)
    if kind is list:
        return f"[{', '.join(map(cypher_text, value))}]"
    if kind is dict:
        return "{" + ", ".join(f"{key}: {cypher_text(item)}" for key, item in value.items()) + "}"
    if kind in (int, float):
        return str(value)
    from hoplite.cli.driver_values import driver_text

    return driver_text(value, cypher_text)


def cell_text(value: Any) -> str:
    """Like `cypher_text`, but with strings unquoted."""
    return value if isinstance(value, str) else cypher_text(value)


def visible(text: str) -> str:
    """The text for a terminal, which would obey control characters: they are shown as Cypher would write them."""
    return _CONTROL.sub(lambda found: f"\\u{ord(found[0]):04x}", text)


def counted(number: int, noun: str) -> str:
    """`1 row`, `1,000 rows`."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"


def plain(value: Any) -> Any:
    """A value for JSON. Entities keep their ids, and relationships their ends; what JSON cannot express becomes
    text."""
    kind = type(value)
    if kind is float and not math.isfinite(value):
        return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
    if value is None or kind in (bool, int, float, str):
        return value
    if kind is list:
        return [plain(item) for item in value]
    if kind is dict:
        return {key: plain(item) for key, item in value.items()}
    if kind in (bytes, bytearray):
        return bytes(value).hex()
    from hoplite.cli.driver_values import driver_json

    return driver_json(value, plain)


def fitting(columns: Sequence[str], rows: Iterable[Sequence[Any]], width: int) -> Table:
    """A table that fits a screen of that width: records one below the other if columns would be too narrow."""
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
    """A rich table; numbers are aligned right."""
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
    if value is None:
        return "dim"
    if type(value) in (bool, int, float, str, list, dict):
        return ""
    from hoplite.cli.driver_values import driver_style

    return driver_style(value)


def _text(content: str, style: str = "") -> Text:
    """Text that is shown literally: `[:TREATS]` is not markup, and an escape sequence has no effect."""
    from rich.text import Text

    return Text(visible(content), style=style)


def write(columns: Sequence[str], rows: Iterable[Sequence[Any]], form: Format, out: IO[str]) -> int:
    """Write an answer; returns the number of rows. JSON lines and CSV are written as the rows come."""
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
            quoting = csv.writer(out, lineterminator="\n", quoting=csv.QUOTE_ALL)
            writer.writerow(columns)
            for row in rows:
                cells = ["" if value is None else _csv_cell(value) for value in row]
                # Before Python 3.13, a carriage return is not quoted, and readers take it for the end of a row.
                (quoting if any("\r" in cell for cell in cells) else writer).writerow(cells)
                count += 1
    return count


def _print_table(columns: Sequence[str], rows: Sequence[Sequence[Any]], out: IO[str]) -> None:
    """On a terminal it fits the screen; elsewhere lines are as long as needed."""
    if find_spec("rich") is None:
        out.write(plain_table(columns, rows))
        return
    from rich.console import Console
    from rich.measure import Measurement

    console = Console(file=out)
    if console.is_terminal:
        console.print(fitting(columns, rows, console.width))
        return
    drawn = table(columns, rows)
    unbounded = console.options.update(max_width=1 << 20)
    Console(file=out, width=Measurement.get(console, unbounded, drawn).maximum).print(drawn)


def plain_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    """A table without the extra `cli`: the same lines, not fitted to a screen."""
    cells = [[visible(cell_text(value)).split("\n") for value in row] for row in rows]
    parts = [[visible(column).split("\n") for column in columns], *cells]
    widths = [max(len(line) for row in parts for line in row[place]) for place in range(len(columns))]
    numbers = [bool(rows) and all(_is_number(row[place]) for row in rows) for place in range(len(columns))]

    def drawn(row: Sequence[Sequence[str]]) -> Iterator[str]:
        for lines in zip_longest(*row, fillvalue=""):
            padded = (
                line.rjust(width) if is_number else line.ljust(width)
                for line, width, is_number in zip(lines, widths, numbers, strict=True)
            )
            yield f"│ {' │ '.join(padded)} │"

    def rule(left: str, middle: str, right: str) -> str:
        return left + middle.join("─" * (width + 2) for width in widths) + right

    lines = [rule("╭", "┬", "╮"), *drawn(parts[0]), rule("├", "┼", "┤")]
    for row in cells:
        lines += drawn(row)
    return "\n".join((*lines, rule("╰", "┴", "╯"), ""))


def write_json(value: Any, out: IO[str]) -> None:
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
