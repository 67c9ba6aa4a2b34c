"""Double Metaphone: how an English word sounds, as up to four letters. Only the first of its two codes is computed."""

from __future__ import annotations

from collections.abc import Callable

_LONGEST = 4
_SILENT_STARTS = ("GN", "KN", "PN", "WR", "PS")
_PLAIN = {"B": "P", "F": "F", "K": "K", "N": "N", "Q": "K", "V": "F"}  # one sound, also where the letter is doubled
_SOFT_G = ("ES", "EP", "EB", "EL", "EY", "IB", "IL", "IN", "IE", "EI", "ER")


def double_metaphone(word: str) -> str:
    """`double_metaphone('Schmidt')` is `'XMT'`."""
    return _Word(word.upper()).code()


class _Word:
    """A word in capitals, read letter by letter. Each reader adds a sound and returns how many letters it used."""

    def __init__(self, text: str) -> None:
        self.text = text
        self.slavic = "W" in text or "K" in text or "CZ" in text
        self.german = text.startswith("SCH")
        self.sounds = ""

    def code(self) -> str:
        place = 1 if self.text.startswith(_SILENT_STARTS) else 0
        while place < len(self.text) and len(self.sounds) < _LONGEST:
            letter = self.text[place]
            if letter in _PLAIN:
                place += self.says(_PLAIN[letter], 2 if self.at(place + 1) == letter else 1)
            else:
                place += _READERS[letter](self, place) if letter in _READERS else 1
        return self.sounds[:_LONGEST]

    def says(self, sound: str, taken: int) -> int:
        self.sounds += sound
        return taken

    def at(self, place: int) -> str:
        return self.text[place] if 0 <= place < len(self.text) else ""

    def has(self, place: int, *parts: str) -> bool:
        return place >= 0 and self.text.startswith(parts, place)

    def is_vowel(self, place: int) -> bool:
        return self.at(place) != "" and self.at(place) in "AEIOUY"

    def is_last(self, place: int) -> bool:
        return place == len(self.text) - 1

    # --- letters ------------------------------------------------------------------------------------------------

    def vowel(self, place: int) -> int:
        return self.says("A" if place == 0 else "", 1)

    def letter_c(self, place: int) -> int:
        if self._is_hard_ch(place):
            return self.says("K", 2)
        if place == 0 and self.has(place, "CAESAR"):
            return self.says("S", 2)
        if self.has(place, "CH"):
            return self._ch(place)
        if self.has(place, "CZ") and not self.has(place - 2, "WICZ"):
            return self.says("S", 2)
        if self.has(place + 1, "CIA"):
            return self.says("X", 3)
        if self.has(place, "CC") and not (place == 1 and self.at(0) == "M"):
            return self._cc(place)
        if self.has(place, "CK", "CG", "CQ"):
            return self.says("K", 2)
        if self.has(place, "CI", "CE", "CY"):
            return self.says("S", 2)
        doubled = self.has(place + 1, "C", "K", "Q") and not self.has(place + 1, "CE", "CI")
        return self.says("K", 2 if doubled else 1)

    def _is_hard_ch(self, place: int) -> bool:
        if self.has(place, "CHIA"):
            return True
        if place <= 1 or self.is_vowel(place - 2) or not self.has(place - 1, "ACH"):
            return False
        return self.at(place + 2) not in ("I", "E") or self.has(place - 2, "BACHER", "MACHER")

    def _ch(self, place: int) -> int:
        greek = place == 0 and self.has(1, "HARAC", "HARIS", "HOR", "HYM", "HIA", "HEM") and not self.has(0, "CHORE")
        if (place > 0 and self.has(place, "CHAE")) or greek or self._is_german_ch(place):
            return self.says("K", 2)
        return self.says("K" if place > 0 and self.has(0, "MC") else "X", 2)

    def _is_german_ch(self, place: int) -> bool:
        if self.german or self.has(place - 2, "ORCHES", "ARCHIT", "ORCHID") or self.has(place + 2, "T", "S"):
            return True
        behind_vowel = place == 0 or self.has(place - 1, "A", "O", "U", "E")
        return behind_vowel and (self.has(place + 2, *"LRNMBHFVW") or self.is_last(place + 1))

    def _cc(self, place: int) -> int:
        if not self.has(place + 2, "I", "E", "H") or self.has(place + 2, "HU"):
            return self.says("K", 2)
        accident = (place == 1 and self.at(0) == "A") or self.has(place - 1, "UCCEE", "UCCES")
        return self.says("KS" if accident else "X", 3)

    def letter_d(self, place: int) -> int:
        if self.has(place, "DG"):
            return self.says("J", 3) if self.has(place + 2, "I", "E", "Y") else self.says("TK", 2)
        return self.says("T", 2 if self.has(place, "DT", "DD") else 1)

    def letter_g(self, place: int) -> int:
        following = self.at(place + 1)
        if following == "H":
            return self._gh(place)
        if following == "N":
            return self.says(self._gn(place), 2)
        if self.has(place + 1, "LI") and not self.slavic:
            return self.says("KL", 2)
        if place == 0 and (following == "Y" or self.has(1, *_SOFT_G)):
            return self.says("K", 2)
        hard = self.has(0, "DANGER", "RANGER", "MANGER") or self.has(place - 1, "E", "I", "RGY", "OGY")
        if (following == "Y" or self.has(place + 1, "ER")) and not hard:
            return self.says("K", 2)
        if self.has(place + 1, "E", "I", "Y") or self.has(place - 1, "AGGI", "OGGI"):
            return self.says("K" if self.german or self.has(place + 1, "ET") else "J", 2)
        return self.says("K", 2 if following == "G" else 1)

    def _gn(self, place: int) -> str:
        if self.slavic or (place == 1 and self.is_vowel(0)):
            return "KN"
        return "KN" if self.has(place + 2, "EY") else "N"

    def _gh(self, place: int) -> int:
        if place > 0 and not self.is_vowel(place - 1):
            return self.says("K", 2)
        if place == 0:
            return self.says("J" if self.at(2) == "I" else "K", 2)
        if self.has(place - 2, "B", "H", "D") or self.has(place - 3, "B", "H", "D") or self.has(place - 4, "B", "H"):
            return 2
        if place > 2 and self.at(place - 1) == "U" and self.has(place - 3, "C", "G", "L", "R", "T"):
            return self.says("F", 2)
        return self.says("" if self.at(place - 1) == "I" else "K", 2)

    def letter_h(self, place: int) -> int:
        if (place == 0 or self.is_vowel(place - 1)) and self.is_vowel(place + 1):
            return self.says("H", 2)
        return 1

    def letter_j(self, place: int) -> int:
        if self.has(place, "JOSE"):
            return self.says("H" if len(self.text) == 4 else "J", 1)
        between = self.is_vowel(place - 1) and not self.slavic and self.has(place + 1, "A", "O")
        consonant = self.has(place + 1, *"LTKSNMBZ") or self.has(place - 1, "S", "K", "L")
        heard = place == 0 or between or self.is_last(place) or not consonant
        return self.says("J" if heard else "", 2 if self.at(place + 1) == "J" else 1)

    def letter_l(self, place: int) -> int:
        return self.says("L", 2 if self.at(place + 1) == "L" else 1)

    def letter_m(self, place: int) -> int:
        silent_b = self.has(place - 1, "UMB") and (self.is_last(place + 1) or self.has(place + 2, "ER"))
        return self.says("M", 2 if silent_b or self.at(place + 1) == "M" else 1)

    def letter_p(self, place: int) -> int:
        if self.at(place + 1) == "H":
            return self.says("F", 2)
        return self.says("P", 2 if self.has(place + 1, "P", "B") else 1)

    def letter_r(self, place: int) -> int:
        french = self.is_last(place) and not self.slavic and self.has(place - 2, "IE")
        silent = french and not self.has(place - 4, "ME", "MA")
        return self.says("" if silent else "R", 2 if self.at(place + 1) == "R" else 1)

    def letter_s(self, place: int) -> int:
        if self.has(place - 1, "ISL", "YSL"):
            return 1
        if place == 0 and self.has(place, "SUGAR"):
            return self.says("X", 1)
        if self.has(place, "SH"):
            return self.says("S" if self.has(place + 1, "HEIM", "HOEK", "HOLM", "HOLZ") else "X", 2)
        if self.has(place, "SIO", "SIA"):
            return self.says("S", 3)
        if (place == 0 and self.has(1, "M", "N", "L", "W")) or self.at(place + 1) == "Z":
            return self.says("S", 2 if self.at(place + 1) == "Z" else 1)
        if self.has(place, "SC"):
            return self.says(self._sc(place), 3)
        french = self.is_last(place) and self.has(place - 2, "AI", "OI")
        return self.says("" if french else "S", 2 if self.has(place + 1, "S", "Z") else 1)

    def _sc(self, place: int) -> str:
        if self.at(place + 2) == "H":
            if self.has(place + 3, "OO", "UY", "ED", "EM"):
                return "SK"
            return "X"
        return "S" if self.has(place + 2, "I", "E", "Y") else "SK"

    def letter_t(self, place: int) -> int:
        if self.has(place, "TION", "TIA", "TCH"):
            return self.says("X", 3)
        if self.has(place, "TH", "TTH"):
            return self.says("T" if self.german or self.has(place + 2, "OM", "AM") else "0", 2)
        return self.says("T", 2 if self.has(place + 1, "T", "D") else 1)

    def letter_w(self, place: int) -> int:
        if self.has(place, "WR"):
            return self.says("R", 2)
        if place == 0 and (self.is_vowel(1) or self.has(0, "WH")):
            return self.says("A", 1)
        polish = self.has(place - 1, "EWSKI", "EWSKY", "OWSKI", "OWSKY")
        if (self.is_last(place) and self.is_vowel(place - 1)) or polish or self.german:
            return 1
        return self.says("TS", 4) if self.has(place, "WICZ", "WITZ") else 1

    def letter_x(self, place: int) -> int:
        if place == 0:
            return self.says("S", 1)
        silent = self.is_last(place) and (self.has(place - 3, "IAU", "EAU") or self.has(place - 2, "AU", "OU"))
        return self.says("" if silent else "KS", 2 if self.has(place + 1, "C", "X") else 1)

    def letter_z(self, place: int) -> int:
        if self.at(place + 1) == "H":
            return self.says("J", 2)
        return self.says("S", 2 if self.at(place + 1) == "Z" else 1)


_READERS: dict[str, Callable[[_Word, int], int]] = {
    **dict.fromkeys("AEIOUY", _Word.vowel),
    "C": _Word.letter_c,
    "D": _Word.letter_d,
    "G": _Word.letter_g,
    "H": _Word.letter_h,
    "J": _Word.letter_j,
    "L": _Word.letter_l,
    "M": _Word.letter_m,
    "P": _Word.letter_p,
    "R": _Word.letter_r,
    "S": _Word.letter_s,
    "T": _Word.letter_t,
    "W": _Word.letter_w,
    "X": _Word.letter_x,
    "Z": _Word.letter_z,
}
