"""The semantic check: an AST goes in, its columns, notifications and kind come out, or a compile-time error.

    check(parse(text), text, catalogue, parameter_types(parameters))

It finds what Neo4j finds before it runs a statement: names that are not defined or declared twice, types that
contradict each other, misplaced aggregations and clauses, unknown functions and procedures. The planner may take for
granted that what passes is valid.

    state             what all parts share: text, catalogue, errors     scopes       layers of names
    clauses           the order of clauses, subqueries                  typespec     sets of types
    projections       WITH and RETURN, grouping, ORDER BY               expressions  everything that has a value
    patterns          MATCH, patterns as expressions                    operators    types of operators
    pattern_parts     nodes, relationships, their variables             functions    calls of functions
    paths             shortest and quantified paths                     procedures   CALL
    labels            label expressions                                 commands     SHOW, indexes, constraints
    written_patterns  CREATE and MERGE                                  hints        USING
    writes            SET, REMOVE, DELETE                               warnings     notifications
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field

from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.statement import Command, CreateConstraint, CreateIndex, DropSchema, Show, Statement
from hoplite.grammar.tree import walk
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.check.clauses import UPDATES, check_query, check_subquery_expression, forbid_several_graphs
from hoplite.planner.check.commands import check_command
from hoplite.planner.check.expressions import check_predicate, type_of
from hoplite.planner.check.functions import check_known
from hoplite.planner.check.labels import forbid_invalid_names
from hoplite.planner.check.procedures import known_procedure
from hoplite.planner.check.projections import forbid_unaggregated_order
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import Check, Parts
from hoplite.planner.check.typespec import ALL, TypeSpec, any_of
from hoplite.planner.check.warnings import command_notifications, find_notifications
from hoplite.planner.notifications import Notification
from hoplite.planner.standalone import standalone_call
from hoplite.planner.types import CypherType

__all__ = ["Checked", "check"]


_INVALID_NAMES = ("``", "''", '""', "\0", "u0000")  # without these no name is empty or has a null byte
_PARTS = Parts(type_of, check_predicate, check_subquery_expression)


@dataclass(frozen=True, slots=True)
class Checked:
    """What the check learns about a statement.

    `query_type` is `r`, `w` (writes without returning), `rw` or `s` (the schema, and SHOW DATABASES); `types` has the
    types that each column may hold. `star_imports` are the names that each `CALL (*)` and `CALL { WITH * ... }`
    imports, by the offset of the clause.
    """

    columns: tuple[str, ...]
    types: tuple[TypeSpec, ...]
    notifications: tuple[Notification, ...]
    query_type: str
    writes: bool
    star_imports: Mapping[int, frozenset[str]] = field(default_factory=dict)


_PROJECTING = (ast.WithClause, ast.ReturnClause)
_ASKED_ABOUT = frozenset(
    [*_PROJECTING, *UPDATES, ast.CallProcedure, ast.CountStar, ast.FunctionCall, ast.LabelAnd, ast.Unary, ast.UseClause]
)


def check(
    statement: Statement,
    text: str,
    catalogue: Catalogue,
    parameters: Mapping[str, CypherType | None],
    *,
    notify: bool = True,
) -> Checked:
    """Check a statement. `parameters` has the type of each parameter given, or is None if they are not known.

    Without `notify`, notifications are not collected.
    """
    specs = {name: ALL if given is None else any_of((given,)) for name, given in parameters.items()}
    body = statement.body
    if not isinstance(body, ast.SingleQuery | ast.Union):
        return _command(statement, body, text, catalogue, specs)
    nodes = tuple(walk(body))
    few = [node for node in nodes if type(node) in _ASKED_ABOUT]  # so that not every question goes through all nodes
    second = Check(text, catalogue, specs, True, _PARTS)
    second.colon_labels = any(isinstance(node, ast.LabelAnd) and node.colon for node in few)
    second.aggregates = any(map(second.is_aggregate, few))
    for node in few:
        if isinstance(node, _PROJECTING):
            forbid_unaggregated_order(second, node)
    if any(sign in text for sign in _INVALID_NAMES):
        forbid_invalid_names(second, nodes)
    try:
        _resolve(second, few)
        columns = _round(second, body)
    except CypherError:
        # The first round sees less than the second, so it only matters if its error would have come earlier.
        _round(Check(text, catalogue, specs, False, _PARTS), body)
        raise
    if any(isinstance(node, ast.Unary) and node.operator == "+" for node in few):
        _round(Check(text, catalogue, specs, False, _PARTS), body)  # Neo4j drops the sign between the rounds
    forbid_several_graphs(second, few)
    if second.doomed and statement.mode != "EXPLAIN":
        raise second.doomed[0]
    writes = _writes(few, catalogue)
    notifications: tuple[Notification, ...] = ()
    if notify:
        notifications = find_notifications(statement, nodes, text, catalogue, second.mentions, specs, writes=writes)
    return Checked(
        columns=tuple(columns),
        types=tuple(columns.values()),
        notifications=notifications,
        query_type=_query_type(writes=writes, returns=bool(columns)),
        writes=writes,
        star_imports=second.star_imports,
    )


def _round(check: Check, query: ast.Query) -> dict[str, TypeSpec]:
    check.standalone = standalone_call(query)
    columns = check_query(check, query, Scope())
    if check.postponed:
        raise check.postponed[0]
    return columns


def _resolve(check: Check, nodes: list[object]) -> None:
    """Look up functions and procedures, which Neo4j does between the rounds."""
    for node in nodes:
        if isinstance(node, ast.CallProcedure):
            known_procedure(check, node)
        elif isinstance(node, ast.FunctionCall):
            check_known(check, node)


def _command(
    statement: Statement, body: Command, text: str, catalogue: Catalogue, parameters: Mapping[str, TypeSpec]
) -> Checked:
    columns = check_command(Check(text, catalogue, parameters, True, _PARTS), body)
    schema = isinstance(body, CreateIndex | CreateConstraint | DropSchema)
    return Checked(
        columns=tuple(columns),
        types=tuple(columns.values()),
        notifications=command_notifications(statement, text, catalogue),
        query_type="s" if schema or (isinstance(body, Show) and body.kind in ("DATABASES", "USERS")) else "r",
        writes=schema,
    )


def _writes(nodes: list[object], catalogue: Catalogue) -> bool:
    for node in nodes:
        if isinstance(node, UPDATES):
            return True
        if isinstance(node, ast.CallProcedure):
            procedure = catalogue.procedure(node.name)
            if procedure is not None and procedure.mode in ("WRITE", "SCHEMA"):
                return True
    return False


def _query_type(*, writes: bool, returns: bool) -> str:
    if not writes:
        return "r"
    return "rw" if returns else "w"
