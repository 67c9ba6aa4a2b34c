"""Reading one version of the graph.

Nodes and relationships are positions: dense integers that are only valid in this version. Arrays of them are int64; -1
is null and gives null (or -1, or false). `Transaction` reads its own uncommitted state through the same class.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from hoplite.storage import seek, statistics
from hoplite.storage.delta import Delta, Values
from hoplite.storage.incidence import Adjacency
from hoplite.storage.key_lists import keys_of_nodes, keys_of_relationships
from hoplite.storage.property_columns import KeyValues, PropertyColumn, patched
from hoplite.storage.schema import Entity, Index, Schema
from hoplite.storage.value_index import NO_POSITIONS, Bound, ValueIndex
from hoplite.values.columns import Bools, Column, Int64s, ObjectArray, from_objects, nulls

_FEW_WRITTEN = 10_000
_MOST_KEPT = 1024
_MANY = 32  # nodes, for which arrays are worth their while

T = TypeVar("T")

if TYPE_CHECKING:
    from hoplite.storage.search.fulltext import Search


class Snapshot:
    """One version of the graph, for as long as it is held."""

    def __init__(self, delta: Delta, uuid: str, version: int) -> None:
        self._delta = delta
        self._uuid = uuid
        self._version = version
        self.kept: dict[object, Any] = delta.base.new_kept()  # what readers keep: see `keep`

    def keep(self, key: object, found: object) -> None:
        """Keep in `kept` what a reader looked up, for as long as this version is held and the memory for it is there.
        It must not refer to the snapshot, which would hold itself."""
        if len(self.kept) >= _MOST_KEPT:
            self.kept.clear()
        self.kept[key] = found

    # --- about the version ---

    @property
    def uuid(self) -> str:
        """The database's id: the middle part of element ids."""
        return self._uuid

    @property
    def version(self) -> int:
        """The number of commits this version is made of."""
        return self._version

    @property
    def schema(self) -> Schema:
        """Indexes and constraints."""
        return self._delta.schema

    @property
    def schema_version(self) -> tuple[int, int]:
        """Changes when an index, a constraint or a name is added or dropped; a cached plan is valid until then."""
        return self._delta.schema.version, self._delta.base.tokens.count

    # --- nodes ---

    @property
    def node_count(self) -> int:
        """How many nodes there are."""
        return self._delta.node_count - len(self._delta.removed_nodes)

    def nodes(self) -> Int64s:
        """All nodes, ascending."""
        delta = self._delta
        if not delta.removed_nodes:
            return np.arange(delta.node_count, dtype=np.int64)
        state = (delta.serial, delta.node_set, delta.node_count)
        known = self._delta.cache.get("nodes")
        if known is None or known[0] != state:
            every = np.arange(delta.node_count, dtype=np.int64)
            known = (state, np.delete(every, _array(delta.removed_nodes)))
            self._delta.cache["nodes"] = known
        nodes: Int64s = known[1]
        return nodes

    def node_exists(self, nodes: Int64s) -> Bools:
        """False for null, and for nodes deleted in this transaction."""
        return _exists(nodes, self._delta.node_count, self._delta.removed_nodes)

    def has_node(self, node: int) -> bool:
        """Whether a node exists, for a single position."""
        return 0 <= node < self._delta.node_count and node not in self._delta.removed_nodes

    def nodes_with_label(self, label: str) -> Int64s:
        """The nodes with a label, ascending."""
        delta = self._delta
        code = delta.base.tokens.labels.code(label)
        if code is None:
            return NO_POSITIONS
        new, changes = delta.new_labels, (delta.serial, delta.node_set)
        known = self._delta.cache.get(("label", code))
        having = delta.base.tokens.sets_having(code)
        if known is None or known[0][0] != changes:
            found = delta.base.nodes_with_label(code)
            if delta.relabelled:
                relabelled = _array(delta.relabelled)
                found = found[~np.isin(found, relabelled)]
                gained = [node for node, label_set in delta.relabelled.items() if having[label_set]]
                found = np.sort(np.concatenate([found, _array(gained)]))
            known = ((changes, 0), found)
        if known[0][1] < len(new):
            seen = known[0][1]
            fresh = np.flatnonzero(having[new.array()[seen:]]) + (delta.base.node_count + seen)
            known = ((changes, len(new)), np.concatenate([known[1], fresh]) if len(fresh) else known[1])
        self._delta.cache["label", code] = known
        nodes: Int64s = known[1]
        return nodes

    def label_set_codes(self, nodes: Int64s) -> NDArray[np.int32]:
        """The code of each node's set of labels; that of the empty set for null."""
        delta, base = self._delta, self._delta.base
        if not len(delta.new_labels) and not delta.relabelled:
            if base.node_count and not (nodes < 0).any():
                return base.node_labels[nodes]
            codes = np.zeros(len(nodes), np.int32)
            valid = np.flatnonzero(nodes >= 0)
            codes[valid] = base.node_labels[nodes[valid]]
            return codes
        codes = np.zeros(len(nodes), np.int32)
        old = np.flatnonzero((nodes >= 0) & (nodes < base.node_count))
        codes[old] = base.node_labels[nodes[old]]
        new = np.flatnonzero(nodes >= base.node_count)
        codes[new] = delta.new_labels.array()[nodes[new] - base.node_count]
        if delta.relabelled:
            for row in _rows_among(nodes, delta.relabelled).tolist():
                codes[row] = delta.relabelled[int(nodes[row])]
        return codes

    def has_label(self, nodes: Int64s, label: str) -> Bools:
        """Which of these nodes have the label; false for null."""
        code = self._delta.base.tokens.labels.code(label)
        if code is None:
            return np.zeros(len(nodes), np.bool_)
        codes = self.label_set_codes(nodes)
        having: Bools = self._delta.base.tokens.sets_having(code)[codes]
        return having

    def has_any_label(self, nodes: Int64s) -> Bools:
        """Which of these nodes have a label at all."""
        labelled: Bools = self.label_set_codes(nodes) != 0
        return labelled

    def label_sets(self, nodes: Int64s) -> list[tuple[str, ...]]:
        """The labels of each node, in the order in which the database first used them."""
        return self.labels_of_sets(self.label_set_codes(nodes))

    def labels_of_sets(self, codes: NDArray[np.int32]) -> list[tuple[str, ...]]:
        """The labels in each set that `label_set_codes` numbers, in the order of `label_sets`."""
        return list(map(self._delta.base.tokens.label_names_of, codes.tolist()))

    # --- relationships ---

    @property
    def relationship_count(self) -> int:
        """How many relationships there are."""
        return self._delta.relationship_count - len(self._delta.removed_relationships)

    def relationships(self) -> Int64s:
        """All relationships, ascending."""
        every = np.arange(self._delta.relationship_count, dtype=np.int64)
        removed = self._removed_relationships()
        return every if removed is None else np.delete(every, removed)

    def relationship_exists(self, relationships: Int64s) -> Bools:
        """False for null, and for relationships deleted in this transaction."""
        return _exists(relationships, self._delta.relationship_count, self._delta.removed_relationships)

    def has_relationship(self, relationship: int) -> bool:
        """Whether a relationship exists, for a single position."""
        delta = self._delta
        return 0 <= relationship < delta.relationship_count and relationship not in delta.removed_relationships

    def relationships_with_type(self, name: str) -> Int64s:
        """The relationships of a type, ascending."""
        code = self.type_code(name)
        if code is None:
            return NO_POSITIONS
        base = self._delta.base
        found = base.relationships_with_type(code)
        fresh = np.flatnonzero(self._delta.types.array() == code) + base.relationship_count
        found = np.concatenate([found, fresh]) if len(fresh) else found
        removed = self._removed_relationships()
        return found if removed is None else found[~np.isin(found, removed)]

    def type_code(self, name: str) -> int | None:
        """The code of a relationship type that the database has ever used."""
        return self._delta.base.tokens.types.code(name)

    @property
    def type_names(self) -> tuple[str, ...]:
        """Relationship types by their number."""
        return self._delta.base.tokens.types.all()

    def relationship_types(self, relationships: Int64s) -> NDArray[np.int32]:
        """The type code of each relationship; -1 for null."""
        base = self._delta.base
        new = self._delta.types.array()
        codes: NDArray[np.int32] = _pick(relationships, base.relationship_count, base.types_of, new, np.int32)
        return codes

    def endpoints(self, relationships: Int64s) -> tuple[Int64s, Int64s]:
        """The start and the end of each relationship; -1 for null."""
        base, delta = self._delta.base, self._delta
        if not len(relationships):
            return NO_POSITIONS, NO_POSITIONS
        count = base.relationship_count
        starts = _pick(relationships, count, base.starts_of, delta.starts.array(), np.int64)
        return starts, _pick(relationships, count, base.ends_of, delta.ends.array(), np.int64)

    def relationships_of(self, node: int) -> Int64s:
        """The relationships of a node on either side; a self-loop once."""
        both = dict.fromkeys(self._delta.relationships_of(node, True))
        both.update(dict.fromkeys(self._delta.relationships_of(node, False)))
        return _array(both)

    def relationships_at(self, nodes: Int64s) -> Int64s:
        """The relationships of many nodes on either side, each once."""
        if len(nodes) < _MANY:
            return _array(dict.fromkeys(at for node in nodes.tolist() for at in self.relationships_of(node).tolist()))
        delta, base = self._delta, self._delta.base
        old = nodes[nodes < base.node_count]
        found = [base.relationships_at(old, True), base.relationships_at(old, False)]
        if len(delta.types):
            is_there = np.isin(delta.starts.array(), nodes) | np.isin(delta.ends.array(), nodes)
            found.append(np.flatnonzero(is_there) + base.relationship_count)
        every = np.unique(np.concatenate(found))
        return every[self.relationship_exists(every)]

    def neighbours(self, node: int, outgoing: bool, type_codes: Sequence[int] | None = None) -> tuple[Int64s, Int64s]:
        """One hop from one node: relationships, and the nodes at their other ends. The cost is proportional to the
        result, even between writes.
        """
        delta, base = self._delta, self._delta.base
        wanted = None if type_codes is None else np.asarray(type_codes, np.int32)
        relationships, ends = NO_POSITIONS, NO_POSITIONS
        if node < base.node_count:
            incidence, first, last = base.row(node, outgoing)
            entries = np.arange(first, last, dtype=np.int64)
            if wanted is not None:
                entries = entries[np.isin(incidence.types[first:last], wanted)]
            ends = incidence.neighbours[entries].astype(np.int64, copy=False)
            listed = incidence.relationships
            relationships = entries + incidence.first_relationship if listed is None else listed[entries]
        if len(delta.types) and (new := delta.side(outgoing).relationships_of(node)):
            rows = _array(new) - base.relationship_count
            if wanted is not None:
                rows = rows[np.isin(delta.types.array()[rows], wanted)]
            relationships = np.concatenate([relationships, rows + base.relationship_count])
            ends = np.concatenate([ends, (delta.ends if outgoing else delta.starts).array()[rows]])
        if delta.removed_relationships and len(relationships):
            kept = np.ones(len(relationships), np.bool_)
            kept[_rows_among(relationships, delta.removed_relationships)] = False
            relationships, ends = relationships[kept], ends[kept]
        return relationships, ends

    def adjacency(self, outgoing: bool) -> Adjacency:
        """The graph seen from one side, for hop kernels."""
        return self.derived(("adjacency", outgoing), lambda: self._make_adjacency(outgoing))

    def derived(self, key: Hashable, make: Callable[[], T]) -> T:
        """The result of `make`, computed once and valid until a node is added or a relationship is added or removed."""
        delta = self._delta
        state = (delta.serial, delta.topology, delta.types.count, delta.new_labels.count)
        known = delta.cache.get(key)
        if known is None or known[0] != state:
            known = delta.cache[key] = (state, make())
        found: T = known[1]
        return found

    def _make_adjacency(self, outgoing: bool) -> Adjacency:
        delta, base = self._delta, self._delta.base
        new, rows = None, None
        if len(delta.types):
            side = delta.side(outgoing)
            with delta.lock:
                new, rows = side.incidence_and_rows()
        partition_of, row_of = base.partition_of, base.row_of
        if partition_of is not None and row_of is not None:
            missing = delta.node_count - len(partition_of)
            if missing > 0:
                partition_of = np.concatenate([partition_of, np.zeros(missing, np.int32)])
                row_of = np.concatenate([row_of, np.full(missing, row_of[-1], np.int32)])
            partition_of, row_of = partition_of[: delta.node_count], row_of[: delta.node_count]
        partitions = base.outgoing if outgoing else base.incoming
        removed = self._removed_relationships()
        return Adjacency(delta.node_count, partitions, partition_of, row_of, new, rows, removed)

    def degree(self, nodes: Int64s, outgoing: bool, type_codes: Sequence[int] | None = None) -> Int64s:
        """How many relationships (of some types) each node has on one side; 0 for null."""
        delta = self._delta
        if type_codes is not None or delta.removed_relationships:
            return _array([len(self.neighbours(n, outgoing, type_codes)[0]) if n >= 0 else 0 for n in nodes.tolist()])
        counts = np.zeros(len(nodes), np.int64)
        old = np.flatnonzero((nodes >= 0) & (nodes < delta.base.node_count))
        counts[old] = delta.base.degrees(nodes[old], outgoing)
        if len(delta.types):
            side = delta.side(outgoing)
            counts += _array([len(side.relationships_of(node)) for node in nodes.tolist()])
        return counts

    def _removed_relationships(self) -> Int64s | None:
        """Sorted; None if nothing is removed."""
        delta = self._delta
        if not delta.removed_relationships:
            return None
        state = (delta.serial, delta.topology)
        known = self._delta.cache.get("removed")
        if known is None or known[0] != state:
            known = (state, np.sort(_array(delta.removed_relationships)))
            self._delta.cache["removed"] = known
        removed: Int64s = known[1]
        return removed

    # --- properties ---

    def node_property(self, nodes: Int64s, key: str) -> Column:
        """A property of each node; null for null, and for nodes without it."""
        delta, base = self._delta, self._delta.base
        return _values(nodes, base.node_columns.get(key), delta.node_values.get(key), base.node_count)

    def node_property_of(self, nodes: Int64s, key: str) -> Column:
        """The same for positions that are known to be nodes, without checking them."""
        column = self.node_column(key)
        return self.node_property(nodes, key) if column is None else column.gather(nodes, inside=True)

    def node_column(self, key: str) -> PropertyColumn | None:
        """The values of a key for all nodes, if they are one column at hand; nothing else has to be looked at."""
        delta = self._delta
        if delta.new_labels.count or delta.node_values.get(key):
            return None
        column = delta.base.node_columns.get(key)
        return None if column is None else column.at_hand()

    def relationship_property(self, relationships: Int64s, key: str) -> Column:
        """A property of each relationship; null for null, and for relationships without it."""
        delta, base = self._delta, self._delta.base
        column, written = base.relationship_columns.get(key), delta.relationship_values.get(key)
        return _values(relationships, column, written, base.relationship_count)

    def node_keys(self, node: int) -> list[str]:
        """The keys of a node."""
        return self._delta.node_keys(node)

    def relationship_keys(self, relationship: int) -> list[str]:
        """The keys of a relationship."""
        return self._delta.relationship_keys(relationship)

    def node_properties(self, node: int) -> dict[str, Any]:
        """All properties of a node."""
        return {key: self._delta.node_value(node, key) for key in self._delta.node_keys(node)}

    def relationship_properties(self, relationship: int) -> dict[str, Any]:
        """All properties of a relationship."""
        delta = self._delta
        return {key: delta.relationship_value(relationship, key) for key in delta.relationship_keys(relationship)}

    def keys_of_nodes(self, nodes: Int64s) -> ObjectArray:
        """The keys of many nodes that exist, each as `node_keys` orders them; nodes may share a list."""
        return keys_of_nodes(self._delta, nodes, self.node_property)

    def keys_of_relationships(self, relationships: Int64s) -> ObjectArray:
        """The same for relationships, as `relationship_keys` orders them."""
        return keys_of_relationships(self._delta, relationships, self.relationship_property)

    def node_property_maps(self, nodes: Int64s) -> list[dict[str, Any]]:
        """All properties of many nodes."""
        return maps_of(len(nodes), self.node_property_columns(nodes))

    def node_property_columns(self, nodes: Int64s) -> dict[str, Column]:
        """The properties of many nodes by key: every key that occurs on nodes with the same labels."""
        base = self._delta.base
        codes = base.node_labels[nodes[(nodes >= 0) & (nodes < base.node_count)]]
        keys = [base.keys_by_label_set.get(code, ()) for code in np.flatnonzero(np.bincount(codes)).tolist()]
        wanted = dict.fromkeys(key for some in keys for key in some) | dict.fromkeys(self._delta.node_values)
        return {key: self.node_property(nodes, key) for key in wanted}

    def relationship_property_maps(self, relationships: Int64s) -> list[dict[str, Any]]:
        """All properties of many relationships."""
        return maps_of(len(relationships), self.relationship_property_columns(relationships))

    def relationship_property_columns(self, relationships: Int64s) -> dict[str, Column]:
        """The properties of many relationships by key: every key that occurs on relationships of the same types."""
        base = self._delta.base
        inside = (relationships >= 0) & (relationships < base.relationship_count)
        codes = base.types_of(relationships[inside])
        keys = [base.keys_by_type.get(code, ()) for code in np.flatnonzero(np.bincount(codes)).tolist()]
        wanted = dict.fromkeys(key for some in keys for key in some) | dict.fromkeys(self._delta.relationship_values)
        return {key: self.relationship_property(relationships, key) for key in wanted}

    # --- public ids ---

    @property
    def cache_counts(self) -> tuple[int, int, int] | None:
        """How often something was found in the cache, loaded from disk and evicted so far; None in memory."""
        return self._delta.base.cache_counts

    def node_ids(self, nodes: Int64s) -> Int64s:
        """The public id() of each node; -1 for null."""
        base = self._delta.base
        return _public(nodes, base.node_ids, base.node_count, base.next_node_id)

    def relationship_ids(self, relationships: Int64s) -> Int64s:
        """The public id() of each relationship; -1 for null."""
        base = self._delta.base
        return _public(relationships, base.relationship_ids, base.relationship_count, base.next_relationship_id)

    def node_positions(self, ids: Int64s) -> Int64s:
        """The nodes with these public ids; -1 if there is none."""
        delta, base = self._delta, self._delta.base
        is_position = base.node_of_id is None and base.next_node_id == base.node_count and not delta.removed_nodes
        # One comparison for both ends of the range: as unsigned numbers, negative ones are large.
        if is_position and len(ids) and ids.view(np.uint64).max() < delta.node_count:
            return ids
        found = _private(ids, base.node_of_id, base.node_count, base.next_node_id)
        return np.where(self.node_exists(found), found, -1)

    def relationship_positions(self, ids: Int64s) -> Int64s:
        """The relationships with these public ids; -1 if there is none."""
        base = self._delta.base
        found = _private(ids, base.relationship_of_id, base.relationship_count, base.next_relationship_id)
        return np.where(self.relationship_exists(found), found, -1)

    def has_distinct_values(self, key: str) -> bool:
        """Whether no two nodes share a value of a key: it is unique on a label, and no other node has it."""
        delta = self._delta
        written = delta.node_values.get(key, ())
        if delta.relabelled or len(written) > _FEW_WRITTEN:
            return False
        state = (delta.serial, delta.schema.version, len(written), delta.writes if written else 0)
        known = delta.cache.get(("distinct values", key))
        if known is None or known[0] != state:
            label_sets = {code for code, keys in delta.base.keys_by_label_set.items() if key in keys}
            label_sets |= {delta.label_set(node) for node in written}
            tokens = delta.base.tokens
            labels = [rule.labels[0] for rule in delta.schema.constraints if rule.keys == (key,)]
            codes = [
                code for name in labels if self.is_unique(name, key) and (code := tokens.labels.code(name)) is not None
            ]
            found = any(all(tokens.sets_having(code)[label_set] for label_set in label_sets) for code in codes)
            known = delta.cache["distinct values", key] = (state, found)
        return bool(known[1])

    # --- looking up by value ---

    def has_index(self, label: str, key: str) -> bool:
        """Whether the schema has an index on nodes. `seek_nodes` works without one too."""
        return self.schema.has_index(Entity.NODE, label, key)

    def index_kinds(self, of_nodes: bool, label: str, key: str) -> tuple[str, ...]:
        """The kinds of the schema's indexes on a label or type and a key: RANGE, TEXT, POINT."""
        return self.schema.index_kinds(Entity.NODE if of_nodes else Entity.RELATIONSHIP, label, key)

    def is_unique(self, label: str, key: str) -> bool:
        """Whether a constraint lets at most one node of the label have each value of the key."""
        return any(constraint.keys == (key,) for constraint in self.schema.unique(Entity.NODE, label))

    def seek_nodes(self, label: str, key: str, values: Sequence[Any] | Int64s) -> tuple[Int64s, Int64s]:
        """For each value the nodes that have it: (index into values, node). Null and NaN match nothing.

        The look-up structure for the label and key is built when first needed, and writes keep it up to date.
        """
        return seek.nodes(self._delta, label, key, values)

    def node_index(self, label: str, key: str) -> ValueIndex | None:
        """The structure that `seek_nodes` looks values up in, if nothing else has to be looked at."""
        return seek.node_index(self._delta, label, key)

    def seek_relationships(self, type: str, key: str, values: Sequence[Any]) -> tuple[Int64s, Int64s]:
        """The same for relationships of a type."""
        return seek.relationships(self._delta, type, key, values)

    def seek_range(self, label: str, key: str, low: Bound | None, high: Bound | None) -> Int64s:
        """The nodes whose value compares as within the bounds, ascending by position. The bounds have one comparable
        type.
        """
        return seek.node_range(self._delta, label, key, low, high)

    def seek_prefix(self, label: str, key: str, prefix: str) -> Int64s:
        """The nodes whose value is a string that starts with the prefix, ascending by position."""
        return seek.node_prefix(self._delta, label, key, prefix)

    def seek_text(self, label: str, key: str, part: str, at_end: bool) -> Int64s:
        """The nodes whose value is a string that contains the part, or ends with it, ascending by position."""
        return seek.node_text(self._delta, label, key, part, at_end)

    def seek_near(self, label: str, key: str, centre: Any, radius: Any) -> Int64s:
        """The nodes whose value is a point that may be within a distance of another, ascending by position."""
        return seek.node_points(self._delta, label, key, lambda points: points.near(centre, radius))

    def seek_box(self, label: str, key: str, low: Any, high: Any) -> Int64s:
        """The nodes whose value is a point that may be in the box between two others, ascending by position."""
        return seek.node_points(self._delta, label, key, lambda points: points.within(low, high))

    def seek_existing(self, label: str, key: str) -> Int64s:
        """The nodes with the label that have the property, ascending by position."""
        return seek.node_existing(self._delta, label, key)

    # --- names and statistics ---

    def labels(self) -> tuple[str, ...]:
        """Every label that the database has ever used."""
        return self._delta.base.tokens.labels.all()

    def labels_in_use(self) -> tuple[str, ...]:
        """The labels of some node, index or constraint."""
        ruled = self.schema.names(Entity.NODE)
        return tuple(label for label in self.labels() if label in ruled or self.label_count(label))

    def relationship_types_in_use(self) -> tuple[str, ...]:
        """The types of some relationship, index or constraint."""
        ruled = self.schema.names(Entity.RELATIONSHIP)
        return tuple(name for name in self.type_names if name in ruled or self.type_count(name))

    def property_keys(self) -> tuple[str, ...]:
        """Every property key that the database has ever used."""
        return self._delta.base.tokens.keys.all()

    def keys_of_label(self, label: str) -> frozenset[str]:
        """The keys that nodes with the label have; possibly some that they only had at the last fold."""
        delta, code = self._delta, self._delta.base.tokens.labels.code(label)
        if code is None:
            return frozenset()
        having = delta.base.tokens.sets_having(code)
        found = {key for label_set, keys in delta.base.keys_by_label_set.items() if having[label_set] for key in keys}
        for node in delta.relabelled:
            if having[delta.label_set(node)]:
                found.update(self.node_keys(node))
        for key, values in delta.node_values.items():
            if key not in found and any(v is not None and having[delta.label_set(n)] for n, v in values.items()):
                found.add(key)
        return frozenset(found)

    def keys_of_type(self, type: str) -> frozenset[str]:
        """The keys that relationships of the type have; possibly some that they only had at the last fold."""
        delta, code = self._delta, self.type_code(type)
        if code is None:
            return frozenset()
        found = set(delta.base.keys_by_type.get(code, ()))
        for key, values in delta.relationship_values.items():
            if key not in found and any(v is not None and delta.type_of(r) == code for r, v in values.items()):
                found.add(key)
        return frozenset(found)

    def known_label(self, name: str) -> bool:
        """Whether the database has ever used the label."""
        return self._delta.base.tokens.labels.code(name) is not None

    def known_type(self, name: str) -> bool:
        """Whether the database has ever used the relationship type."""
        return self._delta.base.tokens.types.code(name) is not None

    def known_key(self, name: str) -> bool:
        """Whether the database has ever used the property key."""
        return self._delta.base.tokens.keys.code(name) is not None

    def label_count(self, label: str) -> int:
        """How many nodes have the label; exact."""
        code = self._delta.base.tokens.labels.code(label)
        return 0 if code is None else self._delta.base.label_count(code) + self._delta.label_changes.get(code, 0)

    def type_count(self, type: str) -> int:
        """How many relationships have the type; exact."""
        return 0 if (code := self.type_code(type)) is None else statistics.type_count(self._delta, code)

    def pattern_count(self, start_label: str | None, type: str | None, end_label: str | None) -> int:
        """How many relationships match `(:start_label)-[:type]->(:end_label)`; None leaves a part open. Exact except
        for labels of old nodes that changed since the last fold."""
        return statistics.pattern_count(self, self._delta, start_label, type, end_label)

    def patterns(self) -> dict[tuple[str | None, str, str | None], int]:
        """How many relationships match each `(:start)-[:type]->(:end)` that occurs; None is a node without labels. As
        exact as `pattern_count`."""
        return statistics.patterns(self, self._delta)

    def nodes_with_key(self, key: str) -> Int64s:
        """The nodes that have the property."""
        delta, base = self._delta, self._delta.base
        found = _holders(base.node_columns.get(key), delta.node_values.get(key))
        return found[self.node_exists(found)]

    def relationships_with_key(self, key: str) -> Int64s:
        """The relationships that have the property."""
        delta, base = self._delta, self._delta.base
        found = _holders(base.relationship_columns.get(key), delta.relationship_values.get(key))
        return found[self.relationship_exists(found)]

    @property
    def has_exact_pattern_counts(self) -> bool:
        """Whether no label of an old node has changed since the last fold."""
        return not self._delta.relabelled

    def always_leads_to(self, type: str | None, label: str, outgoing: bool) -> bool:
        """Whether every relationship of the type (None: any) is known to end at a node with the label, or to start at
        one if followed backwards. Ignores what was written since the last fold."""
        delta = self._delta
        if delta.relabelled or len(delta.types) or delta.removed_relationships:
            return False
        ends = (None, type, label) if outgoing else (label, type, None)
        return self.pattern_count(*ends) == self.pattern_count(None, type, None)

    def nearest(self, index: Index, vector: NDArray[np.float32], count: int) -> tuple[Int64s, NDArray[np.float32]]:
        """The entities whose vectors in a vector index are nearest to one, best first, and their scores."""
        from hoplite.storage.search.vectors import nearest

        return nearest(self._delta, index, vector, count)

    def await_index(self, index: Index, seconds: float) -> bool:
        """Wait for what is made in the background for a vector index, or until the time is over; whether it is
        there."""
        from hoplite.storage.search.vectors import await_graphs

        return await_graphs(self._delta, index, seconds)

    def text_search(self, index: Index) -> Search:
        """The documents of a full-text index."""
        from hoplite.storage.search.fulltext import search

        return search(self._delta, index)

    def distinct_values(self, label: str, key: str) -> int | None:
        """Approximately how many different values the key has on nodes with the label; None if unknown."""
        return statistics.distinct_values(self._delta, label, key)


def _array(positions: Any) -> Int64s:
    return np.fromiter(positions, np.int64, len(positions))


def _rows_among(positions: Int64s, members: Any) -> Int64s:
    """The rows whose position is a key of a dictionary or set, at the cost of the shorter of the two."""
    if len(members) < len(positions):
        return np.flatnonzero(np.isin(positions, _array(members)))
    return np.array([row for row, position in enumerate(positions.tolist()) if position in members], np.int64)


def _exists(positions: Int64s, count: int, removed: set[int]) -> Bools:
    exists = (positions >= 0) & (positions < count)
    if removed:
        exists[_rows_among(positions, removed)] = False
    return exists


def _pick(
    positions: Int64s, count: int, old: Callable[[Int64s], NDArray[Any]], new: NDArray[Any], dtype: Any
) -> NDArray[Any]:
    """old(p) for the first `count` positions, new[p - count] for those beyond, or -1 for null."""
    lowest, highest = int(positions.min(initial=0)), int(positions.max(initial=-1))
    if lowest >= 0 and highest < count:
        return old(positions).astype(dtype, copy=False)
    picked = np.full(len(positions), -1, dtype)
    inside = np.flatnonzero((positions >= 0) & (positions < count))
    picked[inside] = old(positions[inside])
    beyond = np.flatnonzero(positions >= count)
    picked[beyond] = new[positions[beyond] - count]
    return picked


def _values(positions: Int64s, column: KeyValues | None, written: Values | None, base_count: int) -> Column:
    if written and (column is None or positions.min(initial=base_count) >= base_count):
        return from_objects(list(map(written.get, positions.tolist())))
    found: Column = nulls(len(positions)) if column is None else column.gather(positions)
    if not written:
        return found
    rows = _rows_among(positions, written)
    if not len(rows):
        return found
    return patched(found, rows, [written[position] for position in positions[rows].tolist()])


def _holders(column: KeyValues | None, written: Values | None) -> Int64s:
    """The entities that have a value of one key, in the base or written since; a removed value was written as null."""
    held = NO_POSITIONS if column is None else column.holders()
    if not written:
        return held
    kept = held[~np.isin(held, _array(written))]
    return np.concatenate([kept, _array([at for at, value in written.items() if value is not None])])


def maps_of(count: int, columns: dict[str, Column]) -> list[dict[str, Any]]:
    """The properties of several entities, one map for each, from their columns by key."""
    if columns and not any(bool(column.null_mask().any()) for column in columns.values()):
        keys = tuple(columns)
        rows = zip(*(column.objects().tolist() for column in columns.values()), strict=True)
        return [dict(zip(keys, row, strict=True)) for row in rows]
    maps: list[dict[str, Any]] = [{} for _ in range(count)]
    for key, column in columns.items():
        for properties, value in zip(maps, column.objects().tolist(), strict=True):
            if value is not None:
                properties[key] = value
    return maps


def _public(positions: Int64s, ids: Int64s | None, count: int, next_id: int) -> Int64s:
    if ids is None and next_id == count:
        return positions
    old = np.flatnonzero((positions >= 0) & (positions < count))
    public = np.where(positions < 0, -1, positions - count + next_id)
    public[old] = positions[old] if ids is None else ids[positions[old]]
    return public


def _private(ids: Int64s, positions: Int64s | None, count: int, next_id: int) -> Int64s:
    """Positions by public id; may include nodes that were removed since, or that are beyond the last one."""
    found = np.where(ids < 0, -1, ids - next_id + count)
    old = np.flatnonzero((ids >= 0) & (ids < next_id))
    if positions is None:
        found[old] = np.where(ids[old] < count, ids[old], -1)
    else:
        found[old] = positions[ids[old]]
    return found
