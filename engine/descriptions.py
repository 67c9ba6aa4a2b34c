"""What arguments and results of functions and procedures are for, in Neo4j's words: the columns of SHOW that say so.

`descriptions.jsonl` has a line for each way to call a function, by its signature, and for each procedure, by its name.
It is made by `python -m tests.neo4j.descriptions`, and read when it is first asked for.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

FILE = Path(__file__).with_name("descriptions.jsonl")

Described = list[dict[str, Any]]


def arguments_of_function(signature: str) -> Described | None:
    """What is said of the arguments of a function; None where nothing is."""
    return _entries("function").get(signature, {}).get("arguments")


def arguments_of_procedure(name: str) -> Described | None:
    """What is said of the arguments of a procedure; None where nothing is."""
    return _entries("procedure").get(name, {}).get("arguments")


def results_of_procedure(name: str) -> Described | None:
    """What is said of the columns of a procedure; None where nothing is."""
    return _entries("procedure").get(name, {}).get("results")


@cache
def _entries(kind: str) -> dict[str, dict[str, Described]]:
    entries = map(json.loads, FILE.read_text("utf-8").splitlines())
    return {
        entry.pop(kind): {part: [{"isDeprecated": False, **one} for one in said] for part, said in entry.items()}
        for entry in entries
        if kind in entry
    }
