"""Indexes of every kind that is not for equality, and everything that they answer: after a crash or a fault the same as
those of a graph in memory that went through the same commits.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from hoplite.storage.graph import Graph
from hoplite.storage.schema import Entity, Index, IndexKind
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Int64s
from hoplite.values.spatial import Point

_VECTORS = {"indexConfig": {"vector.dimensions": 3, "vector.similarity_function": "EUCLIDEAN"}}
_WANTED = np.array([1.0, 0.25, 0.5], np.float32)
_PARTS = ("graphs", "a", "k", "zzz", "")
_CENTRES = (Point(7203, (1.0, 2.0)), Point(4326, (12.0, 55.0)))


def create_indexes(graph: Graph) -> None:
    """A vector and a full-text index over nodes and over relationships, a text and a point index over nodes."""
    with graph.begin() as tx:
        for entity, name, label, key in (
            (Entity.NODE, "n", "Person", "about"),
            (Entity.RELATIONSHIP, "r", "KNOWS", "note"),
        ):
            tx.create_index(f"{name}-vectors", IndexKind.VECTOR, entity, [label], ["v"], _VECTORS, True)
            keys = [key, "name"] if entity is Entity.NODE else [key]
            tx.create_index(f"{name}-words", IndexKind.FULLTEXT, entity, [label], keys, None, True)
        tx.create_index("texts", IndexKind.TEXT, Entity.NODE, ["Person"], ["about"], None, True)
        tx.create_index("points", IndexKind.POINT, Entity.NODE, ["Person"], ["home"], None, True)


def answers_of(snapshot: Snapshot, names: Mapping[int, Any] | None = None) -> tuple[Any, ...]:
    """What each of these indexes answers, by public ids, or by the names of these."""
    found: list[Any] = []

    def named(index: Index, positions: Int64s) -> list[Any]:
        public = snapshot.node_ids if index.entity is Entity.NODE else snapshot.relationship_ids
        ids: list[Any] = public(positions).tolist()
        return ids if names is None else [names[number] for number in ids]

    for index in sorted(snapshot.schema.indexes, key=lambda index: index.name):
        match index.kind:
            case IndexKind.VECTOR:
                positions, scores = snapshot.nearest(index, _WANTED, 100)
                ids = named(index, positions)
                found.append((index.name, sorted(zip(ids, scores.tolist(), strict=True))))
            case IndexKind.FULLTEXT:
                found.append((index.name, _words(snapshot, index, named)))
            case IndexKind.TEXT:
                label, key = index.labels[0], index.keys[0]
                texts = [snapshot.seek_text(label, key, part, at_end) for part in _PARTS for at_end in (True, False)]
                found.append((index.name, [sorted(named(index, some)) for some in texts]))
            case IndexKind.POINT:
                label, key = index.labels[0], index.keys[0]
                near = [snapshot.seek_near(label, key, centre, 2.0) for centre in _CENTRES]
                near.append(snapshot.seek_box(label, key, _CENTRES[0], Point(7203, (2.0, 3.0))))
                found.append((index.name, [sorted(named(index, some)) for some in near]))
    return tuple(found)


def _words(snapshot: Snapshot, index: Index, named: Callable[[Index, Int64s], list[Any]]) -> list[Any]:
    """Every word of every field: who has it, and where."""
    search = snapshot.text_search(index)
    found: list[Any] = []
    for key in index.keys:
        for word in sorted(search.words(key)):
            postings = search.postings(key, word)
            if postings is None:
                continue  # nobody has it any more
            ids = named(index, search.entities_of(postings.documents))
            places = zip(postings.starts.tolist(), postings.counts.tolist(), strict=True)
            where = [postings.positions[first : first + count].tolist() for first, count in places]
            found.append((key, word, sorted(zip(ids, where, strict=True))))
        _, having, total = search.lengths(key)
        found.append((key, having, total))
    return found
