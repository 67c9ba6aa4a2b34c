"""Facts around entities by Cypher, and those of them that matter to a question.

Pruning is KG-RAG's: of the facts around one entity those are kept whose cosine with the question is above a percentile
of them all and not below a least value, and of these the best, as many as the entity's share of the context allows.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import hoplite
from hoplite.retrieval import Embed, unit_rows
from hoplite.retrieval.verbalise import type_words

_FACT = """labels(startNode(r))[0] AS start_label, startNode(r).name AS start, type(r) AS verb,
           labels(endNode(r))[0] AS end_label, endNode(r).name AS end, r.source AS source"""
_AROUND = f"MATCH (d)-[r]-() WHERE id(d) IN $entities RETURN id(d) AS entity, {_FACT}"
_DIRECT = f"""
MATCH (d)-[r]-(n) WHERE id(d) IN $entities AND n.name IN $options
RETURN {_FACT} ORDER BY verb, start, end"""
_SHARED = f"""
MATCH (a)-[one]-(n)-[other]-(b) WHERE id(a) IN $entities AND id(b) IN $entities AND id(a) < id(b)
WITH DISTINCT n, one, other ORDER BY n.name IN $options DESC, n.name
UNWIND [one, other] AS r
WITH DISTINCT r LIMIT $limit
RETURN {_FACT}"""
_PATHS = f"""
MATCH (d)-[one]-(between)-[other]-(n)
WHERE id(d) IN $entities AND n.name IN $options AND NOT id(between) IN $entities
WITH d, n, collect([one, other])[..$each] AS ways
UNWIND ways AS way UNWIND way AS r
WITH DISTINCT r
RETURN {_FACT}"""


@dataclass(frozen=True, slots=True)
class Fact:
    """A relationship in words, with where it comes from."""

    start_label: str
    start: str
    verb: str
    end_label: str
    end: str
    source: str

    @property
    def claim(self) -> str:
        """The fact alone: what is compared with a question."""
        return f"{self.start_label} {self.start} {type_words(self.verb)} {self.end_label} {self.end}"

    @property
    def sentence(self) -> str:
        """The fact with its provenance."""
        return f"{self.claim} (source: {self.source})."


@dataclass(frozen=True, slots=True)
class Pruning:
    """What of the facts is kept; KG-RAG's own settings, but for the least cosine, which depends on the embedding."""

    percentile: float = 75.0
    least: float = 0.1
    most: int = 150

    def keep(self, cosines: NDArray[np.float32], share: int) -> NDArray[np.int64]:
        """The places of what is kept, the best first."""
        if not len(cosines):
            return np.zeros(0, np.int64)
        order = np.argsort(-cosines, kind="stable")
        bound = max(float(np.percentile(cosines, self.percentile)), self.least)
        return order[cosines[order] >= bound][: max(1, self.most // max(share, 1))]


@dataclass(frozen=True, slots=True)
class Around:
    """The facts around an entity and a row of a matrix for each."""

    facts: tuple[Fact, ...]
    vectors: NDArray[np.float32]


class Facts:
    """A graph as facts. `unsourced` is the provenance of relationships that have no property `source`."""

    def __init__(self, db: hoplite.Database, embed: Embed, unsourced: str = "the graph") -> None:
        self._db = db
        self._embed = embed
        self._unsourced = unsourced
        self._known: dict[int, Around] = {}

    def vectors(self, texts: Sequence[str]) -> NDArray[np.float32]:
        """Texts as rows of length one."""
        return unit_rows(self._embed(texts))

    def fetch(self, entities: Iterable[int]) -> None:
        """Read what is around many entities by one query, and keep it."""
        wanted = sorted({int(one) for one in entities} - self._known.keys())
        found: dict[int, list[Fact]] = {entity: [] for entity in wanted}
        if wanted:
            for row in self._db.run(_AROUND, entities=wanted):
                found[row["entity"]].append(self._fact(row))
        for entity, facts in found.items():
            ordered = tuple(sorted(facts, key=lambda fact: fact.claim))
            self._known[entity] = Around(ordered, self.vectors([fact.claim for fact in ordered]))

    def around(self, entity: int) -> Around:
        """Everything around an entity."""
        self.fetch([entity])
        return self._known[entity]

    def similar(self, entities: Sequence[int], asked: NDArray[np.float32], pruning: Pruning) -> list[Fact]:
        """What matters around the entities to a question with this vector: pruned for each entity, the best first."""
        scored: dict[Fact, float] = {}
        for entity in entities:
            around = self.around(entity)
            cosines = around.vectors @ asked
            for place in pruning.keep(cosines, len(entities)):
                scored[around.facts[place]] = float(cosines[place])
        return sorted(scored, key=lambda fact: -scored[fact])

    def direct(self, entities: Sequence[int], options: Sequence[str]) -> list[Fact]:
        """Relationships between the entities and the options."""
        return self._run(_DIRECT, entities=list(entities), options=list(options))

    def shared(self, entities: Sequence[int], options: Sequence[str], limit: int = 60) -> list[Fact]:
        """What two entities have in common, the options first."""
        return self._run(_SHARED, entities=list(entities), options=list(options), limit=limit)

    def paths(self, entities: Sequence[int], options: Sequence[str], each: int = 3) -> list[Fact]:
        """Ways of two relationships from an entity to an option, a few for each pair."""
        return self._run(_PATHS, entities=list(entities), options=list(options), each=each)

    def _run(self, query: str, **parameters: Any) -> list[Fact]:
        return list(dict.fromkeys(self._fact(row) for row in self._db.run(query, parameters)))

    def _fact(self, row: Any) -> Fact:
        values = {key: row[key] for key in ("start_label", "start", "verb", "end_label", "end")}
        return Fact(**values, source=row["source"] or self._unsourced)
