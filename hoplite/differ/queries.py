"""Queries from files: Cypher with a `;` after each statement, or JSON lines; a folder holds any number of both.

    {"id": "q1", "cypher": "MATCH (n) RETURN n LIMIT $n", "parameters": {"n": 3}}

`query` is another name for `cypher`; files may be gzipped.
"""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import field
from pathlib import Path
from typing import Any

from hoplite.grammar.statements import split_statements
from hoplite.lazy_dataclass import dataclass

_CYPHER = (".cypher", ".cql", ".cyp")
_JSON = (".jsonl", ".json")


@dataclass(frozen=True, slots=True)
class NamedQuery:
    """A query to run on both sides."""

    name: str
    text: str
    parameters: Mapping[str, Any] = field(default_factory=dict)


def read_queries(path: Path) -> list[NamedQuery]:
    """The queries of a file, or of all files in a folder."""
    if path.is_dir():
        files = sorted(file for file in path.rglob("*") if _kind(file) in (*_CYPHER, *_JSON))
        if not files:
            raise ValueError(f"{path}: no {', '.join((*_CYPHER, *_JSON))} in this folder")
        return [query for file in files for query in _read_file(file)]
    return list(_read_file(path))


def as_queries(given: Iterable[NamedQuery | str | Mapping[str, Any]]) -> list[NamedQuery]:
    """Queries from texts, or from maps as in JSON lines."""
    return [_query(one, str(number)) for number, one in enumerate(given, 1)]


def _kind(path: Path) -> str:
    return path.with_suffix("").suffix if path.suffix == ".gz" else path.suffix


def _read_file(path: Path) -> Iterator[NamedQuery]:
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as stream:
        text = stream.read()
    if _kind(path) not in _JSON:
        statements, rest = split_statements(text)
        for number, statement in enumerate((*statements, *([rest] if rest else [])), 1):
            yield NamedQuery(f"{path.stem} {number}", statement)
        return
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            yield _query(json.loads(line), f"{path.stem} {number}")
        except (ValueError, KeyError, TypeError) as error:
            raise ValueError(f"{path}, line {number}: {error}") from error


def _query(given: NamedQuery | str | Mapping[str, Any], name: str) -> NamedQuery:
    if isinstance(given, NamedQuery):
        return given
    if isinstance(given, str):
        return NamedQuery(name, given)
    text = given.get("cypher") or given.get("query")
    if not isinstance(text, str):
        raise ValueError("neither cypher nor query holds a text")
    return NamedQuery(str(given.get("id", name)), text, given.get("parameters") or {})
