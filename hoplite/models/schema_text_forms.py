"""A schema, or a part of it, as compact text, as JSON, and as Cypher patterns.

    Person (133): name STRING unique, born INTEGER? 1929..1996
    (:Person)-[:ACTED_IN]->(:Movie) (172)

`?` marks a property that some entities lack. Values are written as in Cypher, always on one line. Each form also gets
the whole schema, to say how much of it was left out.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hoplite.lazy import lazy_pattern
from hoplite.models.schema_text_collect import GraphSchema, Kind, Property
from hoplite.values.render import to_string

_LONGEST_VALUE = 60  # characters
_PLAIN_NAME = lazy_pattern(r"[^\W\d]\w*")
_BREAKING = lazy_pattern(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")


def as_text(schema: GraphSchema, whole: GraphSchema) -> str:
    """Lines, for people and models."""
    lines = ["Node labels:"]
    lines += [_kind_line(kind) for kind in schema.labels]
    lines.append("Relationship types:")
    lines += [_kind_line(kind) for kind in schema.types]
    lines.append("Patterns:")
    lines += [f"{_pattern(one.start, one.type, one.end)} ({one.count})" for one in schema.patterns]
    if schema.indexes:
        lines.append("Indexes to search by name:")
        lines += [
            f"{quoted_name(index.name)} {index.kind} on {_index_target(index.entity, index.labels, index.keys)}"
            for index in schema.indexes
        ]
    return "\n".join([*lines, *_left_out(schema, whole)])


def as_cypher(schema: GraphSchema, whole: GraphSchema) -> str:
    """Patterns with types in place of values."""
    lines = [f"(:{quoted_name(kind.name)}{_map(kind)})  // {kind.count}{_values_note(kind)}" for kind in schema.labels]
    kinds = {kind.name: kind for kind in schema.types}
    told: set[str] = set()
    for one in schema.patterns:
        kind = kinds[one.type]
        properties, note = ("", "") if one.type in told else (_map(kind), _values_note(kind))
        told.add(one.type)
        lines.append(f"{_pattern(one.start, one.type, one.end, properties)}  // {one.count}{note}")
    lines += [
        f"()-[:{quoted_name(kind.name)}{_map(kind)}]->()  // {kind.count}{_values_note(kind)}"
        for kind in schema.types
        if kind.name not in told
    ]
    lines += [
        f"// {index.kind} INDEX {quoted_name(index.name)} {_index_target(index.entity, index.labels, index.keys)}"
        for index in schema.indexes
    ]
    return "\n".join([*lines, *(f"// {line}" for line in _left_out(schema, whole))])


def as_json(schema: GraphSchema, whole: GraphSchema) -> str:
    """One JSON object on one line."""
    document: dict[str, Any] = {
        "labels": {kind.name: _kind_object(kind) for kind in schema.labels},
        "relationship_types": {kind.name: _kind_object(kind) for kind in schema.types},
        "patterns": [
            {"start": one.start, "type": one.type, "end": one.end, "count": one.count} for one in schema.patterns
        ],
    }
    if schema.indexes:
        document["indexes"] = [
            {"name": index.name, "kind": index.kind, "labels": index.labels, "properties": index.keys}
            for index in schema.indexes
        ]
    if counts := _missing(schema, whole):
        document["left_out"] = counts
    return json.dumps(document, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


# --- parts ---


def quoted_name(name: str) -> str:
    """A name as a query has to write it, on one line."""
    if _PLAIN_NAME.fullmatch(name):
        return name
    escaped = _BREAKING.sub(lambda found: f"\\u{ord(found[0]):04X}", name.replace("`", "``"))
    return f"`{escaped}`"


def _kind_line(kind: Kind) -> str:
    properties = ", ".join(_property_text(one) for one in kind.properties)
    return f"{quoted_name(kind.name)} ({kind.count})" + (f": {properties}" if properties else "")


def _property_text(one: Property) -> str:
    text = f"{quoted_name(one.key)} {_type_text(one)}"
    if one.unique:
        text += " unique"
    return f"{text} {told}" if (told := _values_text(one)) else text


def _type_text(one: Property) -> str:
    return " | ".join(one.types) + ("?" if one.optional else "")


def _values_text(one: Property) -> str:
    if one.low is not None:
        return f"{_literal(one.low)}..{_literal(one.high)}"
    if not one.values:
        return ""
    listed = ", ".join(map(_literal, one.values))
    return f"in [{listed}]" if one.enumerated else f"such as {listed}"


def _literal(value: Any) -> str:
    """A value as Cypher writes it, cut if it is long."""
    if not isinstance(value, str):
        return to_string(value)
    cut = value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"
    return json.dumps(cut, ensure_ascii=False)


def _map(kind: Kind) -> str:
    if not kind.properties:
        return ""
    return " {" + ", ".join(f"{quoted_name(one.key)}: {_type_text(one)}" for one in kind.properties) + "}"


def _values_note(kind: Kind) -> str:
    told = [f"{quoted_name(one.key)} {text}" for one in kind.properties if (text := _values_text(one))]
    return "; " + "; ".join(told) if told else ""


def _pattern(start: str | None, type_name: str, end: str | None, properties: str = "") -> str:
    return f"{_node(start)}-[:{quoted_name(type_name)}{properties}]->{_node(end)}"


def _node(label: str | None) -> str:
    return "()" if label is None else f"(:{quoted_name(label)})"


def _index_target(entity: str, labels: tuple[str, ...], keys: tuple[str, ...]) -> str:
    names, properties = "|".join(map(quoted_name, labels)), ", ".join(map(quoted_name, keys))
    return f"({names}) {{{properties}}}" if entity == "NODE" else f"[{names}] {{{properties}}}"


def _kind_object(kind: Kind) -> dict[str, Any]:
    return {"count": kind.count, "properties": {one.key: _property_object(one) for one in kind.properties}}


def _property_object(one: Property) -> dict[str, Any]:
    told: dict[str, Any] = {"type": " | ".join(one.types)}
    told |= {name: True for name in ("optional", "unique", "indexed") if getattr(one, name)}
    if one.values:
        told["values" if one.enumerated else "examples"] = [_json_value(value) for value in one.values]
    if one.low is not None:
        told["range"] = [_json_value(one.low), _json_value(one.high)]
    return told


def _json_value(value: Any) -> Any:
    if isinstance(value, str):
        return value if len(value) <= _LONGEST_VALUE else f"{value[: _LONGEST_VALUE - 1]}…"
    if isinstance(value, bool | int) or (isinstance(value, float) and abs(value) != float("inf") and value == value):
        return value
    return to_string(value)


# --- what is missing ---


def _missing(schema: GraphSchema, whole: GraphSchema) -> dict[str, int]:
    """How many parts of the whole schema are not in this one, by kind."""
    before, after = _sizes(whole), _sizes(schema)
    return {name: missing for name in before if (missing := before[name] - after[name])}


def _sizes(schema: GraphSchema) -> dict[str, int]:
    properties = [one for kind in (*schema.labels, *schema.types) for one in kind.properties]
    return {
        "labels": len(schema.labels),
        "relationship_types": len(schema.types),
        "properties": len(properties),
        "patterns": len(schema.patterns),
        "values": sum(bool(one.values) or one.low is not None for one in properties),
        "indexes": len(schema.indexes),
    }


def _left_out(schema: GraphSchema, whole: GraphSchema) -> Iterator[str]:
    counts = _missing(schema, whole)
    if counts:
        named = (f"{name.replace('_', ' ').replace('values', 'lists of values')}: {n}" for name, n in counts.items())
        yield f"Left out: {', '.join(named)}"
