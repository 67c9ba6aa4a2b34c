"""The reader of .test files."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.casefiles import BadCaseFile, ExpectedError, ExpectedRows, read_cases

TEXT = """\
# a comment
@graph
CREATE (:A);
CREATE (:B)

@case two statements and a parameter
CREATE (:C {s: ';'});
MATCH (n) RETURN $x AS x
@parameters
| x | 'a\\|b' |
@rows in order
| x      |
| 'a\\|b' |

@case an error
RETURN y
@error Some.Code
Variable `y`
"""


def test_a_file_gives_its_cases(tmp_path: Path) -> None:
    (path := tmp_path / "f.test").write_text(TEXT)
    first, second = read_cases(path)
    assert first.graph == ("CREATE (:A)", "CREATE (:B)")
    assert first.before == ("CREATE (:C {s: ';'})",)
    assert first.query == "MATCH (n) RETURN $x AS x"
    assert first.parameters == {"x": "a|b"}
    assert first.expected == ExpectedRows(("x",), (("'a|b'",),), ordered=True)
    assert second.expected == ExpectedError("Some.Code", "Variable `y`")


@pytest.mark.parametrize(
    "text",
    [
        "words first",
        "@case no expectation\nRETURN 1\n",
        "@case two expectations\nRETURN 1\n@rows\n| a |\n@error X\n",
        "@case no query\n@rows\n| a |\n",
        "@rows\n| a |\n",
        "@case ragged\nRETURN 1\n@rows\n| a | b |\n| 1 |\n",
        "@other\n",
        "@case twice\nRETURN 1\n@error X\n@case twice\nRETURN 1\n@error X\n",
    ],
)
def test_what_does_not_follow_the_format_is_refused(text: str, tmp_path: Path) -> None:
    (path := tmp_path / "f.test").write_text(text)
    with pytest.raises(BadCaseFile):
        read_cases(path)
