"""Installs the dependency group `bench` one package at a time: `python -m benchmarks.install`.

A peer without a wheel for this machine must not keep the others out; the run reports it as not installed.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path


def main() -> None:
    project = Path(__file__).resolve().parents[1] / "pyproject.toml"
    group: list[str] = tomllib.loads(project.read_text(encoding="utf-8"))["dependency-groups"]["bench"]
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet", "install", "--only-binary", ":all:"]
    print("Installing the engines to compare with:")
    for requirement in group:
        done = subprocess.run([*pip, requirement], capture_output=True, text=True, check=False)
        reason = (done.stderr.strip().splitlines() or ["pip says nothing"])[-1]
        print(f"  {requirement}: {'installed' if done.returncode == 0 else f'left out: {reason}'}", flush=True)


if __name__ == "__main__":
    main()
