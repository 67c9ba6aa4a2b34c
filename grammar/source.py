"""The text being parsed, and the errors that only count once all of it has been read."""

from __future__ import annotations

from hoplite.errors import CypherError, syntax_error
from hoplite.gql_status import UNCLASSIFIED, GqlStatus
from hoplite.grammar.ast import Span


class Source:
    """A query text and the complaints about it.

    Neo4j reports an unexpected token before a number that is too large, wherever the two are, because it looks at
    numbers after parsing. So complaints are collected by position, and the first one is raised at the end.
    """

    def __init__(self, text: str) -> None:
        self.text = text
        self._complaints: dict[int, tuple[str, GqlStatus]] = {}

    def complain(self, message: str, offset: int, gql_status: GqlStatus = UNCLASSIFIED) -> None:
        """Note an error, to be raised if nothing worse happens."""
        self._complaints.setdefault(offset, (message, gql_status))

    def withdraw(self, offset: int) -> str | None:
        """Drop the complaint about what is at an offset; returns its message."""
        complaint = self._complaints.pop(offset, None)
        return None if complaint is None else complaint[0]

    def raise_first_complaint(self) -> None:
        """Raise the complaint that comes first in the text, if there is any."""
        if self._complaints:
            offset = min(self._complaints)
            message, gql_status = self._complaints[offset]
            raise syntax_error(message, self.text, offset, gql_status)

    def error(self, message: str, offset: int) -> CypherError:
        """A syntax error that points into this text."""
        return syntax_error(message, self.text, offset)

    def between(self, span: Span) -> str:
        """The text of a span."""
        return self.text[span.start : span.end]
