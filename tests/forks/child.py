"""Runs a function in a forked process, and brings back what it returns or raises."""

from __future__ import annotations

import os
import pickle
import signal
import warnings
from collections.abc import Callable
from typing import Any

import hoplite

LIMIT_S = 300
"""A child that waits for a lock that nobody holds is ended after so long."""


class Child:
    """A forked process. It waits for a request, so that the parent can do something first."""

    def __init__(self, function: Callable[[], Any]) -> None:
        asked, self._ask = os.pipe()
        self._answer, answer = os.pipe()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", DeprecationWarning)  # of Python 3.12, where there are threads
            self.number = os.fork()
        if self.number == 0:
            os.close(self._ask)
            signal.alarm(LIMIT_S)
            os.read(asked, 1)
            os.write(answer, pickle.dumps(_outcome(function)))
            os._exit(0)
        os.close(asked)
        os.close(answer)

    def ask(self) -> Any:
        """What the function returns; its exception is returned as a text."""
        os.close(self._ask)
        with os.fdopen(self._answer, "rb") as answer:
            data = answer.read()
        _, status = os.waitpid(self.number, 0)
        assert data, f"the child ended with status {status}"
        return pickle.loads(data)


def _outcome(function: Callable[[], Any]) -> Any:
    try:
        return function()
    except BaseException as error:
        return f"{type(error).__name__}: {error}"


def in_child(function: Callable[[], Any]) -> Any:
    """What the function returns in a child that runs it at once."""
    return Child(function).ask()


def value_of(db: hoplite.Database | hoplite.Transaction, query: str = "MATCH (n) RETURN count(n)") -> Any:
    """The one value that a query returns; by default the number of nodes."""
    return db.run(query).value()[0]
