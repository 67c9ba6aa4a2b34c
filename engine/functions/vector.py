"""Similarity of vectors, in the 32-bit arithmetic of the vector index.

Lists of numbers in, a score between 0 and 1 out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.functions.arguments import is_number
from hoplite.engine.functions.registry import cypher_function, named
from hoplite.errors import argument_error, type_error
from hoplite.planner.types import FLOAT, NUMBER, list_of

Float32s = NDArray[np.float32]

_ARGUMENTS = (named("a", list_of(NUMBER)), named("b", list_of(NUMBER)))


def _vectors(function: str, first: Any, second: Any, normalise: bool) -> tuple[Float32s, Float32s]:
    """Both arguments as 32-bit vectors of the same length."""
    for name, value in (("a", first), ("b", second)):
        if not isinstance(value, list):
            raise type_error(
                f"Invalid input for '{function}()': Expected argument {name} to be a LIST<INTEGER | FLOAT>."
            )
    vectors = []
    for name, value in (("a", first), ("b", second)):
        vector = vector_of(value, normalise)
        if vector is None:
            raise argument_error(
                f"Invalid input for '{function}()': Argument {name} is not a valid vector for this similarity function."
            )
        vectors.append(vector)
    if len(vectors[0]) != len(vectors[1]):
        raise argument_error(
            f"Invalid input for '{function}()': The supplied vectors do not have the same number of dimensions."
        )
    return vectors[0], vectors[1]


def vector_of(values: list[Any], normalise: bool) -> Float32s | None:
    """The list as a 32-bit vector, of length 1 if asked for; None where it has no finite one."""
    if not values or not all(map(is_number, values)):
        return None
    doubles = np.array(values, np.float64)
    with np.errstate(all="ignore"):
        if normalise:
            norm = math.sqrt(float(np.sum(doubles * doubles)))
            if not 0.0 < norm < math.inf:
                return None
            doubles = doubles / norm
        vector = doubles.astype(np.float32)
    return vector if bool(np.isfinite(vector).all()) else None


@cypher_function(
    "vector.similarity.cosine",
    args=_ARGUMENTS,
    returns=FLOAT,
    category="Vector",
    description="Returns a `FLOAT` representing the similarity between the argument vectors based on their cosine.",
)
def cosine(first: Any, second: Any) -> float:
    """(1 + cosine) / 2"""
    one, other = _vectors("vector.similarity.cosine", first, second, normalise=True)
    return cosine_score(one, other)


def cosine_score(one: Float32s, other: Float32s) -> float:
    """The score of two vectors of length 1."""
    score = (np.float32(1) + np.dot(one, other)) / np.float32(2)
    return max(float(score), 0.0)


@cypher_function(
    "vector.similarity.euclidean",
    args=_ARGUMENTS,
    returns=FLOAT,
    category="Vector",
    description="Returns a `FLOAT` representing the similarity between the argument vectors based on their Euclidean "
    "distance.",
)
def euclidean(first: Any, second: Any) -> float:
    """1 / (1 + squared distance)"""
    one, other = _vectors("vector.similarity.euclidean", first, second, normalise=False)
    return euclidean_score(one, other)


def euclidean_score(one: Float32s, other: Float32s) -> float:
    """The score of two vectors."""
    difference = one - other
    with np.errstate(over="ignore"):
        return float(np.float32(1) / (np.float32(1) + np.dot(difference, difference)))
