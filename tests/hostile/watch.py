"""Runs one hostile statement in a separate process, and reports how it ended, when, and how much memory it took. The
deadline is in wall time, but a busy machine makes every process late. So what is judged is the CPU time that the
process used after its deadline: the watching process reads it at the deadline, and the running one reads it again when
the statement has ended.
"""

from __future__ import annotations

import multiprocessing
import resource
import time
from dataclasses import dataclass
from importlib import import_module
from multiprocessing.connection import Connection
from pathlib import Path

from neo4j.exceptions import BrokenRecordError, Neo4jError

import hoplite
from tests.hostile.corpus import corpus
from tests.hostile.graphs import GRAPHS

TIMEOUT_SECONDS = 2.0
MEMORY = "256MB"
MEMORY_MB = 256.0
GRACE_SECONDS = 0.5  # of CPU time after the deadline
GRACE_MB = 32.0  # what the allocator keeps
KILLED_AFTER_SECONDS = 6.0  # of processor time; ten times as long on the wall
MOST_ROWS = 1_000_000


@dataclass(frozen=True, slots=True)
class Ended:
    """How a statement ended: `problem` says in a sentence what should not have been."""

    name: str
    outcome: str
    seconds: float = 0.0
    late_seconds: float = 0.0  # of CPU time after the deadline
    memory_mb: float = 0.0  # at its peak, above what the process held before
    problem: str = ""


def watch(name: str) -> Ended:
    """Run the statement of this name under the limits."""
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["tests.hostile.watch", "tests.hostile.loaded"])
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(name, theirs), daemon=True)
    process.start()
    theirs.close()
    assert process.pid is not None
    try:
        if not ours.poll(300.0) or ours.recv() != "begin":
            return Ended(name, "not prepared", problem="its graph was not made")
        began = time.monotonic()
        start = _processor_seconds(process.pid)
        at_deadline = None
        if not ours.poll(TIMEOUT_SECONDS):
            at_deadline = _processor_seconds(process.pid)
            while not ours.poll(0.2):
                used, passed = _processor_seconds(process.pid) - start, time.monotonic() - began
                if used > KILLED_AFTER_SECONDS or passed > 10 * KILLED_AFTER_SECONDS:
                    return Ended(name, "killed", passed, used - TIMEOUT_SECONDS, problem="it had to be killed")
        try:
            outcome, used, memory_mb, problem = ours.recv()
        except EOFError:
            process.join()
            return Ended(name, "crashed", problem=f"the process ended with exit code {process.exitcode}")
        late = 0.0 if at_deadline is None else max(0.0, used - at_deadline)
        if not problem and late > GRACE_SECONDS:
            problem = f"it ran on for {late:.2f} s of processor time behind its deadline"
        if not problem and memory_mb > MEMORY_MB + GRACE_MB:
            problem = f"it took {memory_mb:.0f} MB"
        return Ended(name, outcome, time.monotonic() - began, late, memory_mb, problem)
    finally:
        process.kill()
        process.join()
        ours.close()


def _serve(name: str, pipe: Connection) -> None:
    # Nothing to do where the server of forks has it; it may have been started by others, without it.
    import_module("tests.hostile.loaded")
    statement = corpus()[name]
    db = hoplite.open(query_memory=MEMORY)
    GRAPHS[statement.graph](db)
    text, given = statement.text(), statement.parameters()
    session = db.session(timeout=TIMEOUT_SECONDS, max_rows=MOST_ROWS)
    _forget_peak()
    held = _memory_mb("VmRSS")
    outcome, problem = "answered", ""
    pipe.send("begin")
    try:
        for _ in session.run(text, given):
            pass
    except Neo4jError as error:
        outcome = str(error.code)
    except BrokenRecordError:
        outcome = "a value that the driver cannot hold"
    except statement.raises as error:
        outcome = f"the driver's {type(error).__name__}"
    except BaseException as error:
        outcome, problem = type(error).__name__, f"a Python error came out: {type(error).__name__}: {str(error)[:200]}"
    usage = resource.getrusage(resource.RUSAGE_SELF)
    pipe.send((outcome, usage.ru_utime + usage.ru_stime, _memory_mb("VmHWM") - held, problem))


def _processor_seconds(pid: int) -> float:
    """What a process has used of the processor so far, all its threads together."""
    fields = Path(f"/proc/{pid}/stat").read_text("ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100.0


def _forget_peak() -> None:
    Path("/proc/self/clear_refs").write_text("5", "ascii")


def _memory_mb(name: str) -> float:
    for line in Path("/proc/self/status").read_text("ascii").splitlines():
        if line.startswith(f"{name}:"):
            return int(line.split()[1]) / 1024
    return 0.0
