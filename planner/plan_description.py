"""A plan as summaries show it: a tree of dictionaries in Neo4j's form, with the text table at its root.

    {"operatorType": "Filter@neo4j", "identifiers": ["n"], "args": {"Details": "n.age > 3", ...}, "children": [...]}

`children` is absent at leaves. In a plan that was run, each operator has rows, accesses and nanoseconds. An access is
an entity that an operator read from the graph or wrote to it. Neo4j counts more: every property read, where Hoplite
reads columns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields
from typing import Any

from hoplite.lazy_dataclass import dataclass
from hoplite.planner import physical as pp
from hoplite.planner.explain import Measurement, describe, measurement_of, named, order_of
from hoplite.planner.plan_tree import Link, chain

_VERSION = "5.26"
_ROOT_ARGUMENTS = {
    "version": "5",
    "planner": "COST",
    "planner-impl": "IDP",
    "planner-version": _VERSION,
    "runtime": "SLOTTED",
    "runtime-impl": "SLOTTED",
    "runtime-version": _VERSION,
}
_BINDING_FIELDS = ("node", "relationship", "start", "end", "from_node", "to_node", "path", "variable")
_TOUCHING = (
    pp.NodeScan,
    pp.IndexSeek,
    pp.ParameterSeek,
    pp.ElementsSeek,
    pp.IndexSearch,
    pp.IdSeek,
    pp.RelationshipScan,
    pp.RelationshipSeek,
    pp.RelationshipIdSeek,
    pp.Expand,
    pp.ExpandInto,
    pp.GuidedExpand,
    pp.DistinctExpand,
    pp.CountWalks,
    pp.CountBranches,
    pp.CountMatches,
    pp.CountSteps,
    pp.Reach,
    pp.Trails,
    pp.Repeat,
    pp.ShortestPaths,
    pp.ShortestTrails,
    pp.SelectShortest,
    pp.CountNodes,
    pp.CountRelationships,
    pp.Create,
    pp.Merge,
    pp.Set,
    pp.Delete,
)
_KEEPING_ORDER = (pp.Cut, pp.Filter, pp.Project, pp.Results)


@dataclass(slots=True)
class _Entry:
    """An operator and its place in the tree."""

    number: int
    node: pp.Shown
    name: str
    details: str
    computed: str
    identifiers: tuple[str, ...]
    order: str
    branches: list[_Entry]  # the first is its source, the others run alongside


def plan_description(
    plan: pp.Plan, estimates: Mapping[int, float], measured: Mapping[int, Measurement] | None = None
) -> dict[str, Any]:
    """The tree of a plan for EXPLAIN; with measurements (by the identity of the operator), for PROFILE."""
    root = _entry(plan, [0])
    described = _dictionary(root, estimates, measured)
    described["args"].update(_ROOT_ARGUMENTS)
    described["args"]["string-representation"] = _text(root, estimates, measured)
    if measured is not None:
        described["args"] |= {"Memory": 0, "GlobalMemory": 0}
        if (cache := measurement_of(root.node, measured).cache) is not None:
            described["args"] |= {"PartitionLoads": cache[1], "PartitionEvictions": cache[2]}
    return described


def _entry(plan: pp.Plan, counter: list[int]) -> _Entry:
    """The top operator of a plan, with everything below it. What runs alongside an operator is numbered before what
    feeds it, as Neo4j does.
    """
    entries: list[_Entry] = []
    for link in chain(plan):
        if not isinstance(link.node, pp.Select) and not (entries and _is_start(link.node)):
            entries.append(_numbered(link, counter))
    for entry, feeding in zip(reversed(entries), (None, *reversed(entries)), strict=False):
        if feeding is not None:
            entry.branches.insert(0, feeding)
        entry.identifiers = _identifiers(entry)
        entry.order = _order(entry)
    return entries[0]


def _numbered(link: Link, counter: list[int]) -> _Entry:
    line = describe(link.node)
    entry = _Entry(counter[0], link.node, line.name, line.details, line.computed, (), "", [])
    counter[0] += 1
    entry.branches += [_entry(branch, counter) for branch in link.beside if not _is_start(branch)]
    return entry


def _is_start(node: pp.Shown) -> bool:
    """Whether this is the single empty row that a plan starts from, which is not shown."""
    return isinstance(node, pp.Argument) and not node.variables


def _identifiers(entry: _Entry) -> tuple[str, ...]:
    """The names that have a value above an operator."""
    below = [name for branch in entry.branches for name in branch.identifiers]
    match entry.node:
        case pp.Argument(variables=variables):
            names = [*variables]
        case pp.Results(columns=columns):
            names = [*below, *columns]
        case pp.Distinct(names=kept) | pp.Union(names=kept):
            names = [*kept]
        case pp.Aggregate(keys=keys, aggregates=aggregates):
            names = [name for name, _ in keys] + [aggregate.name for aggregate in aggregates]
        case pp.CountPairs(keys=keys, counts=counts):
            names = [name for name, _ in (*keys, *counts)]
        case pp.CountEnds(name=name) | pp.DistinctEnds(name=name):
            names = [name]
        case pp.Reimport(names=imported):
            names = [*below, *imported]
        case pp.Project(items=items):
            names = [*below, *(name for name, _ in items)]
        case pp.Create(creations=creations):
            names = [*below, *(creation.variable for creation in creations)]
        case node:
            names = below + list(_bound(node))
    return tuple(dict.fromkeys(map(named, names)))


def _bound(node: pp.Shown) -> Iterator[str]:
    present = {field.name for field in fields(node)}
    for name in _BINDING_FIELDS:
        value = getattr(node, name) if name in present else None
        if isinstance(value, str):
            yield value


def _order(entry: _Entry) -> str:
    match entry.node:
        case pp.Sort(keys=keys) | pp.Top(keys=keys):
            return order_of(keys)
        case node if isinstance(node, _KEEPING_ORDER) and entry.branches:
            return entry.branches[0].order
        case _:
            return ""


def _dictionary(
    entry: _Entry, estimates: Mapping[int, float], measured: Mapping[int, Measurement] | None
) -> dict[str, Any]:
    arguments: dict[str, Any] = {
        "Id": entry.number,
        "Details": entry.details,
        "EstimatedRows": estimates.get(id(entry.node), 1.0),
    }
    if entry.computed:
        arguments["ComputedBy"] = entry.computed
    if entry.order:
        arguments["Order"] = entry.order
    described: dict[str, Any] = {
        "operatorType": f"{entry.name}@neo4j",
        "identifiers": list(entry.identifiers),
        "args": arguments,
    }
    if measured is not None:
        rows, accesses, nanoseconds = _numbers(entry, measured)
        hits, loads = _own_cache_use(entry, measured)
        cache = {"PageCacheHits": hits, "PageCacheMisses": loads}
        arguments |= {"Rows": rows, "DbHits": accesses, "Time": nanoseconds, **cache}
        described |= {"rows": rows, "dbHits": accesses, "time": nanoseconds}
        ratio = hits / (hits + loads) if hits + loads else 0.0
        described |= {"pageCacheHits": hits, "pageCacheMisses": loads, "pageCacheHitRatio": ratio}
    if entry.branches:
        described["children"] = [_dictionary(branch, estimates, measured) for branch in entry.branches]
    return described


def _numbers(entry: _Entry, measured: Mapping[int, Measurement]) -> tuple[int, int, int]:
    """Rows, accesses, and the nanoseconds of the operator alone."""
    own = measurement_of(entry.node, measured)
    below = sum(measurement_of(branch.node, measured).seconds for branch in entry.branches)
    accesses = own.rows if isinstance(entry.node, _TOUCHING) else 0
    return own.rows, accesses, max(0, round((own.seconds - below) * 1e9))


def _own_cache_use(entry: _Entry, measured: Mapping[int, Measurement]) -> tuple[int, int]:
    """Hits and loads of the operator alone. Partitions and columns take the place of Neo4j's page cache."""
    hits, loads, _ = measurement_of(entry.node, measured).cache or (0, 0, 0)
    for branch in entry.branches:
        below = measurement_of(branch.node, measured).cache or (0, 0, 0)
        hits, loads = hits - below[0], loads - below[1]
    return max(0, hits), max(0, loads)


# --- the text -----------------------------------------------------------------------------------------------------


def _text(root: _Entry, estimates: Mapping[int, float], measured: Mapping[int, Measurement] | None) -> str:
    """The table that Neo4j's shell prints."""
    header = ["Operator", "Id", "Details", "Estimated Rows"]
    if measured is not None:
        header += ["Rows", "DB Hits"]
    lines = list(_lines(root, 0))
    table: list[list[str]] = []
    total = 0
    for tree, entry in lines:
        row = [tree, str(entry.number), entry.details, str(round(estimates.get(id(entry.node), 1.0)))]
        if measured is not None:
            rows, accesses, _ = _numbers(entry, measured)
            total += accesses
            row += [str(rows), str(accesses)]
        table.append(row)
    widths = [max(map(len, column)) for column in zip(header, *table, strict=True)]
    ruler = "+" + "+".join("-" * (width + 2) for width in widths) + "+"
    left_aligned = {"Operator", "Details"}

    def written(row: list[str]) -> str:
        cells = (
            cell.ljust(width) if name in left_aligned else cell.rjust(width)
            for name, cell, width in zip(header, row, widths, strict=True)
        )
        return "| " + " | ".join(cells) + " |"

    title = "| " + " | ".join(name.ljust(width) for name, width in zip(header, widths, strict=True)) + " |"
    accessed = "?" if measured is None else f"{total}, total allocated memory: 0"
    head = f"Cypher 5\n\nPlanner COST\n\nRuntime SLOTTED\n\nRuntime version {_VERSION}\n"
    body = "\n".join([ruler, title, ruler, *map(written, table), ruler])
    cache = None if measured is None else measurement_of(root.node, measured).cache
    loaded = "" if cache is None else f"Loaded from disk: {cache[1]:,}, evicted: {cache[2]:,}\n"
    return f"{head}\n{body}\n\nTotal database accesses: {accessed}\n{loaded}"


def _lines(entry: _Entry, depth: int) -> Iterator[tuple[str, _Entry]]:
    yield f"{'| ' * depth}+{entry.name}", entry
    for branch in entry.branches[1:]:
        yield from _lines(branch, depth + 1)
    if entry.branches:
        yield from _lines(entry.branches[0], depth)
