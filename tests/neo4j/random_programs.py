"""Random programs of statements that write: scoping of subqueries, batches, MERGE with constraints, what is seen when.

Every node has a property `id`, rows are put in order by it before they write, and what a LIMIT keeps is in order too,
so that both sides write the same in the same order. A statement writes to a key or a label in one place only, and
deletes at its end: Neo4j sees to it that what is read comes before what is written, but which of two writes of
different rows comes last is left to its plan. What a statement may say is what the Cypher manual's grammar of its
clauses allows; names, types and values are drawn so that most statements run.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from tests.neo4j.choices import Choices

LABELS = ("A", "B", "C")
TYPES = ("R", "S")
KEYS = ("x", "y", "s")
CONSTRAINTS = (
    "CREATE CONSTRAINT u IF NOT EXISTS FOR (n:U) REQUIRE n.k IS UNIQUE",
    "CREATE CONSTRAINT v IF NOT EXISTS FOR (n:V) REQUIRE n.j IS UNIQUE",
)
STATEMENTS = 5


@dataclass(slots=True)
class Scope:
    """The variables of a place by kind; `fresh` numbers those that are new in the statement."""

    kinds: dict[str, str] = field(default_factory=dict)
    counter: list[int] = field(default_factory=lambda: [0])

    def of(self, kind: str) -> list[str]:
        """The variables of a kind."""
        return [name for name, held in self.kinds.items() if held == kind]

    def new(self, prefix: str, kind: str) -> str:
        """A new variable."""
        self.counter[0] += 1
        name = f"{prefix}{self.counter[0]}"
        self.kinds[name] = kind
        return name

    def copy(self) -> Scope:
        """The same names in a place of their own."""
        return Scope(dict(self.kinds), self.counter)

    def empty(self) -> Scope:
        """A place without names."""
        return Scope({}, self.counter)


def random_program(choices: Choices) -> tuple[str, ...]:
    """A statement that makes a graph, and statements that change it."""
    maker = Programs(choices)
    return (maker.graph(), *(maker.statement() for _ in range(STATEMENTS)))


class Programs:
    """Makes statements."""

    def __init__(self, choices: Choices) -> None:
        self._c = choices
        self._written: set[str] = set()
        self._deleted = False  # or replaced: nothing more is written
        self._made = 0

    def _once(self, names: tuple[str, ...], fallback: str) -> str:
        """A key or label that the statement does not write yet."""
        left = [name for name in names if name not in self._written]
        name = self._c.pick(left) if left else f"{fallback}{len(self._written)}"
        self._written.add(name)
        return name

    def _new_id(self, scope: Scope) -> str:
        """An id that no other node has, where rows have different nodes or numbers."""
        self._made += 1
        nodes, integers = scope.of("node"), scope.of("integer")
        row = [f"coalesce({name}.id, 0) * 10" for name in nodes] + [f"{name} * 7" for name in integers]
        return " + ".join([str(1000 * self._made), *row])

    @property
    def _key(self) -> str:
        return self._once(KEYS, "p")

    @property
    def _new_label(self) -> str:
        return self._once(LABELS, "D")

    # --- statements --------------------------------------------------------------------------------------------

    def graph(self) -> str:
        """CREATE a few nodes and relationships."""
        c = self._c
        count = 2 + c.below(4)
        parts = []
        for number in range(count):
            labels = ":" + c.pick(LABELS) + c.pick(("", "", ":C"))
            held = f"id: {number}, x: {c.pick((1, 0, 2, 7))}" + c.pick(("", ", s: 'q'", ", y: 3"))
            parts.append(f"(n{number}{labels} {{{held}}})")
        for number in range(c.below(5)):
            parts.append(f"(n{c.below(count)})-[:{c.pick(TYPES)} {{w: {number}}}]->(n{c.below(count)})")
        if c.chance(40):
            parts.append("(:U {id: 90, k: 1})")
            parts.append("(:U:V {id: 91, k: 2, j: 1})")
        return "CREATE " + ", ".join(parts)

    def statement(self) -> str:
        """Rows in order, clauses that write, and an end."""
        c = self._c
        scope = Scope()
        self._written, self._deleted = set(), False
        clauses = [self._rows(scope)]
        if c.chance(18):
            clauses.append(self._batches(scope))
        else:
            for _ in range(1 + c.below(3)):
                if not self._deleted:
                    clauses.append(self._write(scope))
            if c.chance(20) and not self._deleted:
                clauses.append(self._call(scope, writes=True, after_write=True))
        clauses.append(self._end(scope, needed=clauses[-1].startswith(("WITH", "CALL", "OPTIONAL CALL"))))
        return " ".join(clause for clause in clauses if clause)

    def _rows(self, scope: Scope) -> str:
        c = self._c
        match c.below(12):
            case 0:
                a = scope.new("a", "node")
                return f"MATCH ({a}:{c.pick(LABELS)}) WITH {a} ORDER BY {a}.id"
            case 1:
                a, r, b = scope.new("a", "node"), scope.new("r", "relationship"), scope.new("b", "node")
                return f"MATCH ({a})-[{r}:{c.pick(TYPES)}]->({b}) WITH {a}, {r}, {b} ORDER BY {r}.w, {a}.id, {b}.id"
            case 2:
                i = scope.new("i", "integer")
                return f"UNWIND {c.pick(('[1, 2]', '[2, 2, 1]', '[]', '[0]'))} AS {i}"
            case 3:
                a, b = scope.new("a", "node"), scope.new("b", "node")
                pattern = f"({a}:{c.pick(LABELS)}), ({b}:{c.pick(LABELS)})"
                return f"MATCH {pattern} WITH {a}, {b} ORDER BY {a}.id, {b}.id LIMIT 4"
            case 4:
                a, b = scope.new("a", "node"), scope.new("b", "node")
                optional = f"OPTIONAL MATCH ({a})-[:{c.pick(TYPES)}]->({b})"
                return f"MATCH ({a}:{c.pick(LABELS)}) {optional} WITH {a}, {b} ORDER BY {a}.id, {b}.id"
            case 5:
                a, i = scope.new("a", "node"), scope.new("i", "integer")
                return f"MATCH ({a}:{c.pick(LABELS)}) UNWIND [1, 2] AS {i} WITH {a}, {i} ORDER BY {a}.id, {i}"
            case 6:
                a, b, p = scope.new("a", "node"), scope.new("b", "node"), scope.new("p", "path")
                matched = f"MATCH {p} = ({a})-[:{c.pick(TYPES)}]->({b})"
                return f"{matched} WITH {a}, {b}, {p} ORDER BY relationships({p})[0].w, {a}.id, {b}.id"
            case 7:
                a, b = scope.new("a", "node"), scope.new("b", "node")
                between = c.pick(("-[:R|S*1..2]->", "--", " (()-[:R|S]->()){1,2} ", "<-[:R]-()-[:S]->"))
                return f"MATCH ({a}:{c.pick(LABELS)}){between}({b}) WITH DISTINCT {a}, {b} ORDER BY {a}.id, {b}.id"
            case 8:
                a = scope.new("a", "node")
                where = c.pick((f"{a}.x > 0", f"{a}:A|C", f"EXISTS {{ ({a})-[:R]->() }}", f"NOT ({a})--()"))
                return f"MATCH ({a}) WHERE {where} WITH {a} ORDER BY {a}.id SKIP {c.below(2)} LIMIT 3"
            case 9:
                a, i = scope.new("a", "node"), scope.new("i", "integer")
                return f"UNWIND [1, null, 2] AS {i} OPTIONAL MATCH ({a} {{id: {i}}}) WITH {a}, {i} ORDER BY {i}"
            case _:
                a, together = scope.new("a", "node"), scope.new("l", "nodes")
                del scope.kinds[a]
                return f"MATCH ({a}:{c.pick(LABELS)}) WITH {a} ORDER BY {a}.id WITH collect({a}) AS {together}"

    def _end(self, scope: Scope, needed: bool) -> str:
        """RETURN or FINISH, or nothing where a statement may end so."""
        c = self._c
        if c.chance(30) or not scope.kinds:
            return "FINISH" if needed else ""
        if c.chance(25):
            value = self._integer(scope, 1)
            v = scope.new("v", "integer")
            return f"WITH {value} AS {v} RETURN {v}, count(*) AS c"
        items = [f"{self._integer(scope, 2)} AS v{n}" for n in range(1 + c.below(2))]
        return f"RETURN {c.pick(('', '', 'DISTINCT '))}" + ", ".join(items)

    # --- clauses that write --------------------------------------------------------------------------------------

    def _write(self, scope: Scope, inside: bool = False) -> str:
        """`inside` a FOREACH only updates are allowed."""
        c = self._c
        match c.below(10):
            case 0 | 1:
                items = [self._set_item(scope)]
                while len(items) < 3 and not self._deleted and c.chance(50):
                    items.append(self._set_item(scope))
                return "SET " + ", ".join(items)
            case 2:
                return "REMOVE " + ", ".join(self._remove_item(scope) for _ in range(1 + c.below(2)))
            case 3 if not self._written and not inside:
                return self._delete(scope)
            case 4:
                return self._create(scope)
            case 5 | 6:
                return self._merge(scope)
            case 7:
                return self._foreach(scope)
            case 8 | 9 if not inside:
                return f"WITH * {self._call(scope, writes=True)} WITH *" if scope.kinds else self._create(scope)
            case _:
                return self._create(scope)

    def _entity(self, scope: Scope) -> str:
        """A variable with a node or relationship; a node of its own making where there is none."""
        found = [*scope.of("node"), *scope.of("relationship")]
        return self._c.pick(found) if found else ""

    def _set_item(self, scope: Scope) -> str:
        c = self._c
        entity = self._entity(scope)
        if not entity:
            return self._nothing(scope)
        node = scope.kinds[entity] == "node"
        match c.below(11):
            case 0 | 1:
                return f"{entity}.{self._key} = {self._integer(scope, 2)}"
            case 2:
                return f"{entity} += {{{self._key}: {self._integer(scope, 1)}, {self._key}: {c.pick(('null', '5'))}}}"
            case 3 if node:
                return f"{entity}:{self._new_label}"
            case 4 if node and not self._written & set(LABELS):
                self._written |= set(LABELS)
                return f"{entity}:$({self._label(scope)})"
            case 5:
                return f"{entity}['{self._key}' + ''] = {self._integer(scope, 1)}"
            case 6 if node and not self._written and not self._made:
                self._deleted = True
                return f"{entity} = {{id: {entity}.id, x: {self._integer(scope, 1)}}}"
            case 7 if node and len(scope.of("node")) > 1:
                return f"({self._choice_of_nodes(scope)}).{self._key} = {self._integer(scope, 1)}"
            case 8 if node:
                return f"{entity}{c.pick((':', ' IS '))}{self._new_label}"
            case 9 if node:
                return f"{entity}:{self._new_label}:{self._new_label}"
            case 10 if scope.of("node"):
                key = self._key
                return f"{entity} += {c.pick(scope.of('node'))} {{.{key}, {self._key}: 2}}"
            case _:
                key = self._key
                return f"{entity}.{key} = coalesce({entity}.{key}, 0) + 1"

    def _nothing(self, scope: Scope) -> str:
        """A SET item where there is nothing to set."""
        lists = scope.of("nodes")
        return f"({self._c.pick(lists)}[0]).{self._key} = {self._integer(scope, 1)}" if lists else "(null).x = 1"

    def _choice_of_nodes(self, scope: Scope) -> str:
        c = self._c
        first, second = c.pick(scope.of("node")), c.pick(scope.of("node"))
        return f"CASE WHEN {self._truth(scope, 1)} THEN {first} ELSE {second} END"

    def _remove_item(self, scope: Scope) -> str:
        c = self._c
        entity = self._entity(scope)
        if not entity:
            return "(null).x"
        node = scope.kinds[entity] == "node"
        match c.below(5):
            case 0:
                return f"{entity}.{self._key}"
            case 1 if node:
                return f"{entity}:{self._new_label}"
            case 2 if node and not self._written & set(LABELS):
                self._written |= set(LABELS)
                return f"{entity}:$({self._label(scope)})"
            case 3 if node and len(scope.of("node")) > 1:
                return f"({self._choice_of_nodes(scope)}).{self._key}"
            case _:
                return f"{entity}['{self._key}']"

    def _delete(self, scope: Scope) -> str:
        c = self._c
        self._deleted = True
        items = []
        for _ in range(1 + c.below(2)):
            entity = self._entity(scope)
            lists = scope.of("nodes")
            match c.below(5):
                case 0 if lists:
                    items.append(f"{c.pick(lists)}[{c.below(2)}]")
                case 1 if len(scope.of("node")) > 1:
                    items.append(self._choice_of_nodes(scope))
                case 2 if scope.of("node"):
                    start = c.pick(scope.of("node"))
                    items.append(f"COLLECT {{ MATCH ({start})-->(z) RETURN z ORDER BY z.id }}[0]")
                case 3 if scope.of("path"):
                    items.append(c.pick(scope.of("path")))
                case _:
                    items.append(entity or "null")
        nodes = any(item not in scope.of("relationship") for item in items)
        if c.chance(75):
            for item in items:
                scope.kinds.pop(item, None)
            if any(item not in scope.kinds for item in items):
                scope.kinds = {name: kind for name, kind in scope.kinds.items() if kind == "integer"}
        how = "DETACH DELETE" if nodes and c.chance(85) else c.pick(("DELETE", "NODETACH DELETE"))
        return f"{how} {', '.join(items)}"

    def _create(self, scope: Scope) -> str:
        c = self._c
        nodes = scope.of("node")
        match c.below(7):
            case 0:
                value, number = self._integer(scope, 2), self._new_id(scope)
                n = scope.new("n", "node")
                return f"CREATE ({n}:{c.pick(LABELS)} {{id: {number}, x: {value}}})"
            case 1 if nodes:
                start, end = c.pick(nodes), c.pick(nodes)
                return f"CREATE ({start})-[:{c.pick(TYPES)} {{w: {self._integer(scope, 1)}}}]->({end})"
            case 2:
                value, one, two = self._integer(scope, 1), self._new_id(scope), self._new_id(scope)
                first, second = scope.new("n", "node"), scope.new("n", "node")
                parts = f"({first}:A {{id: {one}, x: {value}}}), ({second}:B {{id: {two}, y: {first}.x}})"
                return f"CREATE {parts}, ({first})-[:R {{w: {second}.y}}]->({second})"
            case 3:
                value, label, number = self._integer(scope, 1), self._label(scope), self._new_id(scope)
                n = scope.new("n", "node")
                return f"CREATE ({n}:$({label}) {{id: {number}, x: {value}}})"
            case 4:
                value, one, two = self._integer(scope, 1), self._new_id(scope), self._new_id(scope)
                first, second = scope.new("n", "node"), scope.new("n", "node")
                between = f"<-[:{c.pick(TYPES)} {{w: {value}}}]-"
                made = f"({first}:{c.pick(LABELS)} {{id: {one}}}){between}({second} {{id: {two}}})"
                return f"{c.pick(('CREATE', 'INSERT'))} {made}"
            case 5 if nodes:
                start, number = c.pick(nodes), self._new_id(scope)
                n = scope.new("n", "node")
                return f"CREATE ({start})-[:R {{w: 1}}]->({n}:A {{id: {number}}})<-[:S {{w: {n}.id}}]-({start})"
            case _:
                key, other, number = self._integer(scope, 1), c.pick(("1", "2", "7")), self._new_id(scope)
                n = scope.new("n", "node")
                return f"CREATE ({n}:U {{id: {number}, k: {c.pick((key, other))}}})"

    def _merge(self, scope: Scope) -> str:
        c = self._c
        nodes = scope.of("node")
        plain = c.pick((*scope.of("integer"), "1", "2", "3"))
        match c.below(8):
            case 0:
                n = scope.new("n", "node")
                merged = f"MERGE ({n}:{c.pick(LABELS)} {{x: {plain}}})"
            case 1:
                n = scope.new("n", "node")
                merged = f"MERGE ({n}:U {{k: {plain}}})"
            case 2:
                n = scope.new("n", "node")
                merged = f"MERGE ({n}:U:V {{k: {plain}, j: {c.pick(('1', '2'))}}})"
            case 3 if nodes:
                start, n = c.pick(nodes), c.pick(nodes)
                merged = f"MERGE ({start})-[:{c.pick(TYPES)}{c.pick(('', ' {w: 1}'))}]->({n})"
            case 4 if nodes:
                start = c.pick(nodes)
                n = scope.new("n", "node")
                merged = f"MERGE ({start})-[:{c.pick(TYPES)}]->({n}:{c.pick(LABELS)} {{x: {plain}}})"
            case 5 if nodes:
                start, n = c.pick(nodes), c.pick(nodes)
                merged = f"MERGE ({start})-[:{c.pick(TYPES)}]-({n})"
            case 6 if nodes:
                start, end = c.pick(nodes), c.pick(nodes)
                n = scope.new("n", "node")
                merged = f"MERGE ({start})-[:{c.pick(TYPES)}]->({n}:{c.pick(LABELS)} {{x: {plain}}})<-[:R]-({end})"
            case _:
                n = scope.new("n", "node")
                merged = f"MERGE ({n}:A:B {{x: {plain}}})"
        known = scope.copy()
        known.kinds.pop(n, None)
        made = f" ON CREATE SET {n}.id = coalesce({n}.id, {self._new_id(known)})"
        if c.chance(40):
            made += f", {n}.{self._key} = {self._plain(scope)}"
        if c.chance(40):
            made += f" ON MATCH SET {n}.{self._key} = {self._plain(scope)}, {n}:{self._new_label}"
        return merged + made

    def _plain(self, scope: Scope) -> str:
        """A number without subqueries, which MERGE does not take."""
        c = self._c
        nodes = scope.of("node")
        return f"coalesce({c.pick(nodes)}.x, 0) + 1" if nodes and c.chance(60) else c.pick(("1", "4"))

    def _foreach(self, scope: Scope) -> str:
        c = self._c
        inner = scope.copy()
        lists, nodes = scope.of("nodes"), scope.of("node")
        if (lists or nodes) and c.chance(50):
            over = c.pick(lists) if (lists and c.chance(60)) or not nodes else f"[{c.pick(nodes)}]"
            inner.new("f", "node")
        else:
            over = c.pick(("[1, 2]", "range(1, 2)", "5", "null", "[]"))
            inner.new("f", "integer")
        name = next(reversed(inner.kinds))
        body = " ".join(self._write(inner, inside=True) for _ in range(1 + c.below(2)))
        return f"FOREACH ({name} IN {over} | {body})"

    # --- subqueries ------------------------------------------------------------------------------------------------

    def _call(self, scope: Scope, writes: bool, after_write: bool = False) -> str:
        """CALL in one of its forms; the names it returns join the scope."""
        c = self._c
        listed = [name for name in scope.kinds if c.chance(70)] or list(scope.kinds)[:1]
        form = c.below(4)
        if form == 0:
            head, inner, keep = f"CALL ({', '.join(listed)}) {{ ", self._only(scope, listed), True
        elif form == 1:
            head, inner, keep = "CALL (*) { ", scope.copy(), True
        elif form == 2 and listed:
            head, inner, keep = f"CALL {{ WITH {', '.join(listed)} ", self._only(scope, listed), False
        else:
            head, inner, keep = "CALL () { ", scope.empty(), True
        lead = "WITH * " if after_write else ""
        returned = c.chance(60)
        lead += "OPTIONAL " if c.chance(10) else ""
        body, column = self._body(inner, keep, writes=writes, returned=returned)
        if column is not None:
            scope.kinds[column] = "integer"
        return f"{lead}{head}{body} }}"

    def _only(self, scope: Scope, names: list[str]) -> Scope:
        return Scope({name: scope.kinds[name] for name in names}, scope.counter)

    def _body(self, scope: Scope, keep: bool, writes: bool, returned: bool) -> tuple[str, str | None]:
        """The clauses of a subquery. Names from outside stay behind its WITHs where `keep` says so."""
        c = self._c
        imported = dict(scope.kinds)
        clauses = []
        for _ in range(c.below(3)):
            clauses.append(self._step(scope, imported if keep else {}))
        if writes and (c.chance(70) or not returned):
            clauses.append(self._write(scope, inside=True))
            if scope.kinds.keys() < imported.keys():
                scope.kinds = imported | scope.kinds if not clauses[-1].startswith(("DE", "DETACH")) else scope.kinds
        if not returned:
            return " ".join(clauses), None
        column = scope.new("o", "integer")
        del scope.kinds[column]
        value = f"{c.pick(('count(*)', 'sum(1)'))}" if c.chance(30) else self._integer(scope, 1)
        body = " ".join([*clauses, f"RETURN {value} AS {column}"])
        if c.chance(15):
            other = Scope(dict(imported), scope.counter)
            lead = f"WITH {', '.join(imported)} " if not keep and imported else ""
            body += f" UNION{c.pick((' ALL', '', ' DISTINCT'))} {lead}RETURN {self._integer(other, 1)} AS {column}"
        return body, column

    def _step(self, scope: Scope, kept: dict[str, str]) -> str:
        """A clause that reads, as they stand in subqueries."""
        c = self._c
        nodes = scope.of("node")
        match c.below(11):
            case 0 if nodes:
                start = c.pick(nodes)
                m = scope.new("m", "node")
                return f"MATCH ({start})-[:{c.pick(TYPES)}]->({m}) WITH * ORDER BY {m}.id"
            case 1:
                i = scope.new("i", "integer")
                return f"UNWIND [1, 2] AS {i}"
            case 2:
                value = self._integer(scope, 1)
                v = scope.new("v", "integer")
                scope.kinds = {**kept, v: "integer"}
                return f"WITH {value} AS {v}"
            case 3:
                m = scope.new("m", "node")
                scope.kinds = {**kept, m: "node"}
                return f"MATCH ({m}:{c.pick(LABELS)}) WITH {m} ORDER BY {m}.id LIMIT {1 + c.below(2)}"
            case 4:
                where = f" WHERE {self._truth(scope, 1)}"
                return f"WITH *{where}" if scope.kinds else ""
            case 5:
                v = scope.new("v", "integer")
                scope.kinds = {**kept, v: "integer"}
                return f"WITH count(*) AS {v}"
            case 6 if nodes:
                start = c.pick(nodes)
                m = scope.new("m", "node")
                between = c.pick(("-[:R|S*1..2]->", "-[:R]-", "-->"))
                return f"OPTIONAL MATCH ({start}){between}({m}) WITH * ORDER BY {m}.id SKIP {c.below(2)}"
            case 7 if scope.of("nodes"):
                m = scope.new("m", "node")
                return f"UNWIND {c.pick(scope.of('nodes'))} AS {m}"
            case 8 if nodes:
                value = self._integer(scope, 1)
                o = scope.new("o", "integer")
                return f"CALL (*) {{ RETURN {value} AS {o} }}"
            case 9 if nodes:
                m = scope.new("m", "node")
                where = f"{m}.x >= {self._integer(scope.copy(), 1)}"
                return f"MATCH ({m}) WHERE {where} WITH * ORDER BY {m}.id LIMIT 2"
            case _:
                value = self._integer(scope, 0)
                v = scope.new("v", "integer")
                scope.kinds = {**kept, v: "integer"}
                return f"WITH DISTINCT {value} AS {v}"

    def _batches(self, scope: Scope) -> str:
        c = self._c
        listed = list(scope.kinds)
        returned = c.chance(50)
        body, column = self._body(self._only(scope, listed), True, writes=True, returned=returned)
        if column is not None:
            scope.kinds[column] = "integer"
        size = c.pick(("1 ROW", "2 ROWS", "100 ROWS", "size([q IN [1, 2] WHERE q > 1]) ROWS"))
        errors = c.pick(("", " ON ERROR CONTINUE", " ON ERROR BREAK", " ON ERROR FAIL"))
        report = ""
        if errors in (" ON ERROR CONTINUE", " ON ERROR BREAK") and c.chance(50):
            status = scope.new("t", "map")
            committed = scope.new("v", "integer")
            report = f" REPORT STATUS AS {status} WITH *, CASE WHEN {status}.committed THEN 1 ELSE 0 END AS {committed}"
        return f"CALL ({', '.join(listed)}) {{ {body} }} IN TRANSACTIONS OF {size}{errors}{report}"

    # --- expressions -----------------------------------------------------------------------------------------------

    def _integer(self, scope: Scope, depth: int) -> str:
        c = self._c
        nodes, integers = scope.of("node"), scope.of("integer")
        match c.below(9 if depth else 4):
            case 1 if nodes:
                return f"{c.pick(nodes)}.{c.pick(('x', 'y', 'id'))}"
            case 2 if integers:
                return c.pick(integers)
            case 3 if integers:
                return f"({c.pick(integers)} + {c.pick((1, 2))})"
            case 4:
                return f"COUNT {{ {self._query(scope, depth - 1, 'COUNT')} }}"
            case 5:
                inner = self._query(scope, depth - 1, "COLLECT")
                return f"reduce(q = 0, w IN COLLECT {{ {inner} }} | q + coalesce(w, 0))"
            case 6:
                return f"CASE WHEN {self._truth(scope, depth - 1)} THEN {self._integer(scope, 0)} ELSE 0 END"
            case 7 if nodes:
                return f"size([({c.pick(nodes)})--(z) | z])"
            case 8:
                lists = scope.of("nodes")
                return f"size([z IN {c.pick(lists)} WHERE z.x > 1])" if lists else f"({self._integer(scope, 0)} + 1)"
            case _:
                return str(c.pick((1, 0, 2, 5)))

    def _label(self, scope: Scope) -> str:
        """The argument of a dynamic label."""
        c = self._c
        nodes = scope.of("node")
        match c.below(4):
            case 0:
                return f"'{c.pick(LABELS)}'"
            case 1:
                return "['A', 'C']"
            case 2 if nodes:
                return f"labels({c.pick(nodes)})"
            case _:
                return f"CASE WHEN {self._truth(scope, 0)} THEN 'B' ELSE 'C' END"

    def _truth(self, scope: Scope, depth: int) -> str:
        c = self._c
        nodes = scope.of("node")
        match c.below(5 if depth else 3):
            case 0:
                return f"{self._integer(scope, 0)} > 1"
            case 1 if nodes:
                return f"{c.pick(nodes)}:{c.pick(LABELS)}"
            case 3:
                return f"EXISTS {{ {self._query(scope, depth - 1, 'EXISTS')} }}"
            case 4 if nodes:
                return f"EXISTS {{ ({c.pick(nodes)})-[:{c.pick(TYPES)}]->() }}"
            case _:
                return c.pick(("true", "false"))

    def _query(self, scope: Scope, depth: int, kind: str) -> str:
        """The query of an EXISTS, COUNT or COLLECT: names from outside stay behind its WITHs."""
        c = self._c
        inner = scope.copy()
        kept = dict(inner.kinds)
        clauses = [self._step(inner, kept) for _ in range(c.below(3))]
        value = self._integer(inner, max(0, depth))
        if kind == "COLLECT" or c.chance(50):
            column = inner.new("o", "integer")
            clauses.append(f"RETURN {value} AS {column}" + (f" ORDER BY {column}" if kind == "COLLECT" else ""))
        elif not clauses or not clauses[-1]:
            clauses.append(f"MATCH (z:{c.pick(LABELS)}) WHERE z.x >= {value}")
        return " ".join(clause for clause in clauses if clause)
