"""How full-text indexes read texts: an analyzer splits a text into words and normalises them for comparison. Names and
words are those of Lucene's analyzers as Neo4j offers them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from hoplite.errors import CypherError
from hoplite.lazy import cached_property
from hoplite.lazy_dataclass import dataclass
from hoplite.storage.search import greek, iberian_stemmers, stemmers, tokenizers
from hoplite.storage.search import light_stemmers as light
from hoplite.storage.search.addresses import with_addresses
from hoplite.storage.search.letters import lower, narrow
from hoplite.storage.search.tokenizers import Tokenizer

DEFAULT_ANALYZER = "standard-no-stop-words"

Filter = Callable[[str], str]
"""Maps a word to another; an empty one is left out."""


@dataclass(frozen=True, eq=False)
class Analyzer:
    """Words are found, changed by filters, left out if they are stop words, and changed by further filters (stems). The
    place of a word that is left out stays empty."""

    name: str
    description: str
    tokenize: Tokenizer
    before: tuple[Filter, ...]
    stop_words: frozenset[str]
    stems: Callable[[], tuple[Filter, ...]]
    normalisers: tuple[Filter, ...]
    listed_stop_words: tuple[str, ...]

    @cached_property
    def after(self) -> tuple[Filter, ...]:
        """The further filters. Raises if they need a package that is not installed."""
        return self.stems()

    def words(self, text: str) -> list[str | None]:
        """The words of a text; None where one was left out."""
        words: list[Any] = self.tokenize(text)
        for change in self.before:
            words = [change(word) for word in words] if change is not lower else _lower_all(text, words)
        if self.stop_words:
            stopped = self.stop_words
            words = [None if word in stopped else word for word in words]
        for change in self.after:
            words = [word and change(word) for word in words]
        return words

    def normalised(self, text: str) -> str:
        """Part of a word (in a pattern or a range), normalised like the words it is compared with."""
        for change in self.normalisers:
            text = change(text)
        return text


# --- filters ---


def _lower_all(text: str, words: list[str]) -> list[str]:
    return list(map(str.lower, words)) if text.isascii() else list(map(lower, words))


@cache
def _languages() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(Path(__file__).with_name("languages.json").read_text("utf-8"))
    return found


@cache
def _folding() -> dict[int, str]:
    return {ord(letter): plain for plain, letters in _languages()["folding"].items() for letter in letters}


def fold(word: str) -> str:
    """Letters and signs without their marks, in ASCII if there is an equivalent."""
    return word if word.isascii() else word.translate(_folding())


def stop_words(name: str) -> frozenset[str]:
    """The words that an analyzer leaves out."""
    return frozenset(_languages()["stop_words"].get(name, "").split())


# --- all of them ---

_Maker = Callable[[str, str], Analyzer]


def _plain(
    tokenize: Tokenizer,
    *before: Filter,
    stops: str = "",
    after: tuple[Filter, ...] = (),
    normalisers: tuple[Filter, ...] | None = None,
) -> _Maker:
    def make(name: str, description: str) -> Analyzer:
        left_out = stop_words(stops) if stops else frozenset[str]()
        listed = tuple(sorted(left_out))
        patterns = before if normalisers is None else normalisers
        return Analyzer(name, description, tokenize, before, left_out, lambda: after, patterns, listed)

    return make


def _language(
    *before: Filter,
    stems: Callable[[], tuple[Filter, ...]],
    normalisers: tuple[Filter, ...] = (lower,),
    tokenize: Tokenizer = tokenizers.standard,
    also_left_out: tuple[str, ...] = (),
) -> _Maker:
    """Words by Unicode's rules in lower case, without the stop words of a language, stemmed."""

    def make(name: str, description: str) -> Analyzer:
        left_out = stop_words(name)
        listed = () if name == "dutch" else tuple(sorted(left_out))  # Neo4j leaves them out of its list
        omitted = left_out.union(also_left_out)
        return Analyzer(name, description, tokenize, before, omitted, stems, normalisers, listed)

    return make


def _snowball(language: str) -> Callable[[], tuple[Filter, ...]]:
    return lambda: (stemmers.snowball(language),)


_FRENCH_ELISION = stemmers.without_elision(
    "l", "m", "t", "qu", "n", "s", "j", "d", "c", "jusqu", "quoiqu", "lorsqu", "puisqu"
)  # fmt: skip
_ITALIAN_ELISION = stemmers.without_elision(
    "c", "l", "all", "dall", "dell", "nell", "sull", "coll", "pell", "gl", "agl", "dagl", "degl", "negl", "sugl", "un",
    "m", "t", "s", "v", "d",
)  # fmt: skip
_IRISH_ELISION = stemmers.without_elision("d", "m", "b")
_CATALAN_ELISION = stemmers.without_elision("d", "l", "m", "n", "s", "t")

_MAKERS: Mapping[str, tuple[str, _Maker | None]] = {
    "standard-no-stop-words": (
        "The default analyzer. Similar to the 'standard' analyzer, but filters no stop words. Tokenizes on "
        "non-letter boundaries filters out punctuation. Does no stemming, but takes care to keep likely "
        "product names, URLs and email addresses as single terms.",
        _plain(tokenizers.standard, lower),
    ),
    "standard": (
        "The standard analyzer. Tokenizes on non-letter and filters out English stop words and punctuation. "
        "Does no stemming, but takes care to keep likely product names, URLs and email addresses as single "
        "terms.",
        _plain(tokenizers.standard, lower, stops="english"),
    ),
    "standard-folding": (
        "Analyzer that uses ASCIIFoldingFilter to remove accents (diacritics). Otherwise behaves as standard "
        "english analyzer. Note! This Analyser may have unexpected behaviour, such as tokenizing, for all non"
        " ASCII numbers and symbols.",
        _plain(tokenizers.standard, lower, stops="english", after=(fold,), normalisers=(lower,)),
    ),
    "simple": (
        "A simple analyzer that tokenizes at non-letter boundaries. No stemming or filtering. Works okay for "
        "most European languages, but is terrible for languages where words are not separated by spaces, such"
        " as many Asian languages.",
        _plain(tokenizers.letters, lower),
    ),
    "stop": (
        "Stop analyzer tokenizes at non-letter characters, and filters out English stop words. This differs "
        "from the 'classic' and 'standard' analyzers in that it makes no effort to recognize special terms, "
        "like likely product names, URLs or email addresses.",
        _plain(tokenizers.letters, lower, stops="english"),
    ),
    "whitespace": (
        'Breaks text into terms by characters that are considered "Java whitespace".',
        _plain(tokenizers.java_spaced),
    ),
    "unicode_whitespace": (
        "Breaks text into terms by characters that have the unicode WHITESPACE property.",
        _plain(tokenizers.unicode_spaced),
    ),
    "keyword": (
        'Keyword analyzer "tokenizes" the text as a single term. Useful for zip-codes, ids, etc. Situations '
        "where complete and exact matches are desired.",
        _plain(tokenizers.whole),
    ),
    "classic": (
        "Classic Lucene analyzer. Similar to 'standard', but with worse unicode support.",
        _plain(tokenizers.classic, lower, stops="english"),
    ),
    "cjk": (
        "CJK - Chinese/Japanese/Korean - analyzer. Terms are normalised and case-folded. Produces bi-grams, "
        "and filters out stop words.",
        _plain(tokenizers.pairs(tokenizers.standard), narrow, lower, stops="cjk"),
    ),
    "english": (
        "English analyzer with stemming and stop word filtering.",
        _language(stemmers.without_possessive, lower, stems=lambda: (stemmers.porter,)),
    ),
    "german": (
        "German analyzer with stemming and stop word filtering.",
        _language(
            lower,
            stems=lambda: (stemmers.german_letters, stemmers.german),
            normalisers=(lower, stemmers.german_letters),
        ),
    ),
    "french": (
        "French analyzer with stemming and stop word filtering.",
        _language(_FRENCH_ELISION, lower, stems=lambda: (stemmers.french,), normalisers=(_FRENCH_ELISION, lower)),
    ),
    "italian": (
        "Italian analyzer with stemming and stop word filtering.",
        _language(_ITALIAN_ELISION, lower, stems=lambda: (stemmers.italian,), normalisers=(_ITALIAN_ELISION, lower)),
    ),
    "spanish": (
        "Spanish analyzer with stemming and stop word filtering.",
        _language(lower, stems=lambda: (stemmers.spanish,)),
    ),
    "portuguese": (
        "Portuguese analyzer with stemming and stop word filtering.",
        _language(lower, stems=lambda: (stemmers.portuguese,)),
    ),
    "catalan": (
        "Catalan analyzer with stemming and stop word filtering.",
        _language(_CATALAN_ELISION, lower, stems=_snowball("catalan"), normalisers=(_CATALAN_ELISION, lower)),
    ),
    "armenian": (
        "Armenian analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("armenian")),
    ),
    "basque": (
        "Basque analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("basque")),
    ),
    "danish": (
        "Danish analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("danish")),
    ),
    "finnish": (
        "Finnish analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("finnish")),
    ),
    "hungarian": (
        "Hungarian analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("hungarian")),
    ),
    "lithuanian": (
        "Lithuanian analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("lithuanian")),
    ),
    "norwegian": (
        "Norwegian analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("norwegian")),
    ),
    "romanian": (
        "Romanian analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("romanian")),
    ),
    "russian": (
        "Russian analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("russian")),
    ),
    "swedish": (
        "Swedish analyzer with stemming and stop word filtering.",
        _language(lower, stems=_snowball("swedish")),
    ),
    "arabic": (
        'Arabic analyzer with light stemming, as specified by "Light Stemming for Arabic Information Retrieval".',
        _language(
            lower,
            light.digits,
            stems=lambda: (light.arabic_letters, light.arabic),
            normalisers=(lower, light.digits, light.arabic_letters),
        ),
    ),
    "brazilian": (
        "Brazilian Portuguese analyzer with stemming and stop word filtering.",
        _language(lower, stems=lambda: (iberian_stemmers.brazilian,)),
    ),
    "bulgarian": (
        'Bulgarian analyzer with light stemming, as specified by "Searching Strategies for the Bulgarian '
        'Language", and stop word filtering.',
        _language(lower, stems=lambda: (light.bulgarian,)),
    ),
    "czech": (
        "Czech analyzer with stemming and stop word filtering.",
        _language(lower, stems=lambda: (light.czech,)),
    ),
    "dutch": (
        "Dutch analyzer with stemming and stop word filtering.",
        _language(lower, stems=lambda: (stemmers.dutch(),)),
    ),
    "email": (
        "Tokenizes into sequences of alpha-numeric, numeric, URL, email, southeast asian terms, and into "
        "terms of individual ideographic and hiragana characters. English stop words are filtered out.",
        _plain(with_addresses, lower, stops="english"),
    ),
    "galician": (
        "Galician analyzer with stemming and stop word filtering.",
        _language(lower, stems=lambda: (iberian_stemmers.galician,)),
    ),
    "greek": (
        "Greek analyzer with stemming and stop word filtering.",
        _language(greek.greek_lower, stems=lambda: (greek.greek,), normalisers=(greek.greek_lower,)),
    ),
    "hindi": (
        "Hindi analyzer with stemming, normalization, and stop word filtering.",
        _language(
            lower,
            light.digits,
            light.hindi_letters,
            stems=lambda: (light.hindi,),
            normalisers=(lower, light.digits, light.hindi_letters),
        ),
    ),
    "indonesian": (
        "Indonesian analyzer with stemming and stop word filtering.",
        _language(lower, stems=lambda: (light.indonesian,)),
    ),
    "irish": (
        "Irish analyzer with stemming and stop word filtering.",
        _language(
            light.without_irish_mark,
            _IRISH_ELISION,
            light.irish_lower,
            stems=_snowball("irish"),
            normalisers=(_IRISH_ELISION, light.irish_lower),
            also_left_out=("",),
        ),
    ),
    "latvian": (
        "Latvian analyzer with stemming and stop word filtering.",
        _language(lower, stems=lambda: (light.latvian,)),
    ),
    "persian": (
        "Persian analyzer. Tokenizes with zero-width non-joiner characters in addition to whitespace. "
        "Persian-specific variants, such as the farsi 'yeh' and 'keheh', are standardized. Simple stemming is"
        " accomplished via stop words.",
        _language(
            lower,
            light.digits,
            light.arabic_letters,
            light.persian_letters,
            stems=lambda: (),
            normalisers=(lower, light.digits, light.arabic_letters, light.persian_letters),
            tokenize=tokenizers.persian,
        ),
    ),
    "sorani": (
        "Sorani Kurdish analyzer with stemming and stop word filtering.",
        _language(
            light.sorani_letters,
            lower,
            light.digits,
            stems=lambda: (light.sorani,),
            normalisers=(light.sorani_letters, lower, light.digits),
        ),
    ),
    "thai": (
        "Thai analyzer with stop word filtering. It relies on the Java built-in localization support for the "
        "Thai locale in order to break apart and tokenize words, which might not be available depending on "
        "Java version and JRE vendor.",
        None,
    ),
    "turkish": (
        "Turkish analyzer with stemming and stop word filtering.",
        _language(
            stemmers.before_apostrophe,
            light.turkish_lower,
            stems=_snowball("turkish"),
            normalisers=(light.turkish_lower,),
        ),
    ),
    "url": (
        "Tokenizes into sequences of alpha-numeric, numeric, URL, email, southeast asian terms, and into "
        "terms of individual ideographic and hiragana characters. English stop words are filtered out.",
        _plain(with_addresses, lower, stops="english"),
    ),
    "url_or_email": (
        "Tokenizes into sequences of alpha-numeric, numeric, URL, email, southeast asian terms, and into "
        "terms of individual ideographic and hiragana characters. English stop words are filtered out.",
        _plain(with_addresses, lower, stops="english"),
    ),
}
"""The description of each, and how it is made; None: known, but not available."""

ANALYZERS = tuple(name for name, (_, make) in _MAKERS.items() if make is not None)


@cache
def analyzer(name: str) -> Analyzer:
    """The analyzer of that name."""
    description, make = _MAKERS[name]
    if make is None:
        raise CypherError(
            "Neo.ClientError.Statement.ArgumentError",
            f"The full-text analyzer '{name}' is not available. Those that are: {', '.join(ANALYZERS)}.",
        )
    return make(name, description)


def is_known(name: str) -> bool:
    """Whether Neo4j has an analyzer of that name."""
    return name in _MAKERS
