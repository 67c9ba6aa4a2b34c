"""The rows of SHOW: what a database says about itself."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from hoplite.engine.batch import Batch
from hoplite.engine.context import Execution
from hoplite.engine.functions.show import function_rows
from hoplite.engine.operators.base import Evaluator, Operator, column_of, evaluate
from hoplite.engine.procedures.show import procedure_rows
from hoplite.errors import SEMANTIC_ERROR, CypherError, type_error
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.schema import Constraint, Entity, Index, IndexKind
from hoplite.values.calendar import NANOS_PER_SECOND
from hoplite.values.render import describe
from hoplite.values.temporal import Duration

Rows = list[dict[str, Any]]


@dataclass(slots=True, eq=False)
class Show(Operator):
    """One kind of SHOW."""

    source: Operator
    kind: str
    qualifier: str | None
    names: tuple[Evaluator, ...]
    outputs: tuple[tuple[str, str], ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """All rows for one row of the source in one batch."""
        for incoming in self.source.run(context, argument):
            batch, columns, error = evaluate(incoming, self.names, context)
            values = [column.objects() for column in columns]
            for row in range(batch.row_count):
                context.check_time()
                shown = self._shown(context, [value[row] for value in values])
                new = {name: column_of([record.get(column) for record in shown]) for column, name in self.outputs}
                yield batch.take(np.full(len(shown), row, np.int64)).with_columns(new)
            if error is not None:
                raise error

    def _shown(self, context: Execution, names: list[Any]) -> Rows:
        wanted = self._wanted(names)
        if self.kind == "TERMINATE TRANSACTIONS":
            return [_terminated(name) for name in wanted or ()]
        rows = _KINDS[self.kind](context, self.qualifier)
        if wanted is None:
            return rows
        return [row for row in rows if row.get("name", row.get("transactionId")) in wanted]

    def _wanted(self, names: list[Any]) -> set[Any] | None:
        if not names:
            return None
        wanted: set[Any] = set()
        for value in names:
            if self.kind == "DATABASES":
                wanted.add(_database_name(value))
                continue
            if not _names_something(value):
                raise type_error(f"Expected a string or a list of strings, but got: {describe(value)}")
            wanted.update(value if isinstance(value, list) else [value])
        if not wanted and self.kind == "TERMINATE TRANSACTIONS":
            message = "Missing transaction id to terminate, the transaction id can be found using `SHOW TRANSACTIONS`."
            raise CypherError(SEMANTIC_ERROR, message)
        return wanted


def _database_name(value: object) -> str:
    if not isinstance(value, str):
        raise type_error(f"Expected the name of a database to have type String but was {describe(value)}")
    return value.lower()


def _names_something(value: object) -> bool:
    return isinstance(value, str) or (isinstance(value, list) and all(isinstance(item, str) for item in value))


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _pattern(entity: Entity, labels: tuple[str, ...]) -> tuple[str, str]:
    """`(n:`Person`)` and the variable in it."""
    shown = "|".join(_quoted(label) for label in labels)
    return (f"(n:{shown})", "n") if entity is Entity.NODE else (f"()-[r:{shown}]-()", "r")


def _config_text(config: Any) -> str:
    shown = []
    for key in sorted(config):
        value = config[key]
        text = str(value).lower() if isinstance(value, bool) else f"'{value}'" if isinstance(value, str) else str(value)
        shown.append(f"{_quoted(key)}: {text}")
    return ",".join(shown)


def _index_statement(index: Index) -> str:
    name = _quoted(index.name)
    pattern, variable = _pattern(index.entity, index.labels)
    keys = ", ".join(f"{variable}.{_quoted(key)}" for key in index.keys)
    match index.kind:
        case IndexKind.LOOKUP:
            if index.entity is Entity.NODE:
                return f"CREATE LOOKUP INDEX {name} FOR (n) ON EACH labels(n)"
            return f"CREATE LOOKUP INDEX {name} FOR ()-[r]-() ON EACH type(r)"
        case IndexKind.FULLTEXT:
            options = f" OPTIONS {{indexConfig: {{{_config_text(index.config)}}}}}"
            return f"CREATE FULLTEXT INDEX {name} FOR {pattern} ON EACH [{keys}]{options}"
        case IndexKind.POINT | IndexKind.VECTOR:
            options = f" OPTIONS {{indexConfig: {{{_config_text(index.config)}}}}}"
            return f"CREATE {index.kind.value} INDEX {name} FOR {pattern} ON ({keys}){options}"
        case _:
            return f"CREATE {index.kind.value} INDEX {name} FOR {pattern} ON ({keys})"


def _constraint_statement(constraint: Constraint) -> str:
    pattern, variable = _pattern(constraint.entity, constraint.labels)
    keys = ", ".join(f"{variable}.{_quoted(key)}" for key in constraint.keys)
    return f"CREATE CONSTRAINT {_quoted(constraint.name)} FOR {pattern} REQUIRE ({keys}) IS UNIQUE"


def _indexes(context: Execution, qualifier: str | None) -> Rows:
    return [
        {
            "id": index.id,
            "name": index.name,
            "state": "ONLINE",
            "populationPercent": 100.0,
            "type": index.kind.value,
            "entityType": index.entity.value,
            "labelsOrTypes": list(index.labels) or None,
            "properties": list(index.keys) or None,
            "indexProvider": index.provider,
            "owningConstraint": index.owning_constraint,
            "lastRead": None,
            "readCount": None,
            "trackedSince": None,
            "options": {"indexConfig": dict(index.config), "indexProvider": index.provider},
            "failureMessage": "",
            "createStatement": _constraint_of(context, index) or _index_statement(index),
        }
        for index in sorted(context.graph.schema.indexes, key=lambda index: index.name)
        if qualifier in (None, "ALL", index.kind.value)
    ]


def _constraint_of(context: Execution, index: Index) -> str | None:
    if index.owning_constraint is None:
        return None
    constraint = context.graph.schema.constraint(index.owning_constraint)
    return None if constraint is None else _constraint_statement(constraint)


_CONSTRAINT_KINDS = {
    "NODE_UNIQUE": ("UNIQUE", "UNIQUENESS", "NODE UNIQUE", "NODE UNIQUENESS", "ALL"),
    "RELATIONSHIP_UNIQUE": (
        "UNIQUE",
        "UNIQUENESS",
        "RELATIONSHIP UNIQUE",
        "RELATIONSHIP UNIQUENESS",
        "REL UNIQUE",
        "REL UNIQUENESS",
        "ALL",
    ),
}


def _constraints(context: Execution, qualifier: str | None) -> Rows:
    schema = context.graph.schema
    return [
        {
            "id": constraint.id,
            "name": constraint.name,
            "type": constraint.kind.value,
            "entityType": constraint.entity.value,
            "labelsOrTypes": list(constraint.labels),
            "properties": list(constraint.keys),
            "ownedIndex": constraint.name,
            "propertyType": None,
            "options": {"indexConfig": {}, "indexProvider": "range-1.0"},
            "createStatement": _constraint_statement(constraint),
        }
        for constraint in sorted(schema.constraints, key=lambda constraint: constraint.name)
        if qualifier is None or qualifier in _CONSTRAINT_KINDS[constraint.kind.name]
    ]


def _functions(context: Execution, qualifier: str | None) -> Rows:
    rows = function_rows(context.functions)
    if qualifier is None or qualifier.startswith(("ALL", "EXECUTABLE")):
        return rows
    return [row for row in rows if row["isBuiltIn"] == qualifier.startswith("BUILT IN")]


def _procedures(context: Execution, _: str | None) -> Rows:
    return procedure_rows(context.procedures)


def _databases(context: Execution, which: str | None) -> Rows:
    shared: dict[str, Any] = {
        "type": "standard",
        "aliases": [],
        "access": "read-write",
        "address": "localhost:7687",
        "role": "primary",
        "writer": True,
        "requestedStatus": "online",
        "currentStatus": "online",
        "statusMessage": "",
        "constituents": [],
        "currentPrimariesCount": 1,
        "currentSecondariesCount": 0,
        "replicationLag": 0,
        "options": {},
    }
    user_database = {"name": "neo4j", "default": True, "home": True, **shared}
    if which is not None:  # DEFAULT or HOME
        return [user_database]
    return [user_database, {"name": "system", "default": False, "home": False, **shared, "type": "system"}]


def _users(context: Execution, _: str | None) -> Rows:
    return []  # whoever opens the database may do everything


def _settings(context: Execution, _: str | None) -> Rows:
    return []  # an embedded database takes its settings from hoplite.open(), not from a server's configuration


def _transactions(context: Execution, _: str | None) -> Rows:
    """Only the current transaction: others belong to other threads."""
    began = context.transaction_time
    passed = max(time.time_ns() - began.epoch_second * NANOS_PER_SECOND - began.nanosecond, 0)
    elapsed = Duration(seconds=passed // NANOS_PER_SECOND, nanoseconds=passed % NANOS_PER_SECOND)
    clock = str(began.local)[:23].ljust(23, "0") + "Z"
    nothing = Duration()
    return [
        {
            "database": "neo4j",
            "transactionId": "neo4j-transaction-1",
            "currentQueryId": "query-1",
            "outerTransactionId": "",
            "connectionId": "",
            "clientAddress": "",
            "username": "",
            "metaData": {},
            "parameters": dict(context.parameters),
            "indexes": [],
            "startTime": clock,
            "currentQueryStartTime": clock,
            "status": "Running",
            "currentQueryStatus": "running",
            "statusDetails": "",
            "resourceInformation": {},
            "activeLockCount": 0,
            "currentQueryActiveLockCount": 0,
            "elapsedTime": elapsed,
            "waitTime": nothing,
            "currentQueryElapsedTime": elapsed,
            "currentQueryWaitTime": nothing,
            "initializationStackTrace": "",
        }
    ]


def _terminated(name: Any) -> dict[str, Any]:
    if not re.fullmatch(r"[^ ]+-transaction-[0-9]+", name):
        raise CypherError(
            "Neo.ClientError.General.InvalidArguments",
            "Could not parse id (expected format: <databasename>-transaction-<id>)",
        )
    return {"transactionId": name, "username": None, "message": "Transaction not found."}


_KINDS: dict[str, Callable[[Execution, str | None], Rows]] = {
    "INDEXES": _indexes,
    "CONSTRAINTS": _constraints,
    "FUNCTIONS": _functions,
    "PROCEDURES": _procedures,
    "DATABASES": _databases,
    "SETTINGS": _settings,
    "USERS": _users,
    "TRANSACTIONS": _transactions,
}
