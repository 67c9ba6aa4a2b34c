"""apoc.xml.parse, and what it shares with apoc.load.xml: XML as maps, whole or what an XPath finds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.xml_tree import Fail, as_map, read_xml
from hoplite.engine.functions.xpath import NotNodes, XPathError, found_nodes
from hoplite.errors import PROCEDURE_CALL_FAILED, CypherError

_NOT_NODES = "com.sun.org.apache.xpath.internal.XPathException"
_NO_DATA = 'Cannot invoke "String.getBytes(java.nio.charset.Charset)" because "data" is null'


def xml_maps(
    context: Execution, fail: Fail, content: str | bytes, path: str | None, simple: bool
) -> Iterator[dict[str, Any]]:
    """What a path finds in a document, as maps."""
    document = read_xml(fail, content, context.check_time)
    try:
        nodes = found_nodes(path or "/", document, context.check_time)
    except XPathError as problem:
        java_class = _NOT_NODES if isinstance(problem, NotNodes) else "javax.xml.transform.TransformerException"
        raise fail(java_class, str(problem)) from None
    for node in nodes:
        found = as_map(node, simple, context.check_time)
        if found is not None:
            yield found


@apoc_function(
    "apoc.xml.parse(data :: STRING, path = / :: STRING, config = {} :: MAP, simple = false :: BOOLEAN) :: MAP",
    "Parses XML, or the first node that an XPath finds in it, as a map.",
    needs_context=True,
)
def xml_parse(
    context: Execution, text: str | None, path: str | None, config: dict[str, Any] | None, simple: bool | None
) -> dict[str, Any] | None:
    """Null if the path finds nothing."""

    def fail(java_class: str, message: str) -> CypherError:
        return function_failed("apoc.xml.parse", java_class, message)

    if text is None:
        raise fail("java.lang.NullPointerException", _NO_DATA)
    try:
        return next(xml_maps(context, fail, text, path, simple is True), None)
    except CypherError as problem:
        if problem.code == PROCEDURE_CALL_FAILED and (config or {}).get("failOnError") is False:
            return {}
        raise
