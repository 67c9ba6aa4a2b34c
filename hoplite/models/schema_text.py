"""The schema of a graph as text for a prompt, cut to a budget of tokens by what matters.

Every part of the schema (a label, a property, its values, a pattern ...) is an item with a weight: frequent labels and
types weigh more, and what a question mentions far more. The text consists of the heaviest items that fit.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Literal, TypeAlias, get_args

from hoplite.lazy_dataclass import dataclass
from hoplite.models.schema_text_collect import GraphSchema, Kind, Pattern, Property
from hoplite.models.schema_text_forms import as_cypher, as_json, as_text
from hoplite.values.render import to_string

Form: TypeAlias = Literal["text", "json", "cypher"]

_FORMS = {"text": as_text, "json": as_json, "cypher": as_cypher}
_CHARACTERS_PER_TOKEN = 3.5  # for names and punctuation; rather low, so that the budget is kept

# The weight of an item relative to the label or type that it belongs to.
_PATTERN, _KEY, _VALUES, _INDEX = 0.9, 0.6, 0.3, 0.5
_NAMED = 100.0  # factor if a question mentions it
_CONNECTED = 10.0  # factor if a question mentions what it is connected to


def token_count(text: str) -> int:
    """The approximate number of tokens of a text."""
    return math.ceil(len(text.encode()) / _CHARACTERS_PER_TOKEN)


def schema_text(schema: GraphSchema, question: str | None, *, form: Form, max_tokens: int | None) -> str:
    """The text of a schema, or as much of it as the tokens allow."""
    if form not in _FORMS:
        raise ValueError(f"form is {form!r}, and can be {', '.join(map(repr, get_args(Form)))}.")
    write = _FORMS[form]
    whole = write(schema, schema)
    if max_tokens is None or token_count(whole) <= max_tokens:
        return whole
    items = sorted(_items(schema, _Question(question)), key=lambda item: (-item.weight, item.place))
    # The more items, the longer the text: bisection finds the largest number that fits.
    low, high = 0, len(items)
    while low < high:
        middle = (low + high + 1) // 2
        if token_count(write(_only(schema, items[:middle]), schema)) <= max_tokens:
            low = middle
        else:
            high = middle - 1
    return write(_only(schema, items[:low]), schema)


# --- what matters ---


@dataclass(frozen=True, slots=True)
class _Item:
    """A part of the schema: a path such as ("label", "Person", "name", "values")."""

    place: tuple[str, ...]
    weight: float


class _Question:
    """The words of a question, folded so that `directors` finds DIRECTED and Director."""

    def __init__(self, text: str | None) -> None:
        self._words = set(_folded_words(text or ""))
        self._text = f" {' '.join(_words(text or ''))} "

    def names(self, name: str) -> bool:
        """Whether it contains a word of a name."""
        return bool(self._words and self._words.intersection(_folded_words(name)))

    def has_value(self, of: Property) -> bool:
        """Whether it contains a listed value."""
        return any(f" {' '.join(_words(to_string(value)))} " in self._text for value in of.values)


def _words(text: str) -> list[str]:
    apart = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", " ", text)
    return re.findall(r"[^\W_]+", apart.lower())


_ENDINGS = ("ations", "ation", "ings", "ing", "ors", "ers", "ies", "ed", "es", "or", "er", "s", "y", "e")
_SHORTEST_STEM = 3


def _folded_words(text: str) -> Iterator[str]:
    """Words without their endings. Words as short as `of` are in every question and many names."""
    for word in _words(text):
        if len(word) < _SHORTEST_STEM:
            continue
        ending = next((end for end in _ENDINGS if word.endswith(end) and len(word) - len(end) >= _SHORTEST_STEM), "")
        yield word.removesuffix(ending)


def _items(schema: GraphSchema, question: _Question) -> Iterator[_Item]:
    labels = {kind.name: _kind_weight(kind, question) for kind in schema.labels}
    types = {kind.name: _kind_weight(kind, question) for kind in schema.types}
    named = {name for name in (*labels, *types) if question.names(name)}
    connected = {
        end for one in schema.patterns if {one.start, one.type, one.end} & named for end in (one.start, one.end) if end
    }
    for name in connected - named:
        labels[name] *= _CONNECTED
    type_counts = {kind.name: kind.count for kind in schema.types}
    for kinds, weights, what in ((schema.labels, labels, "label"), (schema.types, types, "type")):
        for kind in kinds:
            yield _Item((what, kind.name), weights[kind.name])
            yield from _property_items(what, kind, weights[kind.name], question)
    for one in schema.patterns:
        # As much as its type, or more if one of its ends is mentioned; less if the type mostly leads elsewhere.
        of_type = types[one.type]
        ends = max(labels.get(end or "", 0.0) for end in (one.start, one.end))
        share = math.log2(2 + one.count) / math.log2(2 + type_counts[one.type])
        yield _Item(_place(one), _PATTERN * share * max(of_type, min(ends, of_type * _CONNECTED)))
    for index in schema.indexes:
        weights = labels if index.entity == "NODE" else types
        yield _Item(("index", index.name), _INDEX * max((weights.get(name, 0.0) for name in index.labels), default=0.0))


def _property_items(what: str, kind: Kind, weight: float, question: _Question) -> Iterator[_Item]:
    for one in kind.properties:
        is_named, has_value = question.names(one.key), question.has_value(one)
        held = weight * (_NAMED if is_named or has_value else 1.0)
        # What identifies an entity, and what most entities have, is used most.
        likely = 1.0 if one.unique or one.indexed else 0.8 if one.optional else 0.9
        yield _Item((what, kind.name, one.key), _KEY * likely * held)
        if one.values or one.low is not None:
            told = 1.0 if one.enumerated else 0.7
            yield _Item((what, kind.name, one.key, "values"), _VALUES * likely * told * held)


def _kind_weight(kind: Kind, question: _Question) -> float:
    return math.log2(2 + kind.count) * (_NAMED if question.names(kind.name) else 1.0)


# --- what is left ---


def _only(schema: GraphSchema, items: Iterable[_Item]) -> GraphSchema:
    """The schema with only these items, and whatever they belong to."""
    kept: set[tuple[str, ...]] = set()
    for item in items:
        if item.place[0] == "pattern":
            _, start, type_name, end = item.place
            kept |= {item.place, ("type", type_name), ("label", start), ("label", end)}
        else:
            kept.update(item.place[:length] for length in range(2, len(item.place) + 1))
    return GraphSchema(
        _kept_kinds(schema.labels, "label", kept),
        _kept_kinds(schema.types, "type", kept),
        tuple(one for one in schema.patterns if _place(one) in kept),
        tuple(index for index in schema.indexes if ("index", index.name) in kept),
    )


def _place(one: Pattern) -> tuple[str, ...]:
    return "pattern", one.start or "", one.type, one.end or ""


def _kept_kinds(kinds: Iterable[Kind], what: str, kept: set[tuple[str, ...]]) -> tuple[Kind, ...]:
    return tuple(
        replace(
            kind,
            properties=tuple(
                one if (what, kind.name, one.key, "values") in kept else replace(one, values=(), low=None, high=None)
                for one in kind.properties
                if (what, kind.name, one.key) in kept
            ),
        )
        for kind in kinds
        if (what, kind.name) in kept
    )
