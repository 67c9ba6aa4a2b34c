"""Hostile statements that are written down in text files, `== name | graph=many | sample` above each of them."""

from __future__ import annotations

from pathlib import Path

from tests.hostile.statement import Hostile, of


def written(name: str) -> list[Hostile]:
    """The statements of a file in this folder."""
    text = (Path(__file__).parent / name).read_text("utf-8")
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    found: list[Hostile] = []
    for head, statement in zip(lines[::2], lines[1::2], strict=True):
        called, *tags = head.removeprefix("== ").split(" | ")
        graphs = [tag.removeprefix("graph=") for tag in tags if tag.startswith("graph=")]
        found.append(of(called, statement, graph=graphs[0] if graphs else "empty", sample="sample" in tags))
    return found
