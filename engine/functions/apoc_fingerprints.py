"""apoc.hashing.fingerprint*: digests of values, entities and the whole graph.

What is digested is a text: of a node its labels, of a relationship its type and the digests of its ends, then each key
with the digest of its value. With the strategy LAZY, `apoc.hashing.fingerprinting` leaves out every label, type and
property that its configuration does not mention.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from dataclasses import field
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.functions.apoc import apoc_function, function_failed
from hoplite.engine.functions.apoc_maps import ends_of, held_by
from hoplite.engine.functions.entities import labels, relationship_type
from hoplite.engine.functions.java_text import java_text
from hoplite.lazy_dataclass import dataclass
from hoplite.values.entities import NodeRef, PathValue, RelationshipRef

_NAME = "apoc.hashing.fingerprinting"
_NULL = "java.lang.NullPointerException"
_ALGORITHMS = {
    "MD5": "md5",
    "SHA": "sha1",
    **{f"SHA{dash}{size}": f"sha{size}" for size in (1, 224, 256, 384, 512) for dash in ("-", "")},
    **{f"SHA{dash}512/{size}": f"sha512_{size}" for size in (224, 256) for dash in ("-", "")},
    **{f"SHA3-{size}": f"sha3_{size}" for size in (224, 256, 384, 512)},
}
"""Java's names of digests, in upper case, and Python's."""


@dataclass(frozen=True, slots=True)
class _Lists:
    """Keys that are digested and keys that are not: for all entities of a kind, and by label or type."""

    allowed: frozenset[str | None] = frozenset()
    disallowed: frozenset[str | None] = frozenset()
    allowed_of: Mapping[str, Any] = field(default_factory=dict)
    disallowed_of: Mapping[str, Any] = field(default_factory=dict)

    def mentions(self, name: str) -> bool:
        """Whether there is a list for this label or type."""
        return name in self.allowed_of or name in self.disallowed_of


@dataclass(frozen=True, slots=True)
class _Settings:
    """What is digested, and how."""

    algorithm: str = "md5"
    is_lazy: bool = False
    nodes: _Lists = _Lists()
    relationships: _Lists = _Lists()
    maps: _Lists = _Lists()


class _Fingerprints:
    """Writes values as the texts that are digested."""

    def __init__(self, context: Execution, settings: _Settings) -> None:
        self._context = context
        self._settings = settings

    def of(self, value: Any) -> str:
        """The digest of a value."""
        return self.digest(self._text(value))

    def digest(self, text: str) -> str:
        """In hexadecimal digits, in upper case."""
        return hashlib.new(self._settings.algorithm, text.encode(), usedforsecurity=False).hexdigest().upper()

    def relationship(self, value: RelationshipRef, digest_of: Callable[[NodeRef], str]) -> str:
        """The text of a relationship, whose nodes have these digests."""
        name = relationship_type(self._context, value) or ""
        lists = self._settings.relationships
        held = self._held(value, lists, (name,))
        if self._settings.is_lazy and not lists.mentions(name):
            return held
        return name + "".join(map(digest_of, ends_of(self._context, value))) + held

    def _text(self, value: Any) -> str:
        self._context.check_time()
        match value:
            case None:
                return ""
            case NodeRef():
                names = sorted(labels(self._context, value) or ())
                lists = self._settings.nodes
                shown = filter(lists.mentions, names) if self._settings.is_lazy else names
                return "".join(shown) + self._held(value, lists, names)
            case RelationshipRef():
                return self.relationship(value, self.of)
            case PathValue():
                return "".join(map(self._text, (*value.node_refs(), *value.relationship_refs())))
            case list():
                return "".join(map(self._text, value))
            case dict():
                return self._entries(value)
        return java_text(value)

    def _held(self, value: NodeRef | RelationshipRef, lists: _Lists, names: Iterable[str]) -> str:
        """The properties of an entity with these labels or this type."""
        held = held_by(self._context, value)
        allowed, disallowed = set(lists.allowed), lists.disallowed | self._settings.maps.disallowed
        for name in names:
            allowed |= _keys(lists.allowed_of.get(name, []))
            disallowed |= _keys(lists.disallowed_of.get(name, []))
        if self._settings.is_lazy and not allowed and not disallowed:
            return ""
        return self._entries(
            {key: one for key, one in held.items() if (not allowed or key in allowed) and key not in disallowed}
        )

    def _entries(self, entries: Mapping[str, Any]) -> str:
        lists = self._settings.maps
        kept = sorted(
            key for key in entries if (not lists.allowed or key in lists.allowed) and key not in lists.disallowed
        )
        return "".join(f"{key}{self.of(entries[key])}" for key in kept)


def _wrong_class(value: Any, wanted: str) -> Exception:
    return function_failed(_NAME, "java.lang.ClassCastException", f"{java_text(value) or value} is not a {wanted}")


def _keys(value: Any) -> frozenset[str | None]:
    """The keys on a list; what is not a string is no key."""
    if value is None:
        raise function_failed(_NAME, _NULL, "a list of keys is null")
    if not isinstance(value, list):
        raise _wrong_class(value, "list")
    return frozenset(key if isinstance(key, str) else None for key in value)


def _by_name(config: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = config.get(name, {})
    if value is None:
        raise function_failed(_NAME, _NULL, f"`{name}` is null")
    if not isinstance(value, dict):
        raise _wrong_class(value, "map")
    return value


def _word(config: Mapping[str, Any], name: str, default: str, if_null: str) -> str:
    value = config.get(name, default)
    if value is None:
        raise function_failed(_NAME, _NULL, if_null)
    if not isinstance(value, str):
        raise _wrong_class(value, "string")
    return value


def _settings(config: Mapping[str, Any]) -> _Settings:
    """The settings of a configuration, which may not name anything on two lists."""
    algorithm = _word(config, "digestAlgorithm", "MD5", "null algorithm name")
    strategy = _word(config, "strategy", "LAZY", "Name is null")
    if strategy not in ("LAZY", "EAGER"):
        message = f"No enum constant apoc.hashing.FingerprintingConfig.FingerprintStrategy.{strategy}"
        raise function_failed(_NAME, "java.lang.IllegalArgumentException", message)
    everywhere = [
        (_keys(config.get(f"{kind}AllowList", [])), _keys(config.get(f"{kind}DisallowList", [])))
        for kind in ("allNodes", "allRels", "map")
    ]
    by_name = [
        (_by_name(config, f"{kind}AllowMap"), _by_name(config, f"{kind}DisallowMap")) for kind in ("node", "rel")
    ]
    clashes = (
        *zip(("labels", "types"), ("nodes", "rels"), by_name, strict=True),
        *zip(("properties",) * 3, ("all nodes", "all rels", "maps"), everywhere, strict=True),
    )
    for names, kind, (allowed, disallowed) in clashes:
        if set(allowed) & set(disallowed):
            message = f"You can't set the same {names} for allow and disallow lists for {kind}"
            raise function_failed(_NAME, "java.lang.RuntimeException", message)
    if algorithm.upper() not in _ALGORITHMS:
        message = f"{algorithm} MessageDigest not available"
        raise function_failed(_NAME, "java.security.NoSuchAlgorithmException", message)
    return _Settings(
        _ALGORITHMS[algorithm.upper()],
        strategy == "LAZY",
        _Lists(*everywhere[0], *by_name[0]),
        _Lists(*everywhere[1], *by_name[1]),
        _Lists(*everywhere[2]),
    )


def _without(keys: Iterable[str]) -> _Settings:
    return _Settings(maps=_Lists(disallowed=frozenset(keys)))


@apoc_function(
    "apoc.hashing.fingerprint(object :: ANY, excludedPropertyKeys = [] :: LIST<STRING>) :: STRING",
    "Returns a digest of a value, of a node's labels and properties, or of a relationship and its ends.",
    needs_context=True,
)
def fingerprint(context: Execution, value: Any, left_out: list[str] | None) -> str:
    """MD5 in upper-case hex."""
    return _Fingerprints(context, _without(left_out or ())).of(value)


@apoc_function(
    "apoc.hashing.fingerprinting(object :: ANY, config = {} :: MAP) :: STRING",
    "Returns a digest of a value, or of those labels, types and properties of an entity that lists allow.",
    needs_context=True,
)
def fingerprinting(context: Execution, value: Any, config: dict[str, Any] | None) -> str:
    """By default MD5, of a value or a map, and of nothing that an entity has."""
    return _Fingerprints(context, _settings(config or {})).of(value)


@apoc_function(
    "apoc.hashing.fingerprintGraph(propertyExcludes = [] :: LIST<STRING>) :: STRING",
    "Returns a digest of the whole graph, which does not depend on ids.",
    needs_context=True,
)
def fingerprint_graph(context: Execution, left_out: list[str] | None) -> str:
    """MD5 of the digests of all nodes in order, each with those of its outgoing relationships and where they lead."""
    if left_out is None:
        raise function_failed("apoc.hashing.fingerprintGraph", _NULL, "`propertyExcludes` is null")
    graph = context.graph
    writer = _Fingerprints(context, _without(left_out))
    nodes = graph.nodes()
    digests = {position: writer.of(NodeRef(position)) for position in nodes.tolist()}
    outgoing: dict[int, list[tuple[str, str]]] = defaultdict(list)
    relationships = graph.relationships()
    starts, ends = graph.endpoints(relationships)
    for position, start, end in zip(relationships.tolist(), starts.tolist(), ends.tolist(), strict=True):
        context.check_time()
        text = writer.relationship(RelationshipRef(position), lambda node: digests[node.position])
        outgoing[start].append((digests[end], writer.digest(text)))
    ids = dict(zip(nodes.tolist(), graph.node_ids(nodes).tolist(), strict=True))
    parts: list[str] = []
    for position in sorted(digests, key=lambda position: (digests[position], ids[position])):
        parts.append(digests[position])
        parts += (part for pair in sorted(outgoing[position]) for part in pair)
    return writer.digest("".join(parts))
