"""Facts about a graph that a query's text can be checked against: counts of patterns, keys by label, values.

Everything is looked up when first needed and remembered for one version of the graph. Counts and keys come from the
statistics in storage; values from look-ups made once per label and key.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

from hoplite.engine.procedures.schema import property_types
from hoplite.models.schema_text_collect import GraphSchema, collect
from hoplite.storage.snapshot import Snapshot

_MOST_NODES = 200_000  # nodes of a label whose values are read
_MOST_SPELLINGS = 50_000  # values of a key that are folded
_MOST_SCHEMAS = 4  # that are remembered
_MOST_SOUND, _LONGEST_SOUND = 1_000, 10_000  # texts that are remembered, and characters of one


class Memory:
    """What was found out about one version of a graph, without holding it: a pinned version makes writes more
    expensive."""

    def __init__(self, version: int) -> None:
        self.version = version
        self.labels: dict[str, int] | None = None
        self.types: dict[str, int] | None = None
        self.counts: dict[tuple[str | None, str | None, str | None], int] = {}
        self.node_keys: dict[str, frozenset[str]] = {}
        self.type_keys: dict[str, frozenset[str]] = {}
        self.between: dict[tuple[str, str], tuple[str, ...]] = {}
        self.ends: dict[tuple[str, bool], tuple[str, ...]] = {}
        self.value_types: dict[tuple[bool, str, str], frozenset[str] | None] = {}
        self.found: dict[tuple[bool, str, str, Any], bool | None] = {}
        self.spellings: dict[tuple[bool, str, str], dict[str, list[str]]] = {}
        self.sound: set[tuple[Any, ...]] = set()  # texts, with types of parameters, in which nothing is wrong
        self.schemas: dict[int, GraphSchema] = {}  # by how many values are enumerated


class Facts:
    """The facts about one version of a graph."""

    def __init__(self, graph: Snapshot, memory: Memory | None = None) -> None:
        self._graph = graph
        self._memory = Memory(graph.version) if memory is None else memory

    # --- texts ---

    def is_sound(self, text: str, types: Mapping[str, Any]) -> bool:
        """Whether a text is already known to have nothing wrong."""
        return (text, *types.items()) in self._memory.sound

    def found_sound(self, text: str, types: Mapping[str, Any]) -> None:
        """Remember that nothing is wrong with a text."""
        sound = self._memory.sound
        if len(text) <= _LONGEST_SOUND:
            if len(sound) >= _MOST_SOUND:
                sound.clear()
            sound.add((text, *types.items()))

    # --- the schema ---

    def schema(self, most_values: int) -> GraphSchema:
        """The schema for prompts; a property with more than `most_values` values is not enumerated."""
        schemas = self._memory.schemas
        known = schemas.get(most_values)
        if known is None:
            if len(schemas) >= _MOST_SCHEMAS:
                schemas.clear()
            known = schemas[most_values] = collect(self._graph, most_values)
        return known

    # --- names ---

    @property
    def labels(self) -> dict[str, int]:
        """The labels of nodes with their counts."""
        found = self._memory.labels
        if found is None:
            names = self._graph.labels_in_use()
            found = self._memory.labels = {name: n for name in names if (n := self._graph.label_count(name))}
        return found

    @property
    def types(self) -> dict[str, int]:
        """The types of relationships with their counts."""
        found = self._memory.types
        if found is None:
            names = self._graph.relationship_types_in_use()
            found = self._memory.types = {name: n for name in names if (n := self._graph.type_count(name))}
        return found

    @cached_property
    def keys(self) -> frozenset[str]:
        """Every key that the database has ever used."""
        return frozenset(self._graph.property_keys())

    def keys_of_label(self, label: str) -> frozenset[str]:
        """The keys that some node with the label has."""
        known = self._memory.node_keys.get(label)
        if known is None:
            known = self._memory.node_keys[label] = self._graph.keys_of_label(label)
        return known

    def keys_of_type(self, type: str) -> frozenset[str]:
        """The keys that some relationship of the type has."""
        known = self._memory.type_keys.get(type)
        if known is None:
            known = self._memory.type_keys[type] = self._graph.keys_of_type(type)
        return known

    # --- patterns ---

    def count(self, start: str | None, type: str | None, end: str | None) -> int:
        """How many relationships `(:start)-[:type]->(:end)` there are; None leaves a part open. An inexact count is
        never 0.
        """
        asked = (start, type, end)
        known = self._memory.counts.get(asked)
        if known is None:
            known = self._memory.counts[asked] = self._counted(start, type, end)
        return known

    def _counted(self, start: str | None, type: str | None, end: str | None) -> int:
        return self._graph.pattern_count(start, type, end) or int(not self._graph.has_exact_pattern_counts)

    def types_between(self, start: str, end: str) -> tuple[str, ...]:
        """The types that lead from one label to another."""
        known = self._memory.between.get((start, end))
        if known is None:
            known = tuple(t for t in self.types if self.count(start, None, end) and self.count(start, t, end))
            self._memory.between[start, end] = known
        return known

    def ends(self, type: str, outgoing: bool) -> tuple[str, ...]:
        """The labels that relationships of a type lead to, or start from, the most frequent first."""
        known = self._memory.ends.get((type, outgoing))
        if known is None:
            counts = {
                label: self.count(None, type, label) if outgoing else self.count(label, type, None)
                for label in self.labels
            }
            known = tuple(sorted((label for label, n in counts.items() if n), key=lambda label: -counts[label]))
            self._memory.ends[type, outgoing] = known
        return known

    # --- values ---

    def value_types(self, is_node: bool, owner: str, key: str) -> frozenset[str] | None:
        """The types of the values of a key on a label or type; None if they were not read."""
        asked = (is_node, owner, key)
        if asked not in self._memory.value_types:
            self._memory.value_types[asked] = None if self._is_large(is_node, owner) else self._value_types(*asked)
        return self._memory.value_types[asked]

    def _value_types(self, is_node: bool, owner: str, key: str) -> frozenset[str]:
        column = self._column(is_node, owner, key)
        return frozenset() if bool(column.null_mask().all()) else frozenset(property_types(column))

    def has_value(self, is_node: bool, owner: str, key: str, value: Any) -> bool | None:
        """Whether some entity has the value; None if unknown."""
        asked = (is_node, owner, key, (type(value), value))
        found = self._memory.found
        if asked not in found:
            found[asked] = None if self._is_large(is_node, owner) else self._has_value(is_node, owner, key, value)
        return found[asked]

    def _has_value(self, is_node: bool, owner: str, key: str, value: Any) -> bool:
        seek = self._graph.seek_nodes if is_node else self._graph.seek_relationships
        return bool(len(seek(owner, key, [value])[1]))

    def spellings(self, is_node: bool, owner: str, key: str, folded_value: str) -> list[str]:
        """The strings among the values that are the same apart from case, spaces and punctuation."""
        asked = (is_node, owner, key)
        known = self._memory.spellings.get(asked)
        if known is None:
            known = self._memory.spellings[asked] = {}
            values = () if self._is_large(is_node, owner) else set(self._strings(*asked))
            for value in values if len(values) <= _MOST_SPELLINGS else ():
                known.setdefault(folded_text(value), []).append(value)
        return known.get(folded_value, [])

    def _strings(self, is_node: bool, owner: str, key: str) -> list[str]:
        column = self._column(is_node, owner, key)
        return [value for value in column.objects().tolist() if isinstance(value, str)]

    def _column(self, is_node: bool, owner: str, key: str) -> Any:
        if is_node:
            return self._graph.node_property(self._graph.nodes_with_label(owner), key)
        return self._graph.relationship_property(self._graph.relationships_with_type(owner), key)

    def _is_large(self, is_node: bool, owner: str) -> bool:
        return (self.labels if is_node else self.types).get(owner, 0) > _MOST_NODES


def folded_text(text: str) -> str:
    """A value without case, spaces and punctuation, which models drop and add."""
    return "".join(letter for letter in text.casefold() if letter.isalnum())
