"""Types as a statement writes them after `IS ::`, in the order and wording of Neo4j's messages."""

from __future__ import annotations

from hoplite.grammar import ast
from hoplite.values.value_types import TYPE_ORDER

_ORDER = (*TYPE_ORDER, "PROPERTY VALUE", "ANY")
_STORABLE = frozenset(_ORDER[_ORDER.index("BOOLEAN") : _ORDER.index("NODE")])


def type_text(type: ast.TypeName) -> str:
    """`STRING | INTEGER` for `INTEGER | STRING`."""
    if type.name == "UNION":
        members = sorted(type.arguments, key=lambda member: _ORDER.index(member.name))
        return " | ".join(map(type_text, members))
    inner = f"<{type_text(type.arguments[0])}>" if type.name == "LIST" and type.arguments else ""
    return f"{type.name}{inner}{' NOT NULL' if type.not_null else ''}"


def unsuitable(type: ast.TypeName) -> str | None:
    """Why a constraint cannot require a type: a sentence, or "" if it needs no explanation; None if it can."""
    members = type.arguments if type.name == "UNION" else (type,)
    reasons = [reason for member in members if (reason := _unsuitable_member(member)) is not None]
    return reasons[0] if reasons else None


def _unsuitable_member(type: ast.TypeName) -> str | None:
    if type.not_null:
        return ""
    if type.name in _STORABLE:
        return None
    if type.name != "LIST" or not type.arguments:
        return ""
    (inner,) = type.arguments
    if inner.name == "LIST":
        return " Lists cannot have lists as an inner type."
    if inner.name == "UNION":
        return " Lists cannot have a union of types as an inner type."
    if inner.name not in _STORABLE:
        return ""
    return None if inner.not_null else " Lists cannot have nullable inner types."
