"""Texts to vectors by any callable, and what is done with the vectors.

An `Embed` takes texts and gives one row for each. `hashed_words` is one that needs nothing: it knows spelling and no
meaning, and stands in where there is no model.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Vectors: TypeAlias = NDArray[np.float32]
Embed: TypeAlias = Callable[[Sequence[str]], NDArray[Any]]

_ROWS_AT_ONCE = 1024


def unit_rows(vectors: NDArray[Any]) -> Vectors:
    """The same directions with length 1, so that products are cosines; rows of zeros stay as they are."""
    rows = np.asarray(vectors, np.float32)
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    made = rows / np.where(lengths == 0, 1, lengths)
    return made.astype(np.float32, copy=False)


def top_similar(asked: Vectors, known: Vectors, most: int) -> tuple[NDArray[np.int64], Vectors]:
    """For each row asked about the nearest known rows, the best first, and their cosines. All rows have length 1."""
    most = min(most, len(known))
    places = np.empty((len(asked), most), np.int64)
    for first in range(0, len(asked), _ROWS_AT_ONCE):
        cosines = asked[first : first + _ROWS_AT_ONCE] @ known.T
        if most < len(known):
            found = np.argpartition(-cosines, most - 1, axis=1)[:, :most] if most else np.empty((len(cosines), 0), int)
        else:
            found = np.broadcast_to(np.arange(most), (len(cosines), most))
        order = np.argsort(-np.take_along_axis(cosines, found, axis=1), axis=1, kind="stable")
        places[first : first + _ROWS_AT_ONCE] = np.take_along_axis(found, order, axis=1)
    scores = np.einsum("ij,ikj->ik", asked, known[places]) if most else np.zeros((len(asked), 0), np.float32)
    return places, scores.astype(np.float32, copy=False)


def remembered(embed: Embed) -> Embed:
    """The same, asked only about texts that it has not seen yet."""
    known: dict[str, NDArray[Any]] = {}

    def embed_new(texts: Sequence[str]) -> NDArray[Any]:
        new = [text for text in dict.fromkeys(texts) if text not in known]
        if new:
            known.update(zip(new, embed(new), strict=True))
        return np.stack([known[text] for text in texts]) if texts else np.zeros((0, 0), np.float32)

    return embed_new


def hashed_words(dimensions: int = 512) -> Embed:
    """Words and their triples of letters, each counted at a place that its hash says: close texts share spelling."""

    def embed(texts: Sequence[str]) -> Vectors:
        vectors = np.zeros((len(texts), dimensions), np.float32)
        for row, text in enumerate(texts):
            for word in re.findall(r"[^\W_]+", text.lower()):
                framed = f"<{word}>"
                for part in (word, *(framed[at : at + 3] for at in range(len(framed) - 2))):
                    code = zlib.crc32(part.encode())
                    vectors[row, code % dimensions] += 1 if code & 0x80000000 else -1
        return unit_rows(vectors)

    return embed
