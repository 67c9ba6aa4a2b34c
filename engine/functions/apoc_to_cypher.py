"""apoc.text.toCypher: a value as a Cypher literal. Values without one (temporal values, points) are omitted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.entities import labels, relationship_type
from hoplite.engine.functions.strings import string_of
from hoplite.lazy import lazy_pattern
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef

_PLAIN_NAME = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*")


@apoc_function(
    "apoc.text.toCypher(value :: ANY, config = {} :: MAP) :: STRING",
    "Converts a value to Cypher.",
    needs_context=True,
)
def to_cypher(context: Execution, value: Any, config: Mapping[str, Any] | None) -> str | None:
    """`config`: skipKeys, keepKeys, skipValues, keepValues; names for the entities: node, relationship, start, end."""
    return _Writer(context, config or {}).written(value)


class _Writer:
    def __init__(self, context: Execution, config: Mapping[str, Any]) -> None:
        self._context = context
        self._config = config

    def written(self, value: Any) -> str | None:
        """The value as Cypher; None if it has no literal."""
        match value:
            case None:
                return "null"
            case bool() | int() | float():
                return str(string_of(value))
            case str():
                return f"'{value}'"
            case list():
                return f"[{','.join(text for item in value if (text := self.written(item)) is not None)}]"
            case dict():
                return self._map(value)
            case NodeRef():
                return self._node(value)
            case RelationshipRef():
                return self._relationship(value)
            case PathValue():
                return self.written(value.elements())
            case _:
                return None

    def _map(self, entries: Mapping[str, Any]) -> str:
        kept = sorted(key for key, value in entries.items() if self._is_wanted(key, value))
        written = ((_quoted(key), self.written(entries[key])) for key in kept)
        return "{" + ",".join(f"{key}:{text}" for key, text in written if text is not None) + "}"

    def _is_wanted(self, key: str, value: Any) -> bool:
        config = self._config
        return (
            key not in (config.get("skipKeys") or ())
            and value not in (config.get("skipValues") or ())
            and (not config.get("keepKeys") or key in config["keepKeys"])
            and (not config.get("keepValues") or value in config["keepValues"])
        )

    def _node(self, node: NodeRef) -> str:
        names = "".join(f":{_quoted(label)}" for label in labels(self._context, node) or [])
        return f"({self._config.get('node') or ''}{names} {self._map(held_by(self._context, node))})"

    def _relationship(self, relationship: RelationshipRef) -> str:
        ends = []
        for place, node in zip(("start", "end"), ends_of(self._context, relationship), strict=True):
            name = self._config.get(place)
            ends.append(f"({name})" if name else self._node(node))
        body = f":{_quoted(str(relationship_type(self._context, relationship)))}"
        properties = self._map(held_by(self._context, relationship))
        return f"{ends[0]}-[{self._config.get('relationship') or ''}{body} {properties}]->{ends[1]}"


def _quoted(name: str) -> str:
    return name if _PLAIN_NAME.fullmatch(name) else "`" + name.replace("`", "``") + "`"
