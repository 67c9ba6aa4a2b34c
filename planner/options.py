"""The options of a `CYPHER` prefix: known names and values are accepted and change nothing, others are refused."""

from __future__ import annotations

from hoplite.errors import argument_error, unsupported
from hoplite.gql_status import alternatives, because
from hoplite.grammar.statement import Statement

_VALUES = {
    name: tuple(values.split())
    for name, values in (
        ("planner", "cost dp idp"),
        ("runtime", "interpreted legacy parallel pipelined slotted"),
        ("updateStrategy", "default eager"),
        ("expressionEngine", "compiled interpreted only_when_hot"),
        ("operatorEngine", "compiled interpreted"),
        ("interpretedPipesFallback", "all disabled whitelisted_plans_only"),
        ("replan", "force skip"),
        ("connectComponentsPlanner", "greedy idp"),
        (
            "debug",
            "ast disableexistssubquerycaching disablepropertycaching generate_java_source graphviz inverse_cost "
            "logcostcomparisons logicalplan logicalplanbuilder mermaid printcostcomparisons querygraph "
            "rawcardinalities renderdistinctness semanticstate show_bytecode show_java_source tostring "
            "verboseeagernessreasons visualizepipelines warnoncompilationerrors",
        ),
        ("eagerAnalyzer", "ir lp"),
        ("statefulShortestPlanningMode", "all_if_possible cardinality_heuristic into_only"),
        ("planVarExpandInto", "minimum_cost single_row"),
        ("inferSchemaParts", "most_selective_label off"),
        ("parallelRuntimeSupport", "all disabled"),
    )
}
_NAMES = {name.lower(): name for name in _VALUES}
# Accepted as well, though errors do not list it.
_DEFAULTS = dict.fromkeys(
    (
        "runtime",
        "expressionEngine",
        "operatorEngine",
        "interpretedPipesFallback",
        "replan",
        "connectComponentsPlanner",
    ),
    ("default",),
)


def check_options(statement: Statement) -> None:
    """Refuse options that Neo4j does not know, values it does not accept, and two values for one option."""
    given: dict[str, str] = {}
    unknown: list[str] = []
    for written, value in statement.options:
        lower = written.lower()
        if lower == "version":
            continue
        name = _NAMES.get(lower)
        if name is None:
            unknown.append(lower)
            continue
        if value.lower() not in (*_VALUES[name], *_DEFAULTS.get(name, ())):
            valid = ", ".join(_VALUES[name])
            cause = because("22N10", value.lower(), name, alternatives(list(_VALUES[name]), "and"))
            raise argument_error(f"{value.lower()} is not a valid option for {name}. Valid options are: {valid}", cause)
        if name == "debug":
            _check_debug(value.lower())
        if given.setdefault(name, value.lower()) != value.lower() and name != "debug":
            raise argument_error(f"Can't specify multiple conflicting values for {name}", because("22N09", name))
    if unknown:
        cause = because("22N07", ", ".join(f"'{name}'" for name in unknown))
        raise argument_error(f"Unsupported options: {', '.join(unknown)}", cause)


def _check_debug(value: str) -> None:
    """Refuse the two values that ask for something other than the rows of the query."""
    if value == "tostring":
        raise unsupported("CYPHER debug=tostring")
    if value == "generate_java_source":
        setting = "`internal.cypher.pipelined.allow_source_generation`"
        raise argument_error(f"In order to use source generation you need to enable {setting}")
