"""Upper and lower case, compared with Neo4j 5.26 on Java 17."""

# ruff: noqa: RUF001  Greek letters look like Latin ones

from __future__ import annotations

import pytest

from hoplite.engine.functions import letter_case
from hoplite.engine.functions.letter_case import lower_case, upper_case


@pytest.mark.parametrize(
    ("text", "lower"),
    [
        ("ABC", "abc"),
        ("ΟΔΟΣ", "οδος"),
        ("ΑΣ1Α", "ασ1α"),  # a digit does not end a word
        ("ΑΣ-Α", "ασ-α"),
        ("ΑΣ_Α", "ασ_α"),
        ("ΑΣ'Α", "ασ'α"),
        ("ΑΣ:Α", "ας:α"),
        ("ΑΣ..Α", "ας..α"),
        ("ΑΣ Α", "ας α"),
        ("Σ", "σ"),
        ("1Σ", "1σ"),
        ("ʰΣ", "ʰς"),
        ("İ", "i̇"),
        ("ΑΣ漢Α", "ας漢α"),
        ("\u2c2fA", "\u2c2fa"),  # a letter of Unicode 14
    ],
)
def test_lower_case_is_that_of_java(text: str, lower: str) -> None:
    assert lower_case(text) == lower


def test_upper_case_is_that_of_java() -> None:
    assert upper_case("straße ŉ") == "STRASSE ʼN"
    assert upper_case("\u2c5fa") == "\u2c5fA"


def test_long_texts_change_piece_by_piece(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "Straße ǅ ÀÉ Ⱟ x" * 5
    whole = lower_case(text), upper_case(text)
    monkeypatch.setattr(letter_case, "_PIECE", 3)
    assert (lower_case(text), upper_case(text)) == whole
