"""What the planner may ask about a graph and the engine it plans for, as one small protocol.

The names of a graph's labels, types and keys, its sizes, its indexes, and the available functions and procedures.
Whatever opens a database implements it; the planner never sees the storage or the function tables themselves.
"""

from __future__ import annotations

from typing import Protocol

from hoplite.planner.types import ProcedureSignature, Signature


class Catalogue(Protocol):
    """Names, sizes and callables. Counts are exact or close to it: they steer the plan, never the answer."""

    @property
    def node_count(self) -> int:
        """How many nodes the graph has."""
        ...

    @property
    def relationship_count(self) -> int:
        """How many relationships the graph has."""
        ...

    def label_count(self, label: str) -> int:
        """How many nodes carry the label."""
        ...

    def type_count(self, type: str) -> int:
        """How many relationships have the type."""
        ...

    def pattern_count(self, start_label: str | None, type: str | None, end_label: str | None) -> int:
        """How many relationships match `(:start_label)-[:type]->(:end_label)`; None leaves a part open."""
        ...

    def index_kinds(self, of_nodes: bool, label: str, key: str) -> tuple[str, ...]:
        """The kinds of the indexes on a label or type and a key: RANGE, TEXT, POINT."""
        ...

    def has_hinted_index(self, kind: str | None, of_nodes: bool, label: str, keys: tuple[str, ...]) -> bool:
        """Whether there is an index on exactly these keys that a hint may mean: of the hinted kind, or of any kind it
        allows."""
        ...

    def is_unique(self, label: str, key: str) -> bool:
        """Whether a constraint lets at most one node of the label have each value of the key."""
        ...

    def distinct_values(self, label: str, key: str) -> int | None:
        """How many different values the key has on the label's nodes; None if unknown."""
        ...

    def known_label(self, name: str) -> bool:
        """Whether the database has ever stored the label."""
        ...

    def known_type(self, name: str) -> bool:
        """Whether the database has ever stored the relationship type."""
        ...

    def known_key(self, name: str) -> bool:
        """Whether the database has ever stored the property key."""
        ...

    def function(self, name: str) -> Signature | None:
        """The built-in or registered function that a call by this name refers to."""
        ...

    def procedure(self, name: str) -> ProcedureSignature | None:
        """The procedure of that name (case-sensitive)."""
        ...
