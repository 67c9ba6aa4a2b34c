"""What every part of the semantic check shares: the text to point into, the catalogue, the parameters' types.

Neo4j checks a statement twice. The first round does not know the functions that are looked up in the registry (the
temporal ones, APOC, user functions): their results may be anything, their names and arguments are not questioned. The
second round knows them. An error of the first round therefore wins over one that only the second can see; `resolved`
says which round it is. The same goes for the values of parameters.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field

from hoplite.errors import CypherError, syntax_error
from hoplite.gql_status import UNCLASSIFIED, GqlStatus, because
from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.aggregates import is_aggregate
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.check.mentions import Mentions
from hoplite.planner.check.positions import position
from hoplite.planner.check.scopes import Guard, Scope
from hoplite.planner.check.typespec import TypeSpec, exactly
from hoplite.planner.types import BOOLEAN

BOOLEANS = exactly(BOOLEAN)


def wrong_type(expected: object, actual: object, expression: ast.Expression, place: str) -> GqlStatus:
    """The GQL status of a value whose type does not fit its place."""
    parameter = f" parameter: {expression.name}" if isinstance(expression, ast.Parameter) else ""
    return because("22N27", actual, place + parameter, expected)


@dataclass(frozen=True, slots=True)
class Parts:
    """The parts of the check that others call back into: patterns contain expressions, expressions contain
    subqueries."""

    type_of: Callable[[Check, ast.Expression, Scope], TypeSpec]
    check_predicate: Callable[[Check, ast.Expression, Scope], None]
    check_subquery: Callable[[Check, ast.SubqueryExpression, Scope], TypeSpec]


@dataclass(slots=True)
class Check:
    """One round of the check over one statement."""

    text: str
    catalogue: Catalogue
    parameters: Mapping[str, TypeSpec]
    resolved: bool
    parts: Parts
    standalone: ast.CallProcedure | None = None  # a call that is the whole statement
    colon_labels: bool = True  # False where no labels are joined by a colon (`A:B`)
    aggregates: bool = True  # False where nothing aggregates
    aggregating: dict[str, bool] = field(default_factory=dict)  # by names of functions, once looked up
    postponed: list[CypherError] = field(default_factory=list)
    doomed: list[CypherError] = field(default_factory=list)
    mentions: Mentions = field(default_factory=Mentions)
    star_imports: dict[int, frozenset[str]] = field(default_factory=dict)  # of `CALL (*)`, by the offset of its clause

    def error(self, message: str, offset: int, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
        """A compile-time error at an offset of the text."""
        return syntax_error(message, self.text, offset, gql_status)

    def error_at(self, message: str, expression: ast.Expression, gql_status: GqlStatus = UNCLASSIFIED) -> CypherError:
        """A compile-time error about an expression."""
        return self.error(message, position(expression, self.text), gql_status)

    def later(self, error: CypherError) -> None:
        """Hold back an error that Neo4j finds only after everything else in this round is in order."""
        self.postponed.append(error)

    def fails_when_run(self, error: CypherError) -> None:
        """Hold back an error that Neo4j runs into with the first row; EXPLAIN does not see it."""
        self.doomed.append(error)

    def type_of(self, expression: ast.Expression, scope: Scope) -> TypeSpec:
        """Check an expression; returns the types that its value may have."""
        return self.parts.type_of(self, expression, scope)

    def check_predicate(self, expression: ast.Expression, scope: Scope) -> None:
        """Check what must be true or false."""
        self.parts.check_predicate(self, expression, scope)

    def is_aggregate(self, node: object) -> bool:
        """Whether this part of an expression is itself an aggregating call."""
        if not isinstance(node, ast.FunctionCall):
            return isinstance(node, ast.CountStar)
        known = self.aggregating.get(node.name)
        if known is None:
            known = self.aggregating[node.name] = is_aggregate(node, self.catalogue)
        return known

    # --- variables ----------------------------------------------------------------------------------------------

    def look_up(self, variable: ast.Variable, scope: Scope) -> TypeSpec:
        """The types of a variable, which must be defined."""
        types = scope.refer(variable.name)
        if types is None:
            if scope.has_dropped(variable.name):
                raise self.dropped(variable)
            raise self.error(f"Variable `{variable.name}` not defined", variable.span.start)
        return types

    def dropped(self, variable: ast.Variable) -> CypherError:
        """The error about a variable that DISTINCT or an aggregation has dropped."""
        return self.error(
            "In a WITH/RETURN with DISTINCT or an aggregation, it is not possible to access variables declared before "
            f"the WITH/RETURN: {variable.name}",
            variable.span.start,
        )

    def declare(self, variable: ast.Variable, types: TypeSpec, scope: Scope) -> None:
        """Add a variable, which must be new to the scope."""
        self.forbid_shadowing(variable.name, variable.span.start, scope)
        if variable.name in scope.names:
            raise self.error(f"Variable `{variable.name}` already declared", variable.span.start)
        scope.names[variable.name] = types

    def forbid_shadowing(self, name: str, offset: int, scope: Scope) -> None:
        """Raise if a subquery declares a name of the scope around it."""
        match scope.guarded(name):
            case Guard.SUBQUERY:
                raise self.error(
                    f"The variable `{name}` is shadowing a variable with the same name from the outer scope "
                    "and needs to be renamed",
                    offset,
                    because("42N07", name),
                )
            case Guard.IMPORTED:
                raise self.error(
                    f"The variable `{name}` is shadowing an imported variable with the same name "
                    "and needs to be renamed",
                    offset,
                )
            case Guard.OPEN | Guard.READ:
                return

    # --- types --------------------------------------------------------------------------------------------------

    def expect(self, expected: TypeSpec, actual: TypeSpec, expression: ast.Expression) -> TypeSpec:
        """The types of an expression that are among those expected; an error if there are none."""
        left = actual.within(expected)
        if not left:
            place = f"`{expression.name}`" if isinstance(expression, ast.Variable) else ""
            raise self.mismatch(expected, actual, expression, place)
        return left

    def mismatch(
        self, expected: TypeSpec, actual: TypeSpec, expression: ast.Expression, place: str = ""
    ) -> CypherError:
        """`Type mismatch: expected ... but was ...`; `place` is the GQL status's name for where the value is used."""
        if isinstance(expression, ast.Parameter):
            message = f"Type mismatch for parameter '{expression.name}': expected {expected} but was {actual}"
            return self.error_at(message, expression, wrong_type(expected, actual, expression, place))
        message = f"Type mismatch: expected {expected} but was {actual}"
        cause = wrong_type(expected, actual, expression, place) if place else because("22NB1", expected, actual)
        return self.error_at(message, expression, cause)

    def expect_boolean(self, actual: TypeSpec, expression: ast.Expression, *, operand: bool = False) -> None:
        """A predicate must be able to be true or false. The operands of NOT, AND, OR and XOR have another GQLSTATUS."""
        if actual & BOOLEANS:
            return
        if isinstance(expression, ast.Parameter) and actual.only_lists:
            self.mentions.lists_as_booleans = True
        if actual.only_lists and not isinstance(expression, ast.Parameter):
            message = "Coercion of list to boolean is not allowed. Please use `NOT isEmpty(...)` instead."
            self.later(self.error_at(message, expression, because("22N37", "LIST", "BOOLEAN")))
            return
        if operand and not actual.within(BOOLEANS):
            raise self.mismatch(BOOLEANS, actual, expression)
        self.expect(BOOLEANS, actual, expression)
