"""The results of a check or a repair."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hoplite.grammar.ast import Span
from hoplite.models.edits import Change, Fix


@dataclass(frozen=True, slots=True)
class Finding:
    """Something wrong at `start` to `end` of a text, and its fix, if that is certain enough.

    `is_doubtful` if the query returns an answer that may be right.
    """

    kind: str
    start: int
    end: int
    message: str
    suggestions: tuple[str, ...] = ()
    fix: Fix | None = None
    is_doubtful: bool = False


@dataclass(frozen=True, slots=True)
class Problem:
    """Something wrong with a query: where it is, a sentence about it, and suggestions, the likeliest first."""

    kind: str
    span: Span
    text: str
    message: str
    suggestions: tuple[str, ...] = ()

    def __str__(self) -> str:
        if not self.suggestions:
            return self.message
        return f"{self.message} Perhaps: {', '.join(self.suggestions[:3])}."


@dataclass(frozen=True, slots=True)
class Check:
    """The problems of a query. `str()` is text for a prompt; empty if nothing is wrong."""

    query: str
    problems: tuple[Problem, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __str__(self) -> str:
        return "\n".join(f"- {problem}" for problem in self.problems)

    def as_dict(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        return {"ok": self.ok, "problems": [_problem(p) for p in self.problems]}


@dataclass(frozen=True, slots=True)
class Repair:
    """A repaired query: the new text, the changes, and what is wrong with it and was left alone."""

    query: str
    original: str
    changes: tuple[Change, ...]
    problems: tuple[Problem, ...]

    def __str__(self) -> str:
        made = [f"- {reason}" for reason in dict.fromkeys(change.reason for change in self.changes)]
        return "\n".join((*made, *(f"- {problem}" for problem in self.problems)))

    def as_dict(self) -> dict[str, Any]:
        """The same, ready for JSON."""
        changes = [
            {
                "kind": c.kind,
                "span": [c.span.start, c.span.end],
                "before": c.before,
                "after": c.after,
                "reason": c.reason,
            }
            for c in self.changes
        ]
        return {"query": self.query, "changes": changes, "problems": [_problem(p) for p in self.problems]}


def _problem(problem: Problem) -> dict[str, Any]:
    return {
        "kind": problem.kind,
        "span": [problem.span.start, problem.span.end],
        "text": problem.text,
        "message": problem.message,
        "suggestions": list(problem.suggestions),
    }
