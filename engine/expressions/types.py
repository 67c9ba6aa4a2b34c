"""Predicates on the type and form of values: `IS :: TYPE`, `IS NORMALIZED`, `IS NULL`.

A type is compiled to a test of single values. A typed column holds values of one type only, so testing one value
decides for all.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Callable
from typing import Any

import numpy as np

from hoplite.engine.expressions.evaluator import map_rows
from hoplite.grammar.ast import TypeName
from hoplite.storage.property_values import SCALARS
from hoplite.values.columns import (
    Booleans,
    Column,
    Floats,
    Integers,
    Nodes,
    Paths,
    Relationships,
    Strings,
)
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualPath, VirtualRelationship
from hoplite.values.value_types import TYPE_NAMES

Test = Callable[[Any], bool]

_STORABLE = (*SCALARS, bytes)
_VIRTUAL = (VirtualNode, VirtualRelationship, VirtualPath)
_CLASSES = {name: kind for kind, name in TYPE_NAMES.items() if kind not in _VIRTUAL}
_SAMPLES: dict[type, Any] = {
    Integers: 0,
    Floats: 0.0,
    Booleans: True,
    Strings: "",
    Nodes: NodeRef(0),
    Relationships: RelationshipRef(0),
    Paths: PathValue((0,), ()),
}


def is_type(type_name: TypeName, negated: bool) -> Callable[[Column], Column]:
    """`column IS [NOT] :: type_name`"""
    test = type_test(type_name)
    for_null = test(None) != negated

    def evaluate(column: Column) -> Column:
        sample = _SAMPLES.get(type(column))
        if sample is None:
            return map_rows(lambda value: test(value) != negated, column)
        values = np.full(len(column), test(sample) != negated, np.bool_)
        values[column.null_mask()] = for_null
        return Booleans(values)

    return evaluate


def type_test(type_name: TypeName) -> Test:
    """Whether a value is of the type; null is of every type that is not NOT NULL."""
    kind = _kind_test(type_name)
    nullable = not type_name.not_null and type_name.name != "NOTHING"
    if type_name.name == "UNION":
        return kind
    return lambda value: nullable if value is None else kind(value)


def _kind_test(type_name: TypeName) -> Test:
    match type_name.name:
        case "ANY":
            return lambda value: True
        case "NULL" | "NOTHING":
            return lambda value: False
        case "PROPERTY VALUE":
            return _is_storable
        case "LIST":
            # Elements of any type may be null, even if the type says NOT NULL.
            is_any = not type_name.arguments or _includes_any(type_name.arguments[0])
            of_item = (lambda value: True) if is_any else type_test(type_name.arguments[0])
            return lambda value: isinstance(value, list | bytes) and all(map(of_item, value))
        case "UNION":
            tests = [type_test(alternative) for alternative in type_name.arguments]
            return lambda value: any(test(value) for test in tests)
        case "NODE" | "RELATIONSHIP" | "PATH" as name:
            entity = _CLASSES[name]
            return lambda value: isinstance(value, entity)  # virtual ones are subclasses
        case name:
            wanted = _CLASSES[name]
            return lambda value: type(value) is wanted


def _includes_any(type_name: TypeName) -> bool:
    if type_name.name == "UNION":
        return any(map(_includes_any, type_name.arguments))
    return type_name.name == "ANY"


def _is_storable(value: Any) -> bool:
    """Whether a property may hold the value: a scalar, or a list of scalars of one type (numbers mix)."""
    if not isinstance(value, list):
        return isinstance(value, _STORABLE)
    kinds = set(map(type, value))
    return kinds <= set(SCALARS) and (len(kinds) <= 1 or kinds == {int, float})


def is_null(column: Column, negated: bool) -> Booleans:
    """`column IS [NOT] NULL`"""
    empty = column.null_mask()
    return Booleans(~empty if negated else empty)


def is_normalized(column: Column, form: str, negated: bool) -> Column:
    """`column IS [NOT] form NORMALIZED`: null on anything but text."""

    def by_value(value: Any) -> bool | None:
        if not isinstance(value, str):
            return None
        return unicodedata.is_normalized(form, value) != negated  # type: ignore[arg-type]

    return map_rows(by_value, column)
