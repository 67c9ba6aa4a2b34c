"""The files of the console that an install brings. What they do is tested in a browser: `make console-test`."""

from __future__ import annotations

import gzip
import json
import re
import tomllib
from pathlib import Path

from hoplite.server.http import CONSOLE

REPOSITORY = Path(__file__).resolve().parents[2]
LARGEST = 2_000_000


def test_the_page_asks_for_files_that_are_there_and_for_nothing_else() -> None:
    page = (CONSOLE / "index.html").read_text(encoding="utf-8")
    named = re.findall(r'(?:href|src)="([^"#]+)"', page)
    assert {"console.js", "style.css"} <= set(named)
    assert all((CONSOLE / name).is_file() for name in named)
    assert "//" not in (CONSOLE / "style.css").read_text(encoding="utf-8")
    assert not re.search(r"<style|style=|<script>|\bon\w+=", page)


def test_all_of_it_is_small_when_it_is_packed() -> None:
    assert sum(len(gzip.compress(file.read_bytes())) for file in CONSOLE.iterdir()) < LARGEST


def test_an_install_brings_every_file() -> None:
    settings = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["setuptools"]
    assert settings["package-data"]["hoplite.server"] == ["console/*"]
    assert all(file.is_file() for file in CONSOLE.iterdir())


def test_the_licences_of_what_is_in_it_come_with_it() -> None:
    """Of all packages that the page depends on, but for those whose types alone are used."""
    lock = json.loads((REPOSITORY / "console/package-lock.json").read_text(encoding="utf-8"))
    used = {
        path.removeprefix("node_modules/") for path, about in lock["packages"].items() if path and not about.get("dev")
    }
    text = (CONSOLE / "licences.txt").read_text(encoding="utf-8")
    listed = set(re.findall(r"^={100}\n(\S+) ", text, flags=re.MULTILINE))
    assert listed <= used
    assert {"neo4j-driver-lite", "@neo4j-cypher/language-support", "@codemirror/view", "d3-force"} <= listed
    assert "GENERAL PUBLIC LICENSE" not in text
