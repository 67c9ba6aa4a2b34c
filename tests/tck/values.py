"""The TCK's way to write values: `parse` reads a literal, `render` writes one canonical text for equal values.

Both what a table expects and what an engine returns (the driver's types) go through `render`, so comparing is comparing
texts: 1 is not 1.0, map keys and labels are sorted, temporal values and points are quoted as the TCK prints them.
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from typing import Any

from neo4j.graph import Node, Path, Relationship
from neo4j.spatial import Point
from neo4j.time import Date, DateTime, Duration, Time

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>[+-]?(?:\d+\.\d+|\.\d+|\d+)(?:[eE][+-]?\d+)?(?![\w.]))
    | (?P<string>'(?:\\.|[^'\\])*')
    | (?P<quoted>`[^`]*`)
    | (?P<name>-?[^\W\d]\w*)
    | (?P<punctuation><-|->|[()\[\]{}<>:,-])
    )""",
    re.VERBOSE,
)
_CONSTANTS = {
    "null": None,
    "true": True,
    "false": False,
    "NaN": math.nan,
    "Infinity": math.inf,
    "Inf": math.inf,
    "-Infinity": -math.inf,
    "-Inf": -math.inf,
}


class BadLiteral(Exception):
    """A cell of a table that is no value literal."""


@dataclass(frozen=True, slots=True)
class NodeLiteral:
    labels: tuple[str, ...]
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class RelationshipLiteral:
    type: str
    properties: dict[str, Any]


@dataclass(frozen=True, slots=True)
class PathLiteral:
    """Nodes with, between two of them, a relationship and whether it points forward."""

    nodes: tuple[NodeLiteral, ...]
    hops: tuple[tuple[RelationshipLiteral, bool], ...]


def parse(text: str) -> Any:
    """`parse("{a: [1, 'x']}")` is `{"a": [1, "x"]}`."""
    parser = _Parser(text)
    value = parser.value()
    parser.expect("")
    return value


def render(value: Any, *, bags: bool = False) -> str:
    """The canonical text of a literal or of an engine's value; with `bags`, the order inside lists does not count."""

    def go(value: Any) -> str:
        match value:
            case None:
                return "null"
            case bool():
                return str(value).lower()
            case int():
                return str(value)
            case float():
                return _float(value)
            case str():
                return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
            case NodeLiteral() | Node():
                labels = "".join(f":{label}" for label in sorted(value.labels))
                return f"({labels}{properties(dict(_properties(value)))})"
            case RelationshipLiteral() | Relationship():
                return f"[:{value.type}{properties(dict(_properties(value)))}]"
            case PathLiteral(nodes=nodes, hops=hops):
                return path(nodes, hops)
            case Path():
                forward = [hop.start_node == node for hop, node in zip(value.relationships, value.nodes, strict=False)]
                return path(value.nodes, tuple(zip(value.relationships, forward, strict=True)))
            case Point() | Duration() | DateTime() | Date() | Time():
                return f"'{_text(value)}'"
            case list():
                items = [go(item) for item in value]
                return f"[{', '.join(sorted(items) if bags else items)}]"
            case dict():
                return "{" + ", ".join(f"{key}: {go(value[key])}" for key in sorted(value)) + "}"
            case _:
                raise TypeError(f"an engine must not return a {type(value).__module__}.{type(value).__qualname__}")

    def properties(values: dict[str, Any]) -> str:
        return " " + go(values) if values else ""

    def path(nodes: tuple[Any, ...], hops: tuple[tuple[Any, bool], ...]) -> str:
        steps = [
            f"-{go(hop)}->{go(node)}" if forward else f"<-{go(hop)}-{go(node)}"
            for (hop, forward), node in zip(hops, nodes[1:], strict=True)
        ]
        return f"<{go(nodes[0])}{''.join(steps)}>"

    return go(value)


def _float(value: float) -> str:
    if math.isfinite(value):
        return repr(value + 0.0)  # -0.0 becomes 0.0: the TCK does not tell them apart
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def _properties(entity: NodeLiteral | RelationshipLiteral | Node | Relationship) -> Any:
    return entity.properties if isinstance(entity, NodeLiteral | RelationshipLiteral) else entity.items()


class _Parser:
    """Recursive descent over the tokens of one literal."""

    def __init__(self, text: str) -> None:
        self.text, self.position = text, 0
        self.kind, self.token = "", ""
        self.advance()

    def advance(self) -> str:
        """Step to the next token; the one that was current is returned."""
        last = self.token
        found = _TOKEN.match(self.text, self.position)
        if found:
            self.kind, self.token, self.position = str(found.lastgroup), found[found.lastgroup or 0], found.end()
        elif self.text[self.position :].strip():
            raise BadLiteral(f"{self.text!r} at {self.position}")
        else:
            self.kind, self.token = "end", ""
        return last

    def expect(self, token: str) -> None:
        if self.token != token:
            raise BadLiteral(f"{self.text!r}: {self.token!r} where {token or 'the end'!r} was expected")
        self.advance()

    def accept(self, token: str) -> bool:
        if self.kind == "punctuation" and self.token == token:
            self.advance()
            return True
        return False

    def value(self) -> Any:
        if self.kind == "number":
            token = self.advance()
            return int(token) if re.fullmatch(r"[+-]?\d+", token) else float(token)
        if self.kind == "string":
            return re.sub(r"\\([\\'])", r"\1", self.advance()[1:-1])
        if self.kind == "name" and self.token in _CONSTANTS:
            return _CONSTANTS[self.advance()]
        if self.token == "{":
            return self.map()
        if self.token == "(":
            return self.node()
        if self.accept("<"):
            return self.path()
        if self.accept("["):
            return self.relationship() if self.token == ":" else self.list()
        raise BadLiteral(f"{self.text!r}: {self.token!r}")

    def name(self) -> str:
        if self.kind not in ("name", "quoted"):
            raise BadLiteral(f"{self.text!r}: {self.token!r} is no name")
        return self.advance().strip("`")

    def list(self) -> list[Any]:
        items: list[Any] = []
        while not self.accept("]"):
            if items:
                self.expect(",")
            items.append(self.value())
        return items

    def map(self) -> dict[str, Any]:
        items: dict[str, Any] = {}
        self.expect("{")
        while not self.accept("}"):
            if items:
                self.expect(",")
            key = self.name()
            self.expect(":")
            items[key] = self.value()
        return items

    def properties(self) -> dict[str, Any]:
        return self.map() if self.token == "{" else {}

    def node(self) -> NodeLiteral:
        self.expect("(")
        labels: tuple[str, ...] = ()
        while self.accept(":"):
            labels += (self.name(),)
        node = NodeLiteral(labels, self.properties())
        self.expect(")")
        return node

    def relationship(self) -> RelationshipLiteral:
        self.expect(":")
        relationship = RelationshipLiteral(self.name(), self.properties())
        self.expect("]")
        return relationship

    def path(self) -> PathLiteral:
        nodes, hops = [self.node()], []
        while not self.accept(">"):
            backward = self.accept("<-")
            if not backward:
                self.expect("-")
            self.expect("[")
            hops.append((self.relationship(), not backward))
            self.expect("-" if backward else "->")
            nodes.append(self.node())
        return PathLiteral(tuple(nodes), tuple(hops))


def _text(value: Any) -> str:
    match value:
        case Point():
            axes = ("longitude", "latitude", "height") if value.srid in (4326, 4979) else ("x", "y", "z")
            coordinates = ", ".join(f"{axis}: {number}" for axis, number in zip(axes, value, strict=False))
            return f"point({{{coordinates}, srid: {value.srid}}})"
        case Duration():
            return _duration(value)
        case DateTime():
            return f"{value.year:04}-{value.month:02}-{value.day:02}T{_clock(value)}{_zone(value)}"
        case Date():
            return f"{value.year:04}-{value.month:02}-{value.day:02}"
        case _:
            return _clock(value) + _zone(value)


def _clock(value: Time | DateTime) -> str:
    """Seconds only where not zero, fractions in groups of three digits: as java.time prints them."""
    text = f"{value.hour:02}:{value.minute:02}"
    if value.second or value.nanosecond:
        text += f":{value.second:02}"
    if value.nanosecond:
        text += "." + re.sub(r"(000)+$", "", f"{value.nanosecond:09}")
    return text


def _zone(value: Time | DateTime) -> str:
    if value.tzinfo is None:
        return ""
    try:
        offset = value.utcoffset()
    except ValueError:  # the driver's own values refuse an offset with seconds; its tzinfo has it
        offset = value.tzinfo.utcoffset(None)
    assert offset is not None
    seconds = round(offset.total_seconds())
    hours, rest = divmod(abs(seconds), 3600)
    text = f"{'-' if seconds < 0 else '+'}{hours:02}:{rest // 60:02}" + (f":{rest % 60:02}" if rest % 60 else "")
    name = getattr(value.tzinfo, "key", None) or getattr(value.tzinfo, "zone", None)
    return (text if seconds else "Z") + (f"[{name}]" if name and name != "UTC" else "")


def _duration(value: Duration) -> str:
    years, months = int(value.months / 12), int(math.fmod(value.months, 12))
    nanoseconds = value.seconds * 1_000_000_000 + value.nanoseconds
    sign = "-" if nanoseconds < 0 else ""
    seconds, fraction = divmod(abs(nanoseconds), 1_000_000_000)
    hours, minutes, seconds = seconds // 3600, seconds // 60 % 60, seconds % 60
    date = "".join(f"{number}{unit}" for number, unit in ((years, "Y"), (months, "M"), (value.days, "D")) if number)
    time = "".join(f"{sign}{number}{unit}" for number, unit in ((hours, "H"), (minutes, "M")) if number)
    if seconds or fraction:
        time += f"{sign}{seconds}" + (f".{fraction:09}".rstrip("0") if fraction else "") + "S"
    return f"P{date}T{time}" if time else f"P{date}" if date else "PT0S"
