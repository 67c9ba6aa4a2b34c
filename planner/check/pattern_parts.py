"""The parts of patterns: their elements, the variables these declare, their properties and predicates."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hoplite.gql_status import because
from hoplite.grammar import ast
from hoplite.planner.check.labels import check_dynamic, check_labels, check_types, note_labels
from hoplite.planner.check.positions import key_offsets
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import Check
from hoplite.planner.check.typespec import TypeSpec, any_of, exactly, list_spec
from hoplite.planner.types import MAP, NODE, PATH, RELATIONSHIP

NODES = exactly(NODE)
RELATIONSHIPS = exactly(RELATIONSHIP)
PATHS = exactly(PATH)
MAPS = any_of((MAP,))

Element = ast.NodePattern | ast.RelationshipPattern | ast.ParenthesizedPath


def is_quantified(element: Element) -> bool:
    return not isinstance(element, ast.NodePattern) and element.repetition is not None


def chain_of(part: ast.PathPattern) -> ast.PatternChain:
    """The nodes and relationships of a part, even inside `shortestPath(...)`."""
    return part.pattern.pattern if isinstance(part.pattern, ast.ShortestPathFunction) else part.pattern


def elements_of(part: ast.PathPattern) -> Sequence[Element]:
    """Nodes, relationships and quantified paths; parentheses that only group are removed."""
    return opened(chain_of(part))


def opened(chain: ast.PatternChain) -> Sequence[Element]:
    """The same of a chain."""
    if ast.ParenthesizedPath not in map(type, chain.elements):
        return chain.elements
    found: list[Element] = []
    for element in chain.elements:
        if isinstance(element, ast.ParenthesizedPath) and element.repetition is None:
            found += opened(element.pattern)
        else:
            found.append(element)
    return found


def inner_path(part: ast.PathPattern) -> ast.Variable | None:
    """The path variable inside the parentheses after a selective selector: `SHORTEST 1 (p = (a)-->+(b) WHERE ...)`."""
    if part.selector is None or part.selector.kind == "ALL":
        return None
    match chain_of(part).elements:
        case (ast.ParenthesizedPath(repetition=None, path_variable=variable),):
            return variable
        case _:
            return None


def has_fixed_length(chain: ast.PatternChain) -> bool:
    """Whether all paths that a chain matches are equally long; Neo4j takes `*2` for a variable length."""
    for element in opened(chain):
        if isinstance(element, ast.NodePattern):
            continue
        repetition = element.repetition
        if repetition is not None and repetition.lower != repetition.upper:
            return False
        if isinstance(element, ast.RelationshipPattern) and element.hops is not None:
            return False
    return True


def variables_of(element: Element) -> Iterator[ast.Variable]:
    if isinstance(element, ast.ParenthesizedPath):
        for inner in element.pattern.elements:
            yield from variables_of(inner)
    elif element.variable is not None:
        yield element.variable


# --- declaring -------------------------------------------------------------------------------------------------------


def declare_part(check: Check, part: ast.PathPattern, scope: Scope) -> None:
    for element in elements_of(part):
        declare_element(check, element, scope)
    for variable in (part.path_variable, inner_path(part)):
        if variable is not None:
            check.declare(variable, PATHS, scope)


def declare_element(check: Check, element: Element, scope: Scope) -> None:
    match element:
        case ast.NodePattern(variable=variable):
            check_labels(check, element.labels, element, "node")
            if variable is not None:
                bind(check, variable, NODES, scope)
        case ast.RelationshipPattern(variable=variable):
            if variable is not None:
                many = element.hops is not None or element.repetition is not None
                bind(check, variable, list_spec(RELATIONSHIPS) if many else RELATIONSHIPS, scope)
            check_types(check, element)
        case ast.ParenthesizedPath(pattern=pattern):
            singles = Scope()
            for inner in pattern.elements:
                if isinstance(inner, ast.NodePattern):
                    check_labels(check, inner.labels, inner, "node")
                    types = NODES
                else:
                    types = RELATIONSHIPS
                for variable in variables_of(inner):
                    bind(check, variable, types, singles)
                    scope.names[variable.name] = list_spec(types)


def bind(check: Check, variable: ast.Variable, types: TypeSpec, scope: Scope) -> None:
    """Declare a variable of a pattern, or refer to an existing one that fits."""
    found = scope.refer(variable.name)
    if found is None:
        scope.names[variable.name] = types
        return
    if not found & types:
        message = f"Type mismatch: {variable.name} defined with conflicting type {found} (expected {types})"
        raise check.error(message, variable.span.start, because("22N27", found, variable.name, types))
    if variable.name in scope.names:
        scope.names[variable.name] = types


# --- properties and predicates ---------------------------------------------------------------------------------------


def check_properties(check: Check, part: ast.PathPattern, scope: Scope) -> None:
    for element in chain_of(part).elements:
        check_element(check, element, scope, "MATCH")


def check_element(check: Check, element: Element, scope: Scope, clause: str) -> None:
    if isinstance(element, ast.ParenthesizedPath):
        inner = scope
        if element.repetition is not None:
            inner = scope.inner()
            for part in element.pattern.elements:
                types = NODES if isinstance(part, ast.NodePattern) else RELATIONSHIPS
                for variable in variables_of(part):
                    inner.names[variable.name] = types
        for part in element.pattern.elements:
            check_element(check, part, inner, clause)
        _check_where(check, element.predicate, inner)
        return
    names = element.labels if isinstance(element, ast.NodePattern) else element.types
    kind = "label" if isinstance(element, ast.NodePattern) else "type"
    check_dynamic(check, names, kind, scope)
    note_labels(check, names, kind)
    if isinstance(element.properties, ast.MapLiteral):
        for key, offset in key_offsets(element.properties, check.text):
            check.mentions.names[offset] = ("key", key)
    inner = scope
    if isinstance(element, ast.RelationshipPattern):
        if element.repetition is not None and element.variable is not None:
            inner = scope.inner({element.variable.name: RELATIONSHIPS})
        if element.predicate is not None and element.hops is not None:
            message = "Relationship pattern predicates are not supported for variable-length relationships."
            raise check.error_at(message, element.predicate)
    if isinstance(element.properties, ast.Parameter) and clause in ("MATCH", "MERGE"):
        name = element.properties.name
        raise check.error(
            f"Parameter maps cannot be used in `{clause}` patterns "
            f"(use a literal map instead, e.g. `{{id: ${name}.id}}`)",
            element.properties.span.start,
        )
    if element.properties is not None:
        check.expect(MAPS, check.type_of(element.properties, inner), element.properties)
    _check_where(check, element.predicate, inner)


def _check_where(check: Check, predicate: ast.Expression | None, scope: Scope) -> None:
    if predicate is not None:
        check.check_predicate(predicate, scope)
