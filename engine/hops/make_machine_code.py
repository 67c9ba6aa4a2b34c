"""Compile all kernels for the processors that most people have, for a wheel to bring along.

    python -m hoplite.engine.hops.make_machine_code [FOLDER]

The build of a wheel runs this (`setup.py`). Without a folder the code goes where an install has it, so that a checkout
starts as fast until its kernels change. Processes share the work: each takes kernels that no other has begun.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from hoplite import extras
from hoplite.engine.hops.machine_code import IS_FLAT, SHIPPED, SHIPPED_FOR, source_digest


def make(folder: Path) -> None:
    """Fill a folder with machine code, then record what it was made for."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.iterdir():
        old.unlink()
    paths = (str(Path(extras.__file__).parent.parent), os.environ.get("PYTHONPATH"))
    environment = os.environ | {
        "NUMBA_CPU_NAME": SHIPPED_FOR,
        "NUMBA_CPU_FEATURES": "",
        "PYTHONPATH": os.pathsep.join(filter(None, paths)),
    }
    command = [sys.executable, "-c", f"from hoplite.engine.hops.numba_compile import main; main({str(folder)!r})"]
    processes = [subprocess.Popen(command, env=environment) for _ in range(min(os.cpu_count() or 1, 4))]
    for process in processes:
        process.wait()
    if any(process.returncode for process in processes):
        raise SystemExit("The kernels could not be compiled (see above)")
    (folder / "claims").unlink()
    (folder / "made_for").write_text(source_digest(Path(__file__).parent))


if __name__ == "__main__":
    if IS_FLAT:
        make(Path(sys.argv[1]) if len(sys.argv) > 1 else SHIPPED)
    else:
        print("Machine code is made for Linux on x86-64 only: elsewhere Numba compiles it when it is first used")
