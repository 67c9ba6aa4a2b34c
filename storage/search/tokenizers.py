"""Texts split into words, like Lucene's tokenizers."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import cache
from typing import Any

LONGEST_WORD = 255
"""Longer ones are cut into pieces of this length."""

Tokenizer = Callable[[str], list[str]]

_ASCII_WORD = re.compile(
    r"_*[A-Za-z0-9](?:[A-Za-z0-9_]|(?<=[A-Za-z])[.':](?=[A-Za-z])|(?<=[0-9])[.',;](?=[0-9]))*"
)  # fmt: skip

_MID_LETTER = r":··՟״‧︓﹕："  # noqa: RUF001
_MID_BOTH = r".‘’․﹒＇．'"  # noqa: RUF001
_MID_NUMBER = r",;;։،؍٬߸⁄︐︔﹐﹔，；"  # noqa: RUF001
_PICTURES = (  # those of Unicode 12, as long as Lucene has them
    r"©®‼⁉™ℹ↔-↙↩↪⌚⌛⌨⎈⏏⏩-⏳⏸-⏺Ⓜ▪▫▶◀◻-◾☀-★☇-☒☔-⚅⚐-✅✈-✒✔✖✝✡✨✳✴❄❇❌❎❓-❕❗❣-❧➕-➗➡➰➿⤴⤵⬅-⬇⬛⬜⭐⭕〰〽㊗㊙"  # noqa: RUF001
    r"\U0001F000-\U0001F0FF\U0001F10D-\U0001F10F\U0001F12F\U0001F16C-\U0001F171\U0001F17E\U0001F17F\U0001F18E"
    r"\U0001F191-\U0001F19A\U0001F1AD-\U0001F1E5\U0001F201-\U0001F20F\U0001F21A\U0001F22F\U0001F232-\U0001F23A"
    r"\U0001F23C-\U0001F23F\U0001F249-\U0001F3FA\U0001F400-\U0001F53D\U0001F546-\U0001F64F\U0001F680-\U0001F6FF"
    r"\U0001F774-\U0001F77F\U0001F7D5-\U0001F7FF\U0001F80C-\U0001FAFF"
)
_EXTENDED = r"[\p{WB=Format}\p{WB=Extend}\p{WB=ZWJ}]*"


def word_pattern() -> str:
    """The rules for word boundaries of Unicode (UAX #29) as one expression; ideographs and syllables of hiragana are
    words by themselves, and so are pictures."""
    extended = _EXTENDED
    letter = rf"[\p{{WB=Hebrew_Letter}}\p{{WB=ALetter}}]{extended}"
    hebrew = rf"\p{{WB=Hebrew_Letter}}{extended}"
    digit = rf"[\p{{WB=Numeric}}\uFF10-\uFF19]{extended}"
    join = rf"\p{{WB=ExtendNumLet}}{extended}"
    katakana = rf"\p{{WB=Katakana}}{extended}"
    in_word, in_number = rf"[{_MID_LETTER}{_MID_BOTH}]{extended}", rf"[{_MID_NUMBER}{_MID_BOTH}]{extended}"
    run = (
        rf"(?:{katakana}(?:(?:{join})*{katakana})*"
        rf"|(?:{digit}(?:(?:(?:{join})*|{in_number}){digit})*"
        rf"|{letter}(?:(?:(?:{join})*|{in_word}){letter})*"
        rf"|{hebrew}(?:'{extended}|\"{extended}{hebrew}))+)"
    )
    picture = rf"[{_PICTURES}](?:\p{{Emoji_Modifier}}|\uFE0F)?"
    return (
        rf"(?:{join})*{run}(?:(?:{join})+{run})*(?:{join})*"
        rf"|(?:\p{{Line_Break=Complex_Context}}{extended})+"
        rf"|\p{{Script=Han}}{extended}|\p{{Script=Hiragana}}{extended}"
        rf"|[#*]\uFE0F?\u20E3|\p{{RI}}\p{{RI}}|{picture}(?:\u200D{picture})*"
    )


@cache
def _pattern(expression: str) -> Any:
    import regex

    return regex.compile(expression)


def standard(text: str) -> list[str]:
    """Words by Unicode's rules: letters and digits, with the points and apostrophes inside them."""
    if text.isascii():
        return cut(_ASCII_WORD.findall(text))
    return cut(_pattern(word_pattern()).findall(text))


def persian(text: str) -> list[str]:
    """The same, with a break where letters are written without joining them."""
    return standard(text.replace("\u200c", " "))


def cut(words: list[str]) -> list[str]:
    """Words that are too long, cut into pieces."""
    if not words or max(map(len, words)) <= LONGEST_WORD:
        return words
    return [word[first : first + LONGEST_WORD] for word in words for first in range(0, len(word), LONGEST_WORD)]


def letters(text: str) -> list[str]:
    """Runs of letters."""
    return cut(_pattern(r"\p{L}+").findall(text))


_JAVA_SPACE = r"\t\n\v\f\r\x1c-\x1f \u1680\u2000-\u2006\u2008-\u200a\u2028\u2029\u205f\u3000"


def java_spaced(text: str) -> list[str]:
    """What is between white space, as Java defines it: spaces that do not break a line do not count."""
    return cut(_pattern(f"[^{_JAVA_SPACE}]+").findall(text))


def unicode_spaced(text: str) -> list[str]:
    """What is between white space, as Unicode defines it."""
    return cut(_pattern(r"\P{White_Space}+").findall(text))


def whole(text: str) -> list[str]:
    """The text as one word."""
    return [text]


# --- the classic tokenizer ---

_CJ = r"\u3040-\u312F\u31F0-\u31FF\u3300-\u337F\u3400-\u4DBF\u4E00-\u9FFF\uF900-\uFAFF\uFF65-\uFF9F"
_LETTER, _DIGIT = rf"[[\p{{L}}\u0E00-\u0E59]&&[^{_CJ}]]", r"\p{Nd}"
_CLASSIC_KINDS = ("email", "acronym", "company", "apostrophe", "number", "host", "plain", "cj")


def _classic_words() -> str:
    alpha = rf"{_LETTER}+"
    both = rf"(?:{_LETTER}|{_DIGIT})+"
    has_digit = rf"(?:{_LETTER}|{_DIGIT})*{_DIGIT}(?:{_LETTER}|{_DIGIT})*"
    mark = r"[_\-/.,]"
    numbers = "|".join(
        (
            rf"{both}{mark}{has_digit}(?:{mark}{both}{mark}{has_digit})+",
            rf"{has_digit}{mark}{both}(?:{mark}{has_digit}{mark}{both})+",
            rf"{both}(?:{mark}{has_digit}{mark}{both})+",
            rf"{has_digit}(?:{mark}{both}{mark}{has_digit})+",
            rf"{both}{mark}{has_digit}",
            rf"{has_digit}{mark}{both}",
        )
    )
    forms = (
        rf"{both}(?:[.\-_]{both})*@{both}(?:[.\-]{both})+",
        rf"{_LETTER}\.(?:{_LETTER}\.)+",
        rf"{alpha}[&@]{alpha}",
        rf"{alpha}(?:'{alpha})+",
        numbers,
        rf"{both}(?:\.{both})+",
        both,
        f"[{_CJ}]",
    )
    return "(?V1)(?p)" + "|".join(f"(?P<{kind}>{form})" for kind, form in zip(_CLASSIC_KINDS, forms, strict=True))


def classic(text: str) -> list[str]:
    """Words as Lucene split texts before it followed Unicode: addresses, names of companies and hosts are words; the
    dots of acronyms and possessive endings are left out."""
    words = []
    for found in _pattern(_classic_words()).finditer(text):
        word = found[0]
        if found.lastgroup == "acronym":
            word = word.replace(".", "")
        elif found.lastgroup == "apostrophe" and word[-2:] in ("'s", "'S"):
            word = word[:-2]
        words.append(word)
    return cut(words)


# --- two characters of Chinese, Japanese and Korean at a time ---

_CJK_RUN = r"[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}ー]"


def pairs(words_of: Tokenizer) -> Tokenizer:
    """Neighbouring characters of these scripts two by two; other words as they are."""

    def take_apart(text: str) -> list[str]:
        script = _pattern(f"{_CJK_RUN}+")
        found: list[str] = []
        run = ""
        end = -1
        for word, start in _placed(text, words_of(text)):
            if script.fullmatch(word):
                if run and start != end:
                    found += _two_by_two(run)
                    run = ""
                run += word
            else:
                found += _two_by_two(run)
                run = ""
                found.append(word)
            end = start + len(word)
        return found + _two_by_two(run)

    return take_apart


def _placed(text: str, words: list[str]) -> list[tuple[str, int]]:
    at, found = 0, []
    for word in words:
        at = text.index(word, at)
        found.append((word, at))
        at += len(word)
    return found


def _two_by_two(run: str) -> list[str]:
    if len(run) < 2:
        return [run] if run else []
    return [run[at : at + 2] for at in range(len(run) - 1)]
