"""The Cypher types of columns that hold values of one type only."""

from __future__ import annotations

from hoplite.values.columns import Booleans, Floats, Integers, Strings
from hoplite.values.value_types import TYPE_NAMES

COLUMN_TYPES: dict[type, str] = {
    Integers: TYPE_NAMES[int],
    Floats: TYPE_NAMES[float],
    Booleans: TYPE_NAMES[bool],
    Strings: TYPE_NAMES[str],
}
