"""Words to stems, as in Lucene: Porter's for English, the light stemmers of Savoy for German, French, Italian, Spanish
and Portuguese, and Snowball's for other languages, where the package `snowballstemmer` is installed."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache

from hoplite.errors import CypherError
from hoplite.extras import missing_package

Stem = Callable[[str], str]

# --- English ---

_POSSESSIVE = re.compile("['’＇][sS]$")  # noqa: RUF001


def without_possessive(word: str) -> str:
    """The word without 's at its end."""
    return _POSSESSIVE.sub("", word) if word[-1:] in "sS" else word


def _shape(word: str) -> str:
    """Consonants as c, vowels as v; y is a vowel behind a consonant."""
    shape = ""
    for at, letter in enumerate(word):
        is_vowel = letter in "aeiou" or (letter == "y" and at > 0 and shape[-1] == "c")
        shape += "v" if is_vowel else "c"
    return shape


def _measure(stem: str) -> int:
    """How often a consonant follows a vowel."""
    return _shape(stem).count("vc")


def _ends_in_pair(word: str) -> bool:
    return len(word) > 1 and word[-1] == word[-2] and _shape(word)[-1] == "c"


def _ends_short(word: str) -> bool:
    return len(word) > 2 and _shape(word)[-3:] == "cvc" and word[-1] not in "wxy"


_STEP_2 = (
    ("ational", "ate"), ("tional", "tion"), ("enci", "ence"), ("anci", "ance"), ("izer", "ize"), ("bli", "ble"),
    ("alli", "al"), ("entli", "ent"), ("eli", "e"), ("ousli", "ous"), ("ization", "ize"), ("ation", "ate"),
    ("ator", "ate"), ("alism", "al"), ("iveness", "ive"), ("fulness", "ful"), ("ousness", "ous"), ("aliti", "al"),
    ("iviti", "ive"), ("biliti", "ble"), ("logi", "log"),
)  # fmt: skip
_STEP_3 = (
    ("icate", "ic"), ("ative", ""), ("alize", "al"), ("iciti", "ic"), ("ical", "ic"), ("ful", ""), ("ness", ""),
)  # fmt: skip
_STEP_4 = (
    "al", "ance", "ence", "er", "ic", "able", "ible", "ant", "ement", "ment", "ent", "ion", "ou", "ism", "ate", "iti",
    "ous", "ive", "ize",
)  # fmt: skip


def porter(word: str) -> str:
    """Porter's stemmer of 1980, with the changes that its author published later."""
    if len(word) <= 2:
        return word
    word = _porter_endings(word)
    for table in (_STEP_2, _STEP_3):
        for suffix, new in table:
            if word.endswith(suffix):
                stem = word[: -len(suffix)]
                if _measure(stem) > 0:
                    word = stem + new
                break
    for suffix in sorted(_STEP_4, key=len, reverse=True):
        if word.endswith(suffix):
            stem = word[: -len(suffix)]
            if _measure(stem) > 1 and (suffix != "ion" or stem[-1:] in ("s", "t")):
                word = stem
            break
    if word.endswith("e"):
        stem = word[:-1]
        if _measure(stem) > 1 or (_measure(stem) == 1 and not _ends_short(stem)):
            word = stem
    if word.endswith("ll") and _measure(word) > 1:
        word = word[:-1]
    return word


def _porter_endings(word: str) -> str:
    """Plurals, -ed, -ing, and y at the end."""
    if word.endswith(("sses", "ies")):
        word = word[:-2]
    elif word.endswith("s") and not word.endswith("ss"):
        word = word[:-1]
    if word.endswith("eed"):
        if _measure(word[:-3]) > 0:
            word = word[:-1]
    else:
        for suffix in ("ed", "ing"):
            if word.endswith(suffix):
                if "v" in _shape(word[: -len(suffix)]):
                    word = _restored(word[: -len(suffix)])
                break
    if word.endswith("y") and "v" in _shape(word[:-1]):
        word = word[:-1] + "i"
    return word


def _restored(stem: str) -> str:
    if stem.endswith(("at", "bl", "iz")):
        return stem + "e"
    if _ends_in_pair(stem):
        return stem if stem[-1] in "lsz" else stem[:-1]
    return stem + "e" if _measure(stem) == 1 and _ends_short(stem) else stem


# --- German ---

_GERMAN_MARKS = str.maketrans("äàáâöòóôïìíîüùúû", "aaaaooooiiiiuuuu")
_BEFORE_ST = frozenset("bdfghklmnt")


def german_letters(word: str) -> str:
    """ß as ss, ä and ae as a, and so on, where ae does stand for ä."""
    letters: list[str] = []
    state = "plain"
    for letter in word:
        if letter in "ao":
            state = "umlaut"
        elif letter == "u":
            state = "umlaut" if state == "plain" else "vowel"
        elif letter == "e":
            is_mark, state = state == "umlaut", "vowel"
            if is_mark:
                continue
        elif letter in "iqy":
            state = "vowel"
        elif letter in "äöü":
            letter, state = {"ä": "a", "ö": "o", "ü": "u"}[letter], "vowel"
        else:
            letter, state = ("ss" if letter == "ß" else letter), "plain"
        letters.append(letter)
    return "".join(letters)


def german(word: str) -> str:
    """Without the endings of cases, plurals and comparison."""
    word = word.translate(_GERMAN_MARKS)
    if len(word) > 5 and word.endswith("ern"):
        word = word[:-3]
    elif len(word) > 4 and word.endswith(("em", "en", "er", "es")):
        word = word[:-2]
    elif len(word) > 3 and (word.endswith("e") or (word.endswith("s") and word[-2] in _BEFORE_ST)):
        word = word[:-1]
    if len(word) > 5 and word.endswith("est"):
        return word[:-3]
    if len(word) > 4 and (word.endswith(("er", "en")) or (word.endswith("st") and word[-3] in _BEFORE_ST)):
        return word[:-2]
    return word


# --- French ---

_FRENCH_ENDINGS = (
    # (longer than, ending, letters to cut, what to put there)
    (11, "ficatrice", 7, "er"), (10, "ficateur", 6, "er"), (9, "catrice", 7, "quer"), (8, "cateur", 6, "quer"),
    (8, "atrice", 6, "er"), (7, "ateur", 5, "er"),
)  # fmt: skip
_FRENCH_MORE = (
    (5, "ième", 4, ""), (7, "teuse", 3, "r"), (6, "teur", 2, "r"), (5, "euse", 2, ""), (8, "ère", 3, "er"),
    (7, "ive", 2, "f"), (4, "folle", 3, "u"), (4, "molle", 3, "u"), (9, "nnelle", 5, ""), (9, "nnel", 3, ""),
)  # fmt: skip
_FRENCH_MARKS = str.maketrans("àáâôèéêùûîç", "aaaoeeeuuic")


def french(word: str) -> str:
    """Without the endings of plurals, feminines, and of words made of others."""
    if len(word) > 5 and word.endswith("x"):
        if word[-3:-1] == "au" and word[-4] != "e":
            word = word[:-2] + "lx"
        word = word[:-1]
    if len(word) > 3 and word.endswith("x"):
        word = word[:-1]
    if len(word) > 3 and word.endswith("s"):
        word = word[:-1]
    if len(word) > 9 and word.endswith("issement"):
        return _french_norm(word[:-7] + "r")
    if len(word) > 8 and word.endswith("issant"):
        return _french_norm(word[:-5] + "r")
    if len(word) > 6 and word.endswith("ement"):
        word = word[:-4]
        return _french_norm(word[:-2] + "f" if len(word) > 3 and word.endswith("ive") else word)
    for longer, ending, cut, put in _FRENCH_ENDINGS:
        if len(word) > longer and word.endswith(ending):
            return _french_norm(word[:-cut] + put)
    if len(word) > 6 and word.endswith("trice"):
        word = word[:-4] + "eur"
    for longer, ending, cut, put in _FRENCH_MORE:
        if len(word) > longer and word.endswith(ending):
            return _french_norm(word[:-cut] + put)
    if len(word) > 4 and word.endswith("ète"):
        word = word[:-3] + "et"
    if len(word) > 8 and word.endswith("ique"):
        word = word[:-4]
    if len(word) > 8 and word.endswith("esse"):
        return _french_norm(word[:-3])
    if len(word) > 7 and word.endswith("inage"):
        return _french_norm(word[:-3])
    if len(word) > 9 and word.endswith("isation"):
        word = word[:-7]
        return _french_norm(word[:-2] + "el" if len(word) > 5 and word.endswith("ual") else word)
    if len(word) > 9 and word.endswith("isateur"):
        return _french_norm(word[:-7])
    if len(word) > 8 and word.endswith(("ation", "ition")):
        return _french_norm(word[:-5])
    return _french_norm(word)


def _french_norm(word: str) -> str:
    if len(word) > 4:
        word = word.translate(_FRENCH_MARKS)
        letters = word[:1]
        for letter in word[1:]:
            if letter != letters[-1] or not letter.isalpha():
                letters += letter
        word = letters
    if len(word) > 4 and word.endswith("ie"):
        word = word[:-2]
    if len(word) > 4:
        word = word.removesuffix("r")
        word = word.removesuffix("e")
        word = word.removesuffix("e")
        if word[-1] == word[-2] and word[-1].isalpha():
            word = word[:-1]
    return word


# --- Italian, Spanish, Portuguese ---

_MARKS = str.maketrans("àáâäòóôöèéêëùúûüìíîï", "aaaaooooeeeeuuuuiiii")
_PORTUGUESE_MARKS = str.maketrans("àáâäãòóôöõèéêëùúûüìíîïç", "aaaaaoooooeeeeuuuuiiiic")


def italian(word: str) -> str:
    """Without the vowels of gender and number."""
    if len(word) < 6:
        return word
    word = word.translate(_MARKS)
    if word.endswith(("ie", "he", "hi", "ii", "ia", "io")):
        return word[:-2]
    return word[:-1] if word[-1] in "eiao" else word


def spanish(word: str) -> str:
    """Without the endings of gender and number."""
    if len(word) < 5:
        return word
    word = word.translate(_MARKS)
    if word[-1] in "oae":
        return word[:-1]
    if word.endswith("eses"):
        return word[:-2]
    if word.endswith("ces"):
        return word[:-3] + "z"
    return word[:-2] if word.endswith(("os", "as", "es")) else word


def portuguese(word: str) -> str:
    """Without the endings of gender, number and adverbs."""
    if len(word) < 4:
        return word
    word = _portuguese_singular(word)
    if len(word) > 3 and word.endswith("a"):
        word = _portuguese_masculine(word)
    if len(word) > 4 and word[-1] in "eao":
        word = word[:-1]
    return word.translate(_PORTUGUESE_MARKS)


def _portuguese_singular(word: str) -> str:
    if len(word) > 4 and word.endswith(("res", "ses", "les", "zes")):
        return word[:-2]
    if word.endswith("ns"):
        return word[:-2] + "m"
    for ending, put in (("eis", "el"), ("éis", "el"), ("ais", "al"), ("óis", "ol"), ("is", "il")):
        if len(word) > 4 and word.endswith(ending):
            return word[: -len(ending)] + put
    if word.endswith(("ões", "ães")):
        return word[:-3] + "ão"
    if len(word) > 6 and word.endswith("mente"):
        return word[:-5]
    return word.removesuffix("s")


def _portuguese_masculine(word: str) -> str:
    if len(word) > 7 and word.endswith(("inha", "iaca", "eira")):
        return word[:-1] + "o"
    if len(word) <= 6:
        return word
    if word.endswith(("osa", "ica", "ida", "ada", "iva", "ama")):
        return word[:-1] + "o"
    if word.endswith("ona"):
        return word[:-3] + "ão"
    if word.endswith("ora"):
        return word[:-1]
    if word.endswith("esa"):
        return word[:-3] + "ês"
    return word[:-1] + "o" if word.endswith("na") else word


# --- the others ---


def without_elision(*articles: str) -> Stem:
    """Without an article and its apostrophe at the start: l'amour."""

    def shorten(word: str) -> str:
        for at, letter in enumerate(word):
            if letter in "'’":  # noqa: RUF001
                return word[at + 1 :] if word[:at].lower() in articles else word
        return word

    return shorten


def before_apostrophe(word: str) -> str:
    """What comes before an apostrophe."""
    return re.split("['’]", word, maxsplit=1)[0]  # noqa: RUF001


@cache
def snowball(language: str) -> Stem:
    """The stemmer of a language."""
    try:
        import snowballstemmer
    except ModuleNotFoundError as missing:
        message = missing_package(f"The full-text analyzer '{language}'", missing)
        raise CypherError("Neo.ClientError.Statement.ArgumentError", str(message)) from None
    stemmer = snowballstemmer.stemmer(language)
    return cache(stemmer.stemWord)


_DUTCH_EXCEPTIONS = {"fiets": "fiets", "bromfiets": "bromfiets", "ei": "eier", "kind": "kinder"}


def dutch() -> Stem:
    """Snowball's, with the exceptions that Lucene makes."""
    stem = snowball("dutch")
    return lambda word: _DUTCH_EXCEPTIONS.get(word) or stem(word)
