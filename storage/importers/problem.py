"""Errors of importers: the file and line, or the table and row, and what is wrong there."""

from __future__ import annotations

from hoplite.errors import EXTERNAL_RESOURCE_FAILED, CypherError
from hoplite.storage.index_options import INVALID_ARGUMENTS


def bad_line(path: str, line: int, reason: str) -> CypherError:
    """`graph.jsonl, line 3: ...`"""
    return CypherError(EXTERNAL_RESOURCE_FAILED, f"{path}, line {line}: {reason}")


def bad_file(path: str, reason: str) -> CypherError:
    """A file that cannot be read at all."""
    return CypherError(EXTERNAL_RESOURCE_FAILED, f"{path}: {reason}")


def bad_table(table: str, reason: str, row: int | None = None) -> CypherError:
    """`nodes['Drug'], row 3: ...` (rows are numbered from 0)"""
    place = table if row is None else f"{table}, row {row}"
    return CypherError(INVALID_ARGUMENTS, f"{place}: {reason}")
