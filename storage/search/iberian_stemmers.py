# ruff: noqa: SIM905
"""Brazilian Portuguese and Galician words to stems, as in Lucene."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

# --- Brazilian Portuguese ---

_BRAZILIAN_MARKS = str.maketrans("áâãéêíóôõúüçñ", "aaaeeiooouucn")
_PUNCTUATION = frozenset("\"'-,;.?!")
_VOWELS = frozenset("aeiou")
_SHORTEST, _LONGEST = 3, 29  # letters of words that have stems

# Endings, the region that must have them (behind the first consonant that follows a vowel, behind the second such one,
# or of verbs), and what is put there. That "logias" stays as it is, and "ira" in the second table, is Lucene's doing.
_OF_NOUNS = (
    ("uciones", "second", "u"), ("imentos", "second", ""), ("amentos", "second", ""), ("adores", "second", ""),
    ("adoras", "second", ""), ("logias", "second", "logias"), ("encias", "second", "ente"), ("amente", "first", ""),
    ("idades", "second", ""), ("acoes", "second", ""), ("imento", "second", ""), ("amento", "second", ""),
    ("adora", "second", ""), ("ismos", "second", ""), ("istas", "second", ""), ("logia", "second", "log"),
    ("ucion", "second", "u"), ("encia", "second", "ente"), ("mente", "second", ""), ("idade", "second", ""),
    ("acao", "second", ""), ("ezas", "second", ""), ("icos", "second", ""), ("icas", "second", ""),
    ("ismo", "second", ""), ("avel", "second", ""), ("ivel", "second", ""), ("ista", "second", ""),
    ("osos", "second", ""), ("osas", "second", ""), ("ador", "second", ""), ("ivas", "second", ""),
    ("ivos", "second", ""), ("iras", "verb", "ir"), ("eza", "second", ""), ("ico", "second", ""),
    ("ica", "second", ""), ("oso", "second", ""), ("osa", "second", ""), ("iva", "second", ""), ("ivo", "second", ""),
    ("ira", "verb", "ir"),
)  # fmt: skip
_BEHIND_E = ("iras", "ira")
_OF_VERBS = (
    "issemos essemos assemos ariamos eriamos iriamos iremos eremos aremos avamos iramos eramos aramos asseis esseis "
    "isseis arieis erieis irieis irmos iamos armos ermos areis ereis ireis asses esses isses astes assem essem issem "
    "ardes erdes irdes ariam eriam iriam arias erias irias estes istes aveis aria eria iria asse esse isse aste este "
    "iste arei erei irei aram eram iram avam arem erem irem ando endo indo arao erao irao adas idas aras eras iras "
    "avas ares eres ires ados idos amos emos imos ieis ada ida ara era ira iam ado ido ias ais eis ear ia ei am em ar "
    "er ir as es is eu iu ou"
).split()


def brazilian(word: str) -> str:
    """Without the endings of nouns, or else of verbs, and without marks."""
    stem = word.lower().translate(_BRAZILIAN_MARKS)
    if len(stem) > 1 and stem[0] in _PUNCTUATION:
        stem = stem[1:]
    if len(stem) > 1 and stem[-1] in _PUNCTUATION:
        stem = stem[:-1]
    if not _SHORTEST <= len(stem) <= _LONGEST:
        return word
    if not stem.isalpha():
        return stem
    first = _behind_consonant(stem)
    regions = {"first": first, "second": _behind_consonant(first), "verb": _verb_region(stem)}
    shorter = _without_noun_ending(stem, regions)
    if shorter is None:
        shorter = _without_verb_ending(stem, regions["verb"])
    # Regions stay those of the whole word.
    verb = regions["verb"]
    if shorter is not None:
        stem = shorter.removesuffix("i") if verb.endswith("ci") else shorter
    else:
        stem = _without_vowel(stem, verb)
    if verb.endswith("e"):
        stem = stem.removesuffix("e")
        if verb.endswith("gue"):
            stem = stem.removesuffix("u")
        elif verb.endswith("cie"):
            stem = stem.removesuffix("i")
    return stem


def _behind_consonant(word: str) -> str:
    """What follows the first consonant behind a vowel."""
    at, last = 0, len(word) - 1
    while at < last and word[at] not in _VOWELS:
        at += 1
    while at < last and word[at] in _VOWELS:
        at += 1
    return word[at + 1 :] if at < last else ""


def _verb_region(word: str) -> str:
    last = len(word) - 1
    if word[1] not in _VOWELS:
        for at in range(2, last):
            if word[at] in _VOWELS:
                return word[at + 1 :]
    elif word[0] in _VOWELS:
        for at in range(2, last):
            if word[at] not in _VOWELS:
                return word[at + 1 :]
    return word[3:]


def _without_noun_ending(word: str, regions: dict[str, str]) -> str | None:
    """None where it has none."""
    for ending, region, put in _OF_NOUNS:
        if regions[region].endswith(ending):
            stem = word[: -len(ending)]
            if ending not in _BEHIND_E or stem.endswith("e"):
                return stem + put
    return None


def _without_verb_ending(word: str, region: str) -> str | None:
    for ending in _OF_VERBS:
        if region.endswith(ending):
            return word if ending == "ira" else word[: -len(ending)]
    return None


def _without_vowel(word: str, region: str) -> str:
    for ending in ("os", "a", "i", "o"):
        if region.endswith(ending):
            return word[: -len(ending)]
    return word


# --- Galician ---

_GALICIAN_MARKS = str.maketrans("áéêíóú", "aeeiou")


class _Rule(NamedTuple):
    ending: str
    least: int  # letters of the stem
    put: str
    exceptions: frozenset[str]


class _Step(NamedTuple):
    least: int  # letters of the word
    ends: tuple[str, ...]
    has_whole_words: bool  # as exceptions; or else endings
    rules: tuple[_Rule, ...]

    def applied(self, word: str) -> str:
        """By the first rule that fits."""
        if len(word) < self.least or (self.ends and not word.endswith(self.ends)):
            return word
        for rule in self.rules:
            if word.endswith(rule.ending) and len(word) - len(rule.ending) >= rule.least:
                is_exception = (
                    word in rule.exceptions if self.has_whole_words else any(map(word.endswith, rule.exceptions))
                )
                if not is_exception:
                    return word[: len(word) - len(rule.ending)] + rule.put
        return word


@cache
def _galician_steps() -> dict[str, _Step]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("galician.json").read_text("utf-8"))
    del found["about"]
    steps = {}
    for name, step in found.items():
        rules = tuple(_Rule(ending, least, put, frozenset(but.split())) for ending, least, put, but in step["rules"])
        least = step["least"] or min(rule.least + len(rule.ending) for rule in rules)
        steps[name] = _Step(least, tuple(step["ends"]), step["whole"], rules)
    return steps


def galician(word: str) -> str:
    """Without the endings of plurals, adverbs, augmentatives, and of nouns, or else of verbs, and without marks."""
    steps = _galician_steps()
    for name in ("plural", "unification", "adverb"):
        word = steps[name].applied(word)
    while True:
        shorter = steps["augmentative"].applied(word)
        is_over = len(shorter) == len(word)
        word = shorter
        if is_over:
            break
    stem = steps["noun"].applied(word)
    if len(stem) == len(word):
        stem = steps["verb"].applied(stem)
    return steps["vowel"].applied(stem).translate(_GALICIAN_MARKS)
