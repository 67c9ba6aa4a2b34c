"""What stands where the paper has a model: the gold chain, the gold chain with noise, embeddings, or a model."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from pathlib import Path as File

import numpy as np

from examples.super_relations.questions import Question
from examples.super_relations.search import Move, Path
from hoplite.models.ask_endpoint import Decoding, endpoint
from hoplite.retrieval import Embed, Step, unit_rows
from hoplite.retrieval.embeddings import Vectors
from hoplite.retrieval.verbalise import type_words


class Oracle:
    """Knows the gold chain: what a search can find at best. With `noise`, its step scores have an error of that
    standard deviation, a stand-in for a model that is right more or less often."""

    def __init__(self, questions: Sequence[Question], noise: float = 0.0, seed: int = 0) -> None:
        self._questions = questions
        self._noise = noise
        self._dice = np.random.default_rng(seed)

    def score(self, question: int, paths: Sequence[tuple[Move, ...]]) -> Sequence[float]:
        """1 for moves that the gold chain makes, 0 for others, and the error."""
        chain = self._questions[question].chain
        right = [float(_agrees(path, chain)) for path in paths]
        errors = self._dice.normal(scale=self._noise, size=len(paths)).tolist() if self._noise else [0.0] * len(paths)
        return [one + error for one, error in zip(right, errors, strict=True)]

    def enough(self, question: int, paths: Sequence[Path]) -> bool:
        """As soon as the paths are as long as the chain."""
        return len(paths[0].moves) >= len(self._questions[question].chain)

    def choose(self, question: int, chains: Sequence[tuple[Step, ...]]) -> Sequence[float]:
        """The gold chain."""
        return [float(chain == self._questions[question].chain) for chain in chains]


def _agrees(path: Sequence[Move], chain: Sequence[Step]) -> bool:
    return len(path) <= len(chain) and all(
        move.step.direction == step.direction and set(step.types or ()) <= set(move.step.types or ())
        for move, step in zip(path, chain, strict=False)
    )


class Similarity:
    """Compares texts: a path scores as its words are close to the question, so that the sum of the step scores is the
    similarity of the whole path. It cannot tell when it has found enough: it goes on for the `length` it is given."""

    def __init__(self, questions: Sequence[Question], embed: Embed, length: int) -> None:
        texts = list(dict.fromkeys(one.masked for one in questions))
        rows = unit_rows(embed(texts))
        places = {text: row for row, text in enumerate(texts)}
        self._asked = [rows[places[one.masked]] for one in questions]
        self._embed = embed
        self._length = length
        self._known: dict[str, Vectors] = {}

    def score(self, question: int, paths: Sequence[tuple[Move, ...]]) -> Sequence[float]:
        """What the last move adds to the similarity."""
        whole = self._similar(question, [_path_words(path) for path in paths])
        before = self._similar(question, [_path_words(path[:-1]) for path in paths])
        return [one - other for one, other in zip(whole, before, strict=True)]

    def enough(self, question: int, paths: Sequence[Path]) -> bool:
        """After as many steps as it was told."""
        return len(paths[0].moves) >= self._length

    def choose(self, question: int, chains: Sequence[tuple[Step, ...]]) -> Sequence[float]:
        """The similarity of the words of the chain."""
        return self._similar(question, [chain_words(chain) for chain in chains])

    def _similar(self, question: int, texts: Sequence[str]) -> list[float]:
        missing = [text for text in dict.fromkeys(texts) if text and text not in self._known]
        if missing:
            self._known.update(zip(missing, unit_rows(self._embed(missing)), strict=True))
        asked = self._asked[question]
        return [float(self._known[text] @ asked) if text else 0.0 for text in texts]


class Asked:
    """A model, asked in words: one prompt for each call. Text that cannot be read counts as nothing."""

    def __init__(self, questions: Sequence[Question], model: Callable[[str], str]) -> None:
        self._questions = questions
        self._model = model

    def score(self, question: int, paths: Sequence[tuple[Move, ...]]) -> Sequence[float]:
        """Numbers from 0 to 1, one for each path."""
        return self._numbers(
            "Rate from 0 to 1 how much the last relation of each path helps to answer the question.",
            question,
            [_path_words(path) for path in paths],
        )

    def enough(self, question: int, paths: Sequence[Path]) -> bool:
        """Whether it says yes."""
        listed = _listed([_path_words(path.moves) for path in paths])
        said = self._model(f"{self._head(question)}Do these paths lead to the answer? Say yes or no.\n{listed}")
        return said.strip().lower().startswith("yes")

    def choose(self, question: int, chains: Sequence[tuple[Step, ...]]) -> Sequence[float]:
        """Numbers from 0 to 1, one for each chain."""
        return self._numbers(
            "Rate from 0 to 1 how likely each chain leads to the answer.",
            question,
            [chain_words(one) for one in chains],
        )

    def _head(self, question: int) -> str:
        return f"Question: {self._questions[question].text}\n"

    def _numbers(self, asked: str, question: int, texts: Sequence[str]) -> list[float]:
        prompt = f"{self._head(question)}{asked} Return only a JSON list of {len(texts)} numbers.\n{_listed(texts)}"
        found = re.search(r"\[[^\[\]]*\]", self._model(prompt))
        try:
            numbers = [float(one) for one in json.loads(found.group())] if found else []
        except (ValueError, TypeError):
            numbers = []
        return numbers if len(numbers) == len(texts) else [0.0] * len(texts)


def model_named(name: str) -> Callable[[str], str]:
    """A file of recorded answers (JSON lines of prompt and answer), or NAME@URL of an OpenAI-compatible endpoint."""
    file = File(name)
    if not file.is_file():
        return endpoint(name, Decoding(temperature=0.0))
    lines = [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line]
    answers = {line["prompt"]: str(line["answer"]) for line in lines}

    def recorded(prompt: str) -> str:
        if prompt not in answers:
            raise KeyError(f"{name} has no answer to this prompt: {prompt}")
        return answers[prompt]

    return recorded


def _path_words(path: Sequence[Move]) -> str:
    return ", ".join(move.name for move in path)


def chain_words(chain: Sequence[Step]) -> str:
    """A chain of single relations in words."""
    said = [f"{type_words((types or ('',))[0])}{'' if direction == 'out' else ' of'}" for types, direction in chain]
    return ", ".join(said)


def _listed(texts: Sequence[str]) -> str:
    return "\n".join(f"{number}. {text}" for number, text in enumerate(texts, start=1))
