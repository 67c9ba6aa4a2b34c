"""What is in a graph: names for completion, and tables of labels and types with their counts."""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING

from rich.console import Console
from rich.text import Text

from hoplite.cli.render import counted, table, visible
from hoplite.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from hoplite.api.database import Database


@dataclass(frozen=True, slots=True)
class SchemaNames:
    labels: tuple[str, ...]
    types: tuple[str, ...]
    keys: tuple[str, ...]
    functions: tuple[str, ...] = ()
    procedures: tuple[str, ...] = ()


def read_names(db: Database) -> SchemaNames:
    from hoplite.engine.functions.registry import AGGREGATES, FUNCTIONS
    from hoplite.engine.procedures.registry import PROCEDURES

    schema = db.schema()
    functions = {function.signature.name for function in FUNCTIONS.values()}
    functions |= {aggregate.signature.name for aggregate in AGGREGATES.values()}
    return SchemaNames(
        labels=tuple(sorted(schema["labels"])),
        types=tuple(sorted(schema["relationship_types"])),
        keys=tuple(sorted(schema["property_keys"])),
        functions=tuple(sorted(functions)),
        procedures=tuple(sorted(procedure.signature.name for procedure in PROCEDURES.values())),
    )


def print_schema(db: Database, console: Console | None = None) -> None:
    console = console or Console()
    schema = db.schema()
    ends: dict[str, list[str]] = defaultdict(list)
    for start, type_, end, _ in schema["connections"]:
        ends[type_].append(f"(:{start})-->(:{end})")
    if labels := sorted(schema["labels"].items()):
        console.print(table(("label", "nodes"), labels))
    if types := sorted(schema["relationship_types"].items()):
        rows = [(type_, count, "\n".join(ends[type_])) for type_, count in types]
        console.print(table(("type", "relationships", "between"), rows))
    if schema["property_keys"]:
        console.print(Text(visible("keys: " + ", ".join(sorted(schema["property_keys"])))))
    nodes = db.run("MATCH (n) RETURN count(n)").value()[0]
    relationships = db.run("MATCH ()-[r]->() RETURN count(r)").value()[0]
    console.print(Text(f"{counted(nodes, 'node')}, {counted(relationships, 'relationship')}"))
