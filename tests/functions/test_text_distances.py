"""Distances of texts: one pair by integers, many by arrays, both as the tables that define them."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

import hoplite
from hoplite.engine.functions import text_distances
from hoplite.values.columns import Strings, object_array

_texts = st.text(st.sampled_from("abcä\x00"), max_size=70)


def _levenshtein(first: str, second: str) -> int:
    previous = list(range(len(second) + 1))
    for row, here in enumerate(first, 1):
        current = [row]
        for column, there in enumerate(second, 1):
            current.append(min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (here != there)))
        previous = current
    return previous[-1]


def _matches(first: str, second: str) -> tuple[list[str], list[str]]:
    """The characters that Jaro's measure finds in both, in the order of each."""
    window = max(max(len(first), len(second)) // 2 - 1, 0)
    free = [True] * len(second)
    found = []
    for place, character in enumerate(first):
        for other in range(max(0, place - window), min(len(second), place + window + 1)):
            if free[other] and second[other] == character:
                free[other] = False
                found.append(character)
                break
    return found, [character for character, is_free in zip(second, free, strict=True) if not is_free]


def _jaro_winkler(first: str, second: str) -> float:
    if not first and not second:
        return 0.0
    matches, others = _matches(first, second)
    if not matches:
        return 1.0
    count, swaps = len(matches), sum(a != b for a, b in zip(matches, others, strict=True)) / 2
    jaro = (count / len(first) + count / len(second) + (count - swaps) / count) / 3
    prefix = 0
    while prefix < min(4, len(first), len(second)) and first[prefix] == second[prefix]:
        prefix += 1
    return 1.0 - (jaro + prefix * 0.1 * (1 - jaro) if jaro >= 0.7 else jaro)


@given(_texts, _texts)
def test_one_pair(first: str, second: str) -> None:
    assert text_distances.levenshtein(first, second) == _levenshtein(first, second)
    assert text_distances.jaro_winkler_distance(first, second) == _jaro_winkler(first, second)


@given(
    st.lists(st.tuples(st.none() | _texts.map(lambda text: text[:64]), _texts.map(lambda text: text[:64])), min_size=1)
)
def test_many_pairs(pairs: list[tuple[str | None, str]]) -> None:
    pairs = pairs * 64
    left = Strings(object_array([first for first, _ in pairs], len(pairs)))
    right = Strings(object_array([second for _, second in pairs], len(pairs)))
    for measure, one in (
        (text_distances.levenshtein_of_all, _levenshtein),
        (text_distances.jaro_winkler_of_all, _jaro_winkler),
    ):
        column = text_distances.of_columns(measure, left, right)
        expected = [None if first is None else one(first, second) for first, second in pairs]
        if column is None:
            assert set(expected) == {None}
        else:
            assert column.objects().tolist() == expected


def test_a_long_text_among_them_is_compared_all_the_same() -> None:
    names = [f"name {number}" for number in range(99)] + ["x" * 100]
    with hoplite.open() as db:
        found = db.run("UNWIND $n AS n RETURN apoc.text.distance(n, 'name 7') AS d", n=names).value()
    assert found == [_levenshtein(name, "name 7") for name in names]
    assert np.array(found).argmin() == 7
