"""From text to an executable statement: parse, check, plan, build. Done once for a text and cached."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import field, replace
from typing import Any

from hoplite import forks
from hoplite.allowance import Allowance, allowing
from hoplite.engine.build.operators import OperatorBuilder
from hoplite.engine.catalogue import GraphCatalogue
from hoplite.engine.functions.registry import Function
from hoplite.engine.operators.base import Operator
from hoplite.engine.parameters import parameter_types
from hoplite.engine.procedures.registry import Procedure
from hoplite.errors import SYNTAX_ERROR, CypherError, position_of, unsupported
from hoplite.grammar import ast
from hoplite.grammar.constants import FEWEST_CHARACTERS
from hoplite.grammar.lenient import relaxed
from hoplite.grammar.limits import TextLimitReached, TextLimits
from hoplite.grammar.parse import parse
from hoplite.grammar.statement import Command, JoinedShows, Show
from hoplite.grammar.tree import walk
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.build import Builder
from hoplite.planner.check import check
from hoplite.planner.explain import Measurement
from hoplite.planner.notifications import Notification, relaxed_form
from hoplite.planner.options import check_options
from hoplite.planner.plan_description import plan_description
from hoplite.planner.show import plan_joined, plan_show
from hoplite.planner.standalone import with_implicit_arguments
from hoplite.planner.types import CypherType
from hoplite.planner.writes import has_writes
from hoplite.storage.snapshot import Snapshot

KEPT_PLANS = 1000
KEPT_CHARACTERS = 4_000_000  # of their texts: a text full of data makes an equally large plan


@dataclass(slots=True, eq=False)
class Prepared:
    """A statement ready to run, with all that is known about it beforehand."""

    text: str
    mode: str | None  # EXPLAIN, PROFILE
    columns: tuple[str, ...]
    query_type: str
    writes: bool
    has_effects: bool  # besides: on files, or on what a database does; it runs to its end, whatever is read of it
    notifications: tuple[Notification, ...]
    parameters: dict[str, None]  # in written order
    plan: pp.Plan | None
    operator: Operator | None
    command: Command | None

    estimates: Mapping[int, float]  # estimated rows by the identity of the operator, for EXPLAIN and PROFILE
    only_reads: bool = field(init=False)  # it runs as far as its rows are read, and does nothing else

    def __post_init__(self) -> None:
        acts = self.writes or self.has_effects or self.command is not None
        self.only_reads = bool(self.columns) and not acts and self.mode != "EXPLAIN"

    def description(self, measured: Mapping[int, Measurement] | None = None) -> dict[str, Any] | None:
        """The plan as a summary shows it, with measurements; None for a command, which has no plan."""
        return None if self.plan is None else plan_description(self.plan, self.estimates, measured)

    def as_json(self) -> str:
        """The plan in a form that can be sent elsewhere and read back."""
        from hoplite.planner.plan_json import plan_to_json

        if self.plan is None:
            raise unsupported("A command as a plan: a command has none, it runs directly")
        about = {"columns": self.columns, "parameters": tuple(self.parameters), "type": self.query_type}
        return plan_to_json(self.plan, about)


def _parameters_and_calls(node: Any) -> tuple[dict[str, None], set[str]]:
    """The parameters of a statement, in written order, and the procedures it calls."""
    names: dict[str, int] = {}
    called: set[str] = set()
    for part in walk(node):
        if isinstance(part, ast.Parameter):
            names[part.name] = min(part.span.start, names.get(part.name, part.span.start))
        elif isinstance(part, ast.CallProcedure):
            called.add(part.name)
    return dict.fromkeys(sorted(names, key=names.__getitem__)), called


def _estimates(builder: Builder) -> dict[int, float]:
    """The estimated number of rows of each operator, by its identity."""
    return {key: builder.estimates.rows(logical) for key, (_, logical) in builder.origins.items()}


_DEFAULT_LIMITS = TextLimits()
_ANYTHING = Allowance()


class Preparer:
    """Prepares statements for one database and remembers them by text, parameter types and schema."""

    def __init__(
        self,
        functions: Mapping[str, Function],
        procedures: Mapping[str, Procedure],
        lenient: bool = False,
        limits: TextLimits = _DEFAULT_LIMITS,
    ) -> None:
        self.functions = functions
        self.limits = limits
        self.lenient = lenient
        self.procedures = procedures
        self.operators = OperatorBuilder(functions)
        self._kept: OrderedDict[tuple[Any, ...], Prepared] = OrderedDict()
        self._kept_characters = 0
        # See `latest`. By text alone: the schema and parameter types it was last used with, which are compared faster
        # than hashed.
        self._latest: dict[str, tuple[tuple[int, int], dict[str, CypherType | None], Prepared]] = {}
        self._lock = forks.brief_lock()

    def forget(self) -> int:
        """Drop all plans; returns how many there were."""
        with self._lock:
            count = len(self._kept)
            self._kept.clear()
            self._kept_characters = 0
            self._latest.clear()
        return count

    def latest(self, text: str, graph: Snapshot, parameters: Mapping[str, Any]) -> Prepared | None:
        """The statement last prepared for this text, if it is what `prepare` returns, has all its parameters, and there
        is nothing to say about it."""
        known = self._latest.get(text)
        if known is None or known[0] != graph.schema_version or known[1] != parameter_types(parameters):
            return None
        return known[2]

    def prepare(
        self, text: str, graph: Snapshot, parameters: Mapping[str, Any], allowance: Allowance = _ANYTHING
    ) -> Prepared:
        """The prepared statement of this text, from the cache if nothing it depends on has changed."""
        types = parameter_types(parameters)
        version = graph.schema_version
        key = (text, frozenset(types.items()), version)
        with self._lock:
            known = self._kept.get(key)
            if known is not None:
                self._kept.move_to_end(key)
                if not known.notifications and known.parameters.keys() <= types.keys():
                    self._latest[text] = (version, types, known)
                return known
        with allowing(allowance):
            try:
                prepared = self._prepare(text, graph, types)
            except CypherError as error:
                if not self.lenient or error.code != SYNTAX_ERROR or isinstance(error, TextLimitReached):
                    raise
                prepared = self._prepare_relaxed(text, graph, types, error)
        with self._lock:
            if key not in self._kept:
                self._kept_characters += len(text)
            self._kept[key] = prepared
            while len(self._kept) > KEPT_PLANS or self._kept_characters > KEPT_CHARACTERS:
                dropped, _ = self._kept.popitem(last=False)
                self._kept_characters -= len(dropped[0])
                self._latest.pop(dropped[0], None)
        return prepared

    def _prepare_relaxed(self, text: str, graph: Snapshot, types: Mapping[str, Any], error: CypherError) -> Prepared:
        """The statement that a rejected text means in current syntax; the original error if that is rejected too."""
        changed, changes = relaxed(text)
        if not changes:
            raise error
        try:
            prepared = self._prepare(changed, graph, types)
        except CypherError:
            raise error from None
        notes = tuple(relaxed_form(c.description, position_of(text, c.offset)) for c in changes)
        return replace(prepared, text=text, notifications=(*prepared.notifications, *notes))

    def _prepare(self, text: str, graph: Snapshot, types: Mapping[str, Any]) -> Prepared:
        statement = parse(text, limits=self.limits)
        check_options(statement)
        catalogue = GraphCatalogue(graph, self.functions, self.procedures)
        try:
            checked = check(statement, text, catalogue, types)
        except CypherError as error:
            if len(text) >= FEWEST_CHARACTERS and error.code == SYNTAX_ERROR:
                # a message that spells out lists, unless the text is too long for that
                with suppress(TextLimitReached):
                    check(parse(text, False, self.limits), text, catalogue, types)
            raise
        plan: pp.Plan | None = None
        command: Command | None = None
        writes = checked.writes
        asked: Any = statement.body
        if statement.use is not None:
            Builder(catalogue, text).use(statement.use)
        builder = Builder(catalogue, text, checked.star_imports)
        match statement.body:
            case ast.SingleQuery() | ast.Union() as query:
                asked = query = with_implicit_arguments(query, catalogue, types)
                built = builder.statement(query)
                columns = built.columns or ()
                # A subquery in transactions needs a transaction, even if it only reads.
                writes = writes or has_writes(built.plan)
                plan = builder.physical(
                    lp.EmptyResult(built.plan) if built.columns is None else lp.ProduceResults(built.plan, columns)
                )
            case Show() as asked:
                built = plan_show(asked, builder)
                columns = built.columns or ()
                plan = builder.physical(lp.ProduceResults(built.plan, columns))
            case JoinedShows() as joined:
                built = plan_joined(joined, builder)
                columns = built.columns or ()
                plan = builder.physical(lp.ProduceResults(built.plan, columns))
            case body:
                command, columns = body, checked.columns
        parameters, called = _parameters_and_calls(asked)
        return Prepared(
            text,
            statement.mode,
            columns,
            checked.query_type,
            writes,
            any(self.procedures[name].has_effects for name in called),
            checked.notifications,
            parameters,
            plan,
            None if plan is None else self.operators.build(plan),
            command,
            {} if statement.mode is None else _estimates(builder),
        )
