"""apoc.schema.*: whether there is an index or a constraint."""

from __future__ import annotations

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function
from hoplite.storage.schema import Entity


def _register(entity: Entity, noun: str, argument: str) -> None:
    what = "label" if entity is Entity.NODE else "type"

    def exists(context: Execution, rule: str, label: str | None, keys: list[str] | None) -> bool:
        if label is None:
            raise ValueError(f"a {what} was expected")
        schema = context.graph.schema
        rules = schema.indexes if rule == "index" else schema.constraints
        wanted = (label,), tuple(keys or ())
        return any(one.entity is entity and (one.labels, one.keys) == wanted for one in rules)

    for rule in ("index", "constraint"):
        apoc_function(
            f"apoc.schema.{noun}.{rule}Exists({argument} :: STRING, propertyName :: LIST<STRING>) :: BOOLEAN",
            f"Returns whether properties of a {what} have such a rule: {rule}.",
            needs_context=True,
        )(lambda context, label, keys, rule=rule: exists(context, rule, label, keys))


_register(Entity.NODE, "node", "labelName")
_register(Entity.RELATIONSHIP, "relationship", "type")
