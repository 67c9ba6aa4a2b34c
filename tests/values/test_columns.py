"""Columns: one way to put nulls into them, and none to change what is in them."""

from __future__ import annotations

import numpy as np
import pytest

from hoplite.values.columns import (
    Booleans,
    Column,
    EntityLists,
    Floats,
    Integers,
    Nodes,
    Objects,
    Paths,
    Relationships,
    Strings,
    object_array,
    with_nulls_at,
)
from hoplite.values.texts import TextPool


def _ids(*ids: int) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(ids, np.int64)


def _texts() -> Strings:
    return Strings(object_array(["a", None, "c"], 3))


COLUMNS: dict[str, Column] = {
    "integers": Integers(_ids(1, 2, 3)),
    "integers and null": Integers(_ids(1, 2, 3), np.array([False, True, False])),
    "floats": Floats(np.array([1.0, 2.0, 3.0])),
    "booleans": Booleans(np.array([True, False, True])),
    "texts": _texts(),
    "texts of a pool": _texts().look_up(_ids(2, 0, -1)),
    "texts taken from a pool": _texts().look_up(_ids(2, 0, -1)).take(_ids(2, 1, 0)),
    "nodes": Nodes(_ids(4, -1, 6)),
    "relationships": Relationships(_ids(4, -1, 6)),
    "lists of nodes": EntityLists(_ids(0, 2, 2, 3), _ids(7, 8, 9), True),
    "paths": Paths(_ids(1, 2, 3), _ids(0, 1, 1, 3), _ids(5, 6, 7), _ids(2, 4, 5)),
    "objects": Objects(object_array([[1], None, "c"], 3)),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_rows_made_null_are_null_in_every_way_to_read_them(name: str) -> None:
    column = COLUMNS[name]
    before = column.objects().tolist()
    made = with_nulls_at(column, np.array([True, False, False]))
    wanted = [None, *before[1:]]
    assert type(made) is type(column)
    assert made.objects().tolist() == wanted
    assert made.null_mask().tolist() == [value is None for value in wanted]
    assert made.take(_ids(2, 0)).objects().tolist() == [wanted[2], None]
    assert made.take(_ids(2, 0)).null_mask().tolist() == [wanted[2] is None, True]
    assert column.objects().tolist() == before


def test_the_values_of_a_column_cannot_be_changed() -> None:
    texts = object_array(["a", None], 2)
    pooled = Strings(object_array(["a", None], 2)).look_up(_ids(0, 1, -1))
    for values in (
        Strings(texts).values,
        texts,
        pooled.values,
        pooled.take(_ids(0)).objects(),
        Objects(object_array([1, "a"], 2)).values,
        TextPool(object_array(["a"], 1)).values,
    ):
        with pytest.raises(ValueError, match="read-only"):
            values[0] = None
