"""Sessions, which run statements under their own limits, and explicit transactions."""

from __future__ import annotations

import time
import weakref
from collections.abc import Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hoplite.allowance import allowing
from hoplite.api.limits import Limits
from hoplite.api.result import Result
from hoplite.engine.prepare import Prepared
from hoplite.errors import access_mode, driver_errors, lost_at_fork, mixed_transaction
from hoplite.values.driver import from_parameters

if TYPE_CHECKING:
    from hoplite.api.database import Database


class Session:
    """Runs statements under its own limits."""

    def __init__(self, database: Database, limits: Limits) -> None:
        self._database = database
        self._limits = limits

    def __repr__(self) -> str:
        limits = self._limits
        told = [f"timeout={limits.timeout}"] if limits.timeout is not None else []
        told += [f"max_rows={limits.max_rows}"] if limits.max_rows is not None else []
        told += ["read_only=True"] if limits.read_only else []
        return f"<Session of {self._database!r}{''.join(f', {one}' for one in told)}>"

    def run(self, query: str, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> Result:
        """Run a statement in its own transaction."""
        return self._database._run_alone(query, {**(parameters or {}), **params}, self._limits)

    def run_plan(self, plan: str | bytes, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> Result:
        """Run a plan that `Database.explain` wrote as JSON, in its own transaction."""
        return self._database._run_plan(plan, {**(parameters or {}), **params}, self._limits)

    def begin(self) -> Transaction:
        """An explicit transaction under the session's limits."""
        return Transaction(self._database, self._limits)

    def close(self) -> None:
        """Nothing to release: a session holds only its limits."""

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class Transaction:
    """An explicit transaction, used from one thread. After a statement has failed, it can only be rolled back.

    A transaction that is left open, with none of its results being read, is rolled back when it is garbage-collected.
    """

    def __init__(self, database: Database, limits: Limits, may_mix: bool = False) -> None:
        self._database = database
        self._may_mix = may_mix  # changes both data and schema, as a script may
        self._limits = replace(limits, metadata={}) if limits.metadata is None else limits
        self._graph = database._graph.begin(lazy=True)
        self._began = time.time_ns()
        database._transactions.add(self)
        self._open_result: weakref.ref[Result] | None = None
        self._failed = False
        self._is_cut_off = False
        self._changes = ""  # the kind of statement that has changed something: only one kind may

    def run(self, query: str, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> Result:
        """Run a statement; it sees what the statements before it wrote."""
        self._check_usable()
        given = {**(parameters or {}), **params}
        with driver_errors():
            converted = from_parameters(given, self._limits.allowance())
        return self._run(query, given, converted, self._limits)

    def run_plan(self, plan: str | bytes, parameters: Mapping[str, Any] | None = None, /, **params: Any) -> Result:
        """Run a plan that `Database.explain` wrote as JSON; it sees what the statements before it wrote."""
        self._check_usable()
        given = {**(parameters or {}), **params}
        with driver_errors():
            prepared, converted = self._database._read_plan(plan, given, self._limits.allowance())
        return self._run(prepared, given, converted, self._limits)

    def _run(
        self, statement: str | Prepared, given: Mapping[str, Any], parameters: Mapping[str, Any], limits: Limits
    ) -> Result:
        self._settle()
        with driver_errors():
            try:
                return self._run_settled(statement, given, parameters, limits)
            except BaseException:
                self._failed = True
                raise

    def _run_settled(
        self, statement: str | Prepared, given: Mapping[str, Any], parameters: Mapping[str, Any], limits: Limits
    ) -> Result:
        database = self._database
        allowance = limits.allowance()
        if isinstance(statement, Prepared):
            prepared = statement
        else:
            prepared = database._prepare(statement, self._graph, parameters, allowance)
        if prepared.writes and prepared.query_type != "r":
            kind = "Schema modification" if prepared.query_type == "s" else "Write query"
            if self._changes not in ("", kind) and not self._may_mix:
                raise mixed_transaction(kind, self._changes, prepared.text)
            self._changes = kind
        if prepared.mode == "EXPLAIN":
            return database._explained(prepared, given, limits)
        if prepared.writes:
            if limits.read_only:
                raise access_mode()
            with allowing(allowance):
                self._graph.prepare_write(prepared.text)
            result = database._run_in(prepared, self._graph, parameters, given, limits, allowance, self)
            result.detach()
            return result
        result = database._run_in(prepared, self._graph, parameters, given, limits, allowance, self)
        if prepared.has_effects:
            result.detach()
        self._open_result = weakref.ref(result)
        return result

    def _settle(self) -> None:
        """Read the rest of the last result before the graph changes beneath it."""
        result = None if self._open_result is None else self._open_result()
        if result is not None:
            result.detach()
        self._open_result = None

    def _check_usable(self) -> None:
        from neo4j.exceptions import TransactionError

        if self._graph.is_lost:
            with driver_errors():
                raise lost_at_fork("transaction")
        if self._is_cut_off:
            raise TransactionError(self, "The database was closed, and the transaction rolled back")
        if not self._graph.is_open:
            raise TransactionError(self, "Transaction closed")
        if self._failed:
            raise TransactionError(self, "Transaction failed")

    def commit(self) -> None:
        """Make the changes permanent."""
        self._check_usable()
        self._settle()
        with driver_errors():
            try:
                self._graph.commit()
            finally:
                self._graph.let_go()

    def rollback(self) -> None:
        """Undo everything. The rest of a result can no longer be read."""
        if self._graph.is_open:
            result = None if self._open_result is None else self._open_result()
            if result is not None:
                result.close()
            self._open_result = None
            self._graph.rollback()
            self._graph.let_go()

    def close(self) -> None:
        """Roll back, unless committed."""
        self.rollback()

    def __del__(self) -> None:
        """A transaction that was left open must not keep others out."""
        graph = getattr(self, "_graph", None)  # it may not have begun
        if graph is not None and graph.is_open:
            graph.abandon()

    def _cut_off(self) -> None:
        """The database was closed beneath it."""
        self._is_cut_off = self._graph.is_open
        self.rollback()

    def __enter__(self) -> Transaction:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        is_unfinished = self._graph.is_open or self._graph.is_lost or self._is_cut_off
        if kind is None and is_unfinished and not self._failed:
            self.commit()
        else:
            self.rollback()
