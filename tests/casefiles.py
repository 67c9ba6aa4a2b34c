"""Test cases as text files: a query with its rows, its error or its plan.

    # a comment, where a line begins with it
    @graph
    CREATE (:Person {name: 'Ann'});            statements that make the graph, once for each case; may be missing

    @case a node is found by its label         a sentence
    MATCH (p:Person) WHERE p.name = $name      statements end with ; at a line's end; the last is the one asked
    RETURN p.name AS name, p.age AS age
    @parameters
    | name | 'Ann' |
    @rows                                      or: @rows in order
    | name  | age  |
    | 'Ann' | null |

Instead of @rows: `@error Neo.ClientError.Statement.SyntaxError`, with (the beginning of) the message below it, or
`@plan` with the text of EXPLAIN. Values are written as the TCK writes them (tests/tck/values.py).

Below the message of an error, lines that begin with `- ` are its GQL statuses, the error's own and its causes:

    @error Neo.ClientError.Statement.SyntaxError
    Type mismatch: expected Boolean but was Integer
    - 42001
    - 22NB1 Type mismatch: expected to be Boolean but was 'Integer'.

`@notes`, beside rows, has all notifications in their order, each in a line: `01N50 1:10 The label `X` ...` is a status,
the place (`-` where there is none) and how its description ends.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.tck.values import parse

_SECTIONS = ("graph", "case", "parameters", "rows", "rows in order", "error", "plan", "notes")


class BadCaseFile(Exception):
    """A file that does not follow the format."""


@dataclass(frozen=True, slots=True)
class ExpectedRows:
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    ordered: bool


@dataclass(frozen=True, slots=True)
class ExpectedError:
    code: str
    message: str
    statuses: tuple[tuple[str, str], ...] = ()  # the code and the sentence of each


@dataclass(frozen=True, slots=True)
class ExpectedNote:
    status: str
    place: str
    ending: str


@dataclass(frozen=True, slots=True)
class ExpectedPlan:
    text: str


@dataclass(frozen=True, slots=True)
class Case:
    """`before`: the statements that lead up to the query in question."""

    name: str
    graph: tuple[str, ...]
    before: tuple[str, ...]
    query: str
    parameters: dict[str, Any]
    expected: ExpectedRows | ExpectedError | ExpectedPlan
    notes: tuple[ExpectedNote, ...] | None = None


@dataclass(slots=True)
class Section:
    """A line that begins with @, and the lines below it."""

    kind: str
    argument: str
    line_number: int
    lines: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip("\n")


def read_cases(path: Path) -> list[Case]:
    """The cases of a file; one without an expectation, or with two, is an error."""
    graph: tuple[str, ...] = ()
    cases: list[Case] = []
    for group in _groups(path, read_sections(path)):
        head, rest = group[0], group[1:]
        if head.kind == "graph":
            graph = _statements(head.text)
        else:
            cases.append(_case(path, head, rest, graph))
    names = [case.name for case in cases]
    if len(set(names)) != len(names):
        raise BadCaseFile(f"{path}: two cases have one name")
    return cases


def read_sections(path: Path) -> list[Section]:
    sections: list[Section] = []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.startswith("#"):
            continue
        if line.startswith("@"):
            kind = next((kind for kind in sorted(_SECTIONS, key=len, reverse=True) if _is(line, kind)), None)
            if kind is None:
                raise BadCaseFile(f"{path}, line {number}: {line}")
            sections.append(Section(kind, line[len(kind) + 1 :].strip(), number))
        elif sections:
            sections[-1].lines.append(line)
        elif line.strip():
            raise BadCaseFile(f"{path}, line {number}: text before the first @")
    return sections


def _is(line: str, kind: str) -> bool:
    return line == f"@{kind}" or line.startswith(f"@{kind} ")


def _groups(path: Path, sections: list[Section]) -> list[list[Section]]:
    groups: list[list[Section]] = []
    for section in sections:
        if section.kind in ("graph", "case"):
            groups.append([section])
        elif groups and groups[-1][0].kind == "case":
            groups[-1].append(section)
        else:
            raise BadCaseFile(f"{path}, line {section.line_number}: @{section.kind} belongs below a @case")
    return groups


def _case(path: Path, head: Section, rest: list[Section], graph: tuple[str, ...]) -> Case:
    where = f"{path}, line {head.line_number}"
    *before, query = _statements(head.text) or ("",)
    parameters = {name: parse(value) for part in rest if part.kind == "parameters" for name, value in _table(part)}
    expectations = [part for part in rest if part.kind not in ("parameters", "notes")]
    if len(expectations) != 1 or not head.argument or not query:
        raise BadCaseFile(f"{where}: a case has a name, a query and one expectation")
    (expectation,) = expectations
    expected: ExpectedRows | ExpectedError | ExpectedPlan
    match expectation.kind:
        case "rows" | "rows in order":
            columns, *rows = _table(expectation) or [()]
            if any(len(row) != len(columns) for row in rows):
                raise BadCaseFile(f"{where}: a row has not as many cells as there are columns")
            expected = ExpectedRows(columns, tuple(rows), expectation.kind == "rows in order")
        case "error":
            expected = _error(expectation)
        case _:
            expected = ExpectedPlan(expectation.text)
    notes = [_notes(part) for part in rest if part.kind == "notes"]
    return Case(head.argument, graph, tuple(before), query, parameters, expected, notes[0] if notes else None)


def _error(section: Section) -> ExpectedError:
    statuses = [line[2:].strip().partition(" ") for line in section.lines if line.startswith("- ")]
    message = "\n".join(line for line in section.lines if not line.startswith("- ")).strip("\n")
    return ExpectedError(section.argument, message, tuple((code, sentence) for code, _, sentence in statuses))


def _notes(section: Section) -> tuple[ExpectedNote, ...]:
    lines = [line.strip().split(" ", 2) for line in section.lines if line.strip()]
    return tuple(ExpectedNote(status, place, ending) for status, place, ending in lines)


def _statements(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in re.split(r";\s*(?:\n|\Z)", text) if part.strip())


def _table(section: Section) -> list[tuple[str, ...]]:
    rows = [line.strip() for line in section.lines if line.strip()]
    if any(not (row.startswith("|") and row.endswith("|")) for row in rows):
        raise BadCaseFile(f"line {section.line_number}: a table's lines begin and end with |")
    return [tuple(cell.strip().replace("\\|", "|") for cell in re.split(r"(?<!\\)\|", row)[1:-1]) for row in rows]
