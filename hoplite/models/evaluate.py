"""Questions with gold queries, and what models wrote for them: how often they are right, before and after repair.

A file of questions has a JSON object on each line: `question`, `gold` (a Cypher query), and optionally `id`, `graph`
(the name of a graph), `parameters`, and `models`: recorded queries by the name of a model.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hoplite.models.ask import prompt_for, query_in
from hoplite.models.ask_endpoint import Decoding, endpoint
from hoplite.models.ask_evidence import evidence_of
from hoplite.models.evaluate_metrics import CUTS, comparable, is_nothing, jaccard, ranked, same_bag, same_text, spread

if TYPE_CHECKING:
    from hoplite.api.database import Database

VERDICTS = ("right", "wrong", "empty", "error")
_ROWS = 50_000
_BYTES = 50_000_000
_EVIDENCE_ROWS = 50


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the query that answers it, and what models wrote."""

    id: str
    question: str
    gold: str
    graph: str | None = None
    parameters: Mapping[str, Any] = field(default_factory=dict)
    models: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Generated:
    """What a model wrote, and how long it took, if known."""

    query: str
    seconds: float | None = None


Model = Callable[[Question], Generated | None]  # None if it has no answer to a question


@dataclass(slots=True)
class Scores:
    """What was measured of one model, before or after repair."""

    verdicts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(VERDICTS, 0))
    exact: list[float] = field(default_factory=list)
    right: list[float] = field(default_factory=list)
    rankings: dict[str, list[float]] = field(default_factory=dict)
    evidence: list[float] = field(default_factory=list)
    generation: list[float] = field(default_factory=list)
    execution: list[float] = field(default_factory=list)

    @property
    def count(self) -> int:
        """How many questions there were."""
        return sum(self.verdicts.values())

    def to_dict(self) -> dict[str, Any]:
        """All measures, ready for JSON."""
        executable = [1.0] * (self.count - self.verdicts["error"]) + [0.0] * self.verdicts["error"]
        return {
            "questions": self.count,
            "verdicts": self.verdicts,
            "execution_accuracy": spread(self.right),
            "executable": spread(executable),
            "exact_match": spread(self.exact),
            **{name: spread(values)["mean"] for name, values in self.rankings.items()},
            "evidence_jaccard": spread(self.evidence),
            "generation_seconds": spread(self.generation),
            "execution_seconds": spread(self.execution),
        }


@dataclass(slots=True)
class Comparison:
    """One model before and after repair."""

    before: Scores = field(default_factory=Scores)
    after: Scores = field(default_factory=Scores)
    mended: int = 0
    spoiled: int = 0

    def to_dict(self) -> dict[str, Any]:
        """All measures, ready for JSON."""
        counts = {"mended": self.mended, "spoiled": self.spoiled}
        return {"before": self.before.to_dict(), "after": self.after.to_dict(), **counts}


def read_questions(path: Path, every: int = 1) -> Iterator[Question]:
    """The questions of a file, or one in `every`, chosen by a hash of the question."""
    for entry in _lines(path, "question", "gold"):
        graph, text = entry.get("graph"), entry["question"]
        digest = hashlib.sha256(f"{graph or ''}{text}".encode()).hexdigest()
        if int(digest[:8], 16) % every == 0:
            id, given, models = entry.get("id", text), entry.get("parameters") or {}, entry.get("models") or {}
            yield Question(id, text, entry["gold"], graph, given, {name: query or "" for name, query in models.items()})


def recorded_model(path: Path) -> Model:
    """A model whose answers are in a file: lines with `id` or `question`, `query`, and `seconds` if known."""
    answers = {entry.get("id", entry.get("question")): entry for entry in _lines(path, "query")}

    def model(question: Question) -> Generated | None:
        entry = answers.get(question.id, answers.get(question.question))
        return None if entry is None else Generated(entry["query"] or "", entry.get("seconds"))

    return model


def named_model(name: str) -> Model:
    """A model whose answers are recorded with the questions."""

    def model(question: Question) -> Generated | None:
        return Generated(question.models[name]) if name in question.models else None

    return model


def asked_model(name: str, database: Callable[[str | None], Database]) -> Model:
    """A model behind an OpenAI-compatible endpoint, `NAME@URL`, asked once for each question."""
    generate = endpoint(name, Decoding(seed=0))

    def model(question: Question) -> Generated:
        prompt = prompt_for(database(question.graph), question.question)
        began = time.perf_counter()
        return Generated(query_in(generate(prompt)), time.perf_counter() - began)

    return model


def _lines(path: Path, *needed: str) -> Iterator[dict[str, Any]]:
    """The objects in a file; a ValueError says which line is not one, or lacks what is needed."""
    with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as lines:
        for number, line in enumerate(lines, 1):
            if not line.strip():
                continue
            try:
                entry = json.loads(line)
            except json.JSONDecodeError as error:
                raise ValueError(f"{path}, line {number}: not JSON: {error}") from None
            if not isinstance(entry, dict) or not entry.keys() >= set(needed):
                raise ValueError(f"{path}, line {number}: not an object with {' and '.join(needed)}")
            yield entry


@dataclass(frozen=True, slots=True)
class _Run:
    """What a query answered."""

    rows: list[str]
    error: bool
    nothing: bool
    seconds: float


class Evaluation:
    """Runs gold queries and what models wrote; `database` gives the graph of a question."""

    def __init__(
        self, database: Callable[[str | None], Database], *, seconds: float = 10.0, evidence: bool = True
    ) -> None:
        self._database = database
        self._seconds = seconds
        self._evidence = evidence
        self.skipped = 0  # questions whose gold query fails

    def run(self, questions: Iterable[Question], models: Mapping[str, Model]) -> dict[str, Comparison]:
        """The measures of each model, before and after repair."""
        found = {name: Comparison() for name in models}
        for question in questions:
            db = self._database(question.graph)
            wanted = self._answer(db, question, question.gold)
            if wanted.error:
                self.skipped += 1
                continue
            for name, model in models.items():
                generated = model(question)
                if generated is not None:
                    self._compare(db, question, generated, wanted, found[name])
        return found

    def _compare(self, db: Database, question: Question, generated: Generated, wanted: _Run, into: Comparison) -> None:
        before = self._answer(db, question, generated.query)
        was = self._score(db, question, generated.query, before, wanted, generated.seconds, into.before)
        mended = db.repair(generated.query, question.parameters).query
        after = before if mended == generated.query else self._answer(db, question, mended)
        now = self._score(db, question, mended, after, wanted, generated.seconds, into.after)
        into.mended += was != "right" and now == "right"
        into.spoiled += was == "right" and now != "right"

    def _answer(self, db: Database, question: Question, query: str) -> _Run:
        began = time.perf_counter()
        bounds: dict[str, Any] = {"rows": _ROWS, "bytes": _BYTES, "seconds": self._seconds, "estimated_rows": None}
        answer = db.run_untrusted(query, question.parameters, **bounds)
        seconds = time.perf_counter() - began
        rows = [comparable(row) for row in answer.rows]
        return _Run(rows, answer.error is not None or answer.truncated, is_nothing(answer.rows), seconds)

    def _score(
        self,
        db: Database,
        question: Question,
        query: str,
        got: _Run,
        wanted: _Run,
        generation: float | None,
        into: Scores,
    ) -> str:
        is_right = not got.error and same_bag(got.rows, wanted.rows)
        verdict = "error" if got.error else "right" if is_right else "empty" if got.nothing else "wrong"
        into.verdicts[verdict] += 1
        into.right.append(float(is_right))
        into.exact.append(float(same_text(query, question.gold)))
        for cut in CUTS:
            measures = dict.fromkeys(("P", "R", "F1", "Hits", "MRR"), 0.0)
            if not got.error:
                measures = ranked(got.rows, wanted.rows, cut)
            for name, value in measures.items():
                into.rankings.setdefault(f"{name}@{cut}", []).append(value)
        into.execution.append(got.seconds)
        if generation is not None:
            into.generation.append(generation)
        if self._evidence:
            ids = [self._ids(db, question, text) for text in (query, question.gold)]
            into.evidence.append(jaccard(*ids))
        return verdict

    def _ids(self, db: Database, question: Question, query: str) -> frozenset[str]:
        given = dict(question.parameters)
        return evidence_of(db, query, given, rows=_EVIDENCE_ROWS, seconds=self._seconds).ids


def table(results: Mapping[str, Comparison]) -> str:
    """The measures as a table, a column for each model before and after repair."""
    columns = [
        (f"{name}{' repaired' if when == 'after' else ''}", values[when])
        for name, one in results.items()
        for values in (one.to_dict(),)
        for when in ("before", "after")
    ]
    lines = [["", *(name for name, _ in columns)], ["questions", *(str(values["questions"]) for _, values in columns)]]
    for verdict in VERDICTS:
        counts = (values["verdicts"][verdict] for _, values in columns)
        lines.append(
            [verdict, *(_share(n, values["questions"]) for n, (_, values) in zip(counts, columns, strict=True))]
        )
    for title, key in (
        ("execution accuracy", "execution_accuracy"),
        ("executable", "executable"),
        ("EM", "exact_match"),
    ):
        lines.append([title, *(_percent(values[key]) for _, values in columns)])
    for measure in ("P", "R", "F1", "Hits", "MRR"):
        for cut in CUTS:
            key = f"{measure}@{cut}"
            lines.append([key, *(f"{100 * values.get(key, 0.0):.1f}" for _, values in columns)])
    lines.append(["evidence Jaccard", *(_percent(values["evidence_jaccard"]) for _, values in columns)])
    for title, key in (("generation, ms", "generation_seconds"), ("execution, ms", "execution_seconds")):
        lines.append([title, *(_milliseconds(values[key]) for _, values in columns)])
    widths = [max(len(line[place]) for line in lines) for place in range(len(lines[0]))]
    drawn = ["  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip() for line in lines]
    drawn += [f"{name}: {one.mended} mended, {one.spoiled} spoiled" for name, one in results.items()]
    return "\n".join(drawn)


def _share(count: int, total: int) -> str:
    return f"{count} ({100 * count / total:.1f}%)" if total else "0"


def _percent(values: Mapping[str, float]) -> str:
    if not values:
        return "-"
    return f"{100 * values['mean']:.1f} [{100 * values['low']:.1f}, {100 * values['high']:.1f}]"


def _milliseconds(values: Mapping[str, float]) -> str:
    if not values:
        return "-"
    scaled = {name: 1000 * value for name, value in values.items()}
    return f"{scaled['mean']:.1f} ±{scaled['sd']:.1f} [{scaled['low']:.1f}, {scaled['high']:.1f}]"
