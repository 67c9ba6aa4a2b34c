"""What a check says about a statement that failed or caused a warning, computed on demand."""

from __future__ import annotations

import weakref
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, overload

if TYPE_CHECKING:
    from hoplite.api.database import Database


class Hints(Sequence[str]):
    """The problems of a statement as sentences, with suggestions. Empty once the database is closed."""

    def __init__(self, database: Database, text: str, parameters: Mapping[str, Any]) -> None:
        self._database = weakref.ref(database)
        self._asked = text, parameters
        self._found: tuple[str, ...] | None = None

    def _sentences(self) -> tuple[str, ...]:
        if self._found is None:
            database = self._database()
            try:
                problems = () if database is None else database._check(*self._asked).problems
            except RuntimeError:  # it is closed
                problems = ()
            self._found = tuple(map(str, problems))
        return self._found

    def __len__(self) -> int:
        return len(self._sentences())

    @overload
    def __getitem__(self, index: int) -> str: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...
    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        return self._sentences()[index]

    def __repr__(self) -> str:
        return repr(list(self._sentences()))
