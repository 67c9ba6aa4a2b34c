"""Whole statements: a query, or a command about schema and administration."""

from __future__ import annotations

from typing import TypeAlias

from hoplite.grammar.ast import Expression, Parameter, Projection, Query, Span, TypeName, UseClause
from hoplite.grammar.leaves import unseen_span
from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CreateIndex:
    """`CREATE kind INDEX name IF NOT EXISTS FOR (n:Label) ON (n.key, ...) OPTIONS {}`

    kind: RANGE, TEXT, POINT, LOOKUP, FULLTEXT, VECTOR; `labels` has several entries for FULLTEXT only.
    """

    kind: str
    name: str | Parameter | None
    entity: str  # NODE, RELATIONSHIP
    labels: tuple[str, ...]
    keys: tuple[str, ...]
    if_not_exists: bool = False
    options: Expression | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class CreateConstraint:
    """`CREATE CONSTRAINT name IF NOT EXISTS FOR (n:Label) REQUIRE (n.key, ...) IS UNIQUE`

    kind: UNIQUE, KEY, NOT NULL, TYPED.
    """

    kind: str
    name: str | Parameter | None
    entity: str
    label: str
    keys: tuple[str, ...]
    type: TypeName | None = None
    if_not_exists: bool = False
    options: Expression | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class DropSchema:
    """`DROP INDEX name IF EXISTS` or `DROP CONSTRAINT name IF EXISTS`"""

    kind: str  # INDEX, CONSTRAINT
    name: str | Parameter
    if_exists: bool = False
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Show:
    """`SHOW kind ... YIELD projection WHERE predicate RETURN projection`

    kind: INDEXES, CONSTRAINTS, FUNCTIONS, PROCEDURES, DATABASES, SETTINGS, TRANSACTIONS ...; `qualifier` is what comes
    before or inside it, in upper case (`RANGE`, `BUILT IN`, `UNIQUE`, `EXECUTABLE`); `names` are the requested ones.
    """

    kind: str
    qualifier: str | None = None
    names: tuple[Expression, ...] = ()
    yielded: Projection | None = None
    yield_star: bool = False
    predicate: Expression | None = None
    returned: Projection | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class JoinedShows:
    """Several of SHOW and TERMINATE TRANSACTIONS: each runs for every row of those before it, and knows their names."""

    parts: tuple[Show, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Administration:
    """A command for servers (`CREATE USER`, `GRANT` ...), which an embedded database refuses by name."""

    command: str
    span: Span = unseen_span()


Command: TypeAlias = CreateIndex | CreateConstraint | DropSchema | Show | JoinedShows | Administration


@dataclass(frozen=True, slots=True)
class Statement:
    """A whole text: options and mode, then a query or a command; `use` is the USE before a command."""

    body: Query | Command
    mode: str | None = None  # EXPLAIN, PROFILE
    options: tuple[tuple[str, str], ...] = ()  # of a CYPHER prefix: (("version", "5"), ("runtime", "slotted"))
    use: UseClause | None = None
    span: Span = unseen_span()
