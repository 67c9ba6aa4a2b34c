"""apoc.load.json and the like, and apoc.load.xml: what is in a file, or what a JSONPath or an XPath finds in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_json import followed, json_values
from hoplite.engine.functions.apoc_xml import xml_maps
from hoplite.engine.procedures.files import NotReadable, read_bytes, read_text
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import PROCEDURE_CALL_FAILED, CypherError


def _values(
    context: Execution, procedure: str, given: Any, path: str | None, config: dict[str, Any] | None
) -> Iterator[Any]:
    """The values in a file, or what the path finds in each."""
    if given is None:
        return

    def fail(java_class: str, message: str) -> CypherError:
        return call_failed(procedure, java_class, message)

    settings = config or {}
    try:
        text = read_text(context, procedure, given)
    except NotReadable as problem:
        if settings.get("failOnError") is False:
            return
        raise problem.error from None
    for value in json_values(fail, text, context.check_time):
        yield followed(context, fail, value, path, settings.get("pathOptions")) if path else value


def _maps(value: Any) -> Iterator[Row]:
    """An object, the objects in a list, any other list as `result`, and nothing for a single value."""
    if isinstance(value, dict):
        yield (value,)
    elif isinstance(value, list) and all(isinstance(item, dict) for item in value):
        yield from ((item,) for item in value)
    else:
        yield ({"result": value} if isinstance(value, list) else {},)


@cypher_procedure(
    "apoc.load.json(urlOrKeyOrBinary :: ANY, path =  :: STRING, config = {} :: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Loads JSON from a file in the import folder, or what a JSONPath finds in it.",
    works_on_system=False,
    opens_files=True,
)
def load_json(context: Execution, given: Any, path: str | None, config: dict[str, Any]) -> Iterator[Row]:
    """A row for each object."""
    for value in _values(context, "apoc.load.json", given, path, config):
        yield from _maps(value)


@cypher_procedure(
    "apoc.load.jsonArray(url :: STRING, path =  :: STRING, config = {} :: MAP) :: (value :: ANY)",
    mode="DEFAULT",
    description="Loads JSON from a file in the import folder, or what a JSONPath finds in it, one row per value.",
    works_on_system=False,
    opens_files=True,
)
def load_json_array(context: Execution, given: Any, path: str | None, config: dict[str, Any]) -> Iterator[Row]:
    """A list of objects gives its objects, any other value gives itself."""
    for value in _values(context, "apoc.load.jsonArray", given, path, config):
        if isinstance(value, list) and value and all(isinstance(item, dict) for item in value):
            yield from ((item,) for item in value)
        else:
            yield (value,)


@cypher_procedure(
    "apoc.load.jsonParams(urlOrKeyOrBinary :: ANY, headers :: MAP, payload :: STRING, path =  :: STRING, config = {} "
    ":: MAP) :: (value :: MAP)",
    mode="DEFAULT",
    description="Loads JSON from a file in the import folder; headers and payload, for the network, are ignored.",
    works_on_system=False,
    opens_files=True,
    deprecated_by="This procedure is being moved to APOC Extended.",
)
def load_json_params(
    context: Execution, given: Any, headers: Any, payload: Any, path: str | None, config: dict[str, Any]
) -> Iterator[Row]:
    """A row for each object."""
    for value in _values(context, "apoc.load.jsonParams", given, path, config):
        yield from _maps(value)


@cypher_procedure(
    "apoc.load.xml(urlOrBinary :: ANY, path = / :: STRING, config = {} :: MAP, simple = false :: BOOLEAN) :: "
    "(value :: MAP)",
    mode="DEFAULT",
    description="Loads XML from a file in the import folder as maps, or what an XPath finds in it.",
    works_on_system=False,
    opens_files=True,
)
def load_xml(
    context: Execution, given: Any, path: str | None, config: dict[str, Any] | None, simple: bool | None
) -> Iterator[Row]:
    """A row for each node that the path finds; an empty map for a file that cannot be read, if that is allowed."""
    procedure = "apoc.load.xml"

    def fail(java_class: str, message: str) -> CypherError:
        return call_failed(procedure, java_class, message)

    if given is None:
        raise fail("java.lang.IllegalArgumentException", "InputStream cannot be null")
    try:
        content = read_bytes(context, procedure, given)
        yield from ((found,) for found in list(xml_maps(context, fail, content, path, simple is True)))
    except (NotReadable, CypherError) as problem:
        error = problem.error if isinstance(problem, NotReadable) else problem
        if error.code != PROCEDURE_CALL_FAILED or (config or {}).get("failOnError") is not False:
            raise error from None
        yield ({},)
