"""Working arrays come back into the pool clean, and not at all after an error."""

from __future__ import annotations

import pytest

from hoplite.engine.hops.scratch import borrowed, give_back, lend


def test_arrays_that_were_given_back_are_lent_again() -> None:
    first = lend(1000)
    assert first.size >= 1000
    give_back(first)
    assert lend(1000) is first


def test_two_borrowers_at_the_same_time_share_nothing() -> None:
    with borrowed(1000) as one, borrowed(1000) as other:
        assert one is not other


def test_arrays_are_lost_with_an_error() -> None:
    with pytest.raises(ZeroDivisionError), borrowed(3000) as scratch:
        scratch.mark[0] = 1
        raise ZeroDivisionError
    with borrowed(3000) as another:
        assert another is not scratch
        assert not another.mark.any()
