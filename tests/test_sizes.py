"""The check of file and function lengths finds what it is for."""

from __future__ import annotations

from tests.sizes import LONGEST_CASE, LONGEST_FILE, LONGEST_FUNCTION, too_long


def _function(lines: int) -> str:
    return "def f():\n" + '    """Said\n    in two lines."""\n' + "    x = 1\n" * lines


def _table(cases: int, lines: int) -> str:
    case = "        case 1:\n" + "            x = 1\n" * lines
    return "def f(n):\n    match n:\n" + case * cases


def test_long_files_and_functions_are_named() -> None:
    assert list(too_long("a.py", "x = 1\n" * LONGEST_FILE)) == []
    (said,) = too_long("a.py", "x = 1\n" * (LONGEST_FILE + 1))
    assert said.startswith("a.py has 801 lines")
    assert list(too_long("a.py", _function(LONGEST_FUNCTION))) == []
    (said,) = too_long("a.py", _function(LONGEST_FUNCTION + 1))
    assert said.startswith("a.py:1: f has 61 lines")


def test_a_table_of_short_cases_may_be_long() -> None:
    assert list(too_long("a.py", _table(cases=60, lines=1))) == []
    assert len(list(too_long("a.py", _table(cases=6, lines=LONGEST_CASE + 1)))) == 1
    with_more = _table(cases=60, lines=1) + "    x = 1\n" * 20
    assert len(list(too_long("a.py", with_more))) == 1
