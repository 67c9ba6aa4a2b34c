"""Untrusted statements: judged before they run, bounded while they run, answered as JSON, page by page."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field, replace
from typing import TYPE_CHECKING, Any

from neo4j.exceptions import DriverError, Neo4jError

from hoplite.models.untrusted_cursor import Cursor, CursorRefused, RowsDigest, statement_digest
from hoplite.models.untrusted_json import JsonValues, TooLarge
from hoplite.models.untrusted_judge import Judge, Policy

if TYPE_CHECKING:
    from hoplite.api.database import Database
    from hoplite.api.limits import Limits
    from hoplite.api.result import Result

CURSOR_REFUSED = "Neo.ClientError.Request.Invalid"
_PARAMETERS = 10_000_000  # bytes of parameters that a cursor may cover


@dataclass(frozen=True, slots=True)
class Bounds:
    """How much of an answer is returned at once, and what its statement may use."""

    rows: int
    bytes: int
    seconds: float
    memory: int


@dataclass(slots=True)
class Answer:
    """What a statement answered, ready for JSON. `reason` says why it is cut, `cursor` gives access to the rest."""

    columns: list[str] = field(default_factory=list)
    rows: list[list[Any]] = field(default_factory=list)
    truncated: bool = False
    reason: str | None = None
    cursor: str | None = None
    warnings: list[dict[str, Any]] = field(default_factory=list)
    error: dict[str, Any] | None = None
    changes: dict[str, int] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """The same as a dictionary."""
        return asdict(self)

    def to_json(self) -> str:
        """The same as one JSON document."""
        return json.dumps(self.to_dict(), ensure_ascii=False, allow_nan=False)


def run_untrusted(
    db: Database,
    query: str,
    parameters: Mapping[str, Any],
    bounds: Bounds,
    policy: Policy,
    cursor: str | None,
    stop: threading.Event | None = None,
) -> Answer:
    """Judge and run a statement; errors are in the answer."""
    try:
        begin = None if cursor is None else Cursor.of(cursor)
        if begin is not None and begin.statement != _digest(db, query, parameters):
            raise CursorRefused(
                "The cursor belongs to another statement, or to the same one with other parameters. Send it with "
                "exactly the text and parameters it was issued for."
            )
        preparer = db._preparer
        judge = Judge(policy, preparer.functions, preparer.procedures, preparer.limits, preparer.lenient)
        result = db._run_alone(query, parameters, _limits(db._limits, bounds, judge, stop))
        try:
            return _Reading(db, query, parameters, bounds, result, judge, begin).answer()
        finally:
            result.close()
    except CursorRefused as problem:
        return Answer(error={"code": CURSOR_REFUSED, "message": str(problem)})
    except Neo4jError as problem:
        return Answer(error=_error(problem))
    except (DriverError, TypeError, ValueError, OverflowError) as problem:
        return Answer(error={"code": "Neo.ClientError.Statement.ArgumentError", "message": str(problem)})


def _limits(own: Limits, bounds: Bounds, judge: Judge, stop: threading.Event | None) -> Limits:
    """What the statement may use: never more than the database allows."""
    return replace(
        own,
        timeout=bounds.seconds if own.timeout is None else min(bounds.seconds, own.timeout),
        memory_bytes=bounds.memory if own.memory_bytes is None else min(bounds.memory, own.memory_bytes),
        max_rows=None,
        read_only=own.read_only or not judge.policy.writes,
        stop=stop,
        judge=judge,
    )


class _Reading:
    """One page of a result."""

    def __init__(
        self,
        db: Database,
        query: str,
        parameters: Mapping[str, Any],
        bounds: Bounds,
        result: Result,
        judge: Judge,
        begin: Cursor | None,
    ) -> None:
        self._db, self._query, self._parameters = db, query, parameters
        self._bounds, self._result, self._judge, self._begin = bounds, result, judge, begin
        self._version = result.graph_version
        self._answer = Answer(list(result.keys()))

    def answer(self) -> Answer:
        """The page, with all that belongs to it."""
        if self._begin is not None:
            self._pass_over(self._begin)
        self._fill(self._rows())
        answer = self._answer
        said = self._result.end()
        answer.warnings = [_warning(status) for status in said["statuses"] if "neo4j_code" in status]
        answer.changes = {name.replace("-", "_"): n for name, n in said.get("stats", {}).items() if n is not True}
        return answer

    def _rows(self, most: int | None = None) -> Iterator[tuple[Any, ...]]:
        left = self._bounds.rows + 1 if most is None else most
        while left and (some := self._result.next_rows(left)) is not None:
            left -= len(some)
            yield from some

    def _pass_over(self, begin: Cursor) -> None:
        """Skip to where the last page ended, which must not have changed."""
        if begin.version != self._version:
            raise CursorRefused(
                "The graph has changed since the cursor was issued. Run the statement again without a cursor."
            )
        count = self._result.skip_rows(begin.first)
        digest = RowsDigest()
        try:
            for row in self._rows(begin.offset - begin.first):
                digest.add(self._encoded(row, begin.most_bytes)[1])
                count += 1
        except TooLarge:
            count = -1
        if count != begin.offset or digest.text() != begin.rows_digest:
            raise CursorRefused(
                "The statement returns other rows, or the same in another order, each time it runs, so there is no "
                "next page. Add an ORDER BY, or raise the number of rows."
            )

    def _encoded(self, row: tuple[Any, ...], most_bytes: int) -> tuple[list[Any], bytes]:
        """A row in JSON's types, and as JSON."""
        values = JsonValues(most_bytes)
        made = [values.of(value) for value in row]
        text = json.dumps(made, ensure_ascii=False, allow_nan=False).encode(errors="surrogatepass")
        if len(text) > most_bytes:
            raise TooLarge
        return made, text

    def _fill(self, rows: Iterator[tuple[Any, ...]]) -> None:
        answer, bounds = self._answer, self._bounds
        left = bounds.bytes
        digest = RowsDigest()
        for row in rows:
            if len(answer.rows) >= bounds.rows:
                self._cut(f"More than {bounds.rows:,} rows: these are the first.", digest)
                return
            try:
                made, text = self._encoded(row, left)
            except TooLarge:
                if answer.rows:
                    self._cut(f"More than {bounds.bytes:,} bytes: these are the first rows.", digest)
                else:
                    answer.truncated = True
                    answer.reason = f"The next row alone takes more than {bounds.bytes:,} bytes. Return less of it."
                return
            answer.rows.append(made)
            digest.add(text)
            left -= len(text)

    def _cut(self, reason: str, digest: RowsDigest) -> None:
        answer = self._answer
        answer.truncated, answer.reason = True, reason
        if self._version is None:
            answer.reason += " A statement that writes is not run again for the rest."
            return
        if self._judge.saw_random:
            answer.reason += " A statement with random values has other rows the next time: there is no next page."
            return
        first = 0 if self._begin is None else self._begin.offset
        statement = _digest(self._db, self._query, self._parameters)
        page = (first, first + len(answer.rows), digest.text(), self._bounds.bytes)
        answer.cursor = Cursor(statement, self._version, *page).text()


def _digest(db: Database, query: str, parameters: Mapping[str, Any]) -> str:
    try:
        given = JsonValues(_PARAMETERS).of(dict(parameters))
        return statement_digest(db.uuid, query, json.dumps(given, sort_keys=True))
    except TooLarge:
        raise CursorRefused("The parameters are too large for an answer in pages.") from None


def _error(problem: Neo4jError) -> dict[str, Any]:
    found: dict[str, Any] = {"code": problem.code, "message": problem.message}
    hints = getattr(problem, "hints", None)
    if hints:
        found["hints"] = [str(hint) for hint in hints]
    return found


def _warning(status: Mapping[str, Any]) -> dict[str, Any]:
    record = status["diagnostic_record"]
    return {
        "code": status["neo4j_code"],
        "severity": record["_severity"],
        "title": status["title"],
        "message": status["description"],
        "position": record.get("_position"),
    }
