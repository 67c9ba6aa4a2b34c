"""Every Python block in the README and in docs/ runs as is, in the order of its page."""

from __future__ import annotations

import ast
import builtins
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.docs.blocks import LANGUAGES, PAGES, ROOT, Block, blocks, name_of

_SHOWN = re.compile(r"# (?:[\[{'\"\d(]|True$|False$|None$)")
WITH_CODE = [page for page in PAGES if any(block.language in ("python", "pycon") for block in blocks(page))]

# Runs the prompts of a block among the names that the blocks before it have left.
_RUN_PROMPTS = """
def _run_prompts(text, page, line):
    import doctest

    test = doctest.DocTestParser().get_doctest(text, {}, page, page, line - 1)
    assert test.examples, f"{page}, line {line}: no prompts"
    test.globs = globals()
    flags = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    assert not doctest.DocTestRunner(optionflags=flags).run(test, clear_globs=False).failed, f"{page}, line {line}"
"""


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


def _script(found: list[Block], page: str) -> str:
    """The blocks of a page as one program."""
    parts = [_RUN_PROMPTS]
    for block in found:
        parts.append(f"# {page}, line {block.line}")
        if block.language == "pycon":
            parts.append(f"_run_prompts({block.code!r}, {page!r}, {block.line})")
        else:
            parts.append(_checked(block.code))
    return "\n".join(parts)


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_python_runs_as_it_stands(page: Path, tmp_path: Path) -> None:
    """In a separate process: pages open databases, and end with them open."""
    runs = [block for block in blocks(page) if block.language in ("python", "pycon") and not block.not_run]
    script = tmp_path / "page.py"
    script.write_text(_script(runs, name_of(page)), encoding="utf-8")
    run = subprocess.run([sys.executable, script], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert run.returncode == 0, f"{run.stdout[-2000:]}\n{run.stderr[-2000:]}\n{script.read_text()}"


def test_a_result_that_is_shown_wrongly_is_found() -> None:
    code = _checked("1 + \\\n    1\n# 3\n2\n# a remark\n")
    with pytest.raises(AssertionError):
        exec(code, {})
    exec(_checked("[1 +\n 1]\n# [2]\n"), {})
    with pytest.raises(AssertionError):
        exec(_checked("1 == 1\n# False\n"), {})


def test_output_that_is_shown_wrongly_after_a_prompt_is_found(capsys: pytest.CaptureFixture[str]) -> None:
    before = Block("python", "x = 1\n", 1, "")
    exec(_script([before, Block("pycon", ">>> x + 1\n2\n", 2, "")], "page"), {})
    with pytest.raises(AssertionError):
        exec(_script([before, Block("pycon", ">>> x + 1\n3\n", 2, "")], "page"), {})
    with pytest.raises(AssertionError):
        exec(_script([before, Block("pycon", "x + 1\n", 2, "")], "page"), {})


def test_no_page_hides_what_its_code_needs() -> None:
    hiding = [name_of(page) for page in PAGES if "<!-- before:" in page.read_text(encoding="utf-8")]
    assert hiding == []


def _undefined(code: str, defined: set[str]) -> set[str]:
    """The names that code reads and that neither it nor `defined` binds; binds its own names there."""
    tree = ast.walk(ast.parse(code))
    read: set[str] = set()
    for node in tree:
        if isinstance(node, ast.Name):
            (read if isinstance(node.ctx, ast.Load) else defined).add(node.id)
        elif isinstance(node, ast.alias):
            defined.add((node.asname or node.name).partition(".")[0])
        elif isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.add(node.name)
        elif isinstance(node, ast.arg):
            defined.add(node.arg)
    return read - defined - set(dir(builtins))


@pytest.mark.parametrize("page", WITH_CODE, ids=name_of)
def test_code_that_is_not_run_reads_only_names_of_its_page(page: Path) -> None:
    defined: set[str] = set()
    for block in blocks(page):
        if block.language == "python":
            missing = _undefined(block.code, defined)
            assert not (block.not_run and missing), f"{name_of(page)}, line {block.line}: {missing}"


def test_a_name_from_nowhere_is_found() -> None:
    assert _undefined("import a\nb = [c for c in a]\nprint(b, d)\n", set()) == {"d"}


def test_fences_stand_alone_on_their_lines() -> None:
    for page in PAGES:
        lines = page.read_text(encoding="utf-8").splitlines()
        fences = [line for line in lines if "```" in line]
        assert all(re.fullmatch(r"```\w*", line) for line in fences), name_of(page)
        assert len(fences) == 2 * len(blocks(page)), name_of(page)


def test_every_block_names_its_language() -> None:
    for page in PAGES:
        for block in blocks(page):
            place = f"{name_of(page)}, line {block.line}"
            assert block.language in LANGUAGES, place
            assert (block.language == "pycon") == (">>> " in block.code), place


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
