"""What `load` is told about its tables: their labels and patterns, and the names of the columns that connect them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hoplite.errors import CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.importers.problem import bad_table
from hoplite.storage.index_options import INVALID_ARGUMENTS

Labels: TypeAlias = str | tuple[str, ...]
Pattern: TypeAlias = tuple[str, str, str]
DEFAULT_KEY, START, END = "id", "start", "end"


@dataclass(frozen=True, slots=True)
class TableForm:
    """The names of columns, for all tables or for each: the key by label (or the labels of a node table), the ends by
    the pattern of a relationship table. What a mapping leaves out has the default name. `is_unique`: keys get
    uniqueness constraints."""

    key: str | Mapping[Any, str] | None = DEFAULT_KEY
    start: str | Mapping[Pattern, str] = START
    end: str | Mapping[Pattern, str] = END
    is_unique: bool = True

    def key_of(self, labels: tuple[str, ...]) -> str | None:
        """The key of a node table; None if its nodes have none."""
        if self.key is None or isinstance(self.key, str):
            return self.key
        return self.key.get(labels, self.key.get(labels[0], DEFAULT_KEY))

    def ends_of(self, pattern: Pattern) -> tuple[str, str]:
        """The columns of a relationship table that hold its start and end."""
        start = self.start if isinstance(self.start, str) else self.start.get(pattern, START)
        end = self.end if isinstance(self.end, str) else self.end.get(pattern, END)
        return start, end

    def refuse_unknown(self, nodes: Mapping[Labels, Any], relationships: Mapping[Pattern, Any]) -> None:
        """Raise for a name that belongs to no table: it is misspelt."""
        labels = {label for pattern in relationships for label in (pattern[0], pattern[2])}
        for table in nodes:
            labels.update((table,) if isinstance(table, str) else table)
        known: dict[str, set[Any]] = {
            "key": {*labels, *nodes},
            "start": {*relationships},
            "end": {*relationships},
        }
        for setting, tables in known.items():
            given = getattr(self, setting)
            unknown = [table for table in given if table not in tables] if isinstance(given, Mapping) else []
            if unknown:
                raise bad_table(f"{setting}[{unknown[0]!r}]", "there is no such table in this load")


def pattern_name(pattern: Pattern) -> str:
    """How errors name a table of relationships."""
    return f"relationships[({pattern[0]})-[{pattern[1]}]->({pattern[2]})]"


def refuse_malformed(nodes: Any, relationships: Any, form: TableForm) -> None:
    """Raise for arguments that are not of the shape that `load` describes."""
    if not isinstance(nodes, Mapping):
        raise _malformed("nodes must map labels to tables, as in {'Person': people}", nodes)
    for labels in nodes:
        given = (labels,) if isinstance(labels, str) else labels
        if not (isinstance(given, tuple) and given and all(map(_is_name, given))):
            raise _malformed("A table of nodes needs a label, or a tuple of labels, none of them empty", labels)
    example = "('Person', 'KNOWS', 'Person')"
    if not isinstance(relationships, Mapping):
        raise _malformed(f"relationships must map patterns to tables, as in {{{example}: friends}}", relationships)
    for pattern in relationships:
        if not (isinstance(pattern, tuple) and len(pattern) == 3 and all(map(_is_name, pattern))):
            raise _malformed(f"A table of relationships needs a label, a type and a label, as in {example}", pattern)
    for setting in ("key", "start", "end"):
        given = getattr(form, setting)
        for name in given.values() if isinstance(given, Mapping) else (given,):
            if not _is_name(name) and not (setting == "key" and name is None):
                raise _malformed(f"{setting} must be the name of a column, or map each table to one", name)
    for pattern in relationships:
        for label in (pattern[0], pattern[2]):
            if form.key_of((label,)) is None:
                reason = f"the nodes with label {label!r} can only be found by a key; name it, as in key='id'"
                raise bad_table(pattern_name(pattern), reason)


def _is_name(name: object) -> bool:
    return isinstance(name, str) and bool(name)


def _malformed(expected: str, given: object) -> CypherError:
    shown = (
        repr(given) if given is None or isinstance(given, str | tuple) else f"a value of type {type(given).__name__}"
    )
    return CypherError(INVALID_ARGUMENTS, f"{expected}; not {shown}")
