"""What the shell does with a line: run it, wait for more, or leave."""

from __future__ import annotations

from hoplite.grammar.statements import split_statements


def is_finished(text: str) -> bool:
    """Whether Enter should run the text: it ends with a real `;`, is empty, or is a shell command."""
    stripped = text.strip()
    return not stripped or stripped.startswith(":") or is_exit(stripped) or split_statements(stripped)[1] == ""


def is_exit(text: str) -> bool:
    """Whether the text asks to leave the shell, in one of the usual ways."""
    return text.strip().rstrip(";").lower() in (":quit", ":exit", ":q", "exit", "quit")
