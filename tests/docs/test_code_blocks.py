"""Every Python block in the README and in docs/ runs as is."""

from __future__ import annotations

import ast
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import PAGES, ROOT, blocks, name_of

_SHOWN = re.compile(r"# [\[{'\d(]")
WITH_CODE = [page for page in PAGES if any(block.language == "python" for block in blocks(page))]


def _checked(code: str) -> str:
    """The code, which fails if an expression differs from the comment on the line below it."""
    lines = code.splitlines()
    added: dict[int, str] = {}
    for node in ast.parse(code).body:
        below = lines[node.end_lineno] if node.end_lineno is not None and node.end_lineno < len(lines) else ""
        if isinstance(node, ast.Expr) and _SHOWN.match(below) and "..." not in below:
            lines[node.lineno - 1] = f"_shown = {lines[node.lineno - 1]}"
            added[node.end_lineno or 0] = f"assert repr(_shown) == {below[2:]!r}, _shown"
    return "\n".join(added.get(number, line) for number, line in enumerate(lines))


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_python_runs_as_it_stands(page: Path, tmp_path: Path) -> None:
    """In a separate process: pages open databases, and end with them open."""
    lines = ["from hoplite.sample import load_sample"]
    for block in blocks(page):
        if block.language == "python" and not block.not_run:
            lines += [block.before, f"# {name_of(page)}, line {block.line}", _checked(block.code)]
    script = tmp_path / "page.py"
    script.write_text("\n".join(lines), encoding="utf-8")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert run.returncode == 0, f"{run.stderr[-2000:]}\n{script.read_text()}"


def test_a_result_that_is_shown_wrongly_is_found() -> None:
    code = _checked("1 + \\\n    1\n# 3\n2\n# a remark\n")
    with pytest.raises(AssertionError):
        exec(code, {})
    exec(_checked("[1 +\n 1]\n# [2]\n"), {})


def test_few_blocks_are_not_run() -> None:
    reasons = [block.not_run for page in PAGES for block in blocks(page) if block.not_run]
    assert len(reasons) <= 5, reasons


def test_the_commands_of_the_readme_print_what_it_shows(tmp_path: Path) -> None:
    shown = [block for block in blocks(ROOT / "README.md") if block.code.startswith("$ hoplite")]
    assert shown
    for block in shown:
        command, _, expected = block.code.partition("\n")
        run = subprocess.run(
            [sys.executable, "-c", "from hoplite.cli import main; main()", *shlex.split(command)[2:]],
            capture_output=True,
            text=True,
            timeout=120,
            cwd=tmp_path,
            env={"COLUMNS": "140", "PATH": "", "HOME": str(tmp_path)},
        )
        assert run.stdout.strip() == expected.strip(), run.stderr


def test_the_readme_has_one_screen_before_its_first_table() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    assert next(number for number, line in enumerate(lines) if line.startswith("|")) <= 45
