"""How good answers are: rows as bags and as rankings, evidence as sets, times with confidence intervals."""

from __future__ import annotations

import json
import re
import statistics
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

CUTS = (1, 5, 10)
_RESAMPLES = 1_000
_SEED = 20_240_229  # a seed, for the same intervals in every run

Row = str


def comparable(row: Sequence[Any]) -> Row:
    """A row of JSON values as a text that is the same for equal rows: columns in any order, floats to six places."""
    return json.dumps(sorted((_rounded(value) for value in row), key=_key), sort_keys=True)


def _rounded(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, float):
        return round(value, 6)
    if isinstance(value, list):
        return sorted((_rounded(item) for item in value), key=_key)
    if isinstance(value, dict):
        if value.get("$type") in ("Node", "Relationship"):
            return value["elementId"]
        return {key: _rounded(item) for key, item in value.items()}
    return value


def _key(value: Any) -> str:
    return json.dumps(value, sort_keys=True)


def same_bag(found: Sequence[Row], wanted: Sequence[Row]) -> bool:
    """Whether two answers have the same rows equally often."""
    return Counter(found) == Counter(wanted)


def is_nothing(rows: Sequence[Sequence[Any]]) -> bool:
    """Whether an answer has no rows, or only nulls, zeros and empty lists in them."""
    return all(value is None or value == 0 or value == [] for row in rows for value in row)


def ranked(found: Sequence[Row], wanted: Sequence[Row], cut: int) -> dict[str, float]:
    """Precision, recall, F1, hits and reciprocal rank among the first rows, each distinct row counted once.

    Precision is relative to the rows returned, if fewer than `cut`; recall is relative to all expected rows.
    """
    wanted_rows = set(wanted)
    first = list(dict.fromkeys(found))[:cut]
    right = [row in wanted_rows for row in first]
    if not wanted_rows:
        whole = float(not found)
        return dict.fromkeys(("P", "R", "F1", "Hits", "MRR"), whole)
    precision = sum(right) / max(len(first), 1)
    recall = sum(right) / len(wanted_rows)
    both = precision + recall
    return {
        "P": precision,
        "R": recall,
        "F1": 2 * precision * recall / both if both else 0.0,
        "Hits": float(any(right)),
        "MRR": 1 / (right.index(True) + 1) if any(right) else 0.0,
    }


def jaccard(found: frozenset[str], wanted: frozenset[str]) -> float:
    """The Jaccard similarity of two sets; 1 for two empty ones."""
    return len(found & wanted) / len(found | wanted) if found | wanted else 1.0


def same_text(found: str, wanted: str) -> bool:
    """Whether two queries are the same apart from white space, the case of letters outside texts, and a semicolon."""
    return _plain(found) == _plain(wanted)


def _plain(query: str) -> str:
    parts = re.split(r"('(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|`[^`]*`)", query.strip().rstrip(";").strip())
    return "".join(part if index % 2 else re.sub(r"\s+", "", part).lower() for index, part in enumerate(parts))


def spread(values: Sequence[float], of: Callable[[Any], float] = statistics.fmean) -> dict[str, float]:
    """The mean, the standard deviation, and the interval that contains 95% of resampled means."""
    if not values:
        return {}
    numbers = np.asarray(values, np.float64)
    random = np.random.default_rng(_SEED)
    means = np.sort([float(random.choice(numbers, len(numbers)).mean()) for _ in range(_RESAMPLES)])
    return {
        "mean": float(of(values)),
        "sd": float(numbers.std(ddof=1)) if len(numbers) > 1 else 0.0,
        "low": float(means[int(0.025 * _RESAMPLES)]),
        "high": float(means[int(0.975 * _RESAMPLES) - 1]),
    }
