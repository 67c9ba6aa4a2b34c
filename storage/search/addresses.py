"""Texts split into words, addresses of pages and addresses of mail, like Lucene's tokenizer for them.

At each place the longest of these is taken. A domain that is written without "http://" must end in one that existed
when the tokenizer was made (`top_level_domains.json`), and no letter, digit or hyphen may follow it.
"""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from hoplite.storage.search.tokenizers import LONGEST_WORD, standard, word_pattern


def with_addresses(text: str) -> list[str]:
    """Words by Unicode's rules; addresses as a whole."""
    if not _may_have_address(text):
        return standard(text)
    rules = _rules()
    found: list[str] = []
    at = 0
    while (place := rules.start.search(text, at)) is not None:
        at = place.start()
        end = min(at + LONGEST_WORD, len(text))  # more is never looked at
        longest = max(rules.page(text, at, end), *(_length(rule, text, at, end) for rule in (rules.word, rules.mail)))
        if longest:
            found.append(text[at : at + longest])
        at += longest or 1
    return found


def _may_have_address(text: str) -> bool:
    return "." in text or "@" in text or "://" in text or "[" in text


def _length(pattern: Any, text: str, at: int, end: int) -> int:
    match = pattern.match(text, at, end)
    return 0 if match is None else len(match[0])


class _Rules(NamedTuple):
    """Where one of them may begin; words; mail; pages, and hosts of pages that a letter, or something else, follows."""

    start: Any
    word: Any
    mail: Any
    whole_page: Any
    host: Any
    cut_off: Any
    ended: Any

    def page(self, text: str, at: int, end: int) -> int:
        """The length of the address of a page. Where a host is cut off within a word, a shorter one may be complete;
        a point at the end of everything does not belong to it."""
        length = _length(self.whole_page, text, at, end)
        cut_off = _length(self.cut_off, text, at, end)
        if cut_off and cut_off >= length:
            return _length(self.ended, text, at, end)
        if at + length == len(text) and text.endswith(".") and self.host.fullmatch(text, at):
            return length - 1
        return length


@cache
def _rules() -> _Rules:
    import regex

    strict, label = _domain(), r"[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?"
    host = rf"(?:\[{_ip_6()}\]|{strict}|{_IP_4})"
    pages = _pages(host, rf"{label}(?:\.{label})*")
    words = word_pattern()
    start = rf"{words}|[A-Za-z0-9\[\"!#$%&'*+,\-./=?^_`{{|}}~]"
    forms = (start, words, _mails(strict), pages, host, rf"{host}(?=[-\w])", rf"{host}(?=[^-\w])")
    return _Rules(*map(regex.compile, forms))


def _domain() -> str:
    """A domain that ends in a known one, and maybe a point. The longest of the known ones comes first."""
    lines: list[str] = json.loads(Path(__file__).with_name("top_level_domains.json").read_text("utf-8"))
    known = "|".join(sorted(" ".join(lines).split(), key=len, reverse=True))
    label = r"[A-Za-z0-9](?:[-A-Za-z0-9]*[A-Za-z0-9])?"
    return rf"{label}(?:\.{label})*\.(?i:{known})\.?"


_OCTET = r"(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|0?[1-9][0-9]|0{0,2}[0-9])"
_IP_4 = rf"{_OCTET}(?:\.{_OCTET}){{3}}"


def _ip_6() -> str:
    part = "[0-9A-Fa-f]{1,4}"
    last = rf"(?:{_IP_4}|{part}:{part})"
    forms = [rf"(?:{part}:){{6}}{last}", rf"::(?:{part}:){{5}}{last}", rf"(?:{part})?::(?:{part}:){{4}}{last}"]
    forms += [rf"(?:(?:{part}:){{0,{n}}}{part})?::(?:{part}:){{{4 - n}}}{last}" for n in (1, 2, 3, 4)]
    forms += [rf"(?:(?:{part}:){{0,5}}{part})?::{part}", rf"(?:(?:{part}:){{0,6}}{part})?::"]
    return f"(?:{'|'.join(forms)})"


def _pages(host: str, loose: str) -> str:
    """Addresses of pages: by HTTP, with or without saying so, by FTP, and files."""
    plain, encoded = r"[-._~A-Za-z0-9]", "%[0-9A-Fa-f]{2}"
    marks = r"[!$&'()*+,;=]"
    login = rf"(?:{plain}|{encoded}|{marks})*"
    login = rf"(?:{login}(?::{login})?@)?"
    behind = rf"(?:{plain}|{encoded}|{marks}|[:@/?])*"
    port, question, fragment = "(?::[0-9]{1,5})?", rf"(?:\?{behind})?", rf"(?:#{behind})?"
    ip_6 = rf"\[{_ip_6()}\]"
    any_host = rf"(?:{ip_6}|{loose})"
    path = rf"(?:/(?:{plain}|{encoded}|[;:@&=])*)*"
    file_path = rf"(?:/(?:{plain}|{encoded}|[?:@&=])*)+"
    rest = port + path + question + fragment
    return "|".join(
        (
            rf"(?i:https?)://{login}{any_host}{rest}",
            rf"(?i:ftp)://{login}{any_host}{port}{file_path}(?:;(?i:type)=[aAiIdD])?{fragment}",
            rf"(?i:file)://(?:{any_host})?{file_path}{fragment}",
            host + rest,
        )
    )


def _mails(strict: str) -> str:
    """Before the @ come words with points anywhere, and quoted parts that points part from the rest."""
    quoted = r'"(?:[\x01-\x08\x0b\x0c\x0e-\x21\x23-\x5b\x5d-\x7e]|\\[\x00-\x7f])*"(?=@|\.(?!@))'
    plain = r"[A-Za-z0-9!#$%&'*+,\-/=?^_`{|}~]++|\.++"
    local = rf'(?!\."|@)(?:{quoted})?(?:{plain}|(?<=\.){quoted})*+'
    bracketed = r"\[(?:[\x01-\x08\x0b\x0c\x0e-\x5a\x5e-\x7f]|\\[\x00-\x7f])*\]"
    return rf"{local}@(?:{strict}|{bracketed})"
