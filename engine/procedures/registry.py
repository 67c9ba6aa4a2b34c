"""The table of procedures: one entry per procedure, filled by decorators, one file per family; and how they are called.

    @cypher_procedure("db.labels() :: (label :: STRING)", description="List all labels ...")
    def labels(context): yield (label,) ...

The function gets the execution and the arguments, with defaults filled in, and yields rows: tuples in the order of the
outputs, dicts by their names, or many rows at once as a batch with those columns. The CALL operator uses
`Procedure.call`. A user's procedure is an entry like any other (`table_procedure`, `user_procedure`).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from hoplite.engine import homes, never_null
from hoplite.engine.batch import Batch
from hoplite.engine.coercion import coerced
from hoplite.engine.context import Execution
from hoplite.engine.expressions.calls import as_map
from hoplite.engine.families import Families
from hoplite.engine.functions.apoc import function_failed
from hoplite.engine.functions.registry import Function
from hoplite.engine.signatures import (
    function_defaults,
    parse_function_signature,
    parse_signature,
    types_of,
)
from hoplite.errors import PROCEDURE_CALL_FAILED, TOKEN_NAME_ERROR, TYPE_ERROR, CypherError
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.types import MAP, ProcedureSignature, list_of
from hoplite.values.entities import PathValue, VirtualNode, VirtualPath, VirtualRelationship
from hoplite.values.order import equals

Row = tuple[Any, ...]
# What Java throws for errors that are not the statement's own inside of a procedure.
_THROWN = {
    TOKEN_NAME_ERROR: "org.neo4j.internal.kernel.api.exceptions.schema.IllegalTokenNameException",
    TYPE_ERROR: "org.neo4j.exceptions.CypherTypeException",
}
ProcedureFunction = Callable[..., Iterable[Any]]
Convert = Callable[[Any], Any]

_Procedure = TypeVar("_Procedure", bound=ProcedureFunction)


@dataclass(frozen=True, slots=True)
class Procedure:
    """A procedure; `signature_text` is what SHOW PROCEDURES prints."""

    signature: ProcedureSignature
    signature_text: str
    function: ProcedureFunction
    works_on_system: bool = True
    admin: bool = False
    opens_files: bool = False
    has_effects: bool = False

    def call(self, context: Execution, arguments: Sequence[Any]) -> Iterator[Mapping[str, Any] | Batch]:
        """The rows of a call, by output name, one at a time or in batches; omitted arguments get their defaults."""
        if context.services is not None and context.services.is_system and self._is_about_data:
            return  # the database `system` has none
        inputs = self.signature.inputs
        given = [_argument(value, field.type, context) for value, field in zip(arguments, inputs, strict=False)]
        given += [field.default for field in inputs[len(given) :]]
        for place in never_null.PROCEDURES.get(self.signature.name, ()):
            if given[place] is None:
                message = f'Cannot read "{inputs[place].name}" because it is null'
                raise call_failed(self.signature.name, "java.lang.NullPointerException", message)
        if self._needs_stored_entities:
            self._refuse_virtual(given)
        names = [field.name for field in self.signature.outputs]
        try:
            for row in self.function(context, *given):
                yield row if isinstance(row, Mapping | Batch) else dict(zip(names, row, strict=True))
        except CypherError as error:
            java_class = _THROWN.get(error.code or "")
            if java_class is None or self.signature.name.startswith("db."):
                raise
            raise call_failed(self.signature.name, java_class, error.message) from None
        except (ArithmeticError, AttributeError, LookupError, OSError, TypeError, ValueError, re.error) as problem:
            # Java would also throw on such arguments; exactly what is not worth imitating.
            raise call_failed(self.signature.name, "java.lang.RuntimeException", str(problem)) from problem

    @property
    def _needs_stored_entities(self) -> bool:
        """Whether it reads or changes the graph at the positions of its arguments, which virtual entities have not."""
        name = self.signature.name
        writes = name.startswith("apoc.") and self.signature.mode in ("WRITE", "SCHEMA")
        return name.startswith(_TRAVERSING) or (writes and not name.startswith(_TAKING_VIRTUAL))

    def _refuse_virtual(self, arguments: Sequence[Any]) -> None:
        for argument in arguments:
            entities = argument if isinstance(argument, list) else [argument]
            if not _VIRTUAL.isdisjoint(map(type, entities)):
                entity = next(one for one in entities if type(one) in _VIRTUAL)
                number = entity.nodes[0] if isinstance(entity, PathValue) else entity.position
                kind = "Relationship" if isinstance(entity, VirtualRelationship) else "Node"
                message = f"{kind} {number} not found"
                raise call_failed(self.signature.name, "org.neo4j.graphdb.NotFoundException", message)

    @property
    def _is_about_data(self) -> bool:
        name = self.signature.name
        return name.startswith("db.") and name not in _ABOUT_DATABASES


_VIRTUAL = {VirtualNode, VirtualRelationship, VirtualPath}
_TRAVERSING = ("apoc.path.", "apoc.algo.", "apoc.nodes.", "hop.")
_TAKING_VIRTUAL = ("apoc.atomic.", "apoc.create.relationship", "apoc.lock.")
_ABOUT_DATABASES = ("db.info", "db.ping", "db.clearQueryCaches", "db.index.fulltext.listAvailableAnalyzers")

PROCEDURES: Families[Procedure] = Families(homes.PROCEDURES)  # by name, which is case-sensitive


def cypher_procedure(
    signature: str,
    *,
    description: str,
    mode: str = "READ",
    works_on_system: bool = True,
    admin: bool = False,
    deprecated_by: str | None = None,
    warning: str | None = None,
    opens_files: bool = False,
    has_effects: bool = False,
) -> Callable[[_Procedure], _Procedure]:
    """Register the decorated function under this signature.

    `has_effects` is for effects outside the graph, of which the mode says nothing: files written, settings changed.
    """
    parsed = replace(parse_signature(signature, mode, description), deprecated_by=deprecated_by, warning=warning)

    def register(function: _Procedure) -> _Procedure:
        PROCEDURES[parsed.name] = Procedure(
            parsed, signature, function, works_on_system, admin, opens_files, has_effects
        )
        return function

    return register


# --- arguments and errors ---


def _argument(value: Any, written_type: str, context: Execution) -> Any:
    """The value as an argument of this type; an entity may stand for the map of its properties."""
    types = types_of(written_type)
    return coerced(as_map(value, context) if MAP in types or list_of(MAP) in types else value, types)


def call_failed(procedure: str, java_class: str, message: str) -> CypherError:
    """The error of a procedure that has thrown: `Failed to invoke procedure `p`: Caused by: java.lang....: message`"""
    thrown = f"{java_class}: {message}" if message else java_class
    return CypherError(PROCEDURE_CALL_FAILED, f"Failed to invoke procedure `{procedure}`: Caused by: {thrown}")


_SCHEMA_CLASSES = {"IndexAlreadyExists": "AlreadyIndexed", "ConstraintAlreadyExists": "AlreadyConstrained"}


def schema_change_failed(procedure: str, error: CypherError) -> CypherError:
    """The error of a procedure whose schema change was refused."""
    if error.code == TOKEN_NAME_ERROR:
        return error  # `Procedure.call` adds its class
    kind = (error.code or "").rpartition(".")[2]
    java_class = f"org.neo4j.kernel.api.exceptions.schema.{_SCHEMA_CLASSES.get(kind, kind)}Exception"
    return call_failed(procedure, java_class, error.message or "")


def illegal_argument(procedure: str, message: str) -> CypherError:
    """`call_failed` with an IllegalArgumentException, the most common one."""
    return call_failed(procedure, "java.lang.IllegalArgumentException", message)


# --- procedures and functions of users ---


def _same(value: Any) -> Any:
    return value


def table_procedure(
    signature: str, rows: Iterable[Mapping[str, Any]], mode: str = "READ", description: str = ""
) -> Procedure:
    """A procedure defined by a table of inputs and outputs: a call yields the rows whose inputs equal the arguments."""
    parsed = parse_signature(signature, mode, description)
    inputs = [(field.name, field.type) for field in parsed.inputs]
    outputs = [field.name for field in parsed.outputs]
    table = [({name: coerced(row.get(name), types_of(type)) for name, type in inputs}, row) for row in rows]

    def call(context: Execution, *arguments: Any) -> Iterator[Row]:
        for wanted, row in table:
            if all(map(_matches, wanted.values(), arguments)):
                yield tuple(row.get(name) for name in outputs)

    return Procedure(parsed, signature, call)


def _matches(wanted: Any, given: Any) -> bool:
    return given is None if wanted is None else equals(wanted, given) is True


def user_procedure(
    signature: str,
    function: Callable[..., Iterable[Mapping[str, Any]]],
    mode: str = "READ",
    description: str = "",
    *,
    to_user: Convert = _same,
    from_user: Convert = _same,
) -> Procedure:
    """A procedure defined by a Python function of the inputs that yields dicts of the outputs.

    `to_user` and `from_user` convert the engine's values to those that users see, and back.
    """
    parsed = parse_signature(signature, mode, description)

    def call(context: Execution, *arguments: Any) -> Iterator[Mapping[str, Any]]:
        try:
            for row in function(*map(to_user, arguments)) or ():
                yield {name: from_user(value) for name, value in row.items()}
        except CypherError:
            raise
        except Exception as problem:  # whatever a user's code raises is a failure of the call
            raise call_failed(parsed.name, type(problem).__name__, str(problem)) from problem

    return Procedure(parsed, signature, call)


def user_function(
    signature: str,
    function: Callable[..., Any],
    description: str = "",
    *,
    to_user: Convert = _same,
    from_user: Convert = _same,
    deterministic: bool = False,
) -> Function:
    """A scalar function defined by a Python function of the arguments; nulls are passed to it."""
    parsed = replace(parse_function_signature(signature, "", description), deterministic=deterministic)
    defaults = function_defaults(signature)
    count = len(parsed.arguments)

    def call(*arguments: Any) -> Any:
        missing = count - len(arguments)
        given = (*arguments, *defaults[len(defaults) - missing :]) if missing else arguments
        try:
            return from_user(function(*map(to_user, given)))
        except CypherError:
            raise
        except Exception as problem:  # whatever a user's code raises is a failure of the call
            raise function_failed(parsed.name, type(problem).__name__, str(problem)) from problem

    return Function(parsed, call, null_in_null_out=False, is_own=False)
