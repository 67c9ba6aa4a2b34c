"""Sets of types: what the semantic check knows about the value of an expression.

A `TypeSpec` is the set of types that a value may have: those of `simple`, and lists of what `elements` holds. `ALL`
holds every type; it is the spec of an element of a mixed list. Two specs without a common type contradict each other,
which is all that the check objects to.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from hoplite.lazy_dataclass import dataclass
from hoplite.planner.types import (
    ANY,
    BOOLEAN,
    DATE,
    DATE_TIME,
    DURATION,
    FLOAT,
    INTEGER,
    LOCAL_DATE_TIME,
    LOCAL_TIME,
    MAP,
    NODE,
    NUMBER,
    PATH,
    POINT,
    RELATIONSHIP,
    STRING,
    TIME,
    CypherType,
)

# In the order in which messages list them; lists come last.
_SIMPLE = (
    ANY, BOOLEAN, FLOAT, INTEGER, MAP, NODE, NUMBER, PATH, RELATIONSHIP, POINT, STRING,
    DURATION, DATE, TIME, LOCAL_TIME, LOCAL_DATE_TIME, DATE_TIME,
)  # fmt: skip
_NAMES = tuple(t.name for t in _SIMPLE)
_EVERY_NAME = frozenset(_NAMES)
_SUBTYPES = {NUMBER.name: (INTEGER.name, FLOAT.name), MAP.name: (NODE.name, RELATIONSHIP.name)}
_PARENT = {child: parent for parent, children in _SUBTYPES.items() for child in children}


@dataclass(frozen=True, slots=True)
class TypeSpec:
    """A set of types. `elements` is the spec of the elements of its lists; None if it has no list."""

    simple: frozenset[str]
    elements: TypeSpec | None = None
    everything: bool = False

    def __or__(self, other: TypeSpec) -> TypeSpec:
        if self.everything or other.everything:
            return ALL
        return TypeSpec(self.simple | other.simple, _either(self.elements, other.elements))

    def __and__(self, other: TypeSpec) -> TypeSpec:
        if self.everything or ANY.name in self.simple:  # a value of type Any may turn out to be of any type
            return other
        if other.everything or ANY.name in other.simple:
            return self
        elements = None
        if self.elements is not None and other.elements is not None:
            elements = (self.elements & other.elements) or None
        return TypeSpec(self.simple & other.simple, elements)

    def __bool__(self) -> bool:
        return self.everything or bool(self.simple) or self.elements is not None

    def __str__(self) -> str:
        """The types as messages list them: `Float, Integer or Duration`."""
        names = self._names()
        return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"

    def _names(self) -> list[str]:
        if self.everything:
            return ["T"]
        names = [name for name in _NAMES if name in self.simple]
        if self.elements is not None:
            names += [f"List<{name}>" for name in self.elements._names()]
        return names

    @property
    def lists(self) -> TypeSpec:
        """The lists among these types."""
        if self.everything:
            return LISTS
        return TypeSpec(frozenset(), self.elements)

    @property
    def unwrapped(self) -> TypeSpec:
        """The types of the elements of the lists among these types; none without lists."""
        if self.everything:
            return ALL
        return NONE if self.elements is None else self.elements

    @property
    def only_lists(self) -> bool:
        """Whether the value, if there is one, must be a list."""
        return not self.everything and not self.simple and self.elements is not None

    @property
    def coercions(self) -> TypeSpec:
        """The types that values of these types are coerced to where needed."""
        if self.everything:
            return ALL
        simple = {FLOAT.name} if INTEGER.name in self.simple else set()
        if self.elements is not None:
            simple.add(BOOLEAN.name)
        elements = None
        if self.elements is not None and not self.elements.everything:
            elements = self.elements.coercions or None
        return TypeSpec(frozenset(simple), elements)

    def within(self, expected: TypeSpec) -> TypeSpec:
        """The types that remain where one of `expected` is required; none if they contradict each other."""
        return (self & expected) or (self.coercions & expected)

    def least_upper_bounds(self, other: TypeSpec) -> TypeSpec:
        """The smallest common types of any value of these types with any value of the others."""
        if self.everything or other.everything:
            return ALL
        if not self or not other:
            return self | other
        simple = {_common_name(a, b) for a in self.simple for b in other.simple}
        if (self.elements is not None and other.simple) or (other.elements is not None and self.simple):
            simple.add(ANY.name)
        elements = None
        if self.elements is not None and other.elements is not None:
            elements = self.elements.least_upper_bounds(other.elements)
        return TypeSpec(frozenset(simple), elements)

    @property
    def covariant(self) -> TypeSpec:
        """These types and all their subtypes."""
        if self.everything or ANY.name in self.simple:
            return ALL
        simple = set(self.simple)
        for name in self.simple:
            simple.update(_SUBTYPES.get(name, ()))
        return TypeSpec(frozenset(simple), None if self.elements is None else self.elements.covariant)


def _either(left: TypeSpec | None, right: TypeSpec | None) -> TypeSpec | None:
    if left is None:
        return right
    return left if right is None else left | right


def _common_name(a: str, b: str) -> str:
    if a == b:
        return a
    if _PARENT.get(a) == b or (a in _PARENT and _PARENT.get(a) == _PARENT.get(b)):
        return _PARENT[a]
    return a if _PARENT.get(b) == a else ANY.name


ALL = TypeSpec(_EVERY_NAME, None, True)
NONE = TypeSpec(frozenset())
LISTS = TypeSpec(frozenset(), ALL)


@lru_cache(4096)
def exactly(*types: CypherType) -> TypeSpec:
    """The set of these types alone."""
    spec = NONE
    for type in types:
        if type.inner is not None:
            spec |= list_spec(exactly(type.inner))
        else:
            spec |= TypeSpec(frozenset({type.name}))
    return spec


def any_of(types: Iterable[CypherType]) -> TypeSpec:
    """The set of these types and their subtypes; everything where ANY is one of them."""
    return _any_of(*types)


@lru_cache(4096)
def _any_of(*types: CypherType) -> TypeSpec:
    return exactly(*types).covariant


def list_spec(elements: TypeSpec) -> TypeSpec:
    """Lists with elements of this spec."""
    return TypeSpec(frozenset(), elements)
