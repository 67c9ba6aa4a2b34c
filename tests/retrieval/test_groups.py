"""Super-relations: groups of relationship types."""

from __future__ import annotations

import pytest

from hoplite.retrieval import SuperRelation, by_meaning, by_prefix, hashed_words, one_each, random_groups

TYPES = ["people.person.born_in", "people.person.parents", "people.deceased.died_in", "film.film.directed_by"]


def test_types_that_begin_alike_are_one_group() -> None:
    assert by_prefix(TYPES) == [
        SuperRelation("film.film", ("film.film.directed_by",)),
        SuperRelation("people.deceased", ("people.deceased.died_in",)),
        SuperRelation("people.person", ("people.person.born_in", "people.person.parents")),
    ]
    assert [group.name for group in by_prefix(TYPES, parts=1)] == ["film", "people"]
    assert by_prefix(["TREATS"]) == [SuperRelation("TREATS", ("TREATS",))]


def test_types_that_mean_alike_are_one_group_named_after_its_centre() -> None:
    types = ["TREATS", "TREATS_SYMPTOM", "IS_TREATED_BY", "HAS_COLOUR", "COLOUR"]
    groups = by_meaning(types, hashed_words(), 2)
    assert sorted(group.types for group in groups) == [
        ("COLOUR", "HAS_COLOUR"),
        ("IS_TREATED_BY", "TREATS", "TREATS_SYMPTOM"),
    ]
    assert groups == by_meaning(types[::-1], hashed_words(), 2)
    assert len(by_meaning(types, hashed_words(), 99)) == 5


def test_random_groups_have_the_sizes_that_are_asked_for() -> None:
    groups = random_groups(TYPES, [1, 3], seed=4)
    assert [len(group.types) for group in groups] == [1, 3]
    assert sorted(name for group in groups for name in group.types) == sorted(TYPES)
    assert groups == random_groups(TYPES[::-1], [1, 3], seed=4)
    with pytest.raises(ValueError, match="add up to 3"):
        random_groups(TYPES, [3])


def test_one_each_goes_either_way() -> None:
    (group,) = one_each(["TREATS"])
    assert (group.out().direction, group.back().direction, group.out().types) == ("out", "in", ("TREATS",))
