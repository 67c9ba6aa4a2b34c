"""Shapes on disk, generated once: the runner writes them, each engine's process reads them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path

import numpy as np

from benchmarks import shapes
from benchmarks.shapes import Integers, Shape

MAKERS: dict[str, Callable[[float], Shape]] = {"umls": shapes.umls, "ibkh": shapes.ibkh}


def store_shape(folder: Path, name: str, scale: float) -> str:
    """Generate a shape, unless it exists; returns the name under which `load_shape` finds it."""
    source = hashlib.blake2b(Path(shapes.__file__).read_bytes(), digest_size=6).hexdigest()
    stored = f"{name}-{scale:g}-{source}"
    path = folder / f"{stored}.npz"
    if not path.exists():
        shape = MAKERS[name](scale)
        folder.mkdir(parents=True, exist_ok=True)
        unfinished = folder / f"{stored}.part.npz"
        np.savez(
            unfinished,
            name=np.array(shape.name),
            label_names=np.array(shape.label_names),
            label_begin=shape.label_begin,
            start=shape.start,
            end=shape.end,
            type=shape.type,
            type_names=np.array(shape.type_names),
            names=np.array(shape.names, dtype=np.str_),
        )
        unfinished.rename(path)
    return stored


def load_shape(folder: Path, stored: str) -> Shape:
    with np.load(folder / f"{stored}.npz") as arrays:
        return Shape(
            str(arrays["name"]),
            tuple(arrays["label_names"].tolist()),
            arrays["label_begin"],
            arrays["start"],
            arrays["end"],
            arrays["type"],
            tuple(arrays["type_names"].tolist()),
            tuple(arrays["names"].tolist()),
        )


def ball_seeds(shape: Shape, count: int) -> list[Integers]:
    """The queries: 1 to 20 distinct nodes with outgoing relationships each, the same for every engine."""
    rng = np.random.default_rng(3)
    choices = np.unique(shape.start)
    return [rng.choice(choices, int(rng.integers(1, 21)), replace=False) for _ in range(count)]
