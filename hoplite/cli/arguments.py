"""The words after `hoplite` in, the options of one command out."""

from __future__ import annotations

import argparse
import math
from collections.abc import Sequence
from typing import Any

DESCRIPTION = "SQLite for Cypher: an embedded graph database that answers like Neo4j."


class Commands:
    """The parsers of all commands by name.

    They replace argparse's subparsers, which refuse an option between two positional arguments: `hoplite query kg.hop
    --format csv "..."`.
    """

    def __init__(self, version: str) -> None:
        self._version = version
        self._parsers: dict[str, argparse.ArgumentParser] = {}
        self._help: dict[str, str] = {}

    def add_parser(self, name: str, *, help: str, **settings: Any) -> argparse.ArgumentParser:
        """A new command; `help` is its line in the list of commands."""
        parser = argparse.ArgumentParser(prog=f"hoplite {name}", **{"description": help, **settings})
        self._parsers[name], self._help[name] = parser, help
        return parser

    def parse(self, words: Sequence[str]) -> argparse.Namespace:
        """The options of the command that the first word names. Wrong usage prints a message and exits with 2."""
        width = max(map(len, self._help)) + 2
        top = argparse.ArgumentParser(
            prog="hoplite",
            description=DESCRIPTION,
            formatter_class=argparse.RawDescriptionHelpFormatter,
            epilog="commands:\n"
            + "\n".join(f"  {name:{width}}{text}" for name, text in self._help.items())
            + "\n\n`hoplite COMMAND --help` says more about each.",
        )
        top.add_argument("--version", action="version", version=f"hoplite {self._version}")
        top.add_argument("command", choices=self._parsers, metavar="COMMAND")
        chosen = top.parse_args(words[:1] or ["--help"])
        options = self._parsers[chosen.command].parse_intermixed_args(words[1:])
        options.command_name = chosen.command
        return options


def seconds(text: str) -> float:
    """A length of time: a number that is not negative."""
    number = _number(text)
    if not 0 <= number < math.inf:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds: 0 or more")
    return number


def count(text: str) -> int:
    """How many there may be: 0 or more."""
    return _whole(text, 0, None)


def positive(text: str) -> int:
    """How many there are to be: 1 or more."""
    return _whole(text, 1, None)


def port(text: str) -> int:
    """A TCP port, 0 for any that is free."""
    return _whole(text, 0, 65_535)


def _whole(text: str, least: int, most: int | None) -> int:
    try:
        number = int(text)
    except ValueError:
        number = least - 1
    if number < least or (most is not None and number > most):
        accepted = f"of {least} or more" if most is None else f"from {least} to {most:,}"
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number {accepted}")
    return number


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan
