"""Changes to a text that keep track of the original positions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hoplite.grammar.ast import Span


@dataclass(frozen=True, slots=True)
class Edit:
    """`text[start:end]` becomes `after`."""

    start: int
    end: int
    after: str


@dataclass(frozen=True, slots=True)
class Change:
    """A change: its position in the original text, and the reason."""

    kind: str
    span: Span
    before: str
    after: str
    reason: str


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that belong together, for one reason. `offset` is where the mistake is, if not the edits."""

    kind: str
    edits: tuple[Edit, ...]
    reason: str
    offset: int


class Draft:
    """A text that is changed step by step and knows the original position of each character."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.changes: list[Change] = []
        # Where each character, and the end, begins and ends in the original text.
        self._begins: Sequence[int] = range(len(text) + 1)
        self._ends: Sequence[int] = range(1, len(text) + 2)

    def apply(self, fixes: Sequence[Fix]) -> None:
        """Apply the edits of fixes for the current text; they do not overlap."""
        edits: list[Edit] = []
        for fix in fixes:
            for edit in sorted(fix.edits, key=lambda edit: (edit.start, edit.end)):
                span = self.span(edit.start, edit.end)
                before = self.text[edit.start : edit.end]
                self.changes.append(Change(fix.kind, span, before, edit.after, fix.reason))
                edits.append(edit)
        begins, ends = list(self._begins), list(self._ends)
        for edit in sorted(edits, key=lambda edit: (edit.start, edit.end), reverse=True):
            span = self.span(edit.start, edit.end)
            self.text = self.text[: edit.start] + edit.after + self.text[edit.end :]
            # What is written instead came from all that was replaced.
            begins[edit.start : edit.end] = [span.start] * len(edit.after)
            ends[edit.start : edit.end] = [span.end] * len(edit.after)
        self._begins, self._ends = begins, ends

    def span(self, start: int, end: int) -> Span:
        """The part of the original text that a part of this one came from."""
        begin = self._begins[start]
        return Span(begin, self._ends[end - 1] if start < end else begin)


def overlap(edits: Sequence[Edit], others: Sequence[Edit]) -> bool:
    """Whether two sets of edits touch the same characters."""
    return any((a.start < b.end and b.start < a.end) or a == b for a in edits for b in others)
