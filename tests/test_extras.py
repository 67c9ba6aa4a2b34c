"""A plain install: what works without the packages of any extra, and what an error says of one that is missing."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

from hoplite import extras

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"
WITHOUT = f"""
import importlib.util, sys
absent = {sorted(extras._EXTRAS)!r}
find_spec = importlib.util.find_spec
class Absent:
    def find_spec(name, path=None, target=None):
        if name.partition(".")[0] in absent:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Absent)
importlib.util.find_spec = lambda name, package=None: None if name in absent else find_spec(name, package)
"""


def run(program: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a program in an install without extras."""
    command = [sys.executable, "-c", WITHOUT + program, *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=240)


def hoplite_command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return run("from hoplite.cli import main; sys.exit(main(sys.argv[1:]))", *arguments)


def test_every_extra_is_one_of_the_project() -> None:
    listed: dict[str, Any] = tomllib.loads(PROJECT.read_text())["project"]
    assert listed["name"] == extras.DISTRIBUTION
    offered = {name for name, packages in listed["optional-dependencies"].items() if packages}  # `llm` needs none
    assert set(extras._EXTRAS.values()) | {"all"} == offered


def test_databases_and_hops_need_no_extra(tmp_path: Path) -> None:
    program = """
import hoplite
with hoplite.open(sys.argv[1]) as db:
    db.run("UNWIND range(0, 99) AS i CREATE (:N {i: i, name: 'n' + i})")
    db.run("MATCH (a:N), (b:N {i: a.i + 1}) CREATE (a)-[:NEXT]->(b)")
with hoplite.open(sys.argv[1]) as db:
    print(db.run("MATCH (:N {i: 0})-[:NEXT*1..9]->(b) RETURN count(DISTINCT b.name)").to_arrow().to_pylist())
"""
    done = run(program, str(tmp_path / "kg.hop"))
    assert done.stdout == "[{'count(DISTINCT b.name)': 9}]\n", done.stderr


def test_a_query_prints_a_table_without_the_extra_for_it() -> None:
    done = hoplite_command("query", "UNWIND [1, 20] AS n RETURN n, 'a\nb' AS text")
    assert done.stdout.splitlines() == [
        "╭────┬──────╮",
        "│  n │ text │",
        "├────┼──────┤",
        "│  1 │ a    │",
        "│    │ b    │",
        "│ 20 │ a    │",
        "│    │ b    │",
        "╰────┴──────╯",
    ], done.stderr


def test_the_server_for_models_names_its_extra() -> None:
    program = """
absent += ["anyio", "pydantic"]  # which the extra installs too
from hoplite.cli import main
sys.exit(main(["mcp", "--sample"]))
"""
    done = run(program)
    assert (done.returncode, done.stderr) == (
        1,
        "hoplite: `hoplite mcp` needs mcp, which is not installed: pip install 'hoplitedb[mcp]'\n",
    )


@pytest.mark.parametrize("command", ["demo", "shell"])
def test_a_command_names_the_extra_that_it_needs(command: str) -> None:
    done = hoplite_command(command)
    assert done.returncode == 1
    assert (
        done.stderr
        == f"hoplite: `hoplite {command}` needs rich, which is not installed: pip install 'hoplitedb[cli]'\n"
    )


@pytest.mark.parametrize(
    ("expression", "extra"),
    [
        ("db.run('RETURN 1').to_df()", "pandas"),
        ("db.run('RETURN 1').to_polars()", "polars"),
        ("db.run('RETURN 1').to_networkx()", "networkx"),
        ("db.to_networkx()", "networkx"),
        ("db.to_igraph()", "igraph"),
        ("hoplite.open(backend='scipy')", "scipy"),
        ("hoplite.open(backend='torch')", "torch"),
    ],
)
def test_what_needs_a_package_names_its_extra(expression: str, extra: str) -> None:
    done = run(f"import hoplite\ndb = hoplite.open()\n{expression}")
    assert f"needs {extra}, which is not installed: pip install 'hoplitedb[{extra}]'" in done.stderr
