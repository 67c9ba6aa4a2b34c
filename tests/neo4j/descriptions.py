"""Writes `engine/descriptions.jsonl`: what Neo4j says of the arguments and results of functions and procedures.

    python -m tests.neo4j.descriptions --uri bolt://127.0.0.1:7700

Only what there is here, too, is written down: for a function by its signature, for a procedure by its name.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

from neo4j import GraphDatabase

import hoplite
from hoplite.engine import descriptions

_FUNCTIONS = "SHOW FUNCTIONS YIELD name, signature, argumentDescription RETURN * ORDER BY name, signature"
_PROCEDURES = "SHOW PROCEDURES YIELD name, argumentDescription, returnDescription RETURN * ORDER BY name"


def lines(uri: str) -> list[str]:
    """The lines of the file."""
    with GraphDatabase.driver(uri) as driver, hoplite.open() as db:
        there = [driver.execute_query(query).records for query in (_FUNCTIONS, _PROCEDURES)]
        signatures = {row["signature"] for row in db.run(_FUNCTIONS)}
        names = {row["name"] for row in db.run(_PROCEDURES)}
    found = [
        {"function": row["signature"], "arguments": _said(row["argumentDescription"])}
        for row in there[0]
        if row["signature"] in signatures
    ]
    found += [
        {
            "procedure": row["name"],
            "arguments": _said(row["argumentDescription"]),
            "results": _said(row["returnDescription"]),
        }
        for row in there[1]
        if row["name"] in names
    ]
    return [json.dumps(entry, ensure_ascii=False) for entry in found]


def _said(described: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Without what is the same nearly everywhere."""
    return [
        {key: value for key, value in sorted(entry.items(), reverse=True) if (key, value) != ("isDeprecated", False)}
        for entry in described
    ]


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--uri", required=True)
    target = Path(str(descriptions.FILE))
    target.write_text("\n".join(lines(parser.parse_args().uri)) + "\n", "utf-8")


if __name__ == "__main__":
    main()
