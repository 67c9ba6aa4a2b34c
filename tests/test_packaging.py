"""What an install contains, and what `import hoplite` loads."""

from __future__ import annotations

import os
import shutil
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
def test_the_stage_is_mapped_into_hoplite_and_its_link_leads_there(stage: str) -> None:
    assert setuptools_table()["package-dir"][f"hoplite.{stage}"] == stage
    link = REPOSITORY / "hoplite" / stage
    if not link.is_dir():
        pytest.skip("this source tree has no symbolic links")
    assert link.samefile(REPOSITORY / stage)


@pytest.mark.parametrize("left", ["text", "nothing"])
def test_a_source_tree_without_links_works(tmp_path: Path, left: str) -> None:
    """Git without symbolic links leaves a file with the link's target; an sdist leaves nothing."""
    for folder in ("hoplite", *STAGES):
        ignored = shutil.ignore_patterns("__pycache__", *(STAGES if folder == "hoplite" else ()))
        shutil.copytree(REPOSITORY / folder, tmp_path / folder, ignore=ignored)
    if left == "text":
        for stage in STAGES:
            (tmp_path / "hoplite" / stage).write_text(f"../{stage}", encoding="utf-8")
    program = (
        "import hoplite, hoplite.engine; print(hoplite.engine.__file__); "
        "print(hoplite.open().run('UNWIND [1, 2] AS x RETURN sum(x) AS s').data())"
    )
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    out = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=tmp_path, env=environment
    )
    assert out.stdout.splitlines() == [str(tmp_path / "engine" / "__init__.py"), "[{'s': 3}]"]


def test_files_that_are_no_code_are_packaged() -> None:
    table = setuptools_table()
    folders: dict[str, str] = table["package-dir"]
    for package, patterns in table["package-data"].items():
        above = max((name for name in folders if f"{package}.".startswith(f"{name}.")), key=len)
        folder = REPOSITORY / folders[above] / package.removeprefix(above).replace(".", "/").lstrip("/")
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


PLAIN_PROGRAM = """
import sys
import hoplite

with hoplite.open() as db:
    db.run("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Headache'})")
    found = db.run("MATCH (d:Drug)-[:TREATS]->(x) WHERE d.name = $name RETURN x.name AS name", name="Aspirin")
    assert found.data() == [{"name": "Headache"}]
    assert db.run("RETURN 1 AS x").values() == [[1]]
print([name for name in sys.argv[1:] if name in sys.modules])
"""


def test_plain_queries_load_nothing_heavy() -> None:
    """Writing and reading plain values needs NumPy, no other package, and nothing that kernels are loaded with."""
    packages = (*HEAVY, "polars", "scipy", "lark", "llvmlite", "rich", "prompt_toolkit")
    names = (*packages, "asyncio", "email", "hashlib", "subprocess", "tempfile")
    out = subprocess.run(
        [sys.executable, "-c", PLAIN_PROGRAM, *names], capture_output=True, text=True, check=True, cwd=REPOSITORY
    )
    assert out.stdout.strip() == "[]"


FOLDER_PROGRAM = """
import sys
import hoplite

for _ in range(2):
    with hoplite.open(sys.argv[1]) as db:
        db.run("MERGE (d:Drug {name: 'Aspirin'}) RETURN d.name AS name").data()
print([name for name in sys.argv[2:] if name in sys.modules])
"""


def test_opening_a_folder_loads_no_search_indexes(tmp_path: Path) -> None:
    """Full-text analyzers and the like are for graphs that have such an index."""
    names = ("search.analyzers", "search.fulltext", "search.stemmers", "search.vectors", "disk.verify")
    unused = [f"hoplite.storage.{name}" for name in names]
    command = [sys.executable, "-c", FOLDER_PROGRAM, str(tmp_path / "kg.hop"), *unused]
    out = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert out.stdout.strip() == "[]"


def test_a_plain_query_on_the_command_line_loads_no_driver() -> None:
    program = (
        "import sys; from hoplite.cli import main; assert main(['query', 'RETURN 1 AS x']) == 0; "
        f"print([name for name in {HEAVY} if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=REPOSITORY)
    assert out.stdout.splitlines()[-1] == "[]"


def test_a_program_beside_a_clone_of_that_name_imports_the_package(tmp_path: Path) -> None:
    """Not the folder of the clone, which is an empty package to Python."""
    (tmp_path / "hoplite").mkdir()
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    ran = subprocess.run(
        [sys.executable, "-c", "import hoplite; print(hoplite.open().run('RETURN 1').value())"],
        cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert ran.stdout == "[1]\n", ran.stderr
