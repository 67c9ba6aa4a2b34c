"""2,000 random write programs with every run of the tests; `make folds` runs 20,000 others."""

from __future__ import annotations

import pytest

from tests.folds.run import FAMILY, run_family

FAMILIES = 100
PARTS = 4


@pytest.mark.parametrize("part", range(PARTS))
def test_a_graph_says_the_same_however_it_is_held(part: int) -> None:
    programs = 0
    for number in range(part, FAMILIES, PARTS):
        findings = run_family(number)
        assert not findings, "\n".join(findings)
        programs += FAMILY
    assert programs == 2000 // PARTS
