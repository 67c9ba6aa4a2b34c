"""Random queries: patterns of fixed, variable and quantified length, shortest paths, optional matches, projections,
aggregation, subqueries, writes, unions. What a query leaves open (order without ORDER BY, one of several shortest
paths, the last of several writes to one place) is not asked for, except for a LIMIT at the end."""

from __future__ import annotations

from dataclasses import dataclass

from tests.neo4j.choices import Choices
from tests.neo4j.random_expressions import VALUES, Expressions, Scope
from tests.neo4j.random_graphs import INTEGERS, LABELS, literal
from tests.neo4j.random_writes import MAKING, Writes

_BOUNDS = ("", "1..2", "2", "0..1", "..2", "0..", "2..3", "0..2", "1..", "3", "0")
_QUANTIFIERS = ("+", "{1,2}", "*", "{2}", "{0,1}", "{,2}", "{2,3}", "{1,}")
_ORDERED = tuple(kind for kind in VALUES if kind != "any")  # nodes come in the order of their ids, which differ
_AGGREGATES = ("count(*)", "count", "sum", "min", "max", "avg", "collect", "count DISTINCT", "sum DISTINCT", "stDev")
_MORE_AGGREGATES = ("percentileCont", "percentileDisc", "stDevP", "collect DISTINCT", "avg DISTINCT", "min", "max")


@dataclass(frozen=True, slots=True)
class RandomQuery:
    """Its clauses, one a line."""

    clauses: tuple[str, ...]

    @property
    def text(self) -> str:
        """The query."""
        return "\n".join(self.clauses)


def random_query(choices: Choices) -> RandomQuery:
    """One query."""
    maker = _Maker(choices)
    if choices.chance(6):
        left, right = maker.read_part(("a",)), maker.read_part(("a",))
        return RandomQuery((*left, choices.pick(("UNION ALL", "UNION")), *right))
    if choices.chance(18):
        return RandomQuery(tuple(maker.writing()))
    if choices.chance(25):
        return RandomQuery(tuple(maker.reaching()))
    return RandomQuery(tuple(maker.reading()))


class _Maker:
    def __init__(self, choices: Choices) -> None:
        self._choices = choices
        self._expressions = Expressions(choices)
        self._writes = Writes(choices, self._expressions)

    # --- whole queries ---

    def reading(self) -> list[str]:
        """MATCH and more, then RETURN."""
        scope = Scope()
        clauses = self._middle(scope, 1 + self._choices.below(3))
        return [*clauses, self._return(scope)]

    def reaching(self) -> list[str]:
        """Which nodes a variable length leads to, where how often it does is not seen: a search may answer it."""
        c = self._choices
        scope = Scope()
        clauses = [self._match(scope)] if c.chance(40) else []
        known = scope.of("node")
        start = f"({c.pick(known)})" if known and c.chance(70) else f"(s{c.pick(('', ':A', ' {id: 0}', ' {id: 1}'))})"
        left, right = c.pick((("-", "->"), ("-", "-"), ("<-", "-")))
        bounds = c.pick((*_BOUNDS, "2..", "3..", "2..4"))
        types, end = c.pick(("", ":R", ":R|S")), c.pick(("e", "e", "e:A", "e {x: 1}", "e:!B"))
        path = f"{start}{left}[r{types}*{bounds}]{right}({end})"
        before = f"{self._expressions.arrow()}()" if c.chance(10) else ""
        if before:
            path = f"(){before[:-2]}{path}"
        where = []
        if c.chance(25):
            inside = Scope({"q": "relationship"}, scope.made)
            every = c.pick(("all", "none", "any", "single"))
            where.append(f"{every}(q IN r WHERE {self._expressions.predicate(inside, 1)})")
        if c.chance(20):
            where.append(self._expressions.predicate(scope.inner({"e": "node"}), 1))
        text = f"{c.pick(('', '', 'OPTIONAL '))}MATCH {path}" + (f" WHERE {' AND '.join(where)}" if where else "")
        kept = [name for name in scope.types if c.chance(25)]
        also = "".join(f", {name}" for name in kept)
        if c.chance(20):
            negation = c.pick(("", "NOT "))
            inner = text.removeprefix("OPTIONAL ")
            outer = "" if known else "MATCH (o) "
            return [*clauses, f"{outer}WITH * WHERE {negation}EXISTS {{ {inner} }}", "RETURN count(*) AS c"]
        returned = c.pick(
            (
                f"RETURN DISTINCT e{also}",
                f"RETURN count(DISTINCT e) AS c{also}",
                f"RETURN DISTINCT e.x AS x{also}",
                f"WITH DISTINCT e{also} RETURN count(*) AS c, sum(e.x) AS s",
                f"RETURN min(e.id) AS a, max(e.id) AS b{also}",
                f"RETURN collect(DISTINCT e.id) AS ids{also}",
                f"RETURN count(*) AS c, count(DISTINCT e) AS d{also}",
                f"RETURN count(e) AS c{also}",
            )
        )
        return [*clauses, text, returned]

    def read_part(self, columns: tuple[str, ...]) -> list[str]:
        """A reading query with these columns, for a UNION."""
        scope = Scope()
        clauses = self._middle(scope, 1)
        items = [f"{self._value(scope)} AS {column}" for column in columns]
        return [*clauses, f"RETURN {', '.join(items)}"]

    def writing(self) -> list[str]:
        """Reads, then writes, then returns what does not depend on the order of writes."""
        scope = Scope()
        clauses = self._middle(scope, self._choices.below(2))
        clauses.append(self._writes.clause(scope))
        if self._choices.chance(40):
            # No second SET or REMOVE: where rows repeat an entity, what Neo4j counts depends on its plan.
            clauses.append(self._writes.clause(scope, MAKING))
        if self._choices.chance(70):
            clauses.append("RETURN count(*) AS c")
        return clauses

    def _middle(self, scope: Scope, count: int) -> list[str]:
        clauses = [self._match(scope)] if count else []
        for _ in range(count - 1):
            clauses += self._clause(scope)
        return clauses

    def _clause(self, scope: Scope) -> list[str]:
        match self._choices.below(11):
            case 8:
                row, name = scope.fresh("m"), scope.fresh("u")
                rows = f"[{{k: 1, v: 'a'}}, {{k: null}}, {{k: {self._expressions.of('integer', scope, 1)}, v: 'b'}}]"
                text = f"UNWIND {rows} AS {row}"
                scope.types[name] = "integer"
                return [text, f"WITH *, {row}.k AS {name}, {row}.v AS {name}s"]
            case 9:
                return [self._shortest_length(scope)]
            case 0 | 1:
                return [self._match(scope)]
            case 2 | 3:
                return [self._match(scope, optional=True)]
            case 4:
                name = scope.fresh("u")
                text = f"UNWIND {self._expressions.of(self._choices.pick(('list', 'bag')), scope, 1)} AS {name}"
                scope.types[name] = "integer"
                return [text]
            case 5:
                return [self._with(scope)]
            case 6:
                return [self._subquery(scope)]
            case 7:
                return self._ordered_collect(scope)
            case _:
                return [self._aggregating_with(scope)]

    # --- MATCH ---

    def _match(self, scope: Scope, optional: bool = False) -> str:
        c = self._choices
        shortest = c.chance(6)
        quantified = c.chance(20)  # all of a MATCH: stars and quantifiers do not mix
        parts = [self._shortest(scope)] if shortest else [self._path(scope, quantified)]
        if not shortest and c.chance(20):
            parts.append(self._path(scope, quantified))
        where = f" WHERE {self._expressions.predicate(scope)}" if c.chance(30) else ""
        return f"{'OPTIONAL ' if optional else ''}MATCH {', '.join(parts)}{where}"

    def _path(self, scope: Scope, quantified: bool) -> str:
        c = self._choices
        name = scope.fresh("p") if c.chance(15) else None
        added: dict[str, str] = {}
        text = self._node(scope, added)
        for _ in range(c.below(3)):
            if quantified and c.chance(50):
                text += self._quantified(scope, added) + self._node(scope, added)
            else:
                text += self._relationship(scope, added, not quantified) + self._node(scope, added)
        scope.types.update(added)
        if name is not None:
            scope.types[name] = "path"
            return f"{name} = {text}"
        return text

    def _node(self, scope: Scope, added: dict[str, str]) -> str:
        c = self._choices
        known = [*scope.of("node"), *(name for name, kind in added.items() if kind == "node")]
        if known and c.chance(30):
            return f"({c.pick(known)})"
        name = ""
        if not c.chance(25):
            name = scope.fresh("n")
            added[name] = "node"
        labels = f":{self._expressions.labels()}" if c.chance(20) else ""
        held = ""
        if c.chance(5):
            held = f" {{x: {literal(c.pick(INTEGERS))}}}"
        elif name and c.chance(8):
            inside = scope.inner({name: "node"})
            held = f" WHERE {self._expressions.predicate(inside, 1)}"
        return f"({name}{labels}{held})"

    def _relationship(self, scope: Scope, added: dict[str, str], may_repeat: bool) -> str:
        c = self._choices
        left, right = c.pick((("-", "->"), ("-", "-"), ("<-", "-")))
        length = f"*{c.pick(_BOUNDS)}" if may_repeat and c.chance(30) else ""
        name = ""
        if c.chance(45):
            name = scope.fresh("r")
            added[name] = "relationships" if length else "relationship"
        types = self._expressions.types()
        if length:
            types = types.replace("!", "")  # negation and length do not go together
        held = f" {{x: {literal(c.pick(INTEGERS))}}}" if c.chance(4) else ""
        return f"{left}[{name}{types}{length}{held}]{right}"

    def _quantified(self, scope: Scope, added: dict[str, str]) -> str:
        c = self._choices
        first, hop, second = scope.fresh("g"), scope.fresh("h"), scope.fresh("k")
        left, right = c.pick((("-", "->"), ("-", "-"), ("<-", "-")))
        inside = Scope({first: "node", hop: "relationship", second: "node"}, scope.made)
        where = f" WHERE {self._expressions.predicate(inside, 1)}" if c.chance(40) else ""
        more = f"{self._expressions.arrow()}()" if c.chance(15) else ""
        quantifier = c.pick(_QUANTIFIERS)
        added[hop] = "relationships"
        added[first] = "nodes"
        body = f"({first}){left}[{hop}{self._expressions.types()}]{right}({second}){more}{where}"
        return f" ({body}){quantifier} "

    def _shortest(self, scope: Scope) -> str:
        c = self._choices
        start, end = scope.fresh("n"), scope.fresh("n")
        left, right = c.pick((("-", "->"), ("-", "-"), ("<-", "-")))
        types = self._expressions.types().replace("!", "")
        name = scope.fresh("p")
        scope.types |= {start: "node", end: "node"}
        if c.chance(50):
            ends = f"({start}:{c.pick(LABELS)}){{}}({end}:{c.pick(LABELS)})"
            selector = c.pick(("ALL SHORTEST", "SHORTEST 2 GROUPS", "SHORTEST 1 GROUPS"))
            hop = f"{left}[{types}]{right}{c.pick(('+', '*', '{1,3}'))}"
            scope.types[name] = "path"
            return f"{name} = {selector} " + ends.format(hop)
        hop = f"{left}[{types}*{c.pick(('', '..2', '0..', '..3'))}]{right}"
        scope.types[name] = "path"
        # Two different nodes: one and the same is an error, which depends on what is matched first.
        return f"({start}:A {{id: {c.below(3)}}}), ({end}:B {{id: {3 + c.below(3)}}}), " + (
            f"{name} = allShortestPaths(({start}){hop}({end}))"
        )

    def _shortest_length(self, scope: Scope) -> str:
        """Of several shortest paths any may come, but all are of one length."""
        c = self._choices
        start, end, path, name = scope.fresh("n"), scope.fresh("n"), scope.fresh("p"), scope.fresh("v")
        left, right = c.pick((("-", "->"), ("-", "-"), ("<-", "-")))
        types = self._expressions.types()
        selector = c.pick(("ANY SHORTEST", "SHORTEST 1", "SHORTEST 2"))
        hop = f"{left}[{types}]{right}{c.pick(('+', '*', '{1,3}', '{2,4}'))}"
        where = f" WHERE {self._expressions.predicate(scope.inner({end: 'node'}), 1)}" if c.chance(30) else ""
        kept = [one for one in scope.of("node", "integer") if c.chance(60)]
        items = [*kept, start, end, f"length({path}) AS {name}"]
        types_kept = {one: scope.types[one] for one in kept}
        scope.types.clear()
        scope.types.update({**types_kept, start: "node", end: "node", name: "integer"})
        first = f"({start}:{c.pick(LABELS)})"
        return f"MATCH {path} = {selector} {first}{hop}({end}){where} WITH {', '.join(items)}"

    # --- projections ---

    def _value(self, scope: Scope, depth: int = 2) -> str:
        c = self._choices
        entities = scope.of("node", "relationship", "path", "relationships")
        if entities and c.chance(35):
            return c.pick(entities)
        return self._expressions.of(c.pick((*VALUES, "map", "bag")), scope, depth)

    def _return(self, scope: Scope) -> str:
        c = self._choices
        if c.chance(40):
            return self._aggregation("RETURN", scope)
        distinct = "DISTINCT " if c.chance(25) else ""
        names = [f"c{number}" for number in range(1 + c.below(3))]
        kinds = [c.pick((*VALUES, "entity", "entity")) for _ in names]
        items = [f"{self._column(kind, scope)} AS {name}" for name, kind in zip(names, kinds, strict=True)]
        text = f"RETURN {distinct}{', '.join(items)}"
        ordered = [name for name, kind in zip(names, kinds, strict=True) if kind in _ORDERED]
        if ordered and c.chance(30):
            text += f" ORDER BY {self._order(ordered)}"
        if c.chance(8):
            text += f" SKIP {c.below(3)}"
        if c.chance(20):
            text += f" LIMIT {c.pick((3, 1, 2, 5, 10, 0))}"
        return text

    def _column(self, kind: str, scope: Scope) -> str:
        if kind == "entity":
            entities = scope.of("node", "relationship", "path", "relationships")
            return self._choices.pick(entities) if entities else self._expressions.of("any", scope)
        return self._expressions.of(kind, scope)

    def _order(self, names: list[str]) -> str:
        keys = [f"{name}{self._choices.pick(('', ' DESC'))}" for name in names if not self._choices.chance(30)]
        return ", ".join(keys or names[:1])

    def _aggregation(self, clause: str, scope: Scope) -> str:
        """Columns c0.., after which nothing else is in scope."""
        c = self._choices
        items, types = [], {}
        for number in range(c.below(3)):
            kind = c.pick((*VALUES, "entity"))
            expression = self._column(kind, scope)
            items.append(f"{expression} AS c{number}")
            types[f"c{number}"] = self._column_type(kind, expression, scope)
        for number in range(1 + c.below(2)):
            name = f"a{number}"
            text, kind = self._aggregate(scope)
            items.append(f"{text} AS {name}")
            types[name] = kind
        scope.types.clear()
        scope.types.update(types)
        return f"{clause} {', '.join(items)}"

    def _column_type(self, kind: str, expression: str, scope: Scope) -> str:
        return scope.types.get(expression, "any") if kind == "entity" else kind

    def _aggregate(self, scope: Scope) -> tuple[str, str]:
        c = self._choices
        function = c.pick(_MORE_AGGREGATES if c.chance(25) else _AGGREGATES)
        if function == "count(*)":
            return function, "integer"
        name, _, distinct = function.partition(" ")
        if name == "collect":
            argument = self._expressions.of(c.pick(("integer", "string", "date", "map")), scope, 1)
            return f"collect({distinct}{' ' if distinct else ''}{argument})", "unordered"
        if name.startswith("percentile"):
            return f"{name}({self._expressions.of('integer', scope, 1)}, {c.pick((0.5, 0.0, 1.0, 0.25))})", "number"
        if name in ("count", "min", "max"):
            kind = c.pick(VALUES if name == "count" else _ORDERED)
            argument = self._expressions.of(kind, scope, 1)
            return f"{name}({distinct}{' ' if distinct else ''}{argument})", "integer" if name == "count" else kind
        argument = self._expressions.of(c.pick(("integer", "number")), scope, 1)
        return f"{name}({distinct}{' ' if distinct else ''}{argument})", "number"

    def _with(self, scope: Scope) -> str:
        c = self._choices
        kept = [name for name in scope.types if c.chance(60)]
        nodes = scope.of("node")
        if nodes and c.chance(20):
            node = c.pick(nodes)
            scope.types.clear()
            scope.types[node] = "node"
            order = f" ORDER BY {node}.id{c.pick(('', ' DESC'))} LIMIT {1 + c.below(3)}"
            return f"WITH {c.pick(('', 'DISTINCT '))}{node}{order}"
        name, kind = scope.fresh("v"), c.pick(VALUES)
        items = [*kept, f"{self._expressions.of(kind, scope)} AS {name}"]
        types = {**{one: scope.types[one] for one in kept}, name: kind}
        scope.types.clear()
        scope.types.update(types)
        where = f" WHERE {self._expressions.predicate(scope)}" if c.chance(25) else ""
        return f"WITH {c.pick(('', 'DISTINCT '))}{', '.join(items)}{where}"

    def _ordered_collect(self, scope: Scope) -> list[str]:
        """Lists in an order of their own: collected from sorted rows."""
        nodes = scope.of("node")
        if not nodes:
            return [self._with(scope)]
        node, name = self._choices.pick(nodes), scope.fresh("v")
        sort = f"WITH {node} ORDER BY {node}.id{self._choices.pick(('', ' DESC'))}"
        inside = Scope({node: "node"}, scope.made)
        value = self._expressions.of("integer", inside, 1)
        scope.types.clear()
        scope.types[name] = "list"
        return [sort, f"WITH collect({self._choices.pick(('', 'DISTINCT '))}{value}) AS {name}"]

    def _aggregating_with(self, scope: Scope) -> str:
        text = self._aggregation("WITH", scope)
        where = f" WHERE {self._expressions.predicate(scope, 1)}" if self._choices.chance(25) else ""
        return text + where

    def _subquery(self, scope: Scope) -> str:
        c = self._choices
        nodes = scope.of("node")
        imported = [c.pick(nodes)] if nodes and c.chance(80) else []
        inside = Scope(dict.fromkeys(imported, "node"), scope.made)
        match = self._match(inside, optional=c.chance(20))
        name, kind = scope.fresh("v"), c.pick(VALUES)
        if c.chance(50):
            aggregate, kind = self._aggregate(inside)
            returned = f"RETURN {aggregate} AS {name}"
        else:
            returned = f"RETURN {self._expressions.of(kind, inside)} AS {name}"
        if c.chance(20):
            other = Scope(dict.fromkeys(imported, "node"), scope.made)
            second = self._match(other)
            value = self._expressions.of("integer", other, 1)
            returned += f" {c.pick(('UNION', 'UNION ALL'))} {second} RETURN {value} AS {name}"
            kind = "any"
        scope.types[name] = kind
        return f"{c.pick(('', '', 'OPTIONAL '))}CALL ({', '.join(imported)}) {{ {match} {returned} }}"
