"""Columns: equally long vectors of Cypher values, typed where the values are.

Storage returns property columns, the engine computes with them, results are made of them. A typed column has its values
in one NumPy array and its nulls in a mask; `Objects` holds any Python values, because Cypher is dynamically typed.

| class              | arrays                                                  | null is            |
|--------------------|---------------------------------------------------------|--------------------|
| Integers           | values int64[n], nulls bool[n] or None                  | nulls[i]           |
| Floats             | values float64[n], nulls bool[n] or None                | nulls[i]           |
| Booleans           | values bool[n], nulls bool[n] or None                   | nulls[i]           |
| Strings            | values object[n] of str, or a pool and slots int64[n]   | None, -1           |
| Nodes              | positions int64[n]                                      | -1                 |
| Relationships      | positions int64[n]                                      | -1                 |
| EntityLists        | offsets int64[n + 1], positions int64[...], nulls       | nulls[i]           |
| Paths              | starts int64[n], offsets, relationships, nodes          | starts[i] = -1     |
| Objects            | values object[n]                                        | None               |
| FloatLists         | matrix float64[n, d] or float32[n, d], nulls            | nulls[i]           |

Ids are storage positions. A mask of None means that nothing is null. Arrays are never changed once they are in a
column: arrays of Python values, from which masks, numbers and indexes are derived, are locked against it.
`with_nulls_at` makes another column with nulls in some rows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain, pairwise
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from hoplite.lazy_dataclass import dataclass
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship
from hoplite.values.texts import TextPool

Int64s: TypeAlias = NDArray[np.int64]
Bools: TypeAlias = NDArray[np.bool_]
ObjectArray: TypeAlias = NDArray[np.object_]

INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1


def object_array(values: Iterable[Any], count: int) -> ObjectArray:
    """An object array that never unpacks a value that is a sequence."""
    array = np.empty(count, dtype=object)
    array[:] = np.fromiter(values, dtype=object, count=count)
    return array


def _locked(values: ObjectArray) -> ObjectArray:
    """The same array, made read-only: what was derived from it would not follow a change."""
    values.flags.writeable = False
    return values


def _is_none(values: ObjectArray) -> Bools:
    nothing: Any = None
    empty: Bools = np.equal(values, nothing)  # a loop in C, which compares by identity first
    return empty


def _with_nulls(values: NDArray[Any], nulls: Bools | None) -> ObjectArray:
    objects: ObjectArray = object_array(values.tolist(), len(values))
    if nulls is not None:
        objects[nulls] = None
    return objects


def _taken(mask: Bools | None, rows: Int64s) -> Bools | None:
    return None if mask is None else mask[rows]


@dataclass(frozen=True, slots=True, eq=False)
class Integers:
    """64-bit integers."""

    values: Int64s
    nulls: Bools | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Int64s) -> Integers:
        """The values at these rows, in this order."""
        return Integers(self.values[rows], _taken(self.nulls, rows))

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        return _with_nulls(self.values, self.nulls)

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return np.zeros(len(self), np.bool_) if self.nulls is None else self.nulls


@dataclass(frozen=True, slots=True, eq=False)
class Floats:
    """64-bit floating-point numbers."""

    values: NDArray[np.float64]
    nulls: Bools | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Int64s) -> Floats:
        """The values at these rows, in this order."""
        return Floats(self.values[rows], _taken(self.nulls, rows))

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        return _with_nulls(self.values, self.nulls)

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return np.zeros(len(self), np.bool_) if self.nulls is None else self.nulls


@dataclass(frozen=True, slots=True, eq=False)
class Booleans:
    """True, false and null."""

    values: Bools
    nulls: Bools | None = None

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Int64s) -> Booleans:
        """The values at these rows, in this order."""
        return Booleans(self.values[rows], _taken(self.nulls, rows))

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        return _with_nulls(self.values, self.nulls)

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return np.zeros(len(self), np.bool_) if self.nulls is None else self.nulls

    def true_rows(self) -> Int64s:
        """The rows that a WHERE keeps."""
        kept = self.values if self.nulls is None else self.values & ~self.nulls
        return np.flatnonzero(kept)


class Strings:
    """Text; None is null. Held directly, or as slots of a pool (-1 is null) whose texts are read on demand."""

    __slots__ = ("_own", "_values", "pool", "slots")

    def __init__(self, values: ObjectArray) -> None:
        self._values: ObjectArray | None = _locked(values)
        self._own: TextPool | None = None
        self.pool: TextPool | None = None
        self.slots: Int64s | None = None

    @staticmethod
    def of_pool(pool: TextPool, slots: Int64s) -> Strings:
        """The texts at these slots."""
        column = Strings.__new__(Strings)
        column._values, column._own, column.pool, column.slots = None, None, pool, slots
        return column

    def look_up(self, slots: Int64s) -> Strings:
        """The texts at these slots (-1: null) of a column that is kept: they share a pool."""
        if self._own is None:
            self._own = TextPool(self.values)
        return Strings.of_pool(self._own, slots)

    @property
    def values(self) -> ObjectArray:
        """The texts, as Python values."""
        if self._values is None:
            assert self.pool is not None and self.slots is not None
            texts = self.pool.values[self.slots]
            missing = self.slots < 0
            if missing.any():
                texts[missing] = None
            self._values = _locked(texts)
        return self._values

    def __len__(self) -> int:
        return len(self._values) if self.slots is None else len(self.slots)  # type: ignore[arg-type]

    def take(self, rows: Int64s) -> Strings:
        """The values at these rows, in this order."""
        if self.pool is None or self.slots is None:
            return Strings(self.values[rows])
        return Strings.of_pool(self.pool, self.slots[rows])

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        return self.values

    def null_mask(self) -> Bools:
        """Where the column is null."""
        if self.pool is None or self.slots is None:
            return _is_none(self.values)
        return self.pool.nulls[self.slots]


@dataclass(frozen=True, slots=True, eq=False)
class Nodes:
    """Nodes by storage position; -1 is null."""

    positions: Int64s

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: Int64s) -> Nodes:
        """The values at these rows, in this order."""
        return Nodes(self.positions[rows])

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        positions = self.positions.tolist()
        return object_array((NodeRef(i) if i >= 0 else None for i in positions), len(positions))

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return self.positions < 0


@dataclass(frozen=True, slots=True, eq=False)
class Relationships:
    """Relationships by storage position; -1 is null."""

    positions: Int64s

    def __len__(self) -> int:
        return len(self.positions)

    def take(self, rows: Int64s) -> Relationships:
        """The values at these rows, in this order."""
        return Relationships(self.positions[rows])

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        positions = self.positions.tolist()
        return object_array((RelationshipRef(i) if i >= 0 else None for i in positions), len(positions))

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return self.positions < 0


def ragged_take(offsets: Int64s, rows: Int64s) -> tuple[Int64s, Int64s]:
    """For rows of a ragged array: their new offsets, and the places of their items in the old one."""
    lengths = (offsets[1:] - offsets[:-1])[rows]
    taken = np.zeros(len(rows) + 1, np.int64)
    np.cumsum(lengths, out=taken[1:])
    items = np.arange(taken[-1], dtype=np.int64)
    items += np.repeat(offsets[:-1][rows] - taken[:-1], lengths)
    return taken, items


_COPIED = 1 << 18  # entities copied per row before rows share their values


def _repeats_much(offsets: Int64s, rows: Int64s) -> bool:
    """Whether long lists would be copied repeatedly: a list of all nodes in each row."""
    if len(rows) < 2:
        return False
    total = int(np.diff(offsets)[rows].sum())
    return total > _COPIED and total > 4 * int(offsets[-1] - offsets[0])


def _shared(column: EntityLists | Paths, rows: Int64s) -> Objects:
    """The values at these rows, each stored once however often it is taken."""
    distinct, place = np.unique(rows, return_inverse=True)
    return Objects(column.take(distinct).objects()[place])


@dataclass(frozen=True, slots=True, eq=False)
class EntityLists:
    """Lists of nodes or of relationships: the value of a variable-length or quantified variable."""

    offsets: Int64s
    positions: Int64s
    of_nodes: bool
    nulls: Bools | None = None

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def take(self, rows: Int64s) -> EntityLists | Objects:
        """The values at these rows, in this order."""
        if _repeats_much(self.offsets, rows):
            return _shared(self, rows)
        offsets, items = ragged_take(self.offsets, rows)
        return EntityLists(offsets, self.positions[items], self.of_nodes, _taken(self.nulls, rows))

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        ref: type[NodeRef] | type[RelationshipRef] = NodeRef if self.of_nodes else RelationshipRef
        refs = [ref(i) for i in self.positions.tolist()]
        bounds = self.offsets.tolist()
        lists = object_array((refs[a:b] for a, b in pairwise(bounds)), len(self))
        if self.nulls is not None:
            lists[self.nulls] = None
        return lists

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return np.zeros(len(self), np.bool_) if self.nulls is None else self.nulls


@dataclass(frozen=True, slots=True, eq=False)
class Paths:
    """Paths: row i has relationships[offsets[i]:offsets[i + 1]], and starts[i] followed by the node after each of them.

    `nodes[j]` is the node that `relationships[j]` leads to. A null path has starts[i] = -1 and no relationships.
    """

    starts: Int64s
    offsets: Int64s
    relationships: Int64s
    nodes: Int64s

    def __len__(self) -> int:
        return len(self.starts)

    def take(self, rows: Int64s) -> Paths | Objects:
        """The values at these rows, in this order."""
        if _repeats_much(self.offsets, rows):
            return _shared(self, rows)
        offsets, items = ragged_take(self.offsets, rows)
        return Paths(self.starts[rows], offsets, self.relationships[items], self.nodes[items])

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        nodes, relationships = self.nodes.tolist(), self.relationships.tolist()
        bounds, starts = self.offsets.tolist(), self.starts.tolist()
        return object_array(
            (
                None if start < 0 else PathValue((start, *nodes[a:b]), tuple(relationships[a:b]))
                for start, a, b in zip(starts, bounds[:-1], bounds[1:], strict=True)
            ),
            len(starts),
        )

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return self.starts < 0


@dataclass(frozen=True, slots=True, eq=False)
class Objects:
    """Any values, as Python holds them; None is null."""

    values: ObjectArray

    def __post_init__(self) -> None:
        _locked(self.values)

    def __len__(self) -> int:
        return len(self.values)

    def take(self, rows: Int64s) -> Objects:
        """The values at these rows, in this order."""
        return Objects(self.values[rows])

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        return self.values

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return _is_none(self.values)


class FloatLists(Objects):
    """Lists of floats of one length, as the rows of a matrix: embeddings. To callers that do not use the matrix it is a
    column of Python lists, made on first use."""

    __slots__ = ("_lists", "matrix", "nulls")

    matrix: NDArray[Any]
    nulls: Bools | None
    _lists: ObjectArray | None

    def __init__(self, matrix: NDArray[Any], nulls: Bools | None = None) -> None:
        for name, part in (("matrix", matrix), ("nulls", nulls), ("_lists", None)):
            object.__setattr__(self, name, part)

    @property
    def values(self) -> ObjectArray:
        """The lists, as Python values."""
        if self._lists is None:
            lists = object_array(self.matrix.tolist(), len(self.matrix))
            if self.nulls is not None:
                lists[self.nulls] = None
            object.__setattr__(self, "_lists", _locked(lists))
        assert self._lists is not None
        return self._lists

    def __len__(self) -> int:
        return len(self.matrix)

    def take(self, rows: Int64s) -> FloatLists:
        """The values at these rows, in this order."""
        return FloatLists(self.matrix[rows], _taken(self.nulls, rows))

    def objects(self) -> ObjectArray:
        """The same as Python values."""
        return self.values

    def null_mask(self) -> Bools:
        """Where the column is null."""
        return np.zeros(len(self), np.bool_) if self.nulls is None else self.nulls

    def value(self, row: int) -> list[float] | None:
        """One of the lists, without making the others."""
        if self.nulls is not None and self.nulls[row]:
            return None
        items: list[float] = self.matrix[row].tolist()
        return items

    @staticmethod
    def of(values: ObjectArray | Sequence[Any]) -> FloatLists | None:
        """The column of these values, if all are lists of floats of one length, or null."""
        lists = [value for value in values if value is not None]
        if not lists or set(map(type, lists)) != {list} or not (length := len(lists[0])):
            return None
        if any(len(one) != length for one in lists) or set(map(type, chain.from_iterable(lists))) != _FLOAT:
            return None
        found = _narrow_floats(np.array(lists, np.float64))
        if len(lists) == len(values):
            return FloatLists(found)
        nulls = np.fromiter((value is None for value in values), np.bool_, len(values))
        matrix = np.zeros((len(values), length), found.dtype)
        matrix[~nulls] = found
        return FloatLists(matrix, nulls)


_LOOKED_AT = 1 << 16  # rows of a matrix at once


def _narrow_floats(matrix: NDArray[np.float64]) -> NDArray[Any]:
    """In 32 bits if no number loses precision."""
    narrow = np.empty(matrix.shape, np.float32)
    with np.errstate(over="ignore", invalid="ignore"):
        for first in range(0, len(matrix), _LOOKED_AT):
            some = matrix[first : first + _LOOKED_AT]
            narrow[first : first + _LOOKED_AT] = some
            if not np.array_equal(narrow[first : first + _LOOKED_AT], some, equal_nan=True):
                return matrix
    return narrow


Column: TypeAlias = Integers | Floats | Booleans | Strings | Nodes | Relationships | EntityLists | Paths | Objects


def constant(value: Any, count: int) -> Column:
    """One value in every row."""
    match value:
        case bool():
            return Booleans(np.full(count, value, np.bool_))
        case int():
            return Integers(np.full(count, value, np.int64))
        case float():
            return Floats(np.full(count, value, np.float64))
        case VirtualNode() | VirtualRelationship():
            pass
        case NodeRef():
            return Nodes(np.full(count, value.position, np.int64))
        case RelationshipRef():
            return Relationships(np.full(count, value.position, np.int64))
    filled = np.empty(count, dtype=object)
    if isinstance(value, str):
        filled[:] = value
        return Strings(filled)
    for row in range(count):  # a list must not be broadcast over the rows
        filled[row] = value
    return Objects(filled)


def nulls(count: int) -> Objects:
    """Null in every row."""
    return Objects(np.full(count, None, dtype=object))


_INTEGER, _FLOAT, _BOOLEAN, _STRING = {int}, {float}, {bool}, {str}
_NODE, _RELATIONSHIP, _NULL = {NodeRef}, {RelationshipRef}, type(None)


def from_objects(values: ObjectArray | Sequence[Any]) -> Column:
    """The narrowest column that holds these Python values."""
    kinds = set(map(type, values))
    if kinds == _INTEGER:
        return Integers(np.array(values, np.int64))
    array = values if isinstance(values, np.ndarray) else object_array(values, len(values))
    has_nulls = _NULL in kinds
    kinds.discard(_NULL)
    if not kinds:
        return Objects(array)
    if kinds == _STRING:
        return Strings(array)
    if kinds == _NODE:
        return Nodes(_positions(array))
    if kinds == _RELATIONSHIP:
        return Relationships(_positions(array))
    if kinds not in (_INTEGER, _FLOAT, _BOOLEAN):
        return Objects(array)
    mask = _is_none(array) if has_nulls else None
    if mask is not None:
        array = array.copy()
        array[mask] = 0
    if kinds == _INTEGER:
        return Integers(array.astype(np.int64), mask)
    if kinds == _FLOAT:
        return Floats(array.astype(np.float64), mask)
    return Booleans(array.astype(np.bool_), mask)


def _positions(references: ObjectArray) -> Int64s:
    return np.fromiter((-1 if r is None else r.position for r in references), np.int64, len(references))


def _joined_nulls(columns: Sequence[Integers | Floats | Booleans | EntityLists | FloatLists]) -> Bools | None:
    if all(c.nulls is None for c in columns):
        return None
    return np.concatenate([c.null_mask() for c in columns])


def _joined_offsets(columns: Sequence[EntityLists | Paths]) -> Int64s:
    parts, base = [np.zeros(1, np.int64)], 0
    for column in columns:
        parts.append(column.offsets[1:] - column.offsets[0] + base)
        base += int(column.offsets[-1] - column.offsets[0])
    return np.concatenate(parts)


def concatenate(columns: Sequence[Column]) -> Column:
    """One column after the other; columns of different classes become Objects."""
    first = columns[0]
    if len(columns) == 1:
        return first
    kind = type(first)
    if any(type(c) is not kind for c in columns):
        typed = [c for c in columns if not (isinstance(c, Objects) and bool(c.null_mask().all()))]
        if typed and all(type(c) is type(typed[0]) for c in typed) and len(typed) < len(columns):
            return concatenate([c if c in typed else null_like(typed[0], len(c)) for c in columns])
        return Objects(np.concatenate([c.objects() for c in columns]))
    same: Any = columns
    match first:
        case Integers() | Floats() | Booleans():
            return kind(np.concatenate([c.values for c in same]), _joined_nulls(same))  # type: ignore[call-arg,arg-type]
        case Strings() if first.pool is not None and all(c.pool is first.pool for c in same):
            return Strings.of_pool(first.pool, np.concatenate([c.slots for c in same]))
        case FloatLists():
            if any(c.matrix.shape[1] != first.matrix.shape[1] for c in same):
                return Objects(np.concatenate([c.objects() for c in same]))
            return FloatLists(np.concatenate([c.matrix for c in same]), _joined_nulls(same))
        case Strings() | Objects():
            return kind(np.concatenate([c.values for c in same]))  # type: ignore[call-arg]
        case Nodes() | Relationships():
            return kind(np.concatenate([c.positions for c in same]))  # type: ignore[call-arg]
        case EntityLists():
            if any(c.of_nodes != first.of_nodes for c in same):
                return Objects(np.concatenate([c.objects() for c in same]))
            positions = np.concatenate([c.positions[c.offsets[0] : c.offsets[-1]] for c in same])
            return EntityLists(_joined_offsets(same), positions, first.of_nodes, _joined_nulls(same))
        case Paths():
            cut = [slice(int(c.offsets[0]), int(c.offsets[-1])) for c in same]
            return Paths(
                np.concatenate([c.starts for c in same]),
                _joined_offsets(same),
                np.concatenate([c.relationships[s] for c, s in zip(same, cut, strict=True)]),
                np.concatenate([c.nodes[s] for c, s in zip(same, cut, strict=True)]),
            )


def with_nulls_at(column: Column, rows: Bools) -> Column:
    """The same column with null in the marked rows."""
    match column:
        case Integers(values=values, nulls=mask):
            return Integers(values, rows if mask is None else mask | rows)
        case Floats(values=values, nulls=mask):
            return Floats(values, rows if mask is None else mask | rows)
        case Booleans(values=values, nulls=mask):
            return Booleans(values, rows if mask is None else mask | rows)
        case Strings(pool=pool, slots=slots) if pool is not None and slots is not None:
            return Strings.of_pool(pool, np.where(rows, -1, slots))
        case Strings():
            return Strings(_objects_with_nulls(column.values, rows))
        case FloatLists(matrix=matrix, nulls=mask):
            return FloatLists(matrix, rows if mask is None else mask | rows)
        case Objects():
            return Objects(_objects_with_nulls(column.values, rows))
        case Nodes(positions=positions):
            return Nodes(np.where(rows, -1, positions))
        case Relationships(positions=positions):
            return Relationships(np.where(rows, -1, positions))
        case EntityLists() | Paths():  # a null row has no items
            null_row = len(column)
            return concatenate([column, null_like(column, 1)]).take(np.where(rows, null_row, np.arange(null_row)))


def _objects_with_nulls(values: ObjectArray, rows: Bools) -> ObjectArray:
    values = values.copy()
    values[rows] = None
    return values


def null_like(column: Column, count: int) -> Column:
    """Nulls in a column of the same class, so that columns of an outer join stay typed."""
    every = np.ones(count, np.bool_)
    match column:
        case Integers():
            return Integers(np.zeros(count, np.int64), every)
        case Floats():
            return Floats(np.zeros(count, np.float64), every)
        case Booleans():
            return Booleans(np.zeros(count, np.bool_), every)
        case Strings():
            return Strings(np.full(count, None, dtype=object))
        case Nodes():
            return Nodes(np.full(count, -1, np.int64))
        case Relationships():
            return Relationships(np.full(count, -1, np.int64))
        case EntityLists(of_nodes=of_nodes):
            empty = np.zeros(0, np.int64)
            return EntityLists(np.zeros(count + 1, np.int64), empty, of_nodes, every)
        case Paths():
            empty = np.zeros(0, np.int64)
            return Paths(np.full(count, -1, np.int64), np.zeros(count + 1, np.int64), empty, empty)
        case FloatLists(matrix=matrix):
            return FloatLists(np.zeros((count, matrix.shape[1]), matrix.dtype), every)
        case Objects():
            return nulls(count)
