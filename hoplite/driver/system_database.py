"""The `system` database, as far as an embedded database has one: only SHOW and CALL are allowed."""

from __future__ import annotations

from hoplite.api.database import Database
from hoplite.engine.procedures.registry import PROCEDURES
from hoplite.errors import CypherError, semantic_error
from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.grammar.parse import parse
from hoplite.grammar.statement import JoinedShows, Show
from hoplite.planner.check.clauses import clause_name

SYSTEM = "system"


def open_system() -> Database:
    """An empty database, for the statements that are not refused: none of them writes."""
    database = Database()
    database._is_system = True
    return database


def refusal(text: str) -> CypherError | None:
    """Why a statement cannot run on the system database; None if it can."""
    match parse(text).body:
        case Show() | JoinedShows():
            return None
        case ast.SingleQuery(
            clauses=(ast.CallProcedure(name=name),) | (ast.CallProcedure(name=name), ast.ReturnClause())
        ):
            procedure = PROCEDURES.get(name)
            return None if procedure is None or procedure.works_on_system else _not_recognised(text)
        case ast.SingleQuery(clauses=clauses) if unsupported := _unsupported(clauses):
            return semantic_error(
                f"The following unsupported clauses were used: {unsupported}. \nThe system database supports a "
                "restricted set of Cypher clauses. The supported clause structure for procedure calls is: CALL, YIELD, "
                "RETURN. YIELD and RETURN clauses are optional. The order of the clauses is fixed and each can only "
                "occur once.",
                because("42N17", unsupported),
            )
        case _:
            return _not_recognised(text)


def _not_recognised(text: str) -> CypherError:
    return semantic_error(
        "Not a recognised system command or procedure. This Cypher command can only be executed in a user database: "
        f"{text}",
        because("42N17", text),
    )


def _unsupported(clauses: tuple[ast.Clause, ...]) -> str:
    """The names of clauses that are not allowed there: `MATCH, SET`."""
    allowed = (ast.CallProcedure, ast.ReturnClause, ast.UseClause)
    return ", ".join(sorted(clause_name(clause) for clause in clauses if not isinstance(clause, allowed)))
