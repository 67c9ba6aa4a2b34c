"""The walker over trees: every node type of syntax trees and plans, built from its annotations, field by field.

What each annotation holds is said here once more, independently: a new shape of field fails until both know it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from enum import Enum
from itertools import cycle, islice
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

import pytest

from hoplite.grammar import ast, leaves, statement, tree
from hoplite.grammar.ast import Expression, Span
from hoplite.grammar.parse import parse
from hoplite.planner import logical as lp
from hoplite.planner import parts
from hoplite.planner import physical as pp
from hoplite.planner import tree as plans
from hoplite.planner.parts import Assignment, PhysicalPlan, PlannedSubquery
from hoplite.planner.plan_tree import chain

PLANS = frozenset(get_args(lp.Plan))
Held: TypeAlias = tuple[Any, list[Any]]  # a value, and the nodes in it
_PLAIN: dict[Any, Any] = {str: "x", int: 1, bool: True, float: 0.5, NoneType: None, Span: ast.NOWHERE}


def node_types(*modules: Any) -> list[type]:
    found = [(kind, module) for module in modules for kind in vars(module).values() if isinstance(kind, type)]
    return [k for k, module in found if is_dataclass(k) and k.__module__ == module.__name__ and k is not Span]


SYNTAX, OPERATORS, PHYSICAL = node_types(ast, leaves, statement), node_types(lp, parts), node_types(pp)
EVERY_KIND = [*SYNTAX, *OPERATORS, *PHYSICAL]


def held_by(annotation: Any) -> list[Held]:
    """Values of a type, together of every form that it allows, with the nodes in each."""
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation in _PLAIN:
        return [(_PLAIN[annotation], [])]
    if origin is Literal:
        return [(value, []) for value in arguments]
    if origin is Annotated:
        return [([1, [2]], [])]
    if origin in (Union, UnionType):
        return [held for argument in arguments for held in held_by(argument)]
    if origin is tuple and arguments[1:] == (...,):
        items = held_by(arguments[0]) + held_by(arguments[0])
        return [((), []), (tuple(value for value, _ in items), [node for _, nodes in items for node in nodes])]
    if origin is tuple:
        columns = [held_by(argument) for argument in arguments]
        length = max(map(len, columns))
        rows = list(zip(*(islice(cycle(column), length) for column in columns), strict=True))
        return [(tuple(v for v, _ in row), [node for _, nodes in row for node in nodes]) for row in rows]
    if origin is frozenset and held_by(arguments[0]) == [("x", [])]:
        return [(frozenset("x"), [])]
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        return [(next(iter(annotation)), [])]
    if isinstance(annotation, type) and is_dataclass(annotation):
        node = object.__new__(annotation)  # its own fields are of no concern here
        return [(node, [node])]
    raise AssertionError(f"no test knows what {annotation} holds")


def instances(kind: type) -> Iterator[tuple[Any, list[Any]]]:
    """Nodes of a type, in which each field takes every form once, with the children of each."""
    hints = get_type_hints(kind, include_extras=True)
    names = [field.name for field in fields(kind)]
    forms = {name: held_by(hints[name]) for name in names}
    for varied in names or [""]:
        for form in forms.get(varied, [(None, [])]):
            made: Any = object.__new__(kind)
            below: list[Any] = []
            for name in names:
                value, nodes = form if name == varied else held_by(hints[name])[0]
                object.__setattr__(made, name, value)
                below += nodes
            yield made, below


def same(ours: list[Any], expected: list[Any]) -> bool:
    return list(map(id, ours)) == list(map(id, expected))


@pytest.mark.parametrize("kind", EVERY_KIND, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_child_of_every_node_type_is_visited_once(kind: type) -> None:
    for node, below in instances(kind):
        assert same(tree.children(node), below)
        assert same(plans.children(node), [child for child in below if type(child) in PLANS])


@pytest.mark.parametrize("kind", EVERY_KIND, ids=lambda kind: f"{kind.__module__}.{kind.__name__}")
def test_every_child_of_every_node_type_is_replaced_once(kind: type) -> None:
    for node, below in instances(kind):
        assert tree.with_children(node, lambda child: child) is node
        asked: list[Any] = []
        put: list[Any] = []

        def change(child: Any, asked: list[Any] = asked, put: list[Any] = put) -> Any:
            asked.append(child)
            put.append(object.__new__(type(child)))
            return put[-1]

        changed = tree.with_children(node, change)
        assert same(asked, below)
        assert type(changed) is kind and same(tree.children(changed), put)
        assert (changed is node) == (not below)


def test_every_operator_is_in_the_union_of_plans_or_part_of_one() -> None:
    held = {type(child) for kind in PLANS for node, below in instances(kind) for child in below}
    beside = {PlannedSubquery, PhysicalPlan, *get_args(Assignment)}
    assert set(OPERATORS) <= PLANS | held | beside
    physical = set(get_args(pp.Shown))
    assert set(PHYSICAL) == physical
    assert {kind for kind in PHYSICAL if issubclass(kind, PhysicalPlan)} == set(get_args(pp.Plan))


# --- forms of fields -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Mapped:
    entries: Mapping[str, Expression]
    rows: Mapping[str, tuple[Expression, ...]] | None = None


def test_values_of_mappings_are_children() -> None:
    one, two, three = ast.Literal(1), ast.Literal(2), ast.Literal(3)
    node = Mapped({"a": one, "b": two}, {"c": (three,)})
    assert same(tree.children(node), [one, two, three])
    changed = tree.with_children(node, lambda child: one if child is three else child)
    assert changed == Mapped({"a": one, "b": two}, {"c": (one,)}) and changed.entries is node.entries


class Plain:
    pass


@dataclass
class OfAnything:
    value: Any


@dataclass
class OfObjects:
    value: object


@dataclass
class OfSets:
    value: frozenset[Expression]


@dataclass
class OfLists:
    value: list[Expression]


@dataclass
class OfMixtures:
    value: Expression | tuple[Expression, ...]


@dataclass
class OfKeys:
    value: Mapping[Expression, str]


@dataclass
class OfFunctions:
    value: Callable[[], Expression]


@dataclass
class OfPlainClasses:
    value: Plain | None


_UNKNOWN = (OfAnything, OfObjects, OfSets, OfLists, OfMixtures, OfKeys, OfFunctions, OfPlainClasses)


@pytest.mark.parametrize("kind", _UNKNOWN)
def test_an_annotation_that_is_not_understood_raises(kind: type) -> None:
    with pytest.raises(TypeError, match=f"{kind.__name__}.value: cannot tell whether"):
        tree.children(kind(None))
    with pytest.raises(TypeError):
        tree.children(kind(None))  # and it is not remembered as a leaf


# --- whole trees ---------------------------------------------------------------------------------------------------


def reflected(value: Any) -> Iterator[Any]:
    """All nodes, by looking at the values themselves."""
    if isinstance(value, tuple):
        for item in value:
            yield from reflected(item)
    elif is_dataclass(value) and not isinstance(value, Span):
        yield value
        for field in fields(value):
            yield from reflected(getattr(value, field.name))


@pytest.mark.parametrize(
    "text",
    [
        "MATCH (a:A&!B {x: 1} WHERE a.y > 2)-[r:R|S*1..3]->(b) WHERE EXISTS { (b)-->() } RETURN a {.x, k: b.z}",
        "MATCH p = SHORTEST 2 ((a)-[:R]->(b) WHERE a.x < b.x)+(c) RETURN [n IN nodes(p) WHERE n.x = 1 | n.y] AS xs",
        "UNWIND $rows AS row MERGE (n {i: row.i}) ON CREATE SET n += row, n:M REMOVE n.x FOREACH (i IN [] | CREATE ())",
        "CALL (x) { RETURN 1 AS y } IN TRANSACTIONS OF 10 ROWS RETURN CASE y WHEN 1, > 2 THEN y[1..] ELSE $p END",
        "CREATE INDEX $name IF NOT EXISTS FOR (n:N) ON (n.x) OPTIONS {a: 1}",
        "SHOW INDEXES YIELD name AS n WHERE n = 'x' RETURN n ORDER BY n",
    ],
)
def test_a_walk_sees_every_node_once_parents_first(text: str) -> None:
    statement = parse(text)
    assert same(list(tree.walk(statement)), list(reflected(statement)))


def test_a_walk_does_not_go_below_what_it_is_told() -> None:
    statement = parse("MATCH (a) WHERE EXISTS { (a)-->(b) } RETURN a.x")
    names = [n.name for n in tree.walk(statement, not_below=(ast.SubqueryExpression,)) if isinstance(n, ast.Variable)]
    assert names == ["a", "a"]


def test_a_walk_may_begin_with_several_nodes_or_none() -> None:
    one, two = ast.Variable("a"), ast.Variable("b")
    assert same(list(tree.walk((one, (two,), None))), [one, two])
    assert list(tree.walk(None)) == []


def test_a_replaced_node_is_not_looked_into_and_the_rest_stays() -> None:
    one, kept = ast.Variable("a"), ast.Property(ast.Variable("b"), "x")
    before = ast.ListLiteral((ast.Property(one, "x"), kept))

    def change(node: Any) -> Any:
        return ast.Property(one, "y") if node == ast.Property(one, "x") else None

    after = tree.transform(before, change)
    assert after == ast.ListLiteral((ast.Property(one, "y"), kept)) and after.items[1] is kept
    assert tree.transform(before, lambda _: None) is before


def test_a_shared_node_is_replaced_by_its_place() -> None:
    shared = ast.Variable("a")
    numbers = iter(range(10))
    after = tree.transform(
        ast.ListLiteral((shared, ast.Unary("-", shared))),
        lambda node: ast.Literal(next(numbers)) if node is shared else None,
    )
    assert after == ast.ListLiteral((ast.Literal(0), ast.Unary("-", ast.Literal(1))))


def test_deep_trees_need_no_deep_stack() -> None:
    deep: Any = ast.Variable("a")
    for _ in range(20_000):
        deep = ast.Unary("-", ast.Binary("+", deep, ast.Literal(1)))
    assert sum(1 for _ in tree.walk(deep)) == 60_001
    assert tree.contains(deep, lambda node: isinstance(node, ast.Variable))
    changed = tree.transform(deep, lambda node: ast.Variable("b") if isinstance(node, ast.Variable) else None)
    assert [node.name for node in tree.walk(changed) if isinstance(node, ast.Variable)] == ["b"]


def test_deep_plans_are_rewritten_from_both_ends() -> None:
    plan: lp.Plan = lp.Argument()
    for number in range(5_000):
        plan = lp.Skip(plan, ast.Literal(number))
    limits = plans.bottom_up(plan, lambda p: lp.Limit(p.source, p.count) if isinstance(p, lp.Skip) else p)
    assert sum(isinstance(p, lp.Limit) for p in plans.operators(limits)) == 5_000

    def step(p: lp.Plan, depth: int) -> tuple[lp.Plan, Callable[[lp.Plan], int]]:
        changed = lp.Limit(p.source, ast.Literal(depth)) if isinstance(p, lp.Skip) else p
        return changed, lambda _: depth + 1

    counted = plans.top_down(plan, 0, step)
    depths = [
        p.count.value for p in plans.operators(counted) if isinstance(p, lp.Limit) and isinstance(p.count, ast.Literal)
    ]
    assert depths == list(range(5_000))


def test_plans_of_subqueries_are_not_below_an_operator_but_inside_its_terms() -> None:
    inner = pp.NodeScan(pp.Argument(), "n", None, small_first=False)
    nested = PlannedSubquery("exists", inner, ())
    plan = pp.Filter(pp.Argument(), ast.Unary("NOT", nested), lenient=False)  # type: ignore[arg-type]
    (top, _) = chain(plan)
    assert same(list(top.beside), [inner])
    assert tree.contains(plan.predicate, lambda node: isinstance(node, pp.NodeScan))
