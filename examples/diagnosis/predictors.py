"""Who predicts: a stand-in with known faults, a file of recorded answers, or a model.

The stand-in has no knowledge, only the answers and two dice: it names a right disease as often as its recall says, and
wrong ones as many as its precision says. What is measured is then what the graph adds, not what a model knows. The dice
are hashes of the case and the disease, so that it says the same in every run and whatever else it is asked.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from examples.diagnosis.worlds import Case

Ask = Callable[[str], str]

_PREDICT = """Read the note and list the diseases that the patient has. Answer with a JSON list of names.

{note}"""
_SELECT = """Read the note. A graph of medical knowledge offers these candidates, with what connects each to the note:
{candidates}

Which of the candidates does the patient have? Answer with a JSON list of their names, without any other.

{note}"""


class Predictor(Protocol):
    """Names the diseases of a case, and chooses among candidates, which come with their evidence as a sentence."""

    def predict(self, case: Case) -> list[str]:
        """Ids of diseases."""

    def select(self, case: Case, candidates: Mapping[str, str]) -> list[str]:
        """Some of the candidates, which are given by id."""


@dataclass(frozen=True, slots=True)
class NoisyPredictor:
    """A stand-in. `confusable` has for each disease those that it may be mistaken for; without it, all others.

    Of candidates it takes a right one as often as `selecting` says and a wrong one as often as `mistaking` says.
    """

    diseases: Sequence[str]
    precision: float = 0.5
    recall: float = 0.6
    selecting: float = 0.6
    mistaking: float = 0.03
    confusable: Mapping[str, Sequence[str]] = field(default_factory=dict)

    def predict(self, case: Case) -> list[str]:
        """Right ones by recall, and enough wrong ones for the precision overall."""
        right = [one for one in sorted(case.gold) if _dice("predict", case.id, one) < self.recall]
        wrong = self._mistakes(case)
        expected = self.recall * len(case.gold) * (1 - self.precision) / self.precision
        share = expected / max(len(wrong), 1)
        return right + [one for one in wrong if _dice("predict", case.id, one) < share]

    def select(self, case: Case, candidates: Mapping[str, str]) -> list[str]:
        """Right and wrong ones at the two rates."""
        return [
            one
            for one in candidates
            if _dice("select", case.id, one) < (self.selecting if one in case.gold else self.mistaking)
        ]

    def _mistakes(self, case: Case) -> list[str]:
        if not self.confusable:
            return [one for one in self.diseases if one not in case.gold]
        near = {other for one in case.gold for other in self.confusable.get(one, ())}
        return sorted(near - case.gold)


def _dice(*what: str) -> float:
    """A number from 0 to 1 that depends on nothing but the words."""
    digest = hashlib.blake2b("|".join(what).encode(), digest_size=8).digest()
    return int.from_bytes(digest) / 2**64


class RecordedPredictor:
    """Answers from a file: lines with `case`, `predicted` and `selected`, lists of ids."""

    def __init__(self, path: Path) -> None:
        with path.open(encoding="utf-8") as lines:
            self._said = {entry["case"]: entry for entry in map(json.loads, lines)}

    def predict(self, case: Case) -> list[str]:
        """What was recorded for the case; nothing for one that was not."""
        return list(self._said.get(case.id, {}).get("predicted", ()))

    def select(self, case: Case, candidates: Mapping[str, str]) -> list[str]:
        """What was recorded, as far as it is a candidate now."""
        return [one for one in self._said.get(case.id, {}).get("selected", ()) if one in candidates]


def record(path: Path, predictor: Predictor, cases: Sequence[Case], diseases: Mapping[str, str]) -> None:
    """Write what a predictor says about cases, choosing among all diseases, for `RecordedPredictor`."""
    with path.open("w", encoding="utf-8") as file:
        for case in cases:
            said = {"predicted": predictor.predict(case), "selected": predictor.select(case, diseases)}
            print(json.dumps({"case": case.id, **said}), file=file)


@dataclass(frozen=True, slots=True)
class ModelPredictor:
    """A model that reads prompts. What it names is taken where it is the name of a disease, in any case."""

    ask: Ask
    names: Mapping[str, str]  # of diseases, by id

    def predict(self, case: Case) -> list[str]:
        """The diseases that it names."""
        return self._ids(self.ask(_PREDICT.format(note=case.note)))

    def select(self, case: Case, candidates: Mapping[str, str]) -> list[str]:
        """The candidates that it names; it is not asked where there are none."""
        if not candidates:
            return []
        listed = "\n".join(f"- {self.names[id]}: {evidence}" for id, evidence in candidates.items())
        said = self._ids(self.ask(_SELECT.format(note=case.note, candidates=listed)))
        return [one for one in said if one in candidates]

    def _ids(self, text: str) -> list[str]:
        by_name = {name.casefold(): id for id, name in self.names.items()}
        found = re.search(r"\[.*\]", text, flags=re.DOTALL)
        try:
            listed = json.loads(found[0]) if found else []
        except ValueError:
            listed = []
        return [by_name[name] for one in listed if (name := str(one).strip().casefold()) in by_name]
