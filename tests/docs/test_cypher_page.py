"""The examples in the Cypher reference run, one after the other, on the sample graph."""

from __future__ import annotations

import re

from hoplite.sample import load_sample
from tests.docs.blocks import ROOT

_EXAMPLE = re.compile(r"^\| [^|]*? \| (`.*`) \|$", re.M)


def test_every_example_runs() -> None:
    page = (ROOT / "docs" / "guide" / "cypher.md").read_text(encoding="utf-8")
    reading = page.index("## Writing")
    examples = [(match.start(), match[1][1:-1]) for match in _EXAMPLE.finditer(page)]
    assert len(examples) > 25
    with load_sample() as db:
        for place, example in examples:
            rows = db.run(example.replace("\\|", "|").replace("``", "`")).data()
            assert rows or place > reading, example
