"""What the planner needs to know about a graph and the available functions, from a snapshot and the tables."""

from __future__ import annotations

from collections.abc import Mapping

from hoplite.engine.functions.registry import AGGREGATES, Function
from hoplite.engine.procedures.registry import Procedure
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.types import ProcedureSignature, Signature
from hoplite.storage.schema import Entity
from hoplite.storage.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class GraphCatalogue:
    """The planner's `Catalogue` for one snapshot."""

    graph: Snapshot
    functions: Mapping[str, Function]
    procedures: Mapping[str, Procedure]

    @property
    def node_count(self) -> int:
        """How many nodes the graph has."""
        return self.graph.node_count

    @property
    def relationship_count(self) -> int:
        """How many relationships the graph has."""
        return self.graph.relationship_count

    def label_count(self, label: str) -> int:
        """How many nodes carry the label."""
        return self.graph.label_count(label)

    def type_count(self, type: str) -> int:
        """How many relationships have the type."""
        return self.graph.type_count(type)

    def pattern_count(self, start_label: str | None, type: str | None, end_label: str | None) -> int:
        """How many relationships match `(:start_label)-[:type]->(:end_label)`."""
        return self.graph.pattern_count(start_label, type, end_label)

    def index_kinds(self, of_nodes: bool, label: str, key: str) -> tuple[str, ...]:
        """The kinds of the indexes on a label or type and a key: RANGE, TEXT, POINT."""
        return self.graph.index_kinds(of_nodes, label, key)

    def has_hinted_index(self, kind: str | None, of_nodes: bool, label: str, keys: tuple[str, ...]) -> bool:
        """Whether there is an index on exactly these keys, of a kind or of any."""
        kinds = ("RANGE", "TEXT", "POINT") if kind is None else (kind,)
        entity = Entity.NODE if of_nodes else Entity.RELATIONSHIP
        return any(
            (index.entity, index.labels, index.keys) == (entity, (label,), keys) and index.kind.value in kinds
            for index in self.graph.schema.indexes
        )

    def is_unique(self, label: str, key: str) -> bool:
        """Whether a constraint makes the key unique."""
        return self.graph.is_unique(label, key)

    def distinct_values(self, label: str, key: str) -> int | None:
        """How many distinct values the key has."""
        return self.graph.distinct_values(label, key)

    def known_label(self, name: str) -> bool:
        """Whether the database has ever stored the label."""
        return self.graph.known_label(name)

    def known_type(self, name: str) -> bool:
        """Whether the database has ever stored the type."""
        return self.graph.known_type(name)

    def known_key(self, name: str) -> bool:
        """Whether the database has ever stored the key."""
        return self.graph.known_key(name)

    def function(self, name: str) -> Signature | None:
        """The function of that name, aggregating ones included."""
        lowered = name.lower()
        function = AGGREGATES.get(lowered) or self.functions.get(lowered)
        return function.signature if function is not None and function.signature.answers_to(name) else None

    def procedure(self, name: str) -> ProcedureSignature | None:
        """The procedure of that name."""
        procedure = self.procedures.get(name)
        return None if procedure is None else procedure.signature
