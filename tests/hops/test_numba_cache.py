"""Machine code on disk: never stale, never half read, and never in the way of a query."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

from hoplite.engine.hops import numba_kernels
from hoplite.engine.hops.numba_cache import KernelCache, kernel_folder, source_digest


def add_one(number: int) -> int:
    return number + 1


def compiled(function: Callable[..., Any], folder: Path) -> Any:
    dispatcher: Any = numba.njit(function)
    dispatcher._cache = KernelCache(function, folder)
    return dispatcher


def hits(dispatcher: Any) -> int:
    return sum(dispatcher.stats.cache_hits.values())


def test_a_second_process_loads_what_the_first_compiled(tmp_path: Path) -> None:
    assert compiled(add_one, tmp_path)(1) == 2
    again = compiled(add_one, tmp_path)
    assert again(1) == 2
    assert hits(again) == 1


def test_other_argument_types_are_compiled_for_themselves(tmp_path: Path) -> None:
    assert compiled(add_one, tmp_path)(1) == 2
    again = compiled(add_one, tmp_path)
    assert again(1.5) == 2.5
    assert hits(again) == 0
    assert len(list(tmp_path.iterdir())) == 2


@pytest.mark.parametrize("damage", [lambda kept: kept[:-1], lambda kept: kept[:100] + b"?" + kept[101:], lambda _: b""])
def test_a_damaged_file_is_compiled_again(tmp_path: Path, damage: Callable[[bytes], bytes]) -> None:
    assert compiled(add_one, tmp_path)(1) == 2
    (file,) = tmp_path.iterdir()
    file.write_bytes(damage(file.read_bytes()))
    for expected_hits in (0, 1):  # the first writes the file anew
        again = compiled(add_one, tmp_path)
        assert again(1) == 2
        assert hits(again) == expected_hits


def test_a_folder_that_is_gone_does_not_stop_a_kernel(tmp_path: Path) -> None:
    kernel = compiled(add_one, tmp_path / "gone")
    assert kernel(1) == 2
    assert not (tmp_path / "gone").exists()


@pytest.mark.parametrize("changed", ["numba_kernels.py", "numba_levels.py", "numba_cache.py"])
def test_a_change_in_any_file_of_kernels_gives_another_folder(tmp_path: Path, changed: str) -> None:
    """A kernel may call functions of other files; their machine code is a part of its own."""
    sources = Path(numba_kernels.__file__).parent
    for file in sources.glob("numba_*.py"):
        shutil.copy(file, tmp_path)
    assert source_digest(tmp_path) == source_digest(sources)
    (tmp_path / changed).write_text((tmp_path / changed).read_text() + "# changed\n")
    assert source_digest(tmp_path) != source_digest(sources)


def test_every_kernel_is_kept_in_the_folder_of_these_sources() -> None:
    folder = kernel_folder()
    assert folder is not None
    assert numba_kernels.run_end._cache.cache_path == str(folder)  # type: ignore[attr-defined]


def test_a_folder_that_others_may_write_is_not_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if not hasattr(os, "getuid"):
        pytest.skip("this platform has no users to tell apart by number")
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    folder = kernel_folder.__wrapped__()
    assert folder is not None
    assert folder.parent == tmp_path / "hoplite"
    folder.chmod(0o777)
    assert kernel_folder.__wrapped__() is None
