"""Random Cypher expressions of a wanted type over the variables in scope. Most can be null at run time.

Types: integer, number, string, boolean, date, duration, list (of integers, in a fixed order), bag (a list in no fixed
order), any, node, relationship, path, map, relationships and nodes (lists of them, as variable lengths bind).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from tests.neo4j import random_values
from tests.neo4j.choices import Choices
from tests.neo4j.random_graphs import INTEGERS, LABELS, STRINGS, TYPES, literal

COMPARABLE = ("integer", "number", "string", "boolean", "date")
VALUES = ("integer", "string", "boolean", "number", "list", "any", "date")


@dataclass(slots=True)
class Scope:
    """The variables that can be seen, by type, and a counter for new names."""

    types: dict[str, str] = field(default_factory=dict)
    made: list[int] = field(default_factory=lambda: [0])

    def of(self, *kinds: str) -> list[str]:
        """The variables of one of these types."""
        return [name for name, kind in self.types.items() if kind in kinds]

    def fresh(self, prefix: str) -> str:
        """A name that was not used before in the whole query."""
        self.made[0] += 1
        return f"{prefix}{self.made[0]}"

    def inner(self, more: Mapping[str, str] | None = None) -> Scope:
        """A scope inside this one."""
        return Scope({**self.types, **(more or {})}, self.made)


class Expressions:
    """Makes expressions; `depth` says how far they may still nest."""

    def __init__(self, choices: Choices) -> None:
        self.choices = choices

    def of(self, kind: str, scope: Scope, depth: int = 2) -> str:
        """An expression of a type."""
        makers: dict[str, Callable[[Scope, int], str]] = {
            "integer": self._integer,
            "number": self._number,
            "string": self._string,
            "boolean": self.predicate,
            "list": self._list,
            "bag": self._bag,
            "map": self._map,
            "any": self._any,
            "date": lambda scope, depth: random_values.date(self, scope, depth),
            "duration": lambda scope, depth: random_values.duration(self, scope, depth),
        }
        if kind in makers:
            return makers[kind](scope, depth)
        names = scope.of(kind)
        return self.choices.pick(names) if names else "null"

    def variable(self, scope: Scope, *kinds: str) -> str | None:
        """One of the variables of these types, if there is any."""
        names = scope.of(*kinds)
        return self.choices.pick(names) if names else None

    def held(self, scope: Scope, key: str) -> str | None:
        """A property of a node or relationship in scope."""
        owner = self.variable(scope, "node", "relationship")
        return None if owner is None else f"{owner}.{key}"

    def _integer(self, scope: Scope, depth: int) -> str:
        c = self.choices
        simple = [literal(c.pick(INTEGERS))]
        if variable := self.variable(scope, "integer"):
            simple.append(variable)
        if held := self.held(scope, c.pick(("x", "id"))):
            simple.append(held)
        if depth <= 0 or c.chance(55):
            return simple[c.below(len(simple))]
        inner = depth - 1
        match c.below(14):
            case 13:
                return random_values.date_number(self, scope, inner)
            case 0:
                operator = c.pick(("+", "-", "*"))
                return f"({self._integer(scope, inner)} {operator} {self._integer(scope, inner)})"
            case 1:
                return f"size({self.of(c.pick(('list', 'string', 'bag')), scope, inner)})"
            case 2:
                return f"coalesce({self._integer(scope, inner)}, {self._integer(scope, inner)})"
            case 3:
                when, then, other = (self.predicate(scope, inner), *(self._integer(scope, inner) for _ in range(2)))
                return f"CASE WHEN {when} THEN {then} ELSE {other} END"
            case 4:
                path = self.variable(scope, "path")
                return f"length({path})" if path else f"abs({self._integer(scope, inner)})"
            case 5:
                bound = self.variable(scope, "node")
                return f"COUNT {{ {self.pattern_from(bound, scope)} }}" if bound else "0"
            case 6:
                relationships = self.variable(scope, "relationships")
                return f"size({relationships})" if relationships else f"sign({self._integer(scope, inner)})"
            case 8:
                return f"toInteger({self._any(scope, 0)})" if c.chance(30) else self._subquery_count(scope)
            case 9:
                path = self.variable(scope, "path")
                return f"size([{(item := scope.fresh('i'))} IN nodes({path}) WHERE {item}.x > 0])" if path else "1"
            case 10:
                first, second = self._integer(scope, inner), self._integer(scope, inner)
                return f"{first} {c.pick(('%', '/'))} {c.pick(('2', f'(1 + {second} * {second})'))}"
            case 11:
                return f"duration({{days: {self._integer(scope, inner)}}}).days"
            case 12:
                day = f"1 + abs(coalesce({self._integer(scope, inner)}, 0)) % 28"
                return (
                    f"date({{year: 2024, month: 2, day: {day}}}).{c.pick(('day', 'dayOfWeek', 'ordinalDay', 'week'))}"
                )
            case 7:
                items, seed = self._list(scope, inner), self._integer(scope, inner)
                total, item = scope.fresh("t"), scope.fresh("i")
                return f"reduce({total} = {seed}, {item} IN {items} | {total} + {item})"
            case _:
                return f"{self._list(scope, inner)}[{c.pick((0, 1, -1))}]"

    def _number(self, scope: Scope, depth: int) -> str:
        c = self.choices
        if depth <= 0 or c.chance(40):
            return c.pick(("1.5", "0.0", "-2.25", self._integer(scope, 0)))
        match c.below(4):
            case 0:
                return f"toFloat({self._integer(scope, depth - 1)})"
            case 1:
                return f"({self._number(scope, depth - 1)} + {self._integer(scope, depth - 1)})"
            case 2:
                return f"({self._integer(scope, depth - 1)} / 2.0)"
            case _:
                return f"sqrt({self._integer(scope, depth - 1)})"

    def _string(self, scope: Scope, depth: int) -> str:
        c = self.choices
        simple = [literal(c.pick(STRINGS))]
        if variable := self.variable(scope, "string"):
            simple.append(variable)
        if held := self.held(scope, "s"):
            simple.append(held)
        if depth <= 0 or c.chance(55):
            return simple[c.below(len(simple))]
        inner = depth - 1
        match c.below(11):
            case 7 | 8 | 9 | 10:
                return random_values.text(self, scope, inner)
            case 0:
                return f"({self._string(scope, inner)} + {self._string(scope, inner)})"
            case 1:
                return f"toUpper({self._string(scope, inner)})"
            case 2:
                return f"toString({self._integer(scope, inner)})"
            case 3:
                bound = self.variable(scope, "relationship")
                return f"type({bound})" if bound else f"trim({self._string(scope, inner)})"
            case 4:
                return f"coalesce({self._string(scope, inner)}, {self._string(scope, inner)})"
            case 5:
                return f"substring({self._string(scope, inner)}, {c.pick((0, 1))})"
            case _:
                return f"replace({self._string(scope, inner)}, 'a', {self._string(scope, inner)})"

    def predicate(self, scope: Scope, depth: int = 2) -> str:
        """A boolean, often null."""
        return f"({self._predicate(scope, depth)})"

    def _predicate(self, scope: Scope, depth: int) -> str:
        c = self.choices
        if depth <= 0 or c.chance(35):
            return self._comparison(scope, 0)
        inner = depth - 1
        match c.below(17):
            case 0:
                return self._comparison(scope, inner)
            case 1:
                operator = c.pick(("AND", "OR", "XOR"))
                return f"({self.predicate(scope, inner)} {operator} {self.predicate(scope, inner)})"
            case 2:
                return f"NOT {self.predicate(scope, inner)}"
            case 3:
                return f"{self._any(scope, inner)} IS {c.pick(('NULL', 'NOT NULL'))}"
            case 4:
                return f"{self._integer(scope, inner)} IN {self.of(c.pick(('list', 'bag')), scope, inner)}"
            case 5:
                word = c.pick(("STARTS WITH", "CONTAINS", "ENDS WITH"))
                return f"{self._string(scope, inner)} {word} {self._string(scope, inner)}"
            case 6:
                bound = self.variable(scope, "node")
                return f"{bound}:{self.labels()}" if bound else "true"
            case 7:
                bound = self.variable(scope, "node")
                return f"EXISTS {{ {self.pattern_from(bound, scope)} }}" if bound else "false"
            case 8:
                item = scope.fresh("i")
                quantifier = c.pick(("any", "all", "none", "single"))
                inside = scope.inner({item: "integer"})
                return f"{quantifier}({item} IN {self._list(scope, inner)} WHERE {self.predicate(inside, inner)})"
            case 9:
                bound = self.variable(scope, "node")
                return self.pattern_predicate(bound) if bound else "true"
            case 12:
                kind = c.pick(("INTEGER", "STRING", "BOOLEAN NOT NULL", "LIST<INTEGER NOT NULL>", "FLOAT | INTEGER"))
                return f"{self._any(scope, inner)} IS {c.pick(('', 'NOT '))}:: {kind}"
            case 13:
                return self._subquery_exists(scope)
            case 14:
                owner = self.variable(scope, "node", "relationship")
                key = c.pick(("'x'", "'s'", "'m'", "'nope'"))
                return f"{owner}[{key}] = {self._any(scope, 0)}" if owner else "null"
            case 15:
                path, item = self.variable(scope, "path"), scope.fresh("i")
                if path is None:
                    return f"{self._any(scope, inner)} < {self._any(scope, inner)}"
                inside = scope.inner({item: "node"})
                return f"{c.pick(('all', 'any', 'none'))}({item} IN nodes({path}) WHERE {self.predicate(inside, 0)})"
            case 16:
                when = self.predicate(scope, inner)
                return f"CASE {self._integer(scope, 0)} WHEN 1 THEN {when} WHEN > 1 THEN true END"
            case 10:
                relationships, item = self.variable(scope, "relationships"), scope.fresh("i")
                if relationships is None:
                    return f"{self._any(scope, inner)} = {self._any(scope, inner)}"
                inside = scope.inner({item: "relationship"})
                quantifier = c.pick(("all", "any", "none", "single"))
                return f"{quantifier}({item} IN {relationships} WHERE {self.predicate(inside, inner)})"
            case _:
                nodes = scope.of("node")
                if len(nodes) > 1:
                    return f"{c.pick(nodes)} {c.pick(('=', '<>'))} {c.pick(nodes)}"
                return self._comparison(scope, inner)

    def _comparison(self, scope: Scope, depth: int) -> str:
        c = self.choices
        kind = c.pick(COMPARABLE)
        operator = c.pick(("=", "<>", "<", "<=", ">", ">="))
        if kind == "boolean":
            held = self.held(scope, "m")
            return f"{held} {operator} {self._any(scope, depth)}" if held else "true"
        return f"{self.of(kind, scope, depth)} {operator} {self.of(kind, scope, depth)}"

    def _list(self, scope: Scope, depth: int) -> str:
        c = self.choices
        simple = ["[1, 2]"]
        if variable := self.variable(scope, "list"):
            simple.append(variable)
        if held := self.held(scope, "l"):
            # Only nodes hold lists under this key; elsewhere it is absent.
            simple.append(held)
        if depth <= 0 or c.chance(40):
            return simple[c.below(len(simple))]
        inner = depth - 1
        match c.below(9):
            case 6 | 7 | 8:
                return random_values.fixed_list(self, scope, inner)
            case 0:
                return "[" + ", ".join(self._integer(scope, inner) for _ in range(c.below(4))) + "]"
            case 1:
                item = scope.fresh("i")
                inside = scope.inner({item: "integer"})
                where = f" WHERE {self.predicate(inside, inner)}" if c.chance(50) else ""
                return f"[{item} IN {self._list(scope, inner)}{where} | {self._integer(inside, inner)}]"
            case 2:
                return f"{self._list(scope, inner)}[{c.pick((0, 1, -1))}..{c.pick((2, 1, -1))}]"
            case 3:
                return f"range({c.pick((0, 1, -1))}, {c.pick((2, 0, 3))})"
            case 4:
                return f"({self._list(scope, inner)} + {self._list(scope, inner)})"
            case _:
                relationships, item = self.variable(scope, "relationships"), scope.fresh("i")
                if relationships is None:
                    return f"tail({self._list(scope, inner)})"
                return f"[{item} IN {relationships} | {item}.x]"

    def _bag(self, scope: Scope, depth: int) -> str:
        c = self.choices
        if (variable := self.variable(scope, "bag")) and c.chance(50):
            return variable
        bound = self.variable(scope, "node")
        if bound is None:
            return self._list(scope, depth)
        other, hop = scope.fresh("p"), scope.fresh("q")
        match c.below(3):
            case 0:
                return f"[({bound}){self.arrow(hop)}({other}) | {other}.x]"
            case 1:
                inside = scope.inner({other: "node", hop: "relationship"})
                where = self.predicate(inside, depth - 1)
                return f"[({bound}){self.arrow(hop)}({other}) WHERE {where} | {other}.id]"
            case _:
                return f"COLLECT {{ MATCH ({bound}){self.arrow(hop)}({other}) RETURN {other}.x }}"

    def _subquery_count(self, scope: Scope) -> str:
        """A whole query to count the rows of."""
        match, inside = self._subquery_match(scope)
        end = self.choices.pick(
            (
                "",
                f" RETURN {self._any(inside, 0)} AS a",
                f" RETURN DISTINCT {self._any(inside, 0)} AS a",
                f" WITH {self._integer(inside, 0)} AS a WHERE a > 0 RETURN a",
                f" RETURN 1 AS a UNION ALL MATCH ({scope.fresh('p')}:A) RETURN 2 AS a",
                f" RETURN {self._integer(inside, 0)} AS a UNION RETURN 1 AS a",
            )
        )
        return f"COUNT {{ {match}{end} }}"

    def _subquery_exists(self, scope: Scope) -> str:
        match, inside = self._subquery_match(scope)
        end = self.choices.pick(("", f" WITH {self._integer(inside, 0)} AS a WHERE a > 0 RETURN a"))
        return f"EXISTS {{ {match}{end} }}"

    def _subquery_match(self, scope: Scope) -> tuple[str, Scope]:
        c = self.choices
        bound, other, hop = self.variable(scope, "node") or "", scope.fresh("p"), scope.fresh("q")
        left, right = c.pick((("-", "->"), ("-", "-"), ("<-", "-")))
        length = c.pick(("", "", "*1..2", "*0..1", "*2"))
        types = c.pick(("", ":R", ":S|T"))
        inside = scope.inner({other: "node", hop: "relationships" if length else "relationship"})
        where = f" WHERE {self.predicate(inside, 0)}" if c.chance(50) else ""
        return f"MATCH ({bound}){left}[{hop}{types}{length}]{right}({other}){where}", inside

    def _map(self, scope: Scope, depth: int) -> str:
        if self.choices.chance(40):
            return random_values.map_value(self, scope, depth - 1)
        bound = self.variable(scope, "node")
        if bound is not None and self.choices.chance(60):
            inner = self._any(scope, depth - 1)
            return self.choices.pick((f"{bound} {{ .x, .s, y: {inner} }}", f"{bound} {{ .*, y: {inner} }}"))
        return f"{{a: {self._any(scope, depth - 1)}, b: {self._integer(scope, depth - 1)}}}"

    def _any(self, scope: Scope, depth: int) -> str:
        c = self.choices
        match c.below(11):
            case 9:
                return random_values.date(self, scope, depth)
            case 10:
                return random_values.duration(self, scope, depth)
            case 0:
                return self._integer(scope, depth)
            case 1:
                return self._string(scope, depth)
            case 6:
                return f"coalesce({self.held(scope, 'm') or 'null'}, {self._integer(scope, 0)})"
            case 7:
                return f"toStringOrNull({self.held(scope, 'm') or 'null'})"
            case 8:
                return f"valueType({self.held(scope, 'm') or 'null'})"
            case 2:
                return self.held(scope, "m") or "null"
            case 3:
                return self._list(scope, depth)
            case 4:
                return self.variable(scope, "any", "node", "relationship", "map") or "null"
            case _:
                return self.predicate(scope, depth) if depth > 0 else "true"

    # --- pieces of patterns ---

    def labels(self) -> str:
        """A label expression."""
        c = self.choices
        first, second = c.pick(LABELS), c.pick(LABELS)
        return c.pick((first, f"{first}|{second}", f"!{first}", f"{first}&{second}", "%", f"!({first}|{second})"))

    def types(self) -> str:
        """A relationship type expression, with its colon; often none."""
        c = self.choices
        first = c.pick(TYPES)
        second = c.pick([other for other in TYPES if other != first])
        return c.pick(("", "", "", f":{first}", f":{first}|{second}", f":!{first}", f":{first}|{second}"))

    def arrow(self, variable: str = "") -> str:
        """One relationship of a fixed length."""
        left, right = self.choices.pick((("-", "->"), ("-", "-"), ("<-", "-")))
        return f"{left}[{variable}{self.types()}]{right}"

    def pattern_from(self, bound: str, scope: Scope) -> str:
        """A pattern for a subquery that starts at a variable, with a WHERE now and then."""
        other, hop = scope.fresh("p"), scope.fresh("q")
        where = ""
        if self.choices.chance(40):
            inside = scope.inner({other: "node", hop: "relationship"})
            where = f" WHERE {self.predicate(inside, 0)}"
        return f"({bound}){self.arrow(hop)}({other}){where}"

    def pattern_predicate(self, bound: str) -> str:
        """A pattern as a predicate: no new variables."""
        left, right = self.choices.pick((("-", "->"), ("-", "-"), ("<-", "-")))
        length = self.choices.pick(("", "*", "*2", "*0..1"))
        kind = self.choices.pick(("", ":R", ":S|T"))
        return f"({bound}){left}[{kind}{length}]{right}({self.choices.pick(('', ':A', ':B'))})"
