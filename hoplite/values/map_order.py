"""The order in which Neo4j visits the keys of a map.

There a map is a Java HashMap, so the hashes of its keys decide which of two wrong entries an error names, and the order
of the entries in an answer.
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

Key = TypeVar("Key")

DEFAULT_CAPACITY = 16
_SMALL_MAP = 4
_HASH_BITS = 32
_HASH_MASK = 0xFFFFFFFF


def visiting_order(keys: Iterable[str], capacity: int = DEFAULT_CAPACITY) -> list[str]:
    """`visiting_order(['quarter', 'month', 'year'])` is month, year, quarter."""
    return order_by_hash(keys, hash_code, capacity)


def order_by_hash(keys: Iterable[Key], hash_of: Callable[[Key], int], capacity: int = DEFAULT_CAPACITY) -> list[Key]:
    """The keys as a HashMap of that initial capacity visits them after they were put into it in this order."""
    listed = list(keys)
    buckets = 1
    while buckets < capacity:
        buckets *= 2
    while len(listed) > buckets * 3 // 4:
        buckets *= 2
    return sorted(listed, key=lambda key: _spread(hash_of(key)) % buckets)


def set_order(values: Iterable[Any], capacity: int = DEFAULT_CAPACITY) -> list[Any]:
    """Distinct values as a HashSet visits them; as given if one is among them whose hash differs from run to run."""
    listed = list(values)
    try:
        return order_by_hash(listed, _value_hash, capacity)
    except TypeError:
        return listed


def capacity_for(count: int) -> int:
    """That of a HashSet made from a collection."""
    return max(int(count / 0.75) + 1, DEFAULT_CAPACITY)


def _value_hash(value: Any) -> int:
    """The hash of a Cypher value in Neo4j, unsigned: of text by code points, of equal numbers the same."""
    result: int = 1
    match value:
        case bool():
            return 1231 if value else 1237
        case float() if not value.is_integer():
            return _folded(struct.unpack(">Q", struct.pack(">d", value))[0])
        case int() | float():
            return _folded(int(value) % 2**64)
        case str():
            for character in value:
                result = (31 * result + ord(character)) & _HASH_MASK
            return result if value else 0
        case list():
            for item in value:
                result = (31 * result + _value_hash(item)) & _HASH_MASK
            return result
        case dict():
            return _HASH_MASK & sum(hash_code(key) ^ _value_hash(item) for key, item in value.items())
        case _:
            raise TypeError(value)


def _folded(bits: int) -> int:
    """`Long.hashCode`"""
    return (bits ^ bits >> 32) & _HASH_MASK


def header_order(names: Iterable[str]) -> list[str]:
    """The names in the order of a Scala map, which a row of LOAD CSV WITH HEADERS is: up to four as given, otherwise by
    five bits of their hashes at a time, names alone in their slot before those that share one."""
    listed = list(names)
    if len(listed) <= _SMALL_MAP:
        return listed
    return _by_bits([(_improved(hash_code(name)), name) for name in listed], 0)


def _by_bits(entries: list[tuple[int, str]], shift: int) -> list[str]:
    if shift >= _HASH_BITS:
        return [name for _, name in entries]
    places: dict[int, list[tuple[int, str]]] = {}
    for entry in entries:
        places.setdefault(entry[0] >> shift & 31, []).append(entry)
    ordered = [places[place] for place in sorted(places)]
    alone = [held[0][1] for held in ordered if len(held) == 1]
    return alone + [name for held in ordered if len(held) > 1 for name in _by_bits(held, shift + 5)]


def _improved(value: int) -> int:
    """`scala.util.hashing.Hashing.improve`."""
    value = (value + ~(value << 9)) & 0xFFFFFFFF
    value ^= value >> 14
    value = (value + (value << 4)) & 0xFFFFFFFF
    return value ^ (value >> 10)


def as_answered(value: Any) -> Any:
    """A map, and the maps in it, in the order in which a procedure's answer has them."""
    match value:
        case Mapping():
            return {key: as_answered(value[key]) for key in visiting_order(value, len(value))}
        case list():
            return [as_answered(item) for item in value]
        case _:
            return value


def hash_code(text: str) -> int:
    """`String.hashCode` over UTF-16, unsigned."""
    code_units = text.encode("utf-16-be", "surrogatepass")
    value = 0
    for high, low in zip(code_units[::2], code_units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value


def _spread(value: int) -> int:
    """The upper half of a hash folded into the lower one, which selects the bucket."""
    value &= 0xFFFFFFFF
    return value ^ (value >> 16)
