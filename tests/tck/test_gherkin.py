"""The reader of feature files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.tck.gherkin import GherkinError, Step, read_feature, read_folder

FEATURE = '''
#encoding: utf-8

Feature: Sums
  Words about the feature.

  Background:
    Given an empty graph

  @tag
  Scenario: [1] One query
    When executing query:
      """
      RETURN 1
        AS one
      """
    Then the result should be, in any order:
      | one | text   |
      | 1   | 'a\\|b' |

  Scenario Outline: [2] Many queries
    When executing query:
      """
      RETURN <a> + 1 AS b
      """
    Then the result should be, in any order:
      | b   |
      | <b> |

    Examples:
      | a | b |
      | 1 | 2 |
      | 2 | 3 |
'''


def test_a_background_stands_in_front_of_every_scenario() -> None:
    assert all(scenario.steps[0] == Step("an empty graph") for scenario in read_feature("f", FEATURE))


def test_a_doc_string_loses_the_indentation_of_its_quotes_only() -> None:
    first = next(iter(read_feature("f", FEATURE)))
    assert first.steps[1].doc == "RETURN 1\n  AS one"


def test_a_bar_in_a_cell_is_escaped() -> None:
    first = next(iter(read_feature("f", FEATURE)))
    assert first.steps[2].table == (("one", "text"), ("1", "'a|b'"))


def test_an_outline_gives_one_scenario_for_each_example() -> None:
    _, second, third = read_feature("f", FEATURE)
    assert second.title == "[2] Many queries | a=1 | b=2"
    assert third.steps[1].doc == "RETURN 2 + 1 AS b"
    assert third.steps[2].table == (("b",), ("3",))


def test_a_lone_bar_is_a_row_without_cells() -> None:
    text = "Feature: F\nScenario: S\n  Given there exists a procedure p() :: ():\n    |\n"
    (scenario,) = read_feature("f", text)
    assert scenario.steps[0].table == ((),)


def test_a_line_that_is_not_understood_is_an_error_and_not_lost() -> None:
    with pytest.raises(GherkinError, match="line 3: Whenever"):
        list(read_feature("f", "Feature: F\nScenario: S\n  Whenever executing query:\n"))


def test_a_name_that_stands_twice_gets_a_number(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    scenario = "Scenario: S\n  Given any graph\n"
    (tmp_path / "a" / "F.feature").write_text(f"Feature: F\n{scenario}{scenario}")
    assert [found.name for found in read_folder(tmp_path)] == ["a/F.feature: S", "a/F.feature: S #2"]
