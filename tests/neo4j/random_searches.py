"""Random documents and Lucene queries of every form; random vectors."""

from __future__ import annotations

import random
from typing import Any

_TEXT = (
    "alpha beta gamma delta quick brown fox jumps over lazy dog the a of and running runner runs ran dogs cats aspirin "
    "ibuprofen heart attack 日本語 テキスト 1,000 3.14 Nils-Erik O'Neil foo_bar AT&T naïve Straße house houses AI/ML "
    "x-ray"
)
WORDS = tuple(_TEXT.split())
FORMS = (
    "quick - fox", "AND quick", "AI/ML", '"alpha beta"', '"Nils-Erik"', "Nils-Erik", "", "foo AND", "(a", "a)", "[a TO",
    '"abc', "a^", "a~x", "\\(a", "a\\", "t:", "t:*", "*a*", "?", "NOT a", "-a", "+a -b", "a OR NOT b", '"the fox"',
    '"quick the fox"~2', '"alpha alpha"~3', '"alpha beta alpha"~4', '"alpha alpha beta"~5', "日本語", "1,000", "the",
    "fox~", "fox~1.5", "fox~3", "a~", "/a/", "TO", "[TO TO fox]", '"alpha fox"~3^2', '"alpha fox"^2~3', "alpha~1^3",
    "(alpha)^2", "()", "t:(fox dog)^3", "*:* -fox", "fox -fox", "\\*", "\\u0061lpha", "ALPHA", "Alp*", "ALP?A",
    "/ALPHA/", "[ALPHA TO BETA]", "ALPHX~1", "u:quick", "none:quick", "alpha beta gamma AND delta", "alpha OR beta^2",
)  # fmt: skip


class RandomSearches:
    """Choices by a seed."""

    def __init__(self, seed: int) -> None:
        self._choose = random.Random(seed)

    def document(self, number: int) -> dict[str, Any]:
        """Properties i, t and u."""
        choose = self._choose
        text = self._text() if choose.random() < 0.9 else None
        other = choose.choice([None, None, self._text(), [self._text(), self._text()], 5, [1, 2], []])
        return {"i": number, "t": text, "u": other}

    def _text(self) -> str:
        choose = self._choose
        words = choose.choices(WORDS, k=choose.choice([1, 2, 3, 5, 8, 13, 30, 60]))
        return choose.choice([" ", " ", " ", ", ", "-"]).join(words)

    def query(self, depth: int = 0) -> str:
        """Some clauses."""
        choose = self._choose
        text = ""
        for number in range(choose.choice([1, 1, 2, 2, 3, 4])):
            text += choose.choice([" ", " ", " ", " AND ", " OR ", " && ", " || "]) if number else ""
            text += choose.choice(["", "", "", "", "", "", "+", "-", "NOT ", "!", "- "]) + self._clause(depth)
        return text

    def _clause(self, depth: int) -> str:
        choose, word = self._choose, self._choose.choice(WORDS)
        words = [choose.choice(WORDS) for _ in range(choose.randrange(2, 4))]
        place = choose.randrange(len(word))
        forms = [
            word,
            word,
            word,
            f'"{" ".join(words)}"',
            f'"{" ".join(words)}"~{choose.randrange(9)}',
            f"{word[: choose.randrange(1, 4)]}*",
            f"{word[:place]}{choose.choice('?*')}{word[place + 1 :]}",
            f"{word[:place]}{choose.choice(['', 'x'])}{word[place + 1 :]}~{choose.choice(['', '1', '2', '0.5', '0'])}",
            f"{choose.choice('[{')}{word} TO {choose.choice([words[0], '*'])}{choose.choice(']}')}",
            choose.choice(["/alp.*/", "/[a-f].*/", "/(fox|dog)s?/", "/run+(ing|er)?/"]),
            f"/{self._expression(word)}/",
            f"{choose.choice('tu')}:{choose.choice([word, f'({word} {words[0]})'])}",
            choose.choice(["*:*", "*"]),
            f"({self.query(depth + 1)})" if depth < 2 else word,
        ]
        boost = choose.choice(["", "", "", "", "", "", "^2", "^0.5"])
        return choose.choice(forms) + boost

    def _expression(self, word: str, depth: int = 0) -> str:
        """A regular expression."""
        choose = self._choose
        part = word[: choose.randrange(1, 4)]
        inner = part if depth > 1 else self._expression(choose.choice(WORDS), depth + 1)
        forms = [
            word, f"{part}.*", f"{part}@", f"~{part}", f"~({inner})", f".*&~({inner})", f"{part}.*&({inner})",
            f"({inner})|{word}", f'"{part}".{{1,{choose.randrange(1, 5)}}}', "<1-9999>", "[^a-f].+", "\\w+s", "#",
        ]  # fmt: skip
        return choose.choice(forms)

    def vector(self, length: int) -> list[float]:
        """Numbers between -1 and 1."""
        return [self._choose.uniform(-1, 1) for _ in range(length)]
