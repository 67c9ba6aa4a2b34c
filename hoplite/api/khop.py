"""k-hop retrieval without Cypher text: seeds in, the nodes around them out as columns, on the same kernels.

seeds    ids as id(n) gives them, nodes of a result, or values of a property (`by`); or, for a batch, a list of these
out      ids, or the same property; by ascending distance from the nearest seed, each node once
paths    instead, one shortest path from a seed to each node that is not a seed
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import chain
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray

from hoplite.api.hydrate import Hydrator
from hoplite.engine import hops
from hoplite.engine.grouping import distinct
from hoplite.engine.hops import BackendName, Check, Hop, Positions
from hoplite.engine.hops.select import backend_named
from hoplite.engine.khop import SIDES, shortest_paths_from
from hoplite.errors import argument_error
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Booleans, Column, Floats, Integers


@dataclass(frozen=True, slots=True)
class KHop:
    """What is asked for, apart from the seeds."""

    k: int
    direction: str = "out"
    types: Sequence[str] | str | None = None
    exact: bool = False
    by: tuple[str, str] | None = None
    arrow: bool = False

    def __post_init__(self) -> None:
        if self.direction not in SIDES:
            raise argument_error(f"direction must be 'out', 'in' or 'both', not {self.direction!r}")
        if not isinstance(self.k, int) or isinstance(self.k, bool) or self.k < 0:
            raise argument_error(f"k must be a number of hops, 0 or more, not {self.k!r}")
        if self.by is not None and not (
            isinstance(self.by, tuple | list) and len(self.by) == 2 and all(isinstance(name, str) for name in self.by)
        ):
            raise argument_error(f"by must be a label and a property, such as ('Drug', 'name'), not {self.by!r}")

        if not (
            self.types is None
            or isinstance(self.types, str)
            or (isinstance(self.types, list | tuple | set) and all(isinstance(name, str) for name in self.types))
        ):
            raise argument_error(f"types must be a relationship type or a list of them, not {self.types!r}")

    def hop(self, graph: Snapshot) -> Hop:
        """One step of it."""
        types = (self.types,) if isinstance(self.types, str) else self.types
        return hops.hop_of(graph, SIDES[self.direction], types)


class KHopBatch(NamedTuple):
    """Seed set i has values[offsets[i]:offsets[i + 1]]: ids, or values of the property that was asked for."""

    offsets: NDArray[np.int64]
    values: NDArray[Any]


def khop(graph: Snapshot, seeds: Any, asked: KHop, backend: BackendName, check: Check) -> Any:
    """The nodes whose distance from the nearest seed is at most k, or exactly k if `exact`. Seeds are at distance 0."""
    sources = _positions(graph, _seed_list(seeds), asked.by)
    hop = asked.hop(graph)
    kernels = backend_named(backend)
    if asked.exact:
        together = np.zeros(len(sources), np.int64)
        found = kernels.bfs_levels(hop, together, sources, asked.k, mark_starts=True, check=check)
        nodes = found.nodes[found.level == asked.k]
    else:
        nodes = kernels.bfs_nodes(hop, sources, asked.k, mark_starts=True, check=check)
    if asked.by is None and not asked.arrow:
        return graph.node_ids(nodes)
    return _column(graph, nodes, asked)


def khop_batch(graph: Snapshot, seed_sets: Any, asked: KHop, backend: BackendName, check: Check) -> Any:
    """The same for each of many seed sets at once: a `KHopBatch`, or an Arrow array of lists."""
    if not isinstance(seed_sets, Iterable):
        raise argument_error(f"A batch is a list of seed sets, not {seed_sets!r}")
    sets = [_seed_list(seeds) for seeds in seed_sets]
    offsets = np.cumsum([0, *map(len, sets)], dtype=np.int64)
    sources, offsets = _batch_positions(graph, list(chain.from_iterable(sets)), offsets, asked.by)
    hop = asked.hop(graph)
    kernels = backend_named(backend)
    if asked.exact:
        groups = np.repeat(np.arange(len(sets)), np.diff(offsets))
        found = kernels.bfs_levels(hop, groups, sources, asked.k, mark_starts=True, check=check)
        kept = found.level == asked.k
        ends, nodes = np.searchsorted(found.group[kept], np.arange(len(sets) + 1)), found.nodes[kept]
    else:
        ends, nodes = kernels.bfs_batch(hop, offsets, sources, asked.k, mark_starts=True, check=check)
    values = _column(graph, nodes, asked)
    if not asked.arrow:
        return KHopBatch(ends, values)
    import pyarrow as pa

    return pa.LargeListArray.from_arrays(pa.array(ends, pa.int64()), values)


def khop_paths(graph: Snapshot, seeds: Any, asked: KHop, backend: BackendName, check: Check) -> Any:
    """One shortest path from a seed to each node that `khop` finds and that is not a seed, by ascending length: a list
    of the driver's paths, or an Arrow array of them."""
    sources = _positions(graph, _seed_list(seeds), asked.by)
    found = shortest_paths_from(asked.hop(graph), sources, asked.k, asked.exact, backend, check)
    if not asked.arrow:
        return Hydrator(graph, check).column(found)
    from hoplite.api.arrow import to_array

    return to_array("path", found, lambda: Hydrator(graph, check))


# --- seeds ---


def _seed_list(seeds: Any) -> Any:
    """The seeds as a sequence: a single one counts as a list of one."""
    if type(seeds) is list:
        return seeds
    if isinstance(seeds, str | int | float) or hasattr(seeds, "element_id"):
        return [seeds]
    if hasattr(seeds, "to_pylist"):  # an Arrow array
        return seeds.to_pylist()
    if isinstance(seeds, list | tuple | np.ndarray):
        return seeds
    if not isinstance(seeds, Iterable):
        raise argument_error(f"Seeds are nodes, ids or values, or a list of them, not {seeds!r}")
    return list(seeds)


def _positions(graph: Snapshot, seeds: Sequence[Any], by: tuple[str, str] | None) -> Positions:
    """The positions of the seeds; a seed that does not exist is an error, because a typo should not look like an empty
    answer."""
    if by is not None:
        return _seek(graph, seeds, by)[1]
    ids = _ids(graph, seeds)
    positions = graph.node_positions(ids)
    if positions is not ids and len(missing := ids[positions < 0]):
        raise argument_error(f"There is no node with id {missing[0]}")
    return positions


def _batch_positions(
    graph: Snapshot, seeds: Sequence[Any], offsets: Positions, by: tuple[str, str] | None
) -> tuple[Positions, Positions]:
    """The positions of the seeds of all sets, and where each set begins: several nodes may share a value."""
    if by is None:
        return _positions(graph, seeds, None), offsets
    which, nodes = _seek(graph, seeds, by)
    order = np.argsort(which, kind="stable")
    return nodes[order], np.searchsorted(which[order], offsets)


def _seek(graph: Snapshot, values: Sequence[Any], by: tuple[str, str]) -> tuple[Positions, Positions]:
    label, key = by
    listed = values.tolist() if isinstance(values, np.ndarray) else list(values)
    which, nodes = graph.seek_nodes(label, key, listed)
    if len(which) < len(listed) or len(distinct(which)) < len(listed):
        missing = next(value for number, value in enumerate(listed) if number not in set(which.tolist()))
        raise argument_error(f"There is no node with label {label} whose {key} is {missing!r}")
    return which, nodes


def _ids(graph: Snapshot, seeds: Sequence[Any]) -> NDArray[np.int64]:
    if len(seeds) and isinstance(seeds[0], int | np.integer):
        try:
            ids = np.asarray(seeds)
        except (ValueError, OverflowError):
            ids = None
        if ids is not None and ids.dtype.kind == "i" and ids.ndim == 1:
            return ids.astype(np.int64, copy=False)
    return np.array([_id(graph, seed) for seed in seeds], np.int64)


def _id(graph: Snapshot, seed: Any) -> int:
    element_id = getattr(seed, "element_id", None)
    if element_id is not None:
        _, _, rest = str(element_id).partition(":")
        database, _, number = rest.rpartition(":")
        if database != graph.uuid:
            raise argument_error(f"The node {element_id} is not from this database")
        return int(number)
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool) and 0 <= seed < 2**63:
        return int(seed)
    if isinstance(seed, int | np.integer) and not isinstance(seed, bool):
        raise argument_error(f"There is no node with id {seed}")
    raise argument_error(f"A seed is a node or an id as id(n) gives it, not {seed!r}; for values, say `by`")


# --- what comes out ---


def _column(graph: Snapshot, nodes: Positions | NDArray[np.int32], asked: KHop) -> Any:
    """Ids or values of nodes, as NumPy or Arrow arrays."""
    if asked.by is None:
        column: Column = Integers(graph.node_ids(cast(Positions, nodes)))  # narrow ones stay as they are
    else:
        column = graph.node_property(nodes.astype(np.int64, copy=False), asked.by[1])
    if asked.arrow:
        from hoplite.api.arrow import to_array

        return to_array("value", column, lambda: Hydrator(graph))
    match column:
        case Integers(values=values, nulls=None) | Floats(values=values, nulls=None):
            return values
        case Booleans(values=flags, nulls=None):
            return flags
    values = np.empty(len(column), object)
    values[:] = Hydrator(graph).column(column)
    return values
