"""A question through the stages: names, prompt, query, repair, rows, evidence. Each is timed, two can be left out."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

import hoplite
from hoplite.models.ask import prompt_for, query_in
from hoplite.models.ask_evidence import Evidence, evidence_of
from hoplite.retrieval import Link, Linker

Ask = Callable[[str], str]
STAGES = ("linking", "schema", "generation", "repair", "execution", "evidence")

_WORDS_OF_A_NAME = 12
_SURE = 0.6  # how similar a misspelt name has to be
_ROWS = 1_000


@dataclass(slots=True)
class Answer:
    """The query, the first column of its rows, the evidence, and the seconds of each stage."""

    question: str
    cypher: str = ""
    rows: list[str] = field(default_factory=list)
    error: str | None = None
    evidence: Evidence = field(default_factory=Evidence)
    seconds: dict[str, float] = field(default_factory=dict)


class Names:
    """Puts the graph's own names into questions, for names in another case, misspelt, or synonyms."""

    def __init__(self, db: hoplite.Database, labels: Sequence[str], known_words: Sequence[str]) -> None:
        """`known_words` are those of questions, which are not taken for misspelt names."""
        self._linker = Linker(db, [(label, key) for label in labels for key in ("name", "synonyms")])
        self._common = {word for text in known_words for word in re.findall(r"\w+", text.lower())}
        self._own: dict[int, str] = dict(db.run("MATCH (n) RETURN id(n), n.name").values())

    def normalised(self, question: str) -> str:
        """The question with the node's own name in the place of the likeliest mention; itself where there is none."""
        spans = list(self._spans(question))
        links = self._linker.link([question[start:end] for start, end in spans], most=1, least=_SURE)
        found = [(links[row][0], start, end) for row, (start, end) in enumerate(spans) if links[row]]
        if not found:
            return question
        link, start, end = max(found, key=lambda one: _weight(one[0], one[2] - one[1]))
        return question[:start] + self._own[link.node] + question[end:]

    def _spans(self, question: str) -> Iterator[tuple[int, int]]:
        """Runs of words that do not begin or end with a word of questions."""
        words = [(*found.span(), found[0].lower()) for found in re.finditer(r"[^\s?]+", question)]
        for first in range(len(words)):
            for last in range(first, min(first + _WORDS_OF_A_NAME, len(words))):
                if words[first][2] not in self._common and words[last][2] not in self._common:
                    yield words[first][0], words[last][1]


def _weight(link: Link, length: int) -> tuple[float, int]:
    """How much of the question a link explains; of equals, the one that takes fewer letters for it."""
    return link.score * length, -length


class Pipeline:
    """Answers questions over a graph by a model that writes Cypher."""

    def __init__(self, db: hoplite.Database, model: Ask, names: Names) -> None:
        self._db = db
        self._model = model
        self._names = names

    def draft(self, question: str, *, normalise: bool = True) -> Answer:
        """The query that the model writes, for the question as it is or with the graph's names in it."""
        made = Answer(question)
        with _timed(made, "linking"):
            asked = self._names.normalised(question) if normalise else question
        with _timed(made, "schema"):
            prompt = prompt_for(self._db, asked)
        with _timed(made, "generation"):
            made.cypher = query_in(self._model(prompt))
        return made

    def answer(self, draft: Answer, *, repair: bool = True, evidence: bool = True) -> Answer:
        """The rows of a draft, which stays as it is."""
        made = replace(draft, seconds=dict(draft.seconds))
        with _timed(made, "repair"):
            if repair:
                made.cypher = self._db.repair(made.cypher).query
        with _timed(made, "execution"):
            rows = self._db.run_untrusted(made.cypher, rows=_ROWS)
        made.error = None if rows.error is None else str(rows.error["message"])
        made.rows = list(dict.fromkeys(str(row[0]) for row in rows.rows if row[0] is not None))
        with _timed(made, "evidence"):
            if evidence and made.error is None:
                made.evidence = evidence_of(self._db, made.cypher, {}, rows=20, seconds=10)
        return made

    def four_ways(self, question: str) -> dict[str, Answer]:
        """The answer as it is written, with one of the stages that mend, and with both, which has evidence."""
        as_written, normalised = self.draft(question, normalise=False), self.draft(question)
        return {
            "as written": self.answer(as_written, repair=False, evidence=False),
            "with repair": self.answer(as_written, evidence=False),
            "with names": self.answer(normalised, repair=False, evidence=False),
            "with both": self.answer(normalised),
        }


@contextmanager
def _timed(answer: Answer, stage: str) -> Iterator[None]:
    began = time.perf_counter()
    yield
    answer.seconds[stage] = time.perf_counter() - began
