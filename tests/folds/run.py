"""Random write programs on databases that fold never, always and sometimes, and on disk: all must agree.

    python -m tests.folds.run --count 20000 [--seed 100]

A program is its seed. Programs run in families of 20 over the same databases, so that ids and tombstones of earlier
ones are present; a difference is shrunk, and printed with the seed and the remaining statements. Families 0 to 99 run
with every `make test`.
"""

from __future__ import annotations

import argparse
import random
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from tests.folds.programs import SCHEMA, Program, random_program
from tests.folds.worlds import Worlds, small_pieces
from tests.neo4j.choices import Choices, shrunk

FAMILY = 20
KINDS = (("always", "disk"), ("sometimes", "pinned"), ("always", "pinned"), ("always", "sometimes"))
"""What families run on in turn, beside a database that never folds."""


def program_of(source: random.Random | Sequence[int]) -> tuple[Program, list[int]]:
    """A program and the choices that make it."""
    choices = Choices(source)
    return random_program(choices), choices.made


def run_family(number: int, count: int = FAMILY) -> list[str]:
    """What was found in the programs of one family."""
    schema, kinds = number // 2 % len(SCHEMA), KINDS[number // (2 * len(SCHEMA)) % len(KINDS)]
    findings = []
    with tempfile.TemporaryDirectory() as folder, small_pieces() if number % 2 else nullcontext():
        worlds = Worlds(Path(folder), schema, kinds)
        try:
            for place in range(count):
                seed = number * FAMILY + place
                program, made = program_of(random.Random(seed))
                if differences := worlds.differences(program, seed):
                    findings.append(_report(seed, schema, kinds, made, differences))
                    break  # what went wrong may be in what follows
        finally:
            worlds.close()
    return findings


def _report(seed: int, schema: int, kinds: Sequence[str], made: list[int], differences: list[str]) -> str:
    def differs(choices: Sequence[int]) -> list[str]:
        with tempfile.TemporaryDirectory() as folder:  # within the limits that the family has
            worlds = Worlds(Path(folder), schema, kinds)
            try:
                return worlds.differences(program_of(choices)[0], seed)
            finally:
                worlds.close()

    alone = differs(made)
    if alone:
        made = shrunk(made, lambda choices: bool(differs(choices)), 150)
        differences = differs(made)
    steps = "\n".join(
        f"  {'transaction ' if step.explicit else ''}{'' if step.commits else 'rolled back '}{text} {given}"
        for step in program_of(made)[0]
        for text, given in step.statements
    )
    where = "" if alone else " (only after the programs before it in its family)"
    return f"seed {seed}, schema {schema}{where}:\n{steps}\n" + "\n".join(differences[:3])


def main() -> int:
    """Run a number of programs; 1 if anything was found."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=100, help="the number of the first family")
    options = parser.parse_args()
    found, began = 0, time.process_time()
    families = -(-options.count // FAMILY)
    for number in range(options.seed, options.seed + families):
        for finding in run_family(number):
            found += 1
            print(finding, flush=True)
    spent = time.process_time() - began
    print(f"{families * FAMILY} programs, {found} findings, {spent:.0f} s of CPU")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
