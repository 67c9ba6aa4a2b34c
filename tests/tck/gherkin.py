"""Feature files in, flat scenarios out: backgrounds put in front, outlines filled in for each example.

Reads the part of Gherkin that the TCK uses: Feature, Background, Scenario, Scenario Outline with Examples, tags,
comments, and steps with a doc string or a table.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

_KEYWORD = re.compile(r"(Feature|Background|Scenario Outline|Scenario|Examples)\s*:\s*(.*)")
_STEP = re.compile(r"(?:Given|When|Then|And|But)\s+(.*)")
_PLACEHOLDER = re.compile(r"<([^<>]+)>")
_ESCAPES = {"\\n": "\n", "\\|": "|", "\\\\": "\\"}

Table = tuple[tuple[str, ...], ...]


class GherkinError(Exception):
    """A feature file that this reader does not understand; better than a scenario that is silently lost."""


@dataclass(frozen=True, slots=True)
class Step:
    text: str
    doc: str | None = None
    table: Table | None = None

    def filled_in(self, values: dict[str, str]) -> Step:
        def fill(text: str) -> str:
            return _PLACEHOLDER.sub(lambda found: values.get(found[1], found[0]), text)

        return Step(
            fill(self.text),
            None if self.doc is None else fill(self.doc),
            None if self.table is None else tuple(tuple(fill(cell) for cell in row) for row in self.table),
        )


@dataclass(frozen=True, slots=True)
class Scenario:
    """`title` is the scenario's name, followed by ` | column=value` for each column of its example."""

    feature: str
    title: str
    steps: tuple[Step, ...]

    @property
    def folder(self) -> str:
        return self.feature.rpartition("/")[0]

    @property
    def name(self) -> str:
        return f"{self.feature}: {self.title}"


@dataclass(slots=True)
class _Block:
    """A Background, Scenario or Scenario Outline as it stands in the file."""

    keyword: str
    title: str
    steps: list[Step]
    examples: list[list[tuple[str, ...]]]


def read_folder(root: Path) -> list[Scenario]:
    """All scenarios under `root`, in the order of their paths; a name that stands twice gets `#2`."""
    scenarios: list[Scenario] = []
    seen: Counter[str] = Counter()
    for path in sorted(root.rglob("*.feature")):
        for scenario in read_feature(path.relative_to(root).as_posix(), path.read_text(encoding="utf-8")):
            seen[scenario.name] += 1
            count = seen[scenario.name]
            scenarios.append(scenario if count == 1 else replace(scenario, title=f"{scenario.title} #{count}"))
    return scenarios


def read_feature(feature: str, text: str) -> Iterator[Scenario]:
    background: list[Step] = []
    for block in _blocks(feature, text):
        if block.keyword == "Background":
            background = block.steps
            continue
        steps = tuple(background + block.steps)
        if block.keyword == "Scenario":
            yield Scenario(feature, block.title, steps)
            continue
        for header, *rows in block.examples:
            for row in rows:
                example = dict(zip(header, row, strict=True))
                title = block.title + "".join(f" | {column}={value}" for column, value in example.items())
                yield Scenario(feature, title, tuple(step.filled_in(example) for step in steps))


def _blocks(feature: str, text: str) -> list[_Block]:
    blocks: list[_Block] = []
    in_examples = False
    lines = iter(enumerate(text.splitlines(), start=1))
    for number, line in lines:
        stripped = line.strip()
        if not stripped or stripped[0] in "#@":
            continue
        if found := _KEYWORD.fullmatch(stripped):
            keyword, title = found.groups()
            in_examples = keyword == "Examples"
            if in_examples:
                blocks[-1].examples.append([])
            elif keyword != "Feature":
                blocks.append(_Block(keyword, title, [], []))
        elif not blocks:
            continue  # the description of the feature
        elif stripped == '"""':
            blocks[-1].steps[-1] = replace(blocks[-1].steps[-1], doc=_doc_string(line.index('"'), lines))
        elif stripped.startswith("|"):
            row = _cells(stripped)
            if in_examples:
                blocks[-1].examples[-1].append(row)
            else:
                step = blocks[-1].steps[-1]
                blocks[-1].steps[-1] = replace(step, table=(*(step.table or ()), row))
        elif found := _STEP.fullmatch(stripped):
            blocks[-1].steps.append(Step(found[1]))
        else:
            raise GherkinError(f"{feature}, line {number}: {stripped}")
    return blocks


def _doc_string(indent: int, lines: Iterator[tuple[int, str]]) -> str:
    """The lines up to the closing quotes, each without the indentation of the opening ones."""
    doc: list[str] = []
    for _, line in lines:
        if line.strip() == '"""':
            break
        doc.append(line[indent:] if not line[:indent].strip() else line.lstrip())
    return "\n".join(doc)


def _cells(row: str) -> tuple[str, ...]:
    """`| a | b \\| c |` has the cells `a` and `b | c`; `|` alone has none."""
    cells = re.findall(r"((?:\\.|[^|\\])*)\|", row[1:])
    return tuple(re.sub(r"\\[n|\\]", lambda found: _ESCAPES[found[0]], cell.strip()) for cell in cells)
