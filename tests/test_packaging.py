"""What an install contains, and what `import hoplite` loads."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
STAGES = ("engine", "grammar", "planner", "storage")
HEAVY = ("neo4j", "pandas", "pyarrow", "numba", "torch")


def setuptools_table() -> dict[str, Any]:
    table: dict[str, Any] = tomllib.loads((REPOSITORY / "pyproject.toml").read_text())["tool"]["setuptools"]
    return table


def folders_with_code() -> set[str]:
    """Dotted names of the folders that hold an __init__.py: below `hoplite`, and below each stage's folder."""
    names = {"hoplite"}
    for init in (REPOSITORY / "hoplite").rglob("__init__.py"):
        parts = init.parent.relative_to(REPOSITORY).parts
        if len(parts) > 1 and parts[1] not in STAGES:
            names.add(".".join(parts))
    for stage in STAGES:
        for init in (REPOSITORY / stage).rglob("__init__.py"):
            names.add(".".join(("hoplite", *init.parent.relative_to(REPOSITORY).parts)))
    return names


def test_every_folder_with_code_is_a_listed_package() -> None:
    assert set(setuptools_table()["packages"]) == folders_with_code()


@pytest.mark.parametrize("stage", STAGES)
def test_the_link_in_hoplite_leads_to_the_stage(stage: str) -> None:
    link = REPOSITORY / "hoplite" / stage
    assert link.samefile(REPOSITORY / stage)
    assert setuptools_table()["package-dir"][f"hoplite.{stage}"] == stage


def test_files_that_are_no_code_are_packaged() -> None:
    data = setuptools_table()["package-data"]
    for package, patterns in data.items():
        folder = REPOSITORY.joinpath(*package.split("."))
        for pattern in patterns:
            assert list(folder.glob(pattern)), f"{package}: nothing matches {pattern}"


def test_importing_hoplite_stays_light(capsys: pytest.CaptureFixture[str]) -> None:
    """The time is printed and not asserted: it is the machine's as much as ours."""
    program = (
        "import sys, time; began = time.perf_counter(); import hoplite; "
        f"print(time.perf_counter() - began); print([name for name in {HEAVY} if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    seconds, loaded = out.stdout.splitlines()
    with capsys.disabled():
        print(f"\nimport hoplite: {float(seconds) * 1000:.0f} ms")
    assert loaded == "[]"


def test_the_command_line_loads_the_engine_only_when_it_runs() -> None:
    program = f"import sys; import hoplite.cli; print([name for name in {HEAVY} if name in sys.modules])"
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert out.stdout.strip() == "[]"
