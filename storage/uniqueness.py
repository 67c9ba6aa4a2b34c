"""Uniqueness constraints, checked for a node or relationship that has just been written."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hoplite.storage import seek
from hoplite.storage.delta import Delta
from hoplite.storage.property_values import shown
from hoplite.storage.schema import Entity
from hoplite.storage.value_index import lookup_key
from hoplite.values.columns import ObjectArray
from hoplite.values.order import equals, group_key

if TYPE_CHECKING:
    from hoplite.storage.snapshot import Snapshot

Violation = tuple[int, str, list[tuple[str, Any]]]
"""The entity that already has the values, the label or type, and the keys with their values."""

Duplicate = tuple[int, int, list[tuple[str, Any]]]
"""Two that share their values, and the keys with these values."""


def node_violation(delta: Delta, node: int, key: str | None) -> Violation | None:
    """The first constraint that this node violates; only those on `key`, if one is given."""
    if not delta.schema.constraints:
        return None
    for label in delta.base.tokens.label_names_of(delta.label_set(node)):
        for constraint in delta.schema.unique(Entity.NODE, label):
            if key is not None and key not in constraint.keys:
                continue
            values = [delta.node_value(node, wanted) for wanted in constraint.keys]
            if any(value is None for value in values):
                continue
            _, found = seek.nodes(delta, label, constraint.keys[0], [values[0]])
            for other in found[found != node].tolist():
                if _same([delta.node_value(other, wanted) for wanted in constraint.keys[1:]], values[1:]):
                    return other, label, list(zip(constraint.keys, values, strict=True))
    return None


def nodes_are_unique(delta: Delta, nodes: Iterable[int], label: str) -> bool:
    """Whether a quick check shows that all of these nodes, which have the label, meet its constraints on a single key.

    If not, `node_violation` decides: there is no quick check for constraints on several keys.
    """
    for constraint in delta.schema.unique(Entity.NODE, label):
        if len(constraint.keys) > 1:
            return False
        (key,) = constraint.keys
        held = [value for node in nodes if lookup_key(value := delta.node_value(node, key)) is not None]
        _, found = seek.nodes(delta, label, key, held)
        if len(found) > len(held):  # each finds itself
            return False
    return True


def relationship_violation(delta: Delta, relationship: int, key: str | None) -> Violation | None:
    """The same for a relationship."""
    if not delta.schema.constraints:
        return None
    type = delta.base.tokens.types.name(delta.type_of(relationship))
    for constraint in delta.schema.unique(Entity.RELATIONSHIP, type):
        if key is not None and key not in constraint.keys:
            continue
        values = [delta.relationship_value(relationship, wanted) for wanted in constraint.keys]
        if any(value is None for value in values):
            continue
        _, found = seek.relationships(delta, type, constraint.keys[0], [values[0]])
        for other in found[found != relationship].tolist():
            if _same([delta.relationship_value(other, wanted) for wanted in constraint.keys[1:]], values[1:]):
                return other, type, list(zip(constraint.keys, values, strict=True))
    return None


def _same(left: Sequence[Any], right: Sequence[Any]) -> bool:
    return all(map(equals, left, right))


def message(entity: str, public_id: int, token: str, values: list[tuple[str, Any]]) -> str:
    """``Node(0) already exists with label `X` and property `k` = 1``"""
    pairs = ", ".join(f"`{key}` = {shown(value)}" for key, value in values)
    noun = "property" if len(values) == 1 else "properties"
    return f"{entity}({public_id}) already exists with {token} and {noun} {pairs}"


def _all_differ(values: ObjectArray) -> bool:
    """A quick yes for strings or integers, the common case of a key."""
    kinds = set(map(type, values))
    kinds.discard(type(None))
    return kinds in ({int}, {str}) and len(set(values)) == len(values)


def _index_tells(delta: Delta, entity: Entity, label: str, key: str) -> bool:
    """Whether an index of integers or texts shows that all values differ; only valid if nothing was written since."""
    if delta.size:
        return False
    tokens = delta.base.tokens
    code = (tokens.labels if entity is Entity.NODE else tokens.types).code(label)
    if code is None:
        return False
    base = delta.base
    index = base.node_index(code, key) if entity is Entity.NODE else base.relationship_index(code, key)
    return index.holds_one_kind and index.distinct == len(index)


def first_duplicate(snapshot: Snapshot, entity: Entity, label: str, keys: tuple[str, ...]) -> Duplicate | None:
    """The first two nodes or relationships that share their values, if any: then the constraint cannot be created."""
    if len(keys) == 1 and _index_tells(snapshot._delta, entity, label, keys[0]):
        return None
    if entity is Entity.NODE:
        positions = snapshot.nodes_with_label(label)
        columns = [snapshot.node_property(positions, key).objects() for key in keys]
    else:
        positions = snapshot.relationships_with_type(label)
        columns = [snapshot.relationship_property(positions, key).objects() for key in keys]
    if len(keys) == 1 and _all_differ(columns[0]):
        return None
    seen: dict[tuple[Hashable, ...], int] = {}
    for position, *values in zip(positions.tolist(), *columns, strict=True):
        if any(value is None for value in values):
            continue
        wanted = tuple(group_key(value) for value in values)
        first = seen.setdefault(wanted, position)
        if first != position:
            return first, position, list(zip(keys, values, strict=True))
    return None
