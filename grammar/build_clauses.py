"""Builds clauses, queries and statements."""

from __future__ import annotations

from dataclasses import replace

from hoplite.errors import SYNTAX_ERROR, argument_error, cypher_error, position_of
from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.grammar.ast import Expression, Span
from hoplite.grammar.build_expressions import name_of, string_of
from hoplite.grammar.source import Source
from hoplite.grammar.statement import Command, Statement
from hoplite.grammar.tokens import Token
from hoplite.lazy_dataclass import dataclass

# --- WITH, RETURN and their modifiers --------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class OrderBy:
    items: tuple[ast.SortItem, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Skip:
    count: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Limit:
    count: Expression
    span: Span


@dataclass(frozen=True, slots=True)
class Star:
    span: Span


ProjectionPart = OrderBy | Skip | Limit


def star(source: Source, span: Span, sign: Token) -> Star:
    return Star(span)


def return_item(source: Source, span: Span, expression: Expression, alias: ast.Variable | None) -> ast.ReturnItem:
    written = span if alias is None else expression.span  # parentheses around an item are part of its name
    return ast.ReturnItem(expression, alias, _column_name(source, written, expression), span)


def _column_name(source: Source, span: Span, expression: Expression) -> str:
    """The name of an item without an alias: its text, or for a variable its name."""
    match expression:
        case ast.Variable(name=name):
            return name
        case ast.MapProjection(subject=subject):
            return subject.name
        case _:
            return source.between(span)


def order_by(source: Source, span: Span, *items: ast.SortItem) -> OrderBy:
    return OrderBy(items, span)


def sort_item(source: Source, span: Span, expression: Expression, order: Token | None) -> ast.SortItem:
    descending = order is not None and order.word in ("DESC", "DESCENDING")
    return ast.SortItem(expression, descending, span)


def skip(source: Source, span: Span, count: Expression) -> Skip:
    return Skip(count, span)


def limit(source: Source, span: Span, count: Expression) -> Limit:
    return Limit(count, span)


def where(source: Source, span: Span, predicate: Expression) -> Expression:
    return predicate


def with_clause(source: Source, span: Span, distinct: Token | None, *items: Star | ast.ReturnItem) -> ast.WithClause:
    return ast.WithClause(projection_of(distinct, items, span), None, span)


def return_clause(
    source: Source, span: Span, distinct: Token | None, *items: Star | ast.ReturnItem
) -> ast.ReturnClause:
    return ast.ReturnClause(projection_of(distinct, items, span), span)


def projection_of(distinct: Token | None, items: tuple[Star | ast.ReturnItem, ...], span: Span) -> ast.Projection:
    """What a RETURN, WITH or YIELD projects, before ORDER BY and the like are added."""
    listed = tuple(item for item in items if not isinstance(item, Star))
    return ast.Projection(listed, isinstance(items[0], Star), distinct is not None, (), None, None, span)


def extended(projection: ast.Projection, part: ProjectionPart) -> ast.Projection:
    """The projection with its ORDER BY, SKIP or LIMIT."""
    span = Span(projection.span.start, part.span.end)
    order, skip, limit = projection.order, projection.skip, projection.limit
    match part:
        case OrderBy(items=items):
            order = items
        case Skip(count=count):
            skip = count
        case Limit(count=count):
            limit = count
    return ast.Projection(projection.items, projection.star, projection.distinct, order, skip, limit, span)


# --- rows of clauses ------------------------------------------------------------------------------------------


def first_clause(source: Source, span: Span, clause: ast.Clause) -> list[ast.Clause]:
    return [clause]


def next_clause(source: Source, span: Span, clauses: list[ast.Clause], clause: ast.Clause) -> list[ast.Clause]:
    clauses.append(clause)
    return clauses


def attach(source: Source, span: Span, clauses: list[ast.Clause], part: ProjectionPart) -> list[ast.Clause]:
    last = clauses[-1]
    assert isinstance(last, (ast.WithClause, ast.ReturnClause))
    projection = extended(last.projection, part)
    if isinstance(last, ast.ReturnClause):
        clauses[-1] = ast.ReturnClause(projection, projection.span)
    else:
        clauses[-1] = ast.WithClause(projection, last.predicate, projection.span)
    return clauses


def attach_where(source: Source, span: Span, clauses: list[ast.Clause], predicate: Expression) -> list[ast.Clause]:
    last = clauses[-1]
    assert isinstance(last, ast.WithClause)
    clauses[-1] = replace(last, predicate=predicate, span=Span(last.span.start, span.end))
    return clauses


def lone_first(source: Source, span: Span, part: ProjectionPart) -> list[ast.Clause]:
    return lone_next(source, span, [], part)


def lone_next(source: Source, span: Span, clauses: list[ast.Clause], part: ProjectionPart) -> list[ast.Clause]:
    projection = extended(ast.Projection((), star=True, span=part.span), part)
    clauses.append(ast.WithClause(projection, None, part.span))
    return clauses


def single_query(source: Source, span: Span, clauses: list[ast.Clause]) -> ast.SingleQuery:
    return ast.SingleQuery(tuple(clauses), span)


def union_operator(source: Source, span: Span, word: Token, kind: Token | None) -> tuple[bool, Span]:
    return kind is not None and kind.word == "ALL", span


def query(
    source: Source,
    span: Span,
    first: ast.SingleQuery,
    *rest: ast.SingleQuery | tuple[bool, Span],
) -> ast.Query:
    if not rest:
        return first
    queries = (first, *(part for part in rest if isinstance(part, ast.SingleQuery)))
    operators = [part for part in rest if not isinstance(part, ast.SingleQuery)]
    return ast.Union(
        queries,
        tuple(is_all for is_all, _ in operators),
        span,
        tuple(where for _, where in operators),
    )


# --- reading clauses ------------------------------------------------------------------------------------------


def match_clause(
    source: Source,
    span: Span,
    optional: Token | None,
    mode: str | None,
    patterns: tuple[ast.PathPattern, ...],
    *rest: ast.Hint | Expression | None,
) -> ast.MatchClause:
    hints = tuple(part for part in rest if isinstance(part, ast.Hint))
    predicate = rest[-1]
    assert not isinstance(predicate, ast.Hint)
    return ast.MatchClause(patterns, predicate, optional is not None, mode, hints, span)


def match_mode(source: Source, span: Span, word: Token) -> str:
    return "REPEATABLE ELEMENTS" if word.word == "REPEATABLE" else "DIFFERENT RELATIONSHIPS"


def index_hint(
    source: Source,
    span: Span,
    kind: Token | None,
    variable: ast.Variable,
    label: Token,
    *keys: Token,
) -> ast.Hint:
    kind_name = "INDEX" if kind is None else f"{kind.word} INDEX"
    return ast.Hint(kind_name, (variable,), name_of(label), tuple(map(name_of, keys)), span)


def scan_hint(source: Source, span: Span, variable: ast.Variable, label: Token) -> ast.Hint:
    return ast.Hint("SCAN", (variable,), name_of(label), (), span)


def join_hint(source: Source, span: Span, *variables: ast.Variable) -> ast.Hint:
    return ast.Hint("JOIN", variables, None, (), span)


def unwind_clause(source: Source, span: Span, expression: Expression, variable: ast.Variable) -> ast.UnwindClause:
    return ast.UnwindClause(expression, variable, span)


def use_clause(source: Source, span: Span, graph: str | ast.FunctionCall) -> ast.UseClause:
    if isinstance(graph, str):
        return ast.UseClause(graph, None, span)
    return ast.UseClause(None, graph, span)


def finish_clause(source: Source, span: Span) -> ast.FinishClause:
    return ast.FinishClause(span)


def with_headers(source: Source, span: Span, word: Token) -> bool:
    return True


def field_terminator(source: Source, span: Span, text: Token) -> str:
    terminator = string_of(text)
    if len(terminator.encode("utf-16-le", "surrogatepass")) != 2:
        message = "CSV field terminator can only be one character wide"
        source.complain(message, text.start, because("42I05"))
    return terminator


def load_csv_clause(
    source: Source,
    span: Span,
    headers: bool | None,
    url: Expression,
    variable: ast.Variable,
    terminator: str | None,
) -> ast.LoadCsvClause:
    return ast.LoadCsvClause(url, variable, headers is not None, terminator, span)


# --- CALL -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Yield:
    items: tuple[ast.YieldItem, ...] | None
    predicate: Expression | None


def call_arguments(source: Source, span: Span, *arguments: Expression) -> tuple[Expression, ...]:
    return arguments


def yield_star(source: Source, span: Span, sign: Token) -> Yield:
    return Yield(None, None)


def yield_items(source: Source, span: Span, *parts: ast.YieldItem | Expression | None) -> Yield:
    predicate = parts[-1]
    assert not isinstance(predicate, ast.YieldItem)
    items = tuple(part for part in parts if isinstance(part, ast.YieldItem))
    return Yield(items, predicate)


def yield_item(source: Source, span: Span, name: Token, alias: ast.Variable | None) -> ast.YieldItem:
    return ast.YieldItem(name_of(name), alias, span)


def call_procedure(
    source: Source,
    span: Span,
    optional: Token | None,
    name: tuple[str, Span],
    arguments: tuple[Expression, ...] | None,
    yielded: Yield | None,
) -> ast.CallProcedure:
    return ast.CallProcedure(
        name[0],
        arguments,
        yielded.items if yielded else None,
        yielded is not None and yielded.items is None,
        yielded.predicate if yielded else None,
        optional is not None,
        span,
        name[1],
    )


def procedure_name(source: Source, span: Span, *parts: Token) -> tuple[str, Span]:
    return ".".join(map(name_of, parts)), span


def import_all(source: Source, span: Span, sign: Token) -> tuple[tuple[ast.Variable, ...], bool]:
    return (), True


def imports(source: Source, span: Span, *variables: ast.Variable) -> tuple[tuple[ast.Variable, ...], bool]:
    return variables, False


def call_subquery(
    source: Source,
    span: Span,
    optional: Token | None,
    scope: tuple[tuple[ast.Variable, ...], bool] | None,
    query: ast.Query,
    in_transactions: ast.InTransactions | None,
) -> ast.CallSubquery:
    variables, import_all = scope if scope is not None else (None, False)
    return ast.CallSubquery(query, variables, import_all, optional is not None, in_transactions, span)


@dataclass(frozen=True, slots=True)
class Concurrency:
    count: Expression | None


def concurrency(source: Source, span: Span, count: Expression | None, word: Token) -> Concurrency:
    return Concurrency(count)


def rows_option(source: Source, span: Span, rows: Expression) -> tuple[str, Expression, Span]:
    return "rows", rows, span


def error_option(source: Source, span: Span, behaviour: Token) -> tuple[str, str, Span]:
    return "on_error", behaviour.word, span


def status_option(source: Source, span: Span, variable: ast.Variable) -> tuple[str, ast.Variable, Span]:
    return "status", variable, span


_OPTION_NAMES = {"rows": "OF ROWS", "on_error": "ON ERROR", "status": "REPORT STATUS"}


def in_transactions(
    source: Source,
    span: Span,
    concurrency: Concurrency | None,
    *options: tuple[str, Expression | str, Span],
) -> ast.InTransactions:
    given: dict[str, Expression | str] = {}
    for name, value, where in options:
        if name in given:
            source.complain(f"Duplicated {_OPTION_NAMES[name]} parameters", where.start)
        given[name] = value
    rows, on_error, status = given.get("rows"), given.get("on_error"), given.get("status")
    assert not isinstance(rows, str)
    assert on_error is None or isinstance(on_error, str)
    assert status is None or isinstance(status, ast.Variable)
    count: Expression | None = None
    if concurrency is not None:
        # CONCURRENT without a number leaves the choice to the server; 0 stands for that
        count = concurrency.count or ast.Literal(0, span)
    return ast.InTransactions(rows, count, on_error, status, span)


# --- writing clauses ------------------------------------------------------------------------------------------


def create_clause(source: Source, span: Span, patterns: tuple[ast.PathPattern, ...]) -> ast.CreateClause:
    return ast.CreateClause(patterns, span)


def merge_action(source: Source, span: Span, event: Token, *items: ast.SetItem) -> tuple[str, tuple[ast.SetItem, ...]]:
    return event.word, items


def merge_clause(
    source: Source,
    span: Span,
    pattern: ast.PathPattern,
    *actions: tuple[str, tuple[ast.SetItem, ...]],
) -> ast.MergeClause:
    on_create = tuple(item for event, items in actions if event == "CREATE" for item in items)
    on_match = tuple(item for event, items in actions if event == "MATCH" for item in items)
    return ast.MergeClause(pattern, on_create, on_match, span)


def set_clause(source: Source, span: Span, *items: ast.SetItem) -> ast.SetClause:
    return ast.SetClause(items, span)


def set_property(source: Source, span: Span, target: ast.Property, value: Expression) -> ast.SetProperty:
    return ast.SetProperty(target, value, span)


def set_dynamic_property(source: Source, span: Span, target: ast.Index, value: Expression) -> ast.SetDynamicProperty:
    return ast.SetDynamicProperty(target, value, span)


def replace_properties(source: Source, span: Span, variable: ast.Variable, value: Expression) -> ast.SetProperties:
    return ast.SetProperties(variable, value, False, span)


def add_properties(source: Source, span: Span, variable: ast.Variable, value: Expression) -> ast.SetProperties:
    return ast.SetProperties(variable, value, True, span)


def set_labels(
    source: Source,
    span: Span,
    variable: ast.Variable,
    *labels: ast.LabelName | ast.DynamicLabel,
) -> ast.SetLabels:
    return ast.SetLabels(variable, labels, span)


def remove_clause(source: Source, span: Span, *items: ast.RemoveItem) -> ast.RemoveClause:
    return ast.RemoveClause(items, span)


def remove_property(source: Source, span: Span, target: ast.Property | ast.Index) -> ast.RemoveProperty:
    return ast.RemoveProperty(target, span)


def remove_labels(
    source: Source,
    span: Span,
    variable: ast.Variable,
    *labels: ast.LabelName | ast.DynamicLabel,
) -> ast.RemoveLabels:
    return ast.RemoveLabels(variable, labels, span)


def delete_clause(source: Source, span: Span, detach: Token | None, *expressions: Expression) -> ast.DeleteClause:
    return ast.DeleteClause(expressions, detach is not None and detach.word == "DETACH", span)


def foreach_clause(
    source: Source,
    span: Span,
    variable: ast.Variable,
    items: Expression,
    separator: Token,
    body: ast.SingleQuery,
) -> ast.ForeachClause:
    return ast.ForeachClause(variable, items, body.clauses, span)


# --- statements -----------------------------------------------------------------------------------------------


def mode(source: Source, span: Span, word: Token) -> str:
    return word.word


def option(source: Source, span: Span, name: Token, value: Token) -> tuple[str, str]:
    if value.text[0].isdigit():
        place = position_of(source.text, value.start)
        found = f'Encountered " <VERSION> "{value.text}"" at line {place.line}, column {place.column}.'
        message = f"{found}\n\nWas expecting:\n\n<IDENTIFIER> ...\n    "
        source.complain(message, value.start, because("42I47", message))
    return name_of(name), name_of(value)


def cypher_options(
    source: Source, span: Span, version: Token | None, *options: tuple[str, str]
) -> tuple[tuple[str, str], ...]:
    if version is None:
        return options
    if version.text != "5":
        raise argument_error(
            f"{version.text} is not a valid option for cypher version. Valid options are: 5",
            because("22N10", version.text, "cypher version", "'5'"),
        )
    return ("version", version.text), *options


def statement(
    source: Source,
    span: Span,
    *parts: str | tuple[tuple[str, str], ...] | ast.UseClause | ast.Query | Command,
) -> Statement:
    modes = [part for part in parts if isinstance(part, str)]
    options = [option for part in parts if isinstance(part, tuple) for option in part]
    if len(set(modes)) > 1:
        raise argument_error(
            "Can't specify multiple conflicting values for execution mode", because("22N09", "execution mode")
        )
    body = parts[-1]
    assert not isinstance(body, (str, tuple, ast.UseClause))
    use = next((part for part in parts if isinstance(part, ast.UseClause)), None)
    return Statement(body, modes[0] if modes else None, tuple(options), use, span)


def start(source: Source, span: Span, *statements: Statement) -> Statement:
    if len(statements) > 1:
        offset = statements[0].body.span.start
        place = f"(line 0, column 0 (offset: {offset}))"
        first_line = source.text.split("\n", 1)[0].rstrip()
        message = f"Expected exactly one statement per query but got: {len(statements)}"
        raise cypher_error(SYNTAX_ERROR, f'{message} {place}\n"{first_line}"\n{" " * (offset + 1)}^')
    return statements[0]
