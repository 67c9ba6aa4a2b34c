"""apoc.search.*: find nodes by an operator over several labels and properties at once."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.entities import public_id
from hoplite.engine.procedures.apoc_cypher import run_query
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.values.entities import NodeRef

_OPERATORS = {
    **{sign: sign for sign in ("<=", "=~", "<>", "<", "=", ">", ">=")},
    **{words: words.upper() for words in ("contains", "ends with", "starts with")},
    "exact": "=",
}
_LISTED = "[<=, =~, contains, <>, ends with, starts with, exact, <, =, >, >=]"
_EXAMPLE = '{ Person: ["fullName","lastName"],Company:"name", Event : "Description"}'


def _found(
    context: Execution, procedure: str, places: Any, operator: str | None, value: Any
) -> Iterator[tuple[str, str, NodeRef, Any]]:
    """Label, key, node and value for every label and property where the operator holds."""
    sign = _sign(procedure, operator)
    for label, key in _places(procedure, places):
        query = (
            f"MATCH (n:`{_quoted(label)}`) WHERE n.`{_quoted(key)}` {sign} $value RETURN n, n.`{_quoted(key)}` AS found"
        )
        for row in run_query(context, procedure, query, {"value": value}):
            yield label, key, row["n"], row["found"]


def _sign(procedure: str, operator: str | None) -> str:
    if operator is None:
        raise call_failed(procedure, "java.lang.NullPointerException", "the operator is null")
    sign = _OPERATORS.get(operator.strip().lower())
    if sign is None:
        message = (
            f"operator `{operator}` invalid, it must have one of the following values (case insensitive): {_LISTED}."
        )
        raise call_failed(procedure, "java.lang.Exception", message)
    return sign


def _places(procedure: str, given: Any) -> Iterator[tuple[str, str]]:
    if given is None:
        message = f"LabelProperties cannot be empty. example {_EXAMPLE}"
        raise call_failed(procedure, "java.lang.Exception", message)
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except json.JSONDecodeError as error:
            raise call_failed(procedure, "java.lang.RuntimeException", f"Can't read {given!r}: {error}") from None
    if not isinstance(given, dict):
        raise call_failed(procedure, "java.lang.RuntimeException", f"Invalid type for labels {given}")
    for label, keys in given.items():
        if not isinstance(keys, str | list) or (isinstance(keys, list) and not all(isinstance(k, str) for k in keys)):
            raise call_failed(procedure, "java.lang.RuntimeException", f"Invalid type for properties {keys}")
        for key in [keys] if isinstance(keys, str) else keys:
            yield label, key


def _quoted(name: str) -> str:
    return name.replace("`", "``")


@cypher_procedure(
    "apoc.search.node(labelPropertyMap :: ANY, operator :: STRING, value :: STRING) :: (node :: NODE)",
    mode="DEFAULT",
    description="Returns the nodes whose properties match, each once.",
    works_on_system=False,
)
def search_node(context: Execution, places: Any, operator: str | None, value: str | None) -> Iterator[Row]:
    """`apoc.search.node({Person: ['name', 'nick']}, 'starts with', 'A')`."""
    seen: set[int] = set()
    for _, _, node, _ in _found(context, "apoc.search.node", places, operator, value):
        if node.position not in seen:
            seen.add(node.position)
            yield (node,)


@cypher_procedure(
    "apoc.search.nodeAll(labelPropertyMap :: ANY, operator :: STRING, value :: STRING) :: (node :: NODE)",
    mode="DEFAULT",
    description="Returns the nodes whose properties match, once for each matching property.",
    works_on_system=False,
)
def search_node_all(context: Execution, places: Any, operator: str | None, value: str | None) -> Iterator[Row]:
    """As `apoc.search.node`, with repetitions."""
    for _, _, node, _ in _found(context, "apoc.search.nodeAll", places, operator, value):
        yield (node,)


@cypher_procedure(
    "apoc.search.nodeAllReduced(labelPropertyMap :: ANY, operator :: STRING, value :: ANY) :: (id :: INTEGER,"
    " labels :: LIST<STRING>, values :: MAP)",
    mode="DEFAULT",
    description="Returns id, label and property of the nodes whose properties match, once for each matching property.",
    works_on_system=False,
)
def search_node_all_reduced(context: Execution, places: Any, operator: str | None, value: Any) -> Iterator[Row]:
    """With the label and property that were searched for."""
    for label, key, node, found in _found(context, "apoc.search.nodeAllReduced", places, operator, value):
        yield public_id(context, node), [label], {key: found}


def _merged(context: Execution, procedure: str, places: Any, operator: str | None, value: str | None) -> Iterator[Row]:
    """One row per node. Neo4j fails if two properties find the same node, which is not worth imitating."""
    rows: dict[int, tuple[int, list[str], dict[str, Any]]] = {}
    for label, key, node, found in _found(context, procedure, places, operator, value):
        _, labels, values = rows.setdefault(node.position, (public_id(context, node), [], {}))
        if label not in labels:
            labels.append(label)
        values[key] = found
    yield from rows.values()


@cypher_procedure(
    "apoc.search.nodeReduced(labelPropertyMap :: ANY, operator :: STRING, value :: STRING) :: (id :: INTEGER,"
    " labels :: LIST<STRING>, values :: MAP)",
    mode="DEFAULT",
    description="Returns id, labels and properties of the nodes whose properties match, each node once.",
    works_on_system=False,
)
def search_node_reduced(context: Execution, places: Any, operator: str | None, value: str | None) -> Iterator[Row]:
    """With the labels and properties that were searched for."""
    yield from _merged(context, "apoc.search.nodeReduced", places, operator, value)


@cypher_procedure(
    "apoc.search.multiSearchReduced(labelPropertyMap :: ANY, operator :: STRING, value :: STRING) :: (id :: INTEGER,"
    " labels :: LIST<STRING>, values :: MAP)",
    mode="DEFAULT",
    description="Returns id, labels and properties of the nodes whose properties match, each node once.",
    works_on_system=False,
)
def multi_search_reduced(context: Execution, places: Any, operator: str | None, value: str | None) -> Iterator[Row]:
    """The same as `apoc.search.nodeReduced`."""
    yield from _merged(context, "apoc.search.multiSearchReduced", places, operator, value)
