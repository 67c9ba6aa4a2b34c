# ruff: noqa: RUF001, SIM905
"""Greek words to stems, by the rules of Ntais ("Development of a Stemmer for the Greek Language", 2006) as Lucene
applies them: to words of four letters or more, in lower case, without accents, sigma written the same everywhere.

A rule cuts off an ending that leaves something of the word, and puts part of it back behind certain stems.
"""

from __future__ import annotations

from typing import NamedTuple

from hoplite.storage.search.letters import lower

_VOWELS = tuple("αεηιουω")
_VOWELS_BUT_Y = tuple("αεηιοω")
_ALWAYS = ("",)  # what every stem ends in

_PLAIN = str.maketrans("ςάέήίϊΐόύϋΰώ\u03a2", "σαεηιιιουυυως")


def greek_lower(word: str) -> str:
    """In lower case, without accents."""
    return lower(word).translate(_PLAIN)


class _Rule(NamedTuple):
    """The first of the endings that leaves something of the word, or `may_be_all` of it, is cut off, and `back` put
    behind a stem that is one of `stems` or ends in one of `ends`, unless it is one of `not_stems` or ends in one of
    `not_ends`."""

    endings: tuple[str, ...]
    back: str
    stems: frozenset[str] = frozenset()
    ends: tuple[str, ...] = ()
    not_stems: frozenset[str] = frozenset()
    not_ends: tuple[str, ...] = ()
    may_be_all: frozenset[str] = frozenset()

    def applied(self, word: str) -> str:
        for ending in self.endings:
            if word.endswith(ending) and (len(word) > len(ending) or ending in self.may_be_all):
                stem = word[: -len(ending)]
                if stem in self.not_stems or (self.not_ends and stem.endswith(self.not_ends)):
                    return stem
                return stem + self.back if stem in self.stems or stem.endswith(self.ends) else stem
        return word


def _rule(
    endings: str,
    back: str = "",
    stems: str = "",
    ends: str | tuple[str, ...] = (),
    not_stems: str = "",
    not_ends: str = "",
    may_be_all: str = "",
) -> _Rule:
    last = tuple(ends.split()) if isinstance(ends, str) else ends
    return _Rule(
        tuple(endings.split()),
        back,
        frozenset(stems.split()),
        last,
        frozenset(not_stems.split()),
        tuple(not_ends.split()),
        frozenset(may_be_all.split()),
    )


_IRREGULAR = {
    stem + ending: stem
    for stems, endings in (
        ("καθεστ", "ωτοσ ωτων ωτα ωσ"),
        ("γεγον", "οτοσ οτων οτα οσ"),
        ("τατο σκα ολο φα σο", "γιου γιων για"),
        ("κρε περ τερ", "ατοσ ατων ατα ασ"),
        ("φω", "τοσ των τα σ"),
    )
    for stem in stems.split()
    for ending in endings.split()
}
"""Endings of words, and what is left of them."""

_RULES = (
    _rule("αδεσ αδων", "αδ", ends=_ALWAYS, not_ends="οκ μαμ μαν μπαμπ πατερ γιαγι νταντ κυρ θει πεθερ"),
    _rule("εδεσ εδων", "εδ", ends="οπ ιπ εμπ υπ γηπ δαπ κρασπ μιλ"),
    _rule("ουδεσ ουδων", "ουδ", ends="αρκ καλιακ πεταλ λιχ πλεξ σκ σ φλ φρ βελ λουλ χν σπ τραγ φε"),
    _rule("εωσ εων", "ε", "θ δ ελ γαλ ν π ιδ παρ"),
    _rule("ια ιου ιων", "ι", ends=_VOWELS),
    _rule(
        "ικα ικο ικου ικων",
        "ικ",
        "αλ αδ ενδ αμαν αμμοχαλ ηθ ανηθ αντιδ φυσ βρωμ γερ εξωδ καλπ καλλιν καταδ μουλ μπαν μπαγιατ μπολ μποσ νιτ ξικ "
        "συνομηλ πετσ πιτσ πικαντ πλιατσ ποστελν πρωτοδ σερτ συναδ τσαμ υποδ φιλον φυλοδ χασ",
        _VOWELS,
    ),
    _rule("ηθηκαμε ουσαμε αγαμε ησαμε ηκαμε", "αγαμ", may_be_all="αγαμε")._replace(stems=frozenset({""})),
    _rule("αμε", "αμ", "αναπ αποθ αποκ αποστ βουβ ξεθ ουλ πεθ πικρ ποτ σιχ χ"),
    _rule(
        "ιουντανε ιοντανε ουντανε ηθηκανε ιοτανε οντανε ουσανε αγανε ησανε οτανε ηκανε",
        "αγαν",
        "τρ τσ",
        may_be_all="ουντανε ηθηκανε οντανε ουσανε ησανε οτανε ηκανε",
    ),
    _rule(
        "ανε",
        "αν",
        "βετερ βουλκ βραχμ γ δραδουμ θ καλπουζ καστελ κορμορ λαοπλ μωαμεθ μ μουσουλμ ν ουλ π πελεκ πλ πολισ πορτολ "
        "σαρακατσ σουλτ τσαρλατ ορφ τσιγγ τσοπ φωτοστεφ χ ψυχοπλ αγ γαλ γερ δεκ διπλ αμερικαν ουρ πιθ πουριτ σ ζωντ ικ "
        "καστ κοπ λιχ λουθηρ μαιντ μελ σιγ σπ στεγ τραγ τσαγ φ ερ αδαπ αθιγγ αμηχ ανικ ανοργ απηγ απιθ ατσιγγ βασ βασκ "
        "βαθυγαλ βιομηχ βραχυκ διατ διαφ ενοργ θυσ καπνοβιομηχ καταγαλ κλιβ κοιλαρφ λιβ μεγλοβιομηχ μικροβιομηχ νταβ "
        "ξηροκλιβ ολιγοδαμ ολογαλ πενταρφ περηφ περιτρ πλατ πολυδαπ πολυμηχ στεφ ταβ τετ υπερηφ υποκοπ χαμηλοδαπ "
        "ψηλοταβ",
        _VOWELS_BUT_Y,
    ),
    _rule("ησετε"),
    _rule(
        "ετε",
        "ετ",
        "αβαρ βεν εναρ αβρ αδ αθ αν απλ βαρον ντρ σκ κοπ μπορ νιφ παγ παρακαλ σερπ σκελ συρφ τοκ υ δ εμ θαρρ θ",
        (
            *_VOWELS_BUT_Y,
            *(
                "οδ αιρ φορ ταθ διαθ σχ ενδ ευρ τιθ υπερθ ραθ ενθ ροθ σθ πυρ αιν συνδ συν συνθ χωρ πον βρ καθ ευθ εκθ "
                "νετ ρον αρκ βαρ βολ ωφελ"
            ).split(),
        ),
    ),
    _rule("κρεοντασ κρεωντασ", "κρεωντ", ends=_ALWAYS, may_be_all="κρεοντασ κρεωντασ"),
    _rule("οντασ ωντασ", "οντ", "αρχ"),
    _rule("ομαστε", "ομαστ", "ον"),
    _rule("ιεστε", "ιεστ", "π απ συμπ ασυμπ ακαταπ αμεταμφ"),
    _rule("εστε", "εστ", "αλ αρ εκτελ ζ μ ξ παρακαλ προ νισ"),
    _rule("ηθηκεσ ηθηκα ηθηκε"),
    _rule("ηκεσ ηκα ηκε", "ηκ", "διαθ θ παρακαταθ προσθ συνθ", "σκωλ σκουλ ναρθ σφ οθ πιθ"),
    _rule(
        "ουσεσ ουσα ουσε",
        "ουσ",
        "φαρμακ χαδ αγκ αναρρ βρομ εκλιπ λαμπιδ λεχ μ πατ ρ λ μεδ μεσαζ υποτειν αμ αιθ ανηκ δεσποζ ενδιαφερ δε "
        "δευτερευ καθαρευ πλε τσα",
        (*_VOWELS, *"ποδαρ βλεπ πανταχ φρυδ μαντιλ μαλλ κυματ λαχ ληγ φαγ ομ πρωτ".split()),
    ),
    _rule(
        "αγεσ αγα αγε",
        "αγ",
        "αβαστ πολυφ αδηφ παμφ ρ ασπ αφ αμαλ αμαλλι ανυστ απερ ασπαρ αχαρ δερβεν δροσοπ ξεφ νεοπ νομοτ ολοπ ομοτ προστ "
        "προσωποπ συμπ συντ τ υποτ χαρ αειπ αιμοστ ανυπ αποτ αρτιπ διατ εν επιτ κροκαλοπ σιδηροπ λ ναυ ουλαμ ουρ π τρ "
        "μ",
        "οφ πελ χορτ λλ σφ ρπ φρ πρ λοχ σμην",
        "ψοφ ναυλοχ",
        "κολλ",
    ),
    _rule("ησου ησε ησα", "ησ", "ν χερσον δωδεκαν ερημον μεγαλον επταν"),
    _rule("ηστε", "ηστ", "ασβ σβ αχρ χρ απλ αειμν δυσχρ ευχρ κοινοχρ παλιμψ"),
    _rule("ησουνε ηθουνε ουνε", "ουν", "ν ρ σπι στραβομουτσ κακομουτσ εξων"),
    _rule("ησουμε ηθουμε ουμε", "ουμ", "παρασουσ φ χ ωριοπλ αζ αλλοσουσ ασουσ"),
    _rule("ματων ματοσ ματα", "μα", ends=_ALWAYS),
)
_INFLECTIONS = _rule(
    "ιοντουσαν ιομασταν ιοσασταν ιουμαστε οντουσαν ιεμαστε ιεσαστε ιομουνα ιοσαστε ιοσουνα ιουνται ιουνταν ηθηκατε "
    "ομασταν οσασταν ουμαστε ιομουν ιονταν ιοσουν ηθειτε ηθηκαν ομουνα οσαστε οσουνα ουνται ουνταν ουσατε αγατε ιεμαι "
    "ιεται ιεσαι ιοταν ιουμα ηθεισ ηθουν ηκατε ησατε ησουν ομουν ονται ονταν οσουν ουμαι ουσαν αγαν αμαι ασαι αται "
    "ειτε εσαι εται ηδεσ ηδων ηθει ηκαν ησαν ησει ησεσ ομαι οταν αει εισ ηθω ησω ουν ουσ αν ασ αω ει εσ ησ οι οσ ου υσ "
    "ων α ε η ι ο υ ω"
)
_COMPARISON = ("εστερ", "εστατ", "οτερ", "οτατ", "υτερ", "υτατ", "ωτερ", "ωτατ")


def greek(word: str) -> str:
    """Without the endings of cases, persons and comparison."""
    if len(word) < 4:
        return word
    stem = word
    for length in range(min(len(word), 10), 2, -1):
        if word[-length:] in _IRREGULAR:
            stem = word[:-length] + _IRREGULAR[word[-length:]]
            break
    for rule in _RULES:
        stem = rule.applied(stem)
    if len(stem) == len(word):
        stem = _INFLECTIONS.applied(stem)
    for ending in _COMPARISON:
        if stem.endswith(ending):
            return stem[: -len(ending)]
    return stem
