"""Tables of functions and procedures that load a family when one of its names is first looked up.

`homes.py` says which module registers a name. A query with three functions loads at most three families; iterating over
a table loads all of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, MutableMapping
from importlib import import_module
from typing import Any, TypeVar, overload

Entry = TypeVar("Entry")
Other = TypeVar("Other")


class Families(MutableMapping[str, Entry]):
    """Entries by name, registered by importing a family's module. `homes` maps names to modules."""

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

    @overload
    def get(self, name: str) -> Entry | None: ...
    @overload
    def get(self, name: str, default: Other) -> Entry | Other: ...
    def get(self, name: str, default: Any = None) -> Any:
        """As of any mapping, without raising an exception for a name that is not there: every call asks both tables."""
        entry = self._loaded.get(name)
        if entry is not None:
            return entry
        return self[name] if name in self._homes else default

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._loaded[name] = entry

    def __delitem__(self, name: str) -> None:
        raise TypeError("built-in functions and procedures cannot be removed")

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


class Extended(MutableMapping[str, Entry]):
    """A database's own entries, before the built-in ones."""

    def __init__(self, built_in: Mapping[str, Entry]) -> None:
        self._built_in = built_in
        self._own: dict[str, Entry] = {}

    @property
    def has_own(self) -> bool:
        """Whether the database has entries of its own."""
        return bool(self._own)

    def __getitem__(self, name: str) -> Entry:
        return self._own[name] if name in self._own else self._built_in[name]

    @overload
    def get(self, name: str) -> Entry | None: ...
    @overload
    def get(self, name: str, default: Other) -> Entry | Other: ...
    def get(self, name: str, default: Any = None) -> Any:
        """As of any mapping."""
        return self._own[name] if name in self._own else self._built_in.get(name, default)

    def __setitem__(self, name: str, entry: Entry) -> None:
        self._own[name] = entry

    def __delitem__(self, name: str) -> None:
        del self._own[name]

    def __contains__(self, name: object) -> bool:
        return name in self._own or name in self._built_in

    def __iter__(self) -> Iterator[str]:
        yield from self._built_in
        yield from (name for name in self._own if name not in self._built_in)

    def __len__(self) -> int:
        return sum(1 for _ in self)
