"""XPath 1.0 over `xml_tree`: the nodes that an expression finds, in the order of the document.

    Expression   operators, from `or` to `|`, over paths, literals, numbers and calls
    Path         /step/step or //step, a step being axis::test[predicate]...

Values are lists of nodes, texts, floats and Booleans, converted as XPath does. Variables and the axes `following`,
`preceding` and `namespace` are missing. Prefixes in a path match nothing, for nobody has declared them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeAlias

from hoplite.engine.functions.xml_tree import Attribute, Document, Element, Node, Text
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass
from hoplite.values.floats import float_text

_TOKEN = lazy_pattern(
    r"\s*(?:(?P<number>\d+(?:\.\d*)?|\.\d+)|(?P<text>\"[^\"]*\"|'[^']*')"
    r"|(?P<name>[^\W\d][\w.-]*(?::(?!:)(?:[^\W\d][\w.-]*|\*))?)|(?P<sign>::|//|\.\.|!=|<=|>=|[][()/@,|+*=<>.$-]))"
)
_DEEPEST = 50
_PRECEDENCE = {"or": 0, "and": 1} | {
    sign: level for level, signs in enumerate(("= !=", "< <= > >=", "+ -", "* div mod"), 2) for sign in signs.split()
}
_KINDS = ("text", "node", "comment", "processing-instruction")


class XPathError(Exception):
    """An expression that is wrong."""


class NotNodes(XPathError):
    """An expression whose value is not a list of nodes."""


@dataclass(frozen=True, slots=True)
class Focus:
    """Where an expression is evaluated."""

    node: Node
    position: int
    size: int


Evaluate: TypeAlias = Callable[[Focus], Any]


def found_nodes(path: str, document: Document, check_time: Callable[[], None]) -> list[Node]:
    """The nodes that a path finds."""
    evaluate = _Parser(path, check_time).whole()
    found = evaluate(Focus(document, 1, 1))
    if not isinstance(found, list):
        kind = "#BOOLEAN" if isinstance(found, bool) else "#NUMBER" if isinstance(found, float) else "#STRING"
        raise NotNodes(f"Can not convert {kind} to a NodeList!")
    return found


# --- nodes -----------------------------------------------------------------------------------------------------------


def _order(node: Node) -> tuple[int, int]:
    match node:
        case Document():
            return 0, 0
        case Attribute():
            return node.parent.order, 1 + node.place
        case _:
            return node.order, 0


def _sorted(nodes: Iterable[Node]) -> list[Node]:
    """Each node once, in the order of the document. An attribute is made anew for each step that finds it."""
    return list({_order(node): node for node in sorted(nodes, key=_order)}.values())


def _attributes(node: Node) -> list[Node]:
    if not isinstance(node, Element):
        return []
    shown = [entry for entry in node.attributes.items() if entry[0].partition(":")[0] != "xmlns"]
    return [Attribute(name, value, node, place) for place, (name, value) in enumerate(shown)]


def _children(node: Node) -> list[Node]:
    return list(node.children) if isinstance(node, Document | Element) else []


def _parent(node: Node) -> list[Node]:
    return [] if isinstance(node, Document) else [node.parent]


def _below(node: Node) -> Iterator[Node]:
    waiting = _children(node)[::-1]
    while waiting:
        inner = waiting.pop()
        yield inner
        waiting += _children(inner)[::-1]


def _above(node: Node) -> Iterator[Node]:
    while outer := _parent(node):
        node = outer[0]
        yield node


def _siblings(node: Node, backward: bool) -> list[Node]:
    if isinstance(node, Document | Attribute):
        return []
    beside: list[Node] = list(node.parent.children)
    place = next(index for index, one in enumerate(beside) if one is node)
    return beside[:place][::-1] if backward else beside[place + 1 :]


_AXES: dict[str, Callable[[Node], Iterable[Node]]] = {
    "child": _children,
    "attribute": _attributes,
    "self": lambda node: [node],
    "parent": _parent,
    "descendant": _below,
    "descendant-or-self": lambda node: [node, *_below(node)],
    "ancestor": _above,
    "ancestor-or-self": lambda node: [node, *_above(node)],
    "following-sibling": lambda node: _siblings(node, backward=False),
    "preceding-sibling": lambda node: _siblings(node, backward=True),
}


def _is_called(name: str, axis: str) -> Callable[[Node], bool]:
    def test(node: Node) -> bool:
        if axis == "attribute":
            return isinstance(node, Attribute) and name in ("*", node.written)
        return isinstance(node, Element) and (name == "*" or (name == node.name and not node.space))

    return test


def _nodes(value: Any) -> list[Node]:
    if not isinstance(value, list):
        raise XPathError("A list of nodes was expected")
    return value


# --- values ----------------------------------------------------------------------------------------------------------


def _content(node: Node) -> str:
    if isinstance(node, Text | Attribute):
        return node.content
    return "".join(inner.content for inner in _below(node) if isinstance(inner, Text))


def _text(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case float():
            if math.isnan(value) or math.isinf(value):
                return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"
            return str(int(value)) if value.is_integer() else float_text(value)
        case list():
            return _content(value[0]) if value else ""
        case _:
            return str(value)


def _number(value: Any) -> float:
    if isinstance(value, bool | float):
        return float(value)
    try:
        return float(_text(value).strip() or "nan")
    except ValueError:
        return math.nan


def _truth(value: Any) -> bool:
    return not math.isnan(value) and value != 0 if isinstance(value, float) else bool(value)


_COMPARED: dict[str, Callable[[Any, Any], bool]] = {
    "=": lambda left, right: left == right,
    "!=": lambda left, right: left != right,
    "<": lambda left, right: left < right,
    "<=": lambda left, right: left <= right,
    ">": lambda left, right: left > right,
    ">=": lambda left, right: left >= right,
}


def _compare(sign: str, left: Any, right: Any) -> bool:
    """A list of nodes is compared by any of its nodes."""
    if isinstance(left, bool) or isinstance(right, bool):
        return _COMPARED[sign](_truth(left), _truth(right))
    lefts = [_content(node) for node in left] if isinstance(left, list) else [left]
    rights = [_content(node) for node in right] if isinstance(right, list) else [right]
    as_numbers = sign not in ("=", "!=") or isinstance(left, float) or isinstance(right, float)
    read = _number if as_numbers else _text
    others = [read(other) for other in rights]
    return any(_COMPARED[sign](read(one), other) for one in lefts for other in others)


def _divide(left: float, right: float) -> float:
    if right:
        return left / right
    return math.nan if left == 0 or math.isnan(left) else math.copysign(math.inf, left) * math.copysign(1.0, right)


_COMPUTED: dict[str, Callable[[float, float], float]] = {
    "+": lambda left, right: left + right,
    "-": lambda left, right: left - right,
    "*": lambda left, right: left * right,
    "div": _divide,
    "mod": lambda left, right: math.fmod(left, right) if right and math.isfinite(left) else math.nan,
}


def _substring(text: str, start: float, length: float = math.inf) -> str:
    first = math.floor(start + 0.5) if math.isfinite(start) else start
    end = first + (math.floor(length + 0.5) if math.isfinite(length) else length)
    return "".join(letter for place, letter in enumerate(text, 1) if first <= place < end)


def _translate(text: str, given: str, wanted: str) -> str:
    table: dict[int, str | None] = {}
    for place, letter in enumerate(given):
        table.setdefault(ord(letter), wanted[place] if place < len(wanted) else None)
    return text.translate(table)


def _names(read: Callable[[Element | Attribute], str]) -> Callable[[list[Node]], str]:
    def name(nodes: list[Node]) -> str:
        return read(nodes[0]) if nodes and isinstance(nodes[0], Element | Attribute) else ""

    return name


def _rounded(value: float) -> float:
    return float(math.floor(value + 0.5)) if math.isfinite(value) else value


# By name: how many arguments at least and at most, how each is converted, and the function. Missing arguments of the
# first group are the node itself.
_OF_NODE: dict[str, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    "name": (_nodes, _names(lambda node: node.written)),
    "local-name": (_nodes, _names(lambda node: node.name)),
    "namespace-uri": (_nodes, _names(lambda node: node.space if isinstance(node, Element) else "")),
    "string": (_text, lambda text: text),
    "string-length": (_text, lambda text: float(len(text))),
    "normalize-space": (_text, lambda text: " ".join(text.split())),
    "number": (_number, lambda number: number),
}
_FUNCTIONS: dict[str, tuple[int, int, Callable[[Any], Any], Callable[..., Any]]] = {
    "true": (0, 0, _text, lambda: True),
    "false": (0, 0, _text, lambda: False),
    "not": (1, 1, _truth, lambda truth: not truth),
    "boolean": (1, 1, _truth, lambda truth: truth),
    "count": (1, 1, _nodes, lambda nodes: float(len(nodes))),
    "sum": (1, 1, _nodes, lambda nodes: math.fsum(_number([node]) for node in nodes)),
    "floor": (1, 1, _number, lambda value: float(math.floor(value)) if math.isfinite(value) else value),
    "ceiling": (1, 1, _number, lambda value: float(math.ceil(value)) if math.isfinite(value) else value),
    "round": (1, 1, _number, _rounded),
    "concat": (2, 1000, _text, lambda *texts: "".join(texts)),
    "starts-with": (2, 2, _text, str.startswith),
    "contains": (2, 2, _text, str.__contains__),
    "substring-before": (2, 2, _text, lambda text, part: text.partition(part)[0] if part in text else ""),
    "substring-after": (2, 2, _text, lambda text, part: text.partition(part)[2]),
    "translate": (3, 3, _text, _translate),
}


# --- expressions -----------------------------------------------------------------------------------------------------


def _tokens(path: str) -> list[tuple[str, str]]:
    found, at, end = [], 0, len(path.rstrip())
    while at < end:
        match = _TOKEN.match(path, at)
        if match is None or match.lastgroup is None:
            raise XPathError(f"Extra illegal tokens: '{path[at:].strip()[:1]}'")
        found.append((match.lastgroup, match[match.lastgroup]))
        at = match.end()
    return found


class _Parser:
    """Makes a function of an expression."""

    def __init__(self, path: str, check_time: Callable[[], None]) -> None:
        self._tokens = _tokens(path)
        self._at = 0
        self._depth = 0
        self._check_time = check_time

    def whole(self) -> Evaluate:
        evaluate = self._operators(0)
        if self._at < len(self._tokens):
            raise XPathError(f"Extra illegal tokens: '{self._tokens[self._at][1]}'")
        return evaluate

    def _peek(self, further: int = 0) -> tuple[str, str]:
        place = self._at + further
        return self._tokens[place] if place < len(self._tokens) else ("end", "")

    def _take(self, *signs: str) -> str | None:
        kind, text = self._peek()
        if kind in ("sign", "name") and text in signs:
            self._at += 1
            return text
        return None

    def _need(self, sign: str) -> None:
        if self._take(sign) is None:
            raise XPathError(f"Expected {sign}, but found: {self._peek()[1]}")

    def _operators(self, least: int) -> Evaluate:
        """Operators that bind at least this tightly, and what they combine."""
        left = self._negated()
        while True:
            kind, sign = self._peek()
            level = _PRECEDENCE.get(sign, -1) if kind in ("sign", "name") else -1
            if level < least:
                return left
            self._at += 1
            left = self._binary(sign, left, self._operators(level + 1))

    def _binary(self, sign: str, left: Evaluate, right: Evaluate) -> Evaluate:
        if sign == "or":
            return lambda focus: _truth(left(focus)) or _truth(right(focus))
        if sign == "and":
            return lambda focus: _truth(left(focus)) and _truth(right(focus))
        if sign in _COMPARED:
            return lambda focus: _compare(sign, left(focus), right(focus))
        return lambda focus: _COMPUTED[sign](_number(left(focus)), _number(right(focus)))

    def _negated(self) -> Evaluate:
        negative = False
        while self._take("-") is not None:
            negative = not negative
        first = self._path()
        if self._peek() == ("sign", "|"):
            parts = [first]
            while self._take("|") is not None:
                parts.append(self._path())
            return lambda focus: _sorted(node for part in parts for node in _nodes(part(focus)))
        return (lambda focus: -_number(first(focus))) if negative else first

    def _path(self) -> Evaluate:
        kind, text = self._peek()
        if kind in ("number", "text") or text == "(" or (kind == "name" and self._is_call()):
            start = self._primary()
            while self._peek() == ("sign", "["):
                start = self._filtered(start, self._predicate())
        elif kind == "sign" and text in ("/", "//"):
            start = _root
            if text == "/" and not self._is_step(1):
                self._at += 1
                if self._peek()[0] != "end" and self._peek()[1] not in ("|", ")", "]"):
                    raise XPathError("A location step was expected following the '/' or '//' token.")
                return start
        else:
            start = self._steps(lambda focus: [focus.node])
        while (sign := self._take("/", "//")) is not None:
            if not self._is_step(0):
                raise XPathError("A location step was expected following the '/' or '//' token.")
            if sign == "//":
                start = self._step(start, "descendant-or-self", lambda node: True, [])
            start = self._steps(start)
        return start

    def _is_call(self) -> bool:
        return self._peek(1) == ("sign", "(") and self._peek()[1] not in _KINDS

    def _is_step(self, further: int) -> bool:
        kind, text = self._peek(further)
        return kind == "name" or (kind == "sign" and text in (".", "..", "@", "*"))

    def _primary(self) -> Evaluate:
        kind, text = self._peek()
        self._at += 1
        if kind == "number":
            return lambda focus: float(text)
        if kind == "text":
            return lambda focus: text[1:-1]
        if kind == "sign":
            self._deeper()
            inner = self._operators(0)
            self._need(")")
            self._depth -= 1
            return inner
        return self._call(text)

    def _deeper(self) -> None:
        self._depth += 1
        if self._depth > _DEEPEST:
            raise XPathError(f"The expression is nested more than {_DEEPEST} levels deep")

    def _call(self, name: str) -> Evaluate:
        self._need("(")
        self._deeper()
        arguments: list[Evaluate] = []
        while self._take(")") is None:
            if arguments:
                self._need(",")
            arguments.append(self._operators(0))
        self._depth -= 1
        if name in ("position", "last") and not arguments:
            return lambda focus: float(focus.position if name == "position" else focus.size)
        if name in _OF_NODE and len(arguments) < 2:
            convert, own = _OF_NODE[name]
            given = arguments[0] if arguments else lambda focus: [focus.node]
            return lambda focus: own(convert(given(focus)))
        if name == "substring" and len(arguments) in (2, 3):
            text, *numbers = arguments
            return lambda focus: _substring(_text(text(focus)), *(_number(one(focus)) for one in numbers))
        least, most, convert, function = _FUNCTIONS.get(name, (1, 0, _text, _text))
        if not least <= len(arguments) <= most:
            raise XPathError(f"Could not find function: {name}")
        return lambda focus: function(*(convert(argument(focus)) for argument in arguments))

    def _steps(self, start: Evaluate) -> Evaluate:
        """One step behind what was found so far."""
        kind, text = self._peek()
        if kind == "end":
            raise XPathError("A location path was expected, but the end of the XPath expression was found instead.")
        if not self._is_step(0):
            raise XPathError(f"A location path was expected, but the following token was encountered:  {text}")
        self._at += 1
        if text in (".", "..") and kind == "sign":
            return self._step(start, "self" if text == "." else "parent", lambda node: True, [])
        axis = "child"
        if text == "@":
            axis = "attribute"
        elif self._peek() == ("sign", "::"):
            axis = text
            self._at += 1
        else:
            self._at -= 1
        if axis not in _AXES:
            raise XPathError(f"illegal axis name: {axis}")
        test = self._node_test(axis)
        predicates = []
        while self._peek() == ("sign", "["):
            predicates.append(self._predicate())
        return self._step(start, axis, test, predicates)

    def _node_test(self, axis: str) -> Callable[[Node], bool]:
        kind, text = self._peek()
        if kind != "name" and text != "*":
            raise XPathError(f"Expected a node test, but found: {text}")
        self._at += 1
        if text in _KINDS and self._take("(") is not None:
            if text == "processing-instruction" and self._peek()[0] == "text":
                self._at += 1
            self._need(")")
            return lambda node: text == "node" or (text == "text" and isinstance(node, Text))
        return _is_called(text, axis)

    def _predicate(self) -> Evaluate:
        self._need("[")
        self._deeper()
        inner = self._operators(0)
        self._need("]")
        self._depth -= 1
        return inner

    def _step(self, start: Evaluate, axis: str, test: Callable[[Node], bool], predicates: list[Evaluate]) -> Evaluate:
        def evaluate(focus: Focus) -> list[Node]:
            found: list[Node] = []
            for node in _nodes(start(focus)):
                self._check_time()
                reached = [other for other in _AXES[axis](node) if test(other)]
                for predicate in predicates:
                    reached = self._kept(reached, predicate)
                found += reached
            return _sorted(found)

        return evaluate

    def _filtered(self, start: Evaluate, predicate: Evaluate) -> Evaluate:
        return lambda focus: self._kept(_nodes(start(focus)), predicate)

    def _kept(self, nodes: list[Node], predicate: Evaluate) -> list[Node]:
        kept = []
        for position, node in enumerate(nodes, 1):
            self._check_time()
            value = predicate(Focus(node, position, len(nodes)))
            if value == position if isinstance(value, float) else _truth(value):
                kept.append(node)
        return kept


def _root(focus: Focus) -> list[Node]:
    node = focus.node
    return [node if isinstance(node, Document) else [*_above(node)][-1]]
