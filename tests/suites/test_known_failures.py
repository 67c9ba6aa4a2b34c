"""The list of known failures may only shrink."""

from __future__ import annotations

from pathlib import Path

from tests.suites.known_failures import compare, read_known, updated, write_known
from tests.suites.workers import PASSED, Verdict

FAILED = Verdict("failed", "rows differ")
NAMES = {"a", "b", "c"}


def test_only_known_failures_is_a_clean_run() -> None:
    assert compare({"a"}, NAMES, {"a": FAILED, "b": PASSED}).clean


def test_a_new_failure_is_a_regression() -> None:
    standing = compare(set(), NAMES, {"a": FAILED, "b": PASSED})
    assert standing.regressions == ("a",) and not standing.clean


def test_a_known_failure_that_passes_must_be_struck_off() -> None:
    standing = compare({"a", "b"}, NAMES, {"a": PASSED})
    assert standing.fixed == ("a",) and not standing.clean
    assert updated({"a", "b"}, standing, grow=False) == {"b"}


def test_the_list_grows_only_when_told_to() -> None:
    standing = compare({"a"}, NAMES, {"a": FAILED, "b": FAILED})
    assert updated({"a"}, standing, grow=False) == {"a"}
    assert updated({"a"}, standing, grow=True) == {"a", "b"}


def test_a_name_that_is_no_case_must_be_struck_off() -> None:
    assert compare({"gone"}, NAMES, {"a": PASSED}).unheard_of == ("gone",)


def test_a_list_is_sorted_text(tmp_path: Path) -> None:
    path = tmp_path / "list.txt"
    write_known(path, {"b", "a"}, "heading")
    assert path.read_text() == "# heading\na\nb\n"
    assert read_known(path) == {"a", "b"}
