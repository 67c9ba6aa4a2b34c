"""apoc.stats.degrees and apoc.math.regr: degrees by percentiles, and a linear regression."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc_maps import types_and_sides
from hoplite.engine.procedures.registry import Row, cypher_procedure, illegal_argument

_PERCENTILES = (50.0, 75.0, 90.0, 95.0, 99.0, 99.9)
_FEWEST = 2  # relationships that a histogram of APOC's needs


@cypher_procedure(
    "apoc.stats.degrees(relTypes =  :: STRING) :: (type :: STRING, direction :: STRING, total :: INTEGER, p50 :: "
    "INTEGER, p75 :: INTEGER, p90 :: INTEGER, p95 :: INTEGER, p99 :: INTEGER, p999 :: INTEGER, max :: INTEGER, min :: "
    "INTEGER, mean :: FLOAT)",
    mode="DEFAULT",
    description="Returns percentiles of the number of relationships per node.",
    works_on_system=False,
)
def degrees(context: Execution, types: str | None) -> Iterator[Row]:
    """A row for each type and direction in the text; an unknown type means any type."""
    graph = context.graph
    nodes = graph.nodes()
    for name, outgoing, incoming in types_and_sides(types):
        context.check_time()
        code = None if name is None else graph.type_code(name)
        direction = "BOTH" if outgoing and incoming else "OUTGOING" if outgoing else "INCOMING"
        total = graph.relationship_count if name is None or code is None else graph.type_count(name)
        if total < _FEWEST:
            message = "highestTrackableValue must be >= 2 * lowestDiscernibleValue"
            raise illegal_argument("apoc.stats.degrees", message)
        codes = None if code is None else (code,)
        counted = sum(
            (graph.degree(nodes, side, codes) for wanted, side in ((outgoing, True), (incoming, False)) if wanted),
            np.zeros(len(nodes), np.int64),
        )
        if outgoing and incoming:
            counted = counted - _loops(context, nodes, codes)
        counted = np.sort(counted)
        at = [int(counted[max(int(share / 100 * len(counted) + 0.5), 1) - 1]) for share in _PERCENTILES]
        yield name, direction, total, *at, int(counted[-1]), int(counted[0]), float(counted.mean())


def _loops(context: Execution, nodes: Any, codes: tuple[int, ...] | None) -> Any:
    """The number of self-loops of each node: they count once in its degree, not twice."""
    graph = context.graph
    relationships = graph.relationships()
    starts, ends = graph.endpoints(relationships)
    closed = starts == ends
    if codes is not None:
        closed &= np.isin(graph.relationship_types(relationships), codes)
    found, counts = np.unique(starts[closed], return_counts=True)
    loops = np.zeros(len(nodes), np.int64)
    loops[np.searchsorted(nodes, found)] = counts
    return loops


@cypher_procedure(
    "apoc.math.regr(label :: STRING, propertyY :: STRING, propertyX :: STRING) :: (r2 :: FLOAT, avgX :: FLOAT, avgY :: "
    "FLOAT, slope :: FLOAT)",
    description="Returns a linear regression through the origin of one property on another.",
    works_on_system=False,
)
def regression(context: Execution, label: str, key_y: str, key_x: str) -> Iterator[Row]:
    """Over the nodes that have both; NaN if there are none."""
    nodes = context.graph.nodes_with_label(label)
    columns = (context.graph.node_property(nodes, key).objects() for key in (key_x, key_y))
    pairs = [
        (float(x), float(y))
        for x, y in zip(*columns, strict=True)
        if all(isinstance(one, int | float) and not isinstance(one, bool) for one in (x, y))
    ]
    if len(pairs) < _FEWEST:
        means = pairs[0] if pairs else (math.nan, math.nan)
        yield math.nan, *means, math.nan
        return
    x, y = np.array(pairs, np.float64).T
    with np.errstate(all="ignore"):
        slope = np.float64(x @ y) / np.float64(x @ x)
        rest = y - slope * x
        share = 1 - np.float64(rest @ rest) / np.float64(y @ y)
    yield float(share), float(x.mean()), float(y.mean()), float(slope)
