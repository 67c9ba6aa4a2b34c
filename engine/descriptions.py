"""Neo4j's descriptions of the arguments and results of functions and procedures, for the columns of SHOW.

`descriptions.jsonl` has a line for each form of a function, by signature, and for each procedure, by name. It is made
by `python -m tests.neo4j.descriptions`, and read on first use.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("descriptions.jsonl")

Described = list[dict[str, Any]]


def arguments_of_function(signature: str) -> Described | None:
    """The descriptions of a function's arguments, if any."""
    return _entries("function").get(signature, {}).get("arguments")


def arguments_of_procedure(name: str) -> Described | None:
    """The descriptions of a procedure's arguments, if any."""
    return _entries("procedure").get(name, {}).get("arguments")


def results_of_procedure(name: str) -> Described | None:
    """The descriptions of a procedure's columns, if any."""
    return _entries("procedure").get(name, {}).get("results")


@cache
def _entries(kind: str) -> dict[str, dict[str, Described]]:
    entries = map(json.loads, FILE.read_text("utf-8").splitlines())
    return {
        entry.pop(kind): {part: [{"isDeprecated": False, **one} for one in said] for part, said in entry.items()}
        for entry in entries
        if kind in entry
    }
