"""apoc.help: which procedures and functions of APOC there are."""

from __future__ import annotations

from collections.abc import Iterator

from hoplite.engine.context import Execution
from hoplite.engine.functions.show import function_rows
from hoplite.engine.procedures.registry import PROCEDURES, Row, call_failed, cypher_procedure

_NULL = "java.lang.NullPointerException"


@cypher_procedure(
    "apoc.help(proc :: STRING) :: (type :: STRING, name :: STRING, text :: STRING, signature :: STRING, roles :: "
    "LIST<STRING>, writes :: BOOLEAN, core :: BOOLEAN, isDeprecated :: BOOLEAN)",
    mode="DEFAULT",
    description="Returns the procedures and functions of APOC whose names contain a string.",
    works_on_system=False,
)
def show_help(context: Execution, text: str | None) -> Iterator[Row]:
    """Sorted by name."""
    if text is None:
        raise call_failed("apoc.help", _NULL, "the text is null")
    for name in sorted(PROCEDURES):
        if name.startswith("apoc.") and text.lower() in name.lower():
            procedure = PROCEDURES[name]
            facts = procedure.signature
            is_deprecated = facts.deprecated_by is not None
            yield "procedure", name, facts.description, procedure.signature_text, None, None, True, is_deprecated
    for row in function_rows(context.functions):
        name = row["name"]
        if name.startswith("apoc.") and text.lower() in name.lower():
            yield "function", name, row["description"], row["signature"], None, None, True, row["isDeprecated"]
