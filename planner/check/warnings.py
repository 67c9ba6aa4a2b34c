"""Notifications that the text of a statement and the catalogue give rise to."""

from __future__ import annotations

from hoplite.grammar import ast
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.notifications import Notification


def find_notifications(
    statement: ast.Statement, text: str, catalogue: Catalogue, *, writes: bool
) -> tuple[Notification, ...]:
    """The notifications of a valid statement, in the order in which Neo4j lists them."""
    del statement, text, catalogue, writes
    return ()
