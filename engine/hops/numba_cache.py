"""Machine code of compiled kernels on disk: a function and its argument types go in, a file of its own comes out.

Numba's own cache looks at the file of the outermost function alone, so a change to a function that it calls from
another file leaves old machine code in use; and processes that compile at the same time can swap each other's entries.
Here the folder is named after a digest of every kernel's source and of the versions that compiled it, and the file
after the function, its argument types and the processor. Checkouts with the same sources share it. Files appear whole
or not at all, and what cannot be read or written is compiled again: the cache never decides whether a query runs.
"""

from __future__ import annotations

import os
import pickle
import sys
from collections.abc import Callable
from functools import cache
from hashlib import blake2b
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numba
import numpy as np
from numba.core.caching import NullCache
from numba.core.compiler import CompileResult
from numba.core.serialize import dumps

_DIGEST_BYTES = 16


class KernelCache(NullCache):
    """What a Numba dispatcher asks for machine code and hands it to."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        assert function.__closure__ is None, "a kernel's machine code depends on its source alone"
        self._name = f"{function.__module__.rpartition('.')[2]}.{function.__qualname__}"
        self._folder = folder

    @property
    def cache_path(self) -> str:
        return str(self._folder)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """The compiled function for these argument types, or None."""
        target_context.refresh()
        try:
            kept = self._file(sig, target_context.codegen()).read_bytes()
        except OSError:
            return None
        digest, payload = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
        if _digest(payload) != digest:
            return None
        return CompileResult._rebuild(target_context, *pickle.loads(payload))  # type: ignore[no-untyped-call]

    def save_overload(self, sig: Any, data: Any) -> None:
        """Keep a compiled function; a disk that is full or not writable costs only the next process its time."""
        assert not data.lifted and not data.library.has_dynamic_globals, self._name
        payload: bytes = dumps(data._reduce())  # type: ignore[no-untyped-call]
        file = self._file(sig, data.codegen)
        try:
            with NamedTemporaryFile(dir=self._folder, prefix=f"{file.name}.", delete=False) as begun:
                begun.write(_digest(payload) + payload)
            os.replace(begun.name, file)
        except OSError:
            return

    def _file(self, sig: Any, codegen: Any) -> Path:
        key = _digest(repr((str(sig), codegen.magic_tuple())).encode()).hex()
        return self._folder / f"{self._name}-{key}"


@cache
def kernel_folder() -> Path | None:
    """The folder for the kernels of these sources, private to the user; None where there is none to be had."""
    folder = _user_cache() / "hoplite" / f"kernels-{source_digest(Path(__file__).parent)}"
    try:
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except OSError:
        return None
    # Loading machine code means trusting who wrote it.
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return folder


def source_digest(folder: Path) -> str:
    """A name for everything that the machine code of the kernels in a folder depends on."""
    digest = blake2b(digest_size=_DIGEST_BYTES)
    digest.update(repr((sys.version_info, numba.__version__, np.__version__)).encode())
    for file in sorted(folder.glob("numba_*.py")):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _user_cache() -> Path:
    """NUMBA_CACHE_DIR where it is set, else the platform's folder for what can be made again."""
    chosen = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()
