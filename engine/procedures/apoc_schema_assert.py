"""apoc.schema.assert: create the wanted indexes and constraints, and drop the others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.apoc_nodes import writer_of
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure, schema_change_failed
from hoplite.errors import CypherError
from hoplite.storage.schema import Constraint, Entity, Index, IndexKind

_NAME = "apoc.schema.assert"
_Wanted = dict[str, list[Any]]


@cypher_procedure(
    "apoc.schema.assert(indexes :: MAP, constraints :: MAP, dropExisting = true :: BOOLEAN) :: (label :: ANY, key :: "
    "STRING, keys :: LIST<STRING>, unique :: BOOLEAN, action :: STRING)",
    mode="SCHEMA",
    description="Creates the given indexes and uniqueness constraints; drops others unless `dropExisting` is false.",
    works_on_system=False,
)
def schema_assert(
    context: Execution, indexes: dict[str, Any] | None, constraints: dict[str, Any] | None, drops: bool | None
) -> Iterator[Row]:
    """A row for each: KEPT, DROPPED or CREATED. Indexes come first, so a constraint on the same keys is rejected.

    Several keys in a list are one index; as a constraint they would be a node key, which the community edition lacks.
    """
    if drops is None:
        message = (
            "class org.neo4j.values.storable.NoValue cannot be cast to class org.neo4j.values.storable.BooleanValue "
            "(org.neo4j.values.storable.NoValue and org.neo4j.values.storable.BooleanValue are in unnamed module of "
            "loader 'app')"
        )
        raise call_failed(_NAME, "java.lang.ClassCastException", message)
    try:
        rows = [*_indexes(context, _wanted(indexes), drops), *_constraints(context, _wanted(constraints), drops)]
    except CypherError as error:
        if (error.code or "").endswith("ProcedureCallFailed"):
            raise
        raise schema_change_failed(_NAME, error) from None
    yield from rows


def _wanted(given: dict[str, Any] | None) -> _Wanted:
    """The wanted keys by label, to be removed as they are found."""
    wanted: _Wanted = {}
    for label, keys in (given or {}).items():
        if not isinstance(keys, list):
            message = (
                "class java.lang.String cannot be cast to class java.util.List (java.lang.String and java.util.List "
                "are in module java.base of loader 'bootstrap')"
            )
            raise call_failed(_NAME, "java.lang.ClassCastException", message)
        wanted[label] = [list(key) if isinstance(key, list) else key for key in keys]
    return wanted


def _row(label: str, keys: tuple[str, ...] | list[str], unique: bool, action: str) -> Row:
    return label, keys[0] if len(keys) == 1 else None, list(keys), unique, action


def _take_out(wanted: _Wanted, label: str, keys: tuple[str, ...]) -> bool:
    """Remove these keys from the wanted ones; False if they are not among them."""
    left = wanted.get(label, [])
    sought: Any = keys[0] if len(keys) == 1 else list(keys)
    if sought not in left:
        return False
    left.remove(sought)
    return True


def _existing(context: Execution, rules: tuple[Any, ...], wanted: _Wanted, drops: bool) -> Iterator[Row]:
    writer = writer_of(context)
    for rule in rules:
        (label,) = rule.labels
        is_constraint = isinstance(rule, Constraint)
        kept = _take_out(wanted, label, rule.keys) or not drops
        if not kept:
            (writer.drop_constraint if is_constraint else writer.drop_index)(rule.name)
        yield _row(label, rule.keys, is_constraint, "KEPT" if kept else "DROPPED")


def _indexes(context: Execution, wanted: _Wanted, drops: bool) -> Iterator[Row]:
    def is_own(index: Index) -> bool:
        # lookup indexes have no label, full-text indexes may have several
        return index.owning_constraint is None and len(index.labels) == 1

    writer = writer_of(context)
    yield from _existing(context, tuple(filter(is_own, writer.schema.indexes)), wanted, drops)
    for label, entries in wanted.items():
        for entry in entries:
            keys = [entry] if isinstance(entry, str) else entry
            if isinstance(keys, list):
                writer.create_index(None, IndexKind.RANGE, Entity.NODE, (label,), tuple(keys))
                yield _row(label, keys, False, "CREATED")


def _constraints(context: Execution, wanted: _Wanted, drops: bool) -> Iterator[Row]:
    writer = writer_of(context)
    yield from _existing(context, writer.schema.constraints, wanted, drops)
    for label, entries in wanted.items():
        for entry in entries:
            if isinstance(entry, list):
                properties = ", ".join(entry)
                java_class = "org.neo4j.internal.kernel.api.exceptions.schema.CreateConstraintFailureException"
                message = (
                    f"Unable to create constraint Constraint( type='NODE KEY', schema=(:{label} {{{properties}}}) ): "
                    "Node Key constraint requires Neo4j Enterprise Edition"
                )
                raise call_failed(_NAME, java_class, message)
            if isinstance(entry, str):
                writer.create_constraint(None, Entity.NODE, label, (entry,))
                yield _row(label, [entry], True, "CREATED")
