"""Pairs of a row and a neighbour: groups of nodes go in, the distinct neighbours of each come out, or how many distinct
numbers they carry."""

from __future__ import annotations

from hoplite.engine.hops.interface import UNLIMITED, Check, Counts, Hop, Neighbourhoods, Positions, unchecked
from hoplite.engine.hops.select import BackendName, backend_named


def neighbourhoods(
    hop: Hop,
    offsets: Positions,
    sources: Positions,
    most: int | None = None,
    *,
    check: Check = unchecked,
    backend: BackendName = "auto",
) -> Neighbourhoods | None:
    """The distinct nodes one hop away from the sources of each group: sources[offsets[i]:offsets[i + 1]] (-1: none).

    None if there are more than `most` pairs of a group and a node.
    """
    limit = UNLIMITED if most is None else most
    return backend_named(backend).neighbourhoods(hop, offsets, sources, limit, check=check)


def neighbours_of_all(
    hop: Hop, sources: Positions, *, check: Check = unchecked, backend: BackendName = "auto"
) -> Positions:
    """The distinct nodes one hop away from any of the sources (-1: none)."""
    starts = sources if not len(sources) or sources.min() >= 0 else sources[sources >= 0]
    return backend_named(backend).bfs_nodes(hop, starts, 1, mark_starts=False, check=check)


def count_pairs(
    pairs: Neighbourhoods,
    row_numbers: Positions,
    node_numbers: Positions,
    counts: Counts,
    *,
    by_rows: bool,
    backend: BackendName = "auto",
) -> Positions:
    """How many distinct node numbers each row number is paired with, or (not `by_rows`) the other way round.

    Row numbers are given by row, node numbers by node; a negative one is paired with nothing. `counts` says how many
    row numbers and node numbers there are.
    """
    return backend_named(backend).count_pairs(pairs, row_numbers, node_numbers, counts, by_rows=by_rows)
