"""Builds commands for indexes and constraints, and SHOW."""

from __future__ import annotations

from dataclasses import replace

from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.grammar.ast import Expression, Span
from hoplite.grammar.build_clauses import (
    Limit,
    OrderBy,
    Skip,
    Star,
    extended,
    projection_of,
)
from hoplite.grammar.build_expressions import name_of
from hoplite.grammar.source import Source
from hoplite.grammar.statement import CreateConstraint, CreateIndex, DropSchema, JoinedShows, Show
from hoplite.grammar.tokens import Token
from hoplite.lazy_dataclass import dataclass

SchemaName = Token | ast.Parameter | None


@dataclass(frozen=True, slots=True)
class Target:
    """What an index or a constraint applies to: `(n:Label)` or `()-[r:TYPE]-()`."""

    entity: str
    variable: ast.Variable
    labels: tuple[str, ...]
    start: int


@dataclass(frozen=True, slots=True)
class Key:
    """`n.key`"""

    variable: ast.Variable
    name: str


@dataclass(frozen=True, slots=True)
class ConstraintKind:
    """`UNIQUE`, `KEY`, `NOT NULL` or `TYPED` with a type; `entity` if NODE or RELATIONSHIP is written before it."""

    kind: str
    entity: str | None = None
    type: ast.TypeName | None = None


def or_replace(source: Source, span: Span, word: Token) -> bool:
    return True


def if_not_exists(source: Source, span: Span, word: Token) -> bool:
    return True


def if_exists(source: Source, span: Span, word: Token) -> bool:
    return True


def node_target(source: Source, span: Span, variable: ast.Variable, *labels: ast.LabelName) -> Target:
    return Target("NODE", variable, tuple(label.name for label in labels), span.start)


def relationship_target(source: Source, span: Span, *parts: Token | ast.Variable | ast.LabelName) -> Target:
    variable = next(part for part in parts if isinstance(part, ast.Variable))
    labels = tuple(part.name for part in parts if isinstance(part, ast.LabelName))
    return Target("RELATIONSHIP", variable, labels, span.start)


def property_key(source: Source, span: Span, variable: ast.Variable, key: Token) -> Key:
    return Key(variable, name_of(key))


def schema_keys(source: Source, span: Span, *keys: Key) -> tuple[Key, ...]:
    return keys


def create_index(
    source: Source,
    span: Span,
    or_replace: bool | None,
    kind: Token | None,
    name: SchemaName,
    if_not_exists: bool | None,
    target: Target,
    keys: tuple[Key, ...] | ast.FunctionCall,
    options: Expression | None,
) -> CreateIndex:
    _refuse_replace(source, "index", or_replace, span)
    kind_name = kind.word if kind else "RANGE"
    if kind_name == "BTREE":
        assert kind is not None
        source.complain("Invalid index type b-tree, use range, point or text index instead.", kind.start)
    return CreateIndex(
        kind_name,
        _schema_name(name),
        target.entity,
        target.labels,
        _checked_keys(source, span, target, keys),
        if_not_exists is not None,
        options,
        span,
    )


def _checked_keys(
    source: Source, span: Span, target: Target, keys: tuple[Key, ...] | ast.FunctionCall
) -> tuple[str, ...]:
    if isinstance(keys, tuple):
        for key in keys:
            _check_variable(source, target, key.variable)
        return tuple(key.name for key in keys)
    function = "labels" if target.entity == "NODE" else "type"
    if keys.name.lower() != function:
        message = (
            f"Failed to create {target.entity.lower()} lookup index: Function '{keys.name}' is not allowed, "
            f"valid function is '{function}'."
        )
        source.complain(message, span.start, because("22N04", keys.name, "function name", f"'{function}'"))
    for argument in keys.arguments:
        if isinstance(argument, ast.Variable):
            _check_variable(source, target, argument)
    return ()


def _check_variable(source: Source, target: Target, variable: ast.Variable) -> None:
    if variable != target.variable:
        source.complain(f"Variable `{variable.name}` not defined", variable.span.start)


def _refuse_replace(source: Source, what: str, or_replace: bool | None, span: Span) -> None:
    if or_replace:
        source.complain(
            f"Failed to create {what}: `OR REPLACE` cannot be used together with this command.",
            span.start,
            because("42N14", "OR REPLACE", f"CREATE {what.split()[-1].upper()}"),
        )


def _schema_name(name: SchemaName) -> str | ast.Parameter | None:
    return name_of(name) if isinstance(name, Token) else name


def constraint_kind(source: Source, span: Span, entity: Token | None, word: Token) -> ConstraintKind:
    return ConstraintKind(word.word, entity.word if entity else None)


def existence_constraint(source: Source, span: Span, word: Token) -> ConstraintKind:
    return ConstraintKind("NOT NULL")


def type_constraint(source: Source, span: Span, type: ast.TypeName) -> ConstraintKind:
    return ConstraintKind("TYPED", None, type)


def create_constraint(
    source: Source,
    span: Span,
    or_replace: bool | None,
    name: SchemaName,
    if_not_exists: bool | None,
    target: Target,
    keys: tuple[Key, ...],
    kind: ConstraintKind,
    options: Expression | None,
) -> CreateConstraint:
    _refuse_replace(source, "constraint", or_replace, span)
    if kind.entity is not None and (kind.entity == "NODE") != (target.entity == "NODE"):
        wanted = "relationship" if target.entity == "NODE" else "node"
        found, rule = f"{target.entity.lower()} pattern", f"IS {wanted.upper()} {kind.kind}"
        cause = because("22N04", found, rule, f"'List({wanted} patterns)'")
        source.complain(f"'{rule}' does not allow {found}s", target.start, cause)
    return CreateConstraint(
        kind.kind,
        _schema_name(name),
        target.entity,
        target.labels[0],
        _checked_keys(source, span, target, keys),
        kind.type,
        if_not_exists is not None,
        options,
        span,
    )


def drop_schema(source: Source, span: Span, kind: Token, name: SchemaName, if_exists: bool | None) -> DropSchema:
    schema_name = _schema_name(name)
    assert schema_name is not None
    return DropSchema(kind.word, schema_name, if_exists is not None, span)


# --- SHOW -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ShowTail:
    yielded: ast.Projection | None = None
    predicate: Expression | None = None
    returned: ast.Projection | None = None


def shows(source: Source, span: Span, *parts: Show) -> Show | JoinedShows:
    return parts[0] if len(parts) == 1 else JoinedShows(parts, span)


def show(source: Source, span: Span, what: Show, tail: ShowTail | None) -> Show:
    if tail is None:
        return replace(what, span=span)
    return replace(
        what,
        yielded=tail.yielded,
        yield_star=tail.yielded is not None and tail.yielded.star,
        predicate=tail.predicate,
        returned=tail.returned,
        span=span,
    )


def terminate(source: Source, span: Span, word: Token, *parts: Expression | ShowTail | None) -> Show:
    tail = parts[-1]
    assert tail is None or isinstance(tail, ShowTail)
    names = tuple(part for part in parts[:-1] if part and not isinstance(part, ShowTail))
    return show(source, span, Show("TERMINATE TRANSACTIONS", None, names), tail)


def show_output(source: Source, span: Span, word: Token) -> int:
    return word.start


def _forbid_output(source: Source, what: str, output: int | None) -> None:
    if output is not None:
        source.complain(
            f"`SHOW {what}` no longer allows the `BRIEF` and `VERBOSE` keywords,\n"
            "please omit `BRIEF` and use `YIELD *` instead of `VERBOSE`.",
            output,
        )


def show_indexes(source: Source, span: Span, kind: Token | None, word: Token, output: int | None = None) -> Show:
    _forbid_output(source, "INDEXES", output)
    if kind is not None and kind.word == "BTREE":
        source.complain("Invalid index type b-tree, please omit the `BTREE` filter.", kind.start)
    return Show("INDEXES", kind.word if kind else None)


def show_constraint_kind(source: Source, span: Span, *words: Token | None) -> str:
    last = words[-1]
    if last is not None and last.word == "EXISTS":
        source.complain(
            "`SHOW CONSTRAINTS` no longer allows the `EXISTS` keyword, "
            "please use `EXIST` or `PROPERTY EXISTENCE` instead.",
            last.start,
        )
    return " ".join(word.word for word in words if word)


def show_constraints(source: Source, span: Span, kind: str | None, word: Token, output: int | None) -> Show:
    _forbid_output(source, "CONSTRAINTS", output)
    return Show("CONSTRAINTS", kind)


def show_function_kind(source: Source, span: Span, *words: Token) -> str:
    return " ".join(word.word for word in words)


def executable(source: Source, span: Span, user: Token | None = None) -> str:
    return "EXECUTABLE" if user is None else f"EXECUTABLE BY {name_of(user)}"


def show_functions(source: Source, span: Span, kind: str | None, word: Token, executable: str | None) -> Show:
    qualifier = " ".join(part for part in (kind, executable) if part)
    return Show("FUNCTIONS", qualifier or None)


def show_procedures(source: Source, span: Span, word: Token, executable: str | None) -> Show:
    return Show("PROCEDURES", executable)


def show_named(source: Source, span: Span, word: Token, *names: Expression) -> Show:
    kind = word.word if word.word.endswith("S") else word.word + "S"
    return Show(kind, None, names)


def database_name(source: Source, span: Span, *parts: Token) -> ast.Literal:
    return ast.Literal(".".join(map(name_of, parts)), span)


def show_databases(source: Source, span: Span, word: Token, named: Token | Expression | None = None) -> Show:
    if isinstance(named, Token):  # SHOW DEFAULT DATABASE, SHOW HOME DATABASE
        return Show("DATABASES", word.word)
    return Show("DATABASES", None, () if named is None else (named,))


def show_users(source: Source, span: Span, word: Token, more: Token | None) -> Show:
    if word.word == "CURRENT":
        return Show("USERS", "CURRENT")
    return Show("USERS", None if more is None else "WITH AUTH")


def show_all(source: Source, span: Span, sign: Token) -> ast.Projection:
    return projection_of(None, (Star(span),), span)


def show_columns(source: Source, span: Span, *items: ast.YieldItem) -> ast.Projection:
    listed = tuple(
        ast.ReturnItem(ast.Variable(item.name, item.span), item.alias, item.name, item.span) for item in items
    )
    return projection_of(None, listed, span)


def show_yield(
    source: Source,
    span: Span,
    columns: ast.Projection,
    order: OrderBy | None,
    skip: Skip | None,
    limit: Limit | None,
    predicate: Expression | None,
) -> ShowTail:
    return ShowTail(_with_parts(columns, order, skip, limit), predicate)


def _with_parts(projection: ast.Projection, *parts: OrderBy | Skip | Limit | None) -> ast.Projection:
    for part in parts:
        if part is not None:
            projection = extended(projection, part)
    return projection


def show_return(
    source: Source,
    span: Span,
    distinct: Token | None,
    *parts: Star | ast.ReturnItem | OrderBy | Skip | Limit | None,
) -> ast.Projection:
    items = tuple(part for part in parts if isinstance(part, (Star, ast.ReturnItem)))
    others = [part for part in parts if isinstance(part, (OrderBy, Skip, Limit))]
    return _with_parts(projection_of(distinct, items, span), *others)


def show_tail(
    source: Source,
    span: Span,
    first: ShowTail | Expression,
    returned: ast.Projection | None = None,
) -> ShowTail:
    if isinstance(first, ShowTail):
        return replace(first, returned=returned)
    return ShowTail(None, first)
