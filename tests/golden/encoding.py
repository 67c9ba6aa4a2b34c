"""How recorded values are written down: the `golden.py` that comes with the recordings, loaded from where they lie.

Digests are of its canonical text, so it is used as it is and not written again.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Protocol, cast

from tests.suites.data import data_path

Entity = Callable[[Any], Any]


class Encoding(Protocol):
    def encode(self, value: Any, entity: Entity | None = None) -> Any:
        """A value of the driver's types as JSON."""

    def decode(self, written: Any) -> Any:
        """A parameter as the driver takes it."""

    def text(self, encoded: Any) -> str:
        """One line, the same for equal values."""

    def fingerprint(
        self, columns: Sequence[str], rows: Any, ordered: bool = False, entity: Entity | None = None, head: int = 3
    ) -> dict[str, Any]: ...


@cache
def encoding() -> Encoding:
    spec = importlib.util.spec_from_file_location("golden_encoding", data_path("golden", "golden.py"))
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return cast(Encoding, module)


def sorted_lists(encoded: Any) -> Any:
    """The value with every list in one order, for `collect()` and the like; coordinates and paths stay as they are."""
    if isinstance(encoded, list):
        return sorted((sorted_lists(item) for item in encoded), key=encoding().text)
    if isinstance(encoded, dict):
        fixed = ("$path", "$point", "$duration")
        return {key: item if key in fixed else sorted_lists(item) for key, item in encoded.items()}
    return encoded
