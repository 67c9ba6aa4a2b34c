"""What is in a graph: names for completion, and a table of labels and types with their counts and keys."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hoplite.cli.render import table

if TYPE_CHECKING:
    from hoplite.database import Database


@dataclass(frozen=True, slots=True)
class SchemaNames:
    labels: tuple[str, ...]
    types: tuple[str, ...]
    keys: tuple[str, ...]
    functions: tuple[str, ...] = ()


def read_names(db: Database) -> SchemaNames:
    def column(query: str) -> tuple[str, ...]:
        return tuple(sorted(db.run(query).value()))

    return SchemaNames(
        labels=column("CALL db.labels() YIELD label RETURN label"),
        types=column("CALL db.relationshipTypes() YIELD relationshipType RETURN relationshipType"),
        keys=column("CALL db.propertyKeys() YIELD propertyKey RETURN propertyKey"),
    )


def print_schema(db: Database, console: Console | None = None) -> None:
    console = console or Console()
    labels = db.run(
        "MATCH (n) UNWIND labels(n) AS label WITH label, n UNWIND [null] + keys(n) AS key "
        "WITH label, count(DISTINCT n) AS nodes, collect(DISTINCT key) AS keys RETURN label, nodes, keys ORDER BY label"
    ).values()
    types = db.run(
        "MATCH ()-[r]->() UNWIND [null] + keys(r) AS key WITH type(r) AS type, count(DISTINCT r) AS relationships, "
        "collect(DISTINCT key) AS keys RETURN type, relationships, keys ORDER BY type"
    ).values()
    nodes, relationships = db.run("RETURN COUNT { MATCH (n) }, COUNT { MATCH ()-[r]->() }").values()[0]
    if labels:
        console.print(table(("label", "nodes", "keys"), [(*row[:2], ", ".join(sorted(row[2]))) for row in labels]))
    if types:
        console.print(
            table(("type", "relationships", "keys"), [(*row[:2], ", ".join(sorted(row[2]))) for row in types])
        )
    console.print(Text(f"{nodes:,} nodes, {relationships:,} relationships"))
