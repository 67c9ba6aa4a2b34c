"""Names as people write them to nodes: as they are stored, in another case, misspelt, by a full-text index, by meaning.

A `Linker` reads the names of the graph once. A batch of mentions goes through the ways one after the other; a mention
goes on to the next way only while nothing was found for it, so that the slow ways see few of them.

    exact       the text itself                                  1
    folded      without case, accents and punctuation            0.95
    full text   what a full-text index says                      up to 0.9, in relation to the best hit
    similar     Levenshtein's similarity, of folded texts        times 0.9
    embedding   the cosine of two vectors                        times 0.9
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, get_args

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.functions.text_distances import levenshtein_similarity
from hoplite.models.mcp_entities import folded, is_prose, text_properties
from hoplite.retrieval.embeddings import Embed, Vectors, top_similar, unit_rows
from hoplite.retrieval.sets import NodeSets
from hoplite.values.columns import Int64s

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.storage.snapshot import Snapshot

Way: TypeAlias = Literal["exact", "folded", "full text", "similar", "embedding"]

_FOLDED, _LESS_SURE = 0.95, 0.9
_SHARED = 0.4  # of the triples of letters that two similar names share at least, of those of the shorter one
_COMPARED = 50  # names that are compared letter by letter


@dataclass(frozen=True, slots=True)
class Link:
    """A node that a mention may stand for: the name of it that was found, how, and how sure that is (1: the same)."""

    node: int
    name: str
    way: Way
    score: float


@dataclass(frozen=True, slots=True)
class Links:
    """What was found for each mention, the best first: mention i has [offsets[i]:offsets[i + 1]] of the columns."""

    offsets: Int64s
    nodes: Int64s
    scores: NDArray[np.float64]
    names: tuple[str, ...]
    ways: tuple[Way, ...]

    def __len__(self) -> int:
        return len(self.offsets) - 1

    def __getitem__(self, mention: int) -> list[Link]:
        """What was found for one mention."""
        rows = range(*self.offsets[range(len(self))[mention] :][:2].tolist())
        return [Link(int(self.nodes[row]), self.names[row], self.ways[row], float(self.scores[row])) for row in rows]

    def best(self) -> Int64s:
        """The best node of each mention; -1 where nothing was found."""
        if not len(self.nodes):
            return np.full(len(self), -1, np.int64)
        first = np.minimum(self.offsets[:-1], len(self.nodes) - 1)
        return np.where(np.diff(self.offsets) > 0, self.nodes[first], -1)

    def seeds(self) -> NodeSets:
        """The best node of each mention as a set, which is empty where nothing was found."""
        best = self.best()
        found = np.flatnonzero(best >= 0)
        return NodeSets.from_rows(found, best[found], len(self))


@dataclass(frozen=True, slots=True)
class Spotted:
    """A name that stands in a text, from one character to another."""

    start: int
    end: int
    text: str


class Linker:
    """Finds the nodes that mentions stand for, in the version of the graph that it was made with.

    `names` are labels with the key that holds a name, or a list of them (synonyms); usually every property whose values
    are short texts. `fulltext` names a full-text index over nodes. `embed` makes vectors of texts.
    """

    def __init__(
        self,
        db: Database,
        names: Iterable[tuple[str, str]] | None = None,
        *,
        fulltext: str | None = None,
        embed: Embed | None = None,
    ) -> None:
        self._db = db
        self._fulltext = fulltext
        self._embed = embed
        graph = db._graph.snapshot()
        texts, nodes = _names(graph, list(text_properties(graph, None)) if names is None else list(names))
        self._texts = texts
        self._nodes = graph.node_ids(nodes)
        self._exact = _places_of(texts)
        self._grams: _Grams | None = None
        self._vectors: Vectors | None = None

    def link(
        self,
        mentions: Sequence[str],
        *,
        ways: Sequence[Way] | None = None,
        most: int = 5,
        least: float = 0.6,
    ) -> Links:
        """The nodes that each mention may stand for, up to a number, with at least that score.

        `ways` are tried in this order, usually all that the linker has what it takes for.
        """
        tried = self._ways() if ways is None else tuple(ways)
        if unknown := set(tried) - set(get_args(Way)):
            raise ValueError(f"{min(unknown)!r} is not a way to link; there are {', '.join(get_args(Way))}")
        found: dict[str, list[Link]] = {mention: [] for mention in mentions}
        for way in tried:
            open_ones = [mention for mention, links in found.items() if not links]
            if open_ones:
                for mention, links in zip(open_ones, self._by(way, open_ones, most), strict=True):
                    found[mention] = _best([link for link in links if link.score >= least], most)
        return _columns([found[mention] for mention in mentions])

    def spot(self, texts: Sequence[str], shortest: int = 3) -> list[list[Spotted]]:
        """The names that stand in each text, as they are or in another case: the longest first, none in another."""
        return [list(self._spotted(text, shortest)) for text in texts]

    @cached_property
    def _folded_texts(self) -> list[str]:
        return [folded(text) for text in self._texts]

    @cached_property
    def _folded(self) -> dict[str, list[int]]:
        return _places_of(self._folded_texts)

    def _ways(self) -> tuple[Way, ...]:
        """Those that it has what it takes for."""
        missing = {"full text": self._fulltext is None, "embedding": self._embed is None}
        return tuple(way for way in get_args(Way) if not missing.get(way))

    def _by(self, way: Way, mentions: list[str], most: int) -> Iterator[Iterable[Link]]:
        match way:
            case "exact":
                return (self._at(self._exact.get(one, ()), way, 1.0) for one in mentions)
            case "folded":
                return (self._at(self._folded.get(folded(one), ()), way, _FOLDED) for one in mentions)
            case "full text":
                return iter(self._by_fulltext(mentions, most))
            case "similar":
                return (self._similar(folded(one)) for one in mentions)
            case "embedding":
                return iter(self._by_vectors(mentions, most))

    def _at(self, places: Iterable[int], way: Way, score: float) -> list[Link]:
        return [Link(int(self._nodes[place]), self._texts[place], way, score) for place in places]

    def _similar(self, mention: str) -> list[Link]:
        if self._grams is None:
            self._grams = _Grams(self._folded_texts)
        found = []
        for place in self._grams.closest(mention, _COMPARED):
            score = _LESS_SURE * levenshtein_similarity(self._folded_texts[place], mention)
            found.append(Link(int(self._nodes[place]), self._texts[place], "similar", score))
        return found

    def _by_fulltext(self, mentions: list[str], most: int) -> list[list[Link]]:
        if self._fulltext is None:
            raise ValueError("A linker needs `fulltext`, the name of an index, to link by full text")
        found: list[list[Link]] = [[] for _ in mentions]
        asked = [[number, words] for number, one in enumerate(mentions) if (words := folded(one))]
        rows = self._db.run(
            "UNWIND $asked AS one CALL db.index.fulltext.queryNodes($index, one[1], {limit: $most}) "
            "YIELD node, score RETURN one[0], id(node), score",
            asked=asked,
            index=self._fulltext,
            most=most,
        ).values()
        name_of = dict(zip(reversed(self._nodes.tolist()), reversed(self._texts), strict=True))
        highest: dict[int, float] = {}
        for number, node, score in rows:
            highest.setdefault(number, score)  # the best comes first
            share = _LESS_SURE * score / highest[number]
            found[number].append(Link(node, name_of.get(node, ""), "full text", share))
        return found

    def _by_vectors(self, mentions: list[str], most: int) -> list[list[Link]]:
        if self._embed is None:
            raise ValueError("A linker needs `embed`, which makes vectors of texts, to link by embeddings")
        if self._vectors is None:
            self._vectors = unit_rows(self._embed(self._texts))
        places, scores = top_similar(unit_rows(self._embed(mentions)), self._vectors, most)
        return [
            [
                Link(int(self._nodes[place]), self._texts[place], "embedding", _LESS_SURE * score)
                for place, score in zip(row, of_row, strict=True)
            ]
            for row, of_row in zip(places.tolist(), scores.tolist(), strict=True)
        ]

    @cached_property
    def _longest(self) -> dict[str, int]:
        """How many words the longest name has that begins with a word."""
        longest: dict[str, int] = {}
        for name in self._folded:
            words = name.split()
            if words:
                longest[words[0]] = max(longest.get(words[0], 0), len(words))
        return longest

    def _spotted(self, text: str, shortest: int) -> Iterator[Spotted]:
        words = _words(text)
        first = 0
        while first < len(words):
            begins = folded(text[slice(*words[first])]).partition(" ")[0]
            for last in range(min(first + self._longest.get(begins, 0), len(words)), first, -1):
                start, end = words[first][0], words[last - 1][1]
                name = folded(text[start:end])
                if len(name) >= shortest and name in self._folded:
                    yield Spotted(start, end, text[start:end])
                    first = last - 1
                    break
            first += 1


class _Grams:
    """Which texts have which triples of letters: `texts[offsets[g]:offsets[g + 1]]` have gram g."""

    def __init__(self, texts: Sequence[str]) -> None:
        numbers: dict[str, int] = {}
        grams: list[int] = []
        sizes: list[int] = []
        for text in texts:
            own = {numbers.setdefault(gram, len(numbers)) for gram in _triples(text)}
            grams.extend(own)
            sizes.append(len(own))
        codes = np.array(grams, np.int64)
        owners = np.repeat(np.arange(len(texts)), sizes)
        order = np.argsort(codes, kind="stable")
        self._numbers = numbers
        self._sizes = np.array(sizes, np.int64)
        self._texts = owners[order]
        self._offsets = np.searchsorted(codes[order], np.arange(len(numbers) + 1))

    def closest(self, text: str, most: int) -> list[int]:
        """The texts that share the largest part of the triples of letters."""
        wanted = set(_triples(text))
        known = [self._numbers[gram] for gram in sorted(wanted) if gram in self._numbers]
        if not known:
            return []
        lists = [self._texts[self._offsets[gram] : self._offsets[gram + 1]] for gram in known]
        shared = np.bincount(np.concatenate(lists), minlength=len(self._sizes))
        candidates = np.flatnonzero(shared >= _SHARED * np.minimum(self._sizes, len(wanted)))
        candidates = candidates[shared[candidates] > 0]
        likeness = 2 * shared[candidates] / (self._sizes[candidates] + len(wanted))
        return [int(place) for place in candidates[np.argsort(-likeness, kind="stable")][:most]]


def _triples(text: str) -> Iterator[str]:
    framed = f" {text} "
    return (framed[at : at + 3] for at in range(len(framed) - 2))


def _words(text: str) -> list[tuple[int, int]]:
    """Where the words of a text begin and end; accents that are characters of their own belong to them."""
    return [found.span() for found in re.finditer(r"[\w\u0300-\u036f]+", text)]


def _names(graph: Snapshot, properties: Sequence[tuple[str, str]]) -> tuple[list[str], Int64s]:
    """The names of nodes and whose they are; those of a list property are names of the same node."""
    texts: list[str] = []
    owners: list[int] = []
    seen: set[tuple[int, str]] = set()
    for label, key in properties:
        nodes = graph.nodes_with_label(label)
        values = graph.node_property(nodes, key).objects().tolist()
        if is_prose([value if isinstance(value, str) else None for value in values]) and not _has_lists(values):
            continue
        for node, value in zip(nodes.tolist(), values, strict=True):
            for text in value if isinstance(value, list) else (value,):
                if isinstance(text, str) and (node, text) not in seen:
                    seen.add((node, text))
                    texts.append(text)
                    owners.append(node)
    return texts, np.array(owners, np.int64)


def _has_lists(values: Sequence[Any]) -> bool:
    return any(isinstance(value, list) for value in values)


def _places_of(texts: Sequence[str]) -> dict[str, list[int]]:
    places: dict[str, list[int]] = {}
    for place, text in enumerate(texts):
        if text:
            places.setdefault(text, []).append(place)
    return places


def _best(links: Sequence[Link], most: int) -> list[Link]:
    """The best links of a mention, each node once."""
    ordered = sorted(links, key=lambda link: (-link.score, len(link.name), link.name, link.node))
    return list({link.node: link for link in reversed(ordered)}.values())[::-1][:most]


def _columns(found: Sequence[Sequence[Link]]) -> Links:
    every = [link for links in found for link in links]
    return Links(
        np.cumsum([0, *map(len, found)], dtype=np.int64),
        np.array([link.node for link in every], np.int64),
        np.array([link.score for link in every], np.float64),
        tuple(link.name for link in every),
        tuple(link.way for link in every),
    )
