"""What a check comes across that notifications report, by its offset in the text."""

from __future__ import annotations

from dataclasses import field

from hoplite.lazy_dataclass import dataclass


@dataclass(slots=True)
class Mentions:
    """Collected in the second round of the check, when types are known.

    `names`: labels, relationship types, and keys of nodes and relationships, as (kind, name). `shadows`: variables of a
    subquery that hide outer ones. `copied_entities`: `SET a = b` with a node or relationship, and what replaces it.
    `self_references`: properties that need an entity of the same CREATE or MERGE, as (verb, clause, variable).
    """

    names: dict[int, tuple[str, str]] = field(default_factory=dict)
    shadows: dict[int, str] = field(default_factory=dict)
    copied_entities: dict[int, tuple[str, str]] = field(default_factory=dict)
    self_references: dict[int, tuple[str, str, str]] = field(default_factory=dict)
    lists_as_booleans: bool = False
