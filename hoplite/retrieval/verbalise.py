"""Relationships and paths as sentences, each with where it comes from.

    Aspirin treats Headache [evidence: strong]
    Aspirin treats Headache; Migraine is a Headache

A relationship says the same whichever way a path goes along it: its start comes first.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from hoplite.errors import argument_error, driver_errors
from hoplite.retrieval.evidence import EvidencePaths
from hoplite.retrieval.sets import positions_of
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Int64s
from hoplite.values.render import to_string

if TYPE_CHECKING:
    from hoplite.api.database import Database

_NAMES = ("name", "title", "label", "term", "id")


class Verbaliser:
    """How nodes are called and relationships are said.

    `names` has the keys that nodes are called by, the first that a node has. `templates` have the sentence of a type,
    `{"TREATS": "{start} is used against {end}"}`; a type without one is said in its own words. `provenance` has the
    keys of relationships that are put after the sentence, where they have them: source, evidence, dates.
    """

    def __init__(
        self,
        names: Sequence[str] = _NAMES,
        templates: Mapping[str, str] | None = None,
        provenance: Sequence[str] = (),
    ) -> None:
        self._names = tuple(names)
        self._templates = dict(templates or {})
        self._provenance = tuple(provenance)

    def nodes(self, db: Database, ids: Int64s) -> list[str]:
        """What nodes are called; one without a name by its label and id."""
        with driver_errors():
            graph = db._graph.snapshot()
            return self._called(graph, positions_of(graph, np.asarray(ids, np.int64)))

    def relationships(self, db: Database, ids: Int64s) -> list[str]:
        """A sentence for each relationship, by ids as `id(r)` gives them."""
        with driver_errors():
            graph = db._graph.snapshot()
            places = graph.relationship_positions(np.asarray(ids, np.int64))
            if len(places) and places.min() < 0:
                raise argument_error(f"There is no relationship with id {np.asarray(ids)[places < 0][0]}")
            return self.said(graph, places)

    def _called(self, graph: Snapshot, nodes: Int64s) -> list[str]:
        distinct, places = np.unique(nodes, return_inverse=True)
        called: list[str | None] = [None] * len(distinct)
        for key in self._names:
            missing = [number for number, name in enumerate(called) if name is None]
            if not missing:
                break
            values = graph.node_property(distinct[missing], key).objects().tolist()
            for number, value in zip(missing, values, strict=True):
                called[number] = None if value is None else to_string(value)
        for number in (number for number, name in enumerate(called) if name is None):
            (labels,) = graph.label_sets(distinct[number : number + 1])
            called[number] = f"{labels[0] if labels else 'node'} {graph.node_ids(distinct[number : number + 1])[0]}"
        return [called[place] or "" for place in places.tolist()]

    def said(self, graph: Snapshot, relationships: Int64s) -> list[str]:
        """A sentence for each relationship, by positions of one version of the graph."""
        distinct, places = np.unique(relationships, return_inverse=True)
        starts, ends = graph.endpoints(distinct)
        types = [graph.type_names[code] for code in graph.relationship_types(distinct).tolist()]
        called = self._called(graph, np.concatenate((starts, ends)))
        sources = self._sources(graph, distinct)
        said = [
            self._sentence(type_name, start, end) + source
            for type_name, start, end, source in zip(
                types, called[: len(distinct)], called[len(distinct) :], sources, strict=True
            )
        ]
        return [said[place] for place in places.tolist()]

    def paths(self, paths: EvidencePaths) -> list[str]:
        """A line for each path: its relationships in order, with semicolons between."""
        said = self.said(paths.graph, paths.columns.relationships)
        bounds = paths.columns.offsets.tolist()
        return ["; ".join(said[first:last]) for first, last in pairwise(bounds)]

    def _sentence(self, type_name: str, start: str, end: str) -> str:
        template = self._templates.get(type_name)
        if template is None:
            return f"{start} {type_words(type_name)} {end}"
        return template.format(start=start, end=end)

    def _sources(self, graph: Snapshot, relationships: Int64s) -> list[str]:
        """What is told about where each relationship comes from, in brackets."""
        told: list[list[str]] = [[] for _ in relationships]
        for key in self._provenance:
            values: list[Any] = graph.relationship_property(relationships, key).objects().tolist()
            for row, value in enumerate(values):
                if value is not None:
                    listed = value if isinstance(value, list) else [value]
                    told[row].append(f"{key}: {', '.join(map(to_string, listed))}")
        return [f" [{'; '.join(parts)}]" if parts else "" for parts in told]


def type_words(type_name: str) -> str:
    """A relationship type in words: HAS_SYMPTOM is `has symptom`, people.person.place_of_birth `place of birth`."""
    last = type_name.rpartition(".")[2]
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", last)
    return " ".join(re.split(r"[\W_]+", apart.strip("_"))).lower()
