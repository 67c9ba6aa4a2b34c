"""SHOW and the schema commands: which columns can be yielded and returned, which options and properties are
accepted."""

from __future__ import annotations

import re

from hoplite.gql_status import alternatives, because, status
from hoplite.grammar import ast
from hoplite.grammar.statement import Command, CreateConstraint, CreateIndex, JoinedShows, Show
from hoplite.grammar.tree import walk
from hoplite.lazy import lazy_pattern
from hoplite.planner.check.expressions import check_predicate, type_of
from hoplite.planner.check.functions import check_known
from hoplite.planner.check.projections import check_projection
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import Check
from hoplite.planner.check.typespec import ALL, TypeSpec
from hoplite.planner.show import JOINABLE, SHOWN, every_column, shown_columns
from hoplite.planner.type_text import type_text, unsuitable

Columns = dict[str, TypeSpec]

_SINGLE_PROPERTY = ("TEXT", "POINT", "VECTOR")
_OPTIONS = frozenset({"indexprovider", "indexconfig"})
_SECOND_PROPERTY = lazy_pattern(r"\b(?:ON|REQUIRE)\s*\([^,)]*,\s*(\w+\s*)", re.IGNORECASE)


def check_command(check: Check, command: Command) -> Columns:
    """Check a command; returns its columns."""
    match command:
        case Show():
            columns = _check_show(check, command)
            if check.postponed:
                raise check.postponed[0]
            return columns
        case JoinedShows():
            columns = _check_joined(check, command)
            if check.postponed:
                raise check.postponed[0]
            return columns
        case CreateIndex():
            _check_index(check, command)
        case CreateConstraint():
            _check_constraint(check, command)
        case _:
            pass
    return {}


# --- SHOW ------------------------------------------------------------------------------------------------------------


def _check_show(check: Check, show: Show) -> Columns:
    if show.kind not in SHOWN:
        return {}
    for node in walk(show):
        if isinstance(node, ast.FunctionCall):
            check_known(check, node)
    if show.kind == "TERMINATE TRANSACTIONS" and show.predicate is not None and show.yielded is None:
        where = check.text.upper().rfind("WHERE", 0, show.predicate.span.start)
        message = "`WHERE` is not allowed by itself, please use `TERMINATE TRANSACTION ... YIELD ... WHERE ...` instead"
        raise check.error(message, where)
    for name in show.names:
        type_of(check, name, Scope({}))
    columns = _shown_columns(check, show)
    scope = Scope(_renamed(show) | columns)
    if show.yielded is not None:
        _check_order(check, show.yielded, scope)
    if show.predicate is not None:
        check_predicate(check, show.predicate, scope)
    scope = Scope(dict(columns))
    if show.returned is not None:
        clause = ast.ReturnClause(show.returned, show.returned.span)
        columns = check_projection(check, show.returned, None, clause, scope).columns
    return columns


def _renamed(show: Show) -> Columns:
    """The columns with new names, by their old ones, which ORDER BY and WHERE may use too."""
    if show.yielded is None or show.kind in ("DATABASES", "USERS"):
        return {}
    old = [item.expression for item in show.yielded.items if item.alias is not None]
    return {variable.name: ALL for variable in old if isinstance(variable, ast.Variable)}


def _check_joined(check: Check, joined: JoinedShows) -> Columns:
    if any(show.kind not in JOINABLE for show in joined.parts):
        message = (
            "Composing commands other than `SHOW TRANSACTIONS` and `TERMINATE TRANSACTIONS` is not available in this "
            "implementation of Cypher due to lack of support for composable commands."
        )
        raise check.error(message, joined.span.start)
    for show in joined.parts[:-1]:
        if show.returned is not None:
            raise check.error("RETURN can only be used at the end of the query.", show.returned.span.start)
    columns: Columns = {}
    for show in joined.parts:
        columns = _check_part(check, show, columns)
    for show in joined.parts:
        _check_yielded(check, show)
    last = joined.parts[-1]
    if last.returned is None:
        assert last.yielded is not None
        message = "When combining show and/or terminate commands, `RETURN` isn't optional."
        raise check.error(message, last.yielded.span.start)
    clause = ast.ReturnClause(last.returned, last.returned.span)
    return check_projection(check, last.returned, None, clause, Scope(columns)).columns


def _check_part(check: Check, show: Show, before: Columns) -> Columns:
    """One of several commands; returns the columns of those before it with its own."""
    for node in walk(show):
        if isinstance(node, ast.FunctionCall):
            check_known(check, node)
    for name in show.names:
        type_of(check, name, Scope(dict(before)))
    columns = _shown_columns(check, show, before)
    scope = Scope(before | columns)
    if show.yielded is not None:
        _check_order(check, show.yielded, scope)
    if show.predicate is not None:
        check_predicate(check, show.predicate, scope)
    return before | columns


def _check_yielded(check: Check, show: Show) -> None:
    """Joined commands must name the columns they pass on."""
    command = "SHOW TRANSACTIONS" if show.kind == "TRANSACTIONS" else show.kind
    if show.yielded is None:
        message = f"When combining `{command}` with other show and/or terminate commands, `YIELD` is mandatory."
        raise check.error(message, show.span.start)
    if show.yield_star or show.yielded.star:
        message = f"When combining `{command}` with other show and/or terminate commands, `YIELD *` isn't permitted."
        raise check.error(message, check.text.upper().rfind("YIELD", 0, show.yielded.span.start))


def _shown_columns(check: Check, show: Show, taken: Columns | None = None) -> Columns:
    """The columns that a SHOW passes on; none may have a name in `taken`."""
    every: Columns = dict.fromkeys(every_column(show), ALL)
    if show.yielded is not None and not (show.yield_star or show.yielded.star):
        return _check_yield(check, show, show.yielded, every, taken or {})
    columns = every if show.yield_star or show.yielded is not None else dict.fromkeys(shown_columns(show)[0], ALL)
    for name in columns:
        if taken and name in taken:
            raise check.error(f"Variable `{name}` already declared", show.span.start)
    return columns


def _check_yield(check: Check, show: Show, yielded: ast.Projection, every: Columns, taken: Columns) -> Columns:
    columns: Columns = {}
    for item in yielded.items:
        assert isinstance(item.expression, ast.Variable)
        name = item.expression.name
        if name not in every:
            if show.kind in ("DATABASES", "USERS"):
                raise check.error(f"Variable `{name}` not defined", item.expression.span.start)
            message = f"Trying to YIELD non-existing column: `{name}`"
            cause = because("22N04", name, "column name", alternatives(list(every)))
            raise check.error(message, item.expression.span.start, cause)
        if item.name in columns or item.name in taken:
            variable = item.alias or item.expression
            raise check.error(f"Variable `{item.name}` already declared", variable.span.start)
        columns[item.name] = ALL
    return columns


def _check_order(check: Check, yielded: ast.Projection, scope: Scope) -> None:
    bare = ast.Projection((), True, False, yielded.order, yielded.skip, yielded.limit, yielded.span)
    check_projection(check, bare, None, ast.WithClause(bare, None, yielded.span), scope)


# --- indexes and constraints -----------------------------------------------------------------------------------------


def _check_index(check: Check, command: CreateIndex) -> None:
    kind = command.kind.lower()
    if command.kind in _SINGLE_PROPERTY and len(command.keys) > 1:
        message = f"Only single property {kind} indexes are supported"
        raise check.error(message, _second_property(check, command.span))
    entity = command.entity.lower()
    name = {"range": f"range {entity} property index", "lookup": "token lookup index"}.get(
        kind, f"{kind} {entity} index"
    )
    _check_options(check, command.options, name, command.span)


def _check_constraint(check: Check, command: CreateConstraint) -> None:
    entity = command.entity.lower()
    prefix = "" if entity == "node" else "relationship "
    names = {
        "UNIQUE": f"{prefix}uniqueness constraint",
        "KEY": f"{entity} key constraint",
        "NOT NULL": f"{entity} property existence constraint",
        "TYPED": f"{entity} property type constraint",
    }
    if command.kind in ("NOT NULL", "TYPED") and len(command.keys) > 1:
        shown = "IS NOT NULL" if command.kind == "NOT NULL" else "IS TYPED"
        message = f"Constraint type '{shown}' does not allow multiple properties"
        raise check.error(message, _second_property(check, command.span, behind_variable=True))
    if command.type is not None and (reason := unsuitable(command.type)) is not None:
        name, shown = names["TYPED"], type_text(command.type)
        cause = status("22N90", shown).under("50N11", name)
        message = f"Failed to create {name}: Invalid property type `{shown}`.{reason}"
        raise check.error(message, command.type.span.start, cause)
    _check_options(check, command.options, names.get(command.kind, "constraint"), command.span)


def _second_property(check: Check, span: ast.Span, *, behind_variable: bool = False) -> int:
    found = _SECOND_PROPERTY.search(check.text, span.start)
    if found is None:
        return span.start
    return found.end(1) if behind_variable else found.start(1)


def _check_options(check: Check, options: ast.Expression | None, name: str, span: ast.Span) -> None:
    if not isinstance(options, ast.MapLiteral):
        return
    if any(key.lower() not in _OPTIONS for key, _ in options.entries):
        raise check.error(
            f"Failed to create {name}: Invalid option provided, valid options are `indexProvider` and `indexConfig`.",
            span.start,
            because("22N04", _options_text(options), "'OPTIONS'", alternatives(["indexProvider", "indexConfig"])),
        )


def _options_text(options: ast.MapLiteral) -> str:
    """Options as Neo4j's status shows them, with the names of its syntax tree."""
    entries = ", ".join(f"{key} -> {_literal_text(value)}" for key, value in options.entries)
    return f"OptionsMap(Map({entries}))"


def _literal_text(expression: ast.Expression) -> str:
    match expression:
        case ast.Literal(value=None):
            return "Null()"
        case ast.Literal(value=bool() as value):
            return f"{value}()"
        case ast.Literal(value=int() as value):
            return f"SignedDecimalIntegerLiteral({value})"
        case ast.Literal(value=float() as value):
            return f"DecimalDoubleLiteral({value})"
        case ast.Literal(value=value):
            return f"StringLiteral({value})"
        case ast.MapLiteral(entries=entries):
            inner = ", ".join(f"(PropertyKeyName({key}),{_literal_text(value)})" for key, value in entries)
            return f"MapExpression(ArraySeq({inner}))"
        case ast.ListLiteral(items=items):
            return f"ListLiteral(ArraySeq({', '.join(map(_literal_text, items))}))"
        case ast.Parameter(name=name):
            return f"ExplicitParameter({name},Any,UnknownSize)"
        case _:
            return type(expression).__name__
