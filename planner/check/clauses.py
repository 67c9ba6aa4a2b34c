"""Clauses in sequence: what each declares, reads and requires, and which orders are allowed.

`check_query` walks a query (or a subquery) and returns its columns with their types.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import pairwise
from typing import assert_never

from hoplite.gql_status import UNCLASSIFIED, because
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner.check import writes
from hoplite.planner.check.expressions import PROJECTED, check_predicate, forbid_aggregates, type_of
from hoplite.planner.check.hints import check_hints
from hoplite.planner.check.labels import forbid_mixed_labels
from hoplite.planner.check.paths import forbid_mixed_lengths, forbid_mixed_shortest
from hoplite.planner.check.patterns import check_match
from hoplite.planner.check.procedures import check_procedure
from hoplite.planner.check.projections import check_count, check_projection
from hoplite.planner.check.scopes import Guard, Scope
from hoplite.planner.check.state import BOOLEANS, Check
from hoplite.planner.check.typespec import ALL, LISTS, TypeSpec, exactly, list_spec
from hoplite.planner.check.written_patterns import check_insert, check_written
from hoplite.planner.types import INTEGER, MAP, STRING

Columns = dict[str, TypeSpec]

UPDATES = (
    ast.CreateClause,
    ast.MergeClause,
    ast.SetClause,
    ast.RemoveClause,
    ast.DeleteClause,
    ast.ForeachClause,
)
_ENDINGS = (
    "(must be a RETURN clause, a FINISH clause, an update clause, a unit subquery call, "
    "or a procedure call with no YIELD)."
)


def clause_name(clause: ast.Clause) -> str:
    """The keyword that messages use for a clause."""
    match clause:
        case ast.MatchClause():
            return "MATCH"
        case ast.WithClause():
            return "WITH"
        case ast.ReturnClause():
            return "RETURN"
        case ast.FinishClause():
            return "FINISH"
        case ast.UnwindClause():
            return "UNWIND"
        case ast.CallSubquery() | ast.CallProcedure():
            return "CALL"
        case ast.CreateClause():
            return "CREATE"
        case ast.MergeClause():
            return "MERGE"
        case ast.SetClause():
            return "SET"
        case ast.RemoveClause():
            return "REMOVE"
        case ast.DeleteClause():
            return "DELETE"
        case ast.ForeachClause():
            return "FOREACH"
        case ast.LoadCsvClause():
            return "LOAD CSV"
        case ast.UseClause():
            return "USE"
        case _:
            assert_never(clause)


class Ending:
    """How a query must end: in some places it needs no RETURN."""

    QUERY = "query"
    SUBQUERY_CALL = "call"  # CALL { }: columns need names
    EXPRESSION = "expression"  # EXISTS { }, COUNT { }: no RETURN needed


def check_query(check: Check, query: ast.Query, scope: Scope, ending: str = Ending.QUERY) -> Columns:
    """Check a query in a scope; returns its columns."""
    if isinstance(query, ast.SingleQuery):
        return _check_single(check, query, scope, ending)
    return _check_union(check, query, scope, ending)


def _check_union(check: Check, union: ast.Union, scope: Scope, ending: str) -> Columns:
    columns: Columns = {}
    for index, query in enumerate(union.queries):
        mine = _check_single(check, query, Scope(dict(scope.names), scope.outer, scope.guard), ending)
        for clause in query.clauses:
            if isinstance(clause, ast.CallSubquery) and clause.in_transactions is not None:
                raise check.error("CALL { ... } IN TRANSACTIONS in a UNION is not supported", clause.span.start)
        if index == 0:
            columns = mine
            continue
        keyword = union.union_spans[index - 1].start if union.union_spans else query.span.start
        if set(mine) != set(columns):
            message = "All sub queries in an UNION must have the same return column names"
            raise check.error(message, keyword, because("42N39"))
        if index > 1 and union.all[index - 1] != union.all[index - 2]:
            raise check.error("Invalid combination of UNION and UNION ALL", keyword, because("42I40"))
        columns = {name: types | mine[name] for name, types in columns.items()}
    return columns


def _check_single(check: Check, query: ast.SingleQuery, scope: Scope, ending: str) -> Columns:
    clauses = query.clauses
    columns: Columns = {}
    for clause in clauses:
        scope, returned = _check_clause(check, clause, scope, ending)
        forbid_mixed_labels(check, clause)
        forbid_mixed_shortest(check, clause)
        if returned is not None:
            columns = returned
    _check_use(check, clauses, ending)
    _check_order(check, clauses, ending)
    _check_transactions(check, clauses)
    return columns


def _check_use(check: Check, clauses: tuple[ast.Clause, ...], ending: str) -> None:
    importing = ending == Ending.SUBQUERY_CALL and isinstance(clauses[0], ast.WithClause)
    for clause in clauses[2 if importing else 1 :]:
        if isinstance(clause, ast.UseClause):
            message = (
                "USE clause must be either the first clause in a (sub-)query or preceded by an importing WITH clause "
                "in a sub-query."
            )
            raise check.error(message, clause.span.start)


def forbid_several_graphs(check: Check, nodes: Iterable[object]) -> None:
    """All USE clauses of a statement name one graph."""
    uses = [node for node in nodes if isinstance(node, ast.UseClause) and node.name is not None]
    for use in uses[1:]:
        assert use.name is not None and uses[0].name is not None
        if use.name.lower() != uses[0].name.lower():
            message = (
                "Multiple graphs in the same query not allowed here. This feature is only available on composite "
                f"databases.\nAttempted to access graph {use.name}"
            )
            raise check.error(message, use.span.start)


def _check_order(check: Check, clauses: tuple[ast.Clause, ...], ending: str) -> None:
    for clause, following in pairwise(clauses):
        match clause:
            case ast.ReturnClause():
                message = "RETURN can only be used at the end of the query."
                raise check.error(message, clause.span.start, because("42I38"))
            case ast.FinishClause():
                raise check.error("FINISH can only be used at the end of the query.", clause.span.start)
            case _ if isinstance(clause, UPDATES):
                if isinstance(following, (*UPDATES, ast.WithClause, ast.ReturnClause, ast.FinishClause)):
                    continue
                message = f"WITH is required between {clause_name(clause)} and {clause_name(following)}"
                cause = because("42N24", clause_name(clause), clause_name(following))
                raise check.error(message, following.span.start, cause)
            case _:
                continue
    if ending == Ending.EXPRESSION or not clauses:
        return
    last = clauses[-1]
    if not _may_end(last, alone=all(isinstance(clause, ast.UseClause) for clause in clauses[:-1])):
        message = f"Query cannot conclude with {clause_name(last)} {_ENDINGS}"
        raise check.error(message, last.span.start, because("42N71"))


def _may_end(clause: ast.Clause, *, alone: bool) -> bool:
    match clause:
        case ast.ReturnClause() | ast.FinishClause():
            return True
        case ast.CallSubquery(query=query, in_transactions=batches):
            return not _returns(query) and (batches is None or batches.status is None)
        case ast.CallProcedure(items=items, star=star):
            return alone or (items is None and not star)
        case _:
            return isinstance(clause, UPDATES)


def _forbid_subqueries(check: Check, clause: ast.MergeClause) -> None:
    for node in walk(clause):
        if isinstance(node, ast.SubqueryExpression):
            raise check.error("Subquery expressions are not allowed in a MERGE clause.", node.span.start)


def _returns(query: ast.Query) -> bool:
    queries = query.queries if isinstance(query, ast.Union) else (query,)
    return any(isinstance(single.clauses[-1], ast.ReturnClause) for single in queries if single.clauses)


def _check_transactions(check: Check, clauses: tuple[ast.Clause, ...]) -> None:
    written = False
    for clause in clauses:
        if isinstance(clause, ast.CallSubquery) and clause.in_transactions is not None and written:
            message = "CALL { ... } IN TRANSACTIONS after a write clause is not supported"
            raise check.error(message, clause.span.start, because("42I25"))
        written = written or isinstance(clause, UPDATES)


def _check_clause(check: Check, clause: ast.Clause, scope: Scope, ending: str) -> tuple[Scope, Columns | None]:
    """Check one clause; returns the scope after it, and its columns if the query returns them."""
    match clause:
        case ast.MatchClause():
            _check_match(check, clause, scope)
        case ast.WithClause():
            projected = check_projection(check, clause.projection, clause.predicate, clause, scope, alias_rule="WITH")
            return projected.scope, None
        case ast.ReturnClause():
            rule = "CALL { RETURN ... }" if ending == Ending.SUBQUERY_CALL else None
            projected = check_projection(check, clause.projection, None, clause, scope, alias_rule=rule)
            return projected.scope, projected.columns
        case ast.FinishClause() | ast.UseClause():
            pass
        case ast.UnwindClause(expression=expression, variable=variable):
            types = type_of(check, expression, scope, PROJECTED)
            forbid_aggregates(check, expression, subqueries=False)
            check.declare(variable, _elements(types), scope)
        case ast.CallSubquery():
            _check_call(check, clause, scope)
        case ast.CallProcedure():
            return scope, check_procedure(check, clause, scope)
        case ast.CreateClause(patterns=patterns):
            is_insert = check.text[clause.span.start :][:6].upper() == "INSERT"
            if is_insert:
                check_insert(check, clause)
            check_written(check, patterns, scope, "INSERT" if is_insert else "CREATE")
        case ast.MergeClause(pattern=pattern):
            _forbid_subqueries(check, clause)
            check_written(check, (pattern,), scope, "MERGE")
            for node in walk(clause):
                if isinstance(node, ast.SubqueryExpression):
                    message = "Subquery expressions are not allowed in a MERGE clause."
                    raise check.error(message, node.span.start)
            for items in (clause.on_create, clause.on_match):
                writes.check_together(check, items, "SET")
                for item in items:
                    writes.check_set(check, item, scope)
        case ast.SetClause(items=items):
            writes.check_together(check, items, "SET")
            for item in items:
                writes.check_set(check, item, scope)
        case ast.RemoveClause(items=removed):
            writes.check_together(check, removed, "REMOVE")
            for gone in removed:
                writes.check_remove(check, gone, scope)
        case ast.DeleteClause(expressions=expressions):
            for expression in expressions:
                writes.check_delete(check, expression, scope)
        case ast.ForeachClause():
            _check_foreach(check, clause, scope)
        case ast.LoadCsvClause(url=url, variable=variable):
            check.expect(exactly(STRING), type_of(check, url, scope), url)
            row = exactly(MAP) if clause.with_headers else list_spec(exactly(STRING))
            check.declare(variable, row, scope)
        case _:
            assert_never(clause)
    return scope, None


def _check_match(check: Check, clause: ast.MatchClause, scope: Scope) -> None:
    check_match(check, clause, scope)
    if clause.predicate is not None:
        check_predicate(check, clause.predicate, scope)
    check_hints(check, clause, scope)
    forbid_mixed_lengths(check, clause)


def _elements(types: TypeSpec) -> TypeSpec:
    """What UNWIND and FOREACH iterate over: the elements of a list; any other value counts as a list of itself."""
    if types.everything:
        return ALL
    return types.unwrapped | TypeSpec(types.simple)


def _check_foreach(check: Check, clause: ast.ForeachClause, scope: Scope) -> None:
    types = type_of(check, clause.source, scope)
    inner = scope.inner(guard=Guard.READ)
    check.declare(clause.variable, _elements(types), inner)
    for part in clause.clauses:
        if not isinstance(part, UPDATES):
            message = f"Invalid use of {clause_name(part)} inside FOREACH"
            raise check.error(message, part.span.start, because("42I01", clause_name(part)))
        inner, _ = _check_clause(check, part, inner, Ending.QUERY)


# --- subqueries ------------------------------------------------------------------------------------------------------


def _check_call(check: Check, clause: ast.CallSubquery, scope: Scope) -> None:
    batches = clause.in_transactions
    if batches is not None:
        _check_batches(check, batches)
        for inner in _own_clauses(clause.query):
            if isinstance(inner, ast.CallSubquery) and inner.in_transactions is not None:
                raise check.error("Nested CALL { ... } IN TRANSACTIONS is not supported", inner.span.start)
    else:
        _forbid_nested_batches(check, clause.query)
    columns = _subquery_columns(check, clause, scope)
    listed = {variable.name for variable in clause.imports or ()}
    for name, types in columns.items():
        offset = _column_offset(check, clause.query, name)
        if name in scope.names or name in listed:
            status = UNCLASSIFIED if clause.imports == () and not clause.import_all else because("42N07", name)
            raise check.error(f"Variable `{name}` already declared in outer scope", offset, status)
        if scope.guard is Guard.IMPORTED:
            check.forbid_shadowing(name, offset, scope)
        scope.names[name] = types
    if batches is not None and batches.status is not None:
        check.declare(batches.status, exactly(MAP), scope)


def _own_clauses(query: ast.Query) -> Iterator[ast.Clause]:
    """The clauses of all parts of a query."""
    for single in query.queries if isinstance(query, ast.Union) else (query,):
        yield from single.clauses


def _subquery_columns(check: Check, clause: ast.CallSubquery, scope: Scope) -> Columns:
    query = clause.query
    if clause.imports is None and not clause.import_all:
        return _check_importing(check, clause, scope)
    if clause.import_all:
        imported = scope.importable()
        check.star_imports[clause.span.start] = frozenset(imported)
    else:
        imported = {v.name: check.look_up(v, scope.inner()) for v in clause.imports or ()}
        for single in query.queries if isinstance(query, ast.Union) else (query,):
            _note_shadows(check, single, imported, scope)
    inner = Scope({}, Scope(imported), Guard.IMPORTED)
    return check_query(check, query, inner, Ending.SUBQUERY_CALL)


def _check_importing(check: Check, clause: ast.CallSubquery, scope: Scope) -> Columns:
    """A CALL without a scope clause: a leading WITH names what each of its queries imports."""
    columns: Columns = {}
    query = clause.query
    queries = query.queries if isinstance(query, ast.Union) else (query,)
    scopes: list[tuple[ast.SingleQuery, Scope]] = []
    for single in queries:
        first = single.clauses[0] if single.clauses else None
        if isinstance(first, ast.WithClause) and _imports(first):
            _check_import(check, first)
            if len(single.clauses) == 1:
                message = f"Query must conclude with {_ENDINGS[len('(must be ') : -len(').')]}."
                raise check.error(message, first.span.start)
            inner = Scope()
            if first.projection.star:
                inner.names.update(scope.names)
                check.star_imports[clause.span.start] = frozenset(scope.names)
            for item in first.projection.items:
                assert isinstance(item.expression, ast.Variable)
                inner.names[item.name] = check.look_up(item.expression, scope)
            scopes.append((ast.SingleQuery(single.clauses[1:], single.span), inner))
        else:
            if isinstance(first, ast.WithClause):
                _check_import(check, first, scope)
            scopes.append((single, Scope()))
    for index, (single, inner) in enumerate(scopes):
        _note_shadows(check, single, inner.names, scope)
        mine = _check_single(check, single, inner, Ending.SUBQUERY_CALL)
        if index == 0:
            columns = mine
        elif isinstance(query, ast.Union) and set(mine) != set(columns):
            message = "All sub queries in an UNION must have the same return column names"
            raise check.error(message, query.union_spans[index - 1].start, because("42N39"))
        else:
            columns = {name: types | mine[name] for name, types in columns.items()}
    return columns


def _note_shadows(check: Check, query: ast.SingleQuery, imported: Columns, outer: Scope) -> None:
    """Remember the variables of a subquery that shadow an outer variable that was not imported."""
    seen: set[str] = set()
    for node in walk(query):
        if not isinstance(node, ast.Variable) or node.name in seen:
            continue
        if node.name in outer.names and node.name not in imported:
            seen.add(node.name)
            check.mentions.shadows[node.span.start] = node.name


def _imports(clause: ast.WithClause) -> bool:
    """Whether a leading WITH only names variables (possibly with modifiers that are not allowed there)."""
    projection = clause.projection
    return (bool(projection.items) or projection.star) and all(
        isinstance(item.expression, ast.Variable) and item.alias is None for item in projection.items
    )


def _check_import(check: Check, clause: ast.WithClause, scope: Scope | None = None) -> None:
    projection = clause.projection
    prefix = "Importing WITH should consist only of simple references to outside variables."
    problem = None
    if scope is not None:
        # A WITH of expressions alone imports nothing; if it also names an outer variable, it is an invalid import.
        used = [node for item in projection.items for node in walk(item.expression)]
        if not any(isinstance(node, ast.Variable) and scope.find(node.name) is not None for node in used):
            return
        problem = "Aliasing or expressions are not supported."
    elif projection.distinct:
        problem = "DISTINCT is not allowed."
    elif projection.order:
        problem = "ORDER BY is not allowed."
    elif clause.predicate is not None:
        problem = "WHERE is not allowed."
    elif projection.skip is not None:
        problem = "SKIP is not allowed."
    elif projection.limit is not None:
        problem = "LIMIT is not allowed."
    if problem is not None:
        raise check.error(f"{prefix} {problem}", clause.span.start)


def _column_offset(check: Check, query: ast.Query, name: str) -> int:
    single = query.queries[0] if isinstance(query, ast.Union) else query
    last = single.clauses[-1]
    if isinstance(last, ast.ReturnClause):
        for item in last.projection.items:
            if item.name == name:
                return item.expression.span.start if item.alias is None else item.alias.span.start
        return check.text.find("*", last.span.start) if last.projection.star else last.span.start
    return last.span.start


def _check_batches(check: Check, batches: ast.InTransactions) -> None:
    if batches.rows is not None:
        check_count(check, batches.rows, "OF ... ROWS", "positive")
    if batches.concurrency is not None and batches.concurrency.span != batches.span:  # CONCURRENT with a number
        check_count(check, batches.concurrency, "IN ... CONCURRENT", "positive")
    if batches.status is not None and batches.on_error not in ("CONTINUE", "BREAK"):
        message = "REPORT STATUS can only be used when specifying ON ERROR CONTINUE or ON ERROR BREAK"
        raise check.error(message, _report_offset(check, batches))


def _report_offset(check: Check, batches: ast.InTransactions) -> int:
    found = check.text.upper().rfind("REPORT", 0, batches.status.span.start if batches.status else None)
    return batches.span.start if found < 0 else found


def _forbid_nested_batches(check: Check, query: ast.Query) -> None:
    for node in walk(query):
        if isinstance(node, ast.CallSubquery) and node.in_transactions is not None:
            message = "CALL { ... } IN TRANSACTIONS nested in a regular CALL is not supported"
            raise check.error(message, node.span.start)


def check_subquery_expression(check: Check, node: ast.SubqueryExpression, scope: Scope) -> TypeSpec:
    """Check an EXISTS, COUNT or COLLECT; returns the types of its value."""
    name = {"EXISTS": "An Exists", "COUNT": "A Count", "COLLECT": "A Collect"}[node.kind]
    if any(isinstance(inner, ast.FinishClause) for inner in walk(node.query)):
        raise check.error(f"{name} Expression cannot contain a query ending with FINISH.", node.span.start)
    if _updates(check, node.query):
        cause = because("42N57", node.kind.capitalize())
        raise check.error(f"{name} Expression cannot contain any updates", node.span.start, cause)
    if node.kind == "COLLECT" and not _single_column(node.query):
        message = "A Collect Expression must end with a single return column."
        raise check.error(message, node.span.start, because("42N22"))
    inner = scope.inner(guard=Guard.SUBQUERY)
    # A UNION that compares the rows of its parts needs their columns; EXISTS does not ask for them.
    compared = node.kind == "COUNT" and isinstance(node.query, ast.Union) and not all(node.query.all)
    ending = Ending.QUERY if node.kind == "COLLECT" or compared else Ending.EXPRESSION
    check_query(check, node.query, inner, ending)
    _forbid_used_shadows(check, node.query, scope)
    match node.kind:
        case "EXISTS":
            return BOOLEANS
        case "COUNT":
            return exactly(INTEGER)
        case _:
            return LISTS


def _forbid_used_shadows(check: Check, query: ast.Query, outer: Scope) -> None:
    """An inner CALL may return an outer name as long as nothing reads it."""
    for single in query.queries if isinstance(query, ast.Union) else (query,):
        for number, clause in enumerate(single.clauses):
            if not isinstance(clause, ast.CallSubquery):
                continue
            first = clause.query.queries[0] if isinstance(clause.query, ast.Union) else clause.query
            last = first.clauses[-1]
            for item in last.projection.items if isinstance(last, ast.ReturnClause) else ():
                later = (node for after in single.clauses[number + 1 :] for node in walk(after))
                if outer.find(item.name) is not None and any(
                    isinstance(node, ast.Variable) and node.name == item.name for node in later
                ):
                    shadowing = Scope({}, outer, Guard.SUBQUERY)
                    check.forbid_shadowing(item.name, _column_offset(check, clause.query, item.name), shadowing)


def _updates(check: Check, query: ast.Query) -> bool:
    for node in walk(query):
        if isinstance(node, UPDATES):
            return True
        if check.resolved and isinstance(node, ast.CallProcedure):
            procedure = check.catalogue.procedure(node.name)
            if procedure is not None and procedure.mode in ("WRITE", "SCHEMA"):
                return True
    return False


def _single_column(query: ast.Query) -> bool:
    """Whether a COLLECT returns one named column; one that returns nothing is left to the check of how queries end."""
    for single in query.queries if isinstance(query, ast.Union) else (query,):
        last = single.clauses[-1]
        if isinstance(last, ast.ReturnClause) and (last.projection.star or len(last.projection.items) != 1):
            return False
    return True
