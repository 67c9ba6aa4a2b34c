"""Full-text indexes: a Lucene query in, the matching entities and their scores out, best first.

The index of a snapshot is made when it is first asked, and kept as long as the snapshot: for each field the words of
every document. Words are scored by BM25 (k1 = 1.2, b = 0.75), as Lucene scores them; wildcards and ranges score 1.
"""

from __future__ import annotations

import math
import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any, assert_never
from weakref import WeakKeyDictionary

import numpy as np

from hoplite.engine.context import Execution
from hoplite.engine.guard import Stopped
from hoplite.engine.procedures.lucene import (
    Boolean,
    Fuzzy,
    Occur,
    Query,
    QueryError,
    Range,
    Wildcard,
    Words,
    parse_query,
)
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.engine.procedures.vectors import index_for
from hoplite.errors import transaction_timed_out
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.schema import Entity, Index, IndexKind
from hoplite.storage.snapshot import Snapshot
from hoplite.values.columns import Int64s
from hoplite.values.entities import NodeRef, RelationshipRef

_K1, _B = 1.2, 0.75
_WORD = lazy_pattern(r"\w+(?:['’.]\w+)*")  # noqa: RUF001
_ENGLISH_STOP_WORDS = frozenset(
    (
        "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it", "no",
        "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these", "they", "this", "to",
        "was", "will", "with",
    )
)  # fmt: skip

Scores = dict[int, float]


def _standard(text: str) -> list[str]:
    return [word.lower() for word in _WORD.findall(text)]


ANALYZERS: dict[str, tuple[Callable[[str], list[str]], str]] = {
    "standard-no-stop-words": (_standard, "The default analyzer. Words in lower case; no words are left out."),
    "standard": (
        lambda text: [word for word in _standard(text) if word not in _ENGLISH_STOP_WORDS],
        "Words in lower case, without English stop words.",
    ),
    "simple": (lambda text: re.findall(r"[^\W\d_]+", text.lower()), "Runs of letters, in lower case."),
    "whitespace": (str.split, "What stands between white space, as it is."),
    "keyword": (lambda text: [text], "The whole text as one word."),
}
DEFAULT_ANALYZER = "standard-no-stop-words"


@dataclass(slots=True)
class _Field:
    """The words of one property.

    For each word the documents that have it and how often; the length of each document.
    """

    postings: dict[str, Counter[int]] = field(default_factory=lambda: defaultdict(Counter))
    lengths: dict[int, int] = field(default_factory=dict)
    texts: dict[int, list[str]] = field(default_factory=dict)

    def add(self, document: int, words: list[str]) -> None:
        self.texts[document] = words
        self.lengths[document] = len(words)
        for word in words:
            self.postings[word][document] += 1

    def scores(self, frequencies: Counter[int]) -> Scores:
        """BM25 of something that occurs so often in these documents."""
        count, having = len(self.lengths), len(frequencies)
        average = sum(self.lengths.values()) / count if count else 1.0
        rarity = math.log(1 + (count - having + 0.5) / (having + 0.5))
        return {
            document: rarity * times / (times + _K1 * (1 - _B + _B * self.lengths[document] / average))
            for document, times in frequencies.items()
        }


@dataclass(slots=True)
class _FullText:
    entities: Int64s
    fields: dict[str, _Field]
    analyze: Callable[[str], list[str]]


_indexes: WeakKeyDictionary[Snapshot, dict[str, _FullText]] = WeakKeyDictionary()


def _index(context: Execution, index: Index) -> _FullText:
    graph = context.graph
    known = _indexes.setdefault(graph, {}) if type(graph) is Snapshot else {}
    if index.name not in known:
        known[index.name] = _build(context, index)
    return known[index.name]


def _build(context: Execution, index: Index) -> _FullText:
    graph = context.graph
    if index.entity is Entity.NODE:
        members = [graph.nodes_with_label(label) for label in index.labels]
    else:
        members = [graph.relationships_with_type(name) for name in index.labels]
    entities = np.unique(np.concatenate(members))
    analyze = ANALYZERS.get(str(index.config.get("fulltext.analyzer")), ANALYZERS[DEFAULT_ANALYZER])[0]
    fields: dict[str, _Field] = {}
    for key in index.keys:
        read = graph.node_property if index.entity is Entity.NODE else graph.relationship_property
        made = fields[key] = _Field()
        for document, value in enumerate(read(entities, key).objects()):
            texts = value if isinstance(value, list) else [value]
            if value is not None and texts and all(isinstance(text, str) for text in texts):
                made.add(document, [word for text in texts for word in analyze(text)])
    return _FullText(entities, fields, analyze)


# --- searching ---


def _search(index: _FullText, query: Query, context: Execution) -> Scores:
    match query:
        case Boolean(clauses=clauses, boost=boost):
            return _boosted(_combined(index, clauses, context), boost)
        case Words(boost=boost):
            return _boosted(_words(index, query), boost)
        case Wildcard(matches=matches, field=name, boost=boost):
            return _constant(index, name, lambda word: matches(word, context.seconds_left()), boost)
        case Range(field=name, boost=boost):
            return _constant(index, name, lambda word: _within(word, query), boost)
        case Fuzzy(text=text, edits=edits, field=name, boost=boost):
            return _boosted(_fuzzy(index, name, text, edits), boost)
        case _:
            assert_never(query)


def _boosted(scores: Scores, boost: float) -> Scores:
    return scores if boost == 1 else {document: score * boost for document, score in scores.items()}


def _combined(index: _FullText, clauses: tuple[tuple[Occur, Query], ...], context: Execution) -> Scores:
    total: Scores = {}
    required: list[set[int]] = []
    excluded: set[int] = set()
    for occur, clause in clauses:
        scores = _search(index, clause, context)
        if occur is Occur.MUST_NOT:
            excluded |= scores.keys()
            continue
        if occur is Occur.MUST:
            required.append(set(scores))
        for document, score in scores.items():
            total[document] = total.get(document, 0.0) + score
    kept = set.intersection(*required) if required else set(total)
    return {document: total[document] for document in kept - excluded}


def _fields(index: _FullText, name: str | None) -> Iterator[_Field]:
    if name is None:
        yield from index.fields.values()
    elif name in index.fields:
        yield index.fields[name]


def _words(index: _FullText, query: Words) -> Scores:
    words = index.analyze(query.text)
    total: Scores = {}
    for one in _fields(index, query.field):
        if query.phrase and len(words) > 1:
            found = [one.scores(_phrase(one, words))]
        else:
            found = [one.scores(one.postings[word]) for word in words if word in one.postings]
        for scores in found:
            for document, score in scores.items():
                total[document] = total.get(document, 0.0) + score
    return total


def _phrase(one: _Field, words: list[str]) -> Counter[int]:
    """How often the words stand side by side, in each document."""
    found: Counter[int] = Counter()
    if not all(word in one.postings for word in words):
        return found
    for document in set.intersection(*(set(one.postings[word]) for word in words)):
        text = one.texts[document]
        times = sum(text[start : start + len(words)] == words for start in range(len(text)))
        if times:
            found[document] = times
    return found


def _constant(index: _FullText, name: str | None, fits: Callable[[str], bool], boost: float) -> Scores:
    documents: set[int] = set()
    for one in _fields(index, name):
        for word, postings in one.postings.items():
            if fits(word):
                documents |= postings.keys()
    return dict.fromkeys(documents, boost)


def _within(word: str, query: Range) -> bool:
    above = query.low is None or query.low < word or (query.include_low and word == query.low)
    below = query.high is None or word < query.high or (query.include_high and word == query.high)
    return above and below


def _fuzzy(index: _FullText, name: str | None, text: str, edits: int) -> Scores:
    total: Scores = {}
    for one in _fields(index, name):
        for word, postings in one.postings.items():
            distance = _edit_distance(text, word, edits)
            if distance <= edits:
                closeness = 1.0 - distance / min(len(text), len(word))
                for document, score in one.scores(postings).items():
                    total[document] = total.get(document, 0.0) + score * max(closeness, 0.0)
    return total


def _edit_distance(left: str, right: str, limit: int) -> int:
    """Insertions, deletions, replacements and swaps of neighbours; anything above the limit is the limit plus one."""
    if abs(len(left) - len(right)) > limit:
        return limit + 1
    before: list[int] = []
    previous = list(range(len(right) + 1))
    for row, here in enumerate(left, 1):
        current = [row]
        for column, there in enumerate(right, 1):
            cost = min(previous[column] + 1, current[-1] + 1, previous[column - 1] + (here != there))
            if row > 1 and column > 1 and here == right[column - 2] and left[row - 2] == there:
                cost = min(cost, before[column - 2] + 1)
            current.append(cost)
        before, previous = previous, current
    return min(previous[-1], limit + 1)


# --- procedures ---


def _query(
    context: Execution, procedure: str, entity: Entity, name: str, text: str, options: dict[str, Any]
) -> Iterator[tuple[int, float]]:
    index = index_for(context, procedure, name, IndexKind.FULLTEXT, entity)
    try:
        query = parse_query(text or "")
    except QueryError as failure:
        raise call_failed(procedure, "org.apache.lucene.queryparser.classic.ParseException", str(failure)) from None
    made = _index(context, index)
    try:
        scores = _search(made, query, context)
    except TimeoutError:
        raise Stopped.by(transaction_timed_out()) from None
    ranked = sorted(scores.items(), key=lambda found: (-found[1], found[0]))
    skip, limit = int((options or {}).get("skip") or 0), (options or {}).get("limit")
    for document, score in ranked[skip : None if limit is None else skip + int(limit)]:
        yield int(made.entities[document]), score


_OPTIONS = (
    "\nValid _key: value_ pairs for the `options` map are:\n\n* 'skip' -- to skip the top N results.\n* 'limit' -- to "
    "limit "
    "the number of results returned.\n* 'analyzer' -- to use the specified analyzer as a search analyzer for this "
    "query.\n\n"
    "The `options` map and any of the keys are optional.\nAn example of the `options` map: `{skip: 30, limit: 10, "
    "analyzer: "
    "'whitespace'}`\n"
)


@cypher_procedure(
    "db.index.fulltext.queryNodes(indexName :: STRING, queryString :: STRING, options = {} :: MAP) :: (node :: NODE, "
    "score "
    ":: FLOAT)",
    description="Query the given full-text index. Returns the matching nodes and their Lucene query score, ordered by "
    f"score.{_OPTIONS}",
)
def query_nodes(context: Execution, name: str, text: str, options: dict[str, Any]) -> Iterator[Row]:
    """Nodes, best first."""
    for node, score in _query(context, "db.index.fulltext.queryNodes", Entity.NODE, name, text, options):
        yield (NodeRef(node), score)


@cypher_procedure(
    "db.index.fulltext.queryRelationships(indexName :: STRING, queryString :: STRING, options = {} :: MAP) :: "
    "(relationship "
    ":: RELATIONSHIP, score :: FLOAT)",
    description="Query the given full-text index. Returns the matching relationships and their Lucene query score, "
    "ordered "
    f"by score.{_OPTIONS}",
)
def query_relationships(context: Execution, name: str, text: str, options: dict[str, Any]) -> Iterator[Row]:
    """Relationships, best first."""
    procedure = "db.index.fulltext.queryRelationships"
    for relationship, score in _query(context, procedure, Entity.RELATIONSHIP, name, text, options):
        yield (RelationshipRef(relationship), score)


@cypher_procedure(
    "db.index.fulltext.listAvailableAnalyzers() :: (analyzer :: STRING, description :: STRING, stopwords :: "
    "LIST<STRING>)",
    description="List the available analyzers that the full-text indexes can be configured with.",
)
def list_analyzers(context: Execution) -> Iterator[Row]:
    """The analyzers of this engine."""
    for name, (_, description) in ANALYZERS.items():
        yield (name, description, sorted(_ENGLISH_STOP_WORDS) if name == "standard" else [])
