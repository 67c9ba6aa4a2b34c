"""db.stats.*: counts and names, and which statements ran while they were collected."""

from __future__ import annotations

import locale
import os
import platform
import sys
import time
from collections.abc import Iterator
from typing import Any

from hoplite.engine.collected_queries import Invocation, QueryCollector
from hoplite.engine.context import Execution
from hoplite.engine.functions.java_text import java_text
from hoplite.engine.procedures.anonymous import Names
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import CypherError
from hoplite.grammar.tree import walk
from hoplite.planner import physical as pp
from hoplite.storage.schema import Constraint, ConstraintKind, Entity, Index, IndexKind
from hoplite.values.temporal import moment

_PROVIDERS = {
    IndexKind.RANGE: "range-1.0",
    IndexKind.TEXT: "text-2.0",
    IndexKind.POINT: "point-1.0",
    IndexKind.LOOKUP: "token-lookup-1.0",
}
"""The kinds of index that are counted."""
_SECTIONS = ("GRAPH COUNTS", "TOKENS", "QUERIES")
_UNSEEN = ("db.stats.", "dbms.")
"""A statement that calls such a procedure is not among the collected ones."""
_NULL = "java.lang.NullPointerException"


def _refused(message: str) -> CypherError:
    return CypherError("Neo.ClientError.General.InvalidArguments", message)


def _unknown(section: str) -> CypherError:
    return _refused(f"Unknown section '{section}', known sections are [{', '.join(_SECTIONS)}]")


def _number(config: dict[str, Any] | None, procedure: str, name: str, default: int) -> int:
    """An option that is a natural number, of which Java keeps 32 bits."""
    if config is None or (name in config and config[name] is None):
        raise call_failed(procedure, _NULL, f"`{name}` is null")
    if name not in config:
        return default
    value = config[name]
    if not isinstance(value, int) or isinstance(value, bool):
        raise _refused(f"Option `{name}` requires integer argument, got `{java_text(value) or value}`")
    kept = (value + 2**31) % 2**32 - 2**31
    if kept < 0:
        raise _refused(f"Option `{name}` requires positive integer argument, got `{kept}`")
    return kept


# --- collecting -----------------------------------------------------------------------------------------------------

_OUTCOME = "(section :: STRING, success :: BOOLEAN, message :: STRING)"


def _collector(context: Execution, procedure: str, section: str | None) -> QueryCollector:
    """The collector of a section that has to be collected: there is one such section."""
    if section is None:
        raise call_failed(procedure, _NULL, "the section is null")
    if section in ("GRAPH COUNTS", "TOKENS"):
        raise _refused(
            f"Section '{section}' does not have to be explicitly collected, it can always be directly retrieved."
        )
    if section != "QUERIES":
        raise _unknown(section)
    collector = context.database.query_collector(make=True)
    assert collector is not None
    return collector


@cypher_procedure(
    f"db.stats.collect(section :: STRING, config = {{}} :: MAP) :: {_OUTCOME}",
    description="Start data collection of a given data section. Valid sections are 'QUERIES'",
    admin=True,
    has_effects=True,
)
def collect(context: Execution, section: str | None, config: dict[str, Any] | None) -> Iterator[Row]:
    """Statements are recorded from now on, or for some seconds. A wrong number of seconds is an error, and no limit."""
    collector = _collector(context, "db.stats.collect", section)
    if collector.is_collecting:
        yield section, True, "Collection is already ongoing."
        return
    collector.start()
    if seconds := _number(config, "db.stats.collect", "durationSeconds", 0):
        collector.start(seconds)
    yield section, True, "Collection started."


@cypher_procedure(
    f"db.stats.stop(section :: STRING) :: {_OUTCOME}",
    description="Stop data collection of a given data section. Valid sections are 'QUERIES'",
    admin=True,
    has_effects=True,
)
def stop(context: Execution, section: str | None) -> Iterator[Row]:
    """What was recorded stays."""
    collector = _collector(context, "db.stats.stop", section)
    was_on = collector.is_collecting
    collector.stop()
    yield section, True, "Collection stopped." if was_on else "Collector is idle, no collection ongoing."


@cypher_procedure(
    f"db.stats.clear(section :: STRING) :: {_OUTCOME}",
    description="Clear collected data of a given data section. Valid sections are 'QUERIES'",
    admin=True,
    has_effects=True,
)
def clear(context: Execution, section: str | None) -> Iterator[Row]:
    """Not while statements are being recorded."""
    collector = _collector(context, "db.stats.clear", section)
    if collector.is_collecting:
        yield section, False, "Collected data cannot be cleared while collecting."
        return
    collector.clear()
    yield section, True, "Data cleared."


@cypher_procedure(
    "db.stats.status() :: (section :: STRING, status :: STRING, data :: MAP)",
    description="Retrieve the status of all available collector daemons, for this database.",
    admin=True,
)
def status(context: Execution) -> Iterator[Row]:
    """A row for the one section that is collected."""
    collector = context.database.query_collector(make=False)
    is_on = collector is not None and collector.is_collecting
    yield "QUERIES", "collecting" if is_on else "idle", {}


# --- retrieving -----------------------------------------------------------------------------------------------------


@cypher_procedure(
    "db.stats.retrieve(section :: STRING, config = {} :: MAP) :: (section :: STRING, data :: MAP)",
    description="Retrieve statistical data about the current database. Valid sections are 'GRAPH COUNTS', 'TOKENS', "
    "'QUERIES', 'META'",
    admin=True,
)
def retrieve(context: Execution, section: str | None, config: dict[str, Any] | None) -> Iterator[Row]:
    """A row for each collected statement; one for any other section."""
    if section is None:
        raise call_failed("db.stats.retrieve", _NULL, "the section is null")
    names = Names(context.graph)
    match section.upper():
        case "GRAPH COUNTS" as found:
            yield found, _graph_counts(context, names)
        case "TOKENS" as found:
            yield found, names.all()
        case "META" as found:
            yield found, _meta(names, None)
        case "QUERIES" as found:
            most = _number(config, "db.stats.retrieve", "maxInvocations", 100)
            for data in _queries(context, most, None):
                yield found, data
        case _:
            raise _unknown(section)


@cypher_procedure(
    "db.stats.retrieveAllAnonymized(graphToken :: STRING, config = {} :: MAP) :: (section :: STRING, data :: MAP)",
    description="Retrieve all available statistical data about the current database, in an anonymized form.",
    admin=True,
)
def retrieve_all(context: Execution, token: str | None, config: dict[str, Any] | None) -> Iterator[Row]:
    """The same with numbers in place of names and the lengths of strings in place of strings."""
    if not token:
        raise _refused("Graph token must be a non-empty string")
    most = _number(config, "db.stats.retrieveAllAnonymized", "maxInvocations", 100)
    names = Names(context.graph, are_hidden=True)
    yield "META", _meta(names, token)
    yield "GRAPH COUNTS", _graph_counts(context, names)
    for data in _queries(context, most, names):
        yield "QUERIES", data


# --- statements -----------------------------------------------------------------------------------------------------


def _queries(context: Execution, most: int, hidden: Names | None) -> Iterator[dict[str, Any]]:
    collector = context.database.query_collector(make=False)
    by_text: dict[str, list[Invocation]] = {}
    for invocation in [] if collector is None else collector.invocations():
        by_text.setdefault(invocation.text, []).append(invocation)
    for text, invocations in by_text.items():
        context.check_time()
        plan = _plan(context, text)
        if plan is not None:
            yield {
                "query": text if hidden is None else hidden.statement(text),
                **plan,
                "invocations": [_times(one) for one in invocations[:most]],
                "invocationSummary": {
                    "compileTimeInUs": _spread([one.compile_us for one in invocations]),
                    "executionTimeInUs": _spread([one.execution_us for one in invocations]),
                    "invocationCount": len(invocations),
                },
            }


def _plan(context: Execution, text: str) -> dict[str, Any] | None:
    """The plan that a statement has now, with estimates; None if it is not shown, or means nothing any more."""
    try:
        prepared = context.database.prepare(f"EXPLAIN {text}", context.graph, {})
    except CypherError:
        try:
            prepared = context.database.prepare(text, context.graph, {})  # begins with EXPLAIN or PROFILE
        except CypherError:
            return None
    if any(isinstance(one, pp.CallProcedure) and one.procedure.startswith(_UNSEEN) for one in walk(prepared.plan)):
        return None
    described = prepared.description()
    if described is None:
        return {"queryExecutionPlan": {"id": 0, "operator": type(prepared.command).__name__}, "estimatedRows": [0.0]}
    estimates: list[float] = []
    return {"queryExecutionPlan": _operators(described, estimates), "estimatedRows": estimates}


def _operators(described: dict[str, Any], estimates: list[float]) -> dict[str, Any]:
    """A tree of operators, numbered from the top and from the left, and what each is estimated to return."""
    shown: dict[str, Any] = {"id": len(estimates), "operator": described["operatorType"].removesuffix("@neo4j")}
    estimates.append(float(described["args"]["EstimatedRows"]))
    for side, child in zip(("lhs", "rhs"), described.get("children", ()), strict=False):
        shown[side] = _operators(child, estimates)
    return shown


def _times(one: Invocation) -> dict[str, int]:
    return {
        "elapsedCompileTimeInUs": one.compile_us,
        "elapsedExecutionTimeInUs": one.execution_us,
        "startTimestampMillis": one.started_ms,
    }


def _spread(values: list[int]) -> dict[str, int]:
    return {"min": min(values), "max": max(values), "avg": sum(values) // len(values)}


# --- the database and the machine -----------------------------------------------------------------------------------


def _meta(names: Names, token: str | None) -> dict[str, Any]:
    tokens = names.all()
    return {
        "graphToken": token,
        "retrieveTime": moment(time.time_ns()),
        "labelCount": len(tokens["labels"]),
        "relationshipTypeCount": len(tokens["relationshipTypes"]),
        "propertyKeyCount": len(tokens["propertyKeys"]),
        "system": _system(),
        "internal": {"numSilentQueryCollectionMisses": 0},
    }


def _system() -> dict[str, Any]:
    """The machine. There is no Java machine: what a server says of it is null."""
    language, _, country = (locale.getlocale()[0] or "").partition("_")
    page, pages, free = (_configured(name) for name in ("SC_PAGE_SIZE", "SC_PHYS_PAGES", "SC_AVPHYS_PAGES"))
    of_java = ("Name", "Vendor", "Version", "JITCompiler", "MemoryFree", "MemoryTotal", "MemoryMax")
    return {
        **{f"jvm{name}": None for name in of_java},
        "systemFreePhysicalMemory": page and free and page * free,
        "systemTotalPhysicalMemory": page and pages and page * pages,
        "systemCommittedVirtualMemory": None,
        "systemTotalSwapSpace": None,
        "systemFreeSwapSpace": None,
        "osArch": platform.machine(),
        "osName": platform.system(),
        "osVersion": platform.release(),
        "availableProcessors": os.cpu_count(),
        "byteOrder": f"{sys.byteorder.upper()}_ENDIAN",
        "fileEncoding": locale.getpreferredencoding(False),
        "userTimezone": time.tzname[0],
        "userLanguage": language,
        "userCountry": country,
    }


def _configured(name: str) -> int | None:
    """A value of the operating system; None if it does not tell."""
    try:
        return os.sysconf(name)
    except (AttributeError, OSError, ValueError):
        return None


# --- counts ---------------------------------------------------------------------------------------------------------


def _graph_counts(context: Execution, names: Names) -> dict[str, Any]:
    graph = context.graph
    nodes: list[dict[str, Any]] = [{"count": graph.node_count}]
    nodes += [{"label": names.label(label), "count": graph.label_count(label)} for label in graph.labels()]
    relationships: list[dict[str, Any]] = [{"count": graph.relationship_count}]
    for name in graph.type_names:
        context.check_time()
        of_type = {"relationshipType": names.type(name)}
        relationships.append({**of_type, "count": graph.type_count(name)})
        for label in graph.labels():
            if count := graph.pattern_count(label, name, None):
                relationships.append({**of_type, "startLabel": names.label(label), "count": count})
            if count := graph.pattern_count(None, name, label):
                relationships.append({**of_type, "endLabel": names.label(label), "count": count})
    return {
        "nodes": nodes,
        "relationships": relationships,
        "indexes": [_index(context, names, index) for index in graph.schema.indexes if index.kind in _PROVIDERS],
        "constraints": [_constraint(names, rule) for rule in graph.schema.constraints],
    }


def _index(context: Execution, names: Names, index: Index) -> dict[str, Any]:
    graph, size, different = context.graph, 0, 0
    is_of_nodes = index.entity is Entity.NODE
    if index.finds_values and len(index.labels) == 1 and len(index.keys) == 1:
        (label,), (key,) = index.labels, index.keys
        members = graph.nodes_with_label(label) if is_of_nodes else graph.relationships_with_type(label)
        column = (graph.node_property if is_of_nodes else graph.relationship_property)(members, key)
        size = int((~column.null_mask()).sum())
        different = (graph.distinct_values(label, key) or 0) if is_of_nodes else size
    place = (
        {"labels": [names.label(label) for label in index.labels]}
        if is_of_nodes
        else {"relationshipTypes": [names.type(name) for name in index.labels]}
    )
    return {
        **place,
        "properties": [names.key(key) for key in index.keys],
        "indexType": index.kind.value,
        "indexProvider": _PROVIDERS[index.kind],
        "totalSize": size,
        "estimatedUniqueSize": different,
        "updatesSinceEstimation": 0,
    }


def _constraint(names: Names, rule: Constraint) -> dict[str, Any]:
    (name,) = rule.labels
    is_of_nodes = rule.kind is ConstraintKind.NODE_UNIQUE
    place = {"label": names.label(name)} if is_of_nodes else {"relationshipType": names.type(name)}
    return {**place, "properties": [names.key(key) for key in rule.keys], "type": "Uniqueness constraint"}
