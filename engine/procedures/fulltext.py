"""Full-text indexes: a Lucene query in, the matching entities and their scores out, best first."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.functions.arguments import is_number
from hoplite.engine.guard import Stopped
from hoplite.engine.procedures.fulltext_scores import Scoring
from hoplite.engine.procedures.lucene import QueryError, parse_query
from hoplite.engine.procedures.lucene_regexp import RegexpError
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.engine.procedures.vectors import index_for
from hoplite.errors import transaction_timed_out
from hoplite.storage.schema import Entity, IndexKind
from hoplite.storage.search.analyzers import ANALYZERS, Analyzer, analyzer, is_known
from hoplite.storage.search.fulltext import analyzer_of
from hoplite.values.columns import Floats, Int64s, Nodes, Relationships


def _query(
    context: Execution, procedure: str, entity: Entity, name: str, text: str, options: dict[str, Any]
) -> tuple[Int64s, Floats]:
    """The entities that match, best first, and their scores."""
    index = index_for(context, procedure, name, IndexKind.FULLTEXT, entity)
    options = options or {}
    chosen = options.get("analyzer")
    analyze = analyzer_of(index) if chosen is None else _search_analyzer(procedure, chosen)
    try:
        query = parse_query(text or "", index.keys, analyze)
    except (QueryError, RegexpError) as failure:
        raise call_failed(procedure, failure.java_class, str(failure)) from None
    search = context.graph.text_search(index)
    scoring = Scoring(search, index.keys, context.check_time, context.seconds_left)
    try:
        hits = scoring.hits(query)
    except TimeoutError:
        raise Stopped.by(transaction_timed_out()) from None
    skip, limit = (_whole_option(procedure, options, name) for name in ("skip", "limit"))
    skip = skip or 0
    documents, scores = hits.documents, hits.scores
    end = None if limit is None else skip + limit
    if end is not None and 0 < end < len(scores):
        best = np.flatnonzero(scores >= np.partition(scores, len(scores) - end)[len(scores) - end])
        documents, scores = documents[best], scores[best]
    entities = search.entities_of(documents)
    order = np.lexsort((entities, -scores))[skip:end]
    return entities[order], Floats(scores[order].astype(np.float64))


def _search_analyzer(procedure: str, name: Any) -> Analyzer:
    if not isinstance(name, str) or not is_known(name):
        message = f"Could not create fulltext analyzer: {name}. Could not find service provider "
        provider = f"org.neo4j.graphdb.schema.AnalyzerProvider[{name}]"
        raise call_failed(procedure, "java.lang.RuntimeException", message + provider)
    return analyzer(name)


def _whole_option(procedure: str, options: dict[str, Any], name: str) -> int | None:
    """An option that is a number; anything else is ignored."""
    value: Any = options.get(name)
    if not is_number(value):
        return None
    if value < 0:
        message = f"{name.capitalize()} argument cannot be negative: {int(value)}."
        raise call_failed(procedure, "java.lang.IllegalStateException", message)
    return int(value)


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
def query_nodes(context: Execution, name: str, text: str, options: dict[str, Any]) -> Iterator[Batch]:
    """Nodes, best first."""
    nodes, scores = _query(context, "db.index.fulltext.queryNodes", Entity.NODE, name, text, options)
    yield Batch({"node": Nodes(nodes), "score": scores}, len(nodes))


@cypher_procedure(
    "db.index.fulltext.queryRelationships(indexName :: STRING, queryString :: STRING, options = {} :: MAP) :: "
    "(relationship "
    ":: RELATIONSHIP, score :: FLOAT)",
    description="Query the given full-text index. Returns the matching relationships and their Lucene query score, "
    "ordered "
    f"by score.{_OPTIONS}",
)
def query_relationships(context: Execution, name: str, text: str, options: dict[str, Any]) -> Iterator[Batch]:
    """Relationships, best first."""
    procedure = "db.index.fulltext.queryRelationships"
    found, scores = _query(context, procedure, Entity.RELATIONSHIP, name, text, options)
    yield Batch({"relationship": Relationships(found), "score": scores}, len(found))


@cypher_procedure(
    "db.index.fulltext.listAvailableAnalyzers() :: (analyzer :: STRING, description :: STRING, stopwords :: "
    "LIST<STRING>)",
    description="List the available analyzers that the full-text indexes can be configured with.",
)
def list_analyzers(context: Execution) -> Iterator[Row]:
    """The analyzers of this engine."""
    for name in ANALYZERS:
        known = analyzer(name)
        yield (name, known.description, list(known.listed_stop_words))
