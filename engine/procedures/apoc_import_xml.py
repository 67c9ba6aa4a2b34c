"""apoc.import.xml: a document as a graph of its tags, words and instructions, in their order."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any
from xml.parsers import expat

from hoplite.engine.context import Execution
from hoplite.engine.expressions.regex import finder
from hoplite.engine.functions.xml_tree import complaint, parse_all
from hoplite.engine.guard import Stopped
from hoplite.engine.procedures.apoc_import import bytes_of_file
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import CypherError, UnsupportedCypher, transaction_timed_out
from hoplite.lazy_dataclass import dataclass
from hoplite.values.entities import NodeRef

_PROCEDURE = "apoc.import.xml"
_OLD = "createNextWordRelationships"
_JAVA_NAMES = {bool: "Boolean", str: "String", dict: "Map"}


def _fail(java_class: str, message: str) -> CypherError:
    return call_failed(_PROCEDURE, java_class, message)


@dataclass(frozen=True, slots=True)
class _Settings:
    """How texts become nodes."""

    connects: bool
    trims_lines: bool
    delimiter: str
    label: str
    type: str
    texts_of_tags: Mapping[str, Any]

    @staticmethod
    def of(config: Mapping[str, Any]) -> _Settings:
        """The settings of a configuration: a delimiter, a label or a type also asks for connections."""
        if _OLD in config:
            message = f"usage of `{_OLD}` is no longer allowed. Use `{{relType:'NEXT_WORD', label:'XmlWord'}}` instead."
            raise _fail("apoc.generate.config.InvalidConfigException", message)
        connects = _given(config, "connectCharacters", bool, False)
        asked = any(config.get(name) is not None for name in ("delimiter", "label", "relType"))
        return _Settings(
            connects or asked,
            _given(config, "filterLeadingWhitespace", bool, False),
            _given(config, "delimiter", str, r"\s"),
            _given(config, "label", str, "XmlCharacters"),
            _given(config, "relType", str, "NE"),
            _given(config, "charactersForTag", dict, {}),
        )


def _given(config: Mapping[str, Any], name: str, kind: type, default: Any) -> Any:
    value = config.get(name)
    if value is None:
        return default
    if not isinstance(value, kind):
        raise _fail("java.lang.ClassCastException", f"`{name}` is not a {_JAVA_NAMES[kind]}")
    return value


@dataclass(slots=True)
class _Open:
    """An element whose end has not come yet, or the document."""

    written: str
    node: int
    last_child: int | None = None


class _Import:
    """Makes the nodes of a document as the parser reports its parts."""

    def __init__(self, context: Execution, settings: _Settings, url: str | None) -> None:
        self._context = context
        self._writer = writer_of(context)
        self._settings = settings
        self._split = self._splitter()
        self._url = url
        self._version: str | None = None
        self._encoding = "UTF-8"
        self._open: list[_Open] = []
        self._spaces: list[frozenset[str]] = [frozenset(("", "xml"))]
        self._latest: int | None = None
        self._latest_text: int | None = None
        self._length = 0  # of all texts so far
        self._pieces: list[str] = []
        self._has_root = False
        self.parser = expat.ParserCreate()
        self.parser.XmlDeclHandler = self._declaration
        self.parser.StartDoctypeDeclHandler = self._doctype
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._pieces.append
        self.parser.CommentHandler = self._end_of_text
        self.parser.ProcessingInstructionHandler = self._instruction

    def document(self) -> int:
        """The node of the document, which is made when something else is, or at the end."""
        if not self._open:
            known = {"_xmlVersion": self._version, "_xmlEncoding": self._encoding, "url": self._url}
            node = self._writer.create_node(("XmlDocument",), known)
            self._open.append(_Open("", node))
            self._latest = self._latest_text = node
        return self._open[0].node

    def complaint(self, code: int) -> str:
        """What Java says of an error that has this number."""
        return complaint(code, self._open[-1].written if len(self._open) > 1 else None, self._has_root)

    # --- what the parser reports ---

    def _declaration(self, version: str, encoding: str | None, _: int) -> None:
        self._version, self._encoding = version, encoding or self._encoding

    def _doctype(self, *_: Any) -> None:
        raise _fail("java.lang.RuntimeException", "XML documents with a DOCTYPE are not allowed.")

    def _start(self, written: str, attributes: dict[str, str]) -> None:
        self._end_of_text()
        self._has_root = True
        spaces = self._spaces[-1]
        declared = [key for key in attributes if key == "xmlns" or key.startswith("xmlns:")]
        if declared:
            spaces |= {key[6:] for key in declared}
        prefix, _, name = written.rpartition(":")
        if prefix not in spaces:
            raise self.problem(f"{_NAMESPACES}#ElementPrefixUnbound?{prefix}&{written}")
        held = {key.rpartition(":")[2]: value for key, value in attributes.items() if key not in declared}
        node = self._add(("XmlTag",), {"_name": name, **held})
        self._open.append(_Open(written, node))
        self._spaces.append(spaces)
        text = self._settings.texts_of_tags.get(name)
        if text is not None:
            if not isinstance(text, str):
                raise _fail("java.lang.ClassCastException", f"the text of `{name}` is not a string")
            self._add_text(text)

    def _end(self, _: str) -> None:
        self._end_of_text()
        self._spaces.pop()
        ended = self._open.pop()
        if ended.last_child is not None:
            self._writer.create_relationship(ended.last_child, ended.node, "LAST_CHILD_OF", {})

    def _instruction(self, target: str, data: str) -> None:
        self._end_of_text()
        self._add(("XmlProcessingInstruction",), {"_piTarget": target, "_piData": data})

    def _end_of_text(self, *_: str) -> None:
        if self._pieces:
            text = "".join(self._pieces)
            self._pieces.clear()
            if self._settings.trims_lines:
                text = re.sub(r"\n[ \t\n\x0b\f\r]*", "", text)
            for part in self._split(text):
                self._add_text(part)

    def problem(self, message: str) -> CypherError:
        """The error of a document, at the place that the parser has come to."""
        row, column = self.parser.CurrentLineNumber, self.parser.CurrentColumnNumber + 1
        return _unreadable(row, column, message)

    # --- nodes ---

    def _add_text(self, text: str) -> None:
        first = self._length
        self._length += len(text) + sum(character > "\uffff" for character in text)  # in Java's units
        node = self._add((self._settings.label,), {"text": text, "startIndex": first, "endIndex": self._length - 1})
        if self._settings.connects:
            assert self._latest_text is not None
            self._writer.create_relationship(self._latest_text, node, self._settings.type, {})
            self._latest_text = node

    def _add(self, labels: tuple[str, ...], properties: dict[str, Any]) -> int:
        """A new node: the next of all, and the next child of the innermost element."""
        self._context.check_time()
        self.document()
        parent, writer = self._open[-1], self._writer
        node = writer.create_node(labels, properties)
        assert self._latest is not None
        writer.create_relationship(self._latest, node, "NEXT", {})
        writer.create_relationship(node, parent.node, "IS_CHILD_OF", {})
        if parent.last_child is None:
            writer.create_relationship(node, parent.node, "FIRST_CHILD_OF", {})
        else:
            writer.create_relationship(parent.last_child, node, "NEXT_SIBLING", {})
        self._latest = parent.last_child = node
        return node

    def _splitter(self) -> Callable[[str], Iterator[str]]:
        """Splits a text at the matches of the delimiter, which are parts as well."""
        try:
            found_by = finder(self._settings.delimiter)
        except UnsupportedCypher:
            raise
        except CypherError as problem:
            message = problem.message.removeprefix("Invalid Regex: ")
            raise _fail("java.util.regex.PatternSyntaxException", message) from None

        def split(text: str) -> Iterator[str]:
            place = 0
            try:
                for found in found_by.find(text, self._context.seconds_left()):
                    if found.start > place:
                        yield text[place : found.start]
                    yield text[found.start : found.end]
                    place = found.end
            except TimeoutError:
                raise Stopped.by(transaction_timed_out()) from None
            if place < len(text):
                yield text[place:]

        return split


_NAMESPACES = "http://www.w3.org/TR/1999/REC-xml-names-19990114"


def _unreadable(row: int, column: int, message: str) -> CypherError:
    place = f"ParseError at [row,col]:[{row},{column}]"
    return _fail("javax.xml.stream.XMLStreamException", f"{place}\nMessage: {message}")


@cypher_procedure(
    "apoc.import.xml(urlOrBinary :: ANY, config = {} :: MAP) :: (node :: NODE)",
    mode="WRITE",
    description="Creates a node for each tag, word and instruction of an XML document, in their order.",
    works_on_system=False,
    opens_files=True,
)
def import_xml(context: Execution, given: Any, config: dict[str, Any] | None) -> Iterator[Row]:
    """The node of the document."""
    if not isinstance(given, str | bytes):
        raise _fail("java.lang.RuntimeException", "Only byte[] or url String allowed")
    settings = _Settings.of(config or {})
    content = bytes_of_file(context, _PROCEDURE, given)
    work = _Import(context, settings, given if isinstance(given, str) else None)
    try:
        parse_all(work.parser, content, context.check_time)
    except expat.ExpatError as problem:
        raise _unreadable(problem.lineno, problem.offset + 1, work.complaint(problem.code)) from None
    yield (NodeRef(work.document()),)
