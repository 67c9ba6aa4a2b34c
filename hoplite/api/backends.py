"""The kernels that run the hops of a database, loaded when a query needs them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hoplite.errors import driver_errors

if TYPE_CHECKING:
    from hoplite.engine.hops.select import BackendName


def resolve_backend(backend: BackendName, device: str | None) -> BackendName:
    """The backend that a database is set to use."""
    if backend == "auto" and device is None:
        return backend  # does not load the kernels before a query needs them
    from hoplite.engine.hops.select import resolved

    with driver_errors():
        return resolved(backend, device)


def describe_backend(backend: BackendName) -> str:
    """How EXPLAIN describes it."""
    from hoplite.engine.hops.select import backend_text

    return backend_text(backend)
