# ruff: noqa: RUF001
"""Light stemmers of Lucene for languages in which a few endings, and beginnings, tell most forms of a word."""

from __future__ import annotations

import unicodedata

# --- Bulgarian ---


def bulgarian(word: str) -> str:
    """Without articles, plurals and the vowels of gender."""
    if len(word) < 4:
        return word
    if len(word) > 5 and word.endswith("ища"):
        return word[:-3]
    word = _bulgarian_singular(_without_bulgarian_article(word))
    if len(word) > 3:
        word = word.removesuffix("я")
        if word[-1] in "аое":
            word = word[:-1]
    if len(word) > 4 and word.endswith("ен"):
        word = word[:-2] + "н"
    if len(word) > 5 and word[-2] == "ъ":
        word = word[:-2] + word[-1]
    return word


def _without_bulgarian_article(word: str) -> str:
    if len(word) > 6 and word.endswith("ият"):
        return word[:-3]
    if len(word) > 5 and word.endswith(("ът", "то", "те", "та", "ия")):
        return word[:-2]
    return word[:-2] if len(word) > 4 and word.endswith("ят") else word


def _bulgarian_singular(word: str) -> str:
    if len(word) > 6:
        if word.endswith(("овци", "ове")):
            return word[:-3]
        if word.endswith("еве"):
            return word[:-3] + "й"
    if len(word) > 5:
        if word.endswith("ища"):
            return word[:-3]
        if word.endswith("та"):
            return word[:-2]
        if word.endswith("ци"):
            return word[:-2] + "к"
        if word.endswith("зи"):
            return word[:-2] + "г"
        if word[-3] == "е" and word[-1] == "и":
            return word[:-3] + "я" + word[-2]
    if len(word) > 4:
        if word.endswith("си"):
            return word[:-2] + "х"
        if word.endswith("и"):
            return word[:-1]
    return word


# --- Czech ---

_CZECH_CASES = (
    (7, ("atech",), 5),
    (6, ("ětem", "etem", "atům"), 4),
    (
        5,
        (
            "ech", "ich", "ích", "ého", "ěmi", "emi", "ému", "ěte", "ete", "ěti", "eti", "ího", "iho", "ími", "ímu",
            "imu", "ách", "ata", "aty", "ých", "ama", "ami", "ové", "ovi", "ými",
        ),
        3,
    ),
    (4, ("em", "es", "ém", "ím", "ům", "at", "ám", "os", "us", "ým", "mi", "ou"), 2),
    (3, tuple("aeiouůyáéíýě"), 1),
)  # fmt: skip


def czech(word: str) -> str:
    """Without the endings of cases and possessives."""
    for longer, endings, cut in _CZECH_CASES:
        if len(word) > longer and word.endswith(endings):
            word = word[:-cut]
            break
    if len(word) > 5 and word.endswith(("ov", "in", "ův")):
        word = word[:-2]
    if word.endswith(("čt", "št")):
        return word[:-2] + {"č": "ck", "š": "sk"}[word[-2]]
    if word and word[-1] in "cčzž":
        return word[:-1] + {"c": "k", "č": "k", "z": "h", "ž": "h"}[word[-1]]
    if len(word) > 1 and word[-2] == "e":
        return word[:-2] + word[-1]
    return word[:-2] + "o" + word[-1] if len(word) > 2 and word[-2] == "ů" else word


# --- Latvian ---

_LATVIAN = (
    # (ending, vowels that must be there besides, whether the consonant before it may have changed)
    ("ajiem", 3, False), ("ajai", 3, False), ("ajam", 2, False), ("ajām", 2, False), ("ajos", 2, False),
    ("ajās", 2, False), ("iem", 2, True), ("ajā", 2, False), ("ais", 2, False), ("ai", 2, False), ("ei", 2, False),
    ("ām", 1, False), ("am", 1, False), ("ēm", 1, False), ("īm", 1, False), ("im", 1, False), ("um", 1, False),
    ("us", 1, True), ("as", 1, False), ("ās", 1, False), ("es", 1, False), ("os", 1, True), ("ij", 1, False),
    ("īs", 1, False), ("ēs", 1, False), ("is", 1, False), ("ie", 1, False), ("u", 1, True), ("a", 1, True),
    ("i", 1, True), ("e", 1, False), ("ā", 1, False), ("ē", 1, False), ("ī", 1, False), ("ū", 1, False),
    ("o", 1, False), ("s", 0, False), ("š", 0, False),
)  # fmt: skip
_LATVIAN_PAIRS = {"šņ": "sn", "žņ": "zn", "šļ": "sl", "žļ": "zl", "ļņ": "ln", "ļļ": "ll"}


def latvian(word: str) -> str:
    """Without the endings of declension."""
    vowels = sum(letter in "aeiouāīēū" for letter in word)
    for ending, others, changes in _LATVIAN:
        if vowels > others and len(word) >= len(ending) + 3 and word.endswith(ending):
            stem = word[: -len(ending)]
            return _latvian_consonants(stem, ending[0]) if changes else stem
    return word


def _latvian_consonants(stem: str, removed: str) -> str:
    if removed == "u":
        if stem.endswith("kš"):
            return stem[:-1] + "st"
        if stem.endswith("ņņ"):
            return stem[:-2] + "nn"
    if stem.endswith(("pj", "bj", "mj", "vj")):
        return stem[:-1]
    if stem[-2:] in _LATVIAN_PAIRS:
        return stem[:-2] + _LATVIAN_PAIRS[stem[-2:]]
    return stem[:-1] + {"č": "c", "ļ": "l", "ņ": "n"}.get(stem[-1], stem[-1])


# --- Indonesian ---

_FIRST = (
    # (beginning, letter that must be a vowel or not, what is cut, what stands there then, what it is)
    ("meng", None, 4, "", "meng"), ("meny", 4, 4, "s", "meng"), ("men", None, 3, "", "meng"),
    ("mem", None, 3, "", "meng"), ("me", None, 2, "", "meng"), ("peng", None, 4, "", "peng"),
    ("peny", 4, 4, "s", "peng"), ("peny", None, 4, "", "peng"), ("pen", 3, 3, "t", "peng"),
    ("pen", None, 3, "", "peng"), ("pem", None, 3, "", "peng"), ("di", None, 2, "", "di"),
    ("ter", None, 3, "", "ter"), ("ke", None, 2, "", "ke"),
)  # fmt: skip


def indonesian(word: str) -> str:
    """Without particles, possessives, and what makes words of others; as long as three syllables are left."""
    return _Indonesian(word).stem()


class _Indonesian:
    def __init__(self, word: str) -> None:
        self.word = word
        self.syllables = sum(letter in "aeiou" for letter in word)
        self.removed: set[str] = set()

    def _cut(self, word: str) -> None:
        self.word = word
        self.syllables -= 1

    def stem(self) -> str:
        if self.syllables > 2 and self.word.endswith(("kah", "lah", "pun")):
            self._cut(self.word[:-3])
        if self.syllables > 2:
            self._possessive()
        before = self.word
        if self.syllables > 2:
            self._first()
        if self.word != before:
            before = self.word
            if self.syllables > 2:
                self._suffix()
            if self.word != before and self.syllables > 2:
                self._second()
        else:
            if self.syllables > 2:
                self._second()
            if self.syllables > 2:
                self._suffix()
        return self.word

    def _possessive(self) -> None:
        if self.word.endswith(("ku", "mu")):
            self._cut(self.word[:-2])
        elif self.word.endswith("nya"):
            self._cut(self.word[:-3])

    def _first(self) -> None:
        word = self.word
        for beginning, vowel_at, cut, put, what in _FIRST:
            if word.startswith(beginning) and (
                vowel_at is None or (len(word) > vowel_at and word[vowel_at] in "aeiou")
            ):
                self.removed.add(what)
                self._cut(put + word[cut:])
                return

    def _second(self) -> None:
        word = self.word
        if word.startswith("ber") or word == "belajar":
            self.removed.add("ber")
            self._cut(word[3:])
        elif word.startswith("be") and len(word) > 4 and word[2] not in "aeiou" and word[3:5] == "er":
            self.removed.add("ber")
            self._cut(word[2:])
        elif word.startswith("per") or word == "pelajar":
            self._cut(word[3:])
        elif word.startswith("pe"):
            self.removed.add("pe")
            self._cut(word[2:])

    def _suffix(self) -> None:
        word, removed = self.word, self.removed
        if word.endswith("kan") and not removed & {"ke", "peng", "pe"}:
            self._cut(word[:-3])
        elif word.endswith("an") and not removed & {"di", "meng", "ter"}:
            self._cut(word[:-2])
        elif word.endswith("i") and not word.endswith("si") and not removed & {"ber", "ke", "peng"}:
            self._cut(word[:-1])


# --- Arabic and Persian ---

_ARABIC_LETTERS = str.maketrans("آأإىة", "اااىه", "ـ" + "".join(map(chr, range(0x64B, 0x653)))) | {0x649: "ي"}
_ARABIC_BEGINNINGS = ("ال", "وال", "بال", "كال", "فال", "لل", "و")
_ARABIC_ENDINGS = ("ها", "ان", "ات", "ون", "ين", "يه", "ية", "ه", "ة", "ي")
_PERSIAN_LETTERS = str.maketrans("یےکۀہ", "ييكهه", "ٔ")


def digits(word: str) -> str:
    """Digits of any script as those of ASCII."""
    if word.isascii():
        return word
    return "".join(str(unicodedata.decimal(letter)) if letter.isdecimal() else letter for letter in word)


def arabic_letters(word: str) -> str:
    """Forms of a letter as one, without marks."""
    return word.translate(_ARABIC_LETTERS)


def arabic(word: str) -> str:
    """Without articles and prepositions in front, and without endings."""
    for beginning in _ARABIC_BEGINNINGS:
        least = 4 if len(beginning) == 1 else len(beginning) + 2
        if len(word) >= least and word.startswith(beginning):
            word = word[len(beginning) :]
            break
    for ending in _ARABIC_ENDINGS:
        if len(word) >= len(ending) + 2 and word.endswith(ending):
            word = word[: -len(ending)]
    return word


def persian_letters(word: str) -> str:
    """Persian forms of letters as the Arabic ones."""
    return word.translate(_PERSIAN_LETTERS)


# --- Hindi ---

_HINDI_LETTERS = str.maketrans(
    "".join(map(chr, (
        0x901, 0x929, 0x931, 0x934, 0x958, 0x959, 0x95A, 0x95B, 0x95C, 0x95D, 0x95E, 0x95F, 0x90D, 0x90E, 0x945, 0x946,
        0x911, 0x912, 0x949, 0x94A, 0x972, 0x906, 0x908, 0x90A, 0x960, 0x961, 0x910, 0x914, 0x940, 0x942, 0x944, 0x963,
        0x948, 0x94C,
    ))),
    "ंनरळकखगजडढफयएएेेओओोोअअइउऋऌएओिुृॢेो",
    "\u093c\u200c\u200d\u094d",
)  # fmt: skip
_HINDI_ENDINGS = (
    (
        6,
        (
            "ाएंगी", "ाएंगे", "ाऊंगी", "ाऊंगा", "ाइयाँ", "ाइयों", "ाइयां",
        ),
    ),
    (
        5,
        (
            "ाएगी", "ाएगा", "ाओगी", "ाओगे", "एंगी", "ेंगी", "एंगे", "ेंगे", "ूंगी", "ूंगा", "ातीं", "नाओं",
            "नाएं", "ताओं", "ताएं", "ियाँ", "ियों", "ियां",
        ),
    ),
    (
        4,
        (
            "ाकर", "ाइए", "ाईं", "ाया", "ेगी", "ेगा", "ोगी", "ोगे", "ाने", "ाना", "ाते", "ाती", "ाता", "तीं",
            "ाओं", "ाएं", "ुओं", "ुएं", "ुआं",
        ),
    ),
    (
        3,
        (
            "कर", "ाओ", "िए", "ाई", "ाए", "ने", "नी", "ना", "ते", "ीं", "ती", "ता", "ाँ", "ां", "ों", "ें",
        ),
    ),
    (
        2,
        (
            "ो", "े", "ू", "ु", "ी", "ि", "ा",
        ),
    ),
)  # fmt: skip


_HINDI_PARTS = {
    "\u0905\u093e\u0945": "\u0911", "\u0905\u093e\u0946": "\u0912", "\u0905\u093e\u0947": "\u0913",
    "\u0905\u093e\u0948": "\u0914", "\u0905\u093e": "\u0906", "\u0905\u0945": "\u0972", "\u0905\u0946": "\u0904",
    "\u0905\u0949": "\u0911", "\u0905\u094a": "\u0912", "\u0905\u094b": "\u0913", "\u0905\u094c": "\u0914",
    "\u0906\u0945": "\u0911", "\u0906\u0946": "\u0912", "\u0906\u0947": "\u0913", "\u0906\u0948": "\u0914",
    "\u090f\u0945": "\u090d", "\u090f\u0946": "\u090e", "\u090f\u0947": "\u0910", "\u093e\u0945": "\u0949",
    "\u093e\u0946": "\u094a", "\u093e\u0947": "\u094b", "\u093e\u0948": "\u094c",
}  # fmt: skip


def hindi_letters(word: str) -> str:
    """Long and short vowels as one, without marks."""
    for parts, whole in _HINDI_PARTS.items():
        word = word.replace(parts, whole)
    word = word.replace("\u0928\u094d", "\u0902")
    return unicodedata.normalize("NFC", word).translate(_HINDI_LETTERS)


def hindi(word: str) -> str:
    """Without the endings of number, gender and tense."""
    for longer, endings in _HINDI_ENDINGS:
        if len(word) > longer and word.endswith(endings):
            return word[: -(longer - 1)]
    return word


# --- Sorani ---

_SORANI_LETTERS = str.maketrans("يىكةھڒ", "ییکەهڕ")
_SORANI_MARKS = "ـ\u064b\u064c\u064d\u064e\u064f\u0650\u0651\u0652"
_NON_JOINER = "\u200c"  # behind a letter that is a vowel, written like h
_SORANI_CASES = ((5, "دا", 2), (4, "نا", 1), (6, "ەوە", 3))
_SORANI_ENDINGS = (
    # (longer than, ending, letters to cut)
    (6, "ێکی", 3), (7, "یەکی", 4), (5, "ێک", 2), (6, "یەک", 3), (6, "ەکە", 3), (5, "کە", 2), (7, "ەکان", 4),
    (6, "کان", 3), (7, "یانی", 4), (6, "انی", 3), (6, "یان", 3), (5, "ان", 2), (7, "یانە", 4), (6, "انە", 3),
    (5, "ایە", 2), (5, "ەیە", 2), (4, "ە", 1), (4, "ی", 1),
)  # fmt: skip


def sorani_letters(word: str) -> str:
    """Letters that are written in several ways in one of them, without vowel marks."""
    if word.endswith("ه"):
        word = word[:-1] + "ە"
    word = "".join(
        letter
        for letter in word
        if letter == _NON_JOINER or (letter not in _SORANI_MARKS and unicodedata.category(letter) != "Cf")
    )
    for letter in "هھ":
        word = word.replace(letter + _NON_JOINER, "ە")
    word = word.replace(_NON_JOINER, "").translate(_SORANI_LETTERS)
    return "ڕ" + word[1:] if word.startswith("ر") else word


def sorani(word: str) -> str:
    """Without the endings of cases, possession, number and definiteness."""
    for longer, ending, cut in _SORANI_CASES:
        if len(word) > longer and word.endswith(ending):
            word = word[:-cut]
            break
    if len(word) > 6 and word.endswith(("مان", "یان", "تان")):
        word = word[:-3]
    for longer, ending, cut in _SORANI_ENDINGS:
        if len(word) > longer and word.endswith(ending):
            return word[:-cut]
    return word


# --- Irish and Turkish ---


def without_irish_mark(word: str) -> str:
    """Nothing for the letter that is put before a word with a hyphen."""
    return "" if word.lower() in ("h", "n", "t") else word


def irish_lower(word: str) -> str:
    """In lower case; a capital vowel behind the t or n that is put before it is parted from it."""
    if len(word) > 1 and word[0] in "nt" and word[1] in "AEIOUÁÉÍÓÚ":
        word = f"{word[0]}-{word[1:]}"
    return word.lower()


def turkish_lower(word: str) -> str:
    """In lower case, where a dot belongs to the letter."""
    return word.replace("I\u0307", "i").replace("İ", "i").replace("I", "ı").lower()
