"""What a query says about the graph: its nodes and relationships, hop by hop, and the properties it uses.

A variable means the same entity as long as WITH passes it on, under whatever name. Required labels are separate from
alternatives; what the text cannot tell (dynamic labels, negations) makes an entity opaque.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hoplite.grammar import ast
from hoplite.grammar.statement import Statement
from hoplite.grammar.tree import children
from hoplite.planner.check.positions import key_offsets
from hoplite.values.temporal import INSTANT_TYPES, TEMPORAL_FUNCTIONS

Scope: TypeAlias = "dict[str, Entity | None]"


@dataclass(eq=False, slots=True)
class Entity:
    """A node or relationship of the query. All labels in `required` must hold, and one of each of `choices`."""

    is_node: bool
    required: list[ast.LabelName] = field(default_factory=list)
    choices: list[tuple[ast.LabelName, ...]] = field(default_factory=list)
    opaque: bool = False
    is_list: bool = False  # a variable-length relationship
    written: bool = False  # by CREATE, MERGE or SET: its names may be new
    patterns: list[ast.NodePattern | ast.RelationshipPattern] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    names: list[str] = field(default_factory=list)

    def label_names(self) -> Iterator[ast.LabelName]:
        """Every label or type that is written for it."""
        yield from self.required
        for choice in self.choices:
            yield from choice


@dataclass(eq=False, slots=True)
class Hop:
    """One relationship pattern between two nodes, in the order written."""

    left: Entity
    relationship: Entity
    right: Entity
    pattern: ast.RelationshipPattern
    place: Place
    is_first: bool  # of its chain
    is_last: bool


@dataclass(eq=False, slots=True)
class Place:
    """Where something is in the query: its clause, and the names in scope there.

    `negated` if finding nothing does no harm: after NOT, in IS NULL and coalesce. `filters` if it decides about rows.
    """

    clause: ast.Clause | None
    scope: dict[str, Entity | None]
    query: ast.SingleQuery
    negated: bool = False
    written: bool = False
    filters: bool = False

    def within(self, scope: Scope | None = None, *, negated: bool = False, filters: bool = False) -> Place:
        """A place inside this one."""
        return Place(
            self.clause,
            self.scope if scope is None else scope,
            self.query,
            self.negated or negated,
            self.written,
            self.filters or filters,
        )


@dataclass(eq=False, slots=True)
class Use:
    """A use of a property: `subject.key`, or an entry of a map in a pattern.

    `operator` and `value` are what it is compared with, if that is a literal; `=` in a map.
    """

    entity: Entity
    subject: str | None  # the variable, if there is one
    key: str
    key_span: ast.Span
    span: ast.Span
    place: Place
    node: ast.Property | ast.MapLiteral | ast.ProjectedProperty
    comparison: ast.Comparison | ast.Binary | None = None
    operator: str | None = None
    value: ast.Expression | None = None


@dataclass(slots=True)
class Reading:
    """Everything that was read."""

    entities: list[Entity] = field(default_factory=list)
    hops: list[Hop] = field(default_factory=list)
    uses: list[Use] = field(default_factory=list)
    places: list[Place] = field(default_factory=list)


def read(statement: Statement, text: str) -> Reading:
    """The reading of a statement; empty for commands."""
    reader = _Reader(text)
    if isinstance(statement.body, ast.SingleQuery | ast.Union):
        reader.query(statement.body, {})
    return reader.reading


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.reading = Reading()

    # --- clauses ---

    def query(self, query: ast.Query, outer: Scope, negated: bool = False) -> Scope:
        parts = query.queries if isinstance(query, ast.Union) else (query,)
        scope: Scope = {}
        for part in parts:
            scope = self.single(part, dict(outer), negated)
        return scope

    def single(self, query: ast.SingleQuery, scope: Scope, negated: bool) -> Scope:
        for clause in query.clauses:
            place = Place(clause, dict(scope), query, negated)
            self.reading.places.append(place)
            scope = self.clause(clause, place)
        return scope

    def clause(self, clause: ast.Clause, place: Place) -> Scope:
        scope = place.scope
        match clause:
            case ast.MatchClause(patterns=patterns, predicate=predicate):
                for pattern in patterns:
                    self.path(pattern, place)
                if predicate is not None:
                    self.expression(predicate, place.within(filters=True))
            case ast.WithClause() | ast.ReturnClause():
                return self.projection(clause, place)
            case ast.CreateClause(patterns=patterns):
                place.written = True
                for pattern in patterns:
                    self.path(pattern, place)
            case ast.MergeClause(pattern=pattern):
                place.written = True
                self.path(pattern, place)
                for written in (*clause.on_create, *clause.on_match):
                    self.written_item(written, place)
            case ast.SetClause(items=items) | ast.RemoveClause(items=items):
                for changed in items:
                    self.written_item(changed, place)
            case ast.CallSubquery(query=query, imports=imports, import_all=everything):
                inner = dict(scope) if imports is None or everything else {v.name: scope.get(v.name) for v in imports}
                returned = self.query(query, inner)
                scope.update({name: e for name, e in returned.items() if name not in scope})
            case ast.UnwindClause(expression=expression, variable=variable):
                self.expression(expression, place)
                scope[variable.name] = None
            case ast.CallProcedure(arguments=arguments, items=items, predicate=predicate):
                for argument in arguments or ():
                    self.expression(argument, place)
                for yielded in items or ():
                    scope[yielded.name if yielded.alias is None else yielded.alias.name] = None
                if predicate is not None:
                    self.expression(predicate, place)
            case ast.ForeachClause(variable=variable, source=source, clauses=clauses):
                self.expression(source, place)
                inner = {**scope, variable.name: None}
                for each in clauses:
                    inner = self.clause(each, Place(each, dict(inner), place.query, place.negated))
            case _:
                for child in children(clause):
                    self.expression(child, place)
        return scope

    def written_item(self, item: Any, place: Place) -> None:
        target = getattr(item, "target", None)
        subject = getattr(target, "subject", None) if target is not None else getattr(item, "variable", None)
        if isinstance(subject, ast.Variable) and (entity := place.scope.get(subject.name)) is not None:
            entity.written = True
        value = getattr(item, "value", None)
        if value is not None:
            self.expression(value, place)

    def projection(self, clause: ast.WithClause | ast.ReturnClause, place: Place) -> Scope:
        projection = clause.projection
        after: Scope = dict(place.scope) if projection.star else {}
        for item in projection.items:
            self.expression(item.expression, place)
            found = None
            if isinstance(item.expression, ast.Variable):
                found = place.scope.get(item.expression.name)
                if found is not None and item.name not in found.names:
                    found.names.append(item.name)
            after[item.name] = found
        wider = place.within({**place.scope, **after})
        for sort in projection.order:
            self.expression(sort.expression, wider)
        for bound in (projection.skip, projection.limit):
            if bound is not None:
                self.expression(bound, place)
        if isinstance(clause, ast.WithClause) and clause.predicate is not None:
            self.expression(clause.predicate, wider.within(filters=True))
        return after

    # --- patterns ---

    def path(self, pattern: ast.PathPattern, place: Place) -> None:
        chain = pattern.pattern
        if isinstance(chain, ast.ShortestPathFunction):
            chain = chain.pattern
        self.chain(chain, place)
        if pattern.path_variable is not None:
            place.scope[pattern.path_variable.name] = None

    def chain(self, chain: ast.PatternChain, place: Place) -> None:
        elements = chain.elements
        nodes: dict[int, Entity] = {}
        for position, element in enumerate(elements):
            if isinstance(element, ast.NodePattern):
                nodes[position] = self.node(element, place)
            elif isinstance(element, ast.ParenthesizedPath):
                self.chain(element.pattern, place)
                if element.predicate is not None:
                    self.expression(element.predicate, place)
        for position, element in enumerate(elements):
            if not isinstance(element, ast.RelationshipPattern):
                continue
            relationship = self.relationship(element, place)
            left, right = elements[position - 1], elements[position + 1]
            if isinstance(left, ast.NodePattern) and isinstance(right, ast.NodePattern):
                hop = Hop(
                    nodes[position - 1],
                    relationship,
                    nodes[position + 1],
                    element,
                    place,
                    position == 1,
                    position == len(elements) - 2,
                )
                self.reading.hops.append(hop)
                for entity in {hop.left, hop.relationship, hop.right}:
                    entity.hops.append(hop)
        for element in elements:
            if isinstance(element, ast.NodePattern | ast.RelationshipPattern) and element.predicate is not None:
                self.expression(element.predicate, place)

    def node(self, pattern: ast.NodePattern, place: Place) -> Entity:
        return self.entity(pattern, pattern.labels, True, place)

    def relationship(self, pattern: ast.RelationshipPattern, place: Place) -> Entity:
        entity = self.entity(pattern, pattern.types, False, place)
        entity.is_list = entity.is_list or pattern.hops is not None or pattern.repetition is not None
        return entity

    def entity(
        self,
        pattern: ast.NodePattern | ast.RelationshipPattern,
        labels: ast.LabelExpression | None,
        is_node: bool,
        place: Place,
    ) -> Entity:
        name = None if pattern.variable is None else pattern.variable.name
        known = None if name is None else place.scope.get(name)
        if known is None or known.is_node != is_node:
            known = Entity(is_node)
            self.reading.entities.append(known)
            if name is not None:
                if name in place.scope:  # bound to something else, such as an item of a list
                    known.opaque = True
                place.scope[name] = known
                known.names.append(name)
        known.written = known.written or place.written
        known.patterns.append(pattern)
        if labels is not None:
            _add_labels(known, labels)
        properties = pattern.properties
        if isinstance(properties, ast.MapLiteral):
            self.map(properties, known, name, place)
        elif properties is not None:
            self.expression(properties, place)
        return known

    def map(self, literal: ast.MapLiteral, entity: Entity, name: str | None, place: Place) -> None:
        for (key, offset), (_, value) in zip(key_offsets(literal, self.text), literal.entries, strict=True):
            end = offset + _written_length(self.text, offset, key)
            use = Use(entity, name, key, ast.Span(offset, end), ast.Span(offset, value.span.end), place, literal)
            if _is_constant(value):
                use.operator, use.value = "=", value
            self.reading.uses.append(use)
            self.expression(value, place)

    # --- expressions ---

    def expression(self, node: Any, place: Place) -> None:
        match node:
            case ast.Comparison(operands=operands, operators=operators) if len(operators) == 1:
                self.compared(node, operators[0], operands[0], operands[1], place)
            case ast.Binary(operator="IN" | "STARTS WITH" | "ENDS WITH" | "CONTAINS" | "=~" as operator):
                self.compared(node, operator, node.left, node.right, place)
            case ast.Property(subject=ast.Variable(name=name)):
                self.use(node, name, place)
            case ast.MapProjection(subject=subject, items=items):
                entity = place.scope.get(subject.name)
                for item in items:
                    if isinstance(item, ast.ProjectedProperty):
                        if entity is not None:
                            start = item.span.end - _written_length_back(self.text, item.span.end, item.key)
                            span = ast.Span(start, item.span.end)
                            self.reading.uses.append(Use(entity, subject.name, item.key, span, item.span, place, item))
                    elif isinstance(item, ast.ProjectedEntry):
                        self.expression(item.value, place)
            case ast.IsNull(operand=operand, negated=False):
                self.expression(operand, place.within(negated=True))
            case ast.FunctionCall(name=name, arguments=arguments) if name.lower() == "coalesce":
                for argument in arguments:  # this is how to ask for a property that may be missing
                    self.expression(argument, place.within(negated=True))
            case ast.Unary(operator="NOT", operand=operand):
                self.expression(operand, place.within(negated=True))
            case ast.HasLabels(operand=ast.Variable(name=name), labels=labels):
                entity = place.scope.get(name)
                if entity is not None and not place.negated:
                    entity.opaque = entity.opaque or not isinstance(labels, ast.LabelName)
            case ast.SubqueryExpression(query=query):
                self.query(query, place.scope, place.negated or not place.filters)
            case ast.PatternExpression(pattern=chain):
                self.chain(chain, place.within(dict(place.scope), negated=not place.filters))
            case ast.PatternComprehension(pattern=chain, predicate=predicate, result=result):
                inner = place.within(dict(place.scope), negated=not place.filters)
                self.chain(chain, inner)
                if predicate is not None:
                    self.expression(predicate, inner)
                self.expression(result, inner)
            case ast.ShortestPathExpression(pattern=function):
                self.chain(function.pattern, place.within(dict(place.scope)))
            case ast.ListComprehension() | ast.Quantifier() | ast.Reduce():
                names = [node.variable.name, *([node.accumulator.name] if isinstance(node, ast.Reduce) else [])]
                scope = {**place.scope, **dict.fromkeys(names)}
                inner = place.within(scope)
                for child in children(node):
                    self.expression(child, inner if child is not node.source else place)
            case _:
                for child in children(node):
                    self.expression(child, place)

    def compared(self, node: Any, operator: str, left: Any, right: Any, place: Place) -> None:
        for side, other, turned in ((left, right, False), (right, left, True)):
            is_property = isinstance(side, ast.Property) and isinstance(side.subject, ast.Variable)
            if not is_property or (turned and operator not in _TURNED):
                self.expression(side, place)
                continue
            use = self.use(side, side.subject.name, place)
            if use is not None and _is_constant(other):
                use.comparison, use.value = node, other
                use.operator = _TURNED[operator] if turned else operator

    def use(self, node: ast.Property, name: str, place: Place) -> Use | None:
        entity = place.scope.get(name)
        if entity is None:
            return None
        use = Use(entity, name, node.key, node.key_span, node.span, place, node)
        self.reading.uses.append(use)
        return use


_TURNED = {"=": "=", "<>": "<>", "<": ">", ">": "<", "<=": ">=", ">=": "<="}


def _is_constant(value: ast.Expression) -> bool:
    if isinstance(value, ast.ListLiteral):
        return all(isinstance(item, ast.Literal) for item in value.items)
    if isinstance(value, ast.FunctionCall):
        return value.name.lower() in _TEMPORAL and all(isinstance(a, ast.Literal) for a in value.arguments)
    return isinstance(value, ast.Literal | ast.ConstantList)


_TEMPORAL = frozenset(TEMPORAL_FUNCTIONS[kind] for kind in INSTANT_TYPES)


def _add_labels(entity: Entity, labels: ast.LabelExpression) -> None:
    match labels:
        case ast.LabelName():
            entity.required.append(labels)
        case ast.LabelAnd(operands=operands):
            for operand in operands:
                _add_labels(entity, operand)
        case ast.LabelOr(operands=operands):
            names = tuple(operand for operand in operands if isinstance(operand, ast.LabelName))
            if len(names) == len(operands):
                entity.choices.append(names)
            else:
                entity.opaque = True
        case _:
            entity.opaque = True


def _written_length(text: str, offset: int, key: str) -> int:
    """The length of a name as written, including backticks."""
    if text[offset] == "`":
        return len(key.replace("`", "``")) + 2
    return len(key)


def _written_length_back(text: str, end: int, key: str) -> int:
    return len(key.replace("`", "``")) + 2 if text[end - 1] == "`" else len(key)
