"""How notes are written, and how their entities are found again: as a list, or in sentences.

A note in sentences says each finding in words of its own, in another case at times, one in ten misspelt; and it says
which finding the patient does not have. Nothing marks where a name begins: names are spotted, what is left is compared
letter by letter, and sentences that deny something are not read.
"""

from __future__ import annotations

import random
import re
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from examples.datasets.plain_graph import PlainGraph
from hoplite.retrieval import Linker, Spotted

_MISSPELT = 0.1
_SAYINGS = {
    "Symptom": ("The patient complains of {}.", "For two weeks there has been {}.", "On examination, {} was found."),
    "Anatomy": ("Imaging shows a lesion of the {}.", "The {} is affected."),
    "Compound": ("Treatment with {} was begun elsewhere.", "Current medication: {}."),
}
_OTHER_SAYINGS = ("The record mentions {}.", "Noted on admission: {}.", "Previously documented: {}.")
_DENIALS = ("There is no sign of {}.", "The patient denies {}.", "No {} so far.")
_DENIED = re.compile(r"\b(no|denies|without)\b", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.?!])\s+(?=[A-Z])")
_WINDOW = 4  # words of a misspelt name
_SHORTEST = 6  # letters of it
_SURE = 0.8  # how similar it has to be


class Writing(NamedTuple):
    """Writes the findings of a case, given one that it does not have, and finds the nodes that notes name."""

    write: Callable[[PlainGraph, Sequence[str], str, random.Random], str]
    entities: Callable[[Linker, Sequence[str]], list[list[int]]]


def _listed(graph: PlainGraph, findings: Sequence[str], denied: str, dice: random.Random) -> str:
    return "Findings on admission: " + "; ".join(graph.nodes[id][0] for id in findings) + "."


def _entities_of_lists(linker: Linker, notes: Sequence[str]) -> list[list[int]]:
    mentions = [[one.strip() for one in note.partition(":")[2].rstrip(".").split(";")] for note in notes]
    return _linked(linker, mentions)


def _in_sentences(graph: PlainGraph, findings: Sequence[str], denied: str, dice: random.Random) -> str:
    who = dice.choice(("man", "woman"))
    said = [f"A {dice.randint(20, 85)}-year-old {who} was admitted."]
    for id in findings:
        name, label = graph.nodes[id]
        said.append(dice.choice(_SAYINGS.get(label, _OTHER_SAYINGS)).format(_as_written(name, dice)))
    said.insert(dice.randint(1, len(said)), dice.choice(_DENIALS).format(graph.nodes[denied][0].lower()))
    return " ".join(said)


def _as_written(name: str, dice: random.Random) -> str:
    """As it is or in small letters, and at times with a letter missing."""
    written = name if dice.random() < 0.5 else name.lower()
    if len(written) > _SHORTEST and dice.random() < _MISSPELT:
        place = dice.randrange(1, len(written) - 1)
        written = written[:place] + written[place + 1 :]
    return written


def _entities_of_sentences(linker: Linker, notes: Sequence[str]) -> list[list[int]]:
    read = [" ".join(one for one in _SENTENCE.split(note) if not _DENIED.search(one)) for note in notes]
    spotted = linker.spot(read)
    rest = [list(_windows(note, names)) for note, names in zip(read, spotted, strict=True)]
    every = sorted({one.text for windows in rest for one in windows})
    links = linker.link(every, ways=["similar"], most=1, least=_SURE)
    scores = {text: links[row][0].score for row, text in enumerate(every) if links[row]}
    mentions = []
    for names, windows in zip(spotted, rest, strict=True):
        likely = sorted((one for one in windows if one.text in scores), key=lambda one: -scores[one.text])
        kept: list[Spotted] = list(names)
        for one in likely:
            if all(one.end <= other.start or one.start >= other.end for other in kept):
                kept.append(one)
        mentions.append([one.text for one in kept])
    return _linked(linker, mentions)


def _windows(text: str, names: Sequence[Spotted]) -> Iterator[Spotted]:
    """A few words in a row, outside of the names that were spotted."""
    words = [found.span() for found in re.finditer(r"[^\s.;:]+", text)]
    free = [one for one in words if all(one[1] <= name.start or one[0] >= name.end for name in names)]
    for first in range(len(free)):
        for last in range(first, min(first + _WINDOW, len(free))):
            start, end = free[first][0], free[last][1]
            apart = any(start < name.start < end for name in names) or re.search(r"[.;:]\s", text[start:end])
            if end - start >= _SHORTEST and not apart:
                yield Spotted(start, end, text[start:end])


def _linked(linker: Linker, mentions: Sequence[Sequence[str]]) -> list[list[int]]:
    """The best node of each mention that has one."""
    found = iter(linker.link([one for some in mentions for one in some], most=1).best().tolist())
    return [[node for _ in some if (node := next(found)) >= 0] for some in mentions]


WRITINGS = {
    "list": Writing(_listed, _entities_of_lists),
    "sentences": Writing(_in_sentences, _entities_of_sentences),
}
