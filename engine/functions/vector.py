"""Similarity of vectors, in the 32-bit arithmetic of the vector index.

Lists of numbers in, a score between 0 and 1 out.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from hoplite.engine.functions.arguments import are_numbers
from hoplite.engine.functions.registry import cypher_function, named, over_columns
from hoplite.errors import argument_error, type_error
from hoplite.planner.types import FLOAT, NUMBER, list_of
from hoplite.storage.search.vectors import prepared
from hoplite.values.columns import Bools, Column, FloatLists, Floats

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
    """The list as a 32-bit vector, normalised to length 1 if asked; None if that is not finite."""
    if not values or not are_numbers(values):
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


# --- over columns: a stored one and one vector, or two stored ones ---

_ROWS = 1 << 14  # vectors compared at once


def _matrix(column: Column) -> tuple[NDArray[Any], Bools | None] | None:
    """A column of vectors as a matrix with a row for each, or a single row if all are the same."""
    if isinstance(column, FloatLists):
        return column.matrix, column.nulls
    values = column.objects()
    first = values[0]
    if not isinstance(first, list) or not first or any(value is not first for value in values):
        return None
    return (np.array([first], np.float64), None) if set(map(type, first)) <= {int, float} else None


def _scores(first: Column, second: Column, by_cosine: bool) -> Column | None:
    """Scores row by row; None if any value is not a vector, so that the row-by-row path raises the error."""
    if len(first) < 2:
        return None
    one, other = _matrix(first), _matrix(second)
    if one is None or other is None or one[0].shape[1] != other[0].shape[1]:
        return None
    nulls = [mask for _, mask in (one, other) if mask is not None]
    missing = np.logical_or.reduce(nulls) if nulls else None
    scores = np.empty(len(first), np.float64)
    for start in range(0, len(first), _ROWS):
        some = slice(start, start + _ROWS)
        left, right = (matrix if len(matrix) == 1 else matrix[some] for matrix in (one[0], other[0]))
        (left, are_left), (right, are_right) = prepared(left, by_cosine), prepared(right, by_cosine)
        valid = are_left & are_right
        if not bool((valid if missing is None else valid | missing[some]).all()):
            return None
        with np.errstate(all="ignore"):
            if by_cosine:
                products = np.einsum("ij,ij->i", *np.broadcast_arrays(left, right))
                scores[some] = np.maximum((np.float32(1) + products) / np.float32(2), np.float32(0))
            else:
                apart = left - right
                scores[some] = np.float32(1) / (np.float32(1) + np.einsum("ij,ij->i", apart, apart))
    return Floats(scores, missing)


@over_columns("vector.similarity.cosine")
def cosines(first: Column, second: Column) -> Column | None:
    """Cosine scores of stored vectors."""
    return _scores(first, second, by_cosine=True)


@over_columns("vector.similarity.euclidean")
def euclideans(first: Column, second: Column) -> Column | None:
    """Euclidean scores of stored vectors."""
    return _scores(first, second, by_cosine=False)
