"""GQL status objects: what a server says about an error besides its code and message.

An error has a chain of them: the first belongs to the error itself, each one after it is the cause of the one before.
`CONDITIONS` has every status that is sent, with its condition and the sentence that its parameters fill. `because` is
the usual way to make a chain: most causes belong below the same status.

    >>> because("22NB1", "Boolean", "String")
    GqlStatus(code='42001', ..., cause=GqlStatus(code='22NB1', ...))

Neo4j 5.26 has no specific status for many errors yet. They have `UNCLASSIFIED`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from hoplite.lazy_dataclass import dataclass

_DATA = "data exception"
_STATE = "invalid transaction state"
_SYNTAX = "syntax error or access rule violation"
_GENERAL = "general processing exception"
_SYSTEM = "system configuration or operation exception"


class Condition(NamedTuple):
    """What a status stands for; `sentence` has a place `{}` for each parameter."""

    name: str
    sentence: str = ""


CONDITIONS = {
    "08N06": Condition("connection exception - protocol error", "General network protocol error."),
    "22000": Condition(_DATA),
    "22003": Condition(f"{_DATA} - numeric value out of range", "The numeric value {} is outside the required range."),
    "22007": Condition(f"{_DATA} - invalid date, time, or datetime format"),
    "22015": Condition(f"{_DATA} - interval field overflow"),
    "22G03": Condition(f"{_DATA} - invalid value type"),
    "22N01": Condition(f"{_DATA} - invalid type", "Expected the value {} to be of type {}, but was of type {}."),
    "22N03": Condition(
        f"{_DATA} - specified numeric value out of range",
        "Expected '{}' to be of type {} and in the range {} to {} but found {}.",
    ),
    "22N04": Condition(f"{_DATA} - invalid input value", "Invalid input '{}' for {}. Expected {}."),
    "22N05": Condition(f"{_DATA} - input failed validation", "Invalid input '{}' for {}."),
    "22N07": Condition(f"{_DATA} - invalid pre-parser option key", "Invalid pre-parser option(s): {}."),
    "22N10": Condition(
        f"{_DATA} - invalid pre-parser option value",
        "Invalid pre-parser option, specified '{}' is not valid for option '{}'. Valid options are: {}.",
    ),
    "22N09": Condition(
        f"{_DATA} - conflicting pre-parser combination",
        "Invalid pre-parser option, cannot specify multiple conflicting values for '{}'.",
    ),
    "22N11": Condition(f"{_DATA} - invalid argument", "Invalid argument: cannot process '{}'."),
    "22N12": Condition(f"{_DATA} - invalid date, time, or datetime format", "Invalid argument: cannot process '{}'."),
    "22N13": Condition(f"{_DATA} - invalid time zone", "Specified time zones must include a date component."),
    "22N14": Condition(f"{_DATA} - invalid temporal value combination", "Cannot select both {} and {}."),
    "22N18": Condition(f"{_DATA} - incomplete spatial value", "A {} POINT must contain {}."),
    "22N19": Condition(
        f"{_DATA} - invalid spatial value",
        "A POINT must contain either 'x' and 'y', or 'latitude' and 'longitude'.",
    ),
    "22N20": Condition(
        f"{_DATA} - invalid spatial value dimensions",
        "Cannot create POINT with {} coordinate reference system (CRS) and {} coordinates. Use the equivalent {} "
        "coordinate reference system instead.",
    ),
    "22N22": Condition(
        f"{_DATA} - invalid spatial value combination",
        "Cannot specify both coordinate reference system (CRS) and spatial reference identifier (SRID).",
    ),
    "22N23": Condition(
        f"{_DATA} - invalid latitude value",
        "Cannot create WGS84 POINT with invalid coordinate: {}. The valid range for the latitude coordinate is "
        "[-90, 90].",
    ),
    "22N24": Condition(f"{_DATA} - invalid coordinate arguments", "Cannot construct a point from {}."),
    "22N25": Condition(f"{_DATA} - invalid temporal arguments", "Cannot construct a {} from {}."),
    "22N26": Condition(
        f"{_DATA} - unsupported rounding mode",
        "Unknown rounding mode. Valid values are: CEILING, FLOOR, UP, DOWN, HALF_EVEN, HALF_UP, HALF_DOWN, "
        "UNNECESSARY.",
    ),
    "22N27": Condition(f"{_DATA} - invalid entity type", "Invalid input '{}' for {}. Expected to be {}."),
    "22N28": Condition(f"{_DATA} - overflow error", "The result of the operation '{}' has caused an overflow."),
    "22N35": Condition(
        f"{_DATA} - invalid date format",
        "Cannot parse '{}' as a DATE. Calendar dates need to be specified using the format 'YYYY-MM', while ordinal "
        "dates need to be specified using the format 'YYYY-DDD'.",
    ),
    "22N36": Condition(f"{_DATA} - invalid temporal format", "Cannot parse '{}' as a {}."),
    "22N37": Condition(f"{_DATA} - invalid coercion", "Cannot coerce {} to {}."),
    "22N38": Condition(f"{_DATA} - invalid function argument", "Invalid argument to the function {}()."),
    "22N41": Condition(
        f"{_DATA} - merge node uniqueness constraint violation",
        "The 'MERGE' clause did not find a matching node `{}` and cannot create a new node due to conflicts with "
        "existing uniqueness constraints.",
    ),
    "22N81": Condition(f"{_DATA} - expression type unsupported here", "Invalid input: '{}' is not supported in {}."),
    "22N90": Condition(
        f"{_DATA} - property type unsupported in constraint", "{} is not supported in property type constraints."
    ),
    "22NB1": Condition(f"{_DATA} - type mismatch", "Type mismatch: expected to be {} but was '{}'."),
    "25N01": Condition(
        f"{_STATE} - invalid combination of statement types",
        "Failed to execute the query '{}' due to conflicting statement types (read query, write query, schema "
        "modification, or administration command). To execute queries in the same transaction, they must be either of "
        "the same type, or be a combination of schema modifications and read commands.",
    ),
    "42001": Condition(f"{_SYNTAX} - invalid syntax"),
    "42I01": Condition(f"{_SYNTAX} - invalid FOREACH", "Invalid use of {} inside 'FOREACH'."),
    "42I05": Condition(
        f"{_SYNTAX} - invalid FIELDTERMINATOR",
        "The FIELDTERMINATOR specified for LOAD CSV can only be one character wide.",
    ),
    "42I13": Condition(
        f"{_SYNTAX} - invalid number of procedure or function arguments",
        "The procedure or function call does not provide the required number of arguments; expected {} but got {}.\n\n"
        "The procedure or function {}() has the signature: {}.",
    ),
    "42I18": Condition(
        f"{_SYNTAX} - invalid reference to implicitly grouped expressions",
        "The aggregation column contains implicit grouping expressions referenced by the variables {}. Implicit "
        "grouping expressions are variables not explicitly declared as grouping keys.",
    ),
    "42I20": Condition(
        f"{_SYNTAX} - invalid symbol in expression",
        "Label expressions and relationship type expressions cannot contain '{}'. To express a label {} use '{}' "
        "instead.",
    ),
    "42I25": Condition(
        f"{_SYNTAX} - invalid use of CALL IN TRANSACTIONS",
        "'CALL {{ ... }} IN TRANSACTIONS' is not supported after a write clause.",
    ),
    "42I29": Condition(
        f"{_SYNTAX} - invalid use of IS",
        "The IS keyword cannot be used together with multiple labels in '{}'. Rewrite the expression as '{}'.",
    ),
    "42I37": Condition(
        f"{_SYNTAX} - invalid use of RETURN *",
        "'RETURN *' is not allowed when there are no variables in scope.",
    ),
    "42I38": Condition(
        f"{_SYNTAX} - invalid use of RETURN",
        "'RETURN ...' can only be used at the end of a query or subquery.",
    ),
    "42I40": Condition(f"{_SYNTAX} - invalid use of UNION and UNION ALL", "UNION and UNION ALL cannot be combined."),
    "42I45": Condition(
        f"{_SYNTAX} - invalid use of multiple path patterns",
        "Multiple path patterns cannot be used in the same clause in combination with a selective path selector.",
    ),
    "42I47": Condition(f"{_SYNTAX} - parser error", "Parser Error: {}."),
    "42N07": Condition(
        f"{_SYNTAX} - variable shadowing",
        "The variable `{}` is shadowing a variable with the same name from the outer scope and needs to be renamed.",
    ),
    "42N14": Condition(f"{_SYNTAX} - invalid use of command", "{} cannot be used together with '{}'."),
    "42N17": Condition(f"{_SYNTAX} - unsupported request", "'{}' is not allowed on the system database."),
    "42N20": Condition(f"{_SYNTAX} - empty list range operator", "The list range operator '[ ]' cannot be empty."),
    "42N21": Condition(f"{_SYNTAX} - unaliased return item", "Expression in {} must be aliased (use AS)."),
    "42N22": Condition(
        f"{_SYNTAX} - single return column required",
        "A COLLECT subquery must end with a single return column.",
    ),
    "42N24": Condition(f"{_SYNTAX} - missing WITH", "A WITH clause is required between '{}' and '{}'."),
    "42N29": Condition(
        f"{_SYNTAX} - unbound variables in pattern expression",
        "Pattern expressions are not allowed to introduce new variables: `{}`.",
    ),
    "42N31": Condition(
        f"{_SYNTAX} - specified number out of range",
        "Expected '{}' to be {} in the range {} to {} but found {}.",
    ),
    "42N39": Condition(
        f"{_SYNTAX} - incompatible return columns",
        "All subqueries in a UNION clause must have the same return column names.",
    ),
    "42N40": Condition(
        f"{_SYNTAX} - single relationship pattern required",
        "The {}() function must contain one relationship pattern.",
    ),
    "42N42": Condition(f"{_SYNTAX} - unsupported sub-path binding", "Sub-path assignment is not supported."),
    "42N45": Condition(f"{_SYNTAX} - unexpected end of input", "Unexpected end of input, expected {}."),
    "42N57": Condition(
        f"{_SYNTAX} - invalid use of data-modifications in expressions",
        "'{}' cannot contain any updating clauses.",
    ),
    "42N70": Condition(
        f"{_SYNTAX} - function without required WHERE clause", "The function {}() requires a WHERE clause."
    ),
    "42N71": Condition(
        f"{_SYNTAX} - incomplete query",
        "A query must conclude with a RETURN clause, a FINISH clause, an update clause, a unit subquery call, or a "
        "procedure call without a YIELD clause.",
    ),
    "42N75": Condition(
        f"{_SYNTAX} - invalid use of graph function",
        "A call to the graph function {}() is only allowed as the top-level argument of a USE clause.",
    ),
    "42N76": Condition(f"{_SYNTAX} - unfulfillable hints", "The hint(s) {} cannot be fulfilled."),
    "42N77": Condition(
        f"{_SYNTAX} - missing hint predicate",
        "The hint {} cannot be fulfilled. The query does not contain a compatible predicate for {} on `{}`.",
    ),
    "42N78": Condition(
        f"{_SYNTAX} - variable already bound",
        "Node `{}` has already been bound and cannot be modified by the {} clause.",
    ),
    "50N00": Condition(f"{_GENERAL} - internal error", "Internal exception raised {}: {}"),
    "50N09": Condition(
        f"{_GENERAL} - invalid server state transition",
        "The server transitioned into a server state that is not valid in the current context: '{}'.",
    ),
    "50N11": Condition(f"{_GENERAL} - constraint creation failed", "Unable to create '{}'."),
    "50N42": Condition(f"{_GENERAL} - unexpected error", "Unexpected error has occurred. See debug log for details."),
    "51N30": Condition(
        f"{_SYSTEM} - not supported with this configuration",
        "Impersonation is not supported in a database with auth disabled.",
    ),
    "51N23": Condition(
        f"{_SYSTEM} - cyclic shortest path search disabled",
        "Cannot find the shortest path when the start and end nodes are the same. To enable this behavior, set "
        "'dbms.cypher.forbid_shortestpath_common_nodes' to false.",
    ),
}

# The status above a cause, if it is not that of invalid syntax.
_ABOVE = {
    "22N01": "22G03",
    "22N03": "22003",
    "22N07": "22000",
    "22N09": "22000",
    "22N10": "22000",
    "22N11": "22000",
    "22N12": "22007",
    "22N13": "22007",
    "22N14": "22007",
    "22N18": "22000",
    "22N19": "22000",
    "22N20": "22000",
    "22N22": "22000",
    "22N23": "22000",
    "22N24": "22000",
    "22N25": "22007",
    "22N26": "22000",
    "22N27": "22G03",
    "22N28": "22015",
    "22N35": "22007",
    "22N36": "22007",
    "22N41": "22G03",
    "22N90": "50N11",
}
_INVALID_SYNTAX = "42001"
LARGEST = 2**63 - 1  # how ranges without an end write it
_UNCLASSIFIED = ("22G03", "50N00", "50N42")
_DATABASE_ERRORS = ("50N09", "50N11")
UNPLACED = ("50N00", "50N11", "50N42")  # errors without a position, although their messages have one


@dataclass(frozen=True, slots=True)
class GqlStatus:
    """One link of the chain, its sentence filled in."""

    code: str
    sentence: str = ""
    cause: GqlStatus | None = None

    @property
    def description(self) -> str:
        """`error: data exception - invalid argument. Invalid argument: cannot process '('.`"""
        name = f"error: {CONDITIONS[self.code].name}"
        return f"{name}. {self.sentence}" if self.sentence else name

    @property
    def classification(self) -> str | None:
        """Whose fault it is; statuses that Neo4j uses for all kinds of errors have none."""
        if self.code in _UNCLASSIFIED:
            return None
        return "DATABASE_ERROR" if self.code in _DATABASE_ERRORS else "CLIENT_ERROR"

    def under(self, code: str, *parameters: object) -> GqlStatus:
        """The status `code` with this one as its cause."""
        return status(code, *parameters, cause=self)


def status(code: str, *parameters: object, cause: GqlStatus | None = None) -> GqlStatus:
    """A status with its parameters filled in."""
    return GqlStatus(code, CONDITIONS[code].sentence.format(*parameters), cause)


def because(code: str, *parameters: object) -> GqlStatus:
    """A cause below the status that usually comes above it."""
    return status(code, *parameters).under(_ABOVE.get(code, _INVALID_SYNTAX))


def alternatives(names: list[str], last: str = "or") -> str:
    """`'a', 'b' or 'c'`"""
    quoted = [f"'{name}'" for name in names]
    return quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} {last} {quoted[-1]}"


def diagnostic_record(link: GqlStatus, position: dict[str, int] | None) -> dict[str, Any]:
    """What a server sends with a status."""
    record: dict[str, Any] = {"OPERATION": "", "OPERATION_CODE": "0", "CURRENT_SCHEMA": "/"}
    if link.classification is not None:
        record["_classification"] = link.classification
    if position is not None:
        record["_position"] = position
    return record


def server_fault(message: str) -> GqlStatus:
    """The status of an internal error of Neo4j."""
    return status("50N09", "uncaught error").under("50N00", "TransactionStateTransitionException", message)


UNCLASSIFIED = status("50N42")
