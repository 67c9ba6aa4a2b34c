"""The long form of the crash test, from the command line.

python -m tests.disk.run_crash --kills 1000 --seconds 1800
"""

from __future__ import annotations

import argparse
import random
import sys

from tests.disk.crash import kill_repeatedly, prepared


def main() -> int:
    parser = argparse.ArgumentParser(description="Kill a writing process again and again, and look for what is lost.")
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seconds", type=float, default=1800)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(10**6))
    options = parser.parse_args()
    print(f"Killing a writer {options.kills:,} times, for at most {options.seconds:.0f} s (seed {options.seed}).")
    with prepared(on_disk=True) as path:
        toll = kill_repeatedly(path, options.kills, options.seconds, options.seed)
    print(toll)
    return 1 if toll.lost or toll.kills < options.kills else 0


if __name__ == "__main__":
    sys.exit(main())
