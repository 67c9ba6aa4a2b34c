"""Load the machine code of kernels, one file each, into this process, without importing Numba or a compiler.

A wheel brings it along for the processors that most people have (`make_machine_code.py`). For others, and in a
checkout, it is compiled once and kept in the user's cache folder, under a digest of everything it depends on: the
sources of all kernels, the versions that compiled it, the processor, and how Python and NumPy lay out their objects.
Checkouts with the same sources share it. Files appear whole or not at all, and an unreadable or damaged one counts as
missing: no query depends on either place.

A file holds the digest of what follows, the offset of the entry, and the code. On Linux the code is an image that is
mapped into memory as it is (`flat_code.py`); elsewhere it is an object file, which llvmlite links.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import platform
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np

from hoplite import forks
from hoplite.engine.hops.compiled import Variant
from hoplite.engine.hops.flat_code import ALIGNMENT

try:  # `hashlib` has it from there too, but also loads OpenSSL, which takes several milliseconds
    from _blake2 import blake2b
except ImportError:
    from hashlib import blake2b

_DIGEST_BYTES = 16
# Whether machine code is mapped rather than linked.
IS_FLAT = sys.platform == "linux" and platform.machine() == "x86_64" and sys.maxsize > 1 << 32
# What a wheel's machine code requires of a processor: nearly all made since 2015 have it.
SHIPPED = Path(__file__).with_name("shipped_code")
SHIPPED_FOR = "x86-64-v3"
_SHIPPED_NEEDS = frozenset(
    (
        "abm",
        "avx",
        "avx2",
        "bmi1",
        "bmi2",
        "cx16",
        "f16c",
        "fma",
        "lahf_lm",
        "movbe",
        "popcnt",
        "sse4_1",
        "sse4_2",
        "ssse3",
    )
)
# The lines of /proc/cpuinfo that tell one model of a processor from another, of Intel, AMD and ARM.
_TELLING = frozenset(
    ("vendor_id", "cpu family", "model", "stepping", "flags", "cpu implementer", "cpu part", "cpu variant", "features")
)
# The memory of machine code is never freed: nobody can tell when the last call of a kernel has returned.
_holders: list[Any] = []
# A fork waits until no thread is loading: the child could never finish it.
_loading = forks.brief_lock()


def load_kernel(kernel: Variant, folder: Path) -> bool:
    """Load a kernel from its file, unless it is loaded already; returns whether it is loaded now."""
    if kernel.is_loaded:
        return True
    try:
        with (folder / kernel.name).open("rb") as file:
            kept = file.read()
            if _digest(kept[_DIGEST_BYTES:]) == kept[:_DIGEST_BYTES]:
                return _load_file(kernel, file.fileno(), kept)
    except OSError:
        return False
    if folder != SHIPPED:
        with suppress(OSError):
            (folder / kernel.name).unlink()  # so that it is compiled again
    return False


def _load_file(kernel: Variant, file: int, kept: bytes) -> bool:
    head, code = kept[_DIGEST_BYTES:ALIGNMENT], kept[ALIGNMENT:]
    if not IS_FLAT:
        name, _, object_code = code.partition(b"\n")
        return load_code(kernel, name.decode(), object_code)
    entry = int.from_bytes(head, "little")
    try:
        mapped = mmap.mmap(file, 0, flags=mmap.MAP_PRIVATE, prot=mmap.PROT_READ | mmap.PROT_EXEC)
    except OSError:  # mounted noexec
        return load_code(kernel, entry, code)
    _run_at(kernel, mapped, ALIGNMENT + entry)
    return True


def load_code(kernel: Variant, entry: int | str, code: bytes) -> bool:
    """Load a kernel from its machine code; OSError where anonymous memory may not be executed."""
    if isinstance(entry, int):
        memory = mmap.mmap(-1, len(code), prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
        memory.write(code)
        _run_at(kernel, memory, entry)
        return True
    with _loading:
        if not kernel.is_loaded:
            kernel.load(_linked(entry, code))
    return True


def _run_at(kernel: Variant, memory: mmap.mmap, entry: int) -> None:
    with _loading:
        if not kernel.is_loaded:
            _holders.append(memory)
            address, _ = np.frombuffer(memory, dtype=np.uint8).__array_interface__["data"]
            kernel.load(address + entry)


def store_kernel(kernel: Variant, entry: int | str, code: bytes, folder: Path) -> None:
    """Store the machine code of a kernel; OSError if the folder cannot be written to."""
    from tempfile import NamedTemporaryFile  # for those who compile, not for those who load

    place = entry if isinstance(entry, int) else 0
    named = b"" if isinstance(entry, int) else entry.encode() + b"\n"
    payload = place.to_bytes(ALIGNMENT - _DIGEST_BYTES, "little") + named + code
    with NamedTemporaryFile(dir=folder, prefix=f"{kernel.name}.", delete=False) as begun:
        begun.write(_digest(payload) + payload)
    os.replace(begun.name, folder / kernel.name)


def _linked(entry: str, object_code: bytes) -> int:
    """Link an object file; the address of a function in it."""
    llvm = _llvm()
    machine = llvm.Target.from_default_triple().create_target_machine()
    engine = llvm.create_mcjit_compiler(llvm.parse_assembly(""), machine)
    held = llvm.ObjectFileRef.from_data(object_code)
    engine.add_object_file(held)
    engine.finalize_object()
    _holders.append((engine, held, machine))
    return int(engine.get_function_address(entry))


def candidate_folders() -> Iterator[Path]:
    """The folders machine code may be in: the install's, then the cache; ImportError for the second without Numba to
    fill it."""
    for found in (shipped_folder, code_folder):
        folder = found()
        if folder is not None:
            yield folder


@cache
def shipped_folder() -> Path | None:
    """The folder of machine code installed with the package, if it was made for these sources and this machine."""
    try:
        made_for = (SHIPPED / "made_for").read_text()
        flags = next(line for line in Path("/proc/cpuinfo").read_text().splitlines() if line.startswith("flags"))
    except (OSError, StopIteration):
        return None
    is_usable = IS_FLAT and _SHIPPED_NEEDS.issubset(flags.split()) and _has_usual_arrays()
    return SHIPPED if is_usable and made_for == source_digest(Path(__file__).parent) else None


@cache
def code_folder() -> Path | None:
    """The cache folder for the kernels of these sources, private to the user; None if there cannot be one."""
    try:
        folder = _user_cache() / "hoplite" / f"kernels-{code_digest(Path(__file__).parent)}"
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        status = folder.stat()
    except (OSError, RuntimeError):  # RuntimeError: there is no home folder
        return None
    # Loading machine code means trusting whoever wrote it.
    if hasattr(os, "getuid") and (status.st_uid != os.getuid() or status.st_mode & 0o022):
        return None
    return folder


def source_digest(folder: Path) -> str:
    """A digest of what machine code depends on wherever it is compiled: the kernel sources in a folder, and the layout
    of Python's objects."""
    layout = object.__basicsize__, bytes.__basicsize__
    digest = blake2b(repr(layout).encode(), digest_size=_DIGEST_BYTES)
    for file in (*sorted(folder.glob("numba_*.py")), folder / "compiled.py", folder / "flat_code.py"):
        digest.update(file.name.encode())
        digest.update(file.read_bytes())
    return digest.hexdigest()


def code_digest(folder: Path) -> str:
    """A digest of everything that machine code compiled here depends on."""
    versions = sys.version, np.__version__, _version("llvmlite"), _version("numba")
    told = repr((source_digest(folder), _processor(), versions))
    return blake2b(told.encode(), digest_size=_DIGEST_BYTES).hexdigest()


def _has_usual_arrays() -> bool:
    """Whether NumPy's arrays are laid out as machine code reads them, judged by one of them."""
    array = np.zeros((2, 3), dtype=np.int32)
    words = (ctypes.c_int64 * 5).from_address(id(array) + object.__basicsize__)
    data, ndim, shape, _, base = words
    dimensions = (ctypes.c_int64 * 2).from_address(shape)
    (dtype,) = (ctypes.c_int64 * 1).from_address(id(array) + object.__basicsize__ + 40)
    return (data, ndim & 0xFFFFFFFF, tuple(dimensions), base, dtype) == (
        array.ctypes.data,
        2,
        (2, 3),
        0,
        id(array.dtype),
    )


def _version(package: str) -> bytes:
    """What tells a version of a package from another: its file of it. To import the package would take far longer."""
    found = find_spec(package)
    if found is None or found.origin is None:
        raise ModuleNotFoundError(f"{package} is not installed", name=package)
    version = Path(found.origin).with_name("_version.py")
    return (version if version.exists() else Path(found.origin)).read_bytes()


def _processor() -> tuple[str, ...]:
    """What the compiler goes by: the model and the features of the first processor, as the system lists them, or else
    as LLVM does, which takes longer to load."""
    try:
        first, _, _ = Path("/proc/cpuinfo").read_text().partition("\n\n")
        told = [line for line in first.splitlines() if line.partition("\t")[0].lower() in _TELLING]
    except OSError:
        told = []
    if told:
        return platform.machine(), *told
    with _loading:
        llvm = _llvm()
    return llvm.get_default_triple(), llvm.get_host_cpu_name(), llvm.get_host_cpu_features().flatten()


@cache
def _llvm() -> Any:
    import llvmlite.binding as llvm

    llvm.initialize_native_target()
    llvm.initialize_native_asmprinter()
    return llvm


def _user_cache() -> Path:
    """NUMBA_CACHE_DIR if it is set, else the platform's cache folder."""
    chosen = os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME")
    if chosen:
        return Path(chosen)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local"))
    return Path.home() / ("Library/Caches" if sys.platform == "darwin" else ".cache")


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=_DIGEST_BYTES).digest()
