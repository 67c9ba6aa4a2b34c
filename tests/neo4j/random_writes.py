"""Random clauses that write: CREATE, MERGE, SET, REMOVE, DELETE, FOREACH, and writes in subqueries.

Where rows repeat an entity, the last of several different writes to one place would depend on the order of rows; what
is written is therefore the same for every row, or a function of the entity that is written to.
"""

from __future__ import annotations

from tests.neo4j.choices import Choices
from tests.neo4j.random_expressions import Expressions, Scope
from tests.neo4j.random_graphs import INTEGERS, LABELS, STRINGS, TYPES, literal

KINDS = tuple(range(20))
MAKING = (0, 1, 7, 8, 10, 16, 17, 18)
"""The kinds that only make something."""


class Writes:
    """Makes clauses that write."""

    def __init__(self, choices: Choices, expressions: Expressions) -> None:
        self._choices = choices
        self._expressions = expressions

    def clause(self, scope: Scope, kinds: tuple[int, ...] = KINDS) -> str:
        """One clause that writes, of one of these kinds."""
        c = self._choices
        nodes, relationships = scope.of("node"), scope.of("relationship")
        match c.pick(kinds):
            case 10:
                name, end, kind = scope.fresh("n"), scope.fresh("n"), c.pick(TYPES)
                scope.types |= {name: "node", end: "node"}
                held = f" {{x: {literal(c.pick(INTEGERS))}}}" if c.chance(50) else ""
                start = f"({c.pick(nodes)})" if nodes and c.chance(60) else f"({name}:A)"
                if not start.startswith(f"({name}"):
                    del scope.types[name]
                merged = f"MERGE {start}-[:{kind}{held}]->({end}:{c.pick(LABELS)})"
                return f"{merged} ON MATCH SET {end}.y = 5" if c.chance(30) else merged
            case 14 if nodes:
                # From a node to itself or another: what is read was there before the clause.
                return f"SET {c.pick(nodes)} += {self._held_map(scope)}"
            case 15 if nodes:
                return f"REMOVE {c.pick(nodes)}.{c.pick(('x', 's', 'm', 'nope'))}"
            case 16:
                return self._foreach(scope, nodes)
            case 17:
                first, second = scope.fresh("n"), scope.fresh("n")
                scope.types |= {first: "node", second: "node"}
                labels = c.pick(("", ":A", ":A:B"))
                held = f"{{s: {self._expressions.of('string', scope, 1)}, d: {self._expressions.of('date', scope, 1)}}}"
                return f"CREATE ({first}{labels})-[:{c.pick(TYPES)} {held}]->({second})-[:{c.pick(TYPES)}]->({first})"
            case 18:
                items, item = self._expressions.of("list", scope, 1), scope.fresh("i")
                return (
                    f"CALL () {{ UNWIND [1, 2, 2] AS {item} MERGE (:{c.pick(LABELS)} {{x: {item}}}) }}"
                    if (c.chance(50))
                    else f"FOREACH ({item} IN {items} | MERGE (:{c.pick(LABELS)} {{x: coalesce({item}, -7)}}))"
                )
            case 19 if nodes:
                node, key = c.pick(nodes), c.pick(("'x'", "'y'", "'s' + ''"))
                return f"SET {node}[{key}] = {c.pick(('1', 'null', f'{node}.x'))}"
            case 11 if nodes:
                body = f"SET {c.pick(nodes)}.z = 1"
                return f"CALL ({', '.join(nodes)}) {{ {body} }}"
            case 12 if relationships:
                return f"SET {c.pick(relationships)}.y = {c.pick(('1', 'null'))}"
            case 13 if nodes:
                node = c.pick(nodes)
                return f"SET {node} = {{id: {node}.id, x: 1}}"
            case 0:
                name, labels = scope.fresh("n"), c.pick(("", ":A", ":B:C"))
                held = self._expressions.of("integer", scope, 1)
                scope.types[name] = "node"
                return f"CREATE ({name}{labels} {{x: {held}}})"
            case 1 if nodes:
                start, end, kind = c.pick(nodes), c.pick(nodes), c.pick(TYPES)
                return f"CREATE ({start})-[:{kind} {{w: {literal(c.pick(INTEGERS))}}}]->({end})"
            case 2 if nodes:
                return f"SET {c.pick(nodes)}.y = {c.pick(('1', 'null', '[]'))}"
            case 3 if nodes:
                node = c.pick(nodes)
                return f"SET {node}.x = {node}.x + {literal(c.pick(INTEGERS))}"
            case 4 if nodes:
                return f"SET {c.pick(nodes)} += {{s: {literal(c.pick(STRINGS))}, x: {c.pick(('null', '7'))}}}"
            case 5 if nodes:
                return f"{c.pick(('SET', 'REMOVE'))} {c.pick(nodes)}:{c.pick(LABELS)}"
            case 6 if nodes or relationships:
                entity = c.pick([*nodes, *relationships])
                scope.types.clear()
                return f"DETACH DELETE {entity}" if entity in nodes else f"DELETE {entity}"
            case 7:
                name = scope.fresh("n")
                scope.types[name] = "node"
                merged = f"MERGE ({name}:{c.pick(LABELS)} {{x: {literal(c.pick(INTEGERS))}}})"
                return f"{merged} ON CREATE SET {name}.y = 1 ON MATCH SET {name}.y = 2" if c.chance(40) else merged
            case 8 if nodes:
                start, end = c.pick(nodes), c.pick(nodes)
                # Without a direction, which way it is created depends on which row comes first.
                return f"MERGE ({start})-[:{c.pick(TYPES)}]->({end})"
            case 9 if nodes:
                item = scope.fresh("i")
                node = c.pick(nodes)
                items = self._expressions.of("list", scope, 1)
                return f"FOREACH ({item} IN {items} | SET {node}.z = coalesce({node}.z, 0) + coalesce({item}, 0))"
        return f"CREATE (:{c.pick(LABELS)} {{y: {self._expressions.of('integer', scope, 1)}}})"

    def _held_map(self, scope: Scope) -> str:
        return self._choices.pick(
            (
                "{y: 1, s: null}",
                "{d: date('2024-02-29'), y: [1, 2]}",
                "{y: 'a' + 'b', x: null, nope: null}",
                "{}",
            )
        )

    def _foreach(self, scope: Scope, nodes: list[str]) -> str:
        c = self._choices
        item, inner = scope.fresh("i"), scope.fresh("i")
        made = f"CREATE (:{c.pick(LABELS)} {{x: {item}}})"
        if nodes and c.chance(50):
            made = f"CREATE ({c.pick(nodes)})-[:{c.pick(TYPES)} {{x: {item}}}]->(:{c.pick(LABELS)})"
        if c.chance(30):
            made = f"FOREACH ({inner} IN [{item}, 1] | {made})"
        return f"FOREACH ({item} IN {self._expressions.of('list', scope, 1)} | {made})"
