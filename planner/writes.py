"""CREATE, MERGE, SET, REMOVE, DELETE and FOREACH as operators."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeAlias, assert_never

from hoplite.errors import unsupported
from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.grammar.tree import contains
from hoplite.planner import logical as lp
from hoplite.planner.parts import (
    AddLabels,
    AssignProperties,
    AssignProperty,
    CreateNode,
    CreateRelationship,
    Creation,
    DropLabels,
    DropProperty,
    PlannedSubquery,
    SingleAssignment,
    Term,
)
from hoplite.planner.patterns import PatternReader
from hoplite.planner.tree import operators
from hoplite.planner.variables import free_variables

if TYPE_CHECKING:
    from hoplite.planner.build import Builder

WritingClause: TypeAlias = (
    ast.CreateClause | ast.MergeClause | ast.SetClause | ast.RemoveClause | ast.DeleteClause | ast.ForeachClause
)

_WRITING = (lp.Create, lp.Merge, lp.SetProperties, lp.Delete, lp.Foreach, lp.TransactionApply)


def has_writes(plan: lp.Plan) -> bool:
    """Whether some operator of the plan changes the graph."""
    return any(isinstance(node, _WRITING) for node in operators(plan))


def _is_subquery(node: object) -> bool:
    return isinstance(node, PlannedSubquery)


class Writes:
    """Plans the writing clauses of one statement."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.in_foreach = False

    def clause(self, clause: WritingClause, plan: lp.Plan, scope: frozenset[str]) -> tuple[lp.Plan, frozenset[str]]:
        """The plan with the clause on top, and the scope above it."""
        match clause:
            case ast.CreateClause(patterns=patterns):
                return self.create(patterns, plan, scope)
            case ast.MergeClause():
                return self.merge(clause, plan, scope)
            case ast.SetClause(items=items):
                return lp.SetProperties(plan, tuple(self.assignment(i, scope) for i in items)), scope
            case ast.RemoveClause(items=items):
                subjects = [i.target.subject if isinstance(i, ast.RemoveProperty) else i.variable for i in items]
                plan, known = self._known_before(plan, subjects, scope)
                removals = (self.removal(i, subject, scope) for i, subject in zip(items, known, strict=True))
                return lp.SetProperties(plan, tuple(removals)), scope
            case ast.DeleteClause(expressions=expressions, detach=detach):
                plan, known = self._known_before(plan, expressions, scope)
                return lp.Delete(plan, known, detach), scope
            case ast.ForeachClause():
                return self.foreach(clause, plan, scope), scope
            case _:
                assert_never(clause)

    def _known_before(
        self, plan: lp.Plan, expressions: Sequence[ast.Expression], scope: frozenset[str]
    ) -> tuple[lp.Plan, tuple[Term, ...]]:
        """The plan with a column for each expression that REMOVE or DELETE must evaluate before it removes anything.

        Neo4j evaluates those with a CASE or a subquery for all rows before the clause, the others when it reaches them.
        """
        items: list[tuple[str, Term]] = []
        known: list[Term] = []
        for expression in expressions:
            term = self.builder.expression(expression, scope)
            if not self.in_foreach and contains(term, lambda node: isinstance(node, ast.Case | PlannedSubquery)):
                items.append((self.builder.names.unnamed(), term))
                term = ast.Variable(items[-1][0])
            known.append(term)
        return lp.Projection(plan, tuple(items)) if items else plan, tuple(known)

    # --- CREATE ------------------------------------------------------------------------------------------------

    def create(
        self, patterns: tuple[ast.PathPattern, ...], plan: lp.Plan, scope: frozenset[str]
    ) -> tuple[lp.Plan, frozenset[str]]:
        """Create what the patterns name and is not bound yet."""
        creations: list[Creation] = []
        paths: list[tuple[str, str, tuple[str, ...]]] = []
        bound = set(scope)
        for number, pattern in enumerate(patterns):
            if paths and free_variables(patterns[number:]) & {path for path, _, _ in paths}:
                # A later pattern may read a path of an earlier one, which exists once all of its parts are created.
                plan, known = self.create(patterns[:number], plan, scope)
                plan, added = self.create(patterns[number:], plan, known)
                return plan, added
            paths.extend(self._creations(pattern, creations, bound))
        if isinstance(plan, lp.Create) and not contains(tuple(creations), _is_subquery):
            # CREATE after CREATE: scripts have hundreds of them
            plan = lp.Create(plan.source, (*plan.creations, *creations))
        else:
            plan = lp.Create(plan, tuple(creations))
        for path, start, relationships in paths:
            plan = lp.ProjectPath(plan, path, start, relationships)
            bound.add(path)
        return plan, frozenset(name for name in bound if name in scope or not name.startswith(HIDDEN))

    def _creations(
        self, pattern: ast.PathPattern, creations: list[Creation], bound: set[str]
    ) -> list[tuple[str, str, tuple[str, ...]]]:
        """Add what one path pattern creates; returns its path if it has a name."""
        chain = pattern.pattern
        assert isinstance(chain, ast.PatternChain)
        nodes: list[str] = []
        relationships: list[tuple[ast.RelationshipPattern, str]] = []
        for element in chain.elements:
            match element:
                case ast.NodePattern(variable=variable):
                    name = self.builder.names.unnamed() if variable is None else variable.name
                    if name not in bound or len(chain.elements) == 1:  # a pattern of one node is always new
                        bound.add(name)
                        creations.append(
                            CreateNode(
                                name,
                                tuple(dict.fromkeys(self._labels(element.labels, frozenset(bound)))),
                                self._optional(element.properties, frozenset(bound)),
                            )
                        )
                    nodes.append(name)
                case ast.RelationshipPattern(variable=variable):
                    name = self.builder.names.unnamed() if variable is None else variable.name
                    bound.add(name)
                    relationships.append((element, name))
                case _:
                    raise unsupported("a quantified path pattern in CREATE")
        for (element, name), left, right in zip(relationships, nodes[:-1], nodes[1:], strict=True):
            start, end = (right, left) if element.direction is ast.Direction.INCOMING else (left, right)
            (type_name,) = self._labels(element.types, frozenset(bound))
            properties = self._optional(element.properties, frozenset(bound))
            creations.append(CreateRelationship(name, start, end, type_name, properties))
        if pattern.path_variable is None:
            return []
        return [(pattern.path_variable.name, nodes[0], tuple(name for _, name in relationships))]

    def _optional(self, expression: ast.Expression | None, scope: frozenset[str]) -> Term | None:
        return None if expression is None else self.builder.expression(expression, scope)

    def _labels(self, labels: ast.LabelExpression | None, scope: frozenset[str]) -> tuple[str | Term, ...]:
        match labels:
            case None:
                return ()
            case ast.LabelName(name=name):
                return (name,)
            case ast.LabelAnd(operands=operands):
                return tuple(label for operand in operands for label in self._labels(operand, scope))
            case ast.DynamicLabel(expression=expression):
                return (self.builder.expression(expression, scope),)
            case _:
                raise unsupported("this label expression in a writing clause")

    # --- MERGE -------------------------------------------------------------------------------------------------

    def merge(self, clause: ast.MergeClause, plan: lp.Plan, scope: frozenset[str]) -> tuple[lp.Plan, frozenset[str]]:
        """Match the pattern, or create it."""
        pattern = self._named(clause.pattern)
        scope -= _always_new(pattern)
        imports = tuple(sorted(free_variables(pattern) & scope))
        graph = PatternReader(self.builder.names).read((pattern,), None)
        match = self.builder.solved(graph, lp.Argument(imports), frozenset(imports))
        creations: list[Creation] = []
        bound = set(scope)
        self._creations(pattern, creations, bound)
        path = None if pattern.path_variable is None else pattern.path_variable.name
        added = tuple(sorted(bound - scope))
        after = frozenset(bound)
        plan = lp.Merge(
            plan,
            self.builder.optimised(lp.Select(match, added)),
            imports,
            added,
            tuple(creations),
            tuple(self.assignment(item, after) for item in clause.on_create),
            tuple(self.assignment(item, after) for item in clause.on_match),
        )
        if path is not None:
            (named,) = graph.paths
            plan = lp.ProjectPath(plan, path, named.start, named.relationships)
            bound.add(path)
        return plan, frozenset(name for name in bound if name in scope or not name.startswith(HIDDEN))

    def _named(self, path: ast.PathPattern) -> ast.PathPattern:
        """The pattern with a name for each element, so that matching and creating use the same names."""
        chain = path.pattern
        assert isinstance(chain, ast.PatternChain)
        elements: list[ast.NodePattern | ast.RelationshipPattern] = []
        for element in chain.elements:
            assert not isinstance(element, ast.ParenthesizedPath)
            if element.variable is None:
                variable = ast.Variable(self.builder.names.unnamed(), element.span)
                if isinstance(element, ast.NodePattern):
                    elements.append(
                        ast.NodePattern(variable, element.labels, element.properties, element.predicate, element.span)
                    )
                else:
                    elements.append(
                        ast.RelationshipPattern(
                            element.direction,
                            variable,
                            element.types,
                            element.hops,
                            element.properties,
                            element.predicate,
                            element.repetition,
                            element.span,
                        )
                    )
            else:
                elements.append(element)
        return ast.PathPattern(
            path.path_variable, path.selector, ast.PatternChain(tuple(elements), chain.span), path.span
        )

    # --- SET, REMOVE, FOREACH ----------------------------------------------------------------------------------

    def assignment(self, item: ast.SetItem, scope: frozenset[str]) -> SingleAssignment:
        """One item of a SET."""
        expression = self.builder.expression
        match item:
            case ast.SetProperty(target=target, value=value):
                return AssignProperty(expression(target.subject, scope), target.key, expression(value, scope))
            case ast.SetDynamicProperty(target=index, value=value):
                literal = index.index.value if isinstance(index.index, ast.Literal) else None
                key = literal if isinstance(literal, str) else expression(index.index, scope)
                return AssignProperty(expression(index.subject, scope), key, expression(value, scope))
            case ast.SetProperties(variable=variable, value=value, merge=merge):
                return AssignProperties(variable.name, expression(value, scope), merge)
            case ast.SetLabels(variable=variable, labels=labels):
                return AddLabels(variable.name, self._each_label(labels, scope))
            case _:
                assert_never(item)

    def removal(self, item: ast.RemoveItem, subject: Term, scope: frozenset[str]) -> SingleAssignment:
        """One item of a REMOVE."""
        match item:
            case ast.RemoveProperty(target=ast.Property(key=key)):
                return DropProperty(subject, key)
            case ast.RemoveProperty(target=ast.Index(index=index)):
                return DropProperty(subject, self.builder.expression(index, scope))
            case ast.RemoveLabels(variable=variable, labels=labels):
                return DropLabels(variable.name, self._each_label(labels, scope))
            case _:
                raise AssertionError(item)

    def _each_label(
        self, labels: tuple[ast.LabelName | ast.DynamicLabel, ...], scope: frozenset[str]
    ) -> tuple[str | Term, ...]:
        return tuple(label for each in labels for label in self._labels(each, scope))

    def foreach(self, clause: ast.ForeachClause, plan: lp.Plan, scope: frozenset[str]) -> lp.Plan:
        """FOREACH: its clauses run over each element, for what they write."""
        imports = tuple(sorted(free_variables(clause.clauses) & scope - {clause.variable.name}))
        inner = frozenset(imports) | {clause.variable.name}
        outside, self.in_foreach = self.in_foreach, True
        body = self.builder.single(
            ast.SingleQuery(clause.clauses), lp.Argument((*imports, clause.variable.name)), inner
        )
        self.in_foreach = outside
        source = self.builder.expression(clause.source, scope)
        return lp.Foreach(plan, clause.variable.name, source, self.builder.optimised(body.plan), imports)


def _always_new(pattern: ast.PathPattern) -> frozenset[str]:
    """What MERGE binds anew in a FOREACH, even if the row has that name: relationships, and a node that is a pattern by
    itself."""
    chain = pattern.pattern
    assert isinstance(chain, ast.PatternChain)
    return frozenset(
        element.variable.name
        for element in chain.elements
        if not isinstance(element, ast.ParenthesizedPath) and element.variable is not None
        if isinstance(element, ast.RelationshipPattern) or len(chain.elements) == 1
    )
