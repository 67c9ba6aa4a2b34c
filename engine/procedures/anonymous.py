"""Names of labels, types and keys as they are, or as numbers that tell nothing, also inside statements."""

from __future__ import annotations

from collections.abc import Iterator

from hoplite.grammar import ast
from hoplite.grammar.parse import parse, tokens_of
from hoplite.grammar.tokens import Token
from hoplite.grammar.tree import walk
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.transaction import Transaction


class Names:
    """The labels, types and keys of a graph; hidden ones are called by their numbers: L0, R1, p2."""

    def __init__(self, graph: Snapshot | Transaction, are_hidden: bool = False) -> None:
        self._known = {"L": graph.labels(), "R": graph.type_names, "p": graph.property_keys()}
        self._hidden = {
            letter: {name: f"{letter}{number}" for number, name in enumerate(names)} if are_hidden else {}
            for letter, names in self._known.items()
        }

    def all(self) -> dict[str, list[str]]:
        """Every name, as the section TOKENS shows them."""
        titles = {"labels": "L", "relationshipTypes": "R", "propertyKeys": "p"}
        return {title: list(self._known[letter]) for title, letter in titles.items()}

    def label(self, name: str) -> str:
        """A label as it is shown."""
        return self._hidden["L"].get(name, name)

    def type(self, name: str) -> str:
        """A type as it is shown."""
        return self._hidden["R"].get(name, name)

    def key(self, name: str) -> str:
        """A key as it is shown."""
        return self._hidden["p"].get(name, name)

    def statement(self, text: str) -> str:
        """A statement without its names, strings and comments: every word that is not Cypher's own is replaced."""
        tokens = [token for token in tokens_of(text) if token.text]
        kinds = dict(_kinds(text))
        seen: dict[str, dict[str, str]] = {}
        parts: list[str] = []
        end = 0
        for place, token in enumerate(tokens):
            parts.append(" " if token.start > end and parts else "")
            parts.append(self._shown(token, kinds.get(token.start) or _guess(tokens, place), seen))
            end = token.end
        return "".join(parts)

    def _shown(self, token: Token, kind: str, seen: dict[str, dict[str, str]]) -> str:
        if token.word == "string":
            return f'"string[{len(token.text) - 2}]"'
        if token.word == "parameter":
            return "$" + _numbered(seen, "param", token.text)
        name = token.text.strip("`").replace("``", "`")
        match kind:
            case "keep":
                return token.text
            case "L" | "R" | "p":
                return self._hidden[kind].get(name) or _numbered(seen, "UNKNOWN", name)
            case _:
                return _numbered(seen, "var", name)


def _numbered(seen: dict[str, dict[str, str]], prefix: str, name: str) -> str:
    """The name that stands for another one of this sort: those are numbered as they come."""
    of_sort = seen.setdefault(prefix, {})
    return of_sort.setdefault(name, f"{prefix}{len(of_sort)}")


def _kinds(text: str) -> Iterator[tuple[int, str]]:
    """What the word at a place of the text names, where the syntax tree tells."""
    body = parse(text, constants=False).body
    types = {
        id(label)
        for pattern in walk(body)
        if isinstance(pattern, ast.RelationshipPattern)
        for label in walk(pattern.types)
    }
    for node in walk(body):
        match node:
            case ast.LabelName(span=span):
                yield span.start, "R" if id(node) in types else "L"
            case ast.Variable(span=span):
                yield span.start, "var"
            case ast.Property(key_span=span):
                yield span.start, "p"
            case ast.FunctionCall(name_span=span) | ast.CallProcedure(name_span=span):
                yield from ((place, "keep") for place in range(span.start, span.end))
            case _:
                pass


def _guess(tokens: list[Token], place: int) -> str:
    """What any other token is: Cypher's own, a key, a label in a command, or the name of a column or an index."""
    token = tokens[place]
    before = tokens[place - 1].word if place else None
    after = tokens[place + 1].word if place + 1 < len(tokens) else None
    is_word = token.kinds[-1] == "NAME"
    if is_word and (before == "." or (after == ":" and before in ("{", ","))):
        return "p"
    if is_word and before == ":":
        return "L"
    return "var" if token.word == "NAME" else "keep"
