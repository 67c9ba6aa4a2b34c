"""Every script in examples/ runs as is, in a separate process, and prints something."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).resolve().parents[1] / "examples").glob("*.py"))

# Words that must be in the output: an example that runs and shows nothing shows nothing.
SHOWN = {
    "bulk_load": ["Digoxin", "Heart failure"],
    "guard_rails": [
        "Amitriptyline",
        "Variable `drug` not defined",
        "Statement.SyntaxError",
        "The graph is as it was: [135]",
    ],
    "khop_retrieval": ["nodes within two hops", "Gout"],
    "quick_start": ["Warfarin major", "neo4j.graph"],
    "variable_length_paths": ["Aspirin -> Warfarin", "Omeprazole"],
}


def test_there_are_five_examples() -> None:
    assert sorted(path.stem for path in EXAMPLES) == sorted(SHOWN)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example_runs(path: Path, tmp_path: Path) -> None:
    run = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    for word in SHOWN[path.stem]:
        assert word in run.stdout
