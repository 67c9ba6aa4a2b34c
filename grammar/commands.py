"""Statements that are recognised by their first words: commands for servers, and forms of older versions.

An embedded database has no users, roles or servers; commands for them are parsed as `Administration`, whatever follows.
Forms that Neo4j no longer accepts are refused with its messages.
"""

from __future__ import annotations

from hoplite.errors import CypherError, syntax_error
from hoplite.gql_status import because
from hoplite.grammar.ast import Span
from hoplite.grammar.statement import Administration
from hoplite.grammar.tokens import Token
from hoplite.lazy import lazy_pattern

_PLAIN_WORD = lazy_pattern(r"\w+")
_SERVER_WORDS = {
    "GRANT": None,
    "DENY": None,
    "REVOKE": None,
    "ALTER": ("USER", "DATABASE", "ALIAS", "SERVER", "CURRENT"),
    "RENAME": ("USER", "ROLE", "SERVER"),
    "ENABLE": ("SERVER",),
    "DEALLOCATE": ("DATABASE", "DATABASES"),
    "REALLOCATE": ("DATABASE", "DATABASES"),
    "DRYRUN": ("DEALLOCATE", "REALLOCATE"),
    "START": ("DATABASE",),
    "STOP": ("DATABASE",),
    "CREATE": ("USER", "ROLE", "IMMUTABLE", "DATABASE", "COMPOSITE", "ALIAS"),
    "DROP": ("USER", "ROLE", "DATABASE", "COMPOSITE", "ALIAS", "SERVER"),
    "SHOW": (
        *("USER", "USERS", "ROLE", "ROLES", "PRIVILEGE", "PRIVILEGES", "SERVER", "SERVERS"),
        *("ALIAS", "ALIASES", "SUPPORTED", "POPULATED", "ALL"),
    ),
}
_SHOWN_ALL = frozenset(["ROLE", "ROLES", "PRIVILEGE", "PRIVILEGES"])
_OPENERS = frozenset(["=", "(", ".", ":"])


# Commands that name something, and the words that may come before the name.
_NAMING = frozenset("CREATE DROP ALTER RENAME START STOP GRANT DENY REVOKE ENABLE DEALLOCATE".split())  # noqa: SIM905
_BEFORE_NAMES = frozenset("OR REPLACE ROLE USER CURRENT DATABASE DATABASES COMPOSITE ALIAS SERVER".split())  # noqa: SIM905


def server_command(tokens: list[Token]) -> Administration | None:
    """The server command that the text is, or None."""
    words = [token.text.upper() for token in tokens[:4]]
    if words[0] not in _SERVER_WORDS:
        return None
    seconds = _SERVER_WORDS[words[0]]
    replaces = words[0] == "CREATE" and words[1:3] == ["OR", "REPLACE"]
    second = 3 if replaces else 1
    if len(tokens) <= second or (seconds is not None and words[second] not in seconds):
        return None
    if words[0] == "SHOW" and not _shows_privileges(tokens, words):
        return None
    if seconds is not None and len(tokens) > second + 1 and tokens[second + 1].text in _OPENERS:
        return None
    name = " ".join(words[:1] if seconds is None else (words[0], words[second]))
    return Administration(name, Span(tokens[0].start, tokens[-1].end))


def _shows_privileges(tokens: list[Token], words: list[str]) -> bool:
    """Whether a SHOW is about roles and privileges, and so neither `SHOW USERS` nor `SHOW USER DEFINED FUNCTIONS`."""
    if words[1] == "ALL":
        return words[2] in _SHOWN_ALL
    if words[1] in ("USER", "USERS"):
        return words[2] != "DEFINED" and any(token.text.upper() in ("PRIVILEGE", "PRIVILEGES") for token in tokens[2:])
    return True


def refuse_incomplete(text: str, tokens: list[Token]) -> None:
    """Raise a syntax error for a server command that ends before it names anything: `RENAME ROLE`."""
    words = [token.text.upper() for token in tokens[:-1]]
    if words[0] in _NAMING and all(word in _BEFORE_NAMES for word in words[1:]):
        raise syntax_error("Invalid input '': expected a name", text, len(text))
    if words[0] == "SHOW" and words[1:] in (["ALIAS"], ["ALIASES"]):
        raise syntax_error("Invalid input '': expected a database name, a parameter or 'FOR'", text, len(text))


def refuse_option_values(text: str, tokens: list[Token]) -> None:
    """Raise Neo4j's error for `CYPHER runtime='slotted'`: the value of an option is a plain word, up to a space."""
    start = next((index for index, token in enumerate(tokens) if token.word not in ("EXPLAIN", "PROFILE")), 0)
    if tokens[start].word != "CYPHER":
        return
    start += 1 + (tokens[start + 1].word in ("integer", "float"))
    while tokens[start + 1 : start + 2] and tokens[start + 1].text == "=" and start + 2 < len(tokens):
        value = tokens[start + 2]
        written = text[value.start :].split(maxsplit=1)[:1]
        if written and not _PLAIN_WORD.fullmatch(written[0]):
            raise _unknown_option_value(text, value.start, written[0])
        start += 3


def _unknown_option_value(text: str, place: int, written: str) -> CypherError:
    line, column = text.count("\n", 0, place) + 1, place - text.rfind("\n", 0, place)
    shown = written.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    found = f'Encountered " <UNKNOWN> "{shown}"" at line {line}, column {column}.'
    message = f"{found}\n\nWas expecting:\n\n<IDENTIFIER> ...\n    "
    return syntax_error(message, text, place, because("42I47", message))


def refuse_old_forms(text: str, tokens: list[Token]) -> None:
    """Raise Neo4j's error for schema commands of version 4 and for PERIODIC COMMIT."""
    words = [token.text.upper() for token in tokens[:3]]
    if words[0] in ("CREATE", "DROP") and len(tokens) > 3:
        error = _old_schema(text, tokens, [token.text.upper() for token in tokens])
        if error is not None:
            raise error
    elif words[0] in ("START", "STOP") and words[1] != "DATABASE":
        raise syntax_error(f"Invalid input '{tokens[1].text}': expected 'DATABASE'", text, tokens[1].start)
    elif words == ["USING", "PERIODIC", "COMMIT"]:
        raise syntax_error(
            "The PERIODIC COMMIT query hint is no longer supported. Please use CALL { ... } IN TRANSACTIONS instead.",
            text,
            tokens[1].start,
        )


def _old_schema(text: str, tokens: list[Token], words: list[str]) -> CypherError | None:
    match words:
        case ["CREATE", "INDEX", "ON", ":", *_]:
            message = "Invalid create index syntax, use `CREATE INDEX FOR ...` instead."
            return syntax_error(message, text, tokens[2].start)
        case ["DROP", "INDEX", "ON", ":", *_]:
            message = (
                "Indexes cannot be dropped by schema, please drop by name instead: "
                "DROP INDEX index_name. The index name can be found using SHOW INDEXES."
            )
            return syntax_error(message, text, tokens[2].start)
        case ["DROP", "CONSTRAINT", "ON", "(", *_]:
            message = (
                f"{_constraint_kind(words)} constraints cannot be dropped by schema, please drop "
                "by name instead: DROP CONSTRAINT constraint_name. The constraint name can be "
                "found using SHOW CONSTRAINTS."
            )
            return syntax_error(message, text, tokens[1].start)
        case ["CREATE", "CONSTRAINT", *_]:
            return _old_constraint(text, tokens, words)
    return None


def _constraint_kind(words: list[str]) -> str:
    if "UNIQUE" in words:
        return "Uniqueness"
    if "KEY" in words:
        return "Node key"
    return "Node property existence" if "[" not in words else "Relationship property existence"


def _old_constraint(text: str, tokens: list[Token], words: list[str]) -> CypherError | None:
    def at(word: str) -> int | None:
        return tokens[words.index(word)].start if word in words else None

    on, require, assert_, for_ = at("ON"), at("REQUIRE"), at("ASSERT"), at("FOR")
    if on is not None and assert_ is not None:
        message = (
            "Invalid constraint syntax, ON and ASSERT should not be used. Replace ON with FOR and ASSERT with REQUIRE."
        )
        return syntax_error(message, text, on)
    if on is not None and require is not None and for_ is None:
        message = "Invalid constraint syntax, ON should not be used in combination with REQUIRE. Replace ON with FOR."
        return syntax_error(message, text, on)
    if assert_ is not None and for_ is not None:
        message = (
            "Invalid constraint syntax, FOR should not be used in combination with ASSERT. Replace ASSERT with REQUIRE."
        )
        return syntax_error(message, text, assert_)
    return None
