"""Notifications: what a statement's summary adds to its answer, in Neo4j's words.

A `Notification` has two forms: the older one (code, title, description) and GQL's (status, status description). There
is one function for each kind.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from hoplite.errors import Position
from hoplite.lazy_dataclass import dataclass

_STATEMENT = "Neo.ClientNotification.Statement."
_SCHEMA = "Neo.ClientNotification.Schema."
_DEPRECATED = "This feature is deprecated and will be removed in future versions."


@dataclass(frozen=True, slots=True)
class Notification:
    """One notification; the position is None where Neo4j gives none. `hints`, an extension, say what may have been
    meant."""

    code: str
    title: str
    description: str
    severity: str
    category: str
    gql_status: str
    status_description: str
    position: Position | None
    hints: Sequence[str] = field(default=(), compare=False)


# --- names that the database has never stored ----------------------------------------------------------------------


def unknown_label(name: str, position: Position) -> Notification:
    """A label in a query that reads."""
    return Notification(
        f"{_STATEMENT}UnknownLabelWarning",
        "The provided label is not in the database.",
        "One of the labels in your query is not available in the database, make sure you didn't misspell it or "
        "that the "
        f"label is available when you run this statement in your application (the missing label name is: {name})",
        "WARNING",
        "UNRECOGNIZED",
        "01N50",
        f"warn: label does not exist. The label `{name}` does not exist. Verify that the spelling is correct.",
        position,
    )


def unknown_type(name: str, position: Position) -> Notification:
    """A relationship type in a query that reads."""
    return Notification(
        f"{_STATEMENT}UnknownRelationshipTypeWarning",
        "The provided relationship type is not in the database.",
        "One of the relationship types in your query is not available in the database, make sure you didn't "
        "misspell it "
        "or that the label is available when you run this statement in your application "
        f"(the missing relationship type is: {name})",
        "WARNING",
        "UNRECOGNIZED",
        "01N51",
        f"warn: relationship type does not exist. The relationship type `{name}` does not exist. "
        "Verify that the spelling is correct.",
        position,
    )


def unknown_key(name: str, position: Position) -> Notification:
    """A property key of a node or relationship in a query that reads."""
    return Notification(
        f"{_STATEMENT}UnknownPropertyKeyWarning",
        "The provided property key is not in the database",
        "One of the property names in your query is not available in the database, make sure you didn't misspell it or "
        "that the label is available when you run this statement in your application "
        f"(the missing property name is: {name})",
        "WARNING",
        "UNRECOGNIZED",
        "01N52",
        f"warn: property key does not exist. The property `{name}` does not exist. Verify that the spelling is "
        "correct.",
        position,
    )


# --- what is going away -----------------------------------------------------------------------------------------------


def deprecated(what: str, description: str, position: Position | None) -> Notification:
    """Something deprecated, explained by a sentence."""
    return _deprecation("01N00", f"warn: feature deprecated. {what}", description, position)


def deprecated_for(old: str, new: str, description: str, position: Position | None) -> Notification:
    """Something deprecated that has a successor."""
    status = f"warn: feature deprecated with replacement. {old} is deprecated. It is replaced by {new}."
    return _deprecation("01N01", status, description, position)


def deprecated_without(old: str, description: str, position: Position | None) -> Notification:
    """Something deprecated that has no successor."""
    status = (
        f"warn: feature deprecated without replacement. {old} is deprecated and will be removed without a replacement."
    )
    return _deprecation("01N02", status, description, position)


def _deprecation(gql_status: str, status: str, description: str, position: Position | None) -> Notification:
    return Notification(
        f"{_STATEMENT}FeatureDeprecationWarning",
        _DEPRECATED,
        description,
        "WARNING",
        "DEPRECATION",
        gql_status,
        status,
        position,
    )


# --- patterns ---------------------------------------------------------------------------------------------------------


def cartesian_product(pattern: str, names: Sequence[str], position: Position) -> Notification:
    """Disconnected parts of a pattern; `names` are the nodes of one part."""
    identifiers = "identifier is" if len(names) == 1 else "identifiers are"
    return Notification(
        f"{_STATEMENT}CartesianProduct",
        "This query builds a cartesian product between disconnected patterns.",
        "If a part of a query contains multiple disconnected patterns, this will build a cartesian product between all "
        "those parts. This may produce a large amount of data and slow down query processing. While occasionally "
        "intended, "
        "it may often be possible to reformulate the query that avoids the use of this cross product, perhaps by "
        "adding a "
        f"relationship between the different parts or by using OPTIONAL MATCH ({identifiers}: ({', '.join(names)}))",
        "INFORMATION",
        "PERFORMANCE",
        "03N90",
        f"info: cartesian product. The disconnected pattern '{pattern}' builds a cartesian product. A cartesian "
        "product may "
        "produce a large amount of data and slow down query processing.",
        position,
    )


def unbounded_shortest_path(pattern: str, position: Position) -> Notification:
    """A shortest path of any length."""
    return Notification(
        f"{_STATEMENT}UnboundedVariableLengthPattern",
        "The provided pattern is unbounded, consider adding an upper limit to the number of node hops.",
        "Using shortest path with an unbounded pattern will likely result in long execution times. It is "
        "recommended to use "
        "an upper limit to the number of node hops in your pattern.",
        "INFORMATION",
        "PERFORMANCE",
        "03N91",
        f"info: unbounded variable length pattern. The provided pattern '{pattern}' is unbounded. Shortest path "
        "with an "
        "unbounded pattern may result in long execution times. Use an upper limit (e.g. '[*..5]') on the number of "
        "node hops "
        "in your pattern.",
        position,
    )


def exhaustive_shortest_path(predicates: Sequence[str], position: Position) -> Notification:
    """A shortest path whose predicates require all paths to be tried."""
    shown = ", ".join(f"'{predicate}'" for predicate in predicates)
    return Notification(
        f"{_STATEMENT}ExhaustiveShortestPath",
        "Exhaustive shortest path has been planned for your query that means that shortest path graph algorithm "
        "might not be "
        "used to find the shortest path. Hence an exhaustive enumeration of all paths might be used in order to "
        "find the "
        "requested shortest path.",
        "Using shortest path with an exhaustive search fallback might cause query slow down since shortest path graph "
        "algorithms might not work for this use case. It is recommended to introduce a WITH to separate the MATCH "
        "containing "
        "the shortest path from the existential predicates on that path.",
        "INFORMATION",
        "PERFORMANCE",
        "03N92",
        "info: exhaustive shortest path. The query runs with exhaustive shortest path due to the existential "
        "predicate(s) "
        f"{shown}. It may be possible to use 'WITH' to separate the 'MATCH' from the existential predicate(s).",
        position,
    )


def repeated_relationship(name: str, pattern: str, *, variable_length: bool, position: Position) -> Notification:
    """A relationship variable used twice in one MATCH."""
    if variable_length:
        description = (
            "A variable-length relationship variable is bound more than once, which leads to no results because "
            "relationships must not occur more than once in each result. "
            f"(the repeated variable-length relationship is: {name})"
        )
    else:
        description = (
            "A relationship is referenced more than once in the query, which leads to no results because relationships "
            f"must not occur more than once in each result. (Relationship `{name}` was repeated)"
        )
    return Notification(
        f"{_STATEMENT}RepeatedRelationshipReference",
        "The query returns no results due to repeated references to a relationship.",
        description,
        "WARNING",
        "GENERIC",
        "01N63",
        f"warn: repeated relationship pattern variable. `{name}` is repeated in '{pattern}', which leads to no "
        "results.",
        position,
    )


def unsatisfiable_type(expression: str, position: Position) -> Notification:
    """A relationship type expression that no single type can satisfy."""
    return Notification(
        f"{_STATEMENT}UnsatisfiableRelationshipTypeExpression",
        "The query contains a relationship type expression that cannot be satisfied.",
        f"Relationship type expression cannot possibly be satisfied. (`{expression}` can never be satisfied by any "
        "relationship. Relationships must have exactly one relationship type.)",
        "WARNING",
        "GENERIC",
        "01N61",
        f"warn: unsatisfiable relationship type expression. The expression '{expression}' cannot be satisfied because "
        "relationships must have exactly one type.",
        position,
    )


# --- the rest ---------------------------------------------------------------------------------------------------------


def shadowing(name: str, position: Position) -> Notification:
    """A variable of a CALL subquery that hides one outside."""
    return Notification(
        f"{_STATEMENT}SubqueryVariableShadowing",
        "Variable in subquery is shadowing a variable with the same name from the outer scope.",
        "Variable in subquery is shadowing a variable with the same name from the outer scope. If you want to use that "
        "variable instead, it must be imported into the subquery using importing WITH clause. "
        f"(the shadowing variable is: {name})",
        "INFORMATION",
        "GENERIC",
        "03N60",
        f"info: subquery variable shadowing. The variable `{name}` in the subquery uses the same name as a "
        "variable from the "
        f"outer query. Use 'WITH `{name}`' in the subquery to import the one from the outer scope unless you want "
        "it to be a "
        "new variable.",
        position,
    )


def missing_parameters(names: Sequence[str]) -> Notification:
    """An EXPLAIN without all of its parameters."""
    quoted = [f"$`{name}`" for name in names]
    listed = quoted[0] if len(quoted) == 1 else f"{', '.join(quoted[:-1])} and {quoted[-1]}"
    return Notification(
        f"{_STATEMENT}ParameterNotProvided",
        "The statement refers to a parameter that was not provided in the request.",
        "Did not supply query with enough parameters. The produced query plan will not be cached and is not executable "
        f"without EXPLAIN. (Missing parameters: {', '.join(names)})",
        "WARNING",
        "GENERIC",
        "01N60",
        "warn: parameter missing. The query plan cannot be cached and is not executable without 'EXPLAIN' due to the "
        f"undefined parameter(s) {listed}. Provide the parameter(s).",
        None,
    )


def missing_index(kind: str, variable: str, label: str, keys: Sequence[str], *, of_nodes: bool) -> Notification:
    """A hint to an index that does not exist; `kind` is `INDEX`, `TEXT INDEX` ..."""
    covered = f"(`{variable}`:`{label}`)" if of_nodes else f"()-[`{variable}`:`{label}`]-()"
    properties = ", ".join(f"`{variable}`.`{key}`" for key in keys)
    return Notification(
        f"{_SCHEMA}HintedIndexNotFound",
        "The request (directly or indirectly) referred to an index that does not exist.",
        f"The hinted index does not exist, please check the schema (index is: {kind} FOR {covered} ON ({properties}))",
        "WARNING",
        "HINT",
        "01N31",
        f"warn: hinted index does not exist. Unable to create a plan with '{kind} :{label}({', '.join(keys)})' "
        "because the "
        "index does not exist.",
        None,
    )


def unsupported_runtime(runtime: str) -> Notification:
    """A runtime that the community edition does not have."""
    return Notification(
        f"{_STATEMENT}RuntimeUnsupportedWarning",
        "This query is not supported by the chosen runtime.",
        "Selected runtime is unsupported for this query, please use a different runtime instead or fallback to "
        "default. "
        f"(This version of Neo4j does not support the requested runtime: `{runtime}`)",
        "WARNING",
        "UNSUPPORTED",
        "01N40",
        f"warn: unsupported runtime. The query cannot be executed with 'runtime={runtime}'; instead, "
        "'runtime=slotted' is "
        f"used. Cause: This version of Neo4j does not support the requested runtime: `{runtime}`.",
        None,
    )


def procedure_warning(name: str, warning: str, position: Position) -> Notification:
    """A warning that a procedure declares about itself."""
    return Notification(
        "Neo.ClientNotification.Procedure.ProcedureWarning",
        "The query used a procedure that generated a warning.",
        f"The query used a procedure that generated a warning. ({warning})",
        "WARNING",
        "GENERIC",
        "01N62",
        "warn: procedure or function execution warning. Execution of the procedure "
        f"{name}() generated the warning {warning}",
        position,
    )


def deprecated_character(name: str, character: str, position: Position) -> Notification:
    """A character in a name without backticks."""
    code = f"`\\u{ord(character):04x}`"
    escape = f"To continue using it, escape the identifier by adding backticks around the identifier `{name}`."
    if character == "\u0085":
        sentence = (
            f"The Unicode character {code} is deprecated for unescaped identifiers and will be considered as a "
            f"whitespace character in the future. {escape}"
        )
    else:
        sentence = (
            f"The character with the Unicode representation {code} is deprecated for unescaped identifiers and will "
            f"not be supported in the future. {escape}"
        )
    return deprecated(sentence, sentence, position)


# --- schema commands without effect --------------------------------------------------------------------------------


def already_exists(command: str, rule: str) -> Notification:
    """CREATE ... IF NOT EXISTS of something that exists."""
    return Notification(
        f"{_SCHEMA}IndexOrConstraintAlreadyExists",
        f"`{command}` has no effect.",
        f"`{rule}` already exists.",
        "INFORMATION",
        "SCHEMA",
        "00NA0",
        f"note: successful completion - index or constraint already exists. The command '{command}' has no effect. "
        f"The index or constraint specified by '{rule}' already exists.",
        None,
    )


def does_not_exist(command: str, name: str) -> Notification:
    """DROP ... IF EXISTS of something that does not exist."""
    return Notification(
        f"{_SCHEMA}IndexOrConstraintDoesNotExist",
        f"`{command}` has no effect.",
        f"`{name}` does not exist.",
        "INFORMATION",
        "SCHEMA",
        "00NA1",
        f"note: successful completion - index or constraint does not exist. The command '{command}' has no effect. "
        f"The specified index or constraint `{name}` does not exist.",
        None,
    )


# --- of our own -----------------------------------------------------------------------------------------------------


def relaxed_form(change: str, position: Position) -> Notification:
    """A form that Neo4j refuses and the lenient setting took."""
    return Notification(
        f"{_STATEMENT}FeatureDeprecationWarning",
        "The query was not valid and was read leniently.",
        f"The lenient setting changed the query: {change}.",
        "WARNING",
        "DEPRECATION",
        "01N00",
        f"warn: feature deprecated. The lenient setting changed the query: {change}.",
        position,
    )
