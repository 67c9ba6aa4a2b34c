"""Torch on a GPU against compiled loops on the CPU: `python -m benchmarks.gpu [--device cuda] [--scale 1.0]`.

First the answers: every kernel against NumPy on random multigraphs with self-loops, parallel relationships and cycles.
Then the UMLS shape: single queries (1 to 20 seeds) at 1 to 5 hops, and batches of 1,024 of them, through `db.khop` and
through Cypher text; each answer is compared with the CPU's. Medians in milliseconds, warm, answers in the host's memory
as NumPy or Arrow columns.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from functools import partial
from itertools import pairwise
from typing import Any, cast

import numpy as np
from neo4j.exceptions import Neo4jError

import hoplite
from benchmarks.shapes import Integers, Shape, umls
from hoplite.engine.hops import BackendName, Hop, Side
from hoplite.engine.hops.select import backend_named
from hoplite.storage.incidence import Adjacency, Incidence

HOPS = (1, 2, 3, 4, 5)
TEXT = "UNWIND $s AS x MATCH (a:N {{id: x}})-[:E*0..{k}]->(b) RETURN DISTINCT b.id"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cuda", help="a device of Torch's")
    parser.add_argument("--scale", type=float, default=1.0, help="of the UMLS shape")
    parser.add_argument("--queries", type=int, default=50, help="single queries at each number of hops")
    parser.add_argument("--batch", type=int, default=1024, help="queries in a batch")
    options = parser.parse_args()
    import torch

    device = options.device
    where = torch.cuda.get_device_name(device) if device.startswith("cuda") else "the CPU"
    print(f"Torch {torch.__version__} on {where}")
    compare_kernels(cast(BackendName, f"torch:{device}"), graphs=40)
    shape = umls(options.scale)
    measure(shape, device, options.queries, options.batch)
    if device.startswith("cuda"):
        fill_memory(shape, device, options.batch)


# --- the same answers ------------------------------------------------------------------------------------------------


def compare_kernels(backend: BackendName, graphs: int) -> None:
    """Every kernel that runs on the device against NumPy; raises at the first difference."""
    rng = np.random.default_rng(1)
    ours, plain = backend_named(backend), backend_named("numpy")
    compared = 0
    for number in range(graphs):
        nodes = int(rng.integers(1, 3_000 if number % 4 == 0 else 30))
        start, end, code = (rng.integers(0, high, int(rng.integers(0, 4 * nodes))) for high in (nodes, nodes, 4))
        size = min(len(start), len(end), len(code))
        outgoing, incoming = sides(nodes, start[:size], end[:size], code[:size])
        sources = rng.integers(0, nodes, 40)
        offsets = np.array([0, 1, 1, 7, 20, *range(21, 41)])
        groups = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        for side in Side:
            for types in (None, np.array([1, 3], np.int32), np.array([], np.int32)):
                hop = Hop(side, outgoing, incoming, types)
                same(sorted_rows(*ours.expand(hop, sources)), sorted_rows(*plain.expand(hop, sources)))
                for upper in (0, 1, 2, 5, None):
                    for mark in (True, False):
                        found = ours.bfs_nodes(hop, sources[:7], upper, mark_starts=mark)
                        same(np.sort(found), np.sort(plain.bfs_nodes(hop, sources[:7], upper, mark_starts=mark)))
                        same(
                            sorted_rows(*ours.bfs_levels(hop, groups, sources, upper, mark_starts=mark)[:3]),
                            sorted_rows(*plain.bfs_levels(hop, groups, sources, upper, mark_starts=mark)[:3]),
                        )
                        many = ours.bfs_batch(hop, offsets, sources, upper, mark_starts=mark)
                        wanted = plain.bfs_batch(hop, offsets, sources, upper, mark_starts=mark)
                        same(many.offsets, wanted.offsets)
                        for first, last in pairwise(many.offsets.tolist()):
                            same(np.sort(many.nodes[first:last]), np.sort(wanted.nodes[first:last]))
                        compared += 3
    print(f"{backend} against NumPy: {compared:,} answers over {graphs} random multigraphs are the same")


def sides(nodes: int, start: Integers, end: Integers, code: Integers) -> tuple[Adjacency, Adjacency]:
    order = np.lexsort((end, code, start))
    start, end, code = start[order], end[order], code[order]
    back = np.lexsort((start, code, end))
    return one_side(nodes, start, end, code, None), one_side(nodes, end[back], start[back], code[back], back)


def one_side(nodes: int, near: Integers, far: Integers, code: Integers, numbers: Integers | None) -> Adjacency:
    indptr = np.concatenate(([0], np.cumsum(np.bincount(near, minlength=nodes)))).astype(np.int64)
    return Adjacency(nodes, (Incidence(indptr, far.astype(np.int32), code.astype(np.int32), numbers),))


def sorted_rows(*columns: Any) -> Any:
    table = np.stack([np.asarray(column, np.int64) for column in columns], axis=1)
    return table[np.lexsort(table.T)]


def same(found: Any, wanted: Any) -> None:
    if not np.array_equal(found, wanted):
        raise SystemExit(f"DIFFERENT: {found} where NumPy has {wanted}")


# --- the UMLS shape --------------------------------------------------------------------------------------------------


def database(shape: Shape, **settings: Any) -> hoplite.Database:
    db = hoplite.open(**settings)
    db.load(  # which makes `id` unique
        nodes={"N": {"id": np.arange(shape.node_count)}},
        relationships={("N", "E", "N"): {"start": shape.start, "end": shape.end}},
    )
    return db


def measure(shape: Shape, device: str, queries: int, batch: int) -> None:
    rng = np.random.default_rng(3)
    starts = np.unique(shape.start)
    seeds = [rng.choice(starts, rng.integers(1, 21), replace=False).tolist() for _ in range(max(queries, batch))]
    names = {"numba": {"backend": "numba"}, f"torch {device}": {"backend": "torch", "device": device}}
    opened = {name: database(shape, **settings) for name, settings in names.items()}
    print(f"\nUMLS shape: {shape.node_count:,} nodes, {len(shape.start):,} relationships; median ms")
    head("", [f"k={k}" for k in HOPS])
    for label, ask in (("khop", by_khop), ("Cypher", by_cypher)):
        answers: dict[int, list[Integers]] = {}
        for name, db in opened.items():
            row = []
            for k in HOPS:
                times, found = timed([partial(ask, db, some, k) for some in seeds[:queries]])
                found = [np.sort(ids) for ids in found]
                for mine, theirs in zip(found, answers.setdefault(k, found), strict=True):
                    same(mine, theirs)
                row.append(statistics.median(times))
            head(f"{label}, {name}", [f"{value:.3f}" for value in row])
    print(f"\nBatches of {batch:,} queries; ms for the whole batch")
    head("", [f"k={k}" for k in HOPS])
    for name, db in opened.items():
        row = []
        for k in HOPS:
            # Pinned memory is allocated in the first calls, and kept.
            times, found = timed([partial(db.khop, seeds[:batch], k, batch=True)] * 5)
            offsets, ids = found[-1]
            for number in range(0, batch, 37):
                expected = np.sort(by_khop(opened["numba"], seeds[number], k))
                same(np.sort(ids[offsets[number] : offsets[number + 1]]), expected)
            row.append(min(times))
        head(f"khop, {name}", [f"{value:.1f}" for value in row])


def fill_memory(shape: Shape, device: str, batch: int) -> None:
    """A batch that does not fit at once runs in parts; if not even the graph fits, the query says so."""
    import torch

    resident, other = (database(shape, backend="torch", device=device) for _ in range(2))
    seeds = [[number] for number in np.unique(shape.start)[:batch].tolist()]
    wanted = resident.khop(seeds, 4, batch=True)
    whole, number = torch.cuda.get_device_properties(device).total_memory, torch.device(device).index or 0
    words = 3 * shape.node_count * batch // 8
    print("\nWith little memory left on the device:")
    for name, db, spare in (("two thirds of what the batch needs", resident, 2 * words // 3), ("none", other, 0)):
        torch.cuda.empty_cache()
        torch.cuda.set_per_process_memory_fraction((torch.cuda.memory_reserved(device) + spare) / whole, number)
        try:
            found = db.khop(seeds, 4, batch=True)
        except Neo4jError as error:
            print(f"  {name}: {error.code}: {error.message}")
        else:
            same(found[0], wanted[0])
            same(found[1], wanted[1])
            print(f"  {name}: the same {len(found[1]):,} nodes")
        torch.cuda.set_per_process_memory_fraction(1.0, number)


def by_khop(db: hoplite.Database, seeds: list[int], k: int) -> Any:
    return db.khop(seeds, k)


def by_cypher(db: hoplite.Database, seeds: list[int], k: int) -> Any:
    return db.run(TEXT.format(k=k), s=seeds).to_arrow().column(0).to_numpy()


def timed(calls: list[Callable[[], Any]]) -> tuple[list[float], list[Any]]:
    """The milliseconds and the result of each call; the first one is made twice, because it loads and compiles."""
    calls[0]()
    times, found = [], []
    for call in calls:
        began = time.perf_counter()
        found.append(call())
        times.append((time.perf_counter() - began) * 1000)
    return times, found


def head(name: str, cells: list[str]) -> None:
    print(f"{name:24}" + "".join(f"{cell:>10}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
