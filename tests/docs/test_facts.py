"""What the documentation counts and lists is what there is."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable

import pytest

import hoplite
from tests.docs.blocks import PAGES, ROOT
from tests.golden.run import SUITES
from tests.suites.data import data_folder

README = (ROOT / "README.md").read_text(encoding="utf-8")


def _known_failures(path: str) -> int:
    lines = (ROOT / path).read_text(encoding="utf-8").splitlines()
    return sum(not line.startswith("#") for line in lines)


def _counted(row: str) -> tuple[int, int, int]:
    """Passed, all, and not comparable, in a row of the table of suites."""
    line = next(line for line in README.splitlines() if line.startswith(f"| {row}"))
    numbers = re.search(r"\| ([\d,]+) of ([\d,]+)(?:.* (\d+) cannot be compared)? ?[;|]?", line)
    assert numbers is not None, line
    passed, every, left_out = (int((group or "0").replace(",", "")) for group in numbers.groups())
    return passed, every, left_out


@pytest.mark.parametrize(
    ("row", "known", "suite"),
    [
        ("openCypher TCK", "tests/tck/known_failures.txt", None),
        ("small statements", "tests/golden/known_failures/cases.txt", "cases"),
        ("pattern queries", "tests/golden/known_failures/patterns.txt", "patterns"),
        ("machine-written queries", "tests/golden/known_failures/llm.txt", "llm"),
    ],
)
def test_the_readme_counts_the_suites_as_they_are(row: str, known: str, suite: str | None) -> None:
    passed, every, left_out = _counted(row)
    assert every - passed - left_out == _known_failures(known)
    if suite is not None and (data_folder() / "golden").exists():
        assert len(SUITES[suite].read_tasks()) == every


def test_the_readme_counts_the_analyzers() -> None:
    with hoplite.open() as db:
        rows = db.run("CALL db.index.fulltext.listAvailableAnalyzers() YIELD analyzer RETURN count(*)").value()
    assert f"{rows[0]} of Neo4j's 45 full-text analyzers" in README


@pytest.mark.parametrize("page", ["README.md", "docs/guide/install.md"])
def test_tables_of_extras_name_all_of_them(page: str) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    text = (ROOT / page).read_text(encoding="utf-8")
    table = re.search(r"\| extra \|.*?\n\n", text, re.S)
    assert table is not None
    named = {name for line in table[0].strip().splitlines() for name in re.findall(r"`([a-z]+)`", line.split("|")[1])}
    assert named == set(project["optional-dependencies"])


def test_make_help_names_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    phony = re.search(r"^\.PHONY: (.*)$", makefile, re.M)
    assert phony is not None
    helped = set(re.findall(r"^#   make ([a-z0-9-]+)", makefile, re.M))
    assert helped == set(phony[1].split()) - {"help"}


def test_make_help_shows_the_default_counts() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^#   make ([a-z-]+) .*COUNT=(\d+)", makefile, re.M))
    defaults = dict(re.findall(r"^([a-z-]+): .*\n\t.*\$\(or \$\(COUNT\),(\d+)\)", makefile, re.M))
    assert shown == defaults and len(shown) >= 4


@pytest.mark.parametrize(
    ("number", "of"),
    [("14,964", lambda family: family != "explain"), ("9,810", lambda family: family == "explain")],
)
def test_machine_written_queries_are_counted_the_same_everywhere(number: str, of: Callable[[str], bool]) -> None:
    naming = [page.name for page in PAGES if number in page.read_text(encoding="utf-8")]
    assert {"README.md", "COMPATIBILITY.md", "TESTING.md"} <= set(naming)
    if (data_folder() / "golden").exists():
        assert f"{sum(of(task.family) for task in SUITES['llm'].read_tasks()):,}" == number
