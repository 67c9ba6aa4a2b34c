"""The table of Cypher functions: one entry per function, filled by decorators, one file per family.

An entry says everything that the semantic check, the evaluator, SHOW FUNCTIONS and the docs need. A function takes
Python values and returns one; where whole columns can be computed at once, `over_columns` adds a fast path.

    @cypher_function("left", args=(STRING, INTEGER), returns=STRING, category="String",
                     description="Returns a STRING containing the specified number of leftmost characters.")
    def left(text: str, length: int) -> str: ...
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

from hoplite.engine import homes
from hoplite.engine.families import Families
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.types import Accepted, Argument, CypherType, Form, Signature
from hoplite.values.columns import Column

if TYPE_CHECKING:
    from hoplite.engine.functions.group_states import Aggregation

ValueFunction = Callable[..., Any]
ColumnFunction = Callable[..., Column | None]

_Value = TypeVar("_Value", bound=ValueFunction)
_Column = TypeVar("_Column", bound=ColumnFunction)


@dataclass(slots=True)
class Function:
    """A scalar function.

    `call` works on single values. `null_in_null_out`: any null argument makes the result null without a call.
    `needs_context`: the execution context is the first argument. `column_call`, if set, gets the columns (after the
    context, if needed) and returns a column, or None if it has no fast path for them. `is_own`: not a user's function,
    whose code must not be interrupted.
    """

    signature: Signature
    call: ValueFunction
    null_in_null_out: bool = True
    needs_context: bool = False
    column_call: ColumnFunction | None = None
    is_own: bool = True

    @property
    def is_pure(self) -> bool:
        """Whether it works on its arguments alone, so that it may be interrupted at any point."""
        return self.is_own and not self.needs_context


@dataclass(frozen=True, slots=True)
class Aggregate:
    """An aggregating function: `make` returns a fresh state, given what messages call the argument.

    `needs_context`: the execution context is a second argument.
    """

    signature: Signature
    make: Callable[..., Aggregation]
    needs_context: bool = False


FUNCTIONS: Families[Function] = Families(homes.FUNCTIONS)  # by lower-case name
AGGREGATES: Families[Aggregate] = Families(homes.AGGREGATES)  # by lower-case name


def cypher_function(
    name: str,
    *,
    args: tuple[CypherType | Argument, ...] = (),
    returns: CypherType | Accepted,
    category: str,
    description: str,
    nulls: str = "propagate",
    needs_context: bool = False,
    variadic: bool = False,
    deterministic: bool = True,
    forms: tuple[tuple[str, str], ...] = (),
) -> Callable[[_Value], _Value]:
    """Register the decorated function; `nulls="handle"` passes nulls to it.

    `forms`, if SHOW FUNCTIONS lists more than one: the signature and description of each.
    """
    signature = Signature(
        name=name,
        arguments=tuple(a if isinstance(a, Argument) else Argument((a,)) for a in args),
        returns=returns if isinstance(returns, tuple) else (returns,),
        category=category,
        description=description,
        variadic=variadic,
        deterministic=deterministic,
        own_forms=tuple(Form(*form) for form in forms),
    )

    def register(function: _Value) -> _Value:
        FUNCTIONS[name.lower()] = Function(signature, function, nulls == "propagate", needs_context)
        return function

    return register


def named(name: str, *types: CypherType, optional: bool = False) -> Argument:
    """An argument under the name in SHOW FUNCTIONS."""
    return Argument(types, optional, name)


def over_columns(name: str) -> Callable[[_Column], _Column]:
    """Give the function of this name a fast path over whole columns."""

    def register(function: _Column) -> _Column:
        FUNCTIONS[name.lower()].column_call = function
        return function

    return register
