"""The graphs and questions that the programs run on. None is shipped: `HOPLITE_DATA` names the folder that has them."""

from __future__ import annotations

import gzip
import os
from collections.abc import Iterator
from pathlib import Path

_REPOSITORY = Path(__file__).resolve().parents[2]


class MissingData(Exception):
    """A data set is not there. The message says what to set."""


def data_folder() -> Path:
    """The folder that HOPLITE_DATA names; without it, `shared` beside the repository, which need not exist."""
    named = os.environ.get("HOPLITE_DATA")
    return Path(named).resolve() if named else _REPOSITORY.parent / "shared"


def data_path(*parts: str) -> Path:
    """A file or folder of the data.

    Raises `MissingData` where it does not exist.
    """
    path = data_folder().joinpath(*parts)
    if not path.exists():
        raise MissingData(f"{path} does not exist: set HOPLITE_DATA to the folder that holds {'/'.join(parts)}.")
    return path


def rows_of(path: Path, delimiter: str = "\t") -> Iterator[list[str]]:
    """The lines of a gzipped file of plain columns."""
    with gzip.open(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield line.rstrip("\n").split(delimiter)
