"""From clauses to a logical plan: each clause puts operators on top of those of the clauses before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import assert_never

from hoplite.errors import DATABASE_NOT_FOUND, CypherError, semantic_error, unsupported
from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.absorb import absorb_path_predicates
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.choose import Origins, choose
from hoplite.planner.consecutive_matches import can_be_matched_together, consecutive_matches
from hoplite.planner.cost import Estimates
from hoplite.planner.csv_place import PLACES, with_places, without_places
from hoplite.planner.determinism import is_deterministic
from hoplite.planner.optimise import optimise
from hoplite.planner.parts import Term
from hoplite.planner.patterns import Many, Names, Path, PatternGraph, PatternReader, Selected, conjuncts
from hoplite.planner.projections import NOTHING_CARRIED, NOTHING_IMPORTED, Carried, Imported, ProjectionBuilder
from hoplite.planner.solve import Solver
from hoplite.planner.standalone import standalone_call
from hoplite.planner.subqueries import plan_subqueries
from hoplite.planner.variables import free_variables
from hoplite.planner.writes import Writes, has_writes


@dataclass(frozen=True, slots=True)
class Built:
    """A plan, what is in scope above it, and the columns it returns (None where it returns nothing)."""

    plan: lp.Plan
    scope: frozenset[str]
    columns: tuple[str, ...] | None


class Builder:
    """Builds the plan of one statement."""

    def __init__(
        self, catalogue: Catalogue, text: str = "", star_imports: Mapping[int, frozenset[str]] | None = None
    ) -> None:
        self.catalogue = catalogue
        self.text = text
        self.star_imports = star_imports or {}
        self.estimates = Estimates(catalogue)
        self.origins: Origins = {}
        self.names = Names()
        self.writes = Writes(self)
        self.standalone: ast.CallProcedure | None = None
        self.loads_csv = "csv" in text.lower()  # perhaps: the query is searched only if so

    def expression(self, expression: ast.Expression, scope: frozenset[str]) -> Term:
        """The expression with its subqueries planned."""
        if self.loads_csv:
            expression = without_places(expression, scope)
        term: Term = plan_subqueries(expression, scope, self)
        return term

    def physical(self, plan: lp.Plan) -> pp.Plan:
        """The plan that runs: after the rewrite rules, with a physical operator chosen for each step."""
        return choose(self.optimised(plan), self.origins)

    def optimised(self, plan: lp.Plan) -> lp.Plan:
        """The plan after the rewrite rules."""
        return optimise(plan, self.catalogue)

    # --- queries -----------------------------------------------------------------------------------------------

    def statement(self, query: ast.Query) -> Built:
        """A whole statement."""
        self.standalone = standalone_call(query)
        return self.query(with_places(query) if self.loads_csv else query, lp.Argument(), frozenset())

    def query(
        self, query: ast.Query, plan: lp.Plan, scope: frozenset[str], imported: Imported = NOTHING_IMPORTED
    ) -> Built:
        """A query run over the rows of `plan`, with these names in scope; `imported` names stay visible after every
        WITH."""
        match query:
            case ast.SingleQuery():
                return self.single(query, plan, scope, imported)
            case ast.Union():
                return self.union(query, plan, scope, imported)
            case _:
                assert_never(query)

    def union(self, union: ast.Union, plan: lp.Plan, scope: frozenset[str], imported: Imported) -> Built:
        """The rows of all parts, without duplicates unless ALL."""
        parts = [self.single(part, plan, scope, imported) for part in union.queries]
        columns = parts[0].columns
        if columns is None:
            return Built(lp.Union(tuple(p.plan for p in parts), ()), scope, None)
        together: lp.Plan = lp.Union(tuple(lp.Select(p.plan, columns) for p in parts), columns)
        if not all(union.all):
            together = lp.Distinct(together, columns)
        return Built(together, frozenset(columns), columns)

    def single(
        self, query: ast.SingleQuery, plan: lp.Plan, scope: frozenset[str], imported: Imported = NOTHING_IMPORTED
    ) -> Built:
        """Clauses one after the other."""
        columns: tuple[str, ...] | None = None
        matched = 0  # clauses before this index are planned: one step may plan several MATCHes
        for number, clause in enumerate(query.clauses):
            match clause:
                case ast.MatchClause():
                    if number >= matched:
                        clauses = consecutive_matches(query.clauses[number:])
                        matched = number + len(clauses)
                        plan, scope = self.match(clauses, plan, scope)
                case ast.WithClause(projection=projection, predicate=predicate):
                    carried = imported.through(query.clauses[number:], tuple(sorted(scope & PLACES)))
                    plan, names = self.projection(projection, predicate, plan, scope, carried)
                    scope = frozenset(names)
                case ast.ReturnClause(projection=projection):
                    carried = imported.through((clause,), (), returning=True)
                    plan, columns = self.projection(projection, None, plan, scope, carried)
                    scope = frozenset(columns)
                case ast.FinishClause():
                    columns = None
                case ast.UnwindClause(expression=expression, variable=variable):
                    plan = lp.Unwind(plan, self.expression(expression, scope), variable.name)
                    scope |= {variable.name}
                case ast.CallSubquery():
                    plan, scope = self.call_subquery(clause, plan, scope)
                case ast.CallProcedure():
                    plan, scope, yielded = self.call_procedure(clause, plan, scope)
                    if clause is self.standalone and yielded:
                        columns = yielded
                        plan = lp.Select(plan, columns)
                case ast.LoadCsvClause(url=url, variable=variable):
                    plan = lp.LoadCSV(
                        plan,
                        self.expression(url, scope),
                        variable.name,
                        clause.with_headers,
                        clause.field_terminator,
                    )
                    scope |= {variable.name} | PLACES
                case ast.UseClause():
                    self.use(clause)
                case (
                    ast.CreateClause()
                    | ast.MergeClause()
                    | ast.SetClause()
                    | ast.RemoveClause()
                    | ast.DeleteClause()
                    | ast.ForeachClause()
                ):
                    plan, scope = self.writes.clause(clause, plan, scope)
                case _:
                    assert_never(clause)
        return Built(plan, scope, columns)

    def use(self, clause: ast.UseClause) -> None:
        """USE: there is only one database, named like Neo4j's default."""
        if clause.name is None:
            raise unsupported("USE with a graph that is computed")
        if clause.name.lower() == "system":
            raise semantic_error(
                "Not a recognised system command or procedure. This Cypher command can only be executed in a user "
                f"database: {self.text}",
                because("42N17", self.text),
            )
        if clause.name.lower() != "neo4j":
            raise CypherError(DATABASE_NOT_FOUND, f"Graph not found: {clause.name}")

    def projection(
        self,
        projection: ast.Projection,
        predicate: ast.Expression | None,
        plan: lp.Plan,
        scope: frozenset[str],
        carried: Carried = NOTHING_CARRIED,
    ) -> tuple[lp.Plan, tuple[str, ...]]:
        """WITH or RETURN."""
        return ProjectionBuilder(self.catalogue, self.expression).build(projection, predicate, plan, scope, carried)

    # --- MATCH -------------------------------------------------------------------------------------------------

    def match(
        self, clauses: Sequence[ast.MatchClause], plan: lp.Plan, scope: frozenset[str]
    ) -> tuple[lp.Plan, frozenset[str]]:
        """MATCH and OPTIONAL MATCH: one, or several that may be matched in any order."""
        clause = clauses[0]
        if any(c.mode == "REPEATABLE ELEMENTS" for c in clauses):
            raise unsupported("MATCH REPEATABLE ELEMENTS")
        if len(clauses) > 1:
            return self.matched_together(clauses, plan, scope)
        if not clause.optional:
            return self.matched(clause, plan, scope)
        imports = tuple(sorted(free_variables((clause.patterns, clause.predicate)) & scope))
        right, inner = self.matched(clause, lp.Argument(imports), frozenset(imports))
        added = tuple(sorted(inner - frozenset(imports)))
        return lp.Apply(plan, lp.Select(right, added), imports, added, "optional"), scope | inner

    def matched(self, clause: ast.MatchClause, plan: lp.Plan, scope: frozenset[str]) -> tuple[lp.Plan, frozenset[str]]:
        """The matches of a MATCH for each row of the plan."""
        selected = [p for p in clause.patterns if p.selector is not None and p.selector.kind != "ALL"]
        plain = tuple(p for p in clause.patterns if p not in selected)
        graph = PatternReader(self.names).read(plain, None if selected else clause.predicate)
        absorb_path_predicates(graph, scope)
        plan = self.solved(graph, plan, scope)
        bound = scope | _user_names(graph)
        for pattern in selected:
            plan, bound = self.selected(pattern, clause.predicate, plan, bound)
        return plan, bound

    def matched_together(
        self, clauses: Sequence[ast.MatchClause], plan: lp.Plan, scope: frozenset[str]
    ) -> tuple[lp.Plan, frozenset[str]]:
        """The matches of consecutive MATCHes for each row of the plan."""
        bound = scope
        for graph in self.pattern_graphs(clauses, scope):
            plan = self.solved(graph, plan, bound)
            bound |= _user_names(graph)
        return plan, bound

    def pattern_graphs(self, clauses: Sequence[ast.MatchClause], scope: frozenset[str]) -> Iterator[PatternGraph]:
        """The patterns of consecutive MATCHes, merged into as few graphs as possible."""
        together = PatternGraph()
        before: list[ast.MatchClause] = []
        for clause in clauses:
            graph = PatternReader(self.names).read(clause.patterns, clause.predicate)
            absorb_path_predicates(graph, scope | together.variables())
            if before and not can_be_matched_together(before, together, clause, graph, scope, self.catalogue):
                yield together
                scope |= _user_names(together)
                together, before = PatternGraph(), []
            together.take(graph)
            before.append(clause)
        yield together

    def solved(self, graph: PatternGraph, plan: lp.Plan, scope: frozenset[str]) -> lp.Plan:
        """The operators that match a pattern graph."""
        rows = self.estimates.rows(plan)
        return Solver(graph, self.estimates, self.expression, set(scope), plan, rows).solve()

    def selected(
        self, pattern: ast.PathPattern, predicate: ast.Expression | None, plan: lp.Plan, scope: frozenset[str]
    ) -> tuple[lp.Plan, frozenset[str]]:
        """A path pattern with a selector: SHORTEST k, ANY and their kin, for each pair of ends.

        Predicates on the ends alone are applied before the search: they keep or drop pairs, not paths.
        """
        assert pattern.selector is not None
        chain = pattern.pattern
        assert isinstance(chain, ast.PatternChain)
        graph = PatternGraph()
        # The path is needed for its ends and its length, even if the query does not name it.
        named = self.names.unnamed() if pattern.path_variable is None else pattern.path_variable.name
        PatternReader(self.names).read_chain(chain, named, graph)
        path: Path = graph.paths[0]
        ends = (path.start, graph.connections[-1].end if graph.connections else path.start)
        asked = list(conjuncts(predicate))
        early = [p for p in asked if _concerns_ends(p, ends, scope, self.catalogue)]
        imports = tuple(sorted(free_variables((pattern, tuple(early))) & scope))
        absorb_path_predicates(graph, frozenset(imports))
        graph.predicates.extend(early)
        count = pattern.selector.count or ast.Literal(1)
        match graph.connections:
            case [Many() as many] if many.relationship not in scope:
                inner = graph.paths[1].variable if len(graph.paths) > 1 else None
                graph.connections = [Selected(many, pattern.selector.kind, count, inner)]
                right = self.solved(graph, lp.Argument(imports), frozenset(imports))
            case _:
                right = lp.SelectShortest(
                    self.solved(graph, lp.Argument(imports), frozenset(imports)),
                    ends[0],
                    ends[1],
                    pattern.selector.kind,
                    self.expression(count, frozenset()),
                    path.relationships,
                )
        added = tuple(sorted(graph.variables() - frozenset(imports)))
        bound = scope | _user_names(graph)
        plan = lp.Apply(plan, lp.Select(right, added), imports, added)
        for late in asked:
            if late not in early:
                plan = lp.Filter(plan, self.expression(late, bound))
        return plan, bound

    # --- CALL --------------------------------------------------------------------------------------------------

    def call_subquery(
        self, clause: ast.CallSubquery, plan: lp.Plan, scope: frozenset[str]
    ) -> tuple[lp.Plan, frozenset[str]]:
        """CALL { } with its imports."""
        every = scope & self.star_imports.get(clause.span.start, scope)
        imported = (every if clause.import_all else _imported(clause, every, scope)) | (scope & PLACES)
        imports = tuple(sorted(imported))
        older = clause.imports is None and not clause.import_all
        kept = NOTHING_IMPORTED if older else Imported(imported - PLACES)
        built = self.query(clause.query, lp.Argument(imports), imported, kept)
        if clause.in_transactions is not None:
            return self._in_transactions(clause, clause.in_transactions, built, plan, imports, scope)
        if built.columns is None:
            return lp.Apply(plan, built.plan, imports, (), "unit", has_writes(built.plan)), scope
        kind = "optional" if clause.optional else "all"
        plan = lp.Apply(plan, built.plan, imports, built.columns, kind, has_writes(built.plan))
        return plan, scope | frozenset(built.columns)

    def _in_transactions(
        self,
        clause: ast.CallSubquery,
        how: ast.InTransactions,
        built: Built,
        plan: lp.Plan,
        imports: tuple[str, ...],
        scope: frozenset[str],
    ) -> tuple[lp.Plan, frozenset[str]]:
        columns = built.columns or ()
        status = None if how.status is None else how.status.name
        rows = self.expression(how.rows or ast.Literal(1000), frozenset())
        on_error = how.on_error or "FAIL"
        returns = built.columns is not None
        plan = lp.TransactionApply(plan, built.plan, imports, columns, rows, on_error, status, returns, clause.optional)
        return plan, scope | frozenset(columns) | (frozenset() if status is None else {status})

    def call_procedure(
        self, clause: ast.CallProcedure, plan: lp.Plan, scope: frozenset[str]
    ) -> tuple[lp.Plan, frozenset[str], tuple[str, ...]]:
        """CALL procedure: the plan, the scope above it, and the yielded columns in order."""
        signature = self.catalogue.procedure(clause.name)
        assert signature is not None, "the check refuses unknown procedures"
        assert clause.arguments is not None, "arguments from parameters are written out before"
        arguments = tuple(self.expression(a, scope) for a in clause.arguments)
        if clause.items is None:
            every = clause is self.standalone or clause.star
            outputs = tuple((f.name, f.name) for f in signature.outputs) if every else ()
        else:
            outputs = tuple((item.name, item.name if item.alias is None else item.alias.name) for item in clause.items)
        columns = tuple(column for _, column in outputs)
        plan = lp.ProcedureCall(plan, signature.name, arguments, outputs, bool(signature.outputs), clause.optional)
        scope |= frozenset(columns)
        if clause.predicate is not None:
            plan = lp.Filter(plan, self.expression(clause.predicate, scope))
        return plan, scope, columns


def _concerns_ends(
    predicate: ast.Expression, ends: tuple[str, str], scope: frozenset[str], catalogue: Catalogue
) -> bool:
    """Whether a predicate depends on the ends of a path and nothing else in it, and is deterministic."""
    names = free_variables(predicate)
    concerned = bool(names & frozenset(ends)) and names <= scope | frozenset(ends)
    return concerned and is_deterministic(predicate, catalogue)


def _imported(clause: ast.CallSubquery, every: frozenset[str], scope: frozenset[str]) -> frozenset[str]:
    """The outer names that a subquery may use: those listed, or those of a leading WITH in the older form; `every` is
    what a star stands for.
    """
    if clause.imports is not None:
        return frozenset(v.name for v in clause.imports)
    names: set[str] = set()
    for part in clause.query.queries if isinstance(clause.query, ast.Union) else (clause.query,):
        match part.clauses[0]:
            case ast.WithClause(projection=ast.Projection(star=True)):
                names |= every
            case ast.WithClause(projection=ast.Projection(items=items)):
                names |= {item.name for item in items}
            case _:
                pass
    return frozenset(names) & scope


def _user_names(graph: PatternGraph) -> frozenset[str]:
    """The variables of a pattern that the query can refer to."""
    return frozenset(name for name in graph.variables() if not name.startswith(HIDDEN))
