"""Graph functions, which may only name a graph in a USE clause; anywhere else they raise an error."""

from __future__ import annotations

from hoplite.engine.functions.registry import cypher_function, named
from hoplite.errors import CypherError, syntax_error
from hoplite.gql_status import because
from hoplite.planner.types import ANY, STRING


def _refused(name: str) -> CypherError:
    message = f"`{name}` is only allowed at the first position of a USE clause."
    return syntax_error(message, "", 0, because("42N75", name))


@cypher_function(
    "graph.byElementId",
    args=(named("elementId", STRING),),
    returns=ANY,
    category="Graph",
    description="Returns the graph reference with the given element id. It is only supported in the `USE` clause, on "
    "composite databases.",
    forms=(
        (
            "graph.byElementId(elementId :: STRING) :: GRAPH",
            "Returns the graph reference with the given element id. It is only supported in the `USE` clause, on "
            "composite databases.",
        ),
    ),
)
def by_element_id(element_id: str) -> None:
    """Always an error outside USE."""
    raise _refused("graph.byElementId")


@cypher_function(
    "graph.byName",
    args=(named("name", STRING),),
    returns=ANY,
    category="Graph",
    description="Returns the graph reference of the given name. It is only supported in the `USE` clause, on composite "
    "databases.",
    forms=(
        (
            "graph.byName(name :: STRING) :: GRAPH",
            "Returns the graph reference of the given name. It is only supported in the `USE` clause, on composite "
            "databases.",
        ),
    ),
)
def by_name(name: str) -> None:
    """Always an error outside USE."""
    raise _refused("graph.byName")
