"""Check and repair of queries that a model wrote.

A text is made to parse, then to pass the check, then compared with the graph; each step changes only what provably
fails or provably finds nothing. Steps are repeated as long as they change something, because one change may reveal the
next problem.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from hoplite.engine.catalogue import GraphCatalogue
from hoplite.engine.functions.registry import AGGREGATES
from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.parse import parse
from hoplite.models.answers import always_answers
from hoplite.models.edits import Draft, Edit, Fix, overlap
from hoplite.models.facts import Facts
from hoplite.models.patterns import Patterns
from hoplite.models.problems import Check, Finding, Problem, Repair
from hoplite.models.properties import Properties
from hoplite.models.reading import read
from hoplite.models.scope import Refused
from hoplite.models.syntax import finding_of
from hoplite.planner.check import check as check_statement

_MOST_ROUNDS = 12
_DOUBTFUL = ("direction", "pattern")  # a count of 0 may be right there: all of the names exist


class Mender:
    """Checks and repairs texts against one version of a graph."""

    def __init__(self, facts: Facts, catalogue: GraphCatalogue, types: Mapping[str, Any]) -> None:
        self.facts = facts
        self.catalogue = catalogue
        self.types = types

    def check(self, text: str) -> Check:
        """The problems of a text."""
        findings, _ = self._findings(text)
        return Check(text, tuple(_problem(finding, Draft(text)) for finding in findings))

    def repair(self, text: str) -> Repair:
        """The text with everything fixed that can be."""
        draft = Draft(text)
        tried: set[str] = {text}
        findings, is_refused = self._findings(text)
        ran_before = not is_refused
        for _ in range(_MOST_ROUNDS):
            fixes = _together([f.fix for f in findings if f.fix is not None and not (ran_before and f.is_doubtful)])
            if not fixes:
                break
            draft.apply(fixes)
            findings, is_refused = self._findings(draft.text)
            if draft.text in tried:
                break
            tried.add(draft.text)
        if is_refused and draft.text != text:
            draft = Draft(text)  # better the model's text than ours that does not run either
            findings, _ = self._findings(text)
        return Repair(draft.text, text, tuple(draft.changes), tuple(_problem(finding, draft) for finding in findings))

    def _findings(self, text: str) -> tuple[list[Finding], bool]:
        """What is wrong with a text, and whether it is refused because of that."""
        if self.facts.is_sound(text, self.types):
            return [], False
        findings, is_refused = self._new_findings(text)
        if not findings:
            self.facts.found_sound(text, self.types)
        return findings, is_refused

    def _new_findings(self, text: str) -> tuple[list[Finding], bool]:
        try:
            statement = parse(text)
        except CypherError as error:
            return [finding_of(text, error)], True
        try:
            check_statement(statement, text, self.catalogue, self.types, notify=False)
        except CypherError as error:
            names = {function.signature.name for function in self.catalogue.functions.values()}
            names |= {function.signature.name for function in AGGREGATES.values()}
            return [Refused(text, statement, error, self.facts, names).finding()], True
        if not isinstance(statement.body, ast.SingleQuery | ast.Union):
            return [], False
        reading = read(statement, text)
        found = list(Patterns(reading, self.facts, text).findings())
        if found and always_answers(statement.body):
            found = [replace(finding, is_doubtful=finding.kind in _DOUBTFUL) for finding in found]
        return found + list(Properties(reading, statement.body, self.facts, text).findings()), False


def _together(fixes: list[Fix]) -> list[Fix]:
    """One fix with the edits of all that do not overlap: they were made for the same text."""
    kept: list[Fix] = []
    edits: list[Edit] = []
    for fix in fixes:
        if not overlap(fix.edits, edits) and not any(e.start == o.start for e in fix.edits for o in edits):
            kept.append(fix)
            edits += fix.edits
    return kept


def _problem(finding: Finding, draft: Draft) -> Problem:
    start, end = min(finding.start, len(draft.text)), min(finding.end, len(draft.text))
    span = draft.span(start, end)
    return Problem(finding.kind, span, draft.text[start:end], finding.message, finding.suggestions)
