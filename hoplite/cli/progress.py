"""Bars on standard error, if that is a terminal: how much of a transfer is done, how fast, and the time left."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.util import find_spec
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import ProgressColumn

BYTES = "bytes"


class Bar(Protocol):
    """Called with how much is done and the total, if that is known; `what` changes the words before the bar."""

    def __call__(self, done: int, total: int | None = None, /, *, what: str | None = None) -> None: ...


@contextmanager
def progress_bar(what: str, unit: str, console: Console | None = None) -> Iterator[Bar]:
    """A bar for work that is counted in bytes, or in something else with this name in the plural."""
    if find_spec("rich") is None:
        yield _unseen
        return
    from rich.console import Console
    from rich.progress import Progress

    console = console or Console(stderr=True)
    columns = _columns(unit)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(what, total=None)

        def progress(done: int, total: int | None = None, /, *, what: str | None = None) -> None:
            bars.update(bar, completed=done, total=total, description=what)

        yield progress


def _columns(unit: str) -> Sequence[ProgressColumn]:
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )
    from rich.text import Text

    class Amount(ProgressColumn):
        def render(self, task: Task) -> Text:
            of_total = "" if task.total is None else f" of {task.total:,.0f}"
            return Text(f"{task.completed:,.0f}{of_total} {unit}")

    class Rate(ProgressColumn):
        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed:,.0f} {unit}/s")

    counted = (DownloadColumn(), TransferSpeedColumn()) if unit == BYTES else (Amount(), Rate())
    title = TextColumn("{task.description}", markup=False)
    return (title, BarColumn(), *counted, TimeRemainingColumn(elapsed_when_finished=True))


def over_files(bar: Bar, paths: Sequence[str | os.PathLike[str]]) -> Callable[[int, int | None], None]:
    """Progress for an import that reads these files one after another, and reports the bytes of each: shown as those of
    all files, with the name of the one being read."""
    sizes = [os.path.getsize(path) if os.path.exists(path) else 0 for path in paths]
    current, last = 0, 0

    def progress(done: int, total: int | None) -> None:
        nonlocal current, last
        if done < last or total != sizes[current]:  # another file has begun
            later = (place for place in range(current + 1, len(sizes)) if sizes[place] == total)
            current = next(later, current)
        last = done
        number = f" ({current + 1} of {len(paths)})" if len(paths) > 1 else ""
        what = f"Importing {os.path.basename(paths[current])}{number}"
        bar(sum(sizes[:current]) + done, sum(sizes), what=what)

    return progress


def _unseen(_done: int, _total: int | None = None, /, *, what: str | None = None) -> None:
    """Progress that is not shown."""
