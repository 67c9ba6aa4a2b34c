"""A catalogue for tests: the engine's functions, a few names and a procedure or two."""

from __future__ import annotations

import hoplite.engine.functions  # noqa: F401  fills the tables
from hoplite.engine.functions.registry import AGGREGATES, FUNCTIONS
from hoplite.errors import CypherError
from hoplite.grammar.parse import parse
from hoplite.planner.check import Checked, check
from hoplite.planner.types import CypherType, Field, ProcedureSignature, Signature

_PROCEDURES = {
    "db.labels": ProcedureSignature("db.labels", (), (Field("label", "STRING"),), description="Lists labels."),
    "test.write": ProcedureSignature("test.write", (Field("name", "STRING"),), (), mode="WRITE"),
}


class SmallCatalogue:
    """Knows the label A, the type R and the key k."""

    node_count = 10
    relationship_count = 10

    def label_count(self, label: str) -> int:
        return 5

    def type_count(self, type: str) -> int:
        return 5

    def pattern_count(self, start_label: str | None, type: str | None, end_label: str | None) -> int:
        return 5

    def has_index(self, label: str, key: str) -> bool:
        return False

    def index_kinds(self, of_nodes: bool, label: str, key: str) -> tuple[str, ...]:
        return ("RANGE",) if of_nodes and self.has_index(label, key) else ()

    def has_hinted_index(self, kind: str | None, of_nodes: bool, label: str, keys: tuple[str, ...]) -> bool:
        return of_nodes and all(self.has_index(label, key) for key in keys)

    def is_unique(self, label: str, key: str) -> bool:
        return False

    def distinct_values(self, label: str, key: str) -> int | None:
        return None

    def known_label(self, name: str) -> bool:
        return name == "A"

    def known_type(self, name: str) -> bool:
        return name == "R"

    def known_key(self, name: str) -> bool:
        return name == "k"

    def function(self, name: str) -> Signature | None:
        entry = AGGREGATES.get(name.lower()) or FUNCTIONS.get(name.lower())
        return entry.signature if entry is not None and entry.signature.answers_to(name) else None

    def procedure(self, name: str) -> ProcedureSignature | None:
        return _PROCEDURES.get(name)


def checked(text: str, **parameters: CypherType | None) -> Checked:
    """The outcome of the check of a valid text."""
    return check(parse(text), text, SmallCatalogue(), parameters)


def complaint(text: str, **parameters: CypherType | None) -> str:
    """The message of the error that a text has, up to its place; empty if it has none."""
    try:
        checked(text, **parameters)
    except CypherError as error:
        return error.message.split(" (line ")[0]
    return ""


def place(text: str, **parameters: CypherType | None) -> int:
    """The offset that the error of a text points to."""
    try:
        checked(text, **parameters)
    except CypherError as error:
        assert error.position is not None, error.message
        return error.position.offset
    raise AssertionError(f"no error in {text}")
