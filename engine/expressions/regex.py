"""Java's regular expressions, for `=~` and APOC's functions, run by Python's `re`.

A pattern goes in; out comes a function from a text and a time limit to whether all of it matches, or to the matches in
it. `re` cannot be interrupted, and a pattern may take time exponential in the length of the text: where it might try
too many ways to match (`regex_work.py`), the package `regex`, which supports a time limit, runs the same pattern.

The pattern is parsed as `java.util.regex.Pattern` does it, with Java's messages for errors, and rewritten for Python.
Differences are spelled out on the way:

    . ^ $            Java's line terminators are \\n \\r \\u0085 \\u2028 \\u2029
    \\d \\w \\s         ASCII without the flag U
    [a-z&&[^b]]      intersections and nested classes become lookaheads and alternatives
    a(?i)b|c         a flag lasts to the end of its group, alternatives included: it is put around each run of atoms
    \\2              a group that does not exist (yet) never matches
    \\p{Lu} \\h \\R \\Q..\\E \\x{1F600}
"""

from __future__ import annotations

import re
import string
import time
import unicodedata
import warnings
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import lru_cache
from typing import Any

from hoplite.engine.expressions.regex_classes import CharacterClass, property_class, unicode_class
from hoplite.engine.expressions.regex_work import MOST_WAYS, ways
from hoplite.errors import CypherError, semantic_error, unsupported
from hoplite.gql_status import because
from hoplite.lazy import lazy_pattern
from hoplite.lazy_dataclass import dataclass

Matcher = Callable[[str, float | None], bool]

_ONE_CHARACTER = lazy_pattern(r"[^\\\[(]|\\\W|\[(?:\\.|[^\]\\])+\]", re.DOTALL)
_FIRST_SLICE, _LEAST_SLICE = 0.1, 0.01  # seconds
_REFERENCE_IN_ASCII = "(?ia:\\"


@lru_cache(maxsize=512)
def matcher(pattern: str) -> Matcher:
    """A function that says whether a whole text matches: `matcher('a.*')('abc', None)` is true. TimeoutError if it
    takes too long."""
    compiled = _compiled(pattern)

    def matches(text: str, seconds: float | None) -> bool:
        if compiled.is_for_re(text, searches=False):
            return compiled.pattern.fullmatch(text) is not None
        clock = _Clock(seconds)
        while True:
            try:
                return limited(pattern).fullmatch(text, timeout=clock.slice, concurrent=True) is not None
            except TimeoutError:
                clock.go_on()

    return matches


@dataclass(frozen=True, slots=True)
class Found:
    """A match: the whole of it, then its groups (None for one that did not take part), and where it begins and ends."""

    groups: tuple[str | None, ...]
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Finder:
    """A pattern to find in texts. `names` are the numbers of named groups."""

    names: Mapping[str, int]
    group_count: int
    find: Callable[[str, float | None], Iterator[Found]]
    """The matches in a text, from left to right. TimeoutError if one takes longer than `seconds`."""


@lru_cache(maxsize=512)
def finder(pattern: str) -> Finder:
    """The matches of a pattern: `finder('b(.)').find('abc', None)` gives one, with the groups `('bc', 'c')`."""
    compiled = _compiled(pattern)

    def find(text: str, seconds: float | None) -> Iterator[Found]:
        if compiled.is_for_re(text, searches=True):
            matches = compiled.pattern.finditer(text)
        else:
            matches = _matches(limited(pattern), text, seconds)
        return (Found((match.group(), *match.groups()), match.start(), match.end()) for match in matches)

    return Finder(compiled.names, compiled.pattern.groups, find)


class _Clock:
    """Slices of the remaining time. `regex` counts CPU time of the whole process, but deadlines are in wall time: after
    a short first slice, each is as much CPU time as the remaining wall time should allow, judged by the last one."""

    def __init__(self, seconds: float | None) -> None:
        self._end = None if seconds is None else time.monotonic() + seconds
        self.slice = None if seconds is None else min(seconds, _FIRST_SLICE)
        self._began, self._used = time.monotonic(), time.process_time()

    def go_on(self) -> None:
        """Begin the next slice; TimeoutError if no time is left."""
        assert self._end is not None
        now, used = time.monotonic(), time.process_time()
        left = self._end - now
        if left <= _LEAST_SLICE:
            raise TimeoutError
        self.slice = max(left * (used - self._used) / max(now - self._began, _LEAST_SLICE), _LEAST_SLICE)
        self._began, self._used = now, used


def _matches(pattern: Any, text: str, seconds: float | None) -> Iterator[Any]:
    """The matches in a text; each slice of time continues after the last match."""
    clock, place, last = _Clock(seconds), 0, None
    while True:
        try:
            for match in pattern.finditer(text, place, timeout=clock.slice, concurrent=True):
                if match.span() != last:  # an empty match where the last slice ended
                    yield match
                last, place = match.span(), match.end()
            return
        except TimeoutError:
            clock.go_on()


@dataclass(frozen=True, slots=True)
class _Compiled:
    """A pattern for `re`, and bounds on how long it may take."""

    pattern: re.Pattern[str]
    names: Mapping[str, int]
    is_for_re_alone: bool
    ways: dict[int, int] = field(default_factory=dict)  # by the bit length of a text's length

    def is_for_re(self, text: str, searches: bool) -> bool:
        """Whether `re` may run it on a text, because there are few ways to try."""
        bits = len(text).bit_length()
        if bits not in self.ways:
            self.ways[bits] = ways(self.pattern.pattern, 1 << bits)
        is_quick = self.ways[bits] * (len(text) + 1 if searches else 1) < MOST_WAYS
        if not is_quick and self.is_for_re_alone and not text.isascii():
            raise unsupported("a back-reference that ignores the case of a text beyond ASCII, in a loop")
        return is_quick


@lru_cache(maxsize=512)
def _compiled(pattern: str) -> _Compiled:
    translator = _Translator(pattern)
    translated = translator.translate()
    try:
        compiled = re.compile(translated)
    except (re.error, OverflowError):
        raise unsupported(f"the regular expression {pattern}") from None
    return _Compiled(
        compiled,
        translator.names,
        # What such a reference matches depends on the text; `regex` would ignore case in all letters.
        _REFERENCE_IN_ASCII in _Translator(pattern, spells_case=True).translate(),
    )


@lru_cache(maxsize=512)
def limited(pattern: str) -> Any:
    """The same pattern, run by the package `regex`."""
    import regex

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FutureWarning)
        return regex.compile(_Translator(pattern, spells_case=True).translate(), regex.V0)


_END = ""  # what `peek` returns past the end
_LINE_END = r"\n\r\u0085\u2028\u2029"
_BEFORE_LAST_LINE_END = r"(?:(?=(?:\r\n|[\r\u0085\u2028\u2029])?\Z)|(?<!\r)(?=\n\Z))"
_AT_LINE_END = r"(?:\Z|(?=[\r\u0085\u2028\u2029])|(?<!\r)(?=\n))"
_AT_LINE_START = r"(?:\A|(?<=[\n\u0085\u2028\u2029])|(?<=\r)(?!\n))(?!\Z)"
_NEVER = "(?!)"
_HORIZONTAL_SPACE = r" \t\u00a0\u1680\u180e\u2000-\u200a\u202f\u205f\u3000"
_PICTURE = r"[\u00a9\u00ae\u203c-\u3299\U0001f000-\U0001faff]"
_EXTENSION = r"[\u0300-\u036f\u200d\u20d0-\u20ff\ufe00-\ufe0f\U0001f3fb-\U0001f3ff]"
# A character as its readers see it: flags are two letters, families are pictures joined by U+200D.
_GRAPHEME = (
    rf"(?>\r\n|[\U0001f1e6-\U0001f1ff]{{2}}{_EXTENSION}*"
    rf"|{_PICTURE}{_EXTENSION}*(?:(?<=\u200d){_PICTURE}{_EXTENSION}*)*|[\s\S]{_EXTENSION}*)"
)
_VERTICAL_SPACE = r"\n\x0b\f\r\u0085\u2028\u2029"
_CONTROL_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "f": "\f", "a": "\a", "e": "\x1b"}
_FLAGS = "idmsuxU"
_HEX_DIGITS = "0123456789abcdefABCDEF"


class _Translator:
    """One pass over a pattern; `cursor` moves as in Java, because messages name the position.

    Without the flag u, case is ignored only in ASCII. `regex` has no such flag: with `spells_case`, both letters are
    written out instead.
    """

    def __init__(self, pattern: str, spells_case: bool = False) -> None:
        self.pattern = pattern
        self.spells_case = spells_case
        self.cursor = 0
        self.flags: frozenset[str] = frozenset()
        self.groups_opened = 0
        self.groups_closed: set[int] = set()
        self.names: dict[str, int] = {}

    def translate(self) -> str:
        """The same pattern for Python."""
        translated = self._alternatives()
        if self.cursor < len(self.pattern):
            raise self._error("Unmatched closing ')'", self.cursor - 1)
        return translated

    # --- reading ---

    def _error(self, description: str, index: int) -> CypherError:
        """Java's message: the position, the pattern, and a caret if the position is within it."""
        place = f" near index {index}" if index >= 0 else ""
        caret = f"\n{' ' * index}^" if 0 <= index < len(self.pattern) else ""
        return semantic_error(
            f"Invalid Regex: {description}{place}\n{self.pattern}{caret}", because("22N11", self.pattern)
        )

    def _peek(self, ahead: int = 0) -> str:
        place = self.cursor + ahead
        return self.pattern[place] if place < len(self.pattern) else _END

    def _skip_comments(self) -> None:
        while "x" in self.flags and self._peek() and self._peek() in " \t\n\x0b\f\r#":
            if self._peek() == "#":
                while self._peek() and self._peek() not in "\n\r\u0085\u2028\u2029":
                    self.cursor += 1
            else:
                self.cursor += 1

    # --- groups and sequences ---

    def _alternatives(self) -> str:
        branches = [self._sequence()]
        while self._peek() == "|":
            self.cursor += 1
            branches.append(self._sequence())
        return "|".join(branches)

    def _sequence(self) -> str:
        """Atoms up to `|`, `)` or the end; runs that ignore case are put in a group with that flag."""
        runs: list[tuple[str, str]] = []
        while True:
            self._skip_comments()
            char = self._peek()
            if char in ("|", ")", _END):
                break
            atom = self._atom()
            if atom is None:
                continue
            flags = self._case_flags()
            if flags == "ia" and self.spells_case:
                flags = ""
            text = self._quantified(atom)
            if runs and runs[-1][0] == flags:
                runs[-1] = flags, runs[-1][1] + text
            else:
                runs.append((flags, text))
        return "".join(f"(?{flags}:{text})" if flags else text for flags, text in runs)

    def _case_flags(self) -> str:
        return "" if "i" not in self.flags else "iu" if "u" in self.flags or "U" in self.flags else "ia"

    def _spelled(self, content: str) -> str:
        """The content of a class, with the other case of its ASCII letters if that has to be written out."""
        if not content or not self.spells_case or self._case_flags() != "ia":
            return content
        letters = set(re.findall(f"[{content}]", string.ascii_letters))
        return content + "".join(sorted(set("".join(letters).swapcase()) - letters))

    def _literal(self, char: str) -> str:
        escaped = re.escape(char)
        spelled = self._spelled(escaped)
        return escaped if spelled == escaped else f"[{spelled}]"

    def _quantified(self, atom: str) -> str:
        self._skip_comments()
        char = self._peek()
        if char and char in "*+?":
            self.cursor += 1
            quantifier = char
        elif char == "{":
            quantifier = self._counted()
        else:
            return atom
        if self._peek() and self._peek() in "?+":
            quantifier += self._peek()
            self.cursor += 1
        if _ONE_CHARACTER.fullmatch(atom):
            return atom + quantifier
        # A quantifier after an assertion or another added group must apply to all of it.
        return f"(?:{atom}){quantifier}"

    def _counted(self) -> str:
        found = re.compile(r"\{(\d+)(,(\d*))?").match(self.pattern, self.cursor)
        if found is None:
            raise self._error("Illegal repetition", self.cursor + 1)
        for bound in (1, 3):
            for end in range(found.start(bound) + 1, found.end(bound) + 1):
                if int(self.pattern[found.start(bound) : end]) > 0x7FFFFFFF:
                    raise self._error("Illegal repetition range", end - 1)
        self.cursor = found.end()
        if self._peek() != "}":
            raise self._error("Unclosed counted closure", self.cursor)
        if found[3] and int(found[3]) < int(found[1]):
            raise self._error("Illegal repetition range", self.cursor)
        self.cursor += 1
        return found[0] + "}"

    def _atom(self) -> str | None:
        """One atom, translated; None for what only changes flags."""
        char = self._peek()
        if char in "*+?":
            raise self._error(f"Dangling meta character '{char}'", self.cursor)
        if char == "(":
            return self._group()
        if char == "[":
            self.cursor += 1
            return self._class().pattern()
        if char == "\\":
            return self._escape()
        if char == "{":
            raise self._error("Illegal repetition", self.cursor + 1)
        self.cursor += 1
        match char:
            case ".":
                return r"[\s\S]" if "s" in self.flags else r"[^\n]" if "d" in self.flags else f"[^{_LINE_END}]"
            case "^":
                return _AT_LINE_START if "m" in self.flags else r"\A"
            case "$":
                return _AT_LINE_END if "m" in self.flags else _BEFORE_LAST_LINE_END
            case _:
                return self._literal(char)

    def _group(self) -> str | None:
        outer_flags = self.flags
        self.cursor += 1
        number = None
        opening = "(?:"
        if self._peek() != "?":
            number, opening = self._numbered(), "("
        else:
            kind = self._peek(1)
            self.cursor += 2
            if kind and kind in ":=!>":
                opening = f"(?{kind}"
            elif kind == "<" and self._peek() and self._peek() in "=!":
                opening = f"(?<{self._peek()}"
                self.cursor += 1
            elif kind == "<":
                number, opening = self._numbered(), "("
                self.names[self._group_name()] = number
            else:
                self.cursor -= 1
                if self._inline_flags():
                    return None  # they last to the end of the enclosing group
        body = self._alternatives()
        if self._peek() != ")":
            raise self._error("Unclosed group", self.cursor)
        self.cursor += 1
        self.flags = outer_flags
        if number is not None:
            self.groups_closed.add(number)
        if opening.startswith("(?<"):
            return self._look_behind(opening, body)
        return f"{opening}{body})"

    def _look_behind(self, opening: str, body: str) -> str:
        """Python's lookbehinds have a fixed width: alternatives of several widths become alternative assertions."""
        try:
            re.compile(f"{opening}{body})")
        except re.error as error:
            if "fixed-width" not in str(error) or "(" in body or "[" in body or "\\" in body:
                return f"{opening}{body})"
            parts = [f"{opening}{part})" for part in body.split("|")]
            return f"(?:{'|'.join(parts)})" if opening == "(?<=" else "".join(parts)
        return f"{opening}{body})"

    def _numbered(self) -> int:
        self.groups_opened += 1
        return self.groups_opened

    def _group_name(self) -> str:
        found = re.compile(r"[a-zA-Z][a-zA-Z0-9]*").match(self.pattern, self.cursor)
        if found is None:
            raise self._error("capturing group name does not start with a Latin letter", self.cursor)
        self.cursor = found.end()
        if self._peek() != ">":
            raise self._error("named capturing group is missing trailing '>'", self.cursor)
        if found[0] in self.names:
            raise self._error(f"Named capturing group <{found[0]}> is already defined", self.cursor)
        self.cursor += 1
        return found[0]

    def _inline_flags(self) -> bool:
        """Read `i-m)` or `i-m:`; returns whether it stands alone."""
        flags, adding = set(self.flags), True
        while True:
            char = self._peek()
            self.cursor += 1
            if char == "-" and adding:
                adding = False
            elif char and char in _FLAGS:
                flags.add(char) if adding else flags.discard(char)
            else:
                break
        if char not in (")", ":"):
            raise self._error("Unknown inline modifier", self.cursor - 1)
        self.flags = frozenset(flags)
        return char == ")"

    # --- escapes ---

    def _escape(self) -> str:
        """A backslash outside a class."""
        char = self._peek(1)
        simple = {
            "A": r"\A",
            "G": r"\A",
            "z": r"\Z",
            "Z": _BEFORE_LAST_LINE_END,
            "b": r"\b",
            "B": r"\B",
            "R": rf"(?:\r\n|[{_VERTICAL_SPACE}])",
            "X": _GRAPHEME,
        }.get(char)
        if simple is not None:
            self.cursor += 2
            return simple
        if char == "Q":
            end = self.pattern.find("\\E", self.cursor)
            quoted = self.pattern[self.cursor + 2 : None if end < 0 else end]
            self.cursor = len(self.pattern) if end < 0 else end + 2
            return "".join(map(self._literal, quoted)) or "(?:)"
        if char == "k":
            return self._named_reference()
        if char and char in "123456789":
            return self._reference()
        known = self._class_escape()
        return known.pattern() if known is not None else self._literal(self._character())

    def _reference(self) -> str:
        """`\\12`: group 12 if there are 12 groups, else group 1 and the digit 2."""
        self.cursor += 1
        number = int(self._peek())
        self.cursor += 1
        while self._peek().isdigit() and number * 10 + int(self._peek()) <= self.groups_opened:
            number = number * 10 + int(self._peek())
            self.cursor += 1
        return self._group_again(number)

    def _group_again(self, number: int) -> str:
        if number not in self.groups_closed:
            return _NEVER
        return f"{_REFERENCE_IN_ASCII}{number})" if self._case_flags() == "ia" else f"(?:\\{number})"

    def _named_reference(self) -> str:
        found = re.compile(r"\\k<([a-zA-Z][a-zA-Z0-9]*)>").match(self.pattern, self.cursor)
        if found is None:
            raise self._error("\\k is not followed by '<' for named capturing group", self.cursor + 2)
        self.cursor = found.end()
        if found[1] not in self.names:
            raise self._error(f"named capturing group <{found[1]}> does not exist", self.cursor - 1)
        number = self.names[found[1]]
        return self._group_again(number)

    def _class_escape(self) -> CharacterClass | None:
        """`\\d`, `\\p{..}` and the like; None, with nothing read, if the escape is a single character."""
        char = self._peek(1)
        if char and char in "pP":
            return self._property()
        if not char or char not in "dDwWsShHvV":
            return None
        self.cursor += 2
        lower = char.lower()
        if lower in "hv":
            content = _HORIZONTAL_SPACE if lower == "h" else _VERTICAL_SPACE
        elif "U" in self.flags:
            content = unicode_class(lower)
        else:
            content = {"d": "0-9", "w": "a-zA-Z_0-9", "s": r" \t\n\x0b\f\r"}[lower]
        return CharacterClass(self._spelled(content), negated=char.isupper())

    def _property(self) -> CharacterClass:
        negated = self._peek(1) == "P"
        self.cursor += 2
        if self._peek() == "{":
            end = self.pattern.find("}", self.cursor)
            if end < 0:
                raise self._error("Unclosed character family", len(self.pattern))
            name = self.pattern[self.cursor + 1 : end]
            self.cursor = end + 1
            if not name:
                raise self._error("Empty character family", self.cursor - 1)
        else:
            name = self._peek()
            self.cursor += 1
        content = property_class(name, "U" in self.flags)
        if content is None:
            raise self._error(f"Unknown character property name {{{name}}}", self.cursor - 1)
        return CharacterClass(self._spelled(content), negated=negated)

    def _character(self) -> str:
        """An escape that stands for one character."""
        self.cursor += 2
        char = self.pattern[self.cursor - 1 : self.cursor]
        if char in _CONTROL_ESCAPES:
            return _CONTROL_ESCAPES[char]
        match char:
            case "0":
                return self._octal()
            case "x":
                return self._hexadecimal()
            case "u":
                return self._unicode()
            case "c":
                if self._peek() == _END:
                    raise self._error("Illegal control escape sequence", self.cursor - 1)
                self.cursor += 1
                return chr(ord(self.pattern[self.cursor - 1]) ^ 64)
            case "N":
                found = re.compile(r"\{([^}]*)\}").match(self.pattern, self.cursor)
                if found is None:
                    raise self._error("Illegal character name escape sequence", self.cursor)
                self.cursor = found.end()
                try:
                    return unicodedata.lookup(found[1])
                except KeyError:
                    raise self._error(f"Unknown character name [{found[1]}]", self.cursor - 1) from None
            case "":
                raise self._error("Unexpected internal error", len(self.pattern))
            case _ if char.isascii() and char.isalpha():
                raise self._error("Illegal/unsupported escape sequence", self.cursor - 1)
            case _:
                return char

    def _octal(self) -> str:
        found = re.compile(r"[0-3]?[0-7]{1,2}").match(self.pattern, self.cursor)
        if found is None:
            raise self._error("Illegal octal escape sequence", self.cursor)
        self.cursor = found.end()
        return chr(int(found[0], 8))

    def _hexadecimal(self) -> str:
        """`\\x61` or `\\x{1F600}`"""
        if self._peek() != "{":
            return chr(self._hex_digits(2, "Illegal hexadecimal escape sequence"))
        self.cursor += 1
        code, start = 0, self.cursor
        while self._peek() and self._peek() in _HEX_DIGITS:
            code = code * 16 + int(self._peek(), 16)
            if code > 0x10FFFF:
                raise self._error("Hexadecimal codepoint is too big", self.cursor)
            self.cursor += 1
        if self._peek() != "}" or self.cursor == start:
            raise self._error("Unclosed hexadecimal escape sequence", self.cursor)
        self.cursor += 1
        return chr(code)

    def _unicode(self) -> str:
        """`\\u0061`; a pair of surrogates is one character."""
        code = self._hex_digits(4, "Illegal Unicode escape sequence")
        low = re.compile(r"\\u([dD][c-fC-F][0-9a-fA-F]{2})").match(self.pattern, self.cursor)
        if 0xD800 <= code <= 0xDBFF and low is not None:
            self.cursor = low.end()
            return chr(0x10000 + ((code - 0xD800) << 10) + int(low[1], 16) - 0xDC00)
        return chr(code)

    def _hex_digits(self, count: int, complaint: str) -> int:
        code = 0
        for _ in range(count):
            if not self._peek() or self._peek() not in _HEX_DIGITS:
                raise self._error(complaint, self.cursor)
            code = code * 16 + int(self._peek(), 16)
            self.cursor += 1
        return code

    # --- classes ---

    def _class(self) -> CharacterClass:
        """After `[`: items and nested classes, intersected at `&&`, up to `]`."""
        negated = self._peek() == "^"
        if negated:
            self.cursor += 1
        factors: list[CharacterClass] = []
        content, empty = "", True
        nested: list[CharacterClass] = []
        while True:
            self._skip_comments()
            char = self._peek()
            if char == _END:
                raise self._error("Unclosed character class", len(self.pattern) - 1)
            if char == "]" and (not empty or factors):
                self.cursor += 1
                break
            if char == "&" and self._peek(1) == "&":
                self.cursor += 2
                factors.append(CharacterClass(self._spelled(content), tuple(nested)))
                content, nested = "", []
                continue
            empty = False
            if char == "[":
                self.cursor += 1
                nested.append(self._class())
                continue
            family = self._class_escape() if char == "\\" else None
            if family is not None:
                nested.append(family)
            elif char == "\\" and self._peek(1) == "Q":
                end = self.pattern.find("\\E", self.cursor)
                stop = len(self.pattern) if end < 0 else end
                content += "".join(map(re.escape, self.pattern[self.cursor + 2 : stop]))
                self.cursor = stop if end < 0 else end + 2
            else:
                content += self._range()
        last = CharacterClass(self._spelled(content), tuple(nested))
        if not factors:
            return CharacterClass(last.content, last.nested, negated=negated)
        # An empty side of && removes nothing, as in Java.
        sides = tuple(side for side in (*factors, last) if side.content or side.nested)
        return CharacterClass("", (), sides, negated)

    def _range(self) -> str:
        """`a` or `a-z` inside a class."""
        first = self._class_character()
        if self._peek() == "-" and self._peek(1) not in ("[", "]"):
            self.cursor += 1
            if self._peek() == _END:
                raise self._error("Illegal character range", self.cursor)
            if self._peek() == "\\" and self._peek(1) in tuple("dDwWsShHvV"):
                raise self._error("Illegal character range", self.cursor + 1)
            last = self._class_character()
            if last < first:
                raise self._error("Illegal character range", self.cursor - 1)
            return f"{re.escape(first)}-{re.escape(last)}"
        return _in_class(first)

    def _class_character(self) -> str:
        if self._peek() == "\\":
            return self._character()
        self.cursor += 1
        return self.pattern[self.cursor - 1]


def _in_class(char: str) -> str:
    """A character as written inside brackets in Python."""
    return f"\\{char}" if char in "\\]^-[&~|" else char
