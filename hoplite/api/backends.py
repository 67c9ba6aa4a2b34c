"""What runs the hops of a database. The kernels are loaded when a query needs them, not before."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hoplite.errors import driver_errors

if TYPE_CHECKING:
    from hoplite.engine.hops.select import BackendName


def chosen_backend(backend: BackendName, device: str | None) -> BackendName:
    """The backend that a database asks for."""
    if backend == "auto" and device is None:
        return backend  # without loading the kernels before a query needs them
    from hoplite.engine.hops.select import chosen

    with driver_errors():
        return chosen(backend, device)


def described_backend(backend: BackendName) -> str:
    """What EXPLAIN says of it."""
    from hoplite.engine.hops.select import backend_text

    return backend_text(backend)
