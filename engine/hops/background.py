"""Load kernels while queries run: from the install, from the cache, and the rest as other processes compile it
(`compiling.py`).

Every process has a loader and many never start it, so what loading takes is imported by its thread.
"""

from __future__ import annotations

import atexit
from collections.abc import Callable
from contextlib import suppress
from threading import Event, Thread

from hoplite import forks


class BackgroundLoader:
    """Loads kernels one operation at a time and reports each as it becomes ready, for the usual arrays and for narrow
    ones."""

    def __init__(self, on_ready: Callable[[str, bool], None]) -> None:
        self._on_ready = on_ready
        self._lock = forks.brief_lock()
        self._thread: Thread | None = None
        self._stop = Event()
        self._begin = Event()  # set once loading should wait no longer
        forks.watch(self)

    @property
    def is_started(self) -> bool:
        return self._thread is not None

    @property
    def is_running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def start(self, delay: float = 0.0) -> None:
        """Start loading, unless that has already happened; with a delay in seconds, only then or when it is started
        without one."""
        if not delay:
            self._begin.set()
        if self._thread is not None:
            return
        with self._lock:
            if self._thread is None:
                self._thread = Thread(target=self._run, args=(delay,), name="hoplite-kernels", daemon=True)
                # A thread that loads machine code while the interpreter shuts down could crash it.
                atexit.register(self.stop)
                self._thread.start()

    def wait(self, seconds: float | None = None) -> None:
        """Return when everything is loaded or has failed to load, or after this many seconds."""
        self._begin.set()
        if self._thread is not None:
            self._thread.join(seconds)

    def stop(self) -> None:
        """Tell the thread to stop, and wait for it; it stops soon."""
        self._stop.set()
        self.wait()

    def _run(self, delay: float) -> None:
        self._begin.wait(delay)
        if self._stop.is_set():
            return
        from hoplite.engine.hops.machine_code import candidate_folders, load_kernel
        from hoplite.engine.hops.numba_backend import OPERATIONS, kernel_variants, variants_of

        awaited = {
            (operation, is_narrow): variants_of(operation, is_narrow)
            for is_narrow in (False, True)
            for operation in OPERATIONS
        }

        def note() -> None:
            for ready in [key for key, some in awaited.items() if all(one.is_loaded for one in some)]:
                del awaited[ready]
                self._on_ready(*ready)

        with suppress(ImportError):  # no Numba: NumPy carries on
            for folder in candidate_folders():
                for kernel in kernel_variants():
                    if self._stop.is_set():
                        return
                    load_kernel(kernel, folder)
                note()
                if not awaited:
                    return
            from hoplite.engine.hops.compiling import compiled_kernels, folder_to_fill

            with folder_to_fill() as filled:
                for kernel in compiled_kernels(kernel_variants(), filled, self._stop):
                    load_kernel(kernel, filled)
                    note()

    def before_fork(self) -> None:
        """Nothing to wait for: kernels are loaded under their own lock."""

    def after_fork_in_parent(self) -> None:
        """The thread goes on."""

    def after_fork_in_child(self) -> None:
        """The thread exists only in the parent: what it has not loaded yet may be loaded here."""
        if self._thread is not None:
            atexit.unregister(self.stop)
            self._thread, self._stop, self._begin = None, Event(), Event()
