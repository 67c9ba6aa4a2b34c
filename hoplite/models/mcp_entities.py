"""Finding the nodes that names in a question refer to: as written, in another case, as a prefix or a part, misspelt.

Texts are searched label by label and property by property, unique or indexed ones first, within a time limit. Results
of full-text indexes are added.
"""

from __future__ import annotations

import re
import time
import unicodedata
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from hoplite.engine.functions.text_distances import levenshtein_similarity
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Strings

_CHUNK = 20_000  # texts between two time checks
_PROSE = 120  # characters: if texts are longer on average, they are not names
_LIKE = 0.5  # the share of pairs of letters that a misspelt name keeps
_LEAST = 0.6  # lowest similarity reported
_CLOSE = 50  # texts that are compared letter by letter


@dataclass(frozen=True, slots=True)
class Found:
    """A node that a name may refer to."""

    node: int  # its position
    label: str
    key: str
    value: str
    how: str  # exact, case, prefix, part, similar
    score: float


@dataclass(frozen=True, slots=True)
class Search:
    """What was found, the best first; `complete` if nothing was left out for lack of time."""

    found: list[Found]
    complete: bool


def find_entities(graph: Snapshot, name: str, label: str | None, most: int, seconds: float) -> Search:
    """The nodes that a name may refer to, optionally only those with a label."""
    end = time.monotonic() + seconds
    best: dict[int, Found] = {}
    complete = True
    for of_label, key in text_properties(graph, label):
        if time.monotonic() > end:
            complete = False
            break
        complete &= _search(graph, of_label, key, name, end, lambda one: _keep(best, one))
    ordered = sorted(best.values(), key=lambda one: (-one.score, len(one.value), one.value, one.label, one.node))
    return Search(ordered[:most], complete)


def fulltext_indexes(graph: Snapshot, label: str | None) -> list[str]:
    """The names of full-text indexes over nodes with the label, or with any."""
    return [
        index.name
        for index in graph.schema.indexes
        if index.kind is IndexKind.FULLTEXT and index.entity is Entity.NODE and (label is None or label in index.labels)
    ]


def _keep(best: dict[int, Found], one: Found) -> None:
    known = best.get(one.node)
    if known is None or known.score < one.score:
        best[one.node] = one


def text_properties(graph: Snapshot, label: str | None) -> Iterator[tuple[str, str]]:
    """Labels and keys whose values are texts, those that name something first."""
    found = []
    for name in graph.labels_in_use() if label is None else (label,):
        unique = {key for rule in graph.schema.unique(Entity.NODE, name) for key in rule.keys}
        for key in graph.keys_of_label(name):
            rank = 0 if key in unique else 1 if graph.has_index(name, key) else 2 if "name" in key.lower() else 3
            found.append((rank, graph.label_count(name), name, key))
    return ((name, key) for _, _, name, key in sorted(found))


def _search(graph: Snapshot, label: str, key: str, name: str, end: float, keep: Callable[[Found], None]) -> bool:
    """Search the texts of one property; returns whether there was time for all."""
    nodes = graph.nodes_with_label(label)
    wanted = folded(name)
    grams = _grams(wanted)
    close: list[tuple[float, int, str]] = []
    for first in range(0, len(nodes), _CHUNK):
        if time.monotonic() > end:
            return False
        some = nodes[first : first + _CHUNK]
        column = graph.node_property(some, key)
        texts = column.objects().tolist()
        if not isinstance(column, Strings):
            texts = [text if isinstance(text, str) else None for text in texts]
        if first == 0 and is_prose(texts):
            return True
        for node, text in zip(some.tolist(), texts, strict=True):
            if text is None:
                continue
            how, score = _match(text, name, wanted)
            if how:
                keep(Found(node, label, key, text, how, score))
            elif grams:
                low = text.lower()
                share = sum(gram in low for gram in grams) / len(grams)
                if share >= _LIKE:
                    close.append((share, node, text))
    close.sort(key=lambda one: -one[0])
    for _, node, text in close[:_CLOSE]:
        score = levenshtein_similarity(folded(text), wanted)
        if score >= _LEAST:
            keep(Found(node, label, key, text, "similar", round(score * 0.7, 3)))
    return True


def _match(text: str, name: str, wanted: str) -> tuple[str, float]:
    """How a text matches a name, and how well: 1 is identical."""
    if text == name:
        return "exact", 1.0
    if not wanted or len(text) < len(wanted) - 2:
        return "", 0.0
    plain = folded(text)
    if plain == wanted:
        return "case", 0.95
    if plain.startswith(wanted):
        return "prefix", round(0.75 + 0.15 * len(wanted) / len(plain), 3)
    if f" {wanted} " in f" {plain} ":
        return "part", round(0.6 + 0.15 * len(wanted) / len(plain), 3)
    return "", 0.0


def folded(text: str) -> str:
    """A text without case, accents and punctuation."""
    plain = unicodedata.normalize("NFKD", text.casefold())
    letters = "".join(letter for letter in plain if not unicodedata.combining(letter))
    return " ".join(re.findall(r"\w+", letters))


def _grams(text: str) -> list[str]:
    return list(dict.fromkeys(text[at : at + 2] for at in range(len(text) - 1) if " " not in text[at : at + 2]))


def is_prose(texts: list[Any]) -> bool:
    lengths = [len(text) for text in texts if text is not None]
    return not lengths or float(np.mean(lengths)) > _PROSE
