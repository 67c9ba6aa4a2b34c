"""Which backend runs a hop: a name goes in, a backend comes out.

`auto` never makes a query wait for an import or a compiler. It runs everything in NumPy until compiled kernels are
worth having: at the first hop over a graph that is not small, or after some work. They are then loaded in the
background (`background.py`), and each operation uses its own as soon as they are there. Only a hop over a very large
graph waits.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from threading import Lock
from typing import Any, Literal, TypeAlias, cast, get_args

import numpy as np
from numpy.typing import NDArray

from hoplite import forks
from hoplite.engine.hops.background import BackgroundLoader
from hoplite.engine.hops.interface import (
    Backend,
    Check,
    Counts,
    Excluded,
    Guide,
    Hop,
    Neighbourhoods,
    NodeBatch,
    Positions,
    SearchLevels,
    SettledSearch,
    Steps,
    TrailBatch,
    TrailQuota,
    unchecked,
)
from hoplite.engine.hops.numpy_backend import NumpyBackend
from hoplite.engine.hops.pattern import EndCounts, Given, Pattern
from hoplite.engine.hops.scratch import Scratch
from hoplite.engine.hops.search import Search
from hoplite.engine.hops.spread import Spread
from hoplite.errors import argument_error
from hoplite.extras import optional

BackendName: TypeAlias = Literal["auto", "numba", "scipy", "numpy", "torch"]

# From this many relationships on, a graph's first hop loads compiled kernels; after this many steps found in NumPy by
# this process, a hop over any graph does.
_WORTH_RELATIONSHIPS, _WORTH_STEPS = 10_000, 20_000
# From this many nodes on, hops wait for compiled kernels: a wide search in NumPy would take longer, and far more
# memory.
_LARGE = 1 << 23
# Seconds: a process that opens a large graph, asks for something else and ends needs no kernels.
_SOON = 0.3
# From this many likely steps of a search, or searches of a batch, on, a device is faster than a core.
_DEVICE_STEPS, _DEVICE_SEARCHES = 100_000, 64


def register(name: str, backend: Backend) -> None:
    """Make a backend that belongs to one database available under a name."""
    _BACKENDS[name] = lambda: backend


def unregister(name: str) -> None:
    """Forget a registered backend."""
    _BACKENDS.pop(name, None)


def backend_named(name: BackendName) -> Backend:
    """The backend of that name, loaded if necessary."""
    if name in _BACKENDS:
        return _BACKENDS[name]()
    kind, _, device = name.partition(":")
    return _torch(device) if kind == "torch" else _auto_with(device)


def resolved(backend: str, device: str | None) -> BackendName:
    """The name of the backend a user asks for, after checking that it is available. It includes the device:
    "torch:cuda"."""
    if backend not in get_args(BackendName):
        raise argument_error(f"backend is one of {', '.join(get_args(BackendName))}, not {backend!r}")
    if device is not None and backend not in ("torch", "auto"):
        raise argument_error(f"A device is for the backends 'torch' and 'auto', not for {backend!r}")
    name = cast(BackendName, backend if device is None else f"{backend}:{device}")
    backend_named(name)
    return name


def anticipate(name: BackendName, at_once: bool) -> None:
    """Load compiled kernels for hops that are likely to come, over a graph that is not small: at once, or else soon or
    with the first of them."""
    backend = backend_named(name)
    if isinstance(backend, AutoBackend):
        backend.start_loading(0.0 if at_once else _SOON)


def backend_text(name: BackendName) -> str:
    """What hops currently run in, for EXPLAIN."""
    backend = backend_named(name)
    return f"{name}, {backend.describe()}" if isinstance(backend, AutoBackend) else name


class _Compilers:
    """Delays a fork while another thread imports a backend or compiles a kernel: the child could neither finish nor
    repeat it."""

    def __init__(self) -> None:
        self._held: list[Any] = []
        forks.watch(self)

    def before_fork(self) -> None:
        """Wait until neither is in progress."""
        _importing.acquire()
        self._held = [_importing]
        numba = sys.modules.get("numba.core.compiler_lock")
        if numba is not None:
            numba.global_compiler_lock.acquire()
            self._held.append(numba.global_compiler_lock)

    def after_fork_in_parent(self) -> None:
        """Let them continue."""
        while self._held:
            self._held.pop().release()

    after_fork_in_child = after_fork_in_parent


_importing = Lock()
_compilers = _Compilers()


@contextmanager
def _needed(what: str) -> Iterator[None]:
    try:
        with optional(what):
            yield
    except ModuleNotFoundError as missing:
        raise argument_error(str(missing)) from None


@cache
def _auto() -> Backend:
    return AutoBackend()


@cache
def _numpy() -> Backend:
    return NumpyBackend()


@cache
def _scipy() -> Backend:
    with _needed("The backend 'scipy'"), _importing:
        from hoplite.engine.hops.scipy_backend import ScipyBackend

    return ScipyBackend()


@cache
def _numba() -> Backend:
    from hoplite.engine.hops.numba_backend import NumbaBackend, load_kernels

    with _needed("The backend 'numba'"):
        load_kernels()
    return NumbaBackend()


@cache
def _torch(device: str | None = None) -> Backend:
    with _needed("The backend 'torch'"), _importing:
        from hoplite.engine.hops.torch_backend import TorchBackend

    return TorchBackend(device)


@cache
def _auto_with(device: str) -> Backend:
    return AutoBackend(_torch(device))


_BACKENDS: dict[str, Callable[[], Backend]] = {
    "auto": _auto,
    "numpy": _numpy,
    "scipy": _scipy,
    "numba": _numba,
    "torch": _torch,
}


def _is_worth_loading(hop: Hop) -> bool:
    """Whether a graph is large enough to load compiled kernels at its first hop."""
    if hop.node_count >= min(_WORTH_RELATIONSHIPS, _LARGE):
        return True
    sides = (side for side in hop.sides if isinstance(side.partitions, tuple))
    return any(sum(len(one.neighbours) for one in side.partitions) >= _WORTH_RELATIONSHIPS for side in sides)


class _NotedSearch(Search):
    """A search in NumPy that reports how much work it does."""

    def __init__(self, hop: Hop, source: int | Positions, scratch: Scratch, done: Callable[[int], None]) -> None:
        super().__init__(hop, source, scratch)
        self._done = done

    def step(self, check: Check) -> Positions:
        entered = super().step(check)
        self._done(len(entered))
        return entered


class AutoBackend:
    """NumPy while the work is small, compiled kernels once they are loaded, and a device for wide searches."""

    name = "auto"

    def __init__(self, device: Backend | None = None) -> None:
        self._device = device
        self._numpy = NumpyBackend()
        # What runs an operation over narrow or over usual arrays; NumPy runs those not listed.
        self._compiled: dict[tuple[str, bool], Backend] = {}
        self._is_complete = False  # for the usual arrays
        self._work = 0
        self._loader = BackgroundLoader(self._use_compiled)

    def _use_compiled(self, operation: str, is_narrow: bool) -> None:
        from hoplite.engine.hops.numba_backend import OPERATIONS, NumbaBackend

        self._compiled[operation, is_narrow] = NumbaBackend()
        self._is_complete = all((name, False) in self._compiled for name in OPERATIONS)

    def _for(self, hop: Hop, operation: str) -> Backend:
        known = hop.prepared.get(operation)
        if known is not None:
            return cast(Backend, known)
        if not self._compiled:
            if not self._loader.is_started and not _is_worth_loading(hop):
                return self._numpy
            self._loader.start()
        key = operation, hop.is_narrow
        if key not in self._compiled and hop.node_count >= _LARGE:
            while key not in self._compiled and self._loader.is_running:
                self._loader.wait(0.01)
        compiled = self._compiled.get(key)
        if compiled is None:
            return self._numpy
        hop.prepared[operation] = compiled
        return compiled

    def _for_search(self, hop: Hop, operation: str, sources: int, upper: int | None, searches: int = 1) -> Backend:
        """As `_for`, but on the device if many searches run together or one is likely to be wide: else launches cost
        too much."""
        if self._device is None or hop.has_mask:
            return self._for(hop, operation)
        steps = sum(len(side.partitions) * len(side.partitions[0].neighbours) for side in hop.sides)
        degree = steps / max(hop.node_count, 1)
        expected = sources * max(degree, 1.0) ** min(upper if upper is not None else 64, 64)
        if searches >= _DEVICE_SEARCHES or expected > _DEVICE_STEPS:
            return self._device
        return self._for(hop, operation)

    def describe(self) -> str:
        """What currently runs hops."""
        host = "compiled loops (Numba)" if self._is_complete else "NumPy until compiled loops are loaded"
        return host if self._device is None else f"{host}; wide searches and batches on the device (Torch)"

    def _done(self, steps: int) -> None:
        """Record work done; after enough of it, load compiled kernels in the background."""
        if not self._loader.is_started:
            self._work += steps
            if self._work >= _WORTH_STEPS:
                self._loader.start()

    @property
    def is_loading(self) -> bool:
        """Whether loading compiled kernels has begun."""
        return self._loader.is_started

    def start_loading(self, delay: float = 0.0) -> None:
        """Load compiled kernels in the background; with a delay in seconds, then or with the first hop."""
        self._loader.start(delay)

    def wait_until_loaded(self) -> None:
        """Return when compiled kernels are loaded or have failed to load. For benchmarks."""
        self._loader.wait()

    def stop_loading(self) -> None:
        """Stop loading compiled kernels."""
        self._loader.stop()

    def expand(self, hop: Hop, nodes: Positions) -> Steps:
        found = self._for(hop, "expand").expand(hop, nodes)
        self._done(len(found.row))
        return found

    def bfs_levels(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        excluded: Excluded | None = None,
        budget: int | None = None,
        check: Check = unchecked,
    ) -> SearchLevels:
        found = self._for(hop, "bfs_levels").bfs_levels(
            hop, groups, sources, upper, mark_starts=mark_starts, excluded=excluded, budget=budget, check=check
        )
        self._done(len(found.nodes))
        return found

    def bfs_nodes(
        self, hop: Hop, sources: Positions, upper: int | None, *, mark_starts: bool, check: Check = unchecked
    ) -> Positions:
        if self._is_complete and self._device is None:
            return self._for(hop, "bfs_nodes").bfs_nodes(hop, sources, upper, mark_starts=mark_starts, check=check)
        operation = "bfs_nodes" if hop.is_plain else "bfs_nodes over pieces"
        found = self._for_search(hop, operation, len(sources), upper).bfs_nodes(
            hop, sources, upper, mark_starts=mark_starts, check=check
        )
        self._done(len(found))
        return found

    def settled_search(self, hop: Hop, upper: int | None, mark_starts: bool) -> SettledSearch | None:
        if not self._is_complete or self._device is not None:
            return None
        return self._for(hop, "bfs_nodes").settled_search(hop, upper, mark_starts)

    def bfs_batch(
        self,
        hop: Hop,
        offsets: Positions,
        sources: Positions,
        upper: int | None,
        *,
        mark_starts: bool,
        check: Check = unchecked,
    ) -> NodeBatch:
        backend = self._for_search(hop, "bfs_batch", len(sources), upper, len(offsets) - 1)
        found = backend.bfs_batch(hop, offsets, sources, upper, mark_starts=mark_starts, check=check)
        self._done(len(found.nodes))
        return found

    def neighbourhoods(
        self, hop: Hop, offsets: Positions, sources: Positions, most: int, *, check: Check = unchecked
    ) -> Neighbourhoods | None:
        found = self._for(hop, "neighbourhoods").neighbourhoods(hop, offsets, sources, most, check=check)
        self._done(most if found is None else len(found.nodes))
        return found

    def count_pairs(
        self, pairs: Neighbourhoods, row_numbers: Positions, node_numbers: Positions, counts: Counts, *, by_rows: bool
    ) -> Positions:
        backend = self._compiled.get(("count_pairs", False), self._numpy)
        return backend.count_pairs(pairs, row_numbers, node_numbers, counts, by_rows=by_rows)

    def count_matches(self, pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked) -> Positions:
        counts = self._for(pattern.first_hop, "count_matches").count_matches(pattern, given, row_count, check=check)
        self._done(int(counts.sum()))
        return counts

    def count_matches_by_end(
        self, pattern: Pattern, given: Given, row_count: int, *, check: Check = unchecked
    ) -> Iterator[EndCounts]:
        backend = self._for(pattern.first_hop, "count_matches")
        for found in backend.count_matches_by_end(pattern, given, row_count, check=check):
            self._done(int(found.counts.sum()))
            yield found

    def sums_for_all(self, hop: Hop, weights: Positions | None, *, check: Check = unchecked) -> Positions | None:
        return self._for(hop, "sums_for_all").sums_for_all(hop, weights, check=check)

    def closing_lengths(
        self,
        hop: Hop,
        groups: Positions,
        sources: Positions,
        upper: int | None,
        *,
        excluded: Excluded | None = None,
        check: Check = unchecked,
    ) -> Positions:
        backend = self._for(hop, "closing_lengths")
        return backend.closing_lengths(hop, groups, sources, upper, excluded=excluded, check=check)

    def trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        guide: Guide | None = None,
        excluded: Excluded | None = None,
        quota: TrailQuota | None = None,
        chunk: int = 4096,
        check: Check = unchecked,
    ) -> Iterator[TrailBatch]:
        for batch in self._for(hop, "trails").trails(
            hop, sources, lower, upper, guide=guide, excluded=excluded, quota=quota, chunk=chunk, check=check
        ):
            self._done(len(batch.relationships))
            yield batch

    def search(self, hop: Hop, source: int | Positions, scratch: Scratch) -> Search:
        backend = self._for(hop, "search")
        if backend is self._numpy:
            return _NotedSearch(hop, source, scratch, self._done)
        return backend.search(hop, source, scratch)

    def spread(self, hop: Hop, scratch: Scratch) -> Spread:
        return self._for(hop, "bfs_nodes over pieces").spread(hop, scratch)

    def from_bits(self, bits: NDArray[np.uint64]) -> Positions:
        return self._compiled.get(("from_bits", False), self._numpy).from_bits(bits)

    def count_trails(
        self,
        hop: Hop,
        sources: Positions,
        lower: int,
        upper: int | None,
        *,
        excluded: Excluded | None = None,
        check: Check = unchecked,
    ) -> Positions:
        counts = self._for(hop, "count_trails").count_trails(hop, sources, lower, upper, excluded=excluded, check=check)
        self._done(int(counts.sum()))
        return counts
