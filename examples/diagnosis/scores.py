"""Precision, recall and F1 of sets: the mean over cases, and pooled, where every disease counts the same."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from statistics import fmean


@dataclass(frozen=True, slots=True)
class Score:
    """Three shares."""

    precision: float
    recall: float
    f1: float


def score(found: Collection[str], gold: Collection[str]) -> Score:
    """Of one case. Nothing found has a precision of 0, as in the mean a silent case must not look perfect."""
    return _score(len(set(found) & set(gold)), len(found), len(gold))


def mean_score(pairs: Sequence[tuple[Collection[str], Collection[str]]]) -> Score:
    """The mean over cases of what was found and what is right."""
    each = [score(found, gold) for found, gold in pairs]
    if not each:
        return Score(0.0, 0.0, 0.0)
    return Score(fmean(s.precision for s in each), fmean(s.recall for s in each), fmean(s.f1 for s in each))


def pooled_score(pairs: Sequence[tuple[Collection[str], Collection[str]]]) -> Score:
    """Of all cases as one."""
    right = sum(len(set(found) & set(gold)) for found, gold in pairs)
    return _score(right, sum(len(found) for found, _ in pairs), sum(len(gold) for _, gold in pairs))


def _score(right: int, found: int, gold: int) -> Score:
    precision, recall = right / found if found else 0.0, right / gold if gold else 0.0
    both = precision + recall
    return Score(precision, recall, 2 * precision * recall / both if both else 0.0)
