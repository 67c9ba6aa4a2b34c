"""SHOW: the columns of each kind, and the plan that yields, filters and returns them."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from hoplite.errors import unsupported
from hoplite.grammar import ast
from hoplite.grammar.statement import JoinedShows, Show
from hoplite.planner import logical as lp

if TYPE_CHECKING:
    from hoplite.planner.build import Builder, Built

_INDEXES = (
    "id name state populationPercent type entityType labelsOrTypes properties indexProvider owningConstraint "
    "lastRead readCount"
)
_CONSTRAINTS = "id name type entityType labelsOrTypes properties ownedIndex propertyType"
_FUNCTIONS = "name category description"
_PROCEDURES = "name description mode worksOnSystem"
_DATABASES = (
    "name type aliases access address role writer requestedStatus currentStatus statusMessage default home constituents"
)
# All columns in the order of YIELD *.
_ALL_OF_DATABASES = (
    "name type aliases access databaseID serverID address role writer requestedStatus currentStatus statusMessage "
    "default home currentPrimariesCount currentSecondariesCount requestedPrimariesCount requestedSecondariesCount "
    "creationTime lastStartTime lastStopTime store lastCommittedTxn replicationLag constituents options"
)
_SETTINGS = "name value isDynamic defaultValue description"
_TRANSACTIONS = (
    "database transactionId currentQueryId connectionId clientAddress username currentQuery startTime status "
    "elapsedTime"
)
# All columns in the order of YIELD *, including those above.
_ALL_OF_TRANSACTIONS = (
    "database transactionId currentQueryId outerTransactionId connectionId clientAddress username metaData "
    "currentQuery parameters planner runtime indexes startTime currentQueryStartTime protocol requestUri status "
    "currentQueryStatus statusDetails resourceInformation activeLockCount currentQueryActiveLockCount elapsedTime "
    "cpuTime waitTime idleTime currentQueryElapsedTime currentQueryCpuTime currentQueryWaitTime currentQueryIdleTime "
    "currentQueryAllocatedBytes allocatedDirectBytes estimatedUsedHeapMemory pageHits pageFaults currentQueryPageHits "
    "currentQueryPageFaults initializationStackTrace"
)
_MORE_ABOUT_TRANSACTIONS = " ".join(name for name in _ALL_OF_TRANSACTIONS.split() if name not in _TRANSACTIONS.split())

# By kind: the columns shown without YIELD, and those that YIELD can add.
SHOWN: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    kind: (tuple(plain.split()), tuple(more.split()))
    for kind, plain, more in (
        ("INDEXES", _INDEXES, "trackedSince options failureMessage createStatement"),
        ("CONSTRAINTS", _CONSTRAINTS, "options createStatement"),
        (
            "FUNCTIONS",
            _FUNCTIONS,
            "signature isBuiltIn argumentDescription returnDescription aggregating rolesExecution "
            "rolesBoostedExecution isDeprecated deprecatedBy",
        ),
        (
            "PROCEDURES",
            _PROCEDURES,
            "signature argumentDescription returnDescription admin rolesExecution rolesBoostedExecution "
            "isDeprecated deprecatedBy option",
        ),
        (
            "DATABASES",
            _DATABASES,
            " ".join(name for name in _ALL_OF_DATABASES.split() if name not in _DATABASES.split()),
        ),
        ("SETTINGS", _SETTINGS, "startupValue isExplicitlySet validValues isDeprecated"),
        ("USERS", "user roles passwordChangeRequired suspended home", "provider auth"),
        ("TRANSACTIONS", _TRANSACTIONS, _MORE_ABOUT_TRANSACTIONS),
        ("TERMINATE TRANSACTIONS", "transactionId username message", ""),
    )
}

_IN_ORDER = {"DATABASES": tuple(_ALL_OF_DATABASES.split()), "TRANSACTIONS": tuple(_ALL_OF_TRANSACTIONS.split())}

JOINABLE = ("TRANSACTIONS", "TERMINATE TRANSACTIONS")
"""What may stand with others of its kind in one statement."""


def shown_columns(show: Show) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The columns of a SHOW, and those that only YIELD returns."""
    plain, more = SHOWN[show.kind]
    if show.kind == "DATABASES" and show.qualifier is not None:  # SHOW DEFAULT DATABASE, SHOW HOME DATABASE
        plain = tuple(name for name in plain if name not in ("default", "home"))
    if show.kind == "USERS":
        return ((*plain, *more) if show.qualifier == "WITH AUTH" else plain), ()
    return plain, more


def every_column(show: Show) -> tuple[str, ...]:
    """All columns of a SHOW, in the order of YIELD *."""
    plain, more = shown_columns(show)
    known = {*plain, *more}
    return tuple(name for name in _IN_ORDER.get(show.kind, (*plain, *more)) if name in known)


def plan_show(show: Show, builder: Builder) -> Built:
    """SHOW ... YIELD ... WHERE ... RETURN as a plan over the rows of its kind."""
    from hoplite.planner.build import Built

    if show.kind not in SHOWN:
        raise unsupported(f"SHOW {show.kind}")
    plain, _ = shown_columns(show)
    every = every_column(show)
    names = tuple(builder.expression(name, frozenset()) for name in show.names)
    outputs = tuple((name, name) for name in every)
    plan: lp.Plan = lp.ShowRows(lp.Argument(), show.kind, show.qualifier, names, outputs)
    if show.kind == "TRANSACTIONS":
        plan = lp.Projection(plan, (("currentQuery", ast.Literal(builder.text)),))
    columns = plain
    scope = frozenset(every)
    if show.yielded is not None:
        star = show.yield_star or show.yielded.star
        items = tuple(_named(name) for name in every) if star else show.yielded.items
        yielded = ast.Projection(
            items, False, False, show.yielded.order, show.yielded.skip, show.yielded.limit, show.yielded.span
        )
        plan, columns = builder.projection(yielded, show.predicate, plan, scope)
        scope = frozenset(columns)
    elif show.yield_star:
        columns = every
    if show.yielded is None:
        plan = lp.Select(plan, columns)
        if show.predicate is not None:
            plan = lp.Filter(plan, builder.expression(show.predicate, frozenset(columns)))
    if show.returned is not None:
        plan, columns = _returned(show.returned, plan, columns, builder)
    return Built(plan, frozenset(columns), columns)


def plan_joined(joined: JoinedShows, builder: Builder) -> Built:
    """Each command runs for every row of those before it, as if WITH passed on their columns: the newest come first."""
    from hoplite.planner.build import Built

    plan: lp.Plan = lp.Argument()
    columns: tuple[str, ...] = ()
    for show in joined.parts:
        assert show.yielded is not None
        scope = frozenset(columns)
        names = tuple(builder.expression(name, scope) for name in show.names)
        outputs = tuple((_column(item), item.name) for item in show.yielded.items)
        plan = lp.ShowRows(plan, show.kind, show.qualifier, names, outputs)
        texts = tuple((name, ast.Literal(builder.text)) for column, name in outputs if column == "currentQuery")
        if texts:
            plan = lp.Projection(plan, texts)
        given = (*(name for _, name in outputs), *sorted(columns))
        yielded = replace(show.yielded, items=tuple(map(_named, given)))
        plan, columns = builder.projection(yielded, show.predicate, plan, frozenset(given))
    returned = joined.parts[-1].returned
    assert returned is not None
    plan, columns = _returned(returned, plan, columns, builder)
    return Built(plan, frozenset(columns), columns)


def _returned(
    returned: ast.Projection, plan: lp.Plan, columns: tuple[str, ...], builder: Builder
) -> tuple[lp.Plan, tuple[str, ...]]:
    if returned.star:
        returned = replace(returned, items=(*map(_named, columns), *returned.items), star=False)
    return builder.projection(returned, None, plan, frozenset(columns))


def _column(item: ast.ReturnItem) -> str:
    assert isinstance(item.expression, ast.Variable)
    return item.expression.name


def _named(name: str) -> ast.ReturnItem:
    return ast.ReturnItem(ast.Variable(name), None, name)
