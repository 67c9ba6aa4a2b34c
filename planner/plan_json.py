"""Physical plans as JSON, and back. docs/PLANS.md describes the form.

A plan is a list of nodes, each after those it holds, so that reading a deep or hostile plan does not recurse. What a
field may hold is taken from its annotation, both for writing and for reading: only node types that belong in a plan are
constructed, and only from what their fields allow.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import fields
from enum import Enum
from functools import cache
from hashlib import sha256
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeAlias, Union, get_args, get_origin, get_type_hints

from hoplite.allowance import check_time
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.planner import physical as pp
from hoplite.planner.parts import PhysicalPlan, PlannedSubquery
from hoplite.planner.plan_constants import read_constant, written_constant

VERSION = 1
_MOST_NODES = 1_000_000  # as a tree: what several nodes share counts once for each of them
_LARGEST = (1 << 63) - 1

# Expressions that a plan replaces by a PlannedSubquery.
_ALWAYS_PLANNED = (
    ast.SubqueryExpression,
    ast.PatternExpression,
    ast.PatternComprehension,
    ast.ShortestPathExpression,
    ast.CountStar,
)
_LITERAL = bool | int | float | str | None

Write: TypeAlias = Callable[[Any, Mapping[int, int]], Any]  # a value and the numbers of nodes, to JSON
Read: TypeAlias = Callable[[Any, "_Reading"], Any]  # JSON and the nodes read so far, to a value


class PlanError(ValueError):
    """Not a plan, or not one of this version."""


# --- writing ---------------------------------------------------------------------------------------------------


def plan_to_json(plan: pp.Plan, about: Mapping[str, Any]) -> str:
    """A plan as JSON text, preceded by what is said `about` it."""
    numbers: dict[int, int] = {}
    written: list[dict[str, Any]] = []
    for node in reversed(list(walk(plan))):  # children come before their parents
        if id(node) not in numbers:
            check_time()
            kind: Any = type(node)
            entry: dict[str, Any] = {"is": kind.__name__}
            for name, (write, _) in _form(kind).items():
                entry[name] = write(getattr(node, name), numbers)
            numbers[id(node)] = len(written)
            written.append(entry)
    envelope = {"hoplite_plan": VERSION, "form": form_digest(), **about, "nodes": written, "root": numbers[id(plan)]}
    return json.dumps(envelope, allow_nan=False)


# --- reading ---------------------------------------------------------------------------------------------------


class _Reading:
    """The nodes so far, and how large each is as a tree."""

    def __init__(self) -> None:
        self.nodes: list[Any] = []
        self.sizes: list[int] = []
        self.size = 0  # of the node being read

    def node(self, number: Any) -> Any:
        """A node that has already been read."""
        if not isinstance(number, int) or isinstance(number, bool) or not 0 <= number < len(self.nodes):
            raise PlanError(f"{_shown(number)} is not the number of a node before this one")
        self.size += self.sizes[number]
        if self.size > _MOST_NODES:
            raise PlanError(f"a plan has at most {_MOST_NODES:,} nodes")
        return self.nodes[number]


def plan_from_json(text: str | bytes) -> pp.Plan:
    """The plan that a JSON text describes; `PlanError` if it is not one."""
    try:
        envelope = json.loads(text, parse_constant=_refuse_constant)
    except PlanError:
        raise
    except (ValueError, RecursionError) as error:
        raise PlanError(f"Not a plan: it is not JSON ({error}).") from None
    if not isinstance(envelope, dict) or "hoplite_plan" not in envelope:
        raise PlanError("Not a plan: there is no `hoplite_plan` in it.")
    found = envelope["hoplite_plan"]
    if found != VERSION or isinstance(found, bool):
        raise PlanError(f"The plan has version {_shown(found)}; this is version {VERSION}. Explain the query again.")
    if envelope.get("form") != form_digest():
        raise PlanError(
            f"The plan was written by a Hoplite whose operators are others (form {_shown(envelope.get('form'))}, here "
            f"{form_digest()}). Explain the query again."
        )
    nodes = envelope.get("nodes")
    if not isinstance(nodes, list):
        raise PlanError("Not a plan: `nodes` is not a list.")
    return _plan(nodes, envelope.get("root"))


def _plan(nodes: list[Any], root: Any) -> pp.Plan:
    reading = _Reading()
    for number, entry in enumerate(nodes):
        check_time()
        reading.size = 1
        try:
            node = _node(entry, reading)
        except PlanError as error:
            raise PlanError(f"Node {number} of the plan cannot be read: {error}.") from None
        reading.nodes.append(node)
        reading.sizes.append(reading.size)
    reading.size = 0
    plan = reading.node(root)
    if not isinstance(plan, get_args(pp.Plan)):
        raise PlanError(f"The plan cannot be read: its root, {type(plan).__name__}, is not an operator.")
    return plan  # type: ignore[no-any-return]


def _node(entry: Any, reading: _Reading) -> Any:
    if not isinstance(entry, dict):
        raise PlanError(f"{_shown(entry)} is not an object")
    name = entry.get("is")
    kind = _kinds().get(name) if isinstance(name, str) else None
    if kind is None:
        raise PlanError(f"there is no node {_shown(name)}")
    form = _form(kind)
    for given in entry:
        if given != "is" and given not in form:
            raise PlanError(f"{name} has no field {_shown(given)}")
    values = {}
    for field_name, (_, read) in form.items():
        if field_name not in entry:
            raise PlanError(f"{name} needs the field {field_name!r}")
        try:
            values[field_name] = read(entry[field_name], reading)
        except PlanError as error:
            raise PlanError(f"{field_name!r} of {name}: {error}") from None
    return kind(**values)


def _refuse_constant(text: str) -> Any:
    raise PlanError(f"Not a plan: {text} is not JSON.")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- what a node is made of ------------------------------------------------------------------------------------


@cache
def _kinds() -> dict[str, Any]:
    """The node types that plans are made of, by name: those of the physical plan, and everything their fields hold."""
    found: dict[Any, None] = {}
    waiting: list[Any] = [*get_args(pp.Plan)]
    while waiting:
        annotation = waiting.pop()
        if isinstance(annotation, type) and hasattr(annotation, "__dataclass_fields__"):
            if annotation not in found and annotation not in (ast.Span, PhysicalPlan, *_ALWAYS_PLANNED):
                found[annotation] = None
                waiting += get_type_hints(annotation).values()
        else:
            waiting += get_args(annotation)
    named = {kind.__name__: kind for kind in found}
    assert len(named) == len(found), "Names tell node types apart."
    return named


@cache
def form_digest() -> str:
    """A digest of the node types and their fields: a plan of another form cannot be read."""
    lines = [
        f"{name}({', '.join(f'{f.name}: {f.type}' for f in fields(kind) if f.type != 'Span')})"
        for name, kind in sorted(_kinds().items())
    ]
    return sha256("\n".join(lines).encode()).hexdigest()[:12]


@cache
def _form(kind: Any) -> dict[str, tuple[Write, Read]]:
    """How each field is written and read. Source positions are left out."""
    hints = get_type_hints(kind, include_extras=True)
    return {
        name: _codec(hint)
        for name, hint in hints.items()
        if hint is not ast.Span and hint != tuple[ast.Span, ...] and name in {f.name for f in fields(kind)}
    }


def _codec(annotation: Any) -> tuple[Write, Read]:
    origin, arguments = get_origin(annotation), get_args(annotation)
    if annotation == _LITERAL or origin is Annotated:
        is_list = origin is Annotated
        return (lambda value, _: written_constant(value)), (lambda found, _: _constant(found, is_list))
    if origin in (Union, UnionType):
        return _union(arguments)
    if origin is tuple and arguments[1:] == (...,):
        return _several(*_codec(arguments[0]))
    if origin is tuple:
        return _row([_codec(argument) for argument in arguments])
    if origin is frozenset:
        return (lambda value, _: sorted(value)), _read_names
    if origin is Literal:
        return _as_it_is, _one_of(arguments)
    if annotation in (str, bool, int):
        return _as_it_is, _exactly(annotation)
    if isinstance(annotation, type) and issubclass(annotation, Enum):
        members = {member.name: member for member in annotation}
        return (lambda value, _: value.name), _member(members)
    assert hasattr(annotation, "__dataclass_fields__"), annotation
    return _node_of((annotation,))


def _union(alternatives: tuple[Any, ...]) -> tuple[Write, Read]:
    """Nodes of several types, or None, or a string: told apart by the JSON type."""
    may_be_none, may_be_text = NoneType in alternatives, str in alternatives
    others = tuple(a for a in alternatives if a not in (NoneType, str))
    write: Write = _as_it_is
    if not others:
        read = _exactly(str)
    elif all(hasattr(other, "__dataclass_fields__") for other in others):
        write, read = _node_of(others)
    else:
        assert len(others) == 1 and not may_be_text, alternatives
        write, read = _codec(others[0])

    def written(value: Any, numbers: Mapping[int, int]) -> Any:
        return value if value is None or isinstance(value, str) else write(value, numbers)

    def found(value: Any, reading: _Reading) -> Any:
        if (value is None and may_be_none) or (may_be_text and isinstance(value, str)):
            return value
        return read(value, reading)

    return written, found


def _node_of(kinds: tuple[type, ...]) -> tuple[Write, Read]:
    if kinds == (PhysicalPlan,):
        kinds = get_args(pp.Plan)
    elif ast.Literal in kinds:  # an expression, which in a plan may be a subquery
        kinds = (*kinds, PlannedSubquery)

    def read(value: Any, reading: _Reading) -> Any:
        node = reading.node(value)
        if not isinstance(node, kinds):
            raise PlanError(f"node {value}, {type(node).__name__}, cannot stand here")
        return node

    return (lambda value, numbers: numbers[id(value)]), read


def _several(write: Write, read: Read) -> tuple[Write, Read]:
    def found(value: Any, reading: _Reading) -> Any:
        return tuple(read(item, reading) for item in _list(value))

    return (lambda value, numbers: [write(item, numbers) for item in value]), found


def _row(parts: list[tuple[Write, Read]]) -> tuple[Write, Read]:
    def written(value: Any, numbers: Mapping[int, int]) -> Any:
        return [write(item, numbers) for item, (write, _) in zip(value, parts, strict=True)]

    def found(value: Any, reading: _Reading) -> Any:
        if len(_list(value)) != len(parts):
            raise PlanError(f"{_shown(value)} does not have {len(parts)} items")
        return tuple(read(item, reading) for item, (_, read) in zip(value, parts, strict=True))

    return written, found


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise PlanError(f"{_shown(value)} is not a list")
    return value


def _read_names(value: Any, reading: _Reading) -> Any:
    return frozenset(_exactly(str)(item, reading) for item in _list(value))


def _as_it_is(value: Any, _: Mapping[int, int]) -> Any:
    return value


def _exactly(kind: type) -> Read:
    def read(value: Any, _: _Reading) -> Any:
        if type(value) is not kind:
            raise PlanError(f"{_shown(value)} is not of type {kind.__name__}")
        if isinstance(value, int) and not 0 <= value <= _LARGEST:
            raise PlanError(f"{_shown(value)} is out of range")
        return value

    return read


def _one_of(values: tuple[Any, ...]) -> Read:
    def read(value: Any, _: _Reading) -> Any:
        if value not in values or isinstance(value, bool):
            raise PlanError(f"{_shown(value)} is not one of {', '.join(map(repr, values))}")
        return value

    return read


def _member(members: Mapping[str, Enum]) -> Read:
    def read(value: Any, _: _Reading) -> Any:
        if not isinstance(value, str) or value not in members:
            raise PlanError(f"{_shown(value)} is not one of {', '.join(members)}")
        return members[value]

    return read


def _constant(found: Any, is_list: bool) -> Any:
    try:
        value = read_constant(found)
    except (ValueError, TypeError, OverflowError, RecursionError) as error:
        raise PlanError(f"{_shown(found)} is not a constant ({error})") from None
    if is_list != isinstance(value, list):
        raise PlanError(f"{_shown(found)} cannot stand here")
    return value
