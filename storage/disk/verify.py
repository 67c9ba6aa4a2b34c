"""A whole database read and checked: every checksum, every record of the log, and that the arrays fit each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.errors import CypherError
from hoplite.storage.base import Base
from hoplite.storage.delta import Delta
from hoplite.storage.disk.cache import Cache
from hoplite.storage.disk.changes import apply
from hoplite.storage.disk.codec import BadEncoding
from hoplite.storage.disk.indexes import IndexPlace, StoredPoints, index_at
from hoplite.storage.disk.log import LogReader
from hoplite.storage.disk.manifest import MANIFEST, Manifest, read_manifest
from hoplite.storage.disk.stored import StoredBase, open_snapshot
from hoplite.storage.incidence import Incidence
from hoplite.storage.schema import Entity
from hoplite.storage.search.kinds import search_index
from hoplite.storage.value_index import ValueIndex
from hoplite.values.columns import Floats, Integers

_BUDGET = 256 * 2**20


def problems_of(root: Path, progress: Callable[[int, int | None], None] | None = None) -> list[str]:
    """What is wrong with a database, a sentence each. Progress is in bytes."""
    try:
        manifest = read_manifest(root)
        if manifest is None:
            return [f"{root / MANIFEST}: it is missing"]
    except CypherError as error:
        return [error.message]
    except (OSError, ValueError) as error:
        return [f"{root}: {error}"]
    problems: list[str] = []
    _collect(problems, root, lambda: _read_snapshot(root, manifest, progress))
    is_sound = not problems
    _collect(problems, root, lambda: _compare_copy(root, manifest))
    _collect(problems, root, lambda: _read_log(root, manifest, is_sound))
    return problems


def _read_snapshot(root: Path, manifest: Manifest, progress: Callable[[int, int | None], None] | None) -> list[str]:
    base = open_snapshot(root / manifest.folder, manifest, Cache(_BUDGET))
    return _read_blocks(base, manifest, progress) or list(_misfits(base, manifest, root / manifest.folder))


def _collect(problems: list[str], root: Path, check: Callable[[], list[str]]) -> None:
    try:
        problems += check()
    except CypherError as error:
        problems.append(error.message)
    except (OSError, BadEncoding, KeyError, ValueError, IndexError) as error:
        problems.append(f"{root}: {error}")


def _compare_copy(root: Path, manifest: Manifest) -> list[str]:
    copy = root / manifest.folder / MANIFEST
    if not manifest.has_copy:
        return []
    if not copy.exists():
        return [f"{copy}: it is missing"]
    if copy.read_bytes() != (root / MANIFEST).read_bytes():
        return [f"{copy}: it is not a copy of the manifest"]
    return []


def _read_blocks(base: StoredBase, manifest: Manifest, progress: Callable[[int, int | None], None] | None) -> list[str]:
    problems = []
    done = 0
    for file in manifest.files:
        try:
            base.reader.verify_file(file.name)
        except CypherError as error:
            problems.append(error.message)
        done += file.size
        if progress is not None:
            progress(done, manifest.size)
    return problems


def _misfits(base: StoredBase, manifest: Manifest, folder: Path) -> Iterator[str]:
    """Where arrays contradict each other, which damage to single bytes does not cause."""
    if len(base.node_labels) != base.node_count or not _within(base.node_labels, base.tokens.label_set_count):
        yield f"{folder}: not every node has one known set of labels"
    totals = [0, 0]
    for partition in range(len(base.outgoing)):
        for number, side in enumerate((base.outgoing, base.incoming)):
            incidence = side[partition]
            totals[number] += len(incidence.types)
            if not _is_sound(incidence, base):
                yield f"{folder}: the arrays of partition {partition} do not fit each other"
    if totals != [base.relationship_count] * 2:
        yield f"{folder}: the partitions have {totals} relationships, and there are {base.relationship_count}"
    for ids, positions in ((base.node_ids, base.node_of_id), (base.relationship_ids, base.relationship_of_id)):
        if ids is not None and (positions is None or bool((positions[ids] != np.arange(len(ids))).any())):
            yield f"{folder}: public ids do not match positions"
    for columns in (base.node_columns, base.relationship_columns):
        for column in columns.values():
            column.entries()
    for stored in manifest.indexes:
        index = index_at(base, IndexPlace(stored.entity, stored.code, stored.key))
        made_anew = Base.node_index if stored.entity is Entity.NODE else Base.relationship_index
        expected = made_anew(base, stored.code, stored.key)
        if not np.array_equal(np.sort(index.positions), np.sort(expected.positions)) or not _is_ordered(index):
            yield f"{folder / stored.file}: the index does not agree with the data"
    yield from _searches(base, manifest, folder)


def _searches(base: StoredBase, manifest: Manifest, folder: Path) -> Iterator[str]:
    """Vector and full-text indexes that differ from what the data gives."""
    indexes = {index.id: index for index in manifest.schema.indexes}
    for stored in manifest.searches:
        index = indexes.get(stored.index)
        kind = None if index is None else search_index(index.kind)
        if index is None or kind is None:
            yield f"{folder / stored.file}: it does not belong to any index"
            continue
        if not base.search_index(index, kind).agrees_with(kind.of(base, index)):
            yield f"{folder / stored.file}: the index does not agree with the data"


def _is_ordered(index: ValueIndex) -> bool:
    """Whether a stored index is sorted by the values of its entities."""
    match index.column:
        case Integers(values=values) | Floats(values=values):
            return bool(((values[1:] >= values[:-1]) | (values[1:] != values[1:])).all())  # NaN comes last
        case _ if isinstance(index, StoredPoints):
            return index.points.is_ordered
        case texts:
            return all(low <= high for low, high in pairwise(str(text).encode() for text in texts.objects()))


def _is_sound(incidence: Incidence, base: Base) -> bool:
    return (
        incidence.indptr[0] == 0
        and bool((incidence.indptr[1:] >= incidence.indptr[:-1]).all())
        and _within(incidence.neighbours, base.node_count)
        and _within(incidence.types, len(base.tokens.types))
        and (incidence.relationships is None or _within(incidence.relationships, base.relationship_count))
    )


def _within(codes: NDArray[Any], count: int) -> bool:
    return not len(codes) or (int(codes.min()) >= 0 and int(codes.max()) < count)


def _read_log(root: Path, manifest: Manifest, is_sound: bool) -> list[str]:
    """Read the records, and apply them if the snapshot is intact."""
    reader = LogReader(root / manifest.log, manifest.snapshot, manifest.commits, manifest.uuid)
    delta = None
    if is_sound:
        delta = Delta(open_snapshot(root / manifest.folder, manifest, Cache(_BUDGET)), manifest.schema)
    for record in reader.records():
        try:
            if delta is not None:
                apply(record.content, delta)
        except BadEncoding as error:
            return [f"{reader.path}: commit {record.commit}: {error}"]
    return []
