"""The state of a graph that a base was folded from, or loaded on top of, whose indexes need not be made anew: only what
was written to is looked at again."""

from __future__ import annotations

import numpy as np

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.base import Base, S
from hoplite.storage.delta import Delta
from hoplite.storage.schema import Entity, Index
from hoplite.storage.search.changes import written
from hoplite.values.columns import Int64s


@dataclass(frozen=True, slots=True, eq=False)
class Earlier:
    """What was folded, or added to."""

    delta: Delta

    def index(self, index: Index, kind: type[S]) -> S | None:
        """An index over the base beneath; None where it was never made."""
        return self.delta.base.known_search_index(index, kind)

    def places(self, base: Base, index: Index, entities: Int64s) -> Int64s:
        """Where entities of the base beneath are now; -1 for those that are gone, and those that were written to."""
        places = self._moved(base, index, entities)
        places[np.isin(entities, self._written(index))] = -1
        return places

    def written_to(self, base: Base, index: Index) -> Int64s:
        """Where those are now that were written to, and those that are new, ascending."""
        places = self._moved(base, index, self._written(index))
        before, delta = self.delta.base, self.delta
        if index.entity is Entity.NODE:
            ids, count = base.node_ids, base.node_count
            known = before.next_node_id + delta.node_count - before.node_count
        else:
            ids, count = base.relationship_ids, base.relationship_count
            known = before.next_relationship_id + delta.relationship_count - before.relationship_count
        loaded = np.arange(known, count) if ids is None else np.flatnonzero(ids >= known)
        return np.sort(np.concatenate([places[places >= 0], loaded]))

    def _written(self, index: Index) -> Int64s:
        touched = written(self.delta, index)
        return np.fromiter(touched, np.int64, len(touched))

    def _moved(self, base: Base, index: Index, entities: Int64s) -> Int64s:
        """Public ids lead from one base to the other."""
        before = self.delta.base
        if index.entity is Entity.NODE:
            ids, next_id, count = before.node_ids, before.next_node_id, before.node_count
            now, now_count = base.node_of_id, base.node_count
        else:
            ids, next_id, count = before.relationship_ids, before.next_relationship_id, before.relationship_count
            now, now_count = base.relationship_of_id, base.relationship_count
        old = entities < count
        public = np.where(old, entities, next_id + entities - count)
        if ids is not None:
            public[old] = ids[entities[old]]
        inside = public < (now_count if now is None else len(now))
        places = np.full(len(public), -1, np.int64)
        places[inside] = public[inside] if now is None else now[public[inside]]
        return places
