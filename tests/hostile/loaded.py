"""Loads the compiled kernels when it is imported, so that no statement is charged with the memory of loading, or even
compiling, them. The process that all statement processes are forked from imports it too.
"""

from __future__ import annotations

from hoplite.engine.hops.select import AutoBackend, backend_named

_backend = backend_named("auto")
assert isinstance(_backend, AutoBackend)
_backend.start_loading()
_backend.wait_until_loaded()
