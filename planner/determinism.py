"""Whether an expression gives the same value each time it is evaluated over the same row.

Only then may rules merge rows, or evaluate the expression in another place than written.
"""

from __future__ import annotations

from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.tree import contains
from hoplite.planner import logical as lp
from hoplite.planner import physical as pp
from hoplite.planner.catalogue import Catalogue


def is_deterministic(terms: Any, catalogue: Catalogue) -> bool:
    """Whether an expression, or all of a tuple of them, gives the same value each time."""

    def varies(node: object) -> bool:
        match node:
            case ast.FunctionCall(name=name):
                signature = catalogue.function(name)
                return signature is not None and not signature.deterministic
            case _:
                # In a subquery; nothing is known about procedures.
                return isinstance(node, lp.ProcedureCall | pp.CallProcedure)

    return not contains(terms, varies)
