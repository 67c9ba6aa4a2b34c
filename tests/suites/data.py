"""Where the recorded suites are: the folder that HOPLITE_DATA names, by default `shared` next to the repository."""

from __future__ import annotations

import gzip
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

REPOSITORY = Path(__file__).resolve().parents[2]


class MissingData(SystemExit):
    """A suite that is not there ends the run: a run of nothing must not look like a pass."""


def data_folder() -> Path:
    named = os.environ.get("HOPLITE_DATA")
    return Path(named).resolve() if named else REPOSITORY.parent / "shared"


def data_path(*parts: str) -> Path:
    """A file or folder of the recorded data; ends the run, saying what is missing, where it does not exist."""
    path = data_folder().joinpath(*parts)
    if not path.exists():
        raise MissingData(f"{path} does not exist. Set HOPLITE_DATA to the folder that holds {'/'.join(parts)}.")
    return path


def json_lines(path: Path) -> Iterator[Any]:
    opener = gzip.open if path.suffix == ".gz" else open
    with opener(path, "rt", encoding="utf-8") as lines:
        for line in lines:
            yield json.loads(line)
