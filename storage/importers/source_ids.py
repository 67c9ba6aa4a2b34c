"""The entity of a Neo4j server that each imported one came from, so that the answers of both can be matched."""

from __future__ import annotations

from typing import Any

import numpy as np

from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass
from hoplite.values.columns import Int64s

_ELEMENT_ID = lazy_pattern(r"([45]):([0-9a-f-]{36}):([0-9]+)")


@dataclass(frozen=True, slots=True, eq=False)
class SourceEntities:
    """Nodes or relationships: the one with our id `first + i` had id `ids[i]` at the source."""

    first: int
    ids: Int64s
    prefix: str  # of the element ids at the source, which end in the number

    def element_id(self, our_id: int) -> str | None:
        """The element id at the source; None if it was not imported."""
        row = our_id - self.first
        return f"{self.prefix}{self.ids[row]}" if 0 <= row < len(self.ids) else None

    def number(self, our_id: int) -> int | None:
        """The id at the source; None if it was not imported."""
        row = our_id - self.first
        return int(self.ids[row]) if 0 <= row < len(self.ids) else None

    def has(self, element_id: str) -> bool:
        """Whether the entity with this element id at the source was imported."""
        number = element_id.removeprefix(self.prefix)
        if not number.isdigit() or not len(self.ids):
            return False
        row = int(np.searchsorted(self.ids, int(number)))  # imports are ordered by number
        return row < len(self.ids) and int(self.ids[row]) == int(number)


@dataclass(frozen=True, slots=True, eq=False)
class SourceIds:
    """The element ids that imported nodes and relationships had at their source."""

    nodes: SourceEntities
    relationships: SourceEntities

    def of(self, entity: Any) -> str | None:
        """The source's element id of a node or relationship from one of our results."""
        return self._entities(entity).element_id(int(entity.element_id.rpartition(":")[2]))

    def known(self, entity: Any) -> str | None:
        """The element id of a node or relationship from a result of the source, if it was imported."""
        return entity.element_id if self._entities(entity).has(entity.element_id) else None

    def of_text(self, text: str, uuid: str) -> str:
        """The source's element id if the text is an element id of the database with this uuid; else the text."""
        found = _ELEMENT_ID.fullmatch(text)
        if found is None or found.group(2) != uuid:
            return text
        entities = self.nodes if found.group(1) == "4" else self.relationships
        return entities.element_id(int(found.group(3))) or text

    def _entities(self, entity: Any) -> SourceEntities:
        return self.nodes if hasattr(entity, "labels") else self.relationships
