"""A question in plain words, answered by a model that writes Cypher: prompt, query, repair, rows, and their evidence.

If a query fails or finds nothing, the model is told so and asked again.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from hoplite.models.ask_endpoint import Decoding, endpoint
from hoplite.models.ask_evidence import Evidence, evidence_of
from hoplite.models.evaluate_metrics import is_nothing
from hoplite.models.untrusted import Answer as Rows

if TYPE_CHECKING:
    from hoplite.api.database import Database

Ask = Callable[[str], str]
_EVIDENCE_ROWS = 50

_PROMPT = """Write one Cypher query for Neo4j 5 that answers the question. Use only the labels, relationship types and \
properties of this graph, and relationships in the direction that is shown. Return only the query.

{schema}
{examples}
Question: {question}
"""
_AGAIN = """
Your last query was:
{query}
{problem}
Write a better one. Return only the query.
"""


@dataclass(slots=True)
class Attempt:
    """One query of the model: as written, as run, the changes, and the outcome."""

    written: str
    query: str
    changes: list[str]
    problem: str | None = None


@dataclass(slots=True)
class Asked:
    """The answer to a question. `seconds` are per stage: schema, generation, repair, execution, evidence."""

    question: str
    cypher: str = ""
    rows: Rows = field(default_factory=Rows)
    changes: list[str] = field(default_factory=list)
    evidence: Evidence = field(default_factory=Evidence)
    attempts: list[Attempt] = field(default_factory=list)
    seconds: dict[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary, ready for JSON."""
        return asdict(self)


def ask(
    db: Database,
    question: str,
    model: Ask | str,
    *,
    examples: Sequence[tuple[str, str]] = (),
    attempts: int = 3,
    max_tokens: int = 2_000,
    decoding: Decoding | None = None,
    bounds: Mapping[str, Any] | None = None,
) -> Asked:
    """Ask a model for a query until one returns rows, a limited number of times; the last one counts."""
    generate = endpoint(model, decoding or Decoding()) if isinstance(model, str) else model
    asked = Asked(question)
    clock = _Clock(asked.seconds)
    with clock("schema"):
        prompt = first = prompt_for(db, question, examples, max_tokens)
    for _ in range(max(1, attempts)):
        with clock("generation"):
            written = query_in(generate(prompt))
        with clock("repair"):
            repaired = db.repair(written)
        with clock("execution"):
            rows = db.run_untrusted(repaired.query, **(bounds or {}))
        attempt = Attempt(written, repaired.query, [change.reason for change in repaired.changes])
        asked.attempts.append(attempt)
        asked.cypher, asked.rows, asked.changes = repaired.query, rows, attempt.changes
        attempt.problem = _problem(rows, str(db.check(repaired.query)))
        if attempt.problem is None:
            break
        prompt = first + _AGAIN.format(query=repaired.query, problem=attempt.problem)
    if asked.rows.error is None:
        with clock("evidence"):
            seconds = float((bounds or {}).get("seconds", 10.0))
            asked.evidence = evidence_of(db, asked.cypher, {}, rows=_EVIDENCE_ROWS, seconds=seconds)
    return asked


def prompt_for(db: Database, question: str, examples: Sequence[tuple[str, str]] = (), max_tokens: int = 2_000) -> str:
    """The prompt: the schema, examples of questions with their queries, and the question."""
    schema = db.schema_text(question, max_tokens=max_tokens)
    shown = "".join(f"\nQuestion: {one}\n{query}\n" for one, query in examples)
    return _PROMPT.format(schema=schema, examples=shown, question=question)


def query_in(text: str) -> str:
    """The query in a model's reply, without its thoughts, fences and greetings."""
    text = re.sub(r"<think>.*?(</think>|\Z)", "", text, flags=re.DOTALL)
    fenced = re.findall(r"```(?:cypher|sql)?\s*\n?(.*?)```", text, flags=re.DOTALL | re.IGNORECASE)
    if fenced:
        return str(fenced[-1]).strip()
    start = re.search(r"\b(?:MATCH|OPTIONAL|CALL|WITH|UNWIND|RETURN)\b", text)
    return (text if start is None else text[start.start() :]).strip()


def _problem(rows: Rows, found: str) -> str | None:
    """What to tell the model: an error, or that nothing was found; None if there are rows."""
    if rows.error is not None:
        return f"It failed: {rows.error['message']}\n{found}"
    if is_nothing(rows.rows):
        return f"It found nothing.\n{found}"
    return None


class _Clock:
    """Adds up the seconds of stages."""

    def __init__(self, seconds: dict[str, float]) -> None:
        self._seconds = seconds
        self._stage = ""
        self._began = 0.0

    def __call__(self, stage: str) -> _Clock:
        self._stage = stage
        return self

    def __enter__(self) -> None:
        self._began = time.perf_counter()

    def __exit__(self, *_: object) -> None:
        passed = time.perf_counter() - self._began
        self._seconds[self._stage] = self._seconds.get(self._stage, 0.0) + passed
