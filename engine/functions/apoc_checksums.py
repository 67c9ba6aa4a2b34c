"""apoc.util.md5, sha1 and so on: checksums of the texts of values."""

from __future__ import annotations

import hashlib
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function
from hoplite.engine.functions.apoc_maps import ends_of
from hoplite.engine.functions.apoc_nodes import path_text
from hoplite.engine.functions.entities import labels, public_id
from hoplite.engine.functions.java_text import java_text
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef, VirtualNode, VirtualRelationship, path_of


def _text(context: Execution, value: Any) -> str:
    """A value as APOC writes it: nulls are empty, the keys of maps sorted."""
    context.check_time()
    match value:
        case None:
            return ""
        case list():
            return f"[{', '.join(_text(context, item) for item in value)}]"
        case dict():
            return f"{{{', '.join(f'{key}={_text(context, value[key])}' for key in sorted(value))}}}"
        case VirtualNode(labels=names, properties=held):
            entries = ", ".join(f"{key}={_text(context, one)}" for key, one in held.items())
            return f"VirtualNode{{id={value.position}, labels=[{', '.join(names)}], props={{{entries}}}, rels=[]}}"
        case VirtualRelationship(type=name, start=start, end=end):
            sides = (f"[{', '.join(labels(context, node) or ())}]" for node in (start, end))
            return "VirtualRelationship{{startNode={}, endNode={}, type={}}}".format(*sides, name)
        case NodeRef():
            return f"Node[{public_id(context, value)}]"
        case RelationshipRef():
            return path_text(context, path_of(ends_of(context, value), [value]))
        case PathValue():
            return path_text(context, value)
    return java_text(value)


def _register(name: str) -> None:
    @apoc_function(
        f"apoc.util.{name}(values :: LIST<ANY>) :: STRING",
        f"Returns the {name.upper()} checksum of the values' concatenated text.",
        needs_context=True,
    )
    def checksum(context: Execution, values: list[Any] | None) -> str | None:
        if values is None:
            return None
        text = "".join(_text(context, value) for value in values)
        return hashlib.new(name, text.encode(), usedforsecurity=False).hexdigest()


for _name in ("md5", "sha1", "sha256", "sha384", "sha512"):
    _register(_name)
