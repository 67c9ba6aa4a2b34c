"""Machine code of kernels: from a file of its own each, into this process. Neither Numba nor a compiler is imported.

The folder is named after a digest of everything that machine code depends on: the sources of all kernels, the versions
that compiled it, the processor, and how Python and NumPy lay out their objects. Checkouts with the same sources share
it. Files appear whole or not at all, and one that cannot be read, or is not what was written, counts as missing: the
cache never decides whether a query runs.
"""

from __future__ import annotations

import os
import sys
from contextlib import suppress
from functools import cache
from hashlib import blake2b
from importlib.util import find_spec
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

import numpy as np

from hoplite import forks
from hoplite.engine.hops.compiled import Variant

_DIGEST_BYTES = 16
# Whatever holds the machine code lives as long as the process: nobody can tell when the last call of a kernel is over.
_holders: list[Any] = []
# A fork waits until nobody is loading: the child could never finish it.
_loading = forks.brief_lock()


def load_kernel(kernel: Variant, folder: Path) -> bool:
    """Load a kernel from its file, unless it is loaded; says whether it is there now."""
    if kernel.is_loaded:
        return True
    try:
        kept = (folder / kernel.name).read_bytes()
    except OSError:
        return False
    digest, payload = kept[:_DIGEST_BYTES], kept[_DIGEST_BYTES:]
    if _digest(payload) != digest:
        with suppress(OSError):
            (folder / kernel.name).unlink()  # or nobody would compile it again
        return False
    entry, _, object_code = payload.partition(b"\n")
    load_code(kernel, entry.decode(), object_code)
    return True


def load_code(kernel: Variant, entry: str, object_code: bytes) -> None:
    """Load a kernel from its object code, in which its entry has this name."""
    with _loading:
        llvm = _llvm()
        if kernel.is_loaded:
            return
        machine = llvm.Target.from_default_triple().create_target_machine()
        engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
        code = llvm.ObjectFileRef.from_data(object_code)
        engine.add_object_file(code)
        engine.finalize_object()
        _holders.append((engine, code, machine))
        kernel.load(engine.get_function_address(entry))


def store_kernel(kernel: Variant, entry: str, object_code: bytes, folder: Path) -> None:
    """Keep the object code of a kernel; OSError where the folder cannot be written to."""
    payload = entry.encode() + b"\n" + object_code
    with NamedTemporaryFile(dir=folder, prefix=f"{kernel.name}.", delete=False) as begun:
        begun.write(_digest(payload) + payload)
    os.replace(begun.name, folder / kernel.name)


@cache
def code_folder() -> Path | None:
    """The folder for the kernels of these sources, private to the user; None where there is none to be had."""
    try:
        folder = _user_cache() / "hoplite" / f"kernels-{code_digest(Path(__file__).parent)}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):  # the latter: there is no home folder
        return None
    # Loading machine code means trusting who wrote it.
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return folder


def code_digest(folder: Path) -> str:
    """A name for everything that the machine code of the kernels in a folder depends on."""
    with _loading:
        llvm = _llvm()
    processor = llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()
    layouts = sys.version, object.__basicsize__, tuple.__basicsize__, np.__version__
    digest = blake2b(repr((processor, layouts, llvm.llvm_version_info)).encode(), digest_size=_DIGEST_BYTES)
    for file in (*sorted(folder.glob("numba_*.py")), folder / "compiled.py", _numba_version()):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def _numba_version() -> Path:
    """The file that says which Numba is installed, which takes far longer to import."""
    found = find_spec("numba")
    if found is None or found.origin is None:
        raise ImportError("Numba is not installed")
    version = Path(found.origin).with_name("_version.py")
    return version if version.exists() else Path(found.origin)


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


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
