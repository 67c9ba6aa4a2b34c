"""Which calls aggregate, according to the catalogue."""

from __future__ import annotations

from hoplite.grammar import ast
from hoplite.planner.catalogue import Catalogue


def is_aggregate(node: object, catalogue: Catalogue) -> bool:
    """Whether this part of an expression is itself an aggregating call."""
    match node:
        case ast.CountStar():
            return True
        case ast.FunctionCall(name=name):
            signature = catalogue.function(name)
            return signature is not None and signature.aggregating
        case _:
            return False
