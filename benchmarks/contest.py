"""Engines side by side: each in its own process, asked in turn, round after round. Names in, samples out.

All processes are loaded before the first question is timed, and every round asks each of them, so that a slow minute of
the machine affects all. A process that does not answer in time is killed, and the reason recorded.
"""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

from benchmarks.engine import Form
from benchmarks.workloads import WORKLOADS

HOPS = (1, 2, 3, 4, 5)
LOAD_SECONDS = 1800.0
PATIENCE_SECONDS = 90.0  # beyond the time allowed for the questions
Say = Callable[[str], None]


class Lost(Exception):
    """The engine has dropped out; the message says why."""


@dataclass(frozen=True, slots=True)
class Effort:
    """How much to measure. Seconds are for one way, one question and one round."""

    queries: int
    rounds: int
    seconds: float
    repeat: int
    batch_sizes: tuple[int, ...]
    clock: Literal["wall", "cpu"] = "wall"


FULL = Effort(queries=100, rounds=3, seconds=4.0, repeat=15, batch_sizes=(16, 64, 256))
QUICK = Effort(queries=40, rounds=3, seconds=0.4, repeat=8, batch_sizes=(64,))


@dataclass(slots=True)
class Samples:
    """Times of one way at one question, in seconds, with the reference timed alternately."""

    number: list[int] = field(default_factory=list)  # the query of each sample
    time: list[float] = field(default_factory=list)
    reference: list[float] = field(default_factory=list)
    digest: dict[int, str] = field(default_factory=dict)
    reference_digest: dict[int, str] = field(default_factory=dict)
    size: dict[int, int] = field(default_factory=dict)
    problem: str = ""  # why there are no samples, or no more

    def add(self, number: list[int], time: list[float], reference: list[float]) -> None:
        self.number += number
        self.time += time
        self.reference += reference

    def spent(self) -> float:
        return sum(self.time)


@dataclass(slots=True)
class Row:
    """One way of asking one engine, and its samples by question."""

    engine: str
    title: str
    way: str
    form: Form
    place: int  # its index among the engine's ways
    samples: dict[str, Samples] = field(default_factory=dict)


@dataclass(slots=True)
class Load:
    """The cost of loading a shape."""

    engine: str
    title: str
    seconds: float
    rss_mb: float | None  # None for a server
    peak_mb: float | None


@dataclass(slots=True)
class Part:
    """The results of one part of the benchmark."""

    shape: str
    nodes: int
    relationships: int
    rows: list[Row] = field(default_factory=list)
    loads: list[Load] = field(default_factory=list)
    versions: dict[str, str] = field(default_factory=dict)
    absent: dict[str, str] = field(default_factory=dict)  # engines that were not measured, and why
    machine: str = ""
    load_average: tuple[float, float] = (0.0, 0.0)  # before and after


class Contender:
    """An engine's process."""

    def __init__(self, name: str, shapes: Path, scratch: Path, clock: str) -> None:
        self.name = name
        self._log = tempfile.TemporaryFile()  # noqa: SIM115 (as long as the process)
        command = [sys.executable, "-X", "faulthandler", "-m", "benchmarks.worker"]
        command += [name, str(shapes), str(scratch), clock]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._log, start_new_session=True
        )
        try:
            about = self._reply(PATIENCE_SECONDS)
        except Lost:
            self.end()
            raise
        self.title, self.version = about["title"], about["version"]

    def call(self, do: str, within: float, **arguments: Any) -> dict[str, Any]:
        """Run a method of the worker and return its reply, within the timeout and a margin."""
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(json.dumps({"do": do, **arguments}).encode() + b"\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise Lost(self._last_words()) from None
        return self._reply(within + PATIENCE_SECONDS)

    def end(self) -> None:
        """Have it close and stop, by force if it does not."""
        if self._process.poll() is None:
            with suppress(Lost):
                self.call("close", 0)
        self._kill()
        for stream in (self._process.stdin, self._process.stdout, self._log):
            if stream is not None:
                with suppress(BrokenPipeError):
                    stream.close()

    def _reply(self, seconds: float) -> dict[str, Any]:
        output = self._process.stdout
        assert output is not None
        line = b""
        while not line.endswith(b"\n"):
            ready, _, _ = select.select([output], [], [], seconds)
            if not ready:
                self._kill()
                raise Lost(f"no answer within {seconds:.0f} s")
            part = os.read(output.fileno(), 1 << 20)
            if not part:
                raise Lost(self._last_words())
            line += part
        reply: dict[str, Any] = json.loads(line)
        if "unavailable" in reply:
            raise Lost(reply["unavailable"])
        return reply

    def _kill(self) -> None:
        if self._process.poll() is None:
            os.killpg(self._process.pid, signal.SIGKILL)
        self._process.wait()

    def _last_words(self) -> str:
        code = self._process.wait()
        self._log.seek(0)
        lines = [line.strip() for line in self._log.read().decode(errors="replace").splitlines() if line.strip()]
        return f"its process ended with {code}: {lines[-1] if lines else 'without a word'}"


@contextmanager
def contenders(
    engines: Sequence[str],
    shapes: Path,
    part: Part,
    effort: Effort,
    load: dict[str, Any],
    say: Say,
    ways: Literal["ways", "batches"] = "ways",
) -> Iterator[list[Contender]]:
    """The engines that load; the others are recorded in the part, with the reason. `ways` are the part's rows."""
    running: list[Contender] = []
    with tempfile.TemporaryDirectory(prefix="hoplite-bench-") as scratch:
        try:
            for name in engines:
                folder = Path(scratch) / name
                folder.mkdir()
                try:
                    contender = Contender(name, shapes, folder, effort.clock)
                    running.append(contender)
                    reply = contender.call(within=LOAD_SECONDS, **load)
                    if "error" in reply:
                        raise Lost(reply["error"])
                except Lost as reason:
                    part.absent[name] = str(reason)
                    say(f"{name}: left out: {reason}")
                    continue
                _note(part, contender, reply, ways)
                say(f"{contender.title} {contender.version}: loaded in {reply['seconds']:.1f} s")
            yield [contender for contender in running if contender.name not in part.absent]
        finally:
            for contender in running:
                contender.end()


def _note(part: Part, contender: Contender, reply: dict[str, Any], ways: str) -> None:
    title = contender.title
    part.versions[title] = contender.version
    part.loads.append(Load(contender.name, title, reply["seconds"], reply["rss_mb"], reply["peak_mb"]))
    for place, (way, form) in enumerate(reply[ways]):
        part.rows.append(Row(contender.name, title, way, form, place))


def run_balls(part: Part, running: Sequence[Contender], effort: Effort, say: Say) -> None:
    """k-hop balls: fill the part's rows with samples by k."""
    by_name = {contender.name: contender for contender in running}
    for k in HOPS:
        for row in part.rows:  # compiles, plans, fills caches; not counted
            samples = row.samples[str(k)] = Samples()
            _ask(row, samples, by_name, "ball", effort.seconds, k=k, first=0, count=1)
        for _ in range(effort.rounds):
            for row in part.rows:
                samples = row.samples[str(k)]
                if samples.problem or samples.spent() > effort.seconds * effort.rounds:
                    continue
                done = samples.number
                first = done[-1] + 1 if done and done[-1] + 1 < effort.queries else 0
                reply = _ask(row, samples, by_name, "ball", effort.seconds, k=k, first=first, count=effort.queries)
                if reply is not None:
                    samples.add(reply["number"], reply["time"], reply["limit"])
        say(f"k = {k}: {effort.rounds} rounds done")


def run_queries(part: Part, running: Sequence[Contender], effort: Effort, say: Say) -> None:
    """The Cypher workloads: fill the part's rows with samples by the key of the query."""
    by_name = {contender.name: contender for contender in running}
    for workload in WORKLOADS:
        key = workload.key
        for row in part.rows:
            samples = row.samples[key] = Samples()
            reply = _ask(row, samples, by_name, "check", key=key)
            if reply is not None:
                samples.digest[0] = reply["digest"]
                samples.reference_digest[0] = reply["hand_digest"]
                samples.size[0] = reply["rows"]
        for _ in range(effort.rounds):
            for row in part.rows:
                samples = row.samples[key]
                if samples.problem or samples.spent() > effort.seconds * effort.rounds:
                    continue
                reply = _ask(row, samples, by_name, "query", effort.seconds, key=key, repeat=effort.repeat)
                if reply is not None:
                    samples.add([0] * len(reply["time"]), reply["time"], reply["hand"])
        say(f"{key} {workload.title}: {effort.rounds} rounds done")


def run_batches(part: Part, running: Sequence[Contender], effort: Effort, say: Say) -> None:
    """Many balls in one call: fill the part's rows with samples by `batch_key`."""
    by_name = {contender.name: contender for contender in running}
    for k in HOPS:
        for count in effort.batch_sizes:
            for number in range(effort.rounds + 1):
                for row in part.rows:
                    samples = row.samples.setdefault(batch_key(count, k), Samples())
                    if samples.problem or samples.spent() > effort.seconds * effort.rounds:
                        continue
                    reply = _ask(row, samples, by_name, "batch", effort.seconds, k=k, count=count, repeat=2)
                    if reply is not None and number:
                        samples.add([0] * len(reply["time"]), reply["time"], reply["limit"])
        say(f"batches at k = {k}: {effort.rounds} rounds done")


def batch_key(count: int, k: int) -> str:
    return f"{count} queries at k={k}"


def _ask(
    row: Row, samples: Samples, by_name: dict[str, Contender], do: str, seconds: float | None = None, **arguments: Any
) -> dict[str, Any] | None:
    """A reply, or None after recording the problem. New digests of balls are kept here."""
    if seconds is not None:
        arguments["seconds"] = seconds
    try:
        reply = by_name[row.engine].call(do, seconds or 0.0, way=row.place, **arguments)
    except Lost as reason:
        samples.problem = str(reason)
        return None
    if "error" in reply:
        samples.problem = reply["error"]
        return None
    if "limit_digest" in reply:
        samples.digest.update(_by_number(reply["digest"]))
        samples.reference_digest.update(_by_number(reply["limit_digest"]))
        samples.size.update(_by_number(reply["size"]))
    return reply


def _by_number(sent: dict[str, Any]) -> dict[int, Any]:
    """JSON has no integer keys."""
    return {int(number): value for number, value in sent.items()}
