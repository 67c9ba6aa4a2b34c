"""Errors: what every stage raises, and how it becomes an exception of the official driver.

Inside the engine there is one light exception, `CypherError`, which has Neo4j's code, the whole message and the GQL
status with its causes (`hoplite/gql_status.py`), and does not need the driver. The public API calls `to_driver_error`
on the way out, so that callers catch what they would catch from a server:

    Exception
    ├── CypherError                          inside the engine
    │   └── UnsupportedCypher                Cypher we know of and do not run (Neo4j may)
    └── neo4j.exceptions.Neo4jError          outside, by code
        ├── ClientError                      Neo.ClientError.*
        │   ├── CypherSyntaxError            ....Statement.SyntaxError
        │   ├── CypherTypeError              ....Statement.TypeError
        │   ├── ConstraintError              ....Schema.ConstraintValidationFailed
        │   └── AuthError, Forbidden ...
        ├── DatabaseError                    Neo.DatabaseError.*
        └── TransientError                   Neo.TransientError.*

Compile-time errors point into the query: `syntax_error(message, text, offset)` appends the line, the
column, the offset, the source line and a caret, as Neo4j does. Run-time errors have no position.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from hoplite.gql_status import UNCLASSIFIED, UNPLACED, GqlStatus, diagnostic_record, status
from hoplite.lazy_dataclass import dataclass

if TYPE_CHECKING:
    from neo4j.exceptions import Neo4jError

SYNTAX_ERROR = "Neo.ClientError.Statement.SyntaxError"
TYPE_ERROR = "Neo.ClientError.Statement.TypeError"
SEMANTIC_ERROR = "Neo.ClientError.Statement.SemanticError"
ARITHMETIC_ERROR = "Neo.ClientError.Statement.ArithmeticError"
ARGUMENT_ERROR = "Neo.ClientError.Statement.ArgumentError"
PARAMETER_MISSING = "Neo.ClientError.Statement.ParameterMissing"
ENTITY_NOT_FOUND = "Neo.ClientError.Statement.EntityNotFound"
ACCESS_MODE = "Neo.ClientError.Statement.AccessMode"
EXTERNAL_RESOURCE_FAILED = "Neo.ClientError.Statement.ExternalResourceFailed"
UNSUPPORTED_ADMINISTRATION = "Neo.ClientError.Statement.UnsupportedAdministrationCommand"
CONSTRAINT_VALIDATION_FAILED = "Neo.ClientError.Schema.ConstraintValidationFailed"
TOKEN_NAME_ERROR = "Neo.ClientError.Schema.TokenNameError"
PROCEDURE_NOT_FOUND = "Neo.ClientError.Procedure.ProcedureNotFound"
PROCEDURE_CALL_FAILED = "Neo.ClientError.Procedure.ProcedureCallFailed"
DATABASE_NOT_FOUND = "Neo.ClientError.Database.DatabaseNotFound"
TRANSACTION_TERMINATED = "Neo.ClientError.Transaction.TransactionTerminated"
TRANSACTION_TIMED_OUT = "Neo.ClientError.Transaction.TransactionTimedOutClientConfiguration"
EXECUTION_FAILED = "Neo.DatabaseError.Statement.ExecutionFailed"
OUT_OF_MEMORY = "Neo.TransientError.General.MemoryPoolOutOfMemoryError"


@dataclass(frozen=True, slots=True)
class Position:
    """A position in the query text; lines and columns are counted from one, the offset from zero."""

    line: int
    column: int
    offset: int


class CypherError(Exception):
    """An error with Neo4j's code and message, raised anywhere between grammar and engine.

    `hints` are sentences about what may have been meant, which Neo4j does not have.
    """

    hints: Sequence[str] = ()

    def __init__(
        self,
        code: str,
        message: str,
        gql_status: GqlStatus = UNCLASSIFIED,
        position: Position | None = None,
    ) -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.gql_status = gql_status
        self.position = position

    def __reduce__(
        self,
    ) -> tuple[type[CypherError], tuple[str, str, GqlStatus, Position | None]]:
        return type(self), (self.code, self.message, self.gql_status, self.position)


class Refused(CypherError):
    """A statement may not run, whatever it would do."""


class UnsupportedCypher(CypherError):
    """Cypher that parses but is not supported; the message names the feature."""


def unsupported(feature: str) -> UnsupportedCypher:
    """The error for a feature that this engine does not have."""
    return UnsupportedCypher(SEMANTIC_ERROR, f"Hoplite does not support {feature}.")


def cypher_error(code: str, message: str, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
    """An error with any of Neo4j's codes, without a position."""
    return CypherError(code, message, gql_status)


def nested_too_deeply() -> CypherError:
    """The error for a statement whose expressions or clauses exceed the interpreter's stack."""
    return CypherError(
        SYNTAX_ERROR, "The statement is nested too deeply. Split it, or use lists and parameters.", status("42001")
    )


def out_of_memory() -> CypherError:
    """The error for a statement that needs more memory than there is."""
    return CypherError(OUT_OF_MEMORY, "There is not enough memory to perform the current task.")


def memory_limit_reached(extra: int, limit: int, held: int) -> CypherError:
    """A statement that would hold more memory than it may."""
    sizes = [f"{size / (1 << 20):.1f} MiB" for size in (extra, limit, held)]
    return CypherError(
        OUT_OF_MEMORY,
        f"The allocation of an extra {sizes[0]} would use more than the limit {sizes[1]}. Currently using {sizes[2]}.",
    )


def lost_at_fork(what: str) -> CypherError:
    """A transaction or load that a forked process inherited."""
    return CypherError(
        TRANSACTION_TERMINATED,
        f"The {what} was open when this process was forked, and belongs to the parent process. Begin a new one here.",
    )


def waits_for_itself(seconds: float, doing: str) -> CypherError:
    """A thread wants to write while it is itself the one writer."""
    latest = " ".join(doing.split())
    shown = f"; its latest statement is {latest[:80]}{'...' if len(latest) > 80 else ''}" if latest else ""
    return CypherError(
        "Neo.ClientError.Transaction.TransactionAccessedConcurrently",
        f"This thread has a transaction open that began to write {seconds:.1f} s ago{shown}. "
        "Only one can write at a time, so this statement would wait for it forever. "
        "Commit or roll back the transaction first, or run the statement in it.",
    )


# --- errors that point into the text ------------------------------------------------------------


def position_of(text: str, offset: int) -> Position:
    """Line, column and offset of a character, counted like Neo4j in UTF-16 units, so that an emoji counts twice.

    >>> position_of("RETURN 1\\n+ x", 11)
    Position(line=2, column=3, offset=11)
    """
    before = text[:offset]
    line_start = before.rfind("\n") + 1
    return Position(before.count("\n") + 1, _utf16_length(before[line_start:]) + 1, _utf16_length(before))


def _utf16_length(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-16-le", "surrogatepass")) // 2


_LONGEST_LINE, _SHOWN_BEFORE = 20_000, 100


def with_position(message: str, text: str, offset: int) -> str:
    """`message` followed by the position, the line of the text and a caret under the column."""
    position = position_of(text, offset)
    line_start = text.rfind("\n", 0, offset) + 1
    line_end = text.find("\n", offset)
    place = f"line {position.line}, column {position.column} (offset: {position.offset})"
    line_end = len(text) if line_end < 0 else line_end
    if line_end - line_start > _LONGEST_LINE:  # a line of megabytes is no help: show what is around the position
        first = max(line_start, offset - _SHOWN_BEFORE)
        part = text[first : offset + _SHOWN_BEFORE]
        return f'{message} ({place})\n"{part}"\n{" " * (offset - first + 1)}^'
    source_line = text[line_start:line_end].rstrip()
    return f'{message} ({place})\n"{source_line}"\n{" " * position.column}^'


def error_at(code: str, message: str, text: str, offset: int, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
    """An error of any code that points at a character of the query text."""
    offset = min(offset, len(text))
    return CypherError(code, with_position(message, text, offset), gql_status, position_of(text, offset))


def syntax_error(message: str, text: str, offset: int, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
    """A compile-time error that points at a character of the query text."""
    return error_at(SYNTAX_ERROR, message, text, offset, gql_status)


# --- errors without a position ------------------------------------------------------------------


def type_error(message: str, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
    """A value of the wrong type, found at run time."""
    return CypherError(TYPE_ERROR, message, gql_status)


def semantic_error(message: str, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
    """A statement that makes no sense (a bad regular expression, MERGE on null)."""
    return CypherError(SEMANTIC_ERROR, message, gql_status)


def arithmetic_error(message: str, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
    """`/ by zero` and `long overflow`."""
    return CypherError(ARITHMETIC_ERROR, message, gql_status)


def argument_error(message: str, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
    """A value of the right type that a function or clause does not accept."""
    return CypherError(ARGUMENT_ERROR, message, gql_status)


def parameter_missing(names: list[str]) -> CypherError:
    """`Expected parameter(s): a, b`"""
    return CypherError(PARAMETER_MISSING, f"Expected parameter(s): {', '.join(names)}")


def token_name_error(name: str) -> CypherError:
    """An invalid label, type or property key."""
    return CypherError(TOKEN_NAME_ERROR, invalid_token_name(f"'{name}'"))


def invalid_token_name(shown: str) -> str:
    """The message about such a name, before or while the query runs."""
    return f"{shown} is not a valid token name. Token names cannot be empty or contain any null-bytes."


def entity_not_found(message: str) -> CypherError:
    """A node or relationship that this transaction has deleted."""
    return CypherError(ENTITY_NOT_FOUND, message)


def access_mode(database: str = "neo4j") -> CypherError:
    """A write where only reads are allowed."""
    return CypherError(
        ACCESS_MODE,
        f"Writing in read access mode not allowed. Attempted write to {database}",
    )


def mixed_transaction(asked: str, before: str, text: str) -> CypherError:
    """A transaction changes either data or the schema; `asked` and `before` name what it does and did."""
    return CypherError(
        "Neo.ClientError.Transaction.ForbiddenDueToTransactionType",
        f"Tried to execute {asked} after executing {before}",
        status("25N01", text),
    )


_TERMINATED = (
    "The transaction has been terminated. Retry your operation in a new transaction, and you should see a successful "
    "result. "
)


def transaction_terminated() -> CypherError:
    """A statement that was stopped."""
    return CypherError(TRANSACTION_TERMINATED, f"{_TERMINATED}Explicitly terminated by the user. ")


def transaction_timed_out() -> CypherError:
    """A transaction that exceeded its timeout."""
    return CypherError(
        TRANSACTION_TIMED_OUT,
        f"{_TERMINATED}The transaction has not completed within the timeout specified at its start by the client. You "
        "may want to retry with a longer timeout. ",
    )


def constraint_violation(message: str) -> CypherError:
    """Data that a constraint forbids, or a deleted node that still has relationships."""
    return CypherError(CONSTRAINT_VALIDATION_FAILED, message)


def execution_failed(message: str) -> CypherError:
    """What Java throws from inside Neo4j's runtime."""
    return CypherError(EXECUTION_FAILED, message, status("50N00", "CypherExecution", message))


# --- the way out --------------------------------------------------------------------------------


def to_driver_error(error: CypherError) -> Neo4jError:
    """The driver's exception for an error: its class follows from the code."""
    from neo4j.exceptions import Neo4jError

    unplaced = error.position is None or error.gql_status.code in UNPLACED
    position = None if unplaced or error.position is None else asdict(error.position)
    metadata = _metadata(error.gql_status, position)
    # The error's own message is in Neo4j's older words; its causes have the sentences of their statuses.
    metadata.update(message=error.message, neo4j_code=error.code)
    driver_error: Neo4jError = Neo4jError._hydrate_gql(**metadata)
    driver_error.hints = error.hints  # type: ignore[attr-defined]
    return driver_error


def _metadata(link: GqlStatus, position: dict[str, int] | None) -> dict[str, Any]:
    """A status as a server sends it, with its causes."""
    metadata: dict[str, Any] = {
        "gql_status": link.code,
        "description": link.description,
        "message": f"{link.code}: {link.sentence}" if link.sentence else link.code,
        "diagnostic_record": diagnostic_record(link, position),
    }
    if link.cause is not None:
        metadata["cause"] = _metadata(link.cause, position)
    return metadata


ENGINE_ERRORS = (CypherError, RecursionError, MemoryError)
"""What `as_driver_error` translates."""


def as_driver_error(error: CypherError | RecursionError | MemoryError) -> Exception:
    """The driver's error for one of the engine."""
    if isinstance(error, RecursionError):
        return to_driver_error(nested_too_deeply())
    return to_driver_error(out_of_memory() if isinstance(error, MemoryError) else error)


class _DriverErrors:
    """A class, not a generator, which takes three times as long."""

    __slots__ = ()

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        if isinstance(error, ENGINE_ERRORS):
            raise as_driver_error(error) from None


_DRIVER_ERRORS = _DriverErrors()


def driver_errors() -> _DriverErrors:
    """`with driver_errors():` errors of the engine leave the block as the driver's."""
    return _DRIVER_ERRORS
