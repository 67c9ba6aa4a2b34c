"""Lucene's regular expressions: text in, a function that tells which words match as a whole out.

    union         e | e                 repetition   e? e* e+ e{2} e{2,} e{2,5}
    intersection  e & e                 class        [a-z_] [^a-z] . \\d \\D \\w \\W \\s \\S
    complement    ~e                    text         "a.b"   () is empty text, @ any text, # nothing
                                        number       <1-100>

Intersections and complements are beyond the regular expressions of Java and Python, so words are matched by
derivatives: what is left of an expression behind a character is an expression again (Brzozowski, 1964). Each that
occurs becomes a state, which is found once for each character.
"""

from __future__ import annotations

from functools import cache
from time import monotonic
from typing import NamedTuple, TypeAlias

from hoplite.engine.expressions.regex import Matcher


class RegexpError(ValueError):
    """Text that is not an expression. `java_class` is the class of the exception that Lucene throws."""

    def __init__(self, message: str, java_class: str = "IllegalArgumentException") -> None:
        super().__init__(message)
        self.java_class = f"java.lang.{java_class}"


# --- expressions ---


class _Class(NamedTuple):
    """One character within these ranges, or outside of them."""

    ranges: tuple[tuple[str, str], ...]
    is_negated: bool = False


class _Sequence(NamedTuple):
    parts: tuple[_Expression, ...]
    kind: str = "sequence"


class _Union(NamedTuple):
    parts: frozenset[_Expression]


class _Intersection(NamedTuple):
    parts: frozenset[_Expression]
    kind: str = "intersection"


class _Complement(NamedTuple):
    inner: _Expression


class _Repeat(NamedTuple):
    inner: _Expression
    least: int
    most: int | None


class _Number(NamedTuple):
    """What may follow digits that make up a value. With a fixed number of digits, so many are still to come."""

    low: int
    high: int
    to_come: int | None
    value: int = 0
    is_begun: bool = False


class _Empty(NamedTuple):
    """The empty text; or, if `is_nothing`, not even that."""

    is_nothing: bool


_Expression: TypeAlias = _Class | _Sequence | _Union | _Intersection | _Complement | _Repeat | _Number | _Empty

_NOTHING, _EMPTY = _Empty(True), _Empty(False)
_ANY = _Class((), True)
_ANYTHING = _Repeat(_ANY, 0, None)
_CLASSES = {
    "d": _Class((("0", "9"),)),
    "s": _Class((("\t", "\n"), ("\r", "\r"), (" ", " "))),
    "w": _Class((("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z"))),
}
_CLASSES |= {name.upper(): _Class(found.ranges, True) for name, found in _CLASSES.items()}


def _sequence(*parts: _Expression) -> _Expression:
    found: list[_Expression] = []
    for part in parts:
        found += part.parts if isinstance(part, _Sequence) else (part,) if part != _EMPTY else ()
    if _NOTHING in found:
        return _NOTHING
    return found[0] if len(found) == 1 else _Sequence(tuple(found)) if found else _EMPTY


def _union(*parts: _Expression) -> _Expression:
    found: set[_Expression] = set()
    for part in parts:
        found |= part.parts if isinstance(part, _Union) else {part}
    found.discard(_NOTHING)
    if _ANYTHING in found:
        return _ANYTHING
    return found.pop() if len(found) == 1 else _Union(frozenset(found)) if found else _NOTHING


def _intersection(*parts: _Expression) -> _Expression:
    found: set[_Expression] = set()
    for part in parts:
        found |= part.parts if isinstance(part, _Intersection) else {part}
    if _NOTHING in found:
        return _NOTHING
    found.discard(_ANYTHING)
    return found.pop() if len(found) == 1 else _Intersection(frozenset(found)) if found else _ANYTHING


def _complement(inner: _Expression) -> _Expression:
    if isinstance(inner, _Complement):
        return inner.inner
    return _NOTHING if inner == _ANYTHING else _ANYTHING if inner == _NOTHING else _Complement(inner)


def _repeated(inner: _Expression, least: int, most: int | None) -> _Expression:
    if most == 0 or inner == _EMPTY:
        return _EMPTY
    if inner == _NOTHING:
        return _NOTHING if least else _EMPTY
    if (least, most) == (1, 1):
        return inner
    return _Repeat(inner, 0 if _accepts_empty(inner) else least, most)


@cache
def _accepts_empty(expression: _Expression) -> bool:
    match expression:
        case _Empty(is_nothing=is_nothing):
            return not is_nothing
        case _Class():
            return False
        case _Union(parts=parts):
            return any(map(_accepts_empty, parts))
        case _Sequence(parts=parts) | _Intersection(parts=parts):
            return all(map(_accepts_empty, parts))
        case _Complement(inner=inner):
            return not _accepts_empty(inner)
        case _Repeat(least=least):
            return least == 0
        case _Number(low=low, high=high, to_come=to_come, value=value, is_begun=is_begun):
            return is_begun and low <= value <= high and not to_come


def _behind(expression: _Expression, letter: str) -> _Expression:
    """What may follow a character."""
    match expression:
        case _Empty():
            return _NOTHING
        case _Class(ranges=ranges, is_negated=is_negated):
            is_within = any(first <= letter <= last for first, last in ranges)
            return _EMPTY if is_within is not is_negated else _NOTHING
        case _Sequence(parts=parts):
            found: list[_Expression] = []
            for place, part in enumerate(parts):  # any that follows parts which may be empty can be the first
                found.append(_sequence(_behind(part, letter), *parts[place + 1 :]))
                if not _accepts_empty(part):
                    break
            return _union(*found)
        case _Union(parts=parts):
            return _union(*(_behind(part, letter) for part in parts))
        case _Intersection(parts=parts):
            return _intersection(*(_behind(part, letter) for part in parts))
        case _Complement(inner=inner):
            return _complement(_behind(inner, letter))
        case _Repeat(inner=inner, least=least, most=most):
            rest = _repeated(inner, max(least - 1, 0), None if most is None else most - 1)
            return _sequence(_behind(inner, letter), rest)
        case _Number():
            return _behind_digit(expression, letter)


def _behind_digit(number: _Number, letter: str) -> _Expression:
    value = number.value * 10 + ord(letter) - ord("0")
    if not "0" <= letter <= "9" or value > number.high or number.to_come == 0:
        return _NOTHING
    to_come = None if number.to_come is None else number.to_come - 1
    return _Number(number.low, number.high, to_come, value, True)


# --- matching ---

_CHECKED = 256  # states between two looks at the clock


class _State:
    __slots__ = ("accepts", "after", "expression")

    def __init__(self, expression: _Expression) -> None:
        self.expression = expression
        self.accepts = _accepts_empty(expression)
        self.after: dict[str, _State | None] = {}  # None: no more can match


class _Automaton:
    def __init__(self, expression: _Expression) -> None:
        self._states: dict[_Expression, _State] = {}
        self._start = self._state(expression)

    def _state(self, expression: _Expression) -> _State | None:
        if expression == _NOTHING:
            return None
        found = self._states.get(expression)
        if found is None:
            found = self._states[expression] = _State(expression)
        return found

    def matches(self, word: str, seconds: float | None) -> bool:
        """Whether the whole word matches; raises TimeoutError if finding out takes longer than the seconds left."""
        state, end = self._start, None
        for letter in word:
            if state is None:
                return False
            if letter not in state.after:
                if seconds is not None and len(self._states) % _CHECKED == 0:
                    end = monotonic() + seconds if end is None else end
                    if monotonic() > end:
                        raise TimeoutError
                state.after[letter] = self._state(_behind(state.expression, letter))
            state = state.after[letter]
        return state is not None and state.accepts


def regexp_matcher(text: str) -> Matcher:
    """A function that tells whether a word matches; raises RegexpError."""
    return _Automaton(_Reader(text).whole()).matches


# --- reading ---

_NOT_CLASSES = frozenset("abcefghijklmnopqrtuvxyzABCEFGHIJKLMNOPQRTUVXYZ")
_LARGEST = 2**31 - 1
_DEEPEST = 60  # groups in groups, and repetitions of repetitions


class _Reader:
    """A reader from left to right; operators that cannot be one where they stand are characters."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def whole(self) -> _Expression:
        """The expression of the whole text."""
        if not self._text:
            return _EMPTY
        found = self._alternatives()
        if self._at < len(self._text):
            raise RegexpError(f"end-of-string expected at position {self._at}")
        return found

    def _sees(self, letters: str) -> bool:
        return self._at < len(self._text) and self._text[self._at] in letters

    def _takes(self, letter: str) -> bool:
        if self._sees(letter):
            self._at += 1
            return True
        return False

    def _next(self) -> str:
        if self._at == len(self._text):
            raise RegexpError("unexpected end-of-string")
        self._at += 1
        return self._text[self._at - 1]

    def _expect(self, letter: str) -> None:
        if not self._takes(letter):
            raise RegexpError(f"expected '{letter}' at position {self._at}")

    def _up_to(self, letter: str) -> str:
        start = self._at
        while self._at < len(self._text) and not self._sees(letter):
            self._at += 1
        self._expect(letter)
        return self._text[start : self._at - 1]

    def _alternatives(self) -> _Expression:
        found = [self._common()]
        while self._takes("|"):
            found.append(self._common())
        return _union(*found)

    def _common(self) -> _Expression:
        found = [self._in_sequence()]
        while self._takes("&"):
            found.append(self._in_sequence())
        return _intersection(*found)

    def _in_sequence(self) -> _Expression:
        found = [self._repetition()]
        while self._at < len(self._text) and not self._sees(")|&"):
            found.append(self._repetition())
        return _sequence(*found)

    def _repetition(self) -> _Expression:
        found = self._negation()
        for _ in range(_DEEPEST):
            if not self._sees("?*+{"):
                return found
            match self._next():
                case "?":
                    found = _repeated(found, 0, 1)
                case "*":
                    found = _repeated(found, 0, None)
                case "+":
                    found = _repeated(found, 1, None)
                case _:
                    found = _repeated(found, *self._bounds())
        raise RegexpError("the expression is too complex")

    def _bounds(self) -> tuple[int, int | None]:
        least = self._digits()
        if not least:
            raise RegexpError(f"integer expected at position {self._at}")
        most = self._digits() if (is_range := self._takes(",")) else least
        self._expect("}")
        if most and int(least) > int(most):
            raise RegexpError(f"invalid repetition range(out of order): {least}..{most}")
        return int(least), int(most) if most or not is_range else None

    def _digits(self) -> str:
        start = self._at
        while self._sees("0123456789"):
            self._at += 1
        return self._text[start : self._at]

    def _negation(self) -> _Expression:
        count = 0
        while self._takes("~"):
            count += 1
        found = self._simple()
        return _complement(found) if count % 2 else found

    def _simple(self) -> _Expression:
        if self._takes("["):
            is_negated = self._takes("^")
            found = [self._member()]
            while self._at < len(self._text) and not self._sees("]"):
                found.append(self._member())
            self._expect("]")
            members = _union(*found)
            return _intersection(_ANY, _complement(members)) if is_negated else members
        if self._takes("."):
            return _ANY
        if self._takes("#"):
            return _NOTHING
        if self._takes("@"):
            return _ANYTHING
        if self._takes('"'):
            return _text(self._up_to('"'))
        if self._takes("("):
            if self._takes(")"):
                return _EMPTY
            self._depth += 1
            if self._depth > _DEEPEST:
                raise RegexpError("the expression is too complex")
            found_inside = self._alternatives()
            self._depth -= 1
            self._expect(")")
            return found_inside
        if self._takes("<"):
            return _number(self._up_to(">"))
        return self._known_class() or _text(self._letter())

    def _member(self) -> _Expression:
        known = self._known_class()
        if known is not None:
            return known
        first = self._letter()
        last = self._letter() if self._takes("-") else first
        if first > last:
            raise RegexpError(f"invalid range: from ({ord(first)}) cannot be > to ({ord(last)})")
        return _Class(((first, last),))

    def _known_class(self) -> _Expression | None:
        if not self._takes("\\"):
            return None
        if self._sees("\\"):
            return _text(self._next())
        if self._sees("".join(_CLASSES)):
            return _CLASSES[self._next()]
        if self._at < len(self._text) and self._text[self._at] in _NOT_CLASSES:
            raise RegexpError(f"invalid character class \\{ord(self._next())}")
        return None

    def _letter(self) -> str:
        self._takes("\\")
        return self._next()


def _text(text: str) -> _Expression:
    return _sequence(*(_Class(((letter, letter),)) for letter in text))


def _number(text: str) -> _Expression:
    """An interval of numbers. If both ends are written with as many digits, all numbers have as many."""
    low, dash, high = text.partition("-")
    if not dash:
        raise RegexpError(f"'{text}' not found")
    if not low or not high or "-" in high:
        raise RegexpError("", "NumberFormatException")
    for end in (low, high):
        if not (end.removeprefix("+").isdecimal() and int(end) <= _LARGEST):
            raise RegexpError(f'For input string: "{end}"', "NumberFormatException")
    first, last = sorted((int(low), int(high)))
    return _Number(first, last, len(low) if len(low) == len(high) else None)
