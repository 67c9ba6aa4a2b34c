"""Text that is longer than the screen, shown by the user's pager."""

from __future__ import annotations

import os
import shlex
import shutil

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text


def is_longer_than_screen(text: str, console: Console) -> bool:
    """Whether the text and the line after it do not fit on the screen; long lines take up several of its lines."""
    left = console.height - 1
    for line in text.splitlines():
        left -= max(1, -(-cell_len(Text.from_ansi(line).plain) // console.width))
        if left < 0:
            return True
    return False


def missing_pager() -> str | None:
    """The pager that the user's environment names, if there is no such program: what it is sent would be lost."""
    named = os.environ.get("MANPAGER") or os.environ.get("PAGER")  # as pydoc chooses, which runs it
    if not named:
        return None
    try:
        words = [word for word in shlex.split(named) if "=" not in word]
    except ValueError:
        return named
    return None if words and shutil.which(words[0]) else named


def page(text: str) -> None:
    """Show it in the pager, until the user leaves that."""
    from rich.pager import SystemPager

    SystemPager().show(text)
