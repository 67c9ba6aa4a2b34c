"""Tables of functions and procedures whose families are loaded when one of their names is first asked for.

`homes.py` says in which module a name is registered. A query that names three functions loads three families at most;
going through a table loads all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import TypeVar

Entry = TypeVar("Entry")


class Families(MutableMapping[str, Entry]):
    """Entries by name; importing a family's module enters them. `homes` has the modules by the names."""

    def __init__(self, homes: Mapping[str, str]) -> None:
        self._homes = homes
        self._loaded: dict[str, Entry] = {}

    def loaded(self) -> Mapping[str, Entry]:
        """The entries of the families that are loaded."""
        return self._loaded

    def __getitem__(self, name: str) -> Entry:
        if name not in self._loaded:
            import_module(f"hoplite.engine.{self._homes[name]}")
        return self._loaded[name]

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._loaded[name] = entry

    def __delitem__(self, name: str) -> None:
        raise TypeError("what is built in stays")

    def __contains__(self, name: object) -> bool:
        return name in self._homes or name in self._loaded

    def __iter__(self) -> Iterator[str]:
        self._load_all()
        return iter(self._loaded)

    def __len__(self) -> int:
        self._load_all()
        return len(self._loaded)

    def _load_all(self) -> None:
        for home in sorted(set(self._homes.values())):
            import_module(f"hoplite.engine.{home}")
