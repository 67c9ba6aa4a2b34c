"""Parts in; JSON, Markdown and the generated sections of documents out.

A document marks what a run may rewrite:

    <!-- bench:khop -->
    ... tables ...
    <!-- /bench:khop -->
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmarks.contest import HOPS, Effort, Load, Part, Row, Samples
from benchmarks.tables import (
    OURS,
    Table,
    best_peer,
    fewer_queries,
    limit_cell,
    median_ms,
    queries_of,
    shown_ms,
    shown_ratio,
)

CYPHER_PEERS = ("kglite", "ladybug", "kuzu", "neo4j")


def markdown(table: Table) -> str:
    """A Markdown table under its title, with numbers right-aligned."""
    ruler = [
        "---" if place == 0 or name in ("how", "engine", "best peer") else "---:"
        for place, name in enumerate(table.columns)
    ]
    lines = [f"**{table.title}**", ""]
    lines += ["| " + " | ".join(cells) + " |" for cells in (table.columns, ruler)]
    lines += ["| " + " | ".join(cell.replace("|", "\\|") for cell in row) + " |" for row in table.rows]
    return "\n".join([*lines, *(f"\n{note}" for note in table.notes)])


def rewritten(document: str, name: str, text: str) -> str:
    """The document with this text between the markers of that name, which must exist."""
    pattern = re.compile(rf"(<!-- bench:{name} -->\n).*?(<!-- /bench:{name} -->)", re.DOTALL)
    if not pattern.search(document):
        raise ValueError(f"The document has no markers for {name!r}: <!-- bench:{name} --> and <!-- /bench:{name} -->")
    return pattern.sub(lambda found: f"{found[1]}\n{text}\n\n{found[2]}", document)


def rewrite(path: Path, texts: Mapping[str, str]) -> None:
    document = path.read_text(encoding="utf-8")
    for name, text in texts.items():
        document = rewritten(document, name, text)
    path.write_text(document, encoding="utf-8")


def machine() -> str:
    """The machine it ran on, in one line."""
    model = "an unknown processor"
    information = Path("/proc/cpuinfo")
    if information.exists():
        found = re.search(r"^(?:model name|Model)\s*:\s*(.+)$", information.read_text(encoding="utf-8"), re.MULTILINE)
        model = re.sub(r"\s+", " ", found[1]) if found else model
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    cores = os.cpu_count()
    return f"{cores} cores of {model}, {memory:.0f} GiB, {platform.system()}, Python {platform.python_version()}"


def about(part: Part, effort: Effort) -> str:
    """What was measured, and which engines were not."""
    versions = ", ".join(f"{title} {version}" for title, version in part.versions.items())
    lines = [
        f"{part.nodes:,} nodes, {part.relationships:,} relationships; {effort.rounds} rounds. {versions}.",
        f"{part.machine}. Load average {part.load_average[0]:.1f} before, {part.load_average[1]:.1f} after.",
    ]
    lines += [f"Not measured: {engine}: {reason}" for engine, reason in part.absent.items()]
    return "\n".join(f"{line}  " for line in lines)


def save(path: Path, parts: Mapping[str, Part], effort: Effort) -> None:
    """Save all samples as JSON; parts of an earlier run that this one did not measure stay."""
    path.parent.mkdir(parents=True, exist_ok=True)
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    kept |= {
        name: {"effort": dataclasses.asdict(effort), "part": dataclasses.asdict(part)} for name, part in parts.items()
    }
    path.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def saved(path: Path) -> dict[str, tuple[Part, Effort]]:
    """What `save` wrote."""
    kept: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return {name: (_part(entry["part"]), Effort(**entry["effort"])) for name, entry in kept.items()}


def _part(entry: dict[str, Any]) -> Part:
    rows = [
        Row(**{**row, "samples": {question: _samples(samples) for question, samples in row["samples"].items()}})
        for row in entry["rows"]
    ]
    return Part(**{**entry, "rows": rows, "loads": [Load(**load) for load in entry["loads"]]})


def _samples(entry: dict[str, Any]) -> Samples:
    """JSON has no numbers for keys."""
    keyed = ("digest", "reference_digest", "size")
    return Samples(**{**entry, **{name: {int(key): value for key, value in entry[name].items()} for name in keyed}})


def headline(part: Part) -> str:
    """The table of the README: balls by Cypher text and by khop, the limit, and the best of each kind of peer.

    All of it as Python objects, the one form that every engine has.
    """
    full = queries_of(part)
    rows = []
    for k in HOPS:
        question = str(k)
        ours = [row for row in part.rows if row.engine == OURS]
        found = {row.way: row.samples[question] for row in ours if row.form == "objects" and row.samples[question].time}
        cypher = found["Cypher"]
        cells = [f"{k}", limit_cell(ours, question), shown_ms(median_ms(cypher)), shown_ms(median_ms(found["khop"]))]
        for is_cypher in (True, False):
            peers = [row for row in part.rows if (row.engine in CYPHER_PEERS) == is_cypher]
            cells.append(_nearest(best_peer(peers, question, "objects", cypher), question, full))
        rows.append(cells)
    columns = ["hops", "limit", "Hoplite, Cypher", "Hoplite, `khop`", "best Cypher engine", "best of the others"]
    title = f"k-hop ball on {part.nodes:,} nodes and {part.relationships:,} relationships, as Python objects: median ms"
    return markdown(Table(title, columns, rows))


def _nearest(best: tuple[Row, float] | None, question: str, full: int) -> str:
    """The peer that comes closest to our Cypher, with `q=` where it ran fewer queries than there are."""
    if best is None:
        return "none"
    row, factor = best
    samples = row.samples[question]
    ratio = f"{shown_ratio(factor)} ours{fewer_queries(samples, full)}"
    return f"{row.title} {shown_ms(median_ms(samples))} ({ratio})"
