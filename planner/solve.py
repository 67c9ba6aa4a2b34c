"""Choose an order in which to match a pattern graph, and build the operators for it.

Small patterns of plain relationships are matched in the cheapest order (`order.py`), others greedily: begin where the
fewest rows are expected (a bound variable, an index, the smallest label), then always follow the connection that gives
the fewest rows. Each predicate is applied as soon as everything it needs is bound.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import field
from typing import TypeAlias

from hoplite.allowance import check_time
from hoplite.grammar import ast
from hoplite.grammar.tree import contains
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner.cost import Estimates, selectivity
from hoplite.planner.order import FEWEST, MOST, Node, Order, OrderSearch
from hoplite.planner.parts import Group, Step, Term, Traversal
from hoplite.planner.patterns import Connection, Many, One, PatternGraph, Repeated, Selected, Shortest
from hoplite.planner.relationship_scans import RelationshipScan, relationship_scans
from hoplite.planner.seeks import ExpressionPlanner, NodeFinder, Scan, equalities, required_labels
from hoplite.planner.variables import free_variables

WORTH_AN_END = 1000.0  # shortest paths with at most this many ends find those first
SCANNED = 0.1  # the cost of looking at a node, relative to emitting a row
WORTH_A_JOIN = 1000.0  # from this many pairs of rows a hash table is cheaper than comparing each pair


_FEW_NODES = 50  # up to this many unbound nodes, each step compares the costs of all of them


# Pending predicates, their number, and those that need each name.
_Index: TypeAlias = tuple[list[ast.Expression], int, dict[str, list[ast.Expression]]]


@dataclass(slots=True)
class Solver:
    """Solves one pattern graph."""

    graph: PatternGraph
    estimates: Estimates
    plan_expression: ExpressionPlanner
    bound: set[str]
    plan: lp.Plan
    rows: float = 1.0
    before: frozenset[str] = frozenset()
    waiting: list[ast.Expression] = field(default_factory=list)
    todo: list[Connection] = field(default_factory=list)
    done: list[str] = field(default_factory=list)  # relationship columns matched so far, for uniqueness
    types_of: dict[str, tuple[str, ...] | None] = field(default_factory=dict)
    repeated: list[Connection] = field(default_factory=list)
    held_back: list[ast.Expression] = field(default_factory=list)
    own: frozenset[str] = frozenset()  # every name that a predicate could mean
    needs: dict[int, tuple[ast.Expression, frozenset[str]]] = field(default_factory=dict)  # by identity
    labels: dict[str, list[str]] = field(default_factory=dict)
    about: _Index = field(default_factory=lambda: ([], 0, {}))
    starts: list[str] = field(default_factory=list)  # large patterns: nodes in the order to begin with
    order: Order | None = None  # small patterns: what is left of the cheapest order

    def solve(self) -> lp.Plan:
        """The operators for the whole graph, on top of the plan it was given."""
        self.before = frozenset(self.bound)
        self.own = self.graph.variables() | self.before
        self.labels = _labels_by_node(self.graph.predicates)
        self.waiting = list(self.graph.predicates)
        self.todo = list(self.graph.connections)
        self._hold_back_path_predicates()
        if self._names_a_relationship_twice():
            for name in self.graph.variables():
                if name not in self.bound:
                    self.plan = lp.Projection(self.plan, ((name, ast.Literal(None)),))
            return lp.Filter(self.plan, ast.Literal(False))
        self._drop_nulls()
        self._apply_predicates()
        self.order = self._cheapest_order()
        while True:
            check_time()
            connection = self._next_connection()
            if connection is not None:
                self._connect(connection)
            else:
                node = self._next_start()
                if node is None:
                    break
                if not self._scan_relationships(node) and not self._join(node):
                    self._scan(node)
            self._apply_predicates()
        for path in self.graph.paths:
            self.plan = lp.ProjectPath(self.plan, path.variable, path.start, path.relationships)
            self.bound.add(path.variable)
            self._apply_predicates()
        for predicate in self.waiting:  # only deferred predicates are left: the check made sure of the names
            self._filter(predicate)
        return self.plan

    def _drop_nulls(self) -> None:
        """A bound node that is null matches nothing; a connection that starts from it drops the row anyway."""
        connected = {end for c in self.graph.connections for end in (c.start, c.end)}
        for node in self.graph.nodes:
            if node in self.bound and node not in connected:
                self.plan = lp.Filter(self.plan, ast.IsNull(ast.Variable(node), negated=True))

    # --- predicates --------------------------------------------------------------------------------------------

    def _needs(self, predicate: ast.Expression) -> frozenset[str]:
        known = self.needs.get(id(predicate))
        if known is None:
            known = self.needs[id(predicate)] = (predicate, free_variables(predicate) & self.own)
        return known[1]

    def _waiting_about(self, *names: str) -> list[ast.Expression]:
        """The pending predicates that need one of these names, in order."""
        waiting, count, index = self.about
        if waiting is not self.waiting or count != len(self.waiting):
            index = {}
            for predicate in self.waiting:
                for name in self._needs(predicate):
                    index.setdefault(name, []).append(predicate)
            self.about = (self.waiting, len(self.waiting), index)
        if len(names) == 1:
            return index.get(names[0], [])
        found = {id(predicate) for name in names for predicate in index.get(name, [])}
        return [predicate for predicate in self.waiting if id(predicate) in found]

    def _settle(self, predicates: Iterable[ast.Expression]) -> None:
        """Mark these predicates as applied."""
        settled = {id(predicate) for predicate in predicates}
        self.waiting = [predicate for predicate in self.waiting if id(predicate) not in settled]

    def _apply_predicates(self) -> None:
        ready = [p for p in self.waiting if self._needs(p) <= self.bound and not self._comes_last(p)]
        if ready:
            self._settle(ready)
        for predicate in ready:
            self._filter(predicate)

    def _comes_last(self, predicate: ast.Expression) -> bool:
        """Whether a predicate may fail and has to wait: if no row matches, it must not be evaluated.

        One without names waits for the end, one with outer names only for the first node.
        """
        if not self._needs(predicate) <= self.before or not contains(predicate, _may_fail):
            return False
        return not free_variables(predicate) or not any(node in self.bound for node in self.graph.nodes)

    def _filter(self, predicate: ast.Expression) -> None:
        self.plan = lp.Filter(self.plan, self.plan_expression(predicate, frozenset(self.bound)))
        self.rows *= selectivity(predicate)

    def _hold_back_path_predicates(self) -> None:
        """WHERE on the path of a shortestPath chooses among paths; it is not a filter on the one that was chosen."""
        for connection in self.graph.connections:
            if isinstance(connection, Shortest | Selected):
                own = _own_names(connection)
                held = [p for p in self.waiting if free_variables(p) & own]
                self.held_back.extend(held)
                self.waiting = [p for p in self.waiting if p not in held]

    def _labels(self, node: str) -> list[str]:
        """Labels that the node must have, as far as the predicates say so directly."""
        return self.labels.get(node, [])

    # --- where to start ----------------------------------------------------------------------------------------

    def _next_start(self) -> str | None:
        """The unbound node that is cheapest to find; nodes that only a connection can bind are left to it."""
        unbound = [n for n in self.graph.nodes if n not in self.bound]
        if not unbound:
            return None
        if self.order is not None and self.order.start is not None:
            return self.order.start
        if len(unbound) <= _FEW_NODES:
            return min(unbound, key=self._start_cost)
        if not self.starts:  # costs are computed once, not again after each step
            self.starts = sorted(unbound, key=self._start_cost)
        return next(node for node in self.starts if node not in self.bound)

    def _start_cost(self, node: str) -> float:
        """The cost of beginning with a node: finding it, and following the connection that gives the fewest rows.

        An unlabelled node is not a better start than one with a label that has all the relationships: both lead to the
        same rows, and scanning the label is shorter.
        """
        check_time()  # each node looks at all connections
        found = self._best_scan(node).rows
        steps = [
            self.estimates.degree(self._labels(node), c.traversal if c.start == node else c.traversal.reversed)
            for c in self.todo
            if isinstance(c, One) and node in (c.start, c.end) and c.relationship not in self.bound
        ]
        return found * SCANNED + found * self._kept(node) * (1.0 + min(steps, default=0.0))

    def _kept(self, node: str) -> float:
        share = 1.0
        for predicate in self._waiting_about(node):
            if self._needs(predicate) <= self.bound | {node} and not isinstance(predicate, ast.HasLabels):
                share *= selectivity(predicate)
        return share

    def _scan(self, node: str) -> None:
        scan = self._best_scan(node)
        self.plan = scan.build(self.plan)
        self.rows *= max(scan.rows, 0.01)
        self.bound.add(node)
        self._settle(scan.solves)

    def _scan_relationships(self, node: str) -> bool:
        """Begin with the relationships of a connection if they are fewer than the nodes to begin with."""
        found: list[tuple[RelationshipScan, One]] = []
        for connection in self.todo:
            ends = {connection.start, connection.end}
            if isinstance(connection, One) and len(ends) == 2 and not (ends | {connection.relationship}) & self.bound:
                asked = self._waiting_about(connection.relationship, connection.start, connection.end)
                ways = relationship_scans(
                    connection, asked, frozenset(self.bound), self.own, self.estimates, self.plan_expression
                )
                found += [(way, connection) for way in ways]
        if not found:
            return False
        best, connection = min(found, key=lambda pair: pair[0].rows)
        nodes = self._best_scan(node).rows
        if best.rows >= nodes * self._kept(node) or (not best.solves and nodes < self.estimates.nodes(())):
            return False  # without an index, a label is a better start than a type
        self.todo.remove(connection)
        self.plan = best.build(self.plan)
        self.rows *= max(best.rows, 0.01)
        self.bound.update((connection.relationship, connection.start, connection.end))
        self._settle(best.solves)
        self._keep_distinct(connection)
        return True

    # --- joining what is not connected -------------------------------------------------------------------------

    def _join(self, node: str) -> bool:
        """Match the part of the pattern around a node separately, and join it by an equality with what is bound."""
        scan = self._best_scan(node)
        if not self.bound or self.rows * scan.rows < WORTH_A_JOIN:
            return False
        part = self._component(node)
        names = part.variables()
        for predicate in self.waiting:
            for left, right, many in equalities(predicate):
                left_needs, right_needs = self._needs(left), self._needs(right)
                if many or not left_needs or not left_needs <= self.bound or not right_needs:
                    continue
                if right_needs <= names and not isinstance(right, ast.Variable):
                    self._join_by(part, left, right)
                    return True
        if part.connections:  # matched once, not again for every batch of rows
            self._join_by(part, None, None)
            return True
        return False

    def _component(self, node: str) -> PatternGraph:
        """Everything connected with a node that can be matched without what is already bound."""
        nodes, connections = {node}, list[Connection]()
        grown = True
        while grown:
            grown = False
            for connection in self.todo:
                ends = {connection.start, connection.end}
                plain = isinstance(connection, One | Many) and connection.relationship not in self.bound
                if connection not in connections and plain and ends & nodes and not ends & self.bound:
                    connections.append(connection)
                    nodes |= ends
                    grown = True
        part = PatternGraph([n for n in self.graph.nodes if n in nodes], connections, clauses=self.graph.clauses)
        names = part.variables()
        part.predicates = [p for p in self.waiting if self._needs(p) and self._needs(p) <= names]
        return part

    def _join_by(self, part: PatternGraph, left: ast.Expression | None, right: ast.Expression | None) -> None:
        """Join with a part of the pattern: by two equal expressions, or as a product if there are none."""
        inner = Solver(part, self.estimates, self.plan_expression, set(), lp.Argument())
        plan = inner.solve()
        names = part.variables()
        bound = frozenset(self.bound)
        if left is None or right is None:
            self.plan = lp.CartesianProduct(self.plan, plan, tuple(sorted(names)))
            self.rows *= max(1.0, inner.rows)
        else:
            self.plan = lp.ValueHashJoin(
                self.plan,
                plan,
                self.plan_expression(left, bound),
                self.plan_expression(right, names),
                tuple(sorted(names)),
            )
            self.rows = max(self.rows, inner.rows)
        self.bound |= names
        self.waiting = [p for p in self.waiting if p not in part.predicates]
        self.todo = [c for c in self.todo if c not in part.connections]
        for name in inner.done:
            self._keep_distinct_relationship(name, inner.types_of[name])

    def _best_scan(self, node: str) -> Scan:
        asked, labels, bound = self._waiting_about(node), self._labels(node), frozenset(self.bound)
        return NodeFinder(node, asked, labels, bound, self.own, self.rows, self.estimates, self.plan_expression).best()

    # --- connections -------------------------------------------------------------------------------------------

    def _names_a_relationship_twice(self) -> bool:
        names = [c.relationship for c in self.graph.connections]
        return len(names) != len(set(names))

    def _cheapest_order(self) -> Order | None:
        """The cheapest order, for a small connected pattern of plain relationships."""
        connections = [c for c in self.todo if isinstance(c, One) and c.relationship not in self.bound]
        if not FEWEST <= len(connections) == len(self.todo) <= MOST:
            return None
        names = {name for c in connections for name in (c.start, c.end)}
        if not names.issuperset(self.graph.nodes):
            return None
        has_start = bool(names & self.bound)
        nodes = {name: self._known_of(name, is_start=not has_start) for name in names}
        pairs = [
            (needed, selectivity(predicate))
            for predicate in self.waiting
            if len(needed := self._needs(predicate) - self.bound) > 1 and needed <= names
        ]
        return OrderSearch(nodes, connections, pairs, max(self.rows, 1.0), self.estimates).best()

    def _known_of(self, name: str, is_start: bool) -> Node:
        labels = tuple(self._labels(name))
        size = self.estimates.nodes(labels)
        if name in self.bound:
            return Node(labels, size, 1.0, 0.0, 0.0, bound=True)
        share = self._kept(name)
        if not is_start:
            return Node(labels, size, share, size * share, 0.0, bound=False)
        scan = self._best_scan(name)
        share = min(share, scan.rows / size)
        return Node(labels, size, share, size * share, scan.rows * SCANNED, bound=False)

    def _next_connection(self) -> Connection | None:
        """The connection to follow next; None if a node has to be found first."""
        if self.order is not None:
            start, connections = self.order
            if start is not None and start not in self.bound and not self.done:
                return None
            connections = tuple(c for c in connections if c in self.todo)
            if connections and self._is_ready(connections[0]):
                self.order = Order(None, connections[1:])
                return connections[0]
            self.order = None  # another start was better
        return self._cheapest_connection()

    def _cheapest_connection(self) -> Connection | None:
        ready = [c for c in self.todo if self._is_ready(c)]
        return min(ready, key=self._connection_rows, default=None)

    def _is_ready(self, connection: Connection) -> bool:
        match connection:
            case One() | Many() if connection.relationship in self.bound:
                return True
            case One() | Many():
                return connection.start in self.bound or connection.end in self.bound
            case Repeated(inner=inner, start=start):
                outer = frozenset().union(*map(free_variables, inner.predicates)) & self.graph.variables()
                needed = outer - inner.variables()
                return start in self.bound and needed <= self.bound
            case Shortest():
                return connection.start in self.bound and connection.end in self.bound
            case Selected(start=start, end=end):
                # One search from a node serves all its ends, so ends that are cheap to find are found first.
                unbound = {start, end} - self.bound
                is_reached = start in self.bound or end in self.bound
                return is_reached and not any(self._is_worth_finding(node) for node in unbound)

    def _is_worth_finding(self, node: str) -> bool:
        """Whether an end of shortest paths is one of only a few nodes."""
        rows = self._best_scan(node).rows * self._kept(node)
        return rows <= WORTH_AN_END and rows < self.estimates.nodes(())

    def _connection_rows(self, connection: Connection) -> float:
        if connection.relationship in self.bound:
            return 0.0
        into = connection.start in self.bound and connection.end in self.bound
        match connection:
            case One(traversal=traversal) | Many(traversal=traversal):
                forward = connection.start in self.bound
                node = connection.start if forward else connection.end
                other = connection.end if forward else connection.start
                rows = self.estimates.degree(self._labels(node), traversal if forward else traversal.reversed)
                if isinstance(connection, Many):
                    rows = self.estimates.trails(rows, traversal.lower, traversal.upper) + 2
                rows *= self._kept_at(other)
                return rows * (0.01 if into else 1.0)
            case Repeated():
                return 1e3 if into else 1e4
            case Shortest() | Selected():
                return 1e5

    def _kept_at(self, node: str) -> float:
        """The fraction of neighbours that the labels and predicates of the far node let through."""
        share = 1.0
        total = max(1, self.estimates.catalogue.node_count)
        for label in self._labels(node):
            share = min(share, max(self.estimates.catalogue.label_count(label), 0.1) / total)
        return share * (1.0 if node in self.bound else self._kept(node))

    def _connect(self, connection: Connection) -> None:
        self.todo.remove(connection)
        rows = self._connection_rows(connection)
        match connection:
            case One() | Many() if connection.relationship in self.bound:
                self._follow_bound(connection)
            case One():
                self._expand(connection)
            case Many():
                self._expand_many(connection)
            case Repeated():
                self._repeat(connection)
            case Shortest():
                self._shortest(connection)
            case Selected():
                self._select(connection)
        self.bound.update((connection.relationship, connection.start, connection.end))
        self.rows *= max(rows, 0.01)
        if not isinstance(connection, Shortest | Selected):
            self._keep_distinct(connection)

    def _follow_bound(self, connection: One | Many) -> None:
        many = connection if isinstance(connection, Many) else None
        self.plan = lp.ProjectEndpoints(
            self.plan,
            connection.relationship,
            connection.start,
            connection.end,
            connection.start in self.bound,
            connection.end in self.bound,
            connection.traversal,
            many is not None,
        )
        if many is not None and many.step is not None:
            variable = ast.Variable(many.relationship)
            self.waiting.append(ast.Quantifier("all", variable, variable, many.step))

    def _oriented(self, connection: One | Many) -> tuple[str, str, Traversal, bool]:
        """Which end to follow from: the start if it is bound."""
        if connection.start in self.bound:
            return connection.start, connection.end, connection.traversal, connection.end in self.bound
        return connection.end, connection.start, connection.traversal.reversed, False

    def _expand(self, one: One) -> None:
        from_node, to_node, traversal, into = self._oriented(one)
        self.plan = lp.Expand(self.plan, from_node, one.relationship, to_node, traversal, into)

    def _step(self, many: Many, turned: bool) -> Step | None:
        """The condition on each step of a repeated relationship, over its names in walking order."""
        if many.step is None:
            return None
        before, relationship, after = reversed(many.step_names) if turned else many.step_names
        names = frozenset((before, relationship, after))
        return Step(before, relationship, after, self.plan_expression(many.step, names))

    def _expand_many(self, many: Many) -> None:
        from_node, to_node, traversal, into = self._oriented(many)
        turned = from_node != many.start
        step = self._step(many, turned)
        self.plan = lp.VarLengthExpand(
            self.plan,
            from_node,
            many.relationship,
            to_node,
            traversal,
            into,
            step,
            many.left_group,
            many.right_group,
            turned=turned,
        )
        self.bound.update(name for name in (many.left_group, many.right_group) if name is not None)

    def _repeat(self, repeated: Repeated) -> None:
        outer = frozenset(self.bound)
        inner_bound = outer | {repeated.inner_start}
        inner = Solver(
            repeated.inner,
            self.estimates,
            self.plan_expression,
            set(inner_bound),
            lp.Argument(tuple(sorted(inner_bound))),
        )
        plan = inner.solve()
        groups = tuple(Group(name, name, kind) for name, kind in repeated.inner.groups)
        self.plan = lp.Repeat(
            self.plan,
            repeated.start,
            repeated.end,
            repeated.end in self.bound,
            plan,
            repeated.inner_start,
            repeated.inner_end,
            tuple(c.relationship for c in repeated.inner.connections),
            groups,
            repeated.trail,
            repeated.lower,
            repeated.upper,
        )
        self.bound.update(group.outer for group in groups)

    def _shortest(self, shortest: Shortest) -> None:
        many = shortest.many
        step = self._step(many, turned=False)
        predicates = self._path_predicates(shortest)
        self.plan = lp.ShortestPath(
            self.plan,
            many.start,
            many.end,
            many.relationship,
            many.traversal,
            shortest.every,
            step,
            shortest.path,
            predicates,
        )
        if shortest.path is not None:
            self.bound.add(shortest.path)

    def _path_predicates(self, connection: Shortest | Selected) -> tuple[Term, ...]:
        """The predicates held back for the paths of a connection."""
        own = _own_names(connection)
        held = [p for p in self.held_back if free_variables(p) & own]
        self.held_back = [p for p in self.held_back if p not in held]
        scope = frozenset(self.bound | own | {connection.start, connection.end})
        return tuple(self.plan_expression(p, scope) for p in held)

    def _select(self, selected: Selected) -> None:
        many = selected.many
        from_node, to_node, traversal, into = self._oriented(many)
        turned = from_node != many.start
        self.plan = lp.StatefulShortestPath(
            self.plan,
            from_node,
            many.relationship,
            to_node,
            traversal,
            into,
            self._step(many, turned),
            many.left_group,
            many.right_group,
            turned,
            selected.kind,
            self.plan_expression(selected.count, frozenset()),
            self._path_predicates(selected),
            selected.path,
        )
        self.bound.update(name for name in (many.left_group, many.right_group) if name is not None)

    def _keep_distinct(self, connection: Connection) -> None:
        """No relationship twice within one MATCH."""
        types = connection.traversal.types if isinstance(connection, One | Many) else None
        self._keep_distinct_relationship(connection.relationship, types)

    def _keep_distinct_relationship(self, name: str, types: tuple[str, ...] | None) -> None:
        clauses = self.graph.clauses
        rivals = tuple(
            other
            for other in self.done
            if clauses.get(other) == clauses.get(name)
            and (types is None or (known := self.types_of[other]) is None or set(types) & set(known))
        )
        if rivals:
            self.plan = lp.DistinctRelationships(self.plan, name, rivals)
        self.done.append(name)
        self.types_of[name] = types


def _may_fail(node: object) -> bool:
    """Whether a part of an expression may raise an error."""
    return isinstance(node, ast.FunctionCall | ast.SubqueryExpression | ast.Index | ast.Slice) or (
        isinstance(node, ast.Binary) and node.operator not in ("AND", "OR", "XOR", "IN")
    )


def _own_names(connection: Shortest | Selected) -> set[str]:
    """The names of the paths that a connection selects from, and of their parts."""
    names = {connection.relationship, connection.many.left_group, connection.many.right_group, connection.path}
    return {name for name in names if name is not None}


def _labels_by_node(predicates: Iterable[ast.Expression]) -> dict[str, list[str]]:
    """The labels that nodes must have, as far as the predicates say so directly."""
    found: dict[str, list[str]] = {}
    for predicate in predicates:
        if isinstance(predicate, ast.HasLabels) and isinstance(predicate.operand, ast.Variable):
            found.setdefault(predicate.operand.name, []).extend(required_labels(predicate.labels))
    return found
