"""Databases that run statements another way: as the plan that was written to JSON and read back, or under PROFILE.

Both must answer as `run` does. Under PROFILE, the operators must also be those of the plain statement.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any

import hoplite
from hoplite.engine.operators.base import Operator
from hoplite.engine.operators.writes import Step
from hoplite.engine.prepare import Prepared
from hoplite.errors import driver_errors
from hoplite.planner.explain import rows_of
from hoplite.planner.plan_tree import every_operator
from hoplite.values.driver import from_driver


class _Wrapped:
    """Everything but `run` is the database's."""

    def __init__(self, db: hoplite.Database) -> None:
        self._db = db

    def __getattr__(self, name: str) -> Any:
        return getattr(self._db, name)

    def _prepared(self, query: str, parameters: Mapping[str, Any]) -> Prepared:
        return self._db._preparer.prepare(query, self._db._graph.snapshot(), self._converted(parameters))

    def _converted(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        return {name: from_driver(value) for name, value in parameters.items()}


class ThroughJson(_Wrapped):
    """Runs the plans of statements."""

    def run(self, query: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """The plan's answer, after writing and reading it back; commands have no plan."""
        given = dict(parameters or {})
        if _has_mode(query) or self._prepared_or_none(query, given) is None:
            return self._db.run(query, given)
        return self._db.run_plan(self._db.explain(query, given, format="json"), given)

    def _prepared_or_none(self, query: str, given: Mapping[str, Any]) -> Any:
        try:
            return self._prepared(query, given).plan
        except Exception:
            return None  # rejected: `run` says why


class ThroughProfile(_Wrapped):
    """Runs statements under PROFILE."""

    def run(self, query: str, parameters: Mapping[str, Any] | None = None) -> Any:
        """The same answer; what PROFILE reports is the tree of the plain statement, operator by operator."""
        given = dict(parameters or {})
        if _has_mode(query):
            return self._db.run(query, given)
        with driver_errors():
            plain = self._db._prepare(
                query, self._db._graph.snapshot(), self._converted(given), self._db._limits.allowance()
            )
            if plain.plan is None:
                return self._db.run(query, given)
            profiled = self._prepared(f"PROFILE {query}", given)
            assert list(_shown(plain)) == list(_shown(profiled))
            assert list(_built(plain.operator)) == list(_built(profiled.operator))
            result = self._db._run_alone(replace(plain, mode="PROFILE"), given, self._db._limits)
        result.detach()
        nodes = {id(node) for node in every_operator(plain.plan)}
        assert result.measured and result.measured.keys() <= nodes, "Operators of the plan are measured, and no others."
        return result


def _has_mode(query: str) -> bool:
    return query.lstrip().upper().startswith(("EXPLAIN", "PROFILE", "CYPHER"))


def _shown(prepared: Prepared) -> Iterator[tuple[int, Any]]:
    assert prepared.plan is not None
    for depth, line, node in rows_of(prepared.plan):
        yield depth, (type(node).__name__, str(line).replace("PROFILE ", ""))  # SHOW TRANSACTIONS holds its text


def _built(part: Any) -> Iterator[tuple[str, str | None]]:
    """The operators and steps below one, each with the node it was built for."""
    if isinstance(part, tuple):
        for item in part:
            yield from _built(item)
    elif isinstance(part, Operator | Step):
        yield type(part).__name__, None if part.plan is None else type(part.plan).__name__
        for field in fields(part):
            if field.name != "plan":
                yield from _built(getattr(part, field.name))
    elif is_dataclass(part) and not isinstance(part, type):
        for field in fields(part):
            value = getattr(part, field.name)
            if isinstance(value, tuple | Operator | Step):
                yield from _built(value)
