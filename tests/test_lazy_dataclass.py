"""Classes whose methods are made late do what the standard ones do."""

from __future__ import annotations

import copy
import dataclasses
import pickle
from dataclasses import FrozenInstanceError, field
from typing import Any, ClassVar

import pytest

from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class Base:
    """Two fields."""

    name: str
    count: int = 3


@dataclass(frozen=True, slots=True)
class Derived(Base):
    """A field more, and another default."""

    KIND: ClassVar[str] = "derived"
    count: int = 4
    parts: tuple[int, ...] = ()
    hidden: int = field(default=0, compare=False, repr=False)


@dataclass(slots=True)
class Changing:
    """Fields made by functions, one by name only, and one that is computed."""

    items: list[int] = field(default_factory=list)
    label: str = field(default="x", kw_only=True)
    total: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        self.total = sum(self.items)


@dataclass(frozen=True, slots=True, eq=False)
class ByIdentity:
    """Equal to itself alone."""

    name: str


@dataclass(frozen=True)
class WithDict:
    """Has a place for attributes that are not fields."""

    name: str
    count: int = 1


@dataclasses.dataclass(frozen=True, slots=True)
class Standard(Base):
    """A standard one over one of ours."""

    extra: int = 5


@dataclass(frozen=True, slots=True)
class OverStandard(Standard):
    """And one of ours over that."""

    last: int = 6


def test_nothing_is_made_before_it_is_used() -> None:
    @dataclass(frozen=True, slots=True)
    class Fresh:
        name: str

    before = vars(Fresh)["__init__"]
    assert Fresh("a") == Fresh("a")
    assert vars(Fresh)["__init__"] is not before
    assert "name" in vars(Fresh)["__init__"].__code__.co_varnames


def test_fields_are_given_in_order_with_their_defaults() -> None:
    assert repr(Derived("a")) == "Derived(name='a', count=4, parts=())"
    assert repr(OverStandard("a", last=1)) == "OverStandard(name='a', count=3, extra=5, last=1)"
    assert Derived.KIND == "derived"
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'name'"):
        Base()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="unexpected keyword argument 'nme'"):
        Base(nme="a")  # type: ignore[call-arg]


def test_equality_and_hash_go_by_the_fields_that_are_compared() -> None:
    assert Derived("a", hidden=1) == Derived("a", hidden=2)
    assert hash(Derived("a", hidden=1)) == hash(Derived("a", hidden=2))
    assert Derived("a") != Derived("b")
    assert Base("a", 4) != Derived("a")
    assert ByIdentity("a") != ByIdentity("a")
    assert len({ByIdentity("a"), ByIdentity("a"), Base("a"), Base("a")}) == 3
    assert Changing.__hash__ is None


def test_frozen_ones_stay_as_they_are() -> None:
    for made in (Base("a"), WithDict("a")):
        with pytest.raises(FrozenInstanceError):
            made.name = "b"  # type: ignore[misc]
        with pytest.raises(FrozenInstanceError):
            del made.name
    assert not hasattr(Base("a"), "__dict__")
    assert hasattr(WithDict("a"), "__dict__")


def test_what_is_made_by_functions_is_made_each_time() -> None:
    first, second = Changing(), Changing([1, 2], label="y")
    first.items.append(1)
    assert Changing().items == []
    assert (second.total, second.label, first.label) == (3, "y", "x")
    with pytest.raises(TypeError):
        Changing([1], "y")  # type: ignore[call-arg]


def test_a_default_that_can_be_changed_is_refused() -> None:
    with pytest.raises(ValueError, match="default_factory"):

        @dataclass(slots=True)
        class Shared:
            items: list[int] = []  # noqa: RUF012


def test_the_standard_functions_know_the_fields() -> None:
    assert [each.name for each in dataclasses.fields(Derived)] == ["name", "count", "parts", "hidden"]
    assert {each.name: each.type for each in dataclasses.fields(Base("a"))} == {"name": "str", "count": "int"}
    assert [each.name for each in dataclasses.fields(OverStandard)] == ["name", "count", "extra", "last"]
    assert dataclasses.is_dataclass(Base)
    assert dataclasses.is_dataclass(Changing())
    assert dataclasses.asdict(Derived("a", parts=(1,))) == {"name": "a", "count": 4, "parts": (1,), "hidden": 0}
    assert dataclasses.replace(Derived("a"), count=9) == Derived("a", 9)
    assert dataclasses.replace(OverStandard("a"), last=9) == OverStandard("a", last=9)
    assert {each.name: each.kw_only for each in dataclasses.fields(Changing)} == {
        "items": False,
        "label": True,
        "total": False,
    }


def test_patterns_take_them_apart() -> None:
    assert Derived.__match_args__ == ("name", "count", "parts", "hidden")
    assert Changing.__match_args__ == ("items",)
    match Base("a"):
        case Base(name, 3):
            assert name == "a"
        case _:
            pytest.fail("the pattern fits")


@pytest.mark.parametrize(
    "made", [Base("a"), Derived("a", parts=(1,)), WithDict("b", 2), Changing([1]), OverStandard("a")]
)
def test_they_are_copied_and_sent(made: Any) -> None:
    assert copy.copy(made) == copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
