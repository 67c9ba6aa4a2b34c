"""Creating and dropping indexes and constraints: a schema goes in, the schema after the change comes out, or
Neo4j's error.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hoplite.errors import EXECUTION_FAILED, CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.property_values import shown
from hoplite.storage.schema import Constraint, ConstraintKind, Entity, Index, IndexKind, Schema
from hoplite.storage.schema_names import constraint_name, index_name

_SCHEMA_ERROR = "Neo.ClientError.Schema."
_DATABASE_ERROR = "Neo.DatabaseError.Schema."


@dataclass(frozen=True, slots=True)
class Outcome:
    """The result of a CREATE: the rule that was created or, with IF NOT EXISTS, the existing one."""

    rule: Index | Constraint
    is_new: bool
    schema: Schema


def with_index(
    schema: Schema,
    name: str | None,
    kind: IndexKind,
    entity: Entity,
    labels: tuple[str, ...],
    keys: tuple[str, ...],
    config: Mapping[str, Any],
    if_not_exists: bool,
) -> Outcome:
    """The schema with one more index."""
    name = index_name(kind, entity, labels, keys) if name is None else name
    covers = pattern(entity, labels, keys)
    _check_repeated("Index", covers, keys)
    same = _equivalent_index(schema, kind, entity, labels, keys)
    named = schema.constraint(name) or schema.index(name)
    existing = same or named
    if if_not_exists and existing is not None:
        return Outcome(existing, False, schema)
    if same is not None and same.name == name and same.owning_constraint is None:
        raise CypherError(
            _SCHEMA_ERROR + "EquivalentSchemaRuleAlreadyExists",
            f"An equivalent index already exists, '{index_text(same)}'.",
        )
    _check_name(schema, name)
    if same is not None and same.owning_constraint is not None:
        raise CypherError(
            _SCHEMA_ERROR + "ConstraintAlreadyExists",
            f"There is a uniqueness constraint on {covers}, so an index is already created that matches this.",
        )
    if same is not None:
        raise CypherError(_SCHEMA_ERROR + "IndexAlreadyExists", f"There already exists an index {covers}.")
    index = Index(schema.next_id, name, kind, entity, labels, keys, dict(config))
    return Outcome(index, True, _changed(schema, indexes=(*schema.indexes, index), taken=1))


def with_constraint(
    schema: Schema, name: str | None, entity: Entity, label: str, keys: tuple[str, ...], if_not_exists: bool
) -> Outcome:
    """The schema with one more uniqueness constraint and the index it owns. The caller has checked the data."""
    labels = (label,)
    name = constraint_name(entity, labels, keys) if name is None else name
    covers = pattern(entity, labels, keys)
    _check_repeated("Constraint", covers, keys)
    same = next(
        (c for c in schema.constraints if (c.entity, c.labels, c.keys) == (entity, labels, keys)),
        None,
    )
    named = schema.constraint(name) or schema.index(name)
    existing = same or (named if isinstance(named, Constraint) else None)
    if if_not_exists and existing is not None:
        return Outcome(existing, False, schema)
    if same is not None and same.name == name:
        raise CypherError(
            _SCHEMA_ERROR + "EquivalentSchemaRuleAlreadyExists",
            f"An equivalent constraint already exists, '{constraint_text(same)}'.",
        )
    _check_name(schema, name)
    if same is not None:
        raise CypherError(
            _SCHEMA_ERROR + "ConstraintAlreadyExists", f"Constraint already exists: {constraint_text(same)}"
        )
    if _equivalent_index(schema, IndexKind.RANGE, entity, labels, keys) is not None:
        raise CypherError(
            _SCHEMA_ERROR + "IndexAlreadyExists",
            f"There already exists an index {covers}. A constraint cannot be created until the index has been dropped.",
        )
    kind = ConstraintKind.NODE_UNIQUE if entity is Entity.NODE else ConstraintKind.RELATIONSHIP_UNIQUE
    index = Index(schema.next_id, name, IndexKind.RANGE, entity, labels, keys, {}, owning_constraint=name)
    constraint = Constraint(schema.next_id + 1, name, kind, entity, labels, keys, index.id)
    changed = _changed(schema, indexes=(*schema.indexes, index), constraints=(*schema.constraints, constraint), taken=2)
    return Outcome(constraint, True, changed)


def without_index(schema: Schema, name: str, if_exists: bool) -> Schema:
    """The schema without an index."""
    index = schema.index(name)
    if index is None:
        if if_exists:
            return schema
        raise CypherError(
            _DATABASE_ERROR + "IndexDropFailed", f"Unable to drop index called `{name}`. There is no such index."
        )
    if index.owning_constraint is not None:
        raise CypherError(
            _DATABASE_ERROR + "IndexDropFailed", f"Unable to drop index: Index belongs to constraint: `{name}`"
        )
    return _changed(schema, indexes=tuple(other for other in schema.indexes if other.name != name))


def without_constraint(schema: Schema, name: str, if_exists: bool) -> Schema:
    """The schema without a constraint and its index."""
    constraint = schema.constraint(name)
    if constraint is None:
        if if_exists:
            return schema
        raise CypherError(
            _DATABASE_ERROR + "ConstraintDropFailed", f"Unable to drop constraint `{name}`: No such constraint {name}."
        )
    return _changed(
        schema,
        indexes=tuple(index for index in schema.indexes if index.owning_constraint != name),
        constraints=tuple(other for other in schema.constraints if other.name != name),
    )


def duplicate_error(
    name: str,
    entity: Entity,
    label: str,
    keys: tuple[str, ...],
    ids: tuple[int, int],
    values: list[tuple[str, Any]],
) -> CypherError:
    """A uniqueness constraint that the data does not meet."""
    noun, token = ("Node", "label") if entity is Entity.NODE else ("Relationship", "type")
    pairs = ", ".join(f"`{key}` = {shown(value)}" for key, value in values)
    held = "property" if len(values) == 1 else "properties"
    rule = f"Constraint( name='{name}', type='{_uniqueness(entity)}', schema={pattern(entity, (label,), keys)} )"
    return CypherError(
        _DATABASE_ERROR + "ConstraintCreationFailed",
        f"Unable to create {rule}:\nBoth {noun}({ids[0]}) and {noun}({ids[1]}) have the {token} `{label}` and "
        f"{held} {pairs}. Note that only the first found violation is shown.",
    )


def enterprise_only(
    schema: Schema,
    name: str | None,
    kind: str,
    entity: Entity,
    label: str,
    keys: tuple[str, ...],
    property_type: str | None = None,
) -> CypherError:
    """The error for a constraint that Neo4j Community does not have: first what any constraint would be refused for.

    `kind` is KEY, PROPERTY EXISTENCE or PROPERTY TYPE.
    """
    words = {
        "KEY": f"{entity.value.capitalize()} Key",
        "PROPERTY EXISTENCE": "Property existence",
        "PROPERTY TYPE": "Property type",
    }
    if name is not None:
        _check_name(schema, name)
    if kind == "KEY":
        same = next((c for c in schema.unique(entity, label) if c.keys == keys), None)
        if same is not None:
            return CypherError(
                _SCHEMA_ERROR + "ConstraintAlreadyExists", f"Constraint already exists: {constraint_text(same)}"
            )
    name = constraint_name(entity, (label,), keys) if name is None else name
    named = f"name='{name}', " if property_type is not None else ""
    typed = f", propertyType={property_type}" if property_type is not None else ""
    covers = pattern(entity, (label,), keys)
    return CypherError(
        _DATABASE_ERROR + "ConstraintCreationFailed",
        f"Unable to create Constraint( {named}type='{entity.value} {kind}', schema={covers}{typed} ):\n"
        f"{words[kind]} constraint requires Neo4j Enterprise Edition. "
        "Note that only the first found violation is shown.",
    )


# --- how rules are written in messages ---


def pattern(entity: Entity, labels: tuple[str, ...], keys: tuple[str, ...]) -> str:
    """`(:Person {name})`, `()-[:KNOWS {since}]-()`, `(:<any-labels>)`."""
    inside = f" {{{', '.join(keys)}}}" if keys else ""
    if entity is Entity.NODE:
        return f"(:{':'.join(labels) or '<any-labels>'}{inside})"
    return f"()-[:{':'.join(labels) or '<any-types>'}{inside}]-()"


def index_text(index: Index) -> str:
    """`Index( id=3, name='i1', type='RANGE', schema=(:Person {name}), indexProvider='range-1.0' )`"""
    covers = pattern(index.entity, index.labels, index.keys)
    return (
        f"Index( id={index.id}, name='{index.name}', type='{index.kind.value}', schema={covers}, "
        f"indexProvider='{index.provider}' )"
    )


def constraint_text(constraint: Constraint) -> str:
    """`Constraint( id=4, name='c1', type='UNIQUENESS', schema=(:Person {name}), ownedIndex=3 )`"""
    covers = pattern(constraint.entity, constraint.labels, constraint.keys)
    return (
        f"Constraint( id={constraint.id}, name='{constraint.name}', type='{_uniqueness(constraint.entity)}', "
        f"schema={covers}, ownedIndex={constraint.owned_index} )"
    )


def _uniqueness(entity: Entity) -> str:
    return "UNIQUENESS" if entity is Entity.NODE else "RELATIONSHIP UNIQUENESS"


def _equivalent_index(
    schema: Schema, kind: IndexKind, entity: Entity, labels: tuple[str, ...], keys: tuple[str, ...]
) -> Index | None:
    wanted = (kind, entity, labels, keys)
    return next((i for i in schema.indexes if (i.kind, i.entity, i.labels, i.keys) == wanted), None)


def _check_repeated(rule: str, covers: str, keys: tuple[str, ...]) -> None:
    if len(set(keys)) < len(keys):
        raise CypherError(
            _SCHEMA_ERROR + "RepeatedPropertyInCompositeSchema",
            f"{rule} on {covers} includes a property more than once.",
        )


def _check_name(schema: Schema, name: str) -> None:
    if not name.strip():
        message = "Schema rule name cannot be the empty string or only contain whitespace."
        raise CypherError(EXECUTION_FAILED, message)
    if schema.constraint(name) is not None:
        raise CypherError(
            _SCHEMA_ERROR + "ConstraintWithNameAlreadyExists", f"There already exists a constraint called '{name}'."
        )
    if schema.index(name) is not None:
        raise CypherError(
            _SCHEMA_ERROR + "IndexWithNameAlreadyExists", f"There already exists an index called '{name}'."
        )


def _changed(
    schema: Schema,
    *,
    indexes: tuple[Index, ...],
    constraints: tuple[Constraint, ...] | None = None,
    taken: int = 0,
) -> Schema:
    return replace(
        schema,
        indexes=indexes,
        constraints=schema.constraints if constraints is None else constraints,
        next_id=schema.next_id + taken,
        version=schema.version + 1,
    )
