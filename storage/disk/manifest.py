"""The manifest: one JSON file that says which snapshot is in force, what is in it, and where its files are.

It is replaced as a whole, by renaming a new one over it. Its last member is the CRC-32 of everything before that
member, so that damage is never mistaken for content. The snapshot's folder has a copy, for `recover`: without a
manifest, the names of what is in the files are lost.
"""

from __future__ import annotations

import json
import re
import zlib
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.disk.blocks import BLOCK_BYTES, DTYPES, ArrayFile, StoredArray
from hoplite.storage.disk.files import Files, write_file
from hoplite.storage.disk.problems import cannot_open, damaged
from hoplite.storage.schema import Constraint, ConstraintKind, Entity, Index, IndexKind, Schema
from hoplite.storage.tokens import Tokens

FORMAT = "hoplite"
VERSION = 3
READABLE = (1, 2, 3)
"""Formats 1 and 2 had fewer types of arrays and columns, all of which are still read."""
MANIFEST = "manifest.json"
_TEMPORARY = "manifest.json.new"
_CHECKSUM = re.compile(rb',\n "checksum": "([0-9a-f]{8})"\n\}\n\Z')


@dataclass(frozen=True, slots=True)
class StoredKey:
    """Where the values of one property key are."""

    key: str
    file: str
    kind: str
    is_sparse: bool


@dataclass(frozen=True, slots=True)
class StoredIndex:
    """Where an index is; `code` is the number of its label or type, `distinct` its number of different values."""

    entity: Entity
    code: int
    key: str
    file: str
    kind: str
    distinct: int


@dataclass(frozen=True, slots=True)
class StoredSearch:
    """Where a vector or full-text index is; `index` is its id in the schema."""

    index: int
    file: str


@dataclass(frozen=True, slots=True)
class Statistics:
    """Counts for the planner, so that it need not read the graph. Patterns are (set of start labels, type, set of end
    labels, how many)."""

    label_sets: tuple[int, ...]
    types: tuple[int, ...]
    patterns: tuple[tuple[int, int, int, int], ...]
    keys_by_label_set: Mapping[int, list[str]]
    keys_by_type: Mapping[int, list[str]]


@dataclass(frozen=True, slots=True)
class Names:
    """The names of the database by their numbers."""

    labels: tuple[str, ...]
    types: tuple[str, ...]
    keys: tuple[str, ...]
    label_sets: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Manifest:
    """What a database on disk consists of; docs/FORMAT.md describes it field by field."""

    uuid: str
    snapshot: int
    commits: int
    partitions: int
    nodes: int
    relationships: int
    next_node_id: int
    next_relationship_id: int
    first_relationships: tuple[int, ...]
    names: Names
    schema: Schema
    statistics: Statistics
    node_keys: tuple[StoredKey, ...]
    relationship_keys: tuple[StoredKey, ...]
    indexes: tuple[StoredIndex, ...]
    files: tuple[ArrayFile, ...]
    checksums_crc32: int
    version: int = VERSION
    has_copy: bool = True
    searches: tuple[StoredSearch, ...] = ()

    @property
    def folder(self) -> str:
        """The name of the snapshot's folder."""
        return snapshot_name(self.snapshot)

    @property
    def log(self) -> str:
        """The name of the log that follows the snapshot."""
        return log_name(self.snapshot)

    @property
    def size(self) -> int:
        """The bytes of the snapshot's files."""
        return sum(file.size for file in self.files)


def snapshot_name(number: int) -> str:
    """The name of a snapshot's folder."""
    return f"snapshot-{number}"


def log_name(number: int) -> str:
    """The name of the log that follows a snapshot."""
    return f"wal-{number}.log"


# --- writing ---


def write_manifest(files: Files, root: Path, manifest: Manifest) -> None:
    """Replace the manifest. If this fails, the old one is still in force, unless the error is an `UncertainRename`."""
    write_file(files, root / _TEMPORARY, manifest_text(manifest))
    files.rename(root / _TEMPORARY, root / MANIFEST)
    try:
        files.sync_folder(root)
    except OSError as error:
        raise UncertainRename(error) from error


class UncertainRename(Exception):
    """The new manifest is in place, but may not be after a power failure."""

    def __init__(self, error: OSError) -> None:
        super().__init__(str(error))
        self.error = error


def manifest_text(manifest: Manifest) -> bytes:
    """The content of the file."""
    statistics = manifest.statistics
    content = {
        "format": FORMAT,
        "version": manifest.version,
        "uuid": manifest.uuid,
        "snapshot": manifest.snapshot,
        "commits": manifest.commits,
        "partitions": manifest.partitions,
        "nodes": manifest.nodes,
        "relationships": manifest.relationships,
        "next_node_id": manifest.next_node_id,
        "next_relationship_id": manifest.next_relationship_id,
        "first_relationships": manifest.first_relationships,
        "names": asdict(manifest.names),
        "schema": schema_content(manifest.schema),
        "statistics": {
            "label_sets": statistics.label_sets,
            "types": statistics.types,
            "patterns": statistics.patterns,
            "keys_by_label_set": sorted(statistics.keys_by_label_set.items()),
            "keys_by_type": sorted(statistics.keys_by_type.items()),
        },
        "node_keys": [[key.key, key.file, key.kind, key.is_sparse] for key in manifest.node_keys],
        "relationship_keys": [[key.key, key.file, key.kind, key.is_sparse] for key in manifest.relationship_keys],
        "indexes": [
            [index.entity.value, index.code, index.key, index.file, index.kind, index.distinct]
            for index in manifest.indexes
        ],
        "searches": [[search.index, search.file] for search in manifest.searches],
        "block_bytes": BLOCK_BYTES,
        "checksums_crc32": manifest.checksums_crc32,
        "copy": manifest.has_copy,
        "files": [
            {
                "name": file.name,
                "bytes": file.size,
                "first_block": file.first_block,
                "arrays": {
                    name: [array.dtype, array.count, array.offset] for name, array in file.arrays.items()
                },
            }
            for file in manifest.files
        ],
    }  # fmt: skip
    lines = ",\n".join(f" {json.dumps(name)}: {json.dumps(part)}" for name, part in content.items())
    body = f"{{\n{lines}".encode()
    return body + f',\n "checksum": "{zlib.crc32(body):08x}"\n}}\n'.encode()


def schema_content(schema: Schema) -> dict[str, Any]:
    """A schema in the form that JSON and the log hold."""
    return {
        "next_id": schema.next_id,
        "version": schema.version,
        "indexes": [
            [
                index.id,
                index.name,
                index.kind.value,
                index.entity.value,
                list(index.labels),
                list(index.keys),
                _plain(index.config),
                index.owning_constraint,
            ]
            for index in schema.indexes
        ],
        "constraints": [
            [rule.id, rule.name, rule.kind.value, rule.entity.value, list(rule.labels), list(rule.keys),
             rule.owned_index]
            for rule in schema.constraints
        ],
    }  # fmt: skip


def _plain(value: Any) -> Any:
    """Mappings and sequences as dicts and lists."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list | tuple) else value


# --- reading ---


def read_manifest(root: Path) -> Manifest | None:
    """The manifest of a folder, if there is one."""
    return manifest_at(root / MANIFEST)


def manifest_at(path: Path) -> Manifest | None:
    """The manifest in a file, if there is one."""
    try:
        text = path.read_bytes()
    except FileNotFoundError:
        return None
    end = _CHECKSUM.search(text)
    sound = end is not None and zlib.crc32(text[: end.start()]) == int(end[1], 16)
    try:
        content = json.loads(text)
        version = content["version"] if content["format"] == FORMAT else None
    except (ValueError, KeyError, TypeError):
        version = None
    if isinstance(version, int) and version > VERSION:
        raise cannot_open(
            path.parent,
            f"the database is in format {version}, and this version of Hoplite reads formats up to {VERSION}",
        )
    if not sound:
        raise damaged(path, "its checksum does not match")
    return _checked(path, lambda: _manifest(content))


def _checked(path: Path, read: Callable[[], Manifest]) -> Manifest:
    try:
        return read()
    except (KeyError, TypeError, ValueError, IndexError) as error:
        raise damaged(path, f"its content is invalid ({type(error).__name__}: {error})") from error


def _manifest(content: dict[str, Any]) -> Manifest:
    if content["format"] != FORMAT or content["version"] not in READABLE or content["block_bytes"] != BLOCK_BYTES:
        raise ValueError("another format")
    names, statistics = content["names"], content["statistics"]
    return Manifest(
        str(content["uuid"]),
        _count(content["snapshot"]),
        _count(content["commits"]),
        _count(content["partitions"]),
        _count(content["nodes"]),
        _count(content["relationships"]),
        _count(content["next_node_id"]),
        _count(content["next_relationship_id"]),
        tuple(map(_count, content["first_relationships"])),
        Names(
            tuple(map(str, names["labels"])),
            tuple(map(str, names["types"])),
            tuple(map(str, names["keys"])),
            tuple(tuple(map(_count, labels)) for labels in names["label_sets"]),
        ),
        read_schema(content["schema"]),
        Statistics(
            tuple(map(_count, statistics["label_sets"])),
            tuple(map(_count, statistics["types"])),
            tuple((_count(a), _count(b), _count(c), _count(d)) for a, b, c, d in statistics["patterns"]),
            {_count(code): list(map(str, keys)) for code, keys in statistics["keys_by_label_set"]},
            {_count(code): list(map(str, keys)) for code, keys in statistics["keys_by_type"]},
        ),
        tuple(map(_stored_key, content["node_keys"])),
        tuple(map(_stored_key, content["relationship_keys"])),
        tuple(map(_stored_index, content["indexes"])),
        tuple(map(_array_file, content["files"])),
        _count(content["checksums_crc32"]),
        content["version"],
        bool(content.get("copy", False)),
        tuple(StoredSearch(_count(index), _file_name(file)) for index, file in content.get("searches", ())),
    )


def _count(value: Any) -> int:
    if not isinstance(value, int) or value < 0:
        raise ValueError(f"{value!r} is not a count")
    return value


def _stored_key(parts: list[Any]) -> StoredKey:
    key, file, kind, is_sparse = parts
    return StoredKey(str(key), _file_name(file), str(kind), bool(is_sparse))


def _stored_index(parts: list[Any]) -> StoredIndex:
    entity, code, key, file, kind, distinct = parts
    return StoredIndex(Entity(entity), _count(code), str(key), _file_name(file), str(kind), _count(distinct))


def _file_name(name: Any) -> str:
    """A file name without a path, so that it cannot point outside the folder."""
    if not isinstance(name, str) or not re.fullmatch(r"[a-z0-9.-]+", name) or name.startswith("."):
        raise ValueError(f"{name!r} is not the name of a file")
    return name


def _array_file(parts: dict[str, Any]) -> ArrayFile:
    size = _count(parts["bytes"])
    arrays = {}
    for name, (dtype, count, offset) in parts["arrays"].items():
        if dtype not in DTYPES:
            raise ValueError(f"{dtype!r} is not the type of an array")
        arrays[str(name)] = array = StoredArray(dtype, _count(count), _count(offset))
        if array.offset + array.size > size:
            raise ValueError(f"{name} ends beyond its file")
    return ArrayFile(_file_name(parts["name"]), size, _count(parts["first_block"]), arrays)


def read_schema(content: dict[str, Any]) -> Schema:
    """The schema that `schema_content` wrote."""
    indexes = tuple(
        Index(_count(number), str(name), IndexKind(kind), Entity(entity), tuple(labels), tuple(keys), config, owner)
        for number, name, kind, entity, labels, keys, config, owner in content["indexes"]
    )
    constraints = tuple(
        Constraint(
            _count(number), str(name), ConstraintKind(kind), Entity(entity), tuple(labels), tuple(keys), _count(owned)
        )
        for number, name, kind, entity, labels, keys, owned in content["constraints"]
    )
    return Schema(indexes, constraints, _count(content["next_id"]), _count(content["version"]))


# --- names ---


def names_of(tokens: Tokens) -> Names:
    """All names of a database."""
    sets = tuple(tokens.labels_of(code) for code in range(tokens.label_set_count))
    # The labels after the sets: names may be added meanwhile, and no set may contain a label that is not listed.
    return Names(tokens.labels.all(), tokens.types.all(), tokens.keys.all(), sets)


def tokens_of(names: Names) -> Tokens:
    """The names as the graph holds them."""
    tokens = Tokens()
    for label in names.labels:
        tokens.labels.intern(label)
    for type in names.types:
        tokens.types.intern(type)
    for key in names.keys:
        tokens.keys.intern(key)
    for labels in names.label_sets:
        tokens.label_set(labels)
    if names_of(tokens) != names:
        raise ValueError("names occur twice")
    return tokens
