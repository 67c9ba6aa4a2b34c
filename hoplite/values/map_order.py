"""The order in which Neo4j visits the keys of a map.

A map there is a Java HashMap, so that where two entries of a map are wrong, the hashes of their
keys decide which one an error names.
"""

from __future__ import annotations

from collections.abc import Iterable


def visiting_order(keys: Iterable[str]) -> list[str]:
    """`visiting_order(['quarter', 'month', 'year'])` is month, year, quarter."""
    listed = list(keys)
    buckets = 16
    while len(listed) > buckets * 3 // 4:
        buckets *= 2
    return sorted(listed, key=lambda key: _spread_hash(key) % buckets)


def _spread_hash(key: str) -> int:
    """`String.hashCode` over UTF-16, with its upper half folded in."""
    code_units = key.encode("utf-16-be")
    value = 0
    for high, low in zip(code_units[::2], code_units[1::2], strict=True):
        value = (31 * value + (high << 8 | low)) & 0xFFFFFFFF
    return value ^ (value >> 16)
