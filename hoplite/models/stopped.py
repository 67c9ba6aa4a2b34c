"""A text and the token at which parsing stopped, with queries about its surroundings."""

from __future__ import annotations

from collections.abc import Iterator

from hoplite.grammar.lenient import CLAUSE_WORDS
from hoplite.grammar.tokens import Token
from hoplite.models.edits import Edit
from hoplite.models.writing import free_name

CLAUSES = frozenset(CLAUSE_WORDS)
_SQL = frozenset(["GROUP", "HAVING", "FETCH"])
_OPENING, _CLOSING = "([{", ")]}"


class Stopped:
    """The tokens of a text, and the index of the one at which parsing stopped."""

    def __init__(self, text: str, tokens: list[Token], offset: int, message: str) -> None:
        self.text = text
        self.tokens = tokens
        self.offset = offset
        self.message = message
        self.at = next((i for i, token in enumerate(tokens) if token.start >= offset), len(tokens) - 1)

    @property
    def token(self) -> Token:
        """The token at which parsing stopped."""
        return self.tokens[self.at]

    @property
    def before(self) -> Token | None:
        """The token before it."""
        return self.tokens[self.at - 1] if self.at else None

    @property
    def after(self) -> Token | None:
        """The token after it; None at the end."""
        return self.tokens[self.at + 1] if self.at + 1 < len(self.tokens) else None

    def open_brackets(self) -> list[int]:
        """The brackets that are open at the point where parsing stopped."""
        waiting: list[int] = []
        for i in range(self.at):
            if self.tokens[i].text in _OPENING:
                waiting.append(i)
            elif self.tokens[i].text in _CLOSING and waiting:
                waiting.pop()
        return waiting

    def opening(self, sign: str) -> int | None:
        """The nearest open bracket of a kind."""
        return next((i for i in reversed(self.open_brackets()) if self.tokens[i].text == sign), None)

    def enclosing(self, bracket: int) -> int | None:
        """The bracket around a bracket."""
        depth = 0
        for i in range(bracket - 1, -1, -1):
            if self.tokens[i].text in _CLOSING:
                depth += 1
            elif self.tokens[i].text in _OPENING:
                if not depth:
                    return i
                depth -= 1
        return None

    def closing(self, opening: int) -> int | None:
        """The token that closes a bracket."""
        depth = 0
        for i in range(opening, len(self.tokens)):
            if self.tokens[i].text in _OPENING:
                depth += 1
            elif self.tokens[i].text in _CLOSING:
                depth -= 1
                if not depth:
                    return i
        return None

    def parts(self, first: int, end: int) -> Iterator[tuple[int, int]]:
        """The first and last token of each comma-separated part between two tokens."""
        depth, start = 0, first
        for i in range(first, end):
            if self.tokens[i].text in _OPENING:
                depth += 1
            elif self.tokens[i].text in _CLOSING:
                depth -= 1
            elif self.tokens[i].text == "," and not depth:
                if start < i:
                    yield start, i - 1
                start = i + 1
        if start < end:
            yield start, end - 1

    def variable_of(self, bracket: int) -> tuple[str, tuple[Edit, ...]]:
        """The variable of the pattern in a bracket, and the edit that adds one if needed."""
        token = self.tokens[bracket + 1]
        if "NAME" in token.kinds:
            return token.text, ()
        taken = {t.text for t in self.tokens}
        name = free_name("x", taken)
        place = self.tokens[bracket].end
        return name, (Edit(place, place, name),)

    def operand_start(self, last: int) -> int:
        """Where the operand that ends with a token begins: a name with its properties, or a bracket."""
        i = last
        while i > 0:
            if self.tokens[i].text in _CLOSING:
                depth = 0
                while i >= 0:
                    depth += (self.tokens[i].text in _CLOSING) - (self.tokens[i].text in _OPENING)
                    if not depth:
                        break
                    i -= 1
                if i > 0 and "NAME" in self.tokens[i - 1].kinds and self.tokens[i - 1].end == self.tokens[i].start:
                    i -= 1
            if i > 1 and self.tokens[i - 1].text == ".":
                i -= 2
                continue
            break
        return self.tokens[i].start

    def clause_start(self, words: frozenset[str] = CLAUSES) -> int | None:
        """The keyword of the clause in which parsing stopped."""
        depth = 0
        for i in range(self.at - 1, -1, -1):
            text = self.tokens[i].text
            depth += (text in _CLOSING) - (text in _OPENING)
            if depth < 0:
                return None
            if not depth and self._begins(i, words):
                return i
        return None

    def next_clause(self, first: int, words: frozenset[str] = CLAUSES) -> int:
        """The first keyword of a clause from a token onwards, or the end."""
        depth = 0
        for i in range(first, len(self.tokens) - 1):
            text = self.tokens[i].text
            depth += (text in _OPENING) - (text in _CLOSING)
            if depth < 0:
                return i
            if not depth and self._begins(i, words):
                return i
        return len(self.tokens) - 1

    def _begins(self, i: int, words: frozenset[str]) -> bool:
        """Whether a token is a word that begins a clause; to Cypher, SQL's words are names."""
        word, before = self.tokens[i].word, self.tokens[i - 1] if i else None
        if word == "NAME" and self.tokens[i].text.upper() in _SQL:
            word = self.tokens[i].text.upper()
        if word not in words or (before is not None and before.text in (":", ".", "|")):
            return False
        return word != "WITH" or before is None or before.word not in ("STARTS", "ENDS")

    def has_where(self) -> bool:
        """Whether the clause in which parsing stopped already has a WHERE."""
        start = self.clause_start()
        return start is not None and any(self.tokens[i].word == "WHERE" for i in range(start, self.at))
