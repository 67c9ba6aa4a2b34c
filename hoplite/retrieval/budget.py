"""Sentences of each question, the best first, cut to a number of tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from hoplite.models.schema_text import token_count
from hoplite.retrieval.evidence import EvidencePaths
from hoplite.retrieval.verbalise import Verbaliser
from hoplite.values.columns import Int64s


@dataclass(frozen=True, slots=True)
class Context:
    """What a prompt is given about one question: lines with their number of tokens, and how many did not fit."""

    lines: tuple[str, ...]
    tokens: int
    left_out: int

    def __str__(self) -> str:
        return "\n".join(self.lines)


def first_within(question: Int64s, tokens: Int64s, most: int) -> NDArray[np.bool_]:
    """Which rows fit: for each question (ascending) the first ones, while their sum is at most `most`."""
    total = np.cumsum(tokens)
    first = np.searchsorted(question, question)
    before = total[first] - tokens[first] if len(first) else total
    return total - before <= most


def contexts(
    paths: EvidencePaths,
    questions: int,
    max_tokens: int,
    *,
    verbaliser: Verbaliser | None = None,
    form: Literal["paths", "facts"] = "paths",
    count: Callable[[str], int] = token_count,
) -> list[Context]:
    """The context of each of so many questions: a line for each path, or for each relationship in them once ("facts").

    Paths are taken in their order, the best of a question first, until the next line would go over the budget.
    `count` says how many tokens a line has; a line break counts as one more.
    """
    speaker = verbaliser or Verbaliser()
    if form == "paths":
        question, lines = paths.question, speaker.paths(paths)
    else:
        question = np.repeat(paths.question, paths.lengths)
        lines = speaker.said(paths.graph, paths.columns.relationships)
    order = np.argsort(question, kind="stable")
    rows = _first_of_each(question[order].tolist(), [lines[row] for row in order.tolist()])
    numbers = np.array([number for number, _ in rows], np.int64)
    tokens = np.array([count(line) + 1 for _, line in rows], np.int64)
    kept = first_within(numbers, tokens, max_tokens)
    bounds = np.searchsorted(numbers, np.arange(questions + 1)).tolist()
    made = []
    for first, last in pairwise(bounds):
        fitting = int(kept[first:last].sum())
        texts = tuple(line for _, line in rows[first : first + fitting])
        made.append(Context(texts, int(tokens[first : first + fitting].sum()), last - first - fitting))
    return made


def _first_of_each(questions: Sequence[int], lines: Sequence[str]) -> list[tuple[int, str]]:
    """Each line of a question once, where it first comes."""
    return list(dict.fromkeys(zip(questions, lines, strict=True)))
