"""Optional packages, each for one purpose, and the extras that install them.

`pip install hoplitedb` installs what every database needs. Code that uses one of these packages imports it inside
`optional(...)`, so that the error for a missing one names it with the command that installs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

DISTRIBUTION = "hoplitedb"
_EXTRAS = {
    "rich": "cli",
    "prompt_toolkit": "cli",
    "pygments": "cli",
    "numba": "numba",
    "llvmlite": "numba",
    "scipy": "scipy",
    "torch": "torch",
    "triton": "torch",
    "pandas": "pandas",
    "polars": "polars",
    "networkx": "networkx",
    "igraph": "igraph",
    "mcp": "mcp",
    "ray": "ray",
    "snowballstemmer": "languages",
    "usearch": "vector",
}


@contextmanager
def optional(what: str) -> Iterator[None]:
    """Inside, importing a package of an extra that is not installed raises an error that says so; `what` is what needs
    it."""
    try:
        yield
    except ModuleNotFoundError as missing:
        message = missing_package(what, missing)
        if message is None:
            raise
        raise ModuleNotFoundError(message, name=missing.name) from None


def missing_package(what: str, missing: ModuleNotFoundError) -> str | None:
    """The message for a package that is not installed; None if it does not belong to an extra."""
    package = (missing.name or "").partition(".")[0]
    if package not in _EXTRAS:
        return None
    return f"{what} needs {package}, which is not installed: pip install '{DISTRIBUTION}[{_EXTRAS[package]}]'"
