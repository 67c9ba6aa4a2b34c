"""Indexes and constraints as data: their names and what they cover. Immutable; a change makes a new `Schema`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from enum import Enum
from types import MappingProxyType
from typing import Any

from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass


class Entity(Enum):
    """What a rule applies to."""

    NODE = "NODE"
    RELATIONSHIP = "RELATIONSHIP"


class IndexKind(Enum):
    """The kinds of index; the value is SHOW INDEXES' name for it."""

    LOOKUP = "LOOKUP"
    RANGE = "RANGE"
    TEXT = "TEXT"
    POINT = "POINT"
    FULLTEXT = "FULLTEXT"
    VECTOR = "VECTOR"


class ConstraintKind(Enum):
    """The kinds of constraint; the value is SHOW CONSTRAINTS' name for it."""

    NODE_UNIQUE = "UNIQUENESS"
    RELATIONSHIP_UNIQUE = "RELATIONSHIP_UNIQUENESS"


PROVIDERS: Mapping[IndexKind, str] = MappingProxyType(
    {
        IndexKind.LOOKUP: "token-lookup-1.0",
        IndexKind.RANGE: "range-1.0",
        IndexKind.TEXT: "text-2.0",
        IndexKind.POINT: "point-1.0",
        IndexKind.FULLTEXT: "fulltext-1.0",
        IndexKind.VECTOR: "vector-2.0",
    }
)


@dataclass(frozen=True, slots=True)
class Index:
    """An index. `labels` holds labels or relationship types; it and `keys` are empty for a LOOKUP index."""

    id: int
    name: str
    kind: IndexKind
    entity: Entity
    labels: tuple[str, ...]
    keys: tuple[str, ...]
    config: Mapping[str, Any] = field(default_factory=dict)
    owning_constraint: str | None = None

    @property
    def provider(self) -> str:
        """The index provider, in Neo4j's words."""
        return PROVIDERS[self.kind]

    @property
    def finds_values(self) -> bool:
        """Whether it serves equality seeks on its first key."""
        return self.kind in (IndexKind.RANGE, IndexKind.TEXT, IndexKind.POINT)


@dataclass(frozen=True, slots=True)
class Constraint:
    """A uniqueness constraint on a label or type and one or several keys; it owns an index of the same name."""

    id: int
    name: str
    kind: ConstraintKind
    entity: Entity
    labels: tuple[str, ...]
    keys: tuple[str, ...]
    owned_index: int


@dataclass(frozen=True)
class Schema:
    """All indexes and constraints of a database."""

    indexes: tuple[Index, ...]
    constraints: tuple[Constraint, ...] = ()
    next_id: int = 3
    version: int = 0

    @cached_property
    def _seekable(self) -> Mapping[tuple[Entity, str, str], tuple[str, ...]]:
        found: dict[tuple[Entity, str, str], tuple[str, ...]] = {}
        for index in self.indexes:
            for label in index.labels if index.finds_values and index.keys else ():
                place = (index.entity, label, index.keys[0])
                found[place] = (*found.get(place, ()), index.kind.value)
        return found

    def has_index(self, entity: Entity, label: str, key: str) -> bool:
        """Whether an index serves equality on this key."""
        return (entity, label, key) in self._seekable

    def index_kinds(self, entity: Entity, label: str, key: str) -> tuple[str, ...]:
        """The kinds of the indexes that serve this key."""
        return self._seekable.get((entity, label, key), ())

    @cached_property
    def _unique(self) -> Mapping[tuple[Entity, str], tuple[Constraint, ...]]:
        found: dict[tuple[Entity, str], tuple[Constraint, ...]] = {}
        for constraint in self.constraints:
            place = (constraint.entity, constraint.labels[0])
            found[place] = (*found.get(place, ()), constraint)
        return found

    def unique(self, entity: Entity, label: str) -> tuple[Constraint, ...]:
        """The uniqueness constraints on a label or type."""
        return self._unique.get((entity, label), ())

    def constrains(self, entity: Entity, key: str) -> bool:
        """Whether a uniqueness constraint on any label or type covers the key."""
        return any(rule.entity is entity and key in rule.keys for rule in self.constraints)

    def names(self, entity: Entity) -> frozenset[str]:
        """The labels or types that an index or constraint covers."""
        rules: tuple[Index | Constraint, ...] = (*self.indexes, *self.constraints)
        return frozenset(name for rule in rules if rule.entity is entity for name in rule.labels)

    def index(self, name: str) -> Index | None:
        """The index of that name."""
        return next((index for index in self.indexes if index.name == name), None)

    def constraint(self, name: str) -> Constraint | None:
        """The constraint of that name."""
        return next((constraint for constraint in self.constraints if constraint.name == name), None)


def initial_schema() -> Schema:
    """The schema of a new database: the two lookup indexes."""
    return Schema(
        (
            Index(1, "index_343aff4e", IndexKind.LOOKUP, Entity.NODE, (), ()),
            Index(2, "index_f7700477", IndexKind.LOOKUP, Entity.RELATIONSHIP, (), ()),
        )
    )
