"""The OPTIONS of indexes and constraints: which are accepted, checked as Neo4j does, and their defaults."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hoplite.errors import CypherError, execution_failed
from hoplite.gql_status import alternatives, because, status
from hoplite.storage.property_values import java_text
from hoplite.storage.schema import PROVIDERS, Entity, IndexKind
from hoplite.values.floats import float_text
from hoplite.values.render import class_name
from hoplite.values.value_types import status_text

INVALID_ARGUMENTS = "Neo.ClientError.General.InvalidArguments"

_ACCEPTED_PROVIDERS = {kind: (provider,) for kind, provider in PROVIDERS.items()} | {
    IndexKind.TEXT: ("text-1.0", "text-2.0"),
    IndexKind.VECTOR: ("vector-1.0", "vector-2.0"),
}
_POINT_LIMITS: Mapping[str, list[float]] = {
    "spatial.cartesian-3d.max": [1000000.0, 1000000.0, 1000000.0],
    "spatial.cartesian-3d.min": [-1000000.0, -1000000.0, -1000000.0],
    "spatial.cartesian.max": [1000000.0, 1000000.0],
    "spatial.cartesian.min": [-1000000.0, -1000000.0],
    "spatial.wgs-84-3d.max": [180.0, 90.0, 1000000.0],
    "spatial.wgs-84-3d.min": [-180.0, -90.0, -1000000.0],
    "spatial.wgs-84.max": [180.0, 90.0],
    "spatial.wgs-84.min": [-180.0, -90.0],
}
_VECTOR_RANGES = {"vector.dimensions": 4096, "vector.hnsw.ef_construction": 3200, "vector.hnsw.m": 512}
_VECTOR_SETTINGS = (
    "vector.dimensions",
    "vector.hnsw.ef_construction",
    "vector.hnsw.m",
    "vector.quantization.enabled",
    "vector.similarity_function",
)
_FULLTEXT_SETTINGS = ("fulltext.analyzer", "fulltext.eventually_consistent")
# The settings of each kind of index that has some, and what messages call them.
_SETTINGS: Mapping[IndexKind, tuple[tuple[str, ...], str]] = {
    IndexKind.FULLTEXT: (_FULLTEXT_SETTINGS, "fulltext config"),
    IndexKind.POINT: (tuple(_POINT_LIMITS), "spatial config settings"),
    IndexKind.VECTOR: (_VECTOR_SETTINGS, "vector config"),
}


def checked_config(
    kind: IndexKind, entity: Entity, options: Mapping[str, Any], constraint: str | None = None
) -> dict[str, Any]:
    """The complete index configuration for the OPTIONS given. The grammar checks other keys.

    `constraint` is the kind of constraint, if the index belongs to one: uniqueness or key.
    """
    what = _noun(kind, entity, constraint)
    _check_provider(kind, what, options.get("indexProvider"))
    config = options.get("indexConfig", {})
    if not isinstance(config, dict):
        raise CypherError(
            INVALID_ARGUMENTS,
            f"Could not create {what} with specified index config '{option_text(config)}'. Expected a map.",
            because("22N27", option_text(config), "'indexConfig'", "MAP"),
        )
    _refuse_settings_of_others(kind, what, config)
    match kind:
        case IndexKind.VECTOR:
            if options.get("indexProvider") == "vector-1.0":
                _require_vector_settings(config)
            return _vector(config)
        case IndexKind.FULLTEXT:
            return _fulltext(config)
        case IndexKind.POINT:
            return _point(config)
    if config:
        raise CypherError(
            INVALID_ARGUMENTS,
            f"Could not create {what} with specified index config '{option_text(config)}': "
            f"{kind.value.lower()} indexes have no valid config values.",
            because("22N04", "indexConfig", "config option", "'indexProvider'"),
        )
    return {}


def _refuse_settings_of_others(kind: IndexKind, what: str, config: Mapping[str, Any]) -> None:
    given = {name.lower() for name in config}
    for other, (names, called) in _SETTINGS.items():
        if other is not kind and not given.isdisjoint(names):
            own = _SETTINGS.get(kind)
            expected = "'no values'" if own is None else alternatives(list(own[0]))
            shown = option_text(config)
            raise CypherError(
                INVALID_ARGUMENTS,
                f"Could not create {what} with specified index config '{shown}', contains {called} options.\n"
                f"To create {other.value.lower()} index, please use 'CREATE {other.value} INDEX ...'.",
                because("22N04", shown, "config options", expected),
            )


def refuse_options(entity: Entity, constraint: str, options: Mapping[str, Any]) -> None:
    """Raise Neo4j's error for options of a constraint without an index: property existence or property type."""
    if options:
        what = f"{entity.value.lower()} {constraint} constraint"
        message = f"Could not create {what}: {constraint} constraints have no valid options values."
        raise CypherError(INVALID_ARGUMENTS, message, status("22N81", "OPTIONS", f"{what}s"))


def _noun(kind: IndexKind, entity: Entity, constraint: str | None) -> str:
    if constraint == "key":
        return f"{entity.value.lower()} key constraint"
    if constraint is not None:
        return f"{constraint} constraint" if entity is Entity.NODE else f"relationship {constraint} constraint"
    if kind is IndexKind.RANGE:
        return f"range {entity.value.lower()} property index"
    return "token lookup index" if kind is IndexKind.LOOKUP else f"{kind.value.lower()} index"


def _check_provider(kind: IndexKind, what: str, provider: Any) -> None:
    if provider is None or provider in _ACCEPTED_PROVIDERS[kind]:
        return
    if not isinstance(provider, str):
        raise CypherError(
            INVALID_ARGUMENTS,
            f"Could not create {what} with specified index provider '{java_text(provider)}'. Expected String value.",
            because("22N27", status_text(provider), "'indexProvider'", "STRING"),
        )
    accepted = ", ".join(f"'{name}'" for name in _ACCEPTED_PROVIDERS[kind])
    other = next((other for other, names in _ACCEPTED_PROVIDERS.items() if provider in names), None)
    hint = f"To create {other.value.lower()} index, please use 'CREATE {other.value} INDEX ...'.\n" if other else ""
    raise CypherError(
        INVALID_ARGUMENTS,
        f"Could not create {what} with specified index provider '{provider}'.\n{hint}"
        f"The available index providers for the given type: [{accepted}].",
        because("22N04", provider, "index provider type", alternatives(list(_ACCEPTED_PROVIDERS[kind]))),
    )


def _require_vector_settings(config: Mapping[str, Any]) -> None:
    """The older provider has no defaults for these."""
    needed = ("vector.dimensions", "vector.similarity_function")
    missing = ", ".join(f"'{name}'" for name in needed if name not in config)
    if missing:
        message = f"Failed to create vector index: Missing index config options [{missing}]."
        raise CypherError(INVALID_ARGUMENTS, message)


def _vector(config: Mapping[str, Any]) -> dict[str, Any]:
    unknown = next((name for name in config if name not in _VECTOR_SETTINGS), None)
    if unknown is not None:
        raise CypherError(
            INVALID_ARGUMENTS,
            f"Could not create vector index with specified index config '{option_text(dict(config))}'. "
            f"'{unknown}' is an unrecognized setting. Supported: [{', '.join(_VECTOR_SETTINGS)}]",
        )
    complete: dict[str, Any] = {
        "vector.hnsw.ef_construction": 100,
        "vector.hnsw.m": 16,
        "vector.quantization.enabled": True,
        "vector.similarity_function": "COSINE",
    }
    for name, value in config.items():
        if name == "vector.similarity_function":
            _expect(isinstance(value, str), name, value, "a String")
            if value.upper() not in ("COSINE", "EUCLIDEAN"):
                raise execution_failed(f"'\"{value}\"' is an unsupported '{name}'. Supported: [COSINE, EUCLIDEAN]")
            complete[name] = value.upper()
        elif name == "vector.quantization.enabled":
            _expect(isinstance(value, bool), name, value, "a Boolean")
            complete[name] = value
        else:
            _expect(isinstance(value, int) and not isinstance(value, bool), name, value, "an Integer")
            if not 1 <= value <= _VECTOR_RANGES[name]:
                raise execution_failed(f"'{name}' must be between 1 and {_VECTOR_RANGES[name]} inclusively")
            complete[name] = value
    return dict(sorted(complete.items()))


def _expect(fits: bool, name: str, value: Any, wanted: str) -> None:
    if not fits:
        message = f"Could not create vector index with specified index config '{name}'. Expected {wanted}."
        found = f"type class org.neo4j.values.storable.{class_name(value)}"
        cause = because("22N27", found, f"'{name}'", wanted.split()[-1].upper())
        raise CypherError(INVALID_ARGUMENTS, message, cause)


def _fulltext(config: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in config.items():
        wanted = {"fulltext.analyzer": str, "fulltext.eventually_consistent": bool}.get(name, (str, bool))
        if not isinstance(value, wanted):
            raise CypherError(
                INVALID_ARGUMENTS,
                f"Could not create fulltext index with specified index config '{option_text(dict(config))}'. "
                "Expected a map from String to Strings and Booleans.",
                because("22N27", option_text(dict(config)), "'indexConfig'", "MAP<STRING, BOOLEAN | STRING>"),
            )
        if name not in _FULLTEXT_SETTINGS:
            raise execution_failed(f"Invalid index config key '{name}', it was not recognized as an index setting.")
        if name == "fulltext.analyzer":
            from hoplite.storage.search.analyzers import analyzer, is_known

            if not is_known(str(value)):
                raise execution_failed(f"No such full-text analyzer: '{value}'.")
            _ = analyzer(str(value)).after  # raises where it is not available
    return {"fulltext.analyzer": "standard-no-stop-words", "fulltext.eventually_consistent": False} | dict(config)


def _point(config: Mapping[str, Any]) -> dict[str, Any]:
    for name, value in config.items():
        is_list = isinstance(value, list) and all(isinstance(item, float | int) for item in value)
        if not is_list:
            raise CypherError(
                INVALID_ARGUMENTS,
                f"Could not create point index with specified index config '{option_text(dict(config))}'. "
                "Expected a map from String to Double[].",
                because("22N27", option_text(dict(config)), "'indexConfig'", "MAP<STRING, LIST<FLOAT>>"),
            )
        if name not in _POINT_LIMITS:
            raise execution_failed(f"Invalid index config key '{name}', it was not recognized as an index setting.")
    complete = dict(_POINT_LIMITS) | {name: [float(item) for item in value] for name, value in config.items()}
    for name, least in complete.items():
        if name.endswith(".min"):
            most = complete[name.removesuffix("min") + "max"]
            if len(least) != len(most) or not all(low <= high for low, high in zip(least, most, strict=True)):
                raise execution_failed("Invalid spatial index settings.")
    return complete


def option_text(value: Any) -> str:
    """A value as these messages print it: `{bar: [1, "x"], foo: 1.5}`."""
    match value:
        case bool():
            return str(value).lower()
        case str():
            return f'"{value}"'
        case float():
            return float_text(value)
        case dict():
            return "{" + ", ".join(f"{key}: {option_text(value[key])}" for key in sorted(value)) + "}"
        case list():
            return "[" + ", ".join(map(option_text, value)) + "]"
    return str(value)
