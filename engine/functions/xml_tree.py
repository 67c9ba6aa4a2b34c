"""XML as a tree, and its elements as the maps that apoc.load.xml and apoc.xml.parse return.

A document with a DOCTYPE is refused, as by APOC: without one there are no entities to expand and nothing to fetch.
Nothing here recurses, so that a document may be as deep as it is long.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeAlias
from xml.parsers import expat

from hoplite.engine.memory import refuse_text
from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass

_PIECE = 1 << 16
_NODE_BYTES = 400  # that an element or a text takes, about
_XML_SPACE = "http://www.w3.org/XML/1998/namespace"
_JAVA_TRIMMED = "".join(map(chr, range(33)))


@dataclass(slots=True, eq=False)
class Element:
    """An element; `name` is without its prefix, `attributes` have the names that are written."""

    name: str
    written: str
    space: str
    attributes: dict[str, str]
    parent: Element | Document
    order: int
    children: list[Element | Text]


@dataclass(slots=True, eq=False)
class Text:
    """Characters between two tags, comments or instructions, or a section of CDATA."""

    content: str
    parent: Element
    order: int


@dataclass(slots=True, eq=False)
class Attribute:
    """An attribute, as an XPath finds it."""

    written: str
    content: str
    parent: Element
    place: int

    @property
    def name(self) -> str:
        """Its name without a prefix."""
        return self.written.rpartition(":")[2]


@dataclass(slots=True, eq=False)
class Document:
    """The node above the outermost element."""

    children: list[Element | Text]


Node: TypeAlias = Document | Element | Text | Attribute
Fail: TypeAlias = Callable[[str, str], CypherError]


class _Reader:
    """Builds the tree from what the parser reports."""

    def __init__(self, fail: Fail) -> None:
        self.document = Document([])
        self._fail = fail
        self._open: list[Element] = []
        self._spaces: list[dict[str, str]] = [{"": "", "xml": _XML_SPACE}]
        self._pieces: list[str] = []
        self._count = 0
        self.parser = expat.ParserCreate()
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._pieces.append
        self.parser.CommentHandler = self._break
        self.parser.ProcessingInstructionHandler = self._break
        self.parser.StartCdataSectionHandler = self._break
        self.parser.EndCdataSectionHandler = self._break

    def _next(self) -> int:
        self._count += 1
        return self._count

    def _break(self, *_: str) -> None:
        if self._pieces:
            inner = self._open[-1]
            inner.children.append(Text("".join(self._pieces), inner, self._next()))
            self._pieces.clear()

    def _doctype(self, *_: Any) -> None:
        raise self._fail("java.lang.RuntimeException", "XML documents with a DOCTYPE are not allowed.")

    def _start(self, written: str, attributes: dict[str, str]) -> None:
        self._break()
        spaces = self._spaces[-1]
        declared = {key: value for key, value in attributes.items() if key == "xmlns" or key.startswith("xmlns:")}
        if declared:
            spaces = spaces | {key[6:]: value for key, value in declared.items()}
        prefix, _, name = written.rpartition(":")
        if prefix not in spaces:
            message = f'The prefix "{prefix}" for element "{written}" is not bound.'
            raise self._fail("org.xml.sax.SAXParseException", message)
        parent = self._open[-1] if self._open else self.document
        element = Element(name, written, spaces[prefix], attributes, parent, self._next(), [])
        parent.children.append(element)
        self._open.append(element)
        self._spaces.append(spaces)

    def _end(self, _: str) -> None:
        self._break()
        self._open.pop()
        self._spaces.pop()

    def complaint(self, code: int) -> str:
        """What Java says of an error that has this number."""
        return complaint(code, self._open[-1].written if self._open else None, bool(self.document.children))


def complaint(code: int, inner: str | None, has_begun: bool) -> str:
    """What Java says of an error that has this number, inside an element of this name."""
    match expat.ErrorString(code):
        case "no element found" | "unclosed token" if has_begun:
            return "XML document structures must start and end within the same entity."
        case "no element found":
            return "Premature end of file."
        case "mismatched tag" if inner is not None:
            return f'The element type "{inner}" must be terminated by the matching end-tag "</{inner}>".'
        case "syntax error" if not has_begun:
            return "Content is not allowed in prolog."
        case "junk after document element":
            return "The markup in the document following the root element must be well-formed."
        case other:
            return f"{(other or '').capitalize()}."


def parse_all(parser: expat.XMLParserType, content: str | bytes, check_time: Callable[[], None]) -> None:
    """Give a document to a parser, piece by piece. Bytes are in the encoding that the document declares."""
    opening = content.count("<") if isinstance(content, str) else content.count(b"<")
    refuse_text(len(content) + _NODE_BYTES * opening)
    for start in range(0, len(content), _PIECE):
        check_time()
        parser.Parse(content[start : start + _PIECE], False)
    parser.Parse(b"", True)


def read_xml(fail: Fail, content: str | bytes, check_time: Callable[[], None]) -> Document:
    """The tree of a document. `fail` makes an error from a Java class and a message."""
    reader = _Reader(fail)
    try:
        parse_all(reader.parser, content, check_time)
    except expat.ExpatError as problem:
        # Java shows the class of this error with its place: SAXParseException; lineNumber: 1; columnNumber: 2; ...
        shown = f"org.xml.sax.SAXParseException; lineNumber: {problem.lineno}; columnNumber"
        raise fail(shown, f"{problem.offset + 1}; {reader.complaint(problem.code)}") from None
    return reader.document


def elements_of(document: Document) -> Iterator[Element]:
    """All elements, each before those inside it."""
    waiting = [child for child in reversed(document.children) if isinstance(child, Element)]
    while waiting:
        element = waiting.pop()
        yield element
        waiting += [child for child in reversed(element.children) if isinstance(child, Element)]


# --- elements as maps ------------------------------------------------------------------------------------------------


def _tidied(text: str) -> str:
    """The lines of a text, trimmed, in one line."""
    lines = [line.strip(_JAVA_TRIMMED) for line in text.split("\n") if line]
    return " ".join(lines).strip(_JAVA_TRIMMED)


def _text_of(children: list[Element | Text]) -> Any:
    """The text between the children: None, one text, or a list of the last and of everything before it."""
    found: Any = None
    for child in children:
        if isinstance(child, Text) and (text := _tidied(child.content)) and not text.isspace():
            shown = f"[{', '.join(found)}]" if isinstance(found, list) else found
            found = text if found is None else [shown, text]
    return found


def _own_map(element: Element, inner: list[dict[str, Any]], simple: bool) -> dict[str, Any]:
    found: dict[str, Any] = {"_type": element.name, **element.attributes}
    text = _text_of(element.children)
    if text is not None and not (inner and isinstance(text, list)):
        found["_text"] = text
    if inner:
        mixed = text if isinstance(text, list) else []
        found[f"_{element.name}" if simple else "_children"] = [*inner, *mixed]
    return found


def as_map(node: Node, simple: bool, check_time: Callable[[], None]) -> dict[str, Any] | None:
    """A node as a map; None for what has none. `simple` names the list of children after its element."""
    match node:
        case Text():
            return None
        case Attribute():
            text = _tidied(node.content)
            return {"_type": node.name, **({"_text": text} if text else {})}
        case Document():
            return next((as_map(child, simple, check_time) for child in node.children), None)
    inner: dict[Element, list[dict[str, Any]]] = {}
    for element in _innermost_first(node):
        check_time()
        own = _own_map(element, inner.pop(element, []), simple)
        if element is node:
            return own
        assert isinstance(element.parent, Element)
        inner.setdefault(element.parent, []).append(own)
    return None


def _innermost_first(root: Element) -> Iterator[Element]:
    """Every element below and including `root`, after those inside it, in the order of their ends."""
    waiting: list[tuple[Element, bool]] = [(root, False)]
    while waiting:
        element, is_done = waiting.pop()
        if is_done:
            yield element
            continue
        waiting.append((element, True))
        waiting += [(child, False) for child in reversed(element.children) if isinstance(child, Element)]
