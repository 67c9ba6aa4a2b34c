"""Machine code of kernels: its arguments are checked, it is never stale, and it never prevents a query."""

from __future__ import annotations

import mmap
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from shutil import copy
from threading import Event, Timer
from typing import Any, NamedTuple, cast, get_type_hints

import llvmlite.binding as llvm
import numpy as np
import pytest

from hoplite.engine.hops import compiling, machine_code, numba_backend, numba_compile
from hoplite.engine.hops.compiled import (
    Flags,
    Int32s,
    Ints,
    Kernel,
    NotLoaded,
    RecordOf,
    Table,
    Variant,
    argument_type,
    inlined,
    kernel,
)
from hoplite.engine.hops.flat_code import NotSelfContained, flattened
from hoplite.engine.hops.machine_code import (
    IS_FLAT,
    code_digest,
    code_folder,
    load_code,
    load_kernel,
    source_digest,
    store_kernel,
)
from hoplite.engine.hops.select import AutoBackend


class Pair(NamedTuple):
    wide: Ints
    narrow: Int32s


class Nested(NamedTuple):
    pair: Pair
    flags: Flags


@inlined
def total(values: Ints) -> int:
    found = 0
    for value in values:
        found += value
    return found


@kernel
def add_up(nested: Nested, factor: int, negate: bool, table: Table) -> tuple[int, int]:
    table[1, 2] = len(nested.flags)
    found = factor * total(nested.pair.wide)
    return -found if negate else found, nested.pair.narrow[0]


@kernel
def clear(values: Ints) -> None:
    values[:] = 0


@kernel
def is_empty(values: Ints) -> bool:
    return len(values) == 0


OWN = tuple(one for some in (add_up, clear, is_empty) for one in cast(Kernel, some).variants)
NESTED = Nested(Pair(np.arange(4), np.array([7], dtype=np.int32)), np.zeros(3, dtype=np.bool_))


@pytest.mark.parametrize("one", [*OWN, *numba_backend.kernel_variants()], ids=lambda one: str(one.name))
def test_types_are_those_that_python_resolves(one: Variant) -> None:
    hints = get_type_hints(one.function, include_extras=True)
    result = hints.pop("return")
    found = one.signature
    assert found.arguments == tuple(argument_type(hint, one.is_narrow) for hint in hints.values())
    assert (found.result_count == 0) == (result is type(None))
    for kind in {argument.kind for argument in found.arguments if isinstance(argument, RecordOf)}:
        fields = get_type_hints(kind, include_extras=True).values()
        known = tuple(cast(Any, argument_type(field, one.is_narrow)) for field in fields)
        assert argument_type(kind, one.is_narrow) == RecordOf(kind, known)


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the machine code of the kernels above."""
    folder = tmp_path_factory.mktemp("kernels")
    numba_compile.compile_missing(OWN, folder)
    return folder


@pytest.fixture
def own(stored: Path) -> Path:
    for one in OWN:
        assert load_kernel(one, stored)
    return stored


def fresh(one: Any) -> Variant:
    """The same kernel in a process that has not loaded it."""
    return Kernel(one.function).variants[0]


def called(one: Variant, *arguments: Any) -> Any:
    """What a loaded kernel returns."""
    assert one.run is not None
    return one.run(*arguments)


@pytest.mark.usefixtures("own")
def test_numbers_records_and_tables_go_in_and_results_come_out() -> None:
    table = np.zeros((2, 3), dtype=np.int64)
    assert add_up(NESTED, 10, True, table) == (-60, 7)
    assert table.tolist() == [[0, 0, 0], [0, 0, 3]]
    values = np.arange(5)
    clear(values)
    assert values.tolist() == [0] * 5
    assert is_empty(values) is False
    assert is_empty(values[:0]) is True


@pytest.mark.usefixtures("own")
def test_equivalent_arguments_are_accepted() -> None:
    assert add_up(NESTED, np.int64(1), np.True_, np.zeros((2, 3), dtype=np.int64)) == (-6, 7)  # type: ignore[arg-type]

    class Derived(np.ndarray[Any, Any]):
        pass

    values = np.arange(3).view(Derived)
    clear(values)
    assert values.tolist() == [0, 0, 0]
    frozen = np.arange(3)
    frozen.flags.writeable = False
    assert is_empty(frozen) is False


@pytest.mark.usefixtures("own")
@pytest.mark.parametrize(
    "wrong",
    [
        lambda: clear(np.arange(4, dtype=np.int32)),
        lambda: clear(np.arange(4)[::2]),
        lambda: clear(np.zeros((2, 2), dtype=np.int64)),
        lambda: clear(np.arange(4).astype(">i8")),
        lambda: clear(np.frombuffer(bytes(17), dtype=np.int64, count=2, offset=1)),
        lambda: clear([1, 2]),  # type: ignore[arg-type]
        lambda: clear(None),  # type: ignore[arg-type]
        lambda: clear(7),  # type: ignore[arg-type]
        lambda: add_up(Nested(NESTED.pair, np.arange(3)), 1, False, np.zeros((2, 3), np.int64)),  # type: ignore[arg-type]
        lambda: add_up(Nested(Pair(NESTED.pair.wide, None), NESTED.flags), 1, False, np.zeros((2, 3), np.int64)),  # type: ignore[arg-type]
        lambda: add_up(None, 1, False, np.zeros((2, 3), np.int64)),  # type: ignore[arg-type]
        lambda: add_up((NESTED.pair,), 1, False, np.zeros((2, 3), np.int64)),  # type: ignore[arg-type]
        lambda: add_up(NESTED, "1", False, np.zeros((2, 3), np.int64)),  # type: ignore[arg-type]
        lambda: add_up(NESTED, 2**63, False, np.zeros((2, 3), np.int64)),
        lambda: add_up(NESTED, -(2**64), False, np.zeros((2, 3), np.int64)),
        lambda: add_up(NESTED, 1, False),  # type: ignore[call-arg]
        lambda: clear(np.arange(4), np.arange(4)),  # type: ignore[call-arg]
    ],
)
def test_other_arguments_are_refused(wrong: Callable[[], Any]) -> None:
    with pytest.raises((TypeError, ValueError)):
        wrong()


@pytest.mark.usefixtures("own")
def test_the_largest_and_smallest_numbers_pass_through() -> None:
    one = NESTED._replace(pair=Pair(np.array([1]), np.array([7], dtype=np.int32)))
    for number in (2**63 - 1, -(2**63), 2**30, -(2**30), 2**60, 0):
        assert add_up(one, number, False, np.zeros((2, 3), dtype=np.int64)) == (number, 7)


@pytest.mark.usefixtures("own")
def test_calls_leave_no_references_behind() -> None:
    values, table = np.arange(3), np.zeros((2, 3), dtype=np.int64)
    held: list[Any] = [values, table, NESTED, np.ndarray, int, 10**15]
    before = [sys.getrefcount(one) for one in held]
    for _ in range(1000):
        clear(values)
        is_empty(values)
        add_up(NESTED, held[-1], True, table)
        with pytest.raises(TypeError):
            clear(None)  # type: ignore[arg-type]
    after = [sys.getrefcount(one) for one in held]
    assert all(abs(now - then) < 100 for now, then in zip(after, before, strict=True)), (before, after)


@kernel
def wait_for(flags: Ints, place: int, most: int) -> bool:
    for turn in range(most):
        flags[1] = turn  # as this may be the same place, it is read again each time
        if flags[place] != 0:
            return True
    return False


def test_other_threads_run_meanwhile() -> None:
    one = cast(Kernel, wait_for).variants[0]
    assert load_code(one, *numba_compile.compile_kernel(one))
    flags = np.zeros(2, np.int64)
    timer = Timer(0.05, flags.fill, (1,))
    timer.start()
    assert wait_for(flags, 0, 10**11)
    timer.join()


def test_a_kernel_that_is_not_loaded_says_so() -> None:
    with pytest.raises(NotLoaded, match="clear"):
        Kernel(cast(Kernel, clear).function)(np.arange(3))


def test_the_backend_lists_every_kernel_that_is_declared() -> None:
    """Otherwise one could be called before it is loaded."""
    declared = {
        one.name
        for name, module in sys.modules.items()
        if name.startswith("hoplite.engine.hops.numba_")
        for some in vars(module).values()
        if isinstance(some, Kernel)
        for one in some.variants
    }
    assert declared == {one.name for one in numba_backend.kernel_variants()}


@pytest.mark.parametrize("damage", [lambda kept: kept[:-1], lambda kept: kept[:100] + b"?" + kept[101:], lambda _: b""])
def test_a_damaged_file_counts_as_missing(stored: Path, tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    one = fresh(clear)
    (tmp_path / one.name).write_bytes(damage((stored / one.name).read_bytes()))
    assert not load_kernel(one, tmp_path)
    assert not one.is_loaded
    numba_compile.compile_missing((one,), tmp_path)
    assert load_kernel(one, tmp_path)


def keep_in(monkeypatch: pytest.MonkeyPatch, folder: Path | None) -> None:
    """Keep machine code in a folder, or nowhere, and use none from the install."""
    monkeypatch.setattr(machine_code, "shipped_folder", lambda: None)
    for module in (machine_code, compiling):
        monkeypatch.setattr(module, "code_folder", lambda: folder)


def use_instead(monkeypatch: pytest.MonkeyPatch, operations: dict[str, tuple[Variant, ...]]) -> None:
    """Have the backend consist of these kernels."""
    monkeypatch.setattr(numba_backend, "OPERATIONS", operations)
    monkeypatch.setattr(numba_backend, "variants_of", lambda operation, _: operations[operation])
    every = tuple(one for some in operations.values() for one in some)
    monkeypatch.setattr(numba_backend, "kernel_variants", lambda: every)


def test_a_damaged_file_is_compiled_again_in_the_background(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = fresh(clear)
    (tmp_path / one.name).write_bytes((stored / one.name).read_bytes()[:-1])
    use_instead(monkeypatch, {"expand": (one,)})
    keep_in(monkeypatch, tmp_path)
    monkeypatch.setattr(sys, "executable", "")  # the kernels above are known to this process alone
    auto = AutoBackend()
    auto.start_loading()
    auto.wait_until_loaded()
    assert one.is_loaded
    assert list(auto._compiled) == [("expand", False), ("expand", True)]


def test_a_folder_that_is_gone_holds_nothing(tmp_path: Path) -> None:
    assert not load_kernel(fresh(clear), tmp_path / "gone")


def test_machine_code_needs_nothing_but_itself(stored: Path) -> None:
    """Not Numba's runtime either: a process that never imports Numba runs it."""
    folder = code_folder()
    assert folder is not None
    program = """
import sys
import numpy as np
from hoplite.engine.hops.numba_backend import NumbaBackend, load_kernels
from hoplite.engine.hops import Hop, Side
from hoplite.storage.incidence import Adjacency, Incidence
load_kernels()
entries = Incidence(indptr=np.array([0, 1, 1]), neighbours=np.array([1], np.int32), types=np.zeros(1, np.int32),
                    relationships=None)
hop = Hop(Side.OUTGOING, outgoing=Adjacency(2, (entries,)))
print(NumbaBackend().bfs_nodes(hop, np.zeros(1, np.int64), 3, mark_starts=True).tolist(), "numba" in sys.modules)
"""
    numba_backend.load_kernels()  # so that the cache is full
    environment = os.environ | {"NUMBA_CACHE_DIR": str(folder.parent.parent)}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment, timeout=240)
    assert done.stdout == "[0, 1] False\n", done.stderr


FILES = ["numba_kernels.py", "numba_levels.py", "numba_compile.py", "compiled.py", "flat_code.py"]


@pytest.mark.parametrize("changed", FILES)
def test_a_change_in_any_file_of_kernels_gives_another_folder(tmp_path: Path, changed: str) -> None:
    """A kernel may call functions of other files; their machine code is part of its own."""
    sources = Path(machine_code.__file__).parent
    for file in sources.glob("*.py"):
        copy(file, tmp_path)
    assert code_digest(tmp_path) == code_digest(sources)
    assert source_digest(tmp_path) == source_digest(sources)
    (tmp_path / changed).write_text((tmp_path / changed).read_text() + "# changed\n")
    assert code_digest(tmp_path) != code_digest(sources)
    assert source_digest(tmp_path) != source_digest(sources)


def test_a_folder_that_others_may_write_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "getuid"):
        pytest.skip("this platform has no users to tell apart by number")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = code_folder.__wrapped__()
    assert folder is not None
    assert folder.parent == tmp_path / "hoplite"
    folder.chmod(0o777)
    assert code_folder.__wrapped__() is None


def test_without_a_writable_home_there_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "file"))
    assert code_folder.__wrapped__() is None


def compiled_in(folder: Path, kernels: tuple[Variant, ...]) -> list[str]:
    return [one.name for one in compiling.compiled_kernels(kernels, folder, Event())]


def test_processes_that_compile_at_once_share_the_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And the last one finds everything there."""
    program = """
import sys
from pathlib import Path
from hoplite.engine.hops import numba_compile
from tests.hops.test_machine_code import OWN
compile_kernel = numba_compile.compile_kernel
def noted(kernel):
    print(kernel.name)
    return compile_kernel(kernel)
numba_compile.compile_kernel = noted
numba_compile.compile_missing(OWN, Path(sys.argv[1]))
"""
    started = [
        subprocess.Popen([sys.executable, "-c", program, str(tmp_path)], stdout=subprocess.PIPE, text=True)
        for _ in range(3)
    ]
    told = [name for process in started for name in process.communicate(timeout=240)[0].split()]
    assert sorted(told) == sorted(one.name for one in OWN)
    assert all(load_kernel(fresh(one), tmp_path) for one in OWN)


def test_without_an_interpreter_to_start_a_thread_compiles(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/usr/bin/some-application")
    assert compiled_in(tmp_path, OWN[1:]) == [one.name for one in OWN[1:]]


def test_processes_that_compile_nothing_do_not_keep_anyone_waiting(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compiling, "_PROGRAM", "raise SystemExit(1)")
    assert compiled_in(tmp_path, OWN) == []


def test_auto_takes_over_one_operation_after_the_other(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a cache folder: what is compiled goes through a temporary one."""
    use_instead(monkeypatch, {"expand": (fresh(clear),), "bfs_nodes": (fresh(add_up), fresh(is_empty))})
    keep_in(monkeypatch, None)
    folders = []

    def compiled(kernels: tuple[Variant, ...], folder: Path, _stop: Event) -> Any:
        folders.append(folder)
        for one in kernels:
            copy(stored / one.name, folder)
            yield one

    monkeypatch.setattr(compiling, "compiled_kernels", compiled)
    auto = AutoBackend()
    assert auto.describe() == "NumPy until compiled loops are loaded"
    auto.start_loading()
    auto.wait_until_loaded()
    assert auto.describe() == "compiled loops (Numba)"
    assert {operation for operation, _ in auto._compiled} == {"expand", "bfs_nodes"}
    assert [folder.exists() for folder in folders] == [False]


def test_a_kernel_is_stored_whole_or_not_at_all(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: Any) -> None:
        raise OSError("no space left")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match="no space"):
        store_kernel(fresh(clear), 0, b"code", tmp_path)
    assert not (tmp_path / fresh(clear).name).exists()


def test_compiled_code_is_used_without_a_cache() -> None:
    one = fresh(is_empty)
    load_code(one, *numba_compile.compile_kernel(one))
    assert called(one, np.arange(0)) is True
    assert called(one, np.arange(1)) is False


def ship(monkeypatch: pytest.MonkeyPatch, folder: Path, made_for: str) -> Path | None:
    """The folder that a process finds whose install has this one."""
    (folder / "made_for").write_text(made_for)
    monkeypatch.setattr(machine_code, "SHIPPED", folder)
    return machine_code.shipped_folder.__wrapped__()


@pytest.mark.skipif(not IS_FLAT, reason="machine code is shipped for Linux on x86-64")
def test_machine_code_of_the_install_is_used_for_its_sources_and_processors_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    current = source_digest(Path(machine_code.__file__).parent)
    monkeypatch.setattr(machine_code, "_SHIPPED_NEEDS", frozenset({"sse2"}))
    assert ship(monkeypatch, tmp_path, current) == tmp_path
    assert ship(monkeypatch, tmp_path, "other sources") is None
    monkeypatch.setattr(machine_code, "_SHIPPED_NEEDS", frozenset({"an instruction that no processor has"}))
    assert ship(monkeypatch, tmp_path, current) is None
    monkeypatch.setattr(machine_code, "_SHIPPED_NEEDS", frozenset({"sse2"}))
    monkeypatch.setattr(machine_code, "_has_usual_arrays", lambda: False)
    assert ship(monkeypatch, tmp_path, current) is None


def test_arrays_are_laid_out_as_machine_code_reads_them() -> None:
    assert machine_code._has_usual_arrays()


def test_a_damaged_file_of_the_install_is_not_loaded_and_left_alone(
    stored: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = fresh(clear)
    (tmp_path / one.name).write_bytes((stored / one.name).read_bytes()[:-1])
    monkeypatch.setattr(machine_code, "SHIPPED", tmp_path)
    assert not load_kernel(one, tmp_path)
    assert (tmp_path / one.name).exists()


@pytest.mark.skipif(not IS_FLAT, reason="machine code is mapped on Linux on x86-64")
def test_machine_code_runs_from_a_file_system_that_forbids_it(stored: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    class NoExec:
        PROT_READ, PROT_WRITE, PROT_EXEC, MAP_PRIVATE = (
            mmap.PROT_READ,
            mmap.PROT_WRITE,
            mmap.PROT_EXEC,
            mmap.MAP_PRIVATE,
        )

        @staticmethod
        def mmap(file: int, *rest: Any, **named: Any) -> mmap.mmap:
            if file != -1:
                raise PermissionError("Operation not permitted")
            return mmap.mmap(file, *rest, **named)

    monkeypatch.setattr(machine_code, "mmap", NoExec)
    one = fresh(is_empty)
    assert load_kernel(one, stored)
    assert called(one, np.arange(0)) is True


@pytest.mark.skipif(not IS_FLAT, reason="machine code is mapped on Linux on x86-64")
def test_code_that_refers_to_something_outside_is_not_flattened() -> None:
    machine = llvm.Target.from_default_triple().create_target_machine(reloc="pic", codemodel="small")

    def object_code(body: str) -> bytes:
        text = f"declare i64 @outside(i64)\ndefine i64 @entry(i64 %x) {{\n{body}\n}}"
        code: bytes = machine.emit_object(llvm.parse_assembly(text))
        return code

    assert flattened(object_code("ret i64 %x"), "entry")[0] == 0
    with pytest.raises(NotSelfContained, match="outside"):
        flattened(object_code("%y = call i64 @outside(i64 %x)\nret i64 %y"), "entry")
    with pytest.raises(NotSelfContained, match="ELF"):
        flattened(b"MZ", "entry")


@kernel
def fill_and_copy(source: Ints, target: Ints, cleared: Ints) -> None:
    for place in range(len(source)):
        target[place] = source[place]
    for place in range(len(cleared)):
        cleared[place] = 0


def test_loops_that_fill_and_copy_need_no_library() -> None:
    """LLVM turns them into calls."""
    (one,) = cast(Kernel, fill_and_copy).variants
    load_code(one, *numba_compile.compile_kernel(one))
    source, target, cleared = np.arange(1000), np.zeros(1000, np.int64), np.ones(1001, np.int64)
    fill_and_copy(source, target, cleared[:-1])
    assert target.tolist() == source.tolist()
    assert cleared.tolist() == [0] * 1000 + [1]
