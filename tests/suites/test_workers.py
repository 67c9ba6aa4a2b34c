"""Worker processes: one task's hang, crash or exception is its own failure and nobody else's."""

from __future__ import annotations

import os
import time

from tests.suites.workers import PASSED, Task, Verdict, run_tasks


class Misbehaving:
    """Does what the task's payload says."""

    def prepare(self, task: Task) -> None:
        if task.payload == "unprepared":
            raise ValueError("no graph")

    def run(self, task: Task) -> Verdict:
        match task.payload:
            case "hang":
                time.sleep(60)
            case "crash":
                os._exit(3)
            case "raise":
                raise ValueError("bug")
        return PASSED


def test_every_task_gets_its_own_verdict() -> None:
    payloads = ["fine", "hang", "fine", "crash", "raise", "unprepared", "fine"]
    tasks = [Task(f"{number} {payload}", "f", str(number % 2), payload) for number, payload in enumerate(payloads)]
    verdicts = {task.name: verdict for task, verdict in run_tasks(Misbehaving, tasks, jobs=2, deadline_seconds=0.5)}
    assert {name: verdict.kind for name, verdict in verdicts.items()} == {
        "0 fine": "",
        "1 hang": "timeout",
        "2 fine": "",
        "3 crash": "crash",
        "4 raise": "internal error",
        "5 unprepared": "not prepared",
        "6 fine": "",
    }
    assert "exit code 3" in verdicts["3 crash"].detail
    assert "ValueError: bug" in verdicts["4 raise"].detail
