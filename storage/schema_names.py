"""The default names of indexes and constraints, which are Neo4j's.

Neo4j hashes what the rule covers with an incremental XXH64 over the Java hash codes of the names.
"""

from __future__ import annotations

from hoplite.storage.schema import Entity, IndexKind

_MASK = (1 << 64) - 1
_PRIME_1 = 0x9E3779B185EBCA87
_PRIME_2 = 0xC2B2AE3D27D4EB4F
_PRIME_3 = 0x165667B19E3779F9
_PRIME_4 = 0x85EBCA77C2B2AE63
_PRIME_5 = 0x27D4EB2F165667C5
_TRUE, _FALSE = 1231, 1237  # java.lang.Boolean.hashCode

_TYPE_NUMBERS = {
    IndexKind.FULLTEXT: 1,
    IndexKind.LOOKUP: 2,
    IndexKind.TEXT: 3,
    IndexKind.RANGE: 4,
    IndexKind.POINT: 5,
    IndexKind.VECTOR: 6,
}
_ALL_TOKENS, _ANY_TOKEN, _NO_PROPERTIES = 0, 1, 2
_UNIQUE = 0


def index_name(kind: IndexKind, entity: Entity, labels: tuple[str, ...], keys: tuple[str, ...]) -> str:
    """For example `index_5c49f43e`."""
    match kind:
        case IndexKind.LOOKUP:
            schema_type = _NO_PROPERTIES
        case IndexKind.FULLTEXT:
            schema_type = _ANY_TOKEN
        case _:
            schema_type = _ALL_TOKENS
    state = _covered(_FALSE, entity, schema_type, labels, keys)
    return f"index_{_finished(_update(_update(state, _TYPE_NUMBERS[kind]), _FALSE)):x}"


def constraint_name(entity: Entity, labels: tuple[str, ...], keys: tuple[str, ...]) -> str:
    """The name of a uniqueness constraint, for example `constraint_6514a1a3`."""
    state = _covered(_TRUE, entity, _ALL_TOKENS, labels, keys)
    return f"constraint_{_finished(_update(_update(state, _UNIQUE), _TYPE_NUMBERS[IndexKind.RANGE])):x}"


def _covered(seed: int, entity: Entity, schema_type: int, labels: tuple[str, ...], keys: tuple[str, ...]) -> int:
    state = _update((seed + _PRIME_5) & _MASK, 0 if entity is Entity.NODE else 1)
    state = _update(state, schema_type)
    for names in (labels, keys):
        state = _update(state, len(names))
        for name in names:
            state = _update(state, _java_hash(name))
    return state


def _update(state: int, block: int) -> int:
    block = _rotated(block * _PRIME_2 & _MASK, 31) * _PRIME_1 & _MASK
    return (_rotated((state + 8 & _MASK) ^ block, 27) * _PRIME_1 + _PRIME_4) & _MASK


def _finished(state: int) -> int:
    state = (state ^ state >> 33) * _PRIME_2 & _MASK
    state = (state ^ state >> 29) * _PRIME_3 & _MASK
    state ^= state >> 32
    return (state >> 32 ^ state) & 0xFFFFFFFF


def _rotated(value: int, bits: int) -> int:
    return (value << bits | value >> 64 - bits) & _MASK


def _java_hash(text: str) -> int:
    """java.lang.String.hashCode: over UTF-16 units, as a signed 32-bit integer."""
    units = text.encode("utf-16-be")
    hashed = 0
    for at in range(0, len(units), 2):
        hashed = (31 * hashed + (units[at] << 8 | units[at + 1])) & 0xFFFFFFFF
    return hashed - (1 << 32) if hashed >> 31 else hashed
