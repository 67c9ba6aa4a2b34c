"""What logical and physical plans share: the parts of operators that are not operators themselves."""

from __future__ import annotations

from typing import Literal, TypeAlias

from hoplite.grammar.ast import NOWHERE, Direction, Expression, Span
from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True, eq=False)
class PhysicalPlan:
    """What a planned subquery runs: an operator of `planner/physical.py`, which builds on this module."""


@dataclass(frozen=True, slots=True, eq=False)
class PlannedSubquery:
    """`EXISTS {}`, `COUNT {}`, `COLLECT {}`, a pattern expression, a pattern comprehension or a shortest path.

    The plan runs once for a whole batch; its argument has the imported variables and `ROW`. `kind` says what a row's
    value is: whether it has a result (exists), column `value` of its only result (count; single, null without one), or
    the list of column `value` over its results in order (collect). `repeatable`: equal rows have equal values.
    """

    kind: str
    plan: PhysicalPlan
    imports: tuple[str, ...]
    value: str | None = None
    span: Span = NOWHERE
    repeatable: bool = False


Term: TypeAlias = Expression | PlannedSubquery
"""An expression as plans hold it: subqueries inside are planned already."""


@dataclass(frozen=True, slots=True)
class Traversal:
    """Which relationships are followed, in which direction, and how many in a row: one, unless a pattern says
    otherwise.

    `types`: None for any. `upper`: None for no limit.
    """

    types: tuple[str, ...] | None
    direction: Direction
    lower: int = 1
    upper: int | None = 1

    @property
    def reversed(self) -> Traversal:
        """The same relationships, followed from the other end."""
        return Traversal(self.types, self.direction.reversed, self.lower, self.upper)

    @property
    def is_empty(self) -> bool:
        """Whether no number of relationships is within the bounds."""
        return self.upper is not None and self.upper < self.lower


@dataclass(frozen=True, slots=True, eq=False)
class IndexCondition:
    """A condition on an indexed property: `operator` is < <= > >= STARTS WITH, CONTAINS, ENDS WITH or IS NOT NULL. Two
    of them search for points: `point.distance` to a value and then < or <= another, or `point.withinBBox` and `TO`.
    """

    operator: str
    value: Term | None


@dataclass(frozen=True, slots=True, eq=False)
class ChainHop:
    """One hop of a chain, with the predicates on the node it leads to."""

    traversal: Traversal
    node: str
    predicates: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Branch:
    """A hop from a node, the conditions on the node it leads to (labels, and predicates as in `ChainHop`), and the
    branches that continue from there. An `optional` branch that leads nowhere still counts as one way.
    """

    from_node: str
    hop: ChainHop
    labels: tuple[str, ...]
    branches: tuple[Branch, ...]
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class Presence:
    """A column with the number of ways in which a variable is not null: the optional branches that lead to the nodes
    `needed` are there."""

    name: str
    variable: str
    needed: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class MatchHop:
    """A relationship of a pattern whose matches are counted: from a bound node to a new one, with labels and predicates
    as in `Branch`, or `into` a bound one. It must differ from those in `distinct_from`. `to_few`: so few nodes satisfy
    the predicates that it pays to find out first which nodes before it lead to them.
    """

    from_node: str
    relationship: str
    hop: ChainHop
    into: bool
    labels: tuple[str, ...] = ()
    distinct_from: tuple[str, ...] = ()
    to_few: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class MatchCheck:
    """A condition on two bound nodes of such a pattern: that they are the same node or not, or have such a relationship
    between them or not.
    """

    kind: Literal["=", "<>", "there", "missing"]
    left: str
    right: str
    traversal: Traversal | None = None


MatchStep: TypeAlias = MatchHop | MatchCheck


@dataclass(frozen=True, slots=True, eq=False)
class Step:
    """A predicate on each relationship of a variable-length pattern, over the names it is written with."""

    from_node: str
    relationship: str
    to_node: str
    predicate: Term


@dataclass(frozen=True, slots=True, eq=False)
class Group:
    """A variable inside a quantified path pattern, and the outer list that collects it over the repetitions."""

    inner: str
    outer: str
    kind: str  # node, relationship, list


@dataclass(frozen=True, slots=True, eq=False)
class AggregateCall:
    """One aggregating call: `function(DISTINCT arguments)`; count(*) has no arguments.

    With a `weight`, a row stands for that many rows.
    """

    name: str
    function: str
    distinct: bool
    arguments: tuple[Term, ...]
    weight: Term | None = None

    @property
    def terms(self) -> tuple[Term, ...]:
        """What is evaluated for each row."""
        return self.arguments if self.weight is None else (*self.arguments, self.weight)


@dataclass(frozen=True, slots=True, eq=False)
class SortKey:
    """A column and its direction."""

    name: str
    descending: bool


@dataclass(frozen=True, slots=True, eq=False)
class CreateNode:
    """A node to create."""

    variable: str
    labels: tuple[str | Term, ...]
    properties: Term | None


@dataclass(frozen=True, slots=True, eq=False)
class CreateRelationship:
    """A relationship to create between two nodes that exist by then."""

    variable: str
    start: str
    end: str
    type: str | Term
    properties: Term | None


Creation: TypeAlias = CreateNode | CreateRelationship


@dataclass(frozen=True, slots=True, eq=False)
class AssignProperty:
    """`subject.key = value`; a null value removes the property."""

    subject: Term
    key: str | Term
    value: Term


@dataclass(frozen=True, slots=True, eq=False)
class AssignProperties:
    """`variable = map`, or `+=` where `merge`."""

    variable: str
    value: Term
    merge: bool


@dataclass(frozen=True, slots=True, eq=False)
class AddLabels:
    """`variable:A:B`"""

    variable: str
    labels: tuple[str | Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DropProperty:
    """`REMOVE subject.key`"""

    subject: Term
    key: str | Term


@dataclass(frozen=True, slots=True, eq=False)
class DropLabels:
    """`REMOVE variable:A:B`"""

    variable: str
    labels: tuple[str | Term, ...]


SingleAssignment: TypeAlias = AssignProperty | AssignProperties | AddLabels | DropProperty | DropLabels


@dataclass(frozen=True, slots=True, eq=False)
class AssignTogether:
    """Properties of one entity that are set together: all values are computed before any is set."""

    subject: Term
    entries: tuple[tuple[str, Term], ...]


Assignment: TypeAlias = SingleAssignment | AssignTogether
