"""The one walker over trees of dataclasses: syntax trees, the terms in plans, and plans themselves.

Which fields hold nodes is read once per class from the resolved annotations:

    Expression                            one node
    Expression | None, str | Term         one node or something else
    tuple[Expression, ...]                several, in order
    tuple[tuple[str, Expression], ...]    tuples nest to any depth
    Mapping[str, Expression]              the values are nodes

Everything else has to be a known leaf. An annotation that is neither raises `TypeError`: a field that a walk skipped
silently would cause a wrong answer somewhere. Nothing here recurses: chains of operators and plans may be thousands of
nodes deep.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from enum import Enum
from types import NoneType, UnionType
from typing import Annotated, Any, Generic, Literal, TypeVar, Union, get_args, get_origin

from hoplite.allowance import check_time
from hoplite.grammar.ast import OPAQUE, Span

Node = TypeVar("Node")
State = TypeVar("State")
Change = Callable[[Any], Any]


_OTHERWISE, _ITSELF, _ALL = range(3)
"""What a field's value adds to the nodes below: what `gather` finds in it, itself, or all its items."""


class _Field:
    """How nodes are found in a field, and put back into it. None is no node."""

    gathered = _OTHERWISE

    def gather(self, value: Any, found: list[Any]) -> None:
        """Append the nodes in a value, in order."""
        raise NotImplementedError

    def rebuilt(self, value: Any, change: Change) -> Any:
        """The value over changed nodes; the same object if none of them changes."""
        raise NotImplementedError


class _One(_Field):
    """Always a node."""

    gathered = _ITSELF

    def gather(self, value: Any, found: list[Any]) -> None:
        found.append(value)

    def rebuilt(self, value: Any, change: Change) -> Any:
        return change(value)


class _Maybe(_Field):
    """A node, or a leaf in the same union."""

    def __init__(self, is_node: Callable[[Any], bool]) -> None:
        self.is_node = is_node

    def gather(self, value: Any, found: list[Any]) -> None:
        if value is not None and self.is_node(value):
            found.append(value)

    def rebuilt(self, value: Any, change: Change) -> Any:
        return change(value) if value is not None and self.is_node(value) else value


class _Optional(_Field):
    """None, or what another shape describes."""

    def __init__(self, inner: _Field) -> None:
        self.inner = inner
        self.gathered = inner.gathered

    def gather(self, value: Any, found: list[Any]) -> None:
        if value is not None:
            self.inner.gather(value, found)

    def rebuilt(self, value: Any, change: Change) -> Any:
        return None if value is None else self.inner.rebuilt(value, change)


class _Several(_Field):
    """A tuple of any length."""

    def __init__(self, inner: _Field) -> None:
        self.inner = inner

    def gather(self, value: Any, found: list[Any]) -> None:
        for item in value:
            self.inner.gather(item, found)

    def rebuilt(self, value: Any, change: Change) -> Any:
        return _same_or_new(value, tuple([self.inner.rebuilt(item, change) for item in value]))


class _Nodes(_Several):
    """A tuple of nodes and nothing else: the most frequent shape, handled without a call for each node."""

    gathered = _ALL

    def gather(self, value: Any, found: list[Any]) -> None:
        found += value


class _Row(_Field):
    """A tuple of fixed length; None stands for a leaf."""

    def __init__(self, inner: tuple[_Field | None, ...]) -> None:
        self.inner = inner

    def gather(self, value: Any, found: list[Any]) -> None:
        for item, field in zip(value, self.inner, strict=True):
            if field is not None:
                field.gather(item, found)

    def rebuilt(self, value: Any, change: Change) -> Any:
        pairs = zip(value, self.inner, strict=True)
        return _same_or_new(value, tuple([i if field is None else field.rebuilt(i, change) for i, field in pairs]))


class _Values(_Field):
    """The values of a mapping."""

    def __init__(self, inner: _Field) -> None:
        self.inner = inner

    def gather(self, value: Any, found: list[Any]) -> None:
        for item in value.values():
            self.inner.gather(item, found)

    def rebuilt(self, value: Any, change: Change) -> Any:
        new = {key: self.inner.rebuilt(item, change) for key, item in value.items()}
        return value if all(new[key] is item for key, item in value.items()) else new


def _same_or_new(old: tuple[Any, ...], new: tuple[Any, ...]) -> tuple[Any, ...]:
    return old if all(map(_is, old, new)) else new


def _is(one: object, other: object) -> bool:
    return one is other


_LEAVES = (str, int, float, bool, bytes, NoneType, Span)


class Tree(Generic[Node]):
    """Trees whose nodes are instances of `kinds`, or of any dataclass if there are none.

    With the operators of plans as kinds, an operator's children are the plans below it, not its expressions.
    """

    def __init__(self, *kinds: type) -> None:
        self._kinds = frozenset(kinds)
        self._fields: dict[type, tuple[tuple[str, int, _Field], ...]] = {}
        self._by_annotation: dict[tuple[str, str], _Field | None] = {}
        # An alternative to nodes in a union, and what a root may be: tuples of nodes, or nothing at all.
        self._maybe = _Maybe(self._is_node)

    # --- single nodes ------------------------------------------------------------------------------------------

    def children(self, node: Node) -> list[Node]:
        """The nodes directly below a node, in the order of its fields."""
        found: list[Node] = []
        known = self._fields.get(type(node))
        for name, kind, field in self._fields_of(type(node)) if known is None else known:
            value = getattr(node, name)
            if value is None:
                continue
            if kind == _ITSELF:  # the two most frequent ones, without a call for each
                found.append(value)
            elif kind == _ALL:
                found += value
            else:
                field.gather(value, found)
        return found

    def with_children(self, node: Node, change: Callable[[Node], Node]) -> Node:
        """The same node over changed children; the same object if none of them changes."""
        updates: dict[str, Any] = {}
        for name, _, field in self._fields_of(type(node)):
            old = getattr(node, name)
            new = field.rebuilt(old, change)
            if new is not old:
                updates[name] = new
        return replace(node, **updates) if updates else node  # type: ignore[type-var]

    # --- whole trees -------------------------------------------------------------------------------------------

    def walk(self, root: Node | Iterable[Node] | None, not_below: tuple[type, ...] = ()) -> Iterator[Node]:
        """The node (or the nodes of a tuple) and all below, parents first; nothing below instances of `not_below`."""
        check_time()
        known = self._fields
        waiting: list[Any] = [root] if type(root) in known else self._roots(root)[::-1]
        while waiting:
            current = waiting.pop()
            yield current
            fields = known.get(type(current))
            if fields is None:
                fields = self._fields_of(type(current))
            if not fields or (not_below and isinstance(current, not_below)):  # a leaf: most nodes are
                continue
            for name, kind, field in reversed(fields):
                value = getattr(current, name)
                if value is None:
                    continue
                if kind == _ITSELF:
                    waiting.append(value)
                elif kind == _ALL:
                    waiting += reversed(value)
                else:
                    below: list[Node] = []
                    field.gather(value, below)
                    waiting += reversed(below)

    def contains(self, root: Node | Iterable[Node] | None, test: Callable[[Node], bool]) -> bool:
        """Whether the test holds for some node."""
        return any(map(test, self.walk(root)))

    def transform(self, root: Node, change: Callable[[Node], Node | None]) -> Node:
        """The tree with `change` applied from the top: what it returns replaces the node, None means look below it."""
        check_time()
        nodes: list[Node] = []
        results: list[Node] = []
        places: list[tuple[int, int]] = []  # for each node: its parent, and its index among the parent's children
        waiting: list[tuple[Node, int, int]] = [(root, -1, 0)]
        while waiting:
            node, parent, slot = waiting.pop()
            replacement = change(node)
            number = len(nodes)
            nodes.append(node)
            places.append((parent, slot))
            if replacement is not None:
                results.append(replacement)
                continue
            results.append(node)
            below = self.children(node)
            for index in range(len(below) - 1, -1, -1):
                waiting.append((below[index], number, index))
        changed: dict[int, dict[int, Node]] = {}
        for number in range(len(nodes) - 1, -1, -1):  # children come after their parents
            if number in changed:
                results[number] = self._with_slots(nodes[number], changed.pop(number))
            if results[number] is not nodes[number]:
                parent, slot = places[number]
                changed.setdefault(parent, {})[slot] = results[number]
        return results[0]

    def bottom_up(self, root: Node, change: Callable[[Node], Node]) -> Node:
        """Every node changed, those below first; a shared node is changed once."""
        changed: dict[int, Node] = {}
        for node in reversed(list(self.walk(root))):
            if id(node) not in changed:
                check_time()
                changed[id(node)] = change(self.with_children(node, lambda child: changed[id(child)]))
        return changed[id(root)]

    def top_down(
        self, root: Node, state: State, step: Callable[[Node, State], tuple[Node, Callable[[Node], State]]]
    ) -> Node:
        """Every node changed, those above first.

        `step` takes a node and what is known above it, and returns its replacement and what is known above its
        children.
        """
        waiting: list[tuple[Node, State]] = [(root, state)]
        stepped: list[Node] = []
        firsts: list[int] = []  # where the children of each begin in `waiting`
        for node, known in waiting:
            check_time()
            replaced, for_child = step(node, known)
            stepped.append(replaced)
            firsts.append(len(waiting))
            waiting += [(child, for_child(child)) for child in self.children(replaced)]
        for number in range(len(stepped) - 1, -1, -1):
            below = iter(range(firsts[number], len(stepped)))
            stepped[number] = self.with_children(stepped[number], lambda _, below=below: stepped[next(below)])  # type: ignore[misc]
        return stepped[0]

    def _with_slots(self, node: Node, slots: Mapping[int, Node]) -> Node:
        numbers = iter(range(sys.maxsize))
        return self.with_children(node, lambda child: slots.get(next(numbers), child))

    def _roots(self, root: Any) -> list[Node]:
        found: list[Node] = []
        waiting = [root]
        while waiting:
            value = waiting.pop()
            if isinstance(value, tuple | list):
                waiting += reversed(value)
            elif self._is_node(value):
                found.append(value)
        return found

    # --- which fields hold nodes -------------------------------------------------------------------------------

    def _is_node(self, value: Any) -> bool:
        return self._is_node_class(type(value))

    def _is_node_class(self, kind: Any) -> bool:
        if self._kinds:
            return kind in self._kinds
        return kind is not Span and hasattr(kind, "__dataclass_fields__")

    def _fields_of(self, kind: type) -> tuple[tuple[str, int, _Field], ...]:
        known = self._fields.get(kind)
        if known is None:
            known = self._fields[kind] = tuple(self._read(kind))
        return known

    def _read(self, kind: Any) -> Iterator[tuple[str, int, _Field]]:
        for field in fields(kind):
            key = kind.__module__, str(field.type)
            if key not in self._by_annotation:
                annotation = field.type
                if isinstance(annotation, str):
                    annotation = eval(annotation, vars(sys.modules[kind.__module__]))
                try:
                    self._by_annotation[key] = self._shape(annotation)
                except TypeError as error:
                    raise TypeError(f"{kind.__qualname__}.{field.name}: {error}") from None
            shape = self._by_annotation[key]
            if shape is not None:
                yield field.name, shape.gathered, shape

    def _shape(self, annotation: Any) -> _Field | None:
        """How an annotation holds nodes; None for a leaf."""
        origin, arguments = get_origin(annotation), get_args(annotation)
        if origin in (Union, UnionType):
            return self._union(arguments)
        if origin is Annotated and OPAQUE in arguments:
            return None
        if origin is tuple:
            if arguments[1:] == (...,):
                inner = self._shape(arguments[0])
                return None if inner is None else _Nodes(inner) if isinstance(inner, _One) else _Several(inner)
            shapes = tuple(map(self._shape, arguments))
            return _Row(shapes) if any(shapes) else None
        if isinstance(origin, type) and issubclass(origin, Mapping) and self._shape(arguments[0]) is None:
            inner = self._shape(arguments[1])
            return None if inner is None else _Values(inner)
        if origin is frozenset and self._shape(arguments[0]) is None:
            return None
        if origin is Literal or annotation in _LEAVES:
            return None
        if isinstance(annotation, type):
            if self._is_node_class(annotation):
                return _One()
            if issubclass(annotation, Enum) or is_dataclass(annotation):  # a dataclass of another kind
                return None
        raise TypeError(f"cannot tell whether {annotation} holds nodes")

    def _union(self, alternatives: tuple[Any, ...]) -> _Field | None:
        shapes = [self._shape(alternative) for alternative in alternatives if alternative is not NoneType]
        holding = [shape for shape in shapes if shape is not None]
        if not holding:
            return None
        inner: _Field
        if all(isinstance(shape, _One) for shape in holding):
            if len(holding) < len(shapes):
                return self._maybe
            inner = holding[0]
        elif len(shapes) == 1:
            inner = holding[0]
        else:
            raise TypeError(f"cannot tell whether {' | '.join(map(str, alternatives))} holds nodes")
        return _Optional(inner) if NoneType in alternatives else inner


_SYNTAX: Tree[Any] = Tree()
children = _SYNTAX.children
with_children = _SYNTAX.with_children
walk = _SYNTAX.walk
contains = _SYNTAX.contains
transform = _SYNTAX.transform
