"""Every hostile statement under a time limit and a memory limit; each must stop in time, within its memory.

    python -m tests.hostile.run [--only WORDS] [--list]

A line for each: how it ended, the wall seconds, the CPU seconds after its deadline, and the peak memory above what the
process held before. Linux only: what a process uses is read from /proc.
"""

from __future__ import annotations

import argparse
import sys

from tests.hostile.corpus import corpus
from tests.hostile.watch import MEMORY, TIMEOUT_SECONDS, Ended, watch


def line(ended: Ended) -> str:
    """The outcome in a line."""
    verdict = f"FAILED: {ended.problem}" if ended.problem else ended.outcome
    return f"{ended.name:44.44} {ended.seconds:7.2f} {ended.late_seconds:7.2f} {ended.memory_mb:7.0f}  {verdict}"


def main() -> int:
    """Run them; returns how many failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", action="append", default=[], help="statements whose name contains this")
    parser.add_argument("--list", action="store_true", help="print their names only")
    arguments = parser.parse_args()
    names = [name for name in corpus() if not arguments.only or any(part in name for part in arguments.only)]
    if arguments.list:
        print("\n".join(names))
        return 0
    print(f"timeout={TIMEOUT_SECONDS:g}, query_memory={MEMORY!r}")
    print(f"{'statement':44} {'seconds':>7} {'late':>7} {'MB':>7}")
    all_ended = []
    for name in names:
        ended = watch(name)
        print(line(ended), flush=True)
        all_ended.append(ended)
    failed = [ended for ended in all_ended if ended.problem]
    peak = max((ended.memory_mb for ended in all_ended), default=0.0)
    late = max((ended.late_seconds for ended in all_ended), default=0.0)
    print(
        f"{len(all_ended) - len(failed)} passed, {len(failed)} failed; highest peak {peak:.0f} MB, latest {late:.2f} s"
    )
    for ended in failed:
        print(f"  {ended.name}: {ended.problem}")
    return len(failed)


if __name__ == "__main__":
    sys.exit(1 if main() else 0)
