"""Graphs larger than memory: import, opening, hops with a small budget, and LogosKG's experiment with partitions.

    python -m benchmarks.large                    the PubMed shape: 54.4 million nodes, 86.5 million relationships
    python -m benchmarks.large --quick            a fiftieth of it
    python -m benchmarks.large --billion          and a graph of a billion relationships, within 6 GB of memory

Every step runs in its own process, so that its peak memory (`ru_maxrss`) can be told. Published figures are those of
LogosKG (Table 3 of its paper: PubMed graph, 16 partitions, 2 hops and batches of 50 unless stated), on another machine.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hoplite
from benchmarks.large_graph import LargeGraph, billion, pubmed

QUICK = 0.02
PARTITIONS = 16
QUERIES = 150
HOPS, BATCH = 2, 50
GB = 1e9

PUBLISHED_HOPS = {1: 3_411, 2: 1_611, 3: 6_115, 4: 19_592, 5: 62_726}
PUBLISHED_BATCHES = {1: 100_912, 10: 5_489, 25: 1_365, 50: 1_499, 100: 1_445, 150: 1_483}
PUBLISHED_CACHES = {
    1: (441_870, 3_010, 3_009),
    2: (419_437, 2_918, 2_916),
    4: (384_086, 2_659, 2_655),
    8: (304_066, 1_967, 1_959),
    16: (4_038, 16, 0),
}
PUBLISHED_BACKENDS = {"numba": 4_143, "scipy": 3_890, "torch": 245_311}


# --- steps, each in its own process ---


def _import(folder: str, shape: LargeGraph, memory: str, partitions: int | None) -> dict[str, Any]:
    began, cpu = time.perf_counter(), time.process_time()
    with hoplite.open(folder, memory=memory, partitions=partitions) as db:
        db.load(nodes=shape.node_tables(), relationships=shape.relationship_tables())
        stats = db.stats()
    return {
        "seconds": time.perf_counter() - began,
        "cpu_seconds": time.process_time() - cpu,
        "partitions": stats["partitions"],
        "bytes": stats["snapshot_bytes"],
    }


def _open(folder: str, memory: str) -> dict[str, Any]:
    """Only opening: the library is loaded beforehand, with another database."""
    with tempfile.TemporaryDirectory() as other, hoplite.open(Path(other) / "other.hop") as db:
        db.run("RETURN 1").consume()
    cpu, began = time.process_time(), time.perf_counter()
    db = hoplite.open(folder, memory=memory, read_only=True)
    opened = time.perf_counter() - began
    opened_cpu = time.process_time() - cpu
    resident = _resident_bytes()
    db.close()
    return {"seconds": opened, "cpu_seconds": opened_cpu, "resident_bytes": resident}


def _hops(folder: str, shape: LargeGraph, memory: str, queries: int) -> dict[str, Any]:
    """k-hop balls by Cypher text, from the starts of relationships."""
    rows = []
    with hoplite.open(folder, memory=memory, read_only=True) as db:
        seeds = _seeds(shape, 5 * queries)
        for k in range(1, 6):
            text = f"MATCH (a:N {{id: $x}})-[*1..{k}]->(b) RETURN count(DISTINCT b) AS c"
            db.run(text, x=int(seeds[0])).consume()
            times, cpu_times, sizes = [], [], []
            for seed in seeds[(k - 1) * queries : k * queries].tolist():
                began, cpu = time.perf_counter(), time.process_time()
                sizes += db.run(text, x=seed).value()
                times.append(time.perf_counter() - began)
                cpu_times.append(time.process_time() - cpu)
            cache = db.stats()["cache"]
            rows.append(
                {
                    "k": k,
                    "median_ms": 1e3 * float(np.median(times)),
                    "median_cpu_ms": 1e3 * float(np.median(cpu_times)),
                    "longest_cpu_ms": 1e3 * max(cpu_times),
                    "median_nodes": float(np.median(sizes)),
                    "most_nodes": max(sizes),
                    "resident_bytes": _resident_bytes(),
                    "loads": cache["loads"],
                    "evictions": cache["evictions"],
                }
            )
    return {"rows": rows}


def _in_memory(shape: LargeGraph, queries: int) -> dict[str, Any]:
    """The same graph in memory, nodes with one label and an `id` each."""
    db = hoplite.open()
    db.run("RETURN 1").consume()
    before = _resident_bytes()
    began, cpu = time.perf_counter(), time.process_time()
    db.load(nodes={"N": {"id": np.arange(shape.nodes)}}, relationships=shape.relationship_tables())
    taken, taken_cpu = time.perf_counter() - began, time.process_time() - cpu
    resident = _resident_bytes() - before
    base = db._graph.snapshot()._delta.base
    sides = []
    for incidence in (base.outgoing[0], base.incoming[0]):
        arrays = (incidence.indptr, incidence.neighbours, incidence.types, incidence.relationships)
        sides.append(sum(array.nbytes for array in arrays if array is not None))
    rows = []
    seeds = _seeds(shape, 5 * queries)
    for k in range(1, 6):
        text = f"MATCH (a:N {{id: $x}})-[*1..{k}]->(b) RETURN count(DISTINCT b) AS c"
        times = []
        for seed in seeds[(k - 1) * queries : k * queries].tolist():
            began = time.perf_counter()
            db.run(text, x=seed).consume()
            times.append(time.perf_counter() - began)
        rows.append({"k": k, "median_ms": 1e3 * float(np.median(times))})
    return {
        "seconds": taken,
        "cpu_seconds": taken_cpu,
        "resident_bytes": resident,
        "outgoing_bytes": sides[0],
        "incoming_bytes": sides[1],
        "rows": rows,
    }


def _batches(
    folder: str, shape: LargeGraph, held: int, hops: int, batch: int, backend: Any, queries: int
) -> dict[str, Any]:
    """Queries of 1 to 20 random nodes, in batches, with a cache of `held` partitions; twice, because what is loaded is
    verified the first time. All answers are combined into one number, so that runs can be compared."""
    sizes = [path.stat().st_size for path in Path(folder).glob("snapshot-*/partition-*.out")]
    random = np.random.default_rng(3)
    seeds = random.integers(0, shape.nodes, 20 * queries)
    with hoplite.open(folder, memory=held * max(sizes), read_only=True, backend=backend) as db:
        # The positions of the nodes, looked up beforehand: the cache should hold only partitions.
        ids = np.array(db.run("UNWIND $x AS x MATCH (n:N {id: x}) RETURN id(n)", x=seeds.tolist()).value())
        sets = [random.choice(ids, int(random.integers(1, 21))).tolist() for _ in range(queries)]
        before = db.stats()["cache"]
        db.khop([sets[0]], 1, batch=True)  # kernels are loaded
        passes = []
        for _ in range(2):
            began, cpu, found = time.perf_counter(), time.process_time(), 0
            for first in range(0, queries, batch):
                offsets, _ = db.khop(sets[first : first + batch], hops, batch=True)
                found += int(offsets[-1])
            before, earlier = db.stats()["cache"], before
            passes.append(
                {
                    "ms": 1e3 * (time.perf_counter() - began),
                    "cpu_ms": 1e3 * (time.process_time() - cpu),
                    "loads": before["loads"] - earlier["loads"],
                    "evictions": before["evictions"] - earlier["evictions"],
                    "nodes": found,
                }
            )
    return {"passes": passes, "resident_bytes": _resident_bytes()}


def _seeds(shape: LargeGraph, count: int) -> NDArray[np.int64]:
    """Nodes where relationships start, with a probability proportional to their number."""
    start, _ = shape._drawn(np.random.default_rng(11), count)
    return start


def _resident_bytes() -> int:
    try:
        pages = int(Path("/proc/self/statm").read_text().split()[1])
    except OSError:  # no such file outside Linux
        return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return pages * os.sysconf("SC_PAGE_SIZE")


STEPS: dict[str, Callable[..., dict[str, Any]]] = {
    "import": _import,
    "open": _open,
    "hops": _hops,
    "memory": _in_memory,
    "batches": _batches,
}


def _in_a_process(step: str, **arguments: Any) -> dict[str, Any]:
    """Run a step in its own process; returns its result with its peak memory."""
    shape = arguments.get("shape")
    if isinstance(shape, LargeGraph):
        arguments["shape"] = [shape.name, shape.nodes, shape.edges]
    command = [sys.executable, "-m", "benchmarks.large", "--step", step, "--arguments", json.dumps(arguments)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True)
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def _run_step(step: str, arguments: dict[str, Any]) -> None:
    if "shape" in arguments:
        arguments["shape"] = LargeGraph(*arguments["shape"])
    found = STEPS[step](**arguments)
    found["peak_bytes"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps(found))


# --- the whole ---


@contextmanager
def _folder(given: str | None) -> Iterator[Path]:
    if given is not None:
        Path(given).mkdir(parents=True, exist_ok=True)
        yield Path(given)
        return
    with tempfile.TemporaryDirectory(prefix="hoplite-large-") as name:
        yield Path(name)


def _report_import(folder: Path, shape: LargeGraph, memory: str, partitions: int | None) -> dict[str, Any]:
    if folder.exists():
        print(f"\n{shape.name}: the database in {folder} is used as it is")
        return {}
    print(f"\n{shape.name}: {shape.nodes:,} nodes, {shape.edges:,} relationships", flush=True)
    made = _in_a_process("import", folder=str(folder), shape=shape, memory=memory, partitions=partitions)
    print(
        f"  import, budget {memory}: {made['seconds']:.0f} s ({made['cpu_seconds']:.0f} s of CPU), peak "
        f"{made['peak_bytes'] / GB:.2f} GB; {made['bytes'] / GB:.2f} GB in {made['partitions']} partitions",
        flush=True,
    )
    return made


def _report_use(folder: Path, shape: LargeGraph, memory: str, queries: int) -> dict[str, Any]:
    opened = _in_a_process("open", folder=str(folder), memory=memory)
    print(f"  open: {1e3 * opened['seconds']:.1f} ms ({1e3 * opened['cpu_seconds']:.1f} ms of CPU)")
    hops = _in_a_process("hops", folder=str(folder), shape=shape, memory=memory, queries=queries)
    print(f"  k-hop by Cypher, budget {memory}, peak {hops['peak_bytes'] / GB:.2f} GB resident")
    print("   k   median ms  of CPU  longest, CPU  median nodes  most nodes  resident GB   loads  evictions")
    for row in hops["rows"]:
        print(
            f"   {row['k']}  {row['median_ms']:>9.2f}  {row['median_cpu_ms']:>6.2f}  {row['longest_cpu_ms']:>12.1f}  "
            f"{row['median_nodes']:>12,.0f}  "
            f"{row['most_nodes']:>10,}  {row['resident_bytes'] / GB:>11.2f}  {row['loads']:>6}  {row['evictions']:>9}"
        )
    sys.stdout.flush()
    return {"open": opened, "hops": hops}


def _report_memory(shape: LargeGraph, queries: int) -> dict[str, Any]:
    found = _in_a_process("memory", shape=shape, queries=queries)
    print(
        f"  in memory: loaded in {found['seconds']:.0f} s ({found['cpu_seconds']:.0f} s of CPU); outgoing "
        f"{found['outgoing_bytes'] / GB:.2f} GB, incoming {found['incoming_bytes'] / GB:.2f} GB, in all "
        f"{found['resident_bytes'] / GB:.2f} GB resident (peak of the process {found['peak_bytes'] / GB:.2f} GB)"
    )
    print("  k-hop by Cypher in memory, median ms:", ", ".join(f"{row['median_ms']:.2f}" for row in found["rows"]))
    sys.stdout.flush()
    return found


def _report_batches(folder: Path, shape: LargeGraph, queries: int, backends: list[str]) -> list[dict[str, Any]]:
    """LogosKG's experiment: one thing varies, the others stay."""
    print(f"\nbatches of k-hop queries ({queries} queries of 1 to 20 nodes; ms for all of them)")
    print(f"{'first pass':>42} {'again':>40} {'published':>31}")
    found = []

    def one(title: str, published: str, held: int, hops: int, batch: int, backend: str) -> None:
        run = _in_a_process(
            "batches",
            folder=str(folder), shape=shape, held=held, hops=hops, batch=batch, backend=backend, queries=queries,
        )  # fmt: skip
        passes = [
            f"{p['ms']:>8,.0f} ms {p['cpu_ms']:>7,.0f} CPU {p['loads']:>5} loads {p['evictions']:>5} out"
            for p in run["passes"]
        ]
        print(f"  {title:<16} {'  '.join(passes)}  {published}", flush=True)
        found.append({"title": title, "held": held, "hops": hops, "batch": batch, "backend": backend, **run})

    for hops, published in PUBLISHED_HOPS.items():
        one(f"{hops} hops", f"{published:,} ms", PARTITIONS, hops, BATCH, "numba")
    for batch, published in PUBLISHED_BATCHES.items():
        one(f"batches of {batch}", f"{published:,} ms", PARTITIONS, HOPS, batch, "numba")
    for held, (ms, loads, evictions) in PUBLISHED_CACHES.items():
        one(f"{held} in the cache", f"{ms:,} ms {loads:,} loads {evictions:,} out", held, HOPS, BATCH, "numba")
    for backend in backends:
        published_ms = PUBLISHED_BACKENDS.get(backend)
        note = "" if published_ms is None else f"{published_ms:,} ms"
        one(backend, note, PARTITIONS, HOPS, BATCH, backend)
    differing = _differing(found)
    print(
        "  all runs of as many hops found as many nodes" if not differing else f"  ANSWERS DIFFER at hops {differing}"
    )
    return found


def main() -> int:
    """Run what was asked for; 1 if two runs gave different answers."""
    parser = argparse.ArgumentParser(description="Graphs larger than memory.")
    parser.add_argument("--quick", action="store_true", help="a fiftieth of the size")
    parser.add_argument("--billion", action="store_true", help="a graph of a billion relationships, too")
    parser.add_argument("--scale", type=float, help="another size: 1 is the whole")
    parser.add_argument("--folder", help="keep the databases here, and use those that are there")
    parser.add_argument("--only", choices=["use", "memory", "batches", "billion"], help="a part of it")
    parser.add_argument("--json", help="write all figures to this file")
    parser.add_argument("--step", help=argparse.SUPPRESS)
    parser.add_argument("--arguments", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.step is not None:
        _run_step(options.step, json.loads(options.arguments))
        return 0
    scale = options.scale if options.scale is not None else QUICK if options.quick else 1.0
    queries, batch_queries = (10, 30) if scale < 0.1 else (40, QUERIES)
    small, large = ("32MB", "64MB") if scale < 0.1 else ("512MB", "4GB")
    figures: dict[str, Any] = {}
    wanted = {options.only} if options.only else {"use", "memory", "batches"}
    if options.billion:
        wanted.add("billion")
    with _folder(options.folder) as root:
        shape = pubmed(scale)
        place = root / f"pubmed-{scale:g}.hop"
        if wanted & {"use", "batches"}:
            figures["import"] = _report_import(place, shape, small, PARTITIONS)
        if "use" in wanted:
            figures["use"] = _report_use(place, shape, small, queries)
        if "memory" in wanted:
            figures["memory"] = _report_memory(shape, queries)
        if "batches" in wanted:
            backends = ["numba", "scipy", "numpy", *(["torch"] if _has("torch") else [])]
            figures["batches"] = _report_batches(place, shape, batch_queries, backends)
        if "billion" in wanted:
            place, shape = root / f"billion-{scale:g}.hop", billion(scale)
            if options.folder is None:
                shutil.rmtree(root / f"pubmed-{scale:g}.hop", ignore_errors=True)
            figures["billion import"] = _report_import(place, shape, large, None)
            figures["billion use"] = _report_use(place, shape, large, queries)
    if options.json:
        Path(options.json).write_text(json.dumps(figures, indent=1))
    return int(bool(_differing(figures.get("batches", []))))


def _differing(runs: list[dict[str, Any]]) -> list[int]:
    """The numbers of hops for which two runs found different numbers of nodes."""
    by_hops: dict[int, set[int]] = {}
    for run in runs:
        by_hops.setdefault(run["hops"], set()).update(one["nodes"] for one in run["passes"])
    return [hops for hops, nodes in by_hops.items() if len(nodes) > 1]


def _has(module: str) -> bool:
    from importlib.util import find_spec

    return find_spec(module) is not None


if __name__ == "__main__":
    raise SystemExit(main())
