"""Names in scope: which variables a place in a query may use, and what is known about their types.

A `Scope` is one layer of names. Expressions such as list comprehensions open a layer above the one around them and may
reuse its names; a clause adds to its layer, where a name can be declared once. The layer of a subquery may read the
names around it but not declare them again; `guard` selects the error message.
"""

from __future__ import annotations

from dataclasses import field
from enum import Enum

from hoplite.lazy_dataclass import dataclass
from hoplite.planner.check.typespec import TypeSpec


class Guard(Enum):
    """Why the names below a layer must not be declared again."""

    OPEN = "may be hidden"
    SUBQUERY = "names around an EXISTS, COUNT or COLLECT"
    IMPORTED = "names that CALL (a, b) takes in"
    READ = "names around a FOREACH, which it may hide until it has read them"


@dataclass(slots=True)
class Scope:
    """One layer of names with their types, over an optional outer layer."""

    names: dict[str, TypeSpec] = field(default_factory=dict)
    outer: Scope | None = None
    guard: Guard = Guard.OPEN
    dropped: frozenset[str] = frozenset()  # by the DISTINCT or the aggregation of its WITH or RETURN

    def has_dropped(self, name: str) -> bool:
        """Whether a variable is out of reach because a WITH or RETURN around here has dropped it."""
        scope: Scope | None = self
        while scope is not None and name not in scope.dropped:
            scope = scope.outer
        return scope is not None

    def find(self, name: str) -> TypeSpec | None:
        """The types of a variable, searched from the inside out; None where it is not defined."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.names:
                return scope.names[name]
            scope = scope.outer
        return None

    def refer(self, name: str) -> TypeSpec | None:
        """The types of a variable that a clause reads. The layer of a subquery or a FOREACH takes on an outer name once
        it has been read: this decides what `RETURN *`, `WITH *` and `CALL (*)` include, and what may still be declared.
        """
        types = self.find(name)
        if types is not None and self.guard is not Guard.OPEN:
            self.names.setdefault(name, types)
        return types

    def importable(self) -> dict[str, TypeSpec]:
        """What `CALL (*)` imports: the names of this layer, and those that the enclosing CALL imported."""
        if self.guard is Guard.IMPORTED and self.outer is not None:
            return {**self.outer.names, **self.names}
        return dict(self.names)

    def guarded(self, name: str) -> Guard:
        """Whether an outer layer forbids declaring the name here."""
        if self.outer is None or self.guard in (Guard.OPEN, Guard.READ) or self.outer.find(name) is None:
            return Guard.OPEN
        return self.guard

    def inner(self, names: dict[str, TypeSpec] | None = None, guard: Guard = Guard.OPEN) -> Scope:
        """A new layer above this one."""
        return Scope({} if names is None else names, self, guard)

    def replaced(self, names: dict[str, TypeSpec]) -> Scope:
        """The scope after a WITH: the projected names replace those of this layer."""
        return Scope(names, self.outer, self.guard)

    def visible(self) -> dict[str, TypeSpec]:
        """All names that can be read here."""
        names = {} if self.outer is None else self.outer.visible()
        names.update(self.names)
        return names
