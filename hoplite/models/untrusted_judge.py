"""Whether an untrusted statement may run: judged by its syntax tree and its plan, before anything happens.

The same judge decides about statements that are values (`apoc.cypher.run` and its kin), when they are about to run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

from hoplite.engine.catalogue import GraphCatalogue
from hoplite.engine.functions.registry import AGGREGATES, FUNCTIONS, Function
from hoplite.engine.prepare import Prepared
from hoplite.engine.procedures.registry import PROCEDURES, Procedure
from hoplite.errors import CypherError, Refused
from hoplite.grammar import ast
from hoplite.grammar.lenient import relaxed
from hoplite.grammar.limits import TextLimits
from hoplite.grammar.parse import parse
from hoplite.grammar.statement import Show
from hoplite.grammar.tree import walk
from hoplite.models.untrusted_estimate import largest_estimate
from hoplite.planner import physical as pp
from hoplite.planner.cost import Estimates
from hoplite.planner.plan_tree import every_operator, is_writing
from hoplite.storage.snapshot import Snapshot

FORBIDDEN = "Neo.ClientError.Security.Forbidden"
BEYOND_LIMITS = "Neo.ClientError.Statement.ResultLimitExceeded"

_WRITING: Mapping[type, str] = {
    ast.CreateClause: "create",
    ast.MergeClause: "merge",
    ast.SetClause: "set",
    ast.RemoveClause: "remove",
    ast.DeleteClause: "delete",
}
WRITE_KINDS = tuple(_WRITING.values())
# Their purpose is to read and write files, and they would find no folder for it.
_FILES = ("apoc.load.*", "apoc.export.*", "apoc.import.*")
# They begin and end work that outlives the statement, and with it all bounds.
_JOBS = tuple(f"apoc.periodic.{name}" for name in ("submit", "repeat", "countdown", "cancel", "truncate"))
_SHOWN = ("INDEXES", "CONSTRAINTS", "FUNCTIONS", "PROCEDURES")


@dataclass(frozen=True, slots=True)
class Policy:
    """What untrusted statements may do. `procedures` and `functions` are patterns of names; None means those of Hoplite
    that only read."""

    writes: frozenset[str] = frozenset()
    procedures: tuple[str, ...] | None = None
    functions: tuple[str, ...] | None = None
    estimated_rows: float | None = None

    @staticmethod
    def of(
        writes: Iterable[str],
        procedures: Iterable[str] | None,
        functions: Iterable[str] | None,
        estimated_rows: float | None,
    ) -> Policy:
        """The policy of these settings, checked."""
        kinds = frozenset((writes,) if isinstance(writes, str) else writes)
        if unknown := sorted(kinds.difference(WRITE_KINDS)):
            raise ValueError(f"{unknown[0]!r} is not a kind of write; the kinds are {', '.join(WRITE_KINDS)}.")
        return Policy(kinds, _patterns(procedures), _patterns(functions), estimated_rows)

    @property
    def writes_everything(self) -> bool:
        """Whether every kind of write is allowed."""
        return self.writes == frozenset(WRITE_KINDS)


def _patterns(names: Iterable[str] | None) -> tuple[str, ...] | None:
    if names is None:
        return None
    return tuple(name.lower() for name in ((names,) if isinstance(names, str) else names))


def _allows(patterns: Iterable[str], name: str) -> bool:
    return any(fnmatchcase(name.lower(), pattern) for pattern in patterns)


class Judge:
    """Raises if a statement may not run."""

    def __init__(
        self,
        policy: Policy,
        functions: Mapping[str, Function],
        procedures: Mapping[str, Procedure],
        limits: TextLimits,
        lenient: bool,
    ) -> None:
        self.policy = policy
        self._functions = functions
        self._procedures = procedures
        self._limits = limits
        self._lenient = lenient
        self.saw_random = False  # whether a statement answers differently each time

    def __call__(self, prepared: Prepared, graph: Snapshot, parameters: Mapping[str, Any]) -> None:
        """Judge a statement that is prepared but has not started."""
        self._judge_text(prepared.text)
        if prepared.plan is None:
            return
        self._judge_plan(prepared.plan)
        if prepared.writes and not self.policy.writes:
            raise _forbidden("A statement that writes is not allowed here.")
        most = self.policy.estimated_rows
        if most is not None and prepared.mode != "EXPLAIN":
            estimates = Estimates(GraphCatalogue(graph, self._functions, self._procedures))
            rows, operator = largest_estimate(prepared.plan, estimates, parameters)
            if rows > most:
                raise Refused(
                    BEYOND_LIMITS,
                    f"The statement was not run: about {_rounded(rows)} rows are expected at {operator}, and "
                    f"{_rounded(most)} are allowed. Add conditions, labels or a LIMIT, or connect the patterns.",
                )

    # --- the text ----------------------------------------------------------------------------------------------

    def _judge_text(self, text: str) -> None:
        try:
            statement = parse(text, limits=self._limits)
        except CypherError:
            if not self._lenient:
                raise
            statement = parse(relaxed(text)[0], limits=self._limits)
        match statement.body:
            case ast.SingleQuery() | ast.Union():
                pass
            case Show(kind=kind) if kind in _SHOWN:
                pass
            case _:
                raise _forbidden("Commands for schema and administration are not allowed here.")
        for node in walk(statement.body):
            self._judge_node(node)

    def _judge_node(self, node: Any) -> None:
        kind = _WRITING.get(type(node))
        if kind is not None and kind not in self.policy.writes:
            raise _forbidden(f"{kind.upper()} is not allowed here.")
        match node:
            case ast.LoadCsvClause():
                raise _forbidden("LOAD CSV is not allowed here: statements may not read files or reach the network.")
            case ast.CallSubquery(in_transactions=ast.InTransactions()) if not self.policy.writes_everything:
                raise _forbidden("CALL { ... } IN TRANSACTIONS is not allowed here.")
            case ast.CallProcedure(name=name):
                self._judge_procedure(name)
            case ast.FunctionCall(name=name):
                self._judge_function(name)

    def _judge_function(self, name: str) -> None:
        folded = name.lower()
        function = self._functions.get(folded)
        self.saw_random |= function is not None and not function.signature.deterministic
        allowed = self.policy.functions
        if allowed is None:
            is_ours = folded in AGGREGATES or function is FUNCTIONS.get(folded)
        else:
            is_ours = _allows(allowed, folded)
        if not is_ours:
            raise _forbidden(f"The function {name} is not allowed here.")

    def _judge_procedure(self, name: str) -> None:
        if _allows(_FILES, name):
            raise _forbidden(f"{name} is not allowed here: statements may not read files or reach the network.")
        if _allows(_JOBS, name):
            raise _forbidden(f"{name} is not allowed here: statements may not run in the background.")
        procedure = self._procedures.get(name)
        if procedure is None:
            return  # the check reports that it does not exist
        if procedure.opens_files:
            raise _forbidden(f"The procedure {name} is not allowed here: statements may not open files.")
        mode = procedure.signature.mode
        allowed = self.policy.procedures
        if allowed is None:
            reads = mode in ("READ", "DEFAULT") or (mode == "WRITE" and self.policy.writes_everything)
            is_allowed = reads and not procedure.admin and procedure is PROCEDURES.get(name)
        else:
            is_allowed = _allows(allowed, name) and (mode != "WRITE" or self.policy.writes_everything)
        if not is_allowed:
            raise _forbidden(f"The procedure {name} is not allowed here.")

    # --- the plan ----------------------------------------------------------------------------------------------

    def _judge_plan(self, plan: pp.Plan) -> None:
        """The same rules again, applied to what would run."""
        for node in every_operator(plan):
            if is_writing(node) and not self.policy.writes:
                raise _forbidden("A statement that writes is not allowed here.")
            if isinstance(node, pp.LoadCsv):
                raise _forbidden("Statements may not read files or reach the network.")
            if isinstance(node, pp.CallProcedure):
                self._judge_procedure(node.procedure)


def _forbidden(message: str) -> Refused:
    return Refused(FORBIDDEN, message)


def _rounded(rows: float) -> str:
    return f"{rows:,.0f}" if rows < 1e9 else f"{rows:.0e}"
