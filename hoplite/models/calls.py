"""Functions of other languages, and their equivalents in Cypher."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hoplite.grammar import ast
from hoplite.grammar.lenient import RENAMED
from hoplite.models.writing import quoted

_RENAMED = {
    **RENAMED,
    "average": "avg", "mean": "avg", "total": "sum", "maximum": "max", "minimum": "min",
    "len": "size", "strlen": "size", "char_length": "size", "array_length": "size", "cardinality": "size",
    "lower": "toLower", "lcase": "toLower", "tolowercase": "toLower", "lowercase": "toLower",
    "upper": "toUpper", "ucase": "toUpper", "touppercase": "toUpper", "uppercase": "toUpper",
    "int": "toInteger", "integer": "toInteger", "parseint": "toInteger",
    "float": "toFloat", "double": "toFloat", "tonumber": "toFloat", "number": "toFloat", "parsefloat": "toFloat",
    "str": "toString", "string": "toString", "text": "toString", "tostr": "toString", "bool": "toBoolean",
    "group_concat": "collect", "array_agg": "collect", "collect_list": "collect", "list": "collect",
    "tolist": "collect", "aggregate": "collect", "collectlist": "collect",
    "ifnull": "coalesce", "nvl": "coalesce", "ceiling": "ceil", "ln": "log",
    "std": "stDev", "stddev": "stDev", "stdev_samp": "stDev", "stddev_pop": "stDevP",
    "now": "datetime", "current_timestamp": "datetime", "getdate": "datetime", "sysdate": "datetime",
    "today": "date", "current_date": "date", "curdate": "date", "todate": "date", "to_date": "date",
    "parsedate": "date", "first": "head", "substr": "substring",
    "random": "rand", "truncate": "floor", "strip": "trim", "nodelabels": "labels", "label": "labels",
    "reltype": "type", "propertykeys": "keys",
}  # fmt: skip

_OPERATORS = {
    "startswith": "STARTS WITH", "starts_with": "STARTS WITH", "beginswith": "STARTS WITH", "hasprefix": "STARTS WITH",
    "endswith": "ENDS WITH", "ends_with": "ENDS WITH", "hassuffix": "ENDS WITH",
    "contains": "CONTAINS", "includes": "CONTAINS", "stringcontains": "CONTAINS", "instr": "CONTAINS",
    "like": "=~", "matches": "=~", "regex": "=~", "regexp": "=~", "rlike": "=~", "regexp_like": "=~",
    "regexp_match": "=~", "regexp_matches": "=~", "regexmatch": "=~",
    "concat": "+", "pow": "^", "power": "^", "mod": "%", "equals": "=",
}  # fmt: skip

COMPONENTS = ("year", "month", "day", "hour", "minute", "second", "week", "quarter", "dayofweek")


def replaced_call(call: ast.FunctionCall, arguments: Sequence[str], wraps: bool) -> str | None:
    """The Cypher equivalent of a call of an unknown function; None if there is none."""
    name = call.name.lower()
    for rule in _RULES:
        found = rule(name, call, arguments, wraps)
        if found is not None:
            return found
    return None


def _renamed(name: str, call: ast.FunctionCall, arguments: Sequence[str], wraps: bool) -> str | None:
    if name not in _RENAMED or (name in ("first", "substr") and not arguments):
        return None
    distinct = "DISTINCT " if call.distinct else ""
    return f"{_RENAMED[name]}({distinct}{', '.join(arguments)})"


def _operator(name: str, call: ast.FunctionCall, arguments: Sequence[str], wraps: bool) -> str | None:
    if name not in _OPERATORS or len(arguments) < 2 or (len(arguments) > 2 and name != "concat"):
        return None
    written = f" {_OPERATORS[name]} ".join(arguments)
    return f"({written})" if wraps else written


def _component(name: str, call: ast.FunctionCall, arguments: Sequence[str], wraps: bool) -> str | None:
    """`year(x)` is `x.year`."""
    if name not in COMPONENTS or len(arguments) != 1:
        return None
    argument = call.arguments[0]
    if isinstance(argument, ast.Property) and argument.key.lower() == name:
        return arguments[0]
    component = "dayOfWeek" if name == "dayofweek" else name
    simple = isinstance(argument, ast.Property | ast.Variable | ast.FunctionCall)
    return f"{arguments[0]}.{component}" if simple else f"({arguments[0]}).{component}"


def _counted(name: str, call: ast.FunctionCall, arguments: Sequence[str], wraps: bool) -> str | None:
    if name in ("count_distinct", "countdistinct", "distinct_count", "approx_count_distinct") and len(arguments) == 1:
        return f"count(DISTINCT {arguments[0]})"
    if name == "median" and len(arguments) == 1:
        return f"percentileCont({arguments[0]}, 0.5)"
    if name in ("if", "iif") and len(arguments) == 3:
        return f"CASE WHEN {arguments[0]} THEN {arguments[1]} ELSE {arguments[2]} END"
    return None


_THERE = ("has", "exists", "isnotnull", "is_not_null", "notnull", "hasvalue", "isdefined", "defined", "has_property")
_ABSENT = ("isnull", "is_null", "notexists", "not_exists")


def _presence(name: str, call: ast.FunctionCall, arguments: Sequence[str], wraps: bool) -> str | None:
    """`has(n.name)` is `n.name IS NOT NULL`."""
    if len(arguments) != 1 or not isinstance(call.arguments[0], ast.Property):
        return f"coalesce({', '.join(arguments)})" if name == "isnull" and len(arguments) == 2 else None
    if name not in _THERE and name not in _ABSENT:
        return None
    written = f"{arguments[0]} IS {'NOT ' if name in _THERE else ''}NULL"
    return f"({written})" if wraps else written


def _joined(name: str, call: ast.FunctionCall, arguments: Sequence[str], wraps: bool) -> str | None:
    """`string_agg(x, ', ')`: the texts of a group joined into one."""
    if name not in ("string_agg", "group_concat", "listagg", "array_to_string") or len(arguments) != 2:
        return None
    distinct = "DISTINCT " if call.distinct else ""
    texts = arguments[0] if name == "array_to_string" else f"collect({distinct}{arguments[0]})"
    return f"apoc.text.join({texts}, {arguments[1]})"


def _method(name: str, call: ast.FunctionCall, arguments: Sequence[str], wraps: bool) -> str | None:
    """`n.property('age')` is `n.age`; `n.name.contains('x')` is `n.name CONTAINS 'x'`."""
    subject, _, method = call.name.rpartition(".")
    if not subject:
        return None
    if method.lower() in ("property", "get", "getproperty", "prop", "has_property", "hasproperty"):
        key = call.arguments[0] if len(arguments) == 1 else None
        if isinstance(key, ast.Literal) and isinstance(key.value, str):
            found = f"{subject}.{quoted(key.value)}"
            return f"({found} IS NOT NULL)" if method.lower().startswith("has") else found
        return None
    if method.lower() in _OPERATORS and len(arguments) == 1:
        written = f"{subject} {_OPERATORS[method.lower()]} {arguments[0]}"
        return f"({written})" if wraps else written
    if method.lower() == "count" and len(arguments) == 1:
        return f"count({'DISTINCT ' if call.distinct else ''}{arguments[0]})"
    if not arguments and (method.lower() in _RENAMED or method.lower() in _METHODS):
        return f"{_RENAMED.get(method.lower(), method)}({subject})"
    return None


_METHODS = ("tolower", "toupper", "size", "trim", "tostring", "labels", "keys", "count")

_Rule = Callable[[str, ast.FunctionCall, Sequence[str], bool], str | None]
_RULES: tuple[_Rule, ...] = (
    _presence,
    _joined,
    _renamed,
    _operator,
    _component,
    _counted,
    _method,
)
