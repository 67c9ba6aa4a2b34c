"""No file beyond 800 lines, and no function beyond 60 but flat tables.

    python -m tests.sizes

A flat table is a function that is one `match` with short cases, and little around it. Docstrings do not count: they are
meant to be read.
"""

from __future__ import annotations

import ast
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

LONGEST_FILE = 800
LONGEST_FUNCTION = 60
LONGEST_CASE = 20
_AROUND_A_TABLE = 10


def too_long(path: str, text: str) -> Iterator[str]:
    """What is longer than it may be, a sentence each."""
    lines = len(text.splitlines())
    if lines > LONGEST_FILE:
        yield f"{path} has {lines} lines; {LONGEST_FILE} are the most."
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            statements = _without_docstring(node)
            length = _length(statements)
            if length > LONGEST_FUNCTION and not _is_table(statements, length):
                yield f"{path}:{node.lineno}: {node.name} has {length} lines; {LONGEST_FUNCTION} are the most."


def _without_docstring(node: ast.FunctionDef | ast.AsyncFunctionDef) -> list[ast.stmt]:
    return node.body[1:] if ast.get_docstring(node, clean=False) is not None else node.body


def _length(statements: list[ast.stmt]) -> int:
    return (statements[-1].end_lineno or 0) - statements[0].lineno + 1 if statements else 0


def _is_table(statements: list[ast.stmt], length: int) -> bool:
    tables = [one for one in statements if isinstance(one, ast.Match)]
    return (
        len(tables) == 1
        and length - _length([tables[0]]) <= _AROUND_A_TABLE
        and all(_length(case.body) <= LONGEST_CASE for case in tables[0].cases)
    )


def main() -> int:
    """Look at every file of the repository; print what is too long."""
    listed = subprocess.run(["git", "ls-files", "*.py"], capture_output=True, text=True, check=True).stdout
    found = [
        line for path in listed.splitlines() if Path(path).is_file() for line in too_long(path, Path(path).read_text())
    ]
    print(*found, sep="\n", end="\n" if found else "")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
