"""The queries of `workloads.py` written by hand over arrays: the answers to compare with, and the cost of the data
alone.

Not an engine: no parser, no planner, no transactions, one function per query. It groups by node where the queries group
by name, which is the same only because names are unique here. Names are an Arrow column; lower-cased names are one
joined text.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy.sparse import csr_array

from benchmarks.engine import Row
from benchmarks.shapes import Integers, Shape
from benchmarks.workloads import parameters


class _Ends:
    """Relationships of one type by their start (or end): the other nodes of `node` are ends[starts[node]:...]."""

    def __init__(self, start: Integers, end: Integers, nodes: int) -> None:
        self.starts = np.zeros(nodes + 1, np.int64)
        np.cumsum(np.bincount(start, minlength=nodes), out=self.starts[1:])
        self.ends = end[np.argsort(start, kind="stable")]

    def of(self, node: int) -> Integers:
        return self.ends[self.starts[node] : self.starts[node + 1]]

    def degree(self, nodes: Integers) -> Integers:
        return self.starts[nodes + 1] - self.starts[nodes]

    def of_all(self, nodes: Integers) -> Integers:
        return np.concatenate([self.of(node) for node in nodes.tolist()]) if len(nodes) else nodes

    def matrix(self, nodes: int) -> csr_array[Any]:
        ones = np.ones(len(self.ends), bool)
        return csr_array((ones, self.ends, self.starts), shape=(nodes, nodes))


class ByHand:
    """Answers as columns, by the key of the query."""

    def __init__(self, shape: Shape) -> None:
        nodes = self.nodes = shape.node_count
        self.asked = int(parameters(shape)["e1"]["id"])
        self.every = _Ends(shape.start, shape.end, nodes)
        self.symptoms = _Ends(*shape.ends("HAS_SYMPTOM"), nodes)
        self.causes = _Ends(*shape.ends("CAUSES"), nodes)
        self.treated_by = _Ends(*shape.ends("TREATS")[::-1], nodes)
        self.interactions = _Ends(*shape.ends("INTERACTS_WITH"), nodes)
        self.by_disease = self.treated_by.matrix(nodes)
        self.by_drug = self.causes.matrix(nodes)
        self.names: Any = pa.array(shape.names)
        self.diseases = shape.nodes("Disease")
        lowered = [shape.names[node].lower() for node in self.diseases.tolist()]
        self.searched = "\n".join(lowered)
        self.begins = np.concatenate(([0], np.cumsum([len(name) + 1 for name in lowered])))

    def ask(self, key: str) -> list[Any]:
        """The columns of the answer."""
        columns: list[Any] = getattr(self, f"_{key}")()
        return columns

    def rows(self, key: str) -> list[Row]:
        """The rows of the answer."""
        columns = [column.to_pylist() if isinstance(column, pa.Array) else list(column) for column in self.ask(key)]
        return [tuple(row) for row in zip(*columns, strict=True)]

    def is_path(self, nodes: Row) -> bool:
        """Whether the query c1 may give this path, as the numbers of its nodes."""
        if not 2 <= len(nodes) <= 3 or nodes[0] != self.asked:
            return False
        return all(end in self.interactions.of(start) for start, end in pairwise(nodes))

    def _named(self, nodes: Integers) -> Any:
        return self.names.take(pa.array(nodes))

    def _containing(self, word: str) -> Integers:
        """Diseases with a word in their lower-cased names: one search of the joined text, from hit to hit."""
        found = []
        at = self.searched.find(word)
        while at >= 0:
            place = int(np.searchsorted(self.begins, at, side="right")) - 1
            found.append(place)
            at = self.searched.find(word, int(self.begins[place + 1]))
        return self.diseases[found]

    def _e1(self) -> list[Any]:
        return [self._named(np.array([self.asked]))]

    def _e2(self) -> list[Any]:
        return [self.every.of(self.asked)]

    def _a(self) -> list[Any]:
        return [self._named(self.symptoms.of_all(self._containing("alzheimer")))]

    def _b(self) -> list[Any]:
        drugs = np.unique(self.treated_by.of_all(self._containing("asthma")))
        pairs = np.unique(self.causes.of_all(drugs) * self.nodes + np.repeat(drugs, self.causes.degree(drugs)))
        return [self._named(pairs // self.nodes), self._named(pairs % self.nodes)]

    def _c1(self) -> list[Any]:
        """The nodes of the first paths that a depth-first walk meets; -1 where a path has only two."""
        first, second, third = [], [], []
        found = 0
        for near in self.interactions.of(self.asked).tolist():
            far = self.interactions.of(near)[: 1000 - found - 1]
            first.append(np.full(len(far) + 1, self.asked))
            second.append(np.full(len(far) + 1, near))
            third.append(np.concatenate(([-1], far)))
            found += len(far) + 1
            if found == 1000:
                break
        return [np.concatenate(part) for part in (first, second, third)]

    def _c2(self) -> list[Any]:
        near = self.interactions.of(self.asked)
        return [[len(near) + int(self.interactions.degree(near).sum())]]

    def _d1(self) -> list[Any]:
        return self._top(np.diff(self.causes.starts))

    def _d2(self) -> list[Any]:
        return self._top(np.diff((self.by_disease @ self.by_drug).indptr))

    def _top(self, counts: NDArray[Any]) -> list[Any]:
        """The ten largest, ties in order of name."""
        least = np.partition(counts, -10)[-10]
        chosen = np.flatnonzero(counts >= least)
        order = pc.sort_indices(
            pa.table({"count": pa.array(counts[chosen]), "name": self._named(chosen)}),
            sort_keys=[("count", "descending"), ("name", "ascending")],
        )
        best = chosen[np.asarray(order)[:10]]
        return [self._named(best), counts[best].tolist()]
