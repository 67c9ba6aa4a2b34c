"""Mistakes planted into right queries, each with what has to be found: arrows turned round, names misspelled."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from hoplite.grammar import ast
from hoplite.grammar.parse import parse
from hoplite.grammar.tree import walk
from hoplite.models.facts import Facts
from hoplite.models.reading import Hop, read
from hoplite.models.writing import flipped, quoted


@dataclass(frozen=True, slots=True)
class Planted:
    """A query with a mistake, and the name that was there before."""

    kind: str
    query: str
    right: str
    name: str

    def is_named_by(self, suggestion: str) -> bool:
        """Whether a suggestion is that name; the case of functions does not count."""
        return suggestion == self.name or (self.kind == "function" and suggestion.lower() == self.name.lower())


def flips(text: str, facts: Facts) -> Iterator[Planted]:
    """One query for each arrow whose turn the counts of the schema tell, outside of NOT and of projections."""
    reading = read(parse(text), text)
    for hop in reading.hops:
        if hop.place.negated or not _decided(hop, facts):
            continue
        edits = flipped(hop.pattern, text)
        if edits is None:
            continue
        changed = text
        for edit in sorted(edits, key=lambda e: -e.start):
            changed = changed[: edit.start] + edit.after + changed[edit.end :]
        yield Planted("direction", changed, text, "")


def _decided(hop: Hop, facts: Facts) -> bool:
    """Whether relationships lead this way between these labels, and none the other way."""
    if hop.relationship.is_list or len(hop.relationship.required) != 1 or hop.left.opaque or hop.right.opaque:
        return False
    ends = [e.required[0].name if len(e.required) == 1 else None for e in (hop.left, hop.right)]
    if hop.left.choices or hop.right.choices or ends == [None, None]:
        return False
    start, end = ends if hop.pattern.direction is ast.Direction.OUTGOING else ends[::-1]
    name = hop.relationship.required[0].name
    return facts.count(start, name, end) > 0 and facts.count(end, name, start) == 0


def misspellings(text: str, chance: random.Random) -> Iterator[Planted]:
    """One query for each label, type, key and function, misspelled in one way."""
    statement = parse(text)
    reading = read(statement, text)
    for entity in reading.entities:
        for label in entity.label_names():
            yield from _slip("label" if entity.is_node else "type", text, label.span, label.name, chance)
    for use in reading.uses:
        if not use.place.negated and (use.entity.required or use.entity.choices):
            yield from _slip("property", text, use.key_span, use.key, chance)
    for node in walk(statement.body):
        if isinstance(node, ast.FunctionCall) and "." not in node.name and len(node.name) > 3:
            yield from _slip("function", text, node.name_span, node.name, chance)


def _slip(kind: str, text: str, span: ast.Span, name: str, chance: random.Random) -> Iterator[Planted]:
    if len(name) < 4 or not name.isascii():
        return
    wrong = chance.choice(_SLIPS)(name, chance)
    if wrong != name and not (kind == "function" and wrong.lower() == name.lower()):
        changed = text[: span.start] + quoted(wrong) + text[span.end :]
        yield Planted(kind, changed, text, name)


def _drop(name: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(name))
    return name[:place] + name[place + 1 :]


def _double(name: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(name))
    return name[:place] + name[place] + name[place:]


def _swap(name: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(name) - 1)
    return name[:place] + name[place + 1] + name[place] + name[place + 2 :]


def _replace(name: str, chance: random.Random) -> str:
    place = chance.randrange(1, len(name))
    return name[:place] + chance.choice("aeinrst") + name[place + 1 :]


def _plural(name: str, chance: random.Random) -> str:
    return name[:-1] if name.lower().endswith("s") else name + ("S" if name.isupper() else "s")


def _case(name: str, chance: random.Random) -> str:
    return name.lower() if name != name.lower() else name.upper()


def _separator(name: str, chance: random.Random) -> str:
    if "_" in name or name.isupper():
        return name.replace("_", "")
    return "".join(f"_{letter.lower()}" if letter.isupper() and i else letter for i, letter in enumerate(name))


_SLIPS: tuple[Callable[[str, random.Random], str], ...] = (
    _drop,
    _double,
    _swap,
    _replace,
    _plural,
    _case,
    _separator,
)
