"""Others that answer the same question: the nodes within k directed hops of the seeds, the seeds included.

Each is made from a `Shape` and then called with seeds (node numbers) and k; it returns node numbers. A library that is
not installed is reported and left out.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from benchmarks.shapes import Integers, Shape

KHop = Callable[[Integers, int], Any]


def scipy_csr(shape: Shape) -> KHop:
    """Breadth-first over SciPy's CSR arrays, a frontier at a time in NumPy."""
    from scipy.sparse import csr_array

    ones = np.ones(len(shape.start), np.int8)
    matrix = csr_array((ones, (shape.start, shape.end)), shape=(shape.node_count, shape.node_count))
    indptr, indices = matrix.indptr, matrix.indices

    def khop(seeds: Integers, k: int) -> Integers:
        seen = np.zeros(shape.node_count, bool)
        seen[seeds] = True
        frontier = np.unique(seeds)
        for _ in range(k):
            counts = indptr[frontier + 1] - indptr[frontier]
            offsets = np.repeat(indptr[frontier] - np.concatenate(([0], np.cumsum(counts)[:-1])), counts)
            ends = indices[offsets + np.arange(counts.sum())]
            frontier = np.unique(ends[~seen[ends]])
            seen[frontier] = True
            if not len(frontier):
                break
        return np.flatnonzero(seen)

    return khop


def networkx_sets(shape: Shape) -> KHop:
    """Breadth-first over networkx's adjacency, with Python sets."""
    networkx = importlib.import_module("networkx")
    graph = networkx.DiGraph()
    graph.add_nodes_from(range(shape.node_count))
    graph.add_edges_from(zip(shape.start.tolist(), shape.end.tolist(), strict=True))
    adjacency = graph._adj

    def khop(seeds: Integers, k: int) -> set[int]:
        seen = set(seeds.tolist())
        frontier = seen
        for _ in range(k):
            frontier = {end for node in frontier for end in adjacency[node]} - seen
            seen = seen | frontier
        return seen

    return khop


def igraph_neighborhood(shape: Shape) -> KHop:
    """igraph's neighborhood() for each seed, united."""
    igraph = importlib.import_module("igraph")
    graph = igraph.Graph(n=shape.node_count, edges=np.stack([shape.start, shape.end], axis=1), directed=True)

    def khop(seeds: Integers, k: int) -> set[int]:
        found: Iterable[list[int]] = graph.neighborhood(seeds.tolist(), order=k, mode="out")
        return {node for nodes in found for node in nodes}

    return khop


PEERS: dict[str, Callable[[Shape], KHop]] = {
    "scipy": scipy_csr,
    "networkx": networkx_sets,
    "igraph": igraph_neighborhood,
}
