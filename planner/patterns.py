"""From the pattern of a MATCH to a pattern graph: named nodes, connections between them, predicates, paths.

Every node and relationship gets a name (`UNNAMED0`, hidden, where the query gives none), labels, maps and inline WHEREs
become predicates, and variable-length relationships and quantified paths of one relationship become one kind of
connection. The order of matching is decided later, in `solve`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from typing import TypeAlias

from hoplite.allowance import check_time
from hoplite.errors import unsupported
from hoplite.grammar import ast
from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.parts import Traversal
from hoplite.planner.variables import free_variables


class Names:
    """Makes names that no query can contain."""

    def __init__(self) -> None:
        self._next = 0

    def unnamed(self) -> str:
        """A name for an unnamed element of a pattern."""
        name = f"{HIDDEN}UNNAMED{self._next}"
        self._next += 1
        return name


@dataclass(frozen=True, slots=True)
class One:
    """A single relationship between two nodes."""

    relationship: str
    start: str
    end: str
    traversal: Traversal


@dataclass(frozen=True, slots=True)
class Many:
    """A relationship repeated: variable length, or a quantified path of one relationship.

    `step` holds for each of the relationships, over the names in `step_names` (node before, relationship, node after).
    """

    relationship: str
    start: str
    end: str
    traversal: Traversal
    step: ast.Expression | None
    step_names: tuple[str, str, str]
    left_group: str | None = None
    right_group: str | None = None


@dataclass(frozen=True, slots=True)
class Repeated:
    """A quantified path pattern that is more than one plain relationship."""

    trail: str
    start: str
    end: str
    inner: PatternGraph
    inner_start: str
    inner_end: str
    lower: int
    upper: int | None

    @property
    def relationship(self) -> str:
        """The column that holds all relationships of the repetitions, in order."""
        return self.trail


@dataclass(frozen=True, slots=True)
class Shortest:
    """`shortestPath` or `allShortestPaths` between two nodes."""

    many: Many
    every: bool
    path: str | None

    @property
    def relationship(self) -> str:
        """The column that holds the relationships of the path."""
        return self.many.relationship

    @property
    def start(self) -> str:
        """The node it starts from."""
        return self.many.start

    @property
    def end(self) -> str:
        """The node it leads to."""
        return self.many.end


@dataclass(frozen=True, slots=True)
class Selected:
    """A repeated relationship of which only the shortest trails between each pair of nodes are wanted.

    kind: ANY, SHORTEST, ALL SHORTEST or SHORTEST GROUPS, with a `count`. `path` is the name of the path in the
    predicates that select the candidates.
    """

    many: Many
    kind: str
    count: ast.Expression
    path: str | None

    @property
    def relationship(self) -> str:
        """The column that holds the relationships of the path."""
        return self.many.relationship

    @property
    def start(self) -> str:
        """The node it starts from."""
        return self.many.start

    @property
    def end(self) -> str:
        """The node it leads to."""
        return self.many.end


Connection: TypeAlias = One | Many | Repeated | Shortest | Selected


@dataclass(frozen=True, slots=True)
class Path:
    """A named path: its first node and the columns of its relationships in order."""

    variable: str
    start: str
    relationships: tuple[str, ...]


@dataclass(slots=True)
class PatternGraph:
    """What a MATCH looks for. Predicates are in the order written; all of them must be true."""

    nodes: list[str] = field(default_factory=list)
    connections: list[Connection] = field(default_factory=list)
    predicates: list[ast.Expression] = field(default_factory=list)
    paths: list[Path] = field(default_factory=list)
    groups: list[tuple[str, str]] = field(default_factory=list)  # (variable, kind) that a repetition would collect
    # With several MATCHes: the one that a connection comes from, by its relationship. Relationships of one MATCH must
    # differ.
    clauses: dict[str, int] = field(default_factory=dict)

    _noted: set[str] = field(default_factory=set)  # the same nodes, to look one up among thousands

    def add_node(self, name: str) -> None:
        """Add a node once."""
        if len(self._noted) != len(self.nodes):
            self._noted = set(self.nodes)
        if name not in self._noted:
            self._noted.add(name)
            self.nodes.append(name)

    def variables(self) -> frozenset[str]:
        """Every name the pattern binds."""
        names = set(self.nodes) | {p.variable for p in self.paths}
        for connection in self.connections:
            names.add(connection.relationship)
            match connection:
                case Many(left_group=left, right_group=right) | Selected(many=Many(left_group=left, right_group=right)):
                    names.update(n for n in (left, right) if n is not None)
                case Repeated(inner=inner):
                    names.update(name for name, _ in inner.groups)
                case Shortest(path=path) if path is not None:
                    names.add(path)
                case _:
                    pass
        return frozenset(names)

    def take(self, other: PatternGraph) -> None:
        """Add everything that the graph of the next MATCH looks for."""
        clause = max(self.clauses.values(), default=0) + 1
        self.clauses |= {connection.relationship: clause for connection in other.connections}
        for node in other.nodes:
            self.add_node(node)
        self.connections += other.connections
        self.predicates += other.predicates
        self.paths += other.paths
        self.groups += other.groups


def conjuncts(predicate: ast.Expression | None) -> Iterator[ast.Expression]:
    """The parts of a predicate that are joined by AND."""
    waiting = [predicate]
    while waiting:
        match waiting.pop():
            case None:
                pass
            case ast.Binary(operator="AND", left=left, right=right):
                waiting += (right, left)
            case other:
                yield other


def conjunction(predicates: list[ast.Expression]) -> ast.Expression | None:
    """The predicates joined by AND; None where there are none."""
    joined: ast.Expression | None = None
    for predicate in predicates:
        joined = predicate if joined is None else ast.Binary("AND", joined, predicate, predicate.span)
    return joined


def plain_types(types: ast.LabelExpression | None) -> tuple[str, ...] | None:
    """The names of a disjunction of types (`R|S`); None for anything else."""
    match types:
        case ast.LabelName(name=name):
            return (name,)
        case ast.LabelOr(operands=operands) if all(isinstance(o, ast.LabelName) for o in operands):
            return tuple(dict.fromkeys(o.name for o in operands if isinstance(o, ast.LabelName)))
        case _:
            return None


def _map_predicates(variable: str, properties: ast.Expression | None) -> Iterator[ast.Expression]:
    """`{key: value}` as comparisons."""
    match properties:
        case None:
            return
        case ast.MapLiteral(entries=entries):
            for key, value in entries:
                subject = ast.Property(ast.Variable(variable, value.span), key, value.span)
                yield ast.Comparison((subject, value), ("=",), value.span)
        case _:
            raise unsupported("a property map given as a parameter in a pattern that is matched")


class PatternReader:
    """Reads path patterns into a pattern graph."""

    def __init__(self, names: Names) -> None:
        self.names = names
        self._inner_path: str | None = None  # of the parentheses after a selector

    def read(self, patterns: tuple[ast.PathPattern, ...], predicate: ast.Expression | None) -> PatternGraph:
        """The graph of several comma-separated path patterns and their WHERE."""
        graph = PatternGraph()
        for pattern in patterns:
            self.read_path(pattern, graph)
        graph.predicates.extend(conjuncts(predicate))
        return graph

    def read_path(self, path: ast.PathPattern, graph: PatternGraph) -> None:
        """Add one path pattern; its selector is left to the caller."""
        variable = None if path.path_variable is None else path.path_variable.name
        match path.pattern:
            case ast.ShortestPathFunction() as function:
                self.read_shortest(function, variable, graph)
            case ast.PatternChain() as chain:
                self.read_chain(chain, variable, graph)

    def read_shortest(self, function: ast.ShortestPathFunction, path: str | None, graph: PatternGraph) -> None:
        """`shortestPath((a)-[*]->(b))`"""
        inner = PatternGraph()
        self.read_chain(function.pattern, None, inner)
        (connection,) = inner.connections
        match connection:
            case One(relationship=name, start=start, end=end, traversal=traversal):
                # a fixed-length shortestPath: a path of exactly one relationship
                step_names = (self.names.unnamed(), name, self.names.unnamed())
                own = [p for p in inner.predicates if name in free_variables(p)]
                inner.predicates = [p for p in inner.predicates if name not in free_variables(p)]
                many = Many(name, start, end, traversal, conjunction(own), step_names)
            case Many() as many:
                pass
            case _:
                raise unsupported("a quantified path pattern inside shortestPath")
        for node in inner.nodes:
            graph.add_node(node)
        graph.predicates.extend(inner.predicates)
        graph.connections.append(Shortest(many, function.every, path))

    def read_chain(self, chain: ast.PatternChain, path: str | None, graph: PatternGraph) -> None:
        """Nodes and connections from left to right."""
        relationships: list[str] = []
        elements = list(chain.elements)
        position = 0
        first: str | None = None
        current: str | None = None
        while position < len(elements):
            check_time()
            element = elements[position]
            match element:
                case ast.NodePattern():
                    name = self.node(element, graph)
                    if current is not None and current != name:  # (a)((b)-->(c)): two patterns of one node
                        graph.predicates.append(
                            ast.Comparison((ast.Variable(current), ast.Variable(name)), ("=",), element.span)
                        )
                    current = name
                    first = first or current
                    position += 1
                case ast.RelationshipPattern():
                    assert current is not None
                    following = elements[position + 1]
                    assert isinstance(following, ast.NodePattern)
                    end = self.node(following, graph)
                    relationships.append(self.relationship(element, current, end, graph))
                    current = end
                    position += 2
                case ast.ParenthesizedPath(repetition=None):
                    elements[position : position + 1] = element.pattern.elements
                    graph.predicates.extend(conjuncts(element.predicate))
                    if element.path_variable is not None:  # the parentheses hold the whole chain
                        self._inner_path = element.path_variable.name
                case ast.ParenthesizedPath():
                    if current is None:
                        current = first = self.names.unnamed()
                        graph.add_node(current)
                    if position + 1 < len(elements) and isinstance(elements[position + 1], ast.NodePattern):
                        following = elements[position + 1]
                        assert isinstance(following, ast.NodePattern)
                        end = self.node(following, graph)
                        position += 2
                    else:
                        end = self.names.unnamed()
                        graph.add_node(end)
                        position += 1
                    relationships.append(self.repetition(element, current, end, graph))
                    current = end
        assert first is not None
        if path is not None:
            names = (path,) if self._inner_path is None else (path, self._inner_path)
            graph.paths.extend(Path(name, first, tuple(relationships)) for name in names)

    def node(self, pattern: ast.NodePattern, graph: PatternGraph) -> str:
        """Add a node pattern and its predicates; returns the node's name."""
        name = self.names.unnamed() if pattern.variable is None else pattern.variable.name
        graph.add_node(name)
        if pattern.variable is not None and all(name != known for known, _ in graph.groups):
            graph.groups.append((name, "node"))
        graph.predicates.extend(self.node_predicates(pattern, name))
        return name

    def node_predicates(self, pattern: ast.NodePattern, name: str) -> Iterator[ast.Expression]:
        """Labels, map and WHERE of a node pattern."""
        if pattern.labels is not None:
            yield ast.HasLabels(ast.Variable(name, pattern.span), pattern.labels, pattern.span)
        yield from _map_predicates(name, pattern.properties)
        yield from conjuncts(pattern.predicate)

    def relationship_predicates(self, pattern: ast.RelationshipPattern, name: str) -> Iterator[ast.Expression]:
        """The type expression (unless a plain disjunction), map and WHERE of a relationship pattern."""
        if pattern.types is not None and plain_types(pattern.types) is None:
            yield ast.HasLabels(ast.Variable(name, pattern.span), pattern.types, pattern.span)
        yield from _map_predicates(name, pattern.properties)
        yield from conjuncts(pattern.predicate)

    def relationship(self, pattern: ast.RelationshipPattern, start: str, end: str, graph: PatternGraph) -> str:
        """Add a relationship pattern between two nodes; returns the relationship's name."""
        name = self.names.unnamed() if pattern.variable is None else pattern.variable.name
        types = plain_types(pattern.types)
        if pattern.hops is None and pattern.repetition is None:
            graph.connections.append(One(name, start, end, Traversal(types, pattern.direction)))
            graph.predicates.extend(self.relationship_predicates(pattern, name))
            if pattern.variable is not None:
                graph.groups.append((name, "relationship"))
            return name
        if pattern.repetition is not None:
            lower, upper = pattern.repetition.lower, pattern.repetition.upper
        else:
            assert pattern.hops is not None
            lower = 1 if pattern.hops.lower is None else pattern.hops.lower
            upper = pattern.hops.upper
        if pattern.variable is not None:
            graph.groups.append((name, "list"))
        # Inside the step the variable stands for one relationship; outside, for the list of them.
        before, after = self.names.unnamed(), self.names.unnamed()
        own = list(self.relationship_predicates(pattern, name))
        dependent = [p for p in own if free_variables(p) - {name}]
        for predicate in dependent:
            variable = ast.Variable(name, predicate.span)
            graph.predicates.append(ast.Quantifier("all", variable, variable, predicate, predicate.span))
        step = conjunction([p for p in own if p not in dependent])
        traversal = Traversal(types, pattern.direction, lower, upper)
        graph.connections.append(Many(name, start, end, traversal, step, (before, name, after)))
        return name

    def repetition(self, element: ast.ParenthesizedPath, start: str, end: str, graph: PatternGraph) -> str:
        """Add a quantified path pattern between two nodes; returns the column of its relationships."""
        assert element.repetition is not None
        lower, upper = element.repetition.lower, element.repetition.upper
        if element.path_variable is not None:
            raise unsupported("a path variable inside a quantified path pattern")
        if self._inner_path is not None and self._inner_path in free_variables(element):
            raise unsupported("a quantified path pattern that refers to the path around it")
        plain = self._plain_step(element)
        if plain is not None:
            before, pattern, after = plain
            name = self.names.unnamed() if pattern.variable is None else pattern.variable.name
            left = self.names.unnamed() if before.variable is None else before.variable.name
            right = self.names.unnamed() if after.variable is None else after.variable.name
            own = [
                *self.node_predicates(before, left),
                *self.relationship_predicates(pattern, name),
                *self.node_predicates(after, right),
                *conjuncts(element.predicate),
            ]
            if left != right and all(free_variables(p) <= {left, name, right} for p in own):
                for variable in (before.variable, pattern.variable, after.variable):
                    if variable is not None:
                        graph.groups.append((variable.name, "list"))
                graph.connections.append(
                    Many(
                        name,
                        start,
                        end,
                        Traversal(plain_types(pattern.types), pattern.direction, lower, upper),
                        conjunction(own),
                        (left, name, right),
                        None if before.variable is None else left,
                        None if after.variable is None else right,
                    )
                )
                return name
        inner = PatternGraph()
        self.read_chain(element.pattern, None, inner)
        inner.predicates.extend(conjuncts(element.predicate))
        trail = self.names.unnamed()
        inner_start, inner_end = self._ends(element.pattern, inner)
        graph.groups.extend((name, "list") for name, _ in inner.groups)
        graph.connections.append(Repeated(trail, start, end, inner, inner_start, inner_end, lower, upper))
        return trail

    def _plain_step(
        self, element: ast.ParenthesizedPath
    ) -> tuple[ast.NodePattern, ast.RelationshipPattern, ast.NodePattern] | None:
        """The parts of a repeated path that is one plain relationship."""
        match element.pattern.elements:
            case (
                ast.NodePattern() as before,
                ast.RelationshipPattern(hops=None, repetition=None) as relationship,
                ast.NodePattern() as after,
            ):
                return before, relationship, after
            case _:
                return None

    def _ends(self, chain: ast.PatternChain, inner: PatternGraph) -> tuple[str, str]:
        """The names of the first and the last node of a chain that has just been read."""
        first, last = inner.connections[0], inner.connections[-1]
        return first.start, last.end
