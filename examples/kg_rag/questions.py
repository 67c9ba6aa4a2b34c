"""Multiple-choice questions, answers that models gave to them, and whether two ways of asking differ.

A question is scored by exact match: the answer is the right option's name and nothing else. Two ways of asking the same
questions are compared by McNemar's exact test, which looks only at the questions that one of them has right and the
other wrong.
"""

from __future__ import annotations

import csv
import gzip
import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

RECORDED = ("gpt4_prompt", "gpt4_kgrag", "gpt35_prompt", "gpt35_kgrag")


@dataclass(frozen=True, slots=True)
class Question:
    """A question with its options, the right one, and the diseases that it names, for measuring how names are found."""

    text: str
    options: tuple[str, ...]
    gold: str
    diseases: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Outcome:
    """McNemar's test between two ways: how often only the first, and only the second, is right."""

    only_first: int
    only_second: int

    @property
    def p_value(self) -> float:
        """Two-sided, exact: the probability of a split at least as uneven if both were equally good."""
        trials = self.only_first + self.only_second
        fewer = min(self.only_first, self.only_second)
        tail = sum(math.comb(trials, count) for count in range(fewer + 1))
        return min(1.0, 2 * tail / (1 << trials))


def read_questions(folder: Path) -> list[Question]:
    """The questions of BiomixQA with five options each."""
    return [
        Question(
            row["text"],
            tuple(option.strip() for option in row["options_combined"].split(",")),
            row["correct_node"].strip(),
            (row["disease_1"], row["disease_2"]),
        )
        for row in _rows(folder / "mcq_questions.csv.gz")
    ]


def disease_names(folder: Path) -> list[tuple[str, str]]:
    """Names of diseases with their ids in the Disease Ontology, as SPOKE has them."""
    return [(row["disease_name"], row["disease_id"]) for row in _rows(folder / "disease_name_with_id.csv.gz")]


def read_answers(path: Path) -> dict[str, str]:
    """What a model answered, by the text of the question: a gzipped CSV file with `question` and `llm_answer`."""
    return {row["question"]: row["llm_answer"] for row in _rows(path)}


def _rows(path: Path) -> Iterator[dict[str, str]]:
    with gzip.open(path, "rt", encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines)


def chosen(answer: str, options: Sequence[str]) -> str:
    """The choice in what a model said: the `answer` of its JSON; without JSON, the one option that it names, if one."""
    found = re.search(r"\{.*\}", answer, flags=re.DOTALL)
    if found is not None:
        try:
            said = json.loads(found[0])
        except ValueError:
            said = None
        if isinstance(said, dict) and "answer" in said:
            return str(said["answer"]).strip()
    named = [option for option in options if re.search(rf"(?<![\w-]){re.escape(option)}(?![\w-])", answer)]
    return named[0] if len(named) == 1 else ""


def marks(questions: Sequence[Question], answers: Mapping[str, str]) -> list[bool]:
    """Whether each question is answered rightly; one without an answer is not."""
    return [chosen(answers.get(one.text, ""), one.options) == one.gold for one in questions]


def mcnemar(first: Sequence[bool], second: Sequence[bool]) -> Outcome:
    """The test between two ways of asking the same questions."""
    pairs = list(zip(first, second, strict=True))
    return Outcome(sum(a and not b for a, b in pairs), sum(b and not a for a, b in pairs))
