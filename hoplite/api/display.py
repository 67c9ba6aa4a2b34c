"""How notebooks display results, databases and paths:

HTML tables with inline styles. Nothing here needs a script, so GitHub, which runs none, shows the same.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from itertools import islice
from typing import Any

ROWS_SHOWN = 20
_LONGEST = 200  # characters of a value
_ITEMS_SHOWN = 20  # of a list or map
_NUMBERS = (int, float)


def result_html(columns: Sequence[str], rows: Sequence[Sequence[Any]], more: bool) -> str:
    """The first rows of a result, and whether there are more."""
    left = "and more" if more else f"{len(rows)} row{'' if len(rows) == 1 else 's'}"
    return table(columns, rows) + f"<p><small>{left}</small></p>"


def database_html(description: str, schema: Mapping[str, Any]) -> str:
    """What is in a database: labels and types with their counts."""
    parts = [said(description)]
    for title, counts in (("label", "labels"), ("relationship type", "relationship_types")):
        ordered = sorted(schema.get(counts, {}).items(), key=lambda item: -item[1])
        if ordered:
            parts.append(table((title, "count"), ordered[:ROWS_SHOWN]))
            if len(ordered) > ROWS_SHOWN:
                parts.append(f"<p><small>{len(ordered) - ROWS_SHOWN} more</small></p>")
    return "".join(parts)


def path_html(path: Any) -> str:
    """A path as it would be written in Cypher."""
    return f"<code>{escape(path_text(path))}</code>"


def said(text: str) -> str:
    """A sentence."""
    return f"<p>{escape(text)}</p>"


def table(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """An HTML table; numbers are aligned right."""
    head = "".join(f'<th style="text-align: left">{escape(name)}</th>' for name in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    return f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    aligned = "right" if isinstance(value, _NUMBERS) and not isinstance(value, bool) else "left"
    return f'<td style="text-align: {aligned}">{escape(shown(value))}</td>'


def shown(value: Any) -> str:
    """A value in readable form, cut off if it is long."""
    text = value if isinstance(value, str) else _written(value)
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _written(value: Any) -> str:
    from neo4j.graph import Node, Path, Relationship

    match value:
        case None:
            return "null"
        case bool():
            return str(value).lower()
        case str():
            return repr(value)
        case Node():
            return _node(value)
        case Relationship():
            return f"[:{value.type}{_properties(dict(value))}]"
        case Path():
            return path_text(value)
        case list():
            return f"[{', '.join(map(_written, value[:_ITEMS_SHOWN]))}{', …' if len(value) > _ITEMS_SHOWN else ''}]"
        case dict():
            return _properties(value).strip() or "{}"
        case _:  # a value that the driver cannot represent comes with its text
            return str(getattr(value, "raw_data", value))


def path_text(path: Any) -> str:
    """`(:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease)`"""
    parts = [_node(path.start_node)]
    for before, relationship, after in zip(path.nodes[:-1], path.relationships, path.nodes[1:], strict=True):
        kind = f"[:{relationship.type}{_properties(dict(relationship))}]"
        forward = relationship.start_node == before
        parts.append(f"-{kind}->{_node(after)}" if forward else f"<-{kind}-{_node(after)}")
    return "".join(parts)


def _node(node: Any) -> str:
    return f"({''.join(f':{label}' for label in sorted(node.labels))}{_properties(dict(node))})"


def _properties(values: dict[str, Any]) -> str:
    if not values:
        return ""
    entries = [f"{key}: {_written(value)}" for key, value in islice(values.items(), _ITEMS_SHOWN)]
    return f" {{{', '.join(entries)}}}"
