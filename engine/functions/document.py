"""The reference page of functions and procedures, written from their tables.

python -m hoplite.engine.functions.document > docs/FUNCTIONS.md
"""

from __future__ import annotations

from hoplite.engine.functions.show import function_rows
from hoplite.engine.procedures.show import procedure_rows

_INTRODUCTION = """\
# Functions and procedures

This page is written from the tables by `python -m hoplite.engine.functions.document`; a test keeps it up to date.
Inside a query, `SHOW FUNCTIONS` and `SHOW PROCEDURES` list the same, and what a program has registered.
"""


def page() -> str:
    """The whole page as Markdown."""
    functions = function_rows()
    parts = [_INTRODUCTION]
    for category in sorted({row["category"] for row in functions}, key=lambda name: (not name, name)):
        parts.append(f"## {category or 'APOC'} functions\n")
        members = [row for row in functions if row["category"] == category]
        parts.append(
            _table(("Function", "What it returns"), [(row["signature"], row["description"]) for row in members])
        )
    parts.append("## Procedures\n")
    rows = [(f"{row['signature']}", f"{row['description']} ({row['mode']})") for row in procedure_rows()]
    parts.append(_table(("Procedure", "What it does"), rows))
    return "\n".join(parts)


def _table(head: tuple[str, str], rows: list[tuple[str, str]]) -> str:
    lines = [f"| {head[0]} | {head[1]} |", "|---|---|"]
    lines += [f"| `{_cell(left)}` | {_cell(right)} |" for left, right in rows]
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    """Text for one cell of a table: on one line, its bars escaped."""
    return " ".join(text.split()).replace("|", "\\|")


if __name__ == "__main__":
    print(page(), end="")
