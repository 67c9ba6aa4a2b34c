"""Cypher's types and the signatures of functions, as the semantic check and the function tables share them.

Types carry the names that Neo4j's compile-time messages use: `Integer`, `List<String>`, `Node`.
"""

from __future__ import annotations

from typing import TypeAlias

from hoplite.lazy_dataclass import dataclass


@dataclass(frozen=True, slots=True)
class CypherType:
    """A type; `inner` is the element type of a List."""

    name: str
    inner: CypherType | None = None

    def __str__(self) -> str:
        return self.name if self.inner is None else f"{self.name}<{self.inner}>"


ANY = CypherType("Any")
BOOLEAN = CypherType("Boolean")
INTEGER = CypherType("Integer")
FLOAT = CypherType("Float")
NUMBER = CypherType("Number")  # Integer or Float
STRING = CypherType("String")
MAP = CypherType("Map")
NODE = CypherType("Node")
RELATIONSHIP = CypherType("Relationship")
PATH = CypherType("Path")
POINT = CypherType("Point")
DATE = CypherType("Date")
TIME = CypherType("Time")
LOCAL_TIME = CypherType("LocalTime")
DATE_TIME = CypherType("DateTime")
LOCAL_DATE_TIME = CypherType("LocalDateTime")
DURATION = CypherType("Duration")


def list_of(inner: CypherType) -> CypherType:
    """`List<inner>`"""
    return CypherType("List", inner)


LIST = list_of(ANY)

_SQL_NAMES = {
    "DateTime": "ZONED DATETIME",
    "LocalDateTime": "LOCAL DATETIME",
    "Time": "ZONED TIME",
    "LocalTime": "LOCAL TIME",
    "Number": "INTEGER | FLOAT",
}


def sql_name(type: CypherType) -> str:
    """The name of a type as Cypher 5 writes it: `LIST<ZONED DATETIME>`."""
    name = _SQL_NAMES.get(type.name, type.name.upper())
    return name if type.inner is None else f"{name}<{sql_name(type.inner)}>"


Accepted: TypeAlias = tuple[CypherType, ...]

_BY_SQL_NAME = {
    "ANY": ANY,
    "BOOLEAN": BOOLEAN,
    "INTEGER": INTEGER,
    "FLOAT": FLOAT,
    "NUMBER": NUMBER,
    "STRING": STRING,
    "MAP": MAP,
    "NODE": NODE,
    "RELATIONSHIP": RELATIONSHIP,
    "PATH": PATH,
    "POINT": POINT,
    "DATE": DATE,
    "ZONED TIME": TIME,
    "TIME": TIME,
    "LOCAL TIME": LOCAL_TIME,
    "LOCALTIME": LOCAL_TIME,
    "ZONED DATETIME": DATE_TIME,
    "DATETIME": DATE_TIME,
    "LOCAL DATETIME": LOCAL_DATE_TIME,
    "LOCALDATETIME": LOCAL_DATE_TIME,
    "DURATION": DURATION,
}


def parse_type(text: str) -> Accepted:
    """The types that a declaration in a signature stands for; unknown ones are ANY.

    >>> [str(type) for type in parse_type("LIST<INTEGER | FLOAT>?")]
    ['List<Integer>', 'List<Float>']
    """
    text = text.strip().rstrip("?").removesuffix("NOT NULL").strip()
    if text.upper().startswith("LIST") and text.endswith(">"):
        inner = text[text.index("<") + 1 : -1]
        return tuple(list_of(type) for type in parse_type(inner))
    if text.upper().startswith("LIST"):
        return (LIST,)
    if "|" in text:
        return tuple(type for part in text.split("|") for type in parse_type(part))
    return (_BY_SQL_NAME.get(text.upper(), ANY),)


@dataclass(frozen=True, slots=True)
class Argument:
    """A parameter of a function: any of these types; it may be left out where `optional`."""

    types: Accepted
    optional: bool = False
    name: str = "input"


def optional(*types: CypherType) -> Argument:
    """An argument that may be left out."""
    return Argument(types, optional=True)


@dataclass(frozen=True, slots=True)
class Form:
    """One way to call a function, as SHOW FUNCTIONS lists it.

    A function with optional arguments has several.
    """

    signature: str
    description: str


@dataclass(frozen=True, slots=True)
class Signature:
    """What the semantic check, SHOW FUNCTIONS and the documentation need to know about a function.

    `returns` lists the types the result may have. `variadic`: the last argument may be repeated (coalesce). `own_forms`
    are given if SHOW FUNCTIONS lists several forms, or words one differently.
    """

    name: str
    arguments: tuple[Argument, ...]
    returns: Accepted
    category: str
    description: str
    aggregating: bool = False
    variadic: bool = False
    deterministic: bool = True
    built_in: bool = True
    own_forms: tuple[Form, ...] = ()
    deprecated_by: str | None = None

    @property
    def forms(self) -> tuple[Form, ...]:
        """The ways to call it."""
        return self.own_forms or (Form(signature_text(self), self.description),)

    def answers_to(self, name: str) -> bool:
        """Whether a call may spell the name this way: APOC and user-defined functions are case-sensitive."""
        if self.built_in and not self.name.startswith("apoc."):
            return self.name.lower() == name.lower()
        return self.name == name

    @property
    def least(self) -> int:
        """The fewest arguments that a call may have."""
        return sum(not a.optional for a in self.arguments)

    @property
    def most(self) -> int | None:
        """The most arguments that a call may have; None if there is no limit."""
        return None if self.variadic else len(self.arguments)


def signature_text(signature: Signature) -> str:
    """`left(original :: STRING, length :: INTEGER) :: STRING`"""
    arguments = ", ".join(
        f"{argument.name}{_default(argument)} :: {_union(argument.types)}" for argument in signature.arguments
    )
    return f"{signature.name}({arguments}) :: {_union(signature.returns)}"


def _default(argument: Argument) -> str:
    """The default of an optional argument: temporal functions take the current time."""
    if not argument.optional:
        return ""
    return " = null" if argument.name == "fields" else " = DEFAULT_TEMPORAL_ARGUMENT"


def _union(types: Accepted) -> str:
    return " | ".join(map(sql_name, types))


@dataclass(frozen=True, slots=True)
class Field:
    """A named, typed input or output of a procedure; `type` is as written in its signature (`STRING?`)."""

    name: str
    type: str
    default: object = None
    has_default: bool = False


@dataclass(frozen=True, slots=True)
class ProcedureSignature:
    """A procedure: `outputs` is empty for one that yields nothing."""

    name: str
    inputs: tuple[Field, ...]
    outputs: tuple[Field, ...]
    mode: str = "READ"  # READ, WRITE, SCHEMA, DBMS
    description: str = ""
    deprecated_by: str | None = None
    warning: str | None = None  # what every call is told
