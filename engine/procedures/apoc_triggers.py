"""apoc.trigger.*: there as on a server, which refuses every call unless its configuration enables triggers."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure

_TRIGGER = "(name :: STRING, query :: STRING, selector :: MAP, params :: MAP, installed :: BOOLEAN, paused :: BOOLEAN)"
_NOT_ENABLED = (
    "Triggers have not been enabled. Set 'apoc.trigger.enabled=true' in your apoc.conf file located in the "
    "$NEO4J_HOME/conf/ directory."
)
_STATEMENT = "name :: STRING, statement :: STRING, selector :: MAP, config = {} :: MAP"


def _refusing(procedure: str) -> Callable[..., Iterator[Row]]:
    def call(context: Execution, *arguments: Any) -> Iterator[Row]:
        raise call_failed(procedure, "java.lang.RuntimeException", _NOT_ENABLED)

    return call


def _trigger(
    name: str, arguments: str, description: str, mode: str = "WRITE", deprecated_by: str | None = None
) -> None:
    """Register a procedure; those with the name of a database as their first argument run on `system`, too."""
    cypher_procedure(
        f"apoc.trigger.{name}({arguments}) :: {_TRIGGER}",
        mode=mode,
        description=description,
        works_on_system=arguments.startswith("databaseName"),
        admin=True,
        deprecated_by=None if deprecated_by is None else f"apoc.trigger.{deprecated_by}",
    )(_refusing(f"apoc.trigger.{name}"))


_trigger(
    "add",
    _STATEMENT,
    "Adds a trigger to the given Cypher statement.\n"
    "The selector for this procedure is {phase:'before/after/rollback/afterAsync'}.",
    deprecated_by="install",
)
_trigger("remove", "name :: STRING", "Removes the given trigger.", deprecated_by="drop")
_trigger("removeAll", "", "Removes all previously added triggers.", deprecated_by="dropAll")
_trigger("pause", "name :: STRING", "Pauses the given trigger.", deprecated_by="stop")
_trigger("resume", "name :: STRING", "Resumes the given paused trigger.", deprecated_by="start")
_trigger("list", "", "Lists all currently installed triggers for the session database.", mode="READ")
_trigger(
    "install",
    f"databaseName :: STRING, {_STATEMENT}",
    "Eventually adds a trigger for a given database which is invoked when a successful transaction occurs.",
)
_trigger("drop", "databaseName :: STRING, name :: STRING", "Eventually removes the given trigger.")
_trigger("dropAll", "databaseName :: STRING", "Eventually removes all triggers from the given database.")
_trigger("stop", "databaseName :: STRING, name :: STRING", "Eventually stops the given trigger.")
_trigger("start", "databaseName :: STRING, name :: STRING", "Eventually restarts the given paused trigger.")
_trigger("show", "databaseName :: STRING", "Lists all eventually installed triggers for a database.", mode="READ")
