"""Writes `homes.py`. Run it after adding, renaming or moving a function or procedure:

python -m hoplite.engine.make_homes
"""

from __future__ import annotations

import pkgutil
from importlib import import_module
from pathlib import Path

from hoplite.engine import functions, procedures
from hoplite.engine.functions.registry import AGGREGATES, FUNCTIONS
from hoplite.engine.procedures.registry import PROCEDURES

_HEAD = '''"""The family of each function and procedure: the module that registers it. Made by `make_homes.py`."""

from __future__ import annotations
'''


def homes_text() -> str:
    """The contents of the file for the current functions and procedures."""
    for package in (functions, procedures):
        for module in pkgutil.iter_modules(package.__path__):
            import_module(f"{package.__name__}.{module.name}")
    return _HEAD + "".join(
        _written(title, homes)
        for title, homes in (
            ("FUNCTIONS", {name: entry.call.__module__ for name, entry in FUNCTIONS.loaded().items()}),
            ("AGGREGATES", {name: entry.make.__module__ for name, entry in AGGREGATES.loaded().items()}),
            ("PROCEDURES", {name: entry.function.__module__ for name, entry in PROCEDURES.loaded().items()}),
        )
    )


def _written(title: str, homes: dict[str, str]) -> str:
    entries = "".join(f'    "{name}": "{homes[name].removeprefix("hoplite.engine.")}",\n' for name in sorted(homes))
    return f"\n{title} = {{\n{entries}}}\n"


def main() -> None:
    """Write the file."""
    (Path(__file__).parent / "homes.py").write_text(homes_text(), "utf-8")


if __name__ == "__main__":
    main()
