"""Patterns: which variables they declare, and what each clause allows in them.

MATCH may use everything; CREATE and MERGE take only what can be written; a pattern used as an expression may not
introduce variables. Variables of a pattern are declared before its properties and predicates are checked, so that those
may refer to any part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hoplite.errors import SYNTAX_ERROR, CypherError
from hoplite.grammar import ast
from hoplite.planner.check import render
from hoplite.planner.check.positions import after, key_offsets
from hoplite.planner.check.scopes import Scope
from hoplite.planner.check.state import INVALID_SYNTAX, INVALID_TYPE, Check
from hoplite.planner.check.traverse import walk, walk_expression
from hoplite.planner.check.typespec import TypeSpec, exactly, list_spec
from hoplite.planner.types import NODE, PATH, RELATIONSHIP, STRING, list_of

NODES = exactly(NODE)
RELATIONSHIPS = exactly(RELATIONSHIP)
_PATHS = exactly(PATH)
_NEWER = frozenset("|&!%")
_TOKEN_NAMES = exactly(STRING, list_of(STRING))

Element = ast.NodePattern | ast.RelationshipPattern | ast.ParenthesizedPath


# --- MATCH -----------------------------------------------------------------------------------------------------------


def check_match(check: Check, clause: ast.MatchClause, scope: Scope) -> None:
    """Check the patterns of a MATCH and declare their variables."""
    if clause.mode is not None:
        offset = after(clause.span.start + len("MATCH"), check.text)
        raise check.error(f"Match modes such as `{clause.mode}` are not supported yet.", offset)
    _check_quantified_names(check, clause.patterns, frozenset(scope.visible()))
    for part in clause.patterns:
        _check_part(check, part)
    _check_selectors(check, clause.patterns)
    for part in clause.patterns:
        _declare_part(check, part, scope)
    for part in clause.patterns:
        _check_properties(check, part, scope)
    for part in clause.patterns:
        _require_node(check, part)


def _check_part(check: Check, part: ast.PathPattern) -> None:
    if isinstance(part.pattern, ast.ShortestPathFunction):
        if part.selector is not None and part.selector.kind != "ALL":
            message = (
                "Mixing shortestPath/allShortestPaths with path selectors (e.g. 'ANY SHORTEST') or explicit match "
                "modes ('e.g. DIFFERENT RELATIONSHIPS') is not allowed."
            )
            raise check.error(message, part.pattern.span.start)
        check_shortest(check, part.pattern)
        return
    selector = part.selector
    if selector is not None and isinstance(selector.count, ast.Literal) and selector.count.value == 0:
        message = "The path count needs to be greater than 0."
        raise check.error(message, selector.count.span.start, INVALID_SYNTAX)
    _check_juxtaposition(check, part.pattern)
    for element in part.pattern.elements:
        _check_quantified(check, element, part)


def _check_selectors(check: Check, parts: tuple[ast.PathPattern, ...]) -> None:
    selective = [p for p in parts if p.selector is not None and p.selector.kind != "ALL"]
    if selective and len(parts) > 1:
        message = (
            "Multiple path patterns cannot be used in the same clause in combination with a selective path selector."
        )
        raise check.error(message, selective[0].pattern.span.start, INVALID_SYNTAX)


def check_shortest(check: Check, function: ast.ShortestPathFunction) -> None:
    """`shortestPath` takes one relationship, which may start at length 0 or 1."""
    name = "allShortestPaths" if function.every else "shortestPath"
    elements = function.pattern.elements
    for element in elements:
        quantified = isinstance(element, ast.ParenthesizedPath) or (
            isinstance(element, ast.RelationshipPattern) and element.repetition is not None
        )
        if quantified:
            message = f"{name}(...) contains quantified pattern. This is currently not supported."
            raise check.error(message, element.span.start)
    if len(elements) != 3 or not isinstance(elements[1], ast.RelationshipPattern):
        message = f"{name}(...) requires a pattern containing a single relationship"
        raise check.error(message, function.span.start, INVALID_SYNTAX)
    if elements[1].predicate is not None:
        message = "Relationship pattern predicates are not supported for variable-length relationships."
        raise check.error_at(message, elements[1].predicate)
    if elements[1].properties is not None:
        shown = render.scala(elements[1].properties)
        message = f"{name}(...) contains properties {shown}. This is currently not supported."
        raise check.error(message, function.span.start)
    hops = elements[1].hops
    if hops is not None and hops.lower is not None and hops.lower not in (0, 1):
        message = f"{name}(...) does not support a minimal length different from 0 or 1"
        raise check.error(message, hops.span.start + 1)


def _check_juxtaposition(check: Check, pattern: ast.PatternChain) -> None:
    for left, right in zip(pattern.elements, pattern.elements[1:], strict=False):
        if isinstance(left, ast.RelationshipPattern) or isinstance(right, ast.RelationshipPattern):
            continue
        if any(isinstance(e, ast.ParenthesizedPath) and e.repetition is not None for e in (left, right)):
            continue
        texts = [render.element(element, check.text) for element in (left, right)]
        paths = [isinstance(element, ast.ParenthesizedPath) for element in (left, right)]
        if all(paths):
            case = f"both {texts[0]} and {texts[1]} are (non-quantified) parenthesized path patterns."
        else:
            kinds = ["a (non-quantified) parenthesized path pattern" if path else "a single node" for path in paths]
            case = f"{texts[0]} is {kinds[0]} and {texts[1]} is {kinds[1]}."
        raise check.error(
            "Juxtaposition is currently only supported for quantified path patterns.\n"
            f"In this case, {case}\nThat is, neither of these is a quantified path pattern.",
            right.span.start,
        )


def _check_quantified(check: Check, element: Element, part: ast.PathPattern) -> None:
    if isinstance(element, ast.RelationshipPattern):
        if element.repetition is not None:
            _check_repetition(check, element.repetition)
            if element.hops is not None:
                message = "Variable length relationships cannot be part of a quantified path pattern."
                raise check.error(message, element.span.start)
        return
    if not isinstance(element, ast.ParenthesizedPath):
        return
    if element.repetition is None:
        if element.path_variable is not None:
            message = "Sub-path assignment is currently not supported."
            raise check.error(message, element.path_variable.span.start, INVALID_SYNTAX)
        _check_references(check, element, part)
        for inner in element.pattern.elements:
            _check_quantified(check, inner, part)
        return
    _check_repetition(check, element.repetition)
    for inner in element.pattern.elements:
        if isinstance(inner, ast.ParenthesizedPath) or (
            isinstance(inner, ast.RelationshipPattern) and inner.repetition is not None
        ):
            raise check.error("Quantified path patterns are not allowed to be nested.", inner.span.start)
        if isinstance(inner, ast.RelationshipPattern) and inner.hops is not None:
            message = "Variable length relationships cannot be part of a quantified path pattern."
            raise check.error(message, inner.span.start)
    if not any(isinstance(inner, ast.RelationshipPattern) for inner in element.pattern.elements):
        raise check.error(
            "A quantified path pattern needs to have at least one relationship.\nIn this case, the quantified path "
            f"pattern {render.element(element, check.text)} consists of only one node.",
            element.span.start,
        )
    if element.path_variable is not None:
        message = "Assigning a path in a quantified path pattern is not yet supported."
        raise check.error(message, element.path_variable.span.start)


def _check_references(check: Check, element: ast.ParenthesizedPath, part: ast.PathPattern) -> None:
    if element.predicate is None or part.path_variable is None:
        return
    name = part.path_variable.name
    if any(isinstance(node, ast.Variable) and node.name == name for node in walk(element.predicate)):
        raise check.error(
            "From within a parenthesized path pattern, one may only reference variables, that are already bound in a "
            f"previous `MATCH` clause.\nIn this case, `{name}` is defined in the same `MATCH` clause as "
            f"{render.element(element, check.text)}.",
            part.span.start,
        )


def _require_node(check: Check, part: ast.PathPattern) -> None:
    """A pattern must have a node also where its quantified paths are repeated zero times."""
    elements = chain_of(part).elements
    if not all(isinstance(e, ast.ParenthesizedPath) and e.repetition is not None for e in elements):
        return
    paths = [element for element in elements if isinstance(element, ast.ParenthesizedPath)]
    if any(path.repetition is not None and path.repetition.lower > 0 for path in paths):
        return
    empty = " ".join(f"{render.element(replace(path, repetition=None), check.text)}{{0}}" for path in paths)
    raise check.error(
        "A top-level path pattern in a `MATCH` clause must be written such that it always evaluates to at least one "
        f"node pattern.\nIn this case, `{empty}` would result in an empty pattern.",
        part.span.start,
    )


def _check_repetition(check: Check, repetition: ast.Repetition) -> None:
    if repetition.upper == 0:
        message = "A quantifier for a path pattern must not be limited by 0."
        raise check.error(message, repetition.span.start, INVALID_SYNTAX)
    if repetition.upper is not None and repetition.lower > repetition.upper:
        raise check.error(
            "A quantifier for a path pattern must not have a lower bound which exceeds its upper bound.\n"
            f"In this case, the lower bound {repetition.lower} is greater than the upper bound {repetition.upper}.",
            repetition.span.start,
        )


def _check_quantified_names(check: Check, parts: tuple[ast.PathPattern, ...], before: frozenset[str]) -> None:
    """A variable of a quantified path pattern stands for a list: it belongs to that pattern alone."""
    groups: list[tuple[int, set[str]]] = []
    single: set[str] = set()
    for part in parts:
        for element in _elements(part):
            names = {v.name for v in _variables_of(element)}
            if _is_quantified(element):
                groups.append((element.span.start, names))
            else:
                single |= names
    for index, (start, names) in enumerate(groups):
        for name in sorted(names):
            if name in single:
                raise check.error(
                    f"The variable `{name}` occurs both inside and outside a quantified path pattern "
                    "and needs to be renamed.",
                    start,
                )
            if any(name in others for other, (_, others) in enumerate(groups) if other != index):
                message = f"The variable `{name}` occurs in multiple quantified path patterns and needs to be renamed."
                raise check.error(message, start)
            if name in before:
                raise check.error(
                    f"The variable `{name}` is already defined in a previous clause, it cannot be referenced as a node "
                    "or as a relationship variable inside of a quantified path pattern.",
                    start,
                )


def forbid_mixed_lengths(check: Check, clause: ast.MatchClause) -> None:
    """A clause has either quantified paths or variable-length relationships, its predicates counted in."""
    elements = [element for part in clause.patterns for element in _elements(part)]
    if not any(_is_quantified(element) for element in elements):
        return
    for element in walk_expression(clause):
        if isinstance(element, ast.RelationshipPattern) and element.hops is not None:
            raise check.error(
                "Mixing variable-length relationships ('-[*]-') with quantified relationships ('()-->*()') or "
                "quantified path patterns ('(()-->())*') is not allowed.",
                element.span.start,
            )


def _is_quantified(element: Element) -> bool:
    return not isinstance(element, ast.NodePattern) and element.repetition is not None


def chain_of(part: ast.PathPattern) -> ast.PatternChain:
    """The nodes and relationships of a part, also inside `shortestPath(...)`."""
    return part.pattern.pattern if isinstance(part.pattern, ast.ShortestPathFunction) else part.pattern


def _elements(part: ast.PathPattern) -> Iterator[Element]:
    """Nodes, relationships and quantified paths; parentheses that only group are opened."""
    yield from _opened(chain_of(part))


def _opened(chain: ast.PatternChain) -> Iterator[Element]:
    for element in chain.elements:
        if isinstance(element, ast.ParenthesizedPath) and element.repetition is None:
            yield from _opened(element.pattern)
        else:
            yield element


def _variables_of(element: Element) -> Iterator[ast.Variable]:
    if isinstance(element, ast.ParenthesizedPath):
        for inner in element.pattern.elements:
            yield from _variables_of(inner)
    elif element.variable is not None:
        yield element.variable


# --- declaring -------------------------------------------------------------------------------------------------------


def _declare_part(check: Check, part: ast.PathPattern, scope: Scope) -> None:
    for element in _elements(part):
        _declare_element(check, element, scope)
    if part.path_variable is not None:
        check.declare(part.path_variable, _PATHS, scope)


def _declare_element(check: Check, element: Element, scope: Scope) -> None:
    match element:
        case ast.NodePattern(variable=variable):
            _check_labels(check, element.labels, element, "node")
            if variable is not None:
                _bind(check, variable, NODES, scope)
        case ast.RelationshipPattern(variable=variable):
            _check_types(check, element)
            if variable is not None:
                many = element.hops is not None or element.repetition is not None
                _bind(check, variable, list_spec(RELATIONSHIPS) if many else RELATIONSHIPS, scope)
        case ast.ParenthesizedPath(pattern=pattern):
            for inner in pattern.elements:
                if isinstance(inner, ast.NodePattern):
                    _check_labels(check, inner.labels, inner, "node")
                    types = NODES
                else:
                    types = RELATIONSHIPS
                for variable in _variables_of(inner):
                    scope.names[variable.name] = list_spec(types)


def _bind(check: Check, variable: ast.Variable, types: TypeSpec, scope: Scope) -> None:
    """Declare a variable of a pattern, or refer to one that fits."""
    found = scope.find(variable.name)
    if found is None:
        scope.names[variable.name] = types
        return
    if not found & types:
        message = f"Type mismatch: {variable.name} defined with conflicting type {found} (expected {types})"
        raise check.error(message, variable.span.start, INVALID_TYPE)
    if variable.name in scope.names:
        scope.names[variable.name] = types


# --- labels and types ------------------------------------------------------------------------------------------------


def label_position(labels: ast.LabelExpression, text: str) -> int:
    """Where a message about a label expression points: the name, or the last operator."""
    if isinstance(labels, ast.LabelAnd | ast.LabelOr) and len(labels.operands) > 1:
        return after(labels.operands[-2].span.end, text)
    return labels.span.start


def note_labels(check: Check, labels: ast.LabelExpression | None, kind: str) -> None:
    """Remember the names in a label expression; `kind` is label or type."""
    for part in () if labels is None else _parts_of(labels):
        if isinstance(part, ast.LabelName):
            check.mentions.names[part.span.start] = (kind, part.name)


def _parts_of(labels: ast.LabelExpression) -> Iterator[ast.LabelExpression]:
    yield labels
    if isinstance(labels, ast.LabelAnd | ast.LabelOr):
        for operand in labels.operands:
            yield from _parts_of(operand)
    elif isinstance(labels, ast.LabelNot):
        yield from _parts_of(labels.operand)


def _check_labels(check: Check, labels: ast.LabelExpression | None, node: ast.NodePattern | None, kind: str) -> None:
    if labels is None:
        return
    parts = list(_parts_of(labels))
    for part in parts:
        if isinstance(part, ast.LabelOr) and part.colon and kind == "node":
            message = "Label expressions are not allowed to contain '|:'."
            if node is None:
                shown = render.labels(labels, check.text)
                message += f"\nIf you want to express a disjunction of labels, please use `:{shown}` instead"
            raise check.error(message, label_position(part, check.text), INVALID_SYNTAX)
    colon = next((part for part in parts if isinstance(part, ast.LabelAnd) and part.colon), None)
    if colon is None:
        return
    offset = label_position(colon, check.text)
    shown = render.labels(labels, check.text)
    if _uses_is(check, labels):
        raise check.error(
            f"Mixing the IS keyword with colon (':') between labels is not allowed. "
            f"This expression could be expressed as IS {shown}.",
            offset,
            INVALID_SYNTAX,
        )


def forbid_mixed_labels(check: Check, clause: ast.Clause) -> None:
    """A clause uses either the colon (`A:B`) or the newer symbols (`A&B`) between labels, subqueries counted in.

    `|` between relationship types is older than either and goes with both.
    """
    if ":" not in check.text or not _NEWER.intersection(check.text):
        return
    colons: list[tuple[ast.LabelExpression, ast.LabelAnd]] = []
    newer = False
    for node in walk(clause):
        match node:
            case ast.NodePattern(labels=labels) | ast.HasLabels(labels=labels) if labels is not None:
                parts = list(_parts_of(labels))
                colons += [(labels, part) for part in parts if isinstance(part, ast.LabelAnd) and part.colon]
                newer = newer or any(isinstance(part, ast.LabelOr) for part in parts)
            case ast.RelationshipPattern(types=types) if types is not None:
                parts = list(_parts_of(types))
            case _:
                continue
        newer = newer or any(
            isinstance(part, ast.LabelNot | ast.LabelWildcard) or (isinstance(part, ast.LabelAnd) and not part.colon)
            for part in parts
        )
    if colons and newer:
        whole, part = colons[0]
        raise check.error(
            "Mixing label expression symbols ('|', '&', '!', and '%') with colon (':') between labels is not allowed. "
            "Please only use one set of symbols. "
            f"This expression could be expressed as :{render.labels(whole, check.text)}.",
            label_position(part, check.text),
        )


def _uses_is(check: Check, labels: ast.LabelExpression) -> bool:
    return check.text[: labels.span.start].rstrip(" \t\r\n(").upper().endswith("IS")


def _check_types(check: Check, element: ast.RelationshipPattern) -> None:
    types = element.types
    if types is None:
        return
    if element.hops is not None and any(isinstance(part, ast.LabelAnd | ast.LabelNot) for part in _parts_of(types)):
        message = "Variable length relationships must not use relationship type expressions."
        raise check.error(message, label_position(types, check.text))
    for part in _parts_of(types):
        if isinstance(part, ast.LabelAnd) and part.colon:
            message = "Relationship types in a relationship type expressions may not be combined using ':'"
            raise check.error(message, label_position(part, check.text), INVALID_SYNTAX)
        if isinstance(part, ast.LabelOr) and part.colon and (element.variable or element.properties or element.hops):
            raise check.error(
                "The semantics of using colon in the separation of alternative relationship types in conjunction with\n"
                "the use of variable binding, inlined property predicates, or variable length is no longer supported.\n"
                f"Please separate the relationships types using `:{render.labels(types, check.text)}` instead.",
                label_position(part, check.text),
                INVALID_SYNTAX,
            )
    if element.hops is not None and not _only_alternatives(types):
        message = "Variable length relationships must not use relationship type expressions."
        raise check.error(message, label_position(types, check.text))


def _only_alternatives(types: ast.LabelExpression) -> bool:
    operands = types.operands if isinstance(types, ast.LabelOr) else (types,)
    return all(isinstance(operand, ast.LabelName) for operand in operands)


def check_label_predicate(check: Check, node: ast.HasLabels) -> None:
    """Check a label expression that stands behind an expression: `n:A|B`."""
    _check_labels(check, node.labels, None, "node")
    if any(isinstance(part, ast.DynamicLabel) for part in _parts_of(node.labels)):
        message = "Dynamic Label and Types are only allowed in MATCH, CREATE, MERGE, SET and REMOVE clauses."
        raise check.error(message, node.span.start)


def _check_dynamic(check: Check, labels: ast.LabelExpression | None, scope: Scope) -> None:
    if labels is None:
        return
    for part in _parts_of(labels):
        if isinstance(part, ast.DynamicLabel):
            types = check.type_of(part.expression, scope)
            if not types & _TOKEN_NAMES:
                raise check.mismatch(_TOKEN_NAMES, types, part.expression, INVALID_TYPE)
            check_token_name(check, part.expression, part.span.start)


def check_token_name(check: Check, expression: ast.Expression, offset: int) -> None:
    """A label, type or key that is written as a value must not be null, empty or contain a null byte."""
    if not isinstance(expression, ast.Literal):
        return
    value = expression.value
    if value is None or (isinstance(value, str) and (not value or "\0" in value)):
        shown = "Null" if value is None else f"'{value}'"
        message = f"{shown} is not a valid token name. Token names cannot be empty or contain any null-bytes."
        raise check.error(message, offset)


# --- properties and predicates ---------------------------------------------------------------------------------------


def _check_properties(check: Check, part: ast.PathPattern, scope: Scope) -> None:
    for element in chain_of(part).elements:
        _check_element(check, element, scope, "MATCH")


def _check_element(check: Check, element: Element, scope: Scope, clause: str) -> None:
    if isinstance(element, ast.ParenthesizedPath):
        inner = scope
        if element.repetition is not None:
            inner = scope.inner()
            for part in element.pattern.elements:
                types = NODES if isinstance(part, ast.NodePattern) else RELATIONSHIPS
                for variable in _variables_of(part):
                    inner.names[variable.name] = types
        for part in element.pattern.elements:
            _check_element(check, part, inner, clause)
        _check_where(check, element.predicate, inner)
        return
    names = element.labels if isinstance(element, ast.NodePattern) else element.types
    _check_dynamic(check, names, scope)
    note_labels(check, names, "label" if isinstance(element, ast.NodePattern) else "type")
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
        check.type_of(element.properties, inner)
    _check_where(check, element.predicate, inner)


def _check_where(check: Check, predicate: ast.Expression | None, scope: Scope) -> None:
    if predicate is not None:
        check.check_predicate(predicate, scope)


# --- CREATE and MERGE ------------------------------------------------------------------------------------------------


def check_written(check: Check, parts: tuple[ast.PathPattern, ...], scope: Scope, clause: str) -> None:
    """Check the patterns of a CREATE or MERGE and declare their variables."""
    before = frozenset(scope.visible())
    for part in parts:
        _check_writable(check, part, clause)
    for part in parts:
        _declare_written(check, part, scope)
    for part in parts:
        for element in chain_of(part).elements:
            _check_element(check, element, scope, clause)
    if clause == "CREATE":
        for part in parts:
            _forbid_self_reference(check, part, before)
    _note_references(check, parts, before, clause)


def _check_writable(check: Check, part: ast.PathPattern, clause: str) -> None:
    if isinstance(part.pattern, ast.ShortestPathFunction):
        name = "allShortestPaths" if part.pattern.every else "shortestPath"
        message = f"{name}(...) cannot be used in a {clause} clause, but only in a MATCH clause."
        raise check.error(message, part.pattern.span.start)
    if part.selector is not None:
        raise check.error(
            f"Path selectors such as `{_selector(part.selector)}` cannot be used in a {clause} clause, "
            "but only in a MATCH clause.",
            part.span.start,
        )
    for element in part.pattern.elements:
        if _is_quantified(element):
            message = f"Quantified path patterns cannot be used in a {clause} clause, but only in a MATCH clause."
            raise check.error(message, element.span.start)
        if isinstance(element, ast.ParenthesizedPath):
            message = f"Parenthesized path patterns cannot be used in a {clause} clause, but only in a MATCH clause."
            raise check.error(message, element.span.start)
        _check_written_element(check, element, clause)


def _selector(selector: ast.PathSelector) -> str:
    count = selector.count.value if isinstance(selector.count, ast.Literal) else 1
    match selector.kind:
        case "ANY":
            return f"ANY {count} PATHS"
        case "SHORTEST":
            return f"SHORTEST {count} PATHS"
        case "SHORTEST GROUPS":
            return f"SHORTEST {count} PATH GROUPS"
        case "ALL SHORTEST":
            return "ALL SHORTEST PATHS"
        case _:
            return "ALL PATHS"


def _check_written_element(check: Check, element: ast.NodePattern | ast.RelationshipPattern, clause: str) -> None:
    if element.predicate is not None:
        kind = "Node" if isinstance(element, ast.NodePattern) else "Relationship"
        message = (
            f"{kind} pattern predicates are not allowed in a {clause} clause, "
            "but only in a MATCH clause or inside a pattern comprehension"
        )
        raise check.error_at(message, element.predicate)
    if isinstance(element, ast.NodePattern):
        _check_labels(check, element.labels, element, "node")
        for part in () if element.labels is None else _parts_of(element.labels):
            if isinstance(part, ast.DynamicLabel) and part.kind == "any":
                message = "Dynamic labels using `$any()` are not allowed in CREATE or MERGE."
                raise check.error(message, part.span.start)
            if isinstance(part, ast.LabelOr | ast.LabelNot | ast.LabelWildcard):
                message = (
                    f"Label expressions in patterns are not allowed in a {clause} clause, "
                    "but only in a MATCH clause and in expressions"
                )
                raise check.error(message, label_position(part, check.text))
        return
    if element.hops is not None:
        raise check.error(f"Variable length relationships cannot be used in {clause}", element.span.start)
    types = element.types
    if types is None:
        message = (
            f"Exactly one relationship type must be specified for {clause}. "
            "Did you forget to prefix your relationship type with a ':'?"
        )
        raise check.error(message, element.span.start)
    if isinstance(types, ast.LabelOr) and _only_alternatives(types):
        raise check.error(f"A single relationship type must be specified for {clause}", element.span.start)
    if not isinstance(types, ast.LabelName | ast.DynamicLabel):
        message = (
            f"Relationship type expressions in patterns are not allowed in a {clause} clause, "
            "but only in a MATCH clause"
        )
        raise check.error(message, label_position(types, check.text))
    if clause == "CREATE" and element.direction is ast.Direction.BOTH:
        raise check.error("Only directed relationships are supported in CREATE", element.span.start)


def _declare_written(check: Check, part: ast.PathPattern, scope: Scope) -> None:
    elements = chain_of(part).elements
    for element in elements:
        variable = None if isinstance(element, ast.ParenthesizedPath) else element.variable
        if variable is None:
            continue
        if isinstance(element, ast.RelationshipPattern):
            check.declare(variable, RELATIONSHIPS, scope)
        elif len(elements) == 1:
            if scope.find(variable.name) is not None:
                raise check.error(f"Variable `{variable.name}` already declared", variable.span.start)
            scope.names[variable.name] = NODES
        elif isinstance(element, ast.NodePattern):
            bound = scope.find(variable.name) is not None
            _bind(check, variable, NODES, scope)
            if bound and (element.labels is not None or element.properties is not None):
                message = (
                    f"Can't create node `{variable.name}` with labels or properties here. "
                    "The variable is already declared in this context"
                )
                check.later(CypherError(SYNTAX_ERROR, message, "42N78"))
    if part.path_variable is not None:
        check.declare(part.path_variable, _PATHS, scope)


def _note_references(check: Check, parts: tuple[ast.PathPattern, ...], before: frozenset[str], clause: str) -> None:
    """A property that needs what the same clause writes is deprecated."""
    elements = [element for part in parts for element in chain_of(part).elements]
    written = {variable.name for element in elements for variable in _variables_of(element)} - before
    for element in elements:
        own = {variable.name for variable in _variables_of(element)}
        if isinstance(element, ast.ParenthesizedPath) or element.properties is None:
            continue
        for node in walk(element.properties):
            if isinstance(node, ast.Variable) and node.name in written and (clause == "CREATE" or node.name in own):
                verb = "Creating" if clause == "CREATE" else "Merging"
                check.mentions.self_references[node.span.start] = (verb, clause, node.name)


def _forbid_self_reference(check: Check, part: ast.PathPattern, before: frozenset[str]) -> None:
    created: dict[str, str] = {}
    for element in chain_of(part).elements:
        if not isinstance(element, ast.ParenthesizedPath) and element.variable is not None:
            created[element.variable.name] = "Node" if isinstance(element, ast.NodePattern) else "Relationship"
    for element in chain_of(part).elements:
        if isinstance(element, ast.ParenthesizedPath) or element.properties is None:
            continue
        for node in walk(element.properties):
            if isinstance(node, ast.Variable) and node.name in created and node.name not in before:
                kind = created[node.name]
                message = (
                    f"The {kind} variable '{node.name}' is referencing a {kind} that is created in the same CREATE "
                    "clause which is not allowed. Please only reference variables created in earlier clauses."
                )
                check.later(check.error(message, node.span.start))


# --- patterns as expressions -----------------------------------------------------------------------------------------


def check_pattern_expression(check: Check, pattern: ast.PatternChain | ast.ShortestPathFunction, scope: Scope) -> None:
    """Check a pattern that is used as a predicate, or a shortest path used as a value."""
    if isinstance(pattern, ast.ShortestPathFunction):
        _check_shortest_expression(check, pattern, scope)
        chain = pattern.pattern
    else:
        chain = pattern
        for element in _opened(chain):
            for variable in _variables_of(element):
                if scope.find(variable.name) is None:
                    message = f"PatternExpressions are not allowed to introduce new variables: '{variable.name}'."
                    raise check.error(message, variable.span.start, INVALID_SYNTAX)
    for element in chain.elements:
        if not isinstance(element, ast.ParenthesizedPath) and element.predicate is not None:
            kind = "Node" if isinstance(element, ast.NodePattern) else "Relationship"
            message = (
                f"{kind} pattern predicates are not allowed in an expression, "
                "but only in a MATCH clause or inside a pattern comprehension"
            )
            raise check.error_at(message, element.predicate)
    inner = scope.inner()
    for element in chain.elements:
        _declare_element(check, element, inner)
    for element in chain.elements:
        _check_element(check, element, inner, "MATCH")


def _check_shortest_expression(check: Check, function: ast.ShortestPathFunction, scope: Scope) -> None:
    check_shortest(check, function)
    for element in function.pattern.elements:
        for variable in _variables_of(element):
            check.look_up(variable, scope)
    ends = (function.pattern.elements[0], function.pattern.elements[-1])
    if any(isinstance(end, ast.NodePattern) and end.variable is None for end in ends):
        name = "allShortestPaths" if function.every else "shortestPath"
        message = f"A {name}(...) requires bound nodes when not part of a MATCH clause."
        raise check.error(message, function.span.start)


def declare_comprehension(check: Check, node: ast.PatternComprehension, scope: Scope) -> Scope:
    """The scope inside a pattern comprehension, with the variables of its pattern."""
    inner = scope.inner()
    for element in _opened(node.pattern):
        _declare_element(check, element, inner)
    if node.path_variable is not None:
        name = node.path_variable.name
        if scope.find(name) is not None:
            raise check.error(f"Variable `{name}` already declared", node.path_variable.span.start)
        check.declare(node.path_variable, _PATHS, inner)
    for element in node.pattern.elements:
        _check_element(check, element, inner, "MATCH")
    return inner
