"""The garbage collector is held back while the engine loads, and is afterwards as it was."""

import gc
import multiprocessing
import subprocess
import sys
from collections.abc import Iterator

import pytest

from hoplite import collector


@pytest.fixture(autouse=True)
def _enabled_afterwards() -> Iterator[None]:
    yield
    gc.enable()


def test_it_goes_on_when_the_last_lets_go() -> None:
    collector.hold_back("one")
    collector.hold_back("two")
    collector.let_go("one")
    collector.let_go("one")  # once more changes nothing
    assert not gc.isenabled()
    collector.let_go("two")
    assert gc.isenabled()


def test_it_goes_on_after_an_error() -> None:
    with pytest.raises(ImportError), collector.held_back():
        assert not gc.isenabled()
        raise ImportError
    assert gc.isenabled()


def test_a_program_that_disabled_it_finds_it_disabled() -> None:
    gc.disable()
    with collector.held_back():
        pass
    assert not gc.isenabled()


def test_what_a_program_has_frozen_stays_frozen() -> None:
    gc.freeze()
    try:
        with collector.held_back():
            pass
        assert gc.get_freeze_count() > 0
    finally:
        gc.unfreeze()


def test_garbage_made_meanwhile_is_collected_later() -> None:
    class Loop:
        pass

    gone: list[int] = []
    with collector.held_back():
        loop = Loop()
        loop.itself = loop  # type: ignore[attr-defined]
        Loop.__del__ = lambda _: gone.append(1)  # type: ignore[attr-defined]
        del loop
    assert not gone
    gc.collect()
    assert gone


def _is_enabled_in_the_child(answers: "multiprocessing.Queue[bool]") -> None:
    answers.put(gc.isenabled())


@pytest.mark.skipif(sys.platform == "win32", reason="there is no fork on Windows")
def test_a_child_process_has_its_collector() -> None:
    context = multiprocessing.get_context("fork")
    answers: multiprocessing.Queue[bool] = context.Queue()
    with collector.held_back():
        child = context.Process(target=_is_enabled_in_the_child, args=(answers,))
        child.start()
    assert answers.get(timeout=60)
    child.join()


def test_no_collection_while_the_engine_loads() -> None:
    program = (
        "import gc, hoplite\n"
        "begun = []\n"
        "gc.callbacks.append(lambda phase, _: begun.append(phase))\n"
        "hoplite.Database\n"
        "during = len(begun)\n"
        "print(during, gc.isenabled())"
    )
    printed = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout
    assert printed.split() == ["0", "True"]
