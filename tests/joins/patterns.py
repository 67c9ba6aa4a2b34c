"""Random graphs and random reading queries over them: as text, and as data for the plain matcher."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random
from typing import Literal, TypeAlias, get_args

LABELS = ("A", "B", "C")
TYPES = ("R", "S")

Side: TypeAlias = Literal["->", "<-", "--"]
AggregateName: TypeAlias = Literal[
    "count(*)", "count", "count x", "count distinct", "sum", "avg", "min", "max", "collect", "collect distinct"
]


@dataclass(frozen=True)
class Node:
    """`labels` and the property x, which may be missing; the property i is the node's number."""

    labels: frozenset[str]
    x: int | float | None


@dataclass(frozen=True)
class Relationship:
    start: int
    type: str
    end: int


@dataclass(frozen=True)
class Graph:
    nodes: tuple[Node, ...]
    relationships: tuple[Relationship, ...]


@dataclass(frozen=True)
class NodePattern:
    name: str
    label: str | None

    def text(self) -> str:
        return f"({self.name}{'' if self.label is None else ':' + self.label})"


@dataclass(frozen=True)
class Step:
    """A relationship of a pattern, with bounds where it is repeated."""

    name: str
    types: tuple[str, ...]
    side: Side
    bounds: tuple[int, int] | None = None

    def text(self) -> str:
        name = self.name if self.name.startswith("r") else ""
        types = "" if not self.types else ":" + "|".join(self.types)
        bounds = "" if self.bounds is None else f"*{self.bounds[0]}..{self.bounds[1]}"
        left, right = {"->": ("-", "->"), "<-": ("<-", "-"), "--": ("-", "-")}[self.side]
        return f"{left}[{name}{types}{bounds}]{right}"


@dataclass(frozen=True)
class Chain:
    nodes: tuple[NodePattern, ...]
    steps: tuple[Step, ...]

    def text(self) -> str:
        text = self.nodes[0].text()
        for step, node in zip(self.steps, self.nodes[1:], strict=True):
            text += step.text() + node.text()
        return text


@dataclass(frozen=True)
class Predicate:
    """kind: `<>`, `=`, `<` between two nodes (`<` on x), `>` of x and a number, `is` one node by its i or `in` one of
    two, `there` or `missing` relationship, a `way` over a node between."""

    kind: Literal["<>", "=", "<", ">", "is", "in", "there", "missing", "way"]
    left: str
    right: str = ""
    number: int = 0
    step: Step | None = None
    second: Step | None = None

    def text(self) -> str:
        match self.kind:
            case "way":
                assert self.step is not None
                assert self.second is not None
                return f"EXISTS {{ ({self.left}){self.step.text()}(){self.second.text()}({self.right}) }}"
            case "<>" | "=":
                return f"{self.left} {self.kind} {self.right}"
            case "<":
                return f"{self.left}.x < {self.right}.x"
            case ">":
                return f"{self.left}.x > {self.number}"
            case "is":
                return f"{self.left}.i = {self.number}"
            case "in":
                return f"{self.left}.i IN [{self.number}, {self.number + 2}]"
            case _:
                assert self.step is not None
                pattern = f"({self.left}){self.step.text()}({self.right})"
                return pattern if self.kind == "there" else f"NOT {pattern}"


@dataclass(frozen=True)
class Match:
    chains: tuple[Chain, ...]
    predicates: tuple[Predicate, ...]
    optional: bool = False

    def text(self) -> str:
        where = " AND ".join(p.text() for p in self.predicates)
        patterns = ", ".join(chain.text() for chain in self.chains)
        return f"{'OPTIONAL ' * self.optional}MATCH {patterns}{' WHERE ' + where if where else ''}"


@dataclass(frozen=True)
class Aggregate:
    """A function of a node: of itself for `count`, of its property i for `collect`, else of its property x."""

    function: AggregateName
    of: str = ""

    def text(self) -> str:
        match self.function:
            case "count(*)":
                return "count(*)"
            case "count" | "count distinct":
                return f"count({self.function.partition(' ')[2].upper()} {self.of})"
            case "collect" | "collect distinct":
                return f"collect({self.function.partition(' ')[2].upper()} {self.of}.i)"
            case "count x":
                return f"count({self.of}.x)"
            case _:
                return f"{self.function}({self.of}.x)"


@dataclass(frozen=True)
class Returned:
    """What the pattern returns; `distinct` rows of the keys if there is no aggregate. With `top`, only the first rows
    in descending order of the aggregates and ascending order of the keys."""

    keys: tuple[str, ...]
    aggregates: tuple[Aggregate, ...] = ()
    distinct: bool = False
    top: int | None = None

    def text(self) -> str:
        items = [f"{key}.i AS {key}_i" for key in self.keys]
        items += [f"{aggregate.text()} AS n{number}" for number, aggregate in enumerate(self.aggregates)]
        text = f"RETURN {'DISTINCT ' * self.distinct}{', '.join(items)}"
        if self.top is not None:
            order = [f"n{number} DESC" for number in range(len(self.aggregates))] + [f"{key}_i" for key in self.keys]
            text += f" ORDER BY {', '.join(order)} LIMIT {self.top}"
        return text


@dataclass(frozen=True)
class Query:
    matches: tuple[Match, ...]
    returned: Returned

    def text(self) -> str:
        return " ".join([*(match.text() for match in self.matches), self.returned.text()])


def random_graph(random: Random) -> Graph:
    """Few nodes, so that self-loops, parallel relationships, triangles and larger cycles are common."""
    count = random.randint(1, 6)
    # In any order, sums of them are exact as floats.
    values = random.choice(((None, 1, 2, 3), (None, 1, 2, 3), (None, 1, 2.5, 0.25), (None, 1 << 60, 1 << 61)))
    nodes = tuple(
        Node(frozenset(label for label in LABELS if random.random() < 0.6), random.choice(values)) for _ in range(count)
    )
    relationships = tuple(
        Relationship(random.randrange(count), random.choice(TYPES), random.randrange(count))
        for _ in range(random.randint(0, 9))
    )
    return Graph(nodes, relationships)


@dataclass
class _Writer:
    """Writes one query; `nodes` are the names that are bound so far."""

    random: Random
    nodes: list[str] = field(default_factory=list)
    steps: int = 0

    def node(self, new: bool = False) -> NodePattern:
        random = self.random
        label = random.choice(LABELS) if random.random() < 0.35 else None
        if self.nodes and not new and random.random() < 0.5:
            return NodePattern(random.choice(self.nodes), label)
        name = f"n{len(self.nodes)}"
        self.nodes.append(name)
        return NodePattern(name, label)

    def step(self, repeated: bool = True) -> Step:
        random = self.random
        types = random.choice(((), ("R",), ("S",), ("R",), ("R", "S")))
        side: Side = random.choice(("->", "<-", "--"))
        bounds = random.choice(((1, 2), (0, 1), (2, 2))) if repeated and random.random() < 0.08 else None
        self.steps += 1
        return Step(f"{random.choice('rs')}{self.steps}", types, side, bounds)

    def chain(self, longest: int) -> Chain:
        steps = tuple(self.step() for _ in range(self.random.randint(0, longest)))
        return Chain(tuple(self.node() for _ in range(len(steps) + 1)), steps)

    def match(self, optional: bool) -> Match:
        random = self.random
        chains = tuple(self.chain(3 if number == 0 else 2) for number in range(random.choice((1, 1, 1, 2))))
        predicates = tuple(self.predicate() for _ in range(random.choice((0, 0, 1, 2))))
        return Match(chains, predicates, optional)

    def way_between(self) -> Match:
        """A long chain whose two ends are among few nodes."""
        random = self.random
        steps = tuple(self.step(repeated=False) for _ in range(random.randint(2, 5)))
        nodes = tuple(self.node(new=random.random() < 0.9) for _ in range(len(steps) + 1))
        ends = [
            Predicate(random.choice(("is", "in")), end.name, number=random.randint(0, 2))
            for end in (nodes[0], nodes[-1])
            if random.random() < 0.9
        ]
        others = [self.predicate() for _ in range(random.choice((0, 0, 0, 1)))]
        return Match((Chain(nodes, steps),), (*ends, *others))

    def optional_chain(self) -> Match:
        """An OPTIONAL MATCH of one or two new nodes from a node that is bound, with a condition on the last of them."""
        random = self.random
        start = NodePattern(random.choice(self.nodes), None)
        steps = tuple(self.step(repeated=False) for _ in range(random.choice((1, 1, 2))))
        nodes = (start, *(self.node(new=True) for _ in steps))
        asked = [Predicate(">", nodes[-1].name, number=1)] if random.random() < 0.3 else []
        return Match((Chain(nodes, steps),), tuple(asked), optional=True)

    def predicate(self) -> Predicate:
        random = self.random
        left, right = random.choice(self.nodes), random.choice(self.nodes)
        match random.choice(("<>", "<>", "=", "<", ">", "is", "in", "there", "missing", "missing", "way")):
            case "way":
                steps = [self.step(repeated=False) for _ in range(2)]
                first, second = (Step("", step.types, step.side) for step in steps)
                return Predicate("way", left, right, step=first, second=second)
            case "there" | "missing" as kind:
                step = self.step(repeated=False)
                return Predicate(kind, left, right, step=Step("", step.types, step.side))
            case ">" | "is" | "in" as kind:
                return Predicate(kind, left, number=random.randint(0, 2))
            case "<>" | "=" | "<" as kind:
                return Predicate(kind, left, right)
        raise AssertionError

    def rows(self) -> Returned:
        """Rows of a few nodes, which may occur more than once."""
        return Returned(tuple(dict.fromkeys(self.random.choices(self.nodes, k=3))))

    def counted_by(self, known: tuple[str, ...]) -> Returned:
        """Counts for one of some nodes, or for all rows: of matches, or of distinct values."""
        random = self.random
        keys = (random.choice(random.choice((known, known, tuple(self.nodes)))),) if random.random() < 0.7 else ()
        names: list[tuple[AggregateName, ...]] = [("count(*)", "count"), ("count distinct", "min", "collect distinct")]
        some = random.choice(names)
        aggregates = tuple(
            Aggregate(random.choice(some), random.choice(self.nodes)) for _ in range(random.choice((1, 2, 3)))
        )
        return Returned(keys, aggregates)

    def returned(self) -> Returned:
        random = self.random
        keys = tuple(dict.fromkeys(random.choice(self.nodes) for _ in range(random.choice((0, 1, 1, 2)))))
        kind = random.choice(("count", "count", "rows", "any", "any", "any"))
        match kind:
            case "rows":
                return Returned(keys or (random.choice(self.nodes),), distinct=random.random() < 0.5)
            case "count":
                aggregates: tuple[Aggregate, ...] = (Aggregate("count(*)"),)
            case _:
                names = get_args(AggregateName)
                chosen = (random.choice(names) for _ in range(random.choice((1, 1, 2))))
                aggregates = tuple(Aggregate(name, random.choice(self.nodes)) for name in chosen)
        lists = any(aggregate.function.startswith("collect") for aggregate in aggregates)
        top = random.randint(1, 3) if keys and not lists and random.random() < 0.2 else None
        return Returned(keys, aggregates, top=top)


def random_query(random: Random) -> Query:
    """One to four MATCH clauses that share names, and what is returned of them."""
    writer = _Writer(random)
    if random.random() < 0.2:
        matches = [writer.way_between()]
        if random.random() < 0.6:
            return Query(tuple(matches), writer.rows())
    elif random.random() < 0.2:
        matches = [Match((writer.chain(2),), ())]
        known = tuple(writer.nodes)
        matches += [writer.optional_chain() for _ in range(random.choice((1, 2, 2, 3)))]
        return Query(tuple(matches), writer.counted_by(known))
    else:
        matches = [writer.match(optional=False)]
    for _ in range(random.choice((0, 0, 1, 1, 2, 3))):
        matches.append(writer.match(optional=random.random() < 0.2))
    return Query(tuple(matches), writer.returned())
