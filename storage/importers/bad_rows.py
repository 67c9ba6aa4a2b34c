"""What happens to rows that cannot be imported: the import fails, or they are skipped, or skipped and reported."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

from hoplite.lazy_dataclass import dataclass
from hoplite.storage.importers.problem import bad_line, bad_table

OnError: TypeAlias = Literal["fail", "skip", "report"]
KEPT = 1_000
"""How many bad rows are kept for the report; all of them are counted."""


@dataclass(frozen=True, slots=True)
class BadRow:
    """`people.csv, line 3: "abc" is not a valid int`; of a table, `nodes[Person], row 3: ...`"""

    file: str
    line: int
    reason: str
    unit: str = "line"

    def __str__(self) -> str:
        return f"{self.file}, {self.unit} {self.line}: {self.reason}"


class BadRows:
    """Collects bad rows, or raises at the first."""

    def __init__(self, on_error: OnError = "fail") -> None:
        if on_error not in ("fail", "skip", "report"):
            raise ValueError(f"on_error is fail, skip or report, not {on_error!r}")
        self._on_error = on_error
        self.count = 0
        self.kept: list[BadRow] = []
        self._file = ""
        self._line_of: Callable[[int], int] | None = None

    def rows_are_of(self, file: str, line_of: Callable[[int], int]) -> None:
        """The only table is that of a file: its rows are named by their lines from now on."""
        self._file, self._line_of = file, line_of

    def place(self, table: str, row: int) -> str:
        """Where a row of a table is: `nodes['Drug'], row 3`, or `drugs.csv, line 5`."""
        return f"{table}, row {row}" if self._line_of is None else f"{self._file}, line {self._line_of(row)}"

    def take(self, file: str, line: int, reason: str, cause: BaseException | None = None) -> None:
        """Add a bad row; raises unless bad rows are to be skipped."""
        if self._on_error == "fail":
            raise bad_line(file, line, reason) from cause
        self.count += 1
        if self._on_error == "report" and len(self.kept) < KEPT:
            self.kept.append(BadRow(file, line, reason))

    def take_row(self, table: str, row: int, reason: str) -> None:
        """The same for a table, whose rows are numbered from 0."""
        if self._line_of is not None:
            self.take(self._file, self._line_of(row), reason)
            return
        if self._on_error == "fail":
            raise bad_table(table, reason, row)
        self.count += 1
        if self._on_error == "report" and len(self.kept) < KEPT:
            self.kept.append(BadRow(table, row, reason, "row"))

    @property
    def skips(self) -> bool:
        """Whether bad rows are left out."""
        return self._on_error != "fail"

    def summary(self, nodes: int, relationships: int) -> dict[str, Any]:
        """What an importer returns: counts, and what was left out if anything could be."""
        made: dict[str, Any] = {"nodes": nodes, "relationships": relationships}
        if self._on_error != "fail":
            made["skipped"] = self.count
        if self._on_error == "report":
            in_a_file = self._line_of is not None  # whose columns are read one after another
            rows = sorted(self.kept, key=lambda row: row.line) if in_a_file else self.kept
            made["problems"] = list(map(str, rows))
        return made
