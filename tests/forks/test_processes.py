"""The ways in which Python starts processes, each in its own program, whose interpreter ends as usual."""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from pathlib import Path

import pytest

import hoplite
from tests.forks.child import value_of

START = """
import multiprocessing, os, sys, threading
from concurrent.futures import ProcessPoolExecutor
import hoplite

db = None

def count(_=None):
    return db.run("MATCH (n) RETURN count(n) AS n").single()["n"]

def write(_=None):
    try:
        db.run("CREATE (:Child)")
    except Exception as error:
        return "Here it can only be read" in str(error)
    return "written"

def open_and_read(path):
    with hoplite.open(path, read_only=True) as own:
        return own.run("MATCH (n) RETURN count(n) AS n").single()["n"]

def try_to_open(path):
    try:
        hoplite.open(path)
    except Exception as error:
        return "open for writing by process" in str(error)
    return "opened"

def close(_=None):
    db.close()

if __name__ == "__main__":
    path = sys.argv[1]
    db = hoplite.open(path)
    db.run("UNWIND range(1, 10) AS i CREATE (:N {i: i})")
"""

PROGRAMS = {
    "fork": """
    context = multiprocessing.get_context("fork")
    for target in (write, close, count):
        process = context.Process(target=target)
        process.start()
        process.join()
        assert process.exitcode == 0
        db.run("CREATE (:Parent)")
""",
    "a pool": """
    with multiprocessing.get_context("fork").Pool(2) as pool:
        assert pool.map(count, range(4)) == [10] * 4
        db.run("CREATE (:Parent)")
        assert pool.map(write, range(4)) == [True] * 4
        db.checkpoint()
        assert pool.map(count, range(4)) == [10] * 4
        db.run("CREATE (:Parent)")
        assert pool.map(try_to_open, [path] * 2) == [True] * 2
        pool.map(close, range(4))
    db.run("CREATE (:Parent)")
""",
    "an executor": """
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as executor:
        assert list(executor.map(count, range(4))) == [10] * 4
        db.run("CREATE (:Parent)")
        assert list(executor.map(write, range(4))) == [True] * 4
        list(executor.map(close, range(4)))
        db.run("CREATE (:Parent)")
    db.run("CREATE (:Parent)")
""",
    "spawn": """
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        assert pool.map(open_and_read, [path]) == [10]
        assert pool.map(try_to_open, [path]) == [True]
    for _ in range(3):
        db.run("CREATE (:Parent)")
""",
    "forkserver": """
    with multiprocessing.get_context("forkserver").Pool(1) as pool:
        assert pool.map(open_and_read, [path]) == [10]
        assert pool.map(try_to_open, [path]) == [True]
    for _ in range(3):
        db.run("CREATE (:Parent)")
""",
    "os.fork and the usual end of an interpreter": """
    for _ in range(3):
        child = os.fork()
        if child == 0:
            assert write() is True
            db.__exit__(None, None, None)
            sys.exit(7)
        assert os.waitpid(child, 0)[1] == 7 << 8
        db.run("CREATE (:Parent)")
""",
    "os.fork while threads write": """
    def fill():
        db.run("CREATE (:Parent)")
    threads = [threading.Thread(target=fill) for _ in range(3)]
    for thread in threads:
        thread.start()
    for _ in range(5):
        child = os.fork()
        if child == 0:
            assert 10 <= count() <= 13
            sys.exit(7)
        assert os.waitpid(child, 0)[1] == 7 << 8
    for thread in threads:
        thread.join()
""",
}


@pytest.mark.parametrize("way", PROGRAMS)
def test_nothing_is_lost(tmp_path: Path, way: str) -> None:
    path, program = tmp_path / "kg.hop", tmp_path / "program.py"
    program.write_text(START + PROGRAMS[way] + "    assert db.verify() == []\n    db.close()\n")
    warnings = ("-W", "error", "-W", "ignore::DeprecationWarning")  # since 3.12, of forks where there are threads
    done = subprocess.run(
        [sys.executable, *warnings, str(program), str(path)],
        cwd=Path(hoplite.__file__).parents[1],
        env={**os.environ, "PYTHONPATH": str(Path(hoplite.__file__).parents[1])},
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, "")
    with hoplite.open(path) as db:
        assert value_of(db) == 13
        assert db.verify() == []


def test_a_database_is_not_sent_to_another_process() -> None:
    with hoplite.open() as db, pytest.raises(TypeError, match="open it there"):
        pickle.dumps(db)
