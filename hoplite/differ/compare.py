"""Two answers to one query, and how they relate.

    equal              the same columns and the same rows: as multisets, and in the order that ORDER BY requires
    both error         errors with the same code
    nondeterministic   rows differ, but the query leaves open which are right, and both may be
    different          anything else
    one error          only one side has an answer
    skipped            Neo4j exceeded the time or row limit, or went away: there is nothing to compare with

Floats may differ in their last digits. The order inside lists counts only if the query fixes it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from enum import Enum
from typing import Any

from hoplite.differ.answers import Answer, Limits, Row, Side
from hoplite.differ.shape import Shape, shape_of
from hoplite.differ.values import close, loose, without_number_types
from hoplite.lazy_dataclass import dataclass

TOLERANCE = 1e-9
AMONG_EQUALS = "LIMIT or SKIP among equals"
DISTINCT_LISTS = "distinct rows, equal except for the order inside lists"
EQUAL_NUMBERS = "equal rows, of which one with 1 or one with 1.0 stands for all"


class Verdict(Enum):
    """How two answers relate."""

    EQUAL = "equal"
    BOTH_ERROR = "both error"
    NONDETERMINISTIC = "nondeterministic"
    DIFFERENT = "different"
    ONE_ERROR = "one error"
    SKIPPED = "skipped"

    @property
    def is_difference(self) -> bool:
        """Whether a person should look at it."""
        return self in (Verdict.DIFFERENT, Verdict.ONE_ERROR)


Judgement = tuple[Verdict, str, tuple[Row, ...], tuple[Row, ...]]
"""A verdict, why, and the rows of each side that the other lacks."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One query and its outcome. `only_*` are the rows of one side that the other lacks."""

    name: str
    query: str
    parameters: Mapping[str, Any]
    verdict: Verdict
    reason: str
    jaccard: float
    hoplite: Answer
    neo4j: Answer
    only_hoplite: tuple[Row, ...] = ()
    only_neo4j: tuple[Row, ...] = ()

    @property
    def ratio(self) -> float | None:
        """How many times as long Neo4j took."""
        return self.neo4j.seconds / self.hoplite.seconds if self.hoplite.seconds > 0 else None


def compare(
    hoplite: Side,
    neo4j: Side,
    name: str,
    query: str,
    parameters: Mapping[str, Any],
    limits: Limits,
    tolerance: float = TOLERANCE,
    notifications: bool = False,
) -> Comparison:
    """Run a query on both sides and compare."""
    ours, theirs, judgement = _ask(hoplite, neo4j, query, parameters, limits, tolerance)
    verdict, reason, only_ours, only_theirs = judgement
    keyed = shape_of(query).keyed
    if keyed is not None and verdict in (Verdict.EQUAL, Verdict.NONDETERMINISTIC):
        _, _, again = _ask(hoplite, neo4j, keyed, parameters, limits, tolerance)
        if again[0] is Verdict.DIFFERENT:
            verdict, reason = again[0], f"{again[1]}, with the sort keys shown"
            only_ours, only_theirs = again[2:]
    if notifications and verdict is Verdict.EQUAL and ours.notifications != theirs.notifications:
        shown = f"{list(ours.notifications)} here, {list(theirs.notifications)} there"
        verdict, reason = Verdict.DIFFERENT, f"notifications: {shown}"
    jaccard = _jaccard(ours, theirs, len(only_ours), len(only_theirs))
    return Comparison(name, query, parameters, verdict, reason, jaccard, ours, theirs, only_ours, only_theirs)


def _ask(
    hoplite: Side, neo4j: Side, query: str, parameters: Mapping[str, Any], limits: Limits, tolerance: float
) -> tuple[Answer, Answer, Judgement]:
    theirs = neo4j.answer(query, parameters, limits)
    ours = hoplite.answer(query, parameters, limits)
    shape = shape_of(query)

    def without_limit() -> tuple[Answer, Answer]:
        assert shape.unlimited is not None
        return (
            hoplite.answer(shape.unlimited, parameters, limits),
            neo4j.answer(shape.unlimited, parameters, limits),
        )

    return ours, theirs, judge(ours, theirs, shape, tolerance, without_limit)


def judge(
    ours: Answer, theirs: Answer, shape: Shape, tolerance: float, without_limit: Callable[[], tuple[Answer, Answer]]
) -> Judgement:
    """The verdict, why, and the rows of each side that the other lacks."""
    if ours.failure is not None or theirs.failure is not None:
        judgement = _judge_errors(ours, theirs)
        if judgement[0] is Verdict.ONE_ERROR and shape.unlimited is not None:
            all_ours, all_theirs = without_limit()
            if _judge_errors(all_ours, all_theirs)[0] is Verdict.BOTH_ERROR:
                return Verdict.NONDETERMINISTIC, "LIMIT or SKIP before or after the row of an error", (), ()
        return judgement
    if ours.columns != theirs.columns:
        return Verdict.DIFFERENT, f"columns: {list(ours.columns)} here, {list(theirs.columns)} there", (), ()
    if ours.counters != theirs.counters and not shape.open:
        return Verdict.DIFFERENT, f"counters: {ours.counters} here, {theirs.counters} there", (), ()
    only_ours, only_theirs = leftovers(ours.rows, theirs.rows, tolerance)
    note = ""
    if (only_ours or only_theirs) and shape.free_lists:
        free_ours, free_theirs = leftovers(_loosened(ours.rows), _loosened(theirs.rows), tolerance)
        if not (free_ours or free_theirs):
            only_ours, only_theirs, note = (), (), "equal except for the order inside lists"
        elif shape.merges and set(_loosened(ours.rows)) == set(_loosened(theirs.rows)):
            return Verdict.NONDETERMINISTIC, DISTINCT_LISTS, only_ours, only_theirs
    if only_ours and shape.merges and not any(leftovers(_numbers(only_ours), _numbers(only_theirs), tolerance)):
        return Verdict.NONDETERMINISTIC, EQUAL_NUMBERS, only_ours, only_theirs
    if only_ours or only_theirs:
        return _judge_open(ours, theirs, shape, tolerance, without_limit, only_ours, only_theirs)
    if shape.sort_columns and not _same_sequence(ours.rows, theirs.rows, shape, tolerance):
        return Verdict.DIFFERENT, "order of rows", (), ()
    if ours.graph and theirs.graph:
        only_ours, only_theirs = leftovers(_loosened(ours.graph), _loosened(theirs.graph), tolerance)
        if (only_ours or only_theirs) and not shape.open:
            return Verdict.DIFFERENT, "the graph after the write", only_ours, only_theirs
    return Verdict.EQUAL, note, (), ()


def _judge_errors(ours: Answer, theirs: Answer) -> Judgement:
    """For two answers that are not both rows; if both are, there is no error to compare."""
    mine, yours = ours.failure, theirs.failure
    if mine is None and yours is None:
        return Verdict.EQUAL, "", (), ()
    if yours is not None and yours.is_limit:
        return Verdict.SKIPPED, f"Neo4j: {yours.code}", (), ()
    if mine is None:
        assert yours is not None
        return Verdict.ONE_ERROR, f"only Neo4j: {yours.code}: {yours.message}", (), ()
    if yours is None:
        return Verdict.ONE_ERROR, f"only Hoplite: {mine.code}: {mine.message}", (), ()
    if mine.code != yours.code:
        return Verdict.DIFFERENT, f"errors: {mine.code} here, {yours.code} there: {yours.message}", (), ()
    return Verdict.BOTH_ERROR, mine.code, (), ()


def _judge_open(
    ours: Answer,
    theirs: Answer,
    shape: Shape,
    tolerance: float,
    without_limit: Callable[[], tuple[Answer, Answer]],
    only_ours: tuple[Row, ...],
    only_theirs: tuple[Row, ...],
) -> Judgement:
    """Rows differ: is that allowed?"""
    same_count = len(ours.rows) == len(theirs.rows)
    if shape.unlimited is not None and same_count and _same_sequence(ours.rows, theirs.rows, shape, tolerance):
        reason = _limit_explains(ours, theirs, *without_limit(), shape, tolerance)
        if reason is not None:
            return Verdict.NONDETERMINISTIC, reason, only_ours, only_theirs
    if shape.open:
        return Verdict.NONDETERMINISTIC, "; ".join(shape.open), only_ours, only_theirs
    reason = "rows" if same_count else f"{len(ours.rows)} rows here, {len(theirs.rows)} there"
    return Verdict.DIFFERENT, reason, only_ours, only_theirs


def _limit_explains(
    ours: Answer, theirs: Answer, all_ours: Answer, all_theirs: Answer, shape: Shape, tolerance: float
) -> str | None:
    """Why both may be right: the same rows without the limit, of which each side kept some. None if they are not."""
    if any(whole.failure is not None and whole.failure.is_limit for whole in (all_ours, all_theirs)):
        return "LIMIT or SKIP of more rows than are compared"
    if all_ours.failure is not None or all_theirs.failure is not None:
        return None
    prepare = _loosened if shape.free_lists else tuple
    whole = prepare(all_ours.rows), prepare(all_theirs.rows)
    agree = not any(leftovers(*whole, tolerance))
    inside = not leftovers(prepare(ours.rows), whole[0], tolerance)[0]
    inside = inside and not leftovers(prepare(theirs.rows), whole[1], tolerance)[0]
    return AMONG_EQUALS if agree and inside else None


def _same_sequence(ours: Sequence[Row], theirs: Sequence[Row], shape: Shape, tolerance: float) -> bool:
    """Whether the values of the sort columns come in the same order."""
    if len(ours) != len(theirs):
        return False
    return all(
        close(mine[column], yours[column], tolerance)
        or (shape.free_lists and close(loose(mine[column]), loose(yours[column]), tolerance))
        for mine, yours in zip(ours, theirs, strict=True)
        for column in shape.sort_columns
    )


def _numbers(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(tuple(without_number_types(value) for value in row) for row in rows)


def _loosened(rows: Sequence[Row]) -> tuple[Row, ...]:
    return tuple(tuple(loose(value) for value in row) for row in rows)


def leftovers(
    ours: Sequence[Row], theirs: Sequence[Row], tolerance: float = TOLERANCE
) -> tuple[tuple[Row, ...], tuple[Row, ...]]:
    """The rows of each multiset that have no partner in the other."""
    mine, yours = Counter(ours), Counter(theirs)
    left, right = list((mine - yours).elements()), list((yours - mine).elements())
    if not left or not right:
        return tuple(left), tuple(right)
    unmatched: list[Row] = []
    for row in left:  # floats that differ in their last digits; few rows come this far
        partner = next((n for n, other in enumerate(right) if close(row, other, tolerance)), None)
        if partner is None:
            unmatched.append(row)
        else:
            del right[partner]
    return tuple(unmatched), tuple(right)


def _jaccard(ours: Answer, theirs: Answer, only_ours: int, only_theirs: int) -> float:
    if ours.failure is not None or theirs.failure is not None:
        same = ours.failure is not None and theirs.failure is not None
        return 1.0 if same and ours.failure.code == theirs.failure.code else 0.0  # type: ignore[union-attr]
    shared = len(ours.rows) - only_ours
    union = shared + only_ours + only_theirs
    return shared / union if union > 0 else 1.0
