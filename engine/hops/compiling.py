"""Have kernels compiled: files of machine code appear in a folder.

Separate processes share the work and exit when it is done. Numba therefore takes neither the interpreter nor memory
from the process that answers queries, and what they compile serves the next process even if this one ends first. Where
no interpreter can be started (say, one embedded in another program), a thread compiles.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from threading import Event

from hoplite.engine.hops.compiled import Variant
from hoplite.engine.hops.machine_code import code_folder, load_kernel, shipped_folder
from hoplite.errors import argument_error
from hoplite.extras import optional

_MOST_PROCESSES = 4
_POLL_SECONDS = 0.05
_PROGRAM = """
import json, sys
sys.path[:] = json.loads(sys.argv[1])
from hoplite.engine.hops.numba_compile import main
main(sys.argv[2])
"""


@contextmanager
def folder_to_fill() -> Iterator[Path]:
    """The cache folder if it can be written to, else a temporary one."""
    folder = code_folder()
    if folder is not None and os.access(folder, os.W_OK):
        yield folder
        return
    with TemporaryDirectory(prefix="hoplite-kernels-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def fill_cache(progress: Callable[[int, int | None], None]) -> Path:
    """Compile all kernels and keep them on disk; returns the folder."""
    from hoplite.engine.hops.numba_backend import kernel_variants

    shipped = shipped_folder()
    if shipped is not None and all(load_kernel(kernel, shipped) for kernel in kernel_variants()):
        return shipped
    with optional("Compiling kernels"):
        folder = code_folder()
    if folder is None:
        raise argument_error("There is no folder to keep compiled kernels in: set NUMBA_CACHE_DIR to a private one")
    kernels, count = kernel_variants(), 0
    for count, _ in enumerate(compiled_kernels(kernels, folder, Event()), 1):
        progress(count, len(kernels))
    if count < len(kernels):
        raise argument_error(f"{len(kernels) - count} of {len(kernels)} kernels could not be compiled")
    return folder


def compiled_kernels(kernels: Sequence[Variant], folder: Path, stop: Event) -> Iterator[Variant]:
    """Have the kernels missing from a folder compiled; yields each once it is there, until all are or no more can
    come."""
    processes = [] if all((folder / kernel.name).exists() for kernel in kernels) else _start_processes(folder)
    if not processes:
        yield from _compiled_here(kernels, folder, stop)
        return
    missing = list(kernels)
    try:
        while missing and not stop.is_set():
            is_last_look = all(process.poll() is not None for process in processes)
            there = [kernel for kernel in missing if (folder / kernel.name).exists()]
            yield from there
            missing = [kernel for kernel in missing if kernel not in there]
            if is_last_look:
                return
            stop.wait(_POLL_SECONDS)
    finally:
        for process in processes:
            if process.poll() is None:
                process.returncode = 0  # it carries on without us: suppress the warning about a running child


def _compiled_here(kernels: Sequence[Variant], folder: Path, stop: Event) -> Iterator[Variant]:
    from hoplite.engine.hops.numba_compile import compile_missing

    for kernel in kernels:
        try:
            compile_missing((kernel,), folder, stop.is_set)
        except OSError:
            return
        if stop.is_set():
            return
        yield kernel


def _start_processes(folder: Path) -> list[subprocess.Popen[bytes]]:
    name = Path(sys.executable or "").stem.lower()
    if getattr(sys, "frozen", False) or not name.startswith(("python", "pypy")):
        return []
    command = [sys.executable, "-I", "-c", _PROGRAM, json.dumps(sys.path), str(folder)]
    started: list[subprocess.Popen[bytes]] = []
    try:
        for _ in range(min(os.cpu_count() or 1, _MOST_PROCESSES)):
            started.append(
                subprocess.Popen(
                    command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=subprocess.DEVNULL,
                    start_new_session=True,  # Ctrl-C in the terminal does not reach these
                )
            )
    except OSError:
        pass
    return started
