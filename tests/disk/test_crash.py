"""The short form of tests/disk/crash.py: fifty kills. `make crash` is the long one."""

from __future__ import annotations

import random

from tests.disk.crash import kill_repeatedly, prepared


def test_nothing_acknowledged_is_lost_when_the_writer_is_killed() -> None:
    seed = random.SystemRandom().randrange(10**6)
    print(f"seed {seed}")
    with prepared(on_disk=False) as path:
        toll = kill_repeatedly(path, kills=50, seconds=600, seed=seed)
    print(toll)
    assert toll.lost == 0 and toll.kills == 50 and toll.acknowledged > 0 and toll.checkpoints > 1
