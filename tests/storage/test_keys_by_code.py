"""Which codes (sets of labels, types) the entities with a value of some key have."""

from __future__ import annotations

import numpy as np
import pytest

from hoplite.storage.property_columns import property_column
from hoplite.values.columns import Column, Integers, Strings, object_array


@pytest.mark.parametrize("kind", ["integers", "texts"])
@pytest.mark.parametrize("share", [1.0, 0.9, 0.4, 0.1])
@pytest.mark.parametrize("codes", [1, 3, 40])
def test_codes_of_holders_are_those_that_are_counted(kind: str, share: float, codes: int) -> None:
    chance = np.random.default_rng(codes)
    total = 20_000
    of_entity = chance.integers(0, codes, total).astype(np.int32)
    holds = chance.random(total) < share
    if share < 1.0:
        holds &= of_entity % 3 != 1  # some codes have none
        rare = np.flatnonzero(of_entity == 1)
        holds[rare[-1:]] = codes == 3  # and one has a single one
    positions = np.flatnonzero(holds)
    values: Column = Integers(chance.integers(0, 9, len(positions)))
    if kind == "texts":
        values = Strings(object_array(map(str, range(len(positions))), len(positions)))
    column = property_column(positions, values, total)
    assert column is not None
    every = np.unique(of_entity).tolist()
    assert column.codes_of_holders(of_entity, every) == np.unique(of_entity[positions]).tolist()
    assert column.holders().tolist() == positions.tolist()
