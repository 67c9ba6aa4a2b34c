"""The notifications of a valid statement: unknown names, deprecated forms, costly or empty patterns.

What needs the types of expressions is collected while they are checked (`Mentions`); the rest is read off the AST.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from hoplite.errors import Position, position_of
from hoplite.grammar import ast
from hoplite.grammar.identifiers import NAME_PART, NAME_START
from hoplite.grammar.statement import CreateConstraint, CreateIndex, Statement
from hoplite.grammar.tree import walk
from hoplite.lazy import lazy_pattern
from hoplite.planner import notifications as note
from hoplite.planner.catalogue import Catalogue
from hoplite.planner.check import render
from hoplite.planner.check.labels import label_position
from hoplite.planner.check.mentions import Mentions
from hoplite.planner.check.pattern_parts import chain_of
from hoplite.planner.check.typespec import TypeSpec
from hoplite.planner.notifications import Notification

# Currency signs of Latin-1, control characters and invisible characters.
_DEPRECATED_CHARACTER = lazy_pattern(
    "(?<=[^\\s])[$\u00a2-\u00a5\u0000-\u0008\u000e-\u001b\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u2064\u2066-\u206f\u2e2f\ufeff]"
)
# A name, or something else that may contain its characters.
_TOKEN = lazy_pattern(
    rf"""'(?:[^'\\]|\\.)*' | "(?:[^"\\]|\\.)*" | `[^`]*` | //[^\n]* | /\*.*?\*/
        | (?P<name>{NAME_START}[{NAME_PART}]*)""",
    re.DOTALL | re.VERBOSE,
)
_LONGEST_NOTES = 1_000_000  # characters of the notifications of one clause


def find_notifications(
    statement: Statement,
    nodes: tuple[Any, ...],
    text: str,
    catalogue: Catalogue,
    mentions: Mentions,
    parameters: Mapping[str, TypeSpec | None],
    *,
    writes: bool,
) -> tuple[Notification, ...]:
    """The notifications of a valid statement, whose `nodes` are all parts of its AST in the order written."""
    finder = _Finder(text, catalogue)
    found = [*finder.options(statement), *finder.deprecations(nodes)]
    found += [note.shadowing(name, finder.at(offset)) for offset, name in mentions.shadows.items()]
    found += finder.converted(mentions)
    if statement.mode == "EXPLAIN":
        found += finder.missing_parameters(nodes, parameters)
    found += finder.identifiers()
    found += finder.schema_options(statement)
    found += finder.unsatisfiable(nodes)
    if not writes:
        found += finder.unknown_names(mentions)
    found += finder.patterns(nodes)
    return tuple(found)


def command_notifications(statement: Statement, text: str, catalogue: Catalogue) -> tuple[Notification, ...]:
    """The notifications of a command on the schema, or of SHOW."""
    finder = _Finder(text, catalogue)
    return (*finder.options(statement), *finder.identifiers(), *finder.schema_options(statement))


class _Finder:
    """Looks for notifications in one statement."""

    def __init__(self, text: str, catalogue: Catalogue) -> None:
        self.text = text
        self.catalogue = catalogue

    def at(self, offset: int) -> Position:
        return position_of(self.text, offset)

    # --- the CYPHER prefix and parameters ------------------------------------------------------------------------

    def options(self, statement: Statement) -> Iterator[Notification]:
        for name, value in statement.options:
            match name.lower(), value.lower():
                case "runtime", "interpreted":
                    yield note.deprecated_for(
                        "runtime=interpreted",
                        "runtime=slotted",
                        "The query used a deprecated runtime option. ('runtime=interpreted' is deprecated, please use "
                        "'runtime=slotted' instead)",
                        None,
                    )
                case "runtime", ("pipelined" | "parallel") as runtime:
                    yield note.unsupported_runtime(runtime)
                case "connectcomponentsplanner", _:
                    yield note.deprecated_without(
                        "connectComponentsPlanner",
                        "The Cypher query option `connectComponentsPlanner` is deprecated and will be removed "
                        "without a "
                        "replacement. The product's default behavior of using a cost-based IDP search algorithm when "
                        "combining sub-plans will be kept. For more information, see Cypher Manual -> Cypher planner.",
                        self.at(self.text.lower().find("connectcomponentsplanner")),
                    )
                case _:
                    continue

    def missing_parameters(self, nodes: tuple[Any, ...], parameters: Mapping[str, object]) -> Iterator[Notification]:
        names = dict.fromkeys(
            node.name for node in nodes if isinstance(node, ast.Parameter) and node.name not in parameters
        )
        if names:
            yield note.missing_parameters(list(names))

    # --- names -----------------------------------------------------------------------------------------------------

    def unknown_names(self, mentions: Mentions) -> Iterator[Notification]:
        for offset, (kind, name) in sorted(mentions.names.items()):
            match kind:
                case "label" if not self.catalogue.known_label(name):
                    yield note.unknown_label(name, self.at(offset))
                case "type" if not self.catalogue.known_type(name):
                    yield note.unknown_type(name, self.at(offset))
                case "key" if not self.catalogue.known_key(name):
                    yield note.unknown_key(name, self.at(offset))
                case _:
                    continue

    def converted(self, mentions: Mentions) -> Iterator[Notification]:
        if mentions.lists_as_booleans:
            yield note.deprecated_without(
                "Converting a list or a path to a boolean",
                "The query converted a list or path to a boolean value.",
                None,
            )
        for offset, (text, replacement) in sorted(mentions.copied_entities.items()):
            yield note.deprecated_for(
                f"'{text}'",
                f"'{replacement}'",
                "The use of nodes or relationships for setting properties is deprecated and will be removed in a "
                "future "
                "version. Please use properties() instead.",
                self.at(offset),
            )
        for offset, (verb, clause, name) in sorted(mentions.self_references.items()):
            sentence = (
                f"{verb} an entity ({name}) and referencing that entity in a property definition in the same {clause} "
                "is deprecated."
            )
            yield note.deprecated(sentence, sentence, self.at(offset))

    # --- deprecated forms ------------------------------------------------------------------------------------------

    def deprecations(self, nodes: tuple[Any, ...]) -> Iterator[Notification]:
        for node in nodes:
            match node:
                case ast.FunctionCall(name=name) if name.lower() == "id" and not _in_order(node, nodes):
                    yield note.deprecated_without(
                        "id", "The query used a deprecated function: `id`.", self.at(node.span.start)
                    )
                case ast.FunctionCall() if (signature := self.catalogue.function(node.name)) is not None:
                    if signature.deprecated_by is not None:
                        yield self._replaced("function", signature.name, signature.deprecated_by, node.span.start)
                case ast.CallProcedure():
                    yield from self._procedure(node)
                case ast.CallSubquery(imports=None, import_all=False):
                    yield self._call(node)
                case ast.RelationshipPattern(types=ast.LabelOr(colon=True) as types):
                    yield self._colons(types)
                case ast.ShortestPathFunction():
                    yield from self._fixed_length(node)
                case _:
                    continue

    def _replaced(self, kind: str, old: str, new: str, offset: int) -> Notification:
        description = f"The query used a deprecated {kind}. ('{old}' has been replaced by '{new}')"
        return note.deprecated_for(old, new, description, self.at(offset))

    def _procedure(self, call: ast.CallProcedure) -> Iterator[Notification]:
        signature = self.catalogue.procedure(call.name)
        if signature is None:
            return
        if signature.deprecated_by is not None:
            yield self._replaced("procedure", signature.name, signature.deprecated_by, call.span.start)
        if signature.warning is not None:
            yield note.procedure_warning(signature.name, signature.warning, self.at(call.span.start))

    def identifiers(self) -> Iterator[Notification]:
        """Names without backticks that contain characters which Cypher is going to disallow."""
        if _DEPRECATED_CHARACTER.search(self.text) is None:
            return
        for token in _TOKEN.finditer(self.text):
            name = token["name"]
            for character in dict.fromkeys(_DEPRECATED_CHARACTER.findall(name or "")):
                offset = token.start("name")
                yield note.deprecated_character(name, character, self.at(offset))

    def schema_options(self, statement: Statement) -> Iterator[Notification]:
        command = statement.body
        if not isinstance(command, CreateIndex | CreateConstraint):
            return
        options = command.options
        given = dict(options.entries) if isinstance(options, ast.MapLiteral) else {}
        provider = next((value for key, value in given.items() if key.lower() == "indexprovider"), None)
        if provider is None:
            return
        if isinstance(provider, ast.Literal) and provider.value == "text-1.0":
            description = (
                "The `text-1.0` provider for text indexes is deprecated and will be removed in a future version. "
                "Please use `text-2.0` instead."
            )
            yield note.deprecated_for("text-1.0", "text-2.0", description, self.at(command.span.start))
        sentence = (
            "The `indexProvider` option is deprecated and will be removed in a future version. Neo4j does not use the "
            "given option but instead selects the most performant index provider available."
        )
        yield note.deprecated(sentence, sentence, None)

    def _call(self, node: ast.CallSubquery) -> Notification:
        names: list[str] = []
        queries = node.query.queries if isinstance(node.query, ast.Union) else (node.query,)
        for query in queries:
            first = query.clauses[0] if query.clauses else None
            if isinstance(first, ast.WithClause) and all(
                isinstance(item.expression, ast.Variable) and item.alias is None for item in first.projection.items
            ):
                names += ["*"] if first.projection.star else [item.name for item in first.projection.items]
        scope = f"Use CALL ({', '.join(names)}) {{ ... }}"
        return note.deprecated(
            f"CALL subquery without a variable scope clause is deprecated. {scope}",
            f"CALL subquery without a variable scope clause is now deprecated. {scope}",
            self.at(node.span.start),
        )

    def _colons(self, types: ast.LabelOr) -> Notification:
        names = [render.labels(operand, self.text) for operand in types.operands]
        new = f":{'|'.join(names)}"
        return note.deprecated_for(
            f"':{'|:'.join(names)}'",
            f"'{new}'",
            "The semantics of using colon in the separation of alternative relationship types will change in a future "
            f"version. (Please use '{new}' instead)",
            self.at(label_position(types, self.text)),
        )

    def _fixed_length(self, function: ast.ShortestPathFunction) -> Iterator[Notification]:
        elements = function.pattern.elements
        hop = elements[1] if len(elements) == 3 else None
        if not isinstance(hop, ast.RelationshipPattern) or hop.hops is not None:
            return
        name = "allShortestPaths" if function.every else "shortestPath"
        one = render.relationship(hop, self.text, hops=ast.Hops(1, 1))
        old = render.chain(function.pattern, self.text)
        ends = [render.element(end, self.text) for end in (elements[0], elements[2])]
        yield note.deprecated_for(
            f"{name}({old})",
            f"{name}({ends[0]}{one}{ends[1]})",
            "The use of shortestPath and allShortestPaths with fixed length relationships is deprecated and will "
            "be removed "
            "in a future version. Please use a path with a length of 1 [r*1..1] instead or a Match with a limit.",
            self.at(hop.span.start),
        )

    # --- patterns --------------------------------------------------------------------------------------------------

    def patterns(self, nodes: tuple[Any, ...]) -> Iterator[Notification]:
        for node in nodes:
            match node:
                case ast.MatchClause():
                    yield from self._repeated(node)
                    yield from self._disconnected(node)
                    yield from self._hints(node)
                case ast.ShortestPathFunction():
                    yield from self._unbounded(node)
                case _:
                    continue
        for node in nodes:
            if isinstance(node, ast.MatchClause):
                yield from self._exhaustive(node)

    def _repeated(self, clause: ast.MatchClause) -> Iterator[Notification]:
        seen: dict[str, list[ast.RelationshipPattern]] = {}
        for part in clause.patterns:
            for element in _relationships(chain_of(part)):
                if element.variable is not None:
                    seen.setdefault(element.variable.name, []).append(element)
        for name, elements in seen.items():
            first = elements[0].variable
            if len(elements) > 1 and first is not None:
                yield note.repeated_relationship(
                    name,
                    self._pattern(clause),
                    variable_length=elements[0].hops is not None,
                    position=self.at(first.span.start),
                )

    def _pattern(self, clause: ast.MatchClause) -> str:
        return ", ".join(render.path(part, self.text) for part in clause.patterns)

    def _disconnected(self, clause: ast.MatchClause) -> Iterator[Notification]:
        components = _components(clause)
        if len(components) < 2:
            return
        pattern = self._pattern(clause)
        most = max(1, _LONGEST_NOTES // max(1, len(pattern)))  # each of them repeats the pattern
        for component in components[1 : most + 1]:
            names = [name for name in component if not name.startswith(" ")]
            yield note.cartesian_product(pattern, names, self.at(clause.span.start))

    def _unbounded(self, function: ast.ShortestPathFunction) -> Iterator[Notification]:
        hop = function.pattern.elements[1] if len(function.pattern.elements) == 3 else None
        if isinstance(hop, ast.RelationshipPattern) and hop.hops == ast.Hops(None, None):
            shown = render.chain(function.pattern, self.text)
            yield note.unbounded_shortest_path(shown, self.at(function.pattern.span.start))

    def _exhaustive(self, clause: ast.MatchClause) -> Iterator[Notification]:
        for part in clause.patterns:
            if not isinstance(part.pattern, ast.ShortestPathFunction) or part.path_variable is None:
                continue
            name = part.path_variable.name
            needed = [c for c in _conjuncts(clause.predicate) if _mentions(c, name) and not _per_element(c)]
            if needed:
                shown = [render.with_parameters(predicate, self.text) for predicate in needed]
                yield note.exhaustive_shortest_path(shown, self.at(part.pattern.span.start))

    def unsatisfiable(self, nodes: tuple[Any, ...]) -> Iterator[Notification]:
        for node in nodes:
            if isinstance(node, ast.RelationshipPattern) and node.types is not None:
                yield from self._unsatisfiable(node.types)

    def _unsatisfiable(self, types: ast.LabelExpression) -> Iterator[Notification]:
        listed = _all_of(types)
        if len(listed) > 1:
            yield note.unsatisfiable_type("&".join(listed), Position(0, 0, 0))  # Neo4j no longer knows the offset
        names = sorted({n.name for n in walk(types) if isinstance(n, ast.LabelName)})
        if any(isinstance(n, ast.DynamicLabel) for n in walk(types)):
            return
        if not any(_fulfils(types, type) for type in (*names, "")):
            shown = render.labels(types, self.text)
            yield note.unsatisfiable_type(shown, self.at(label_position(types, self.text)))

    def _hints(self, clause: ast.MatchClause) -> Iterator[Notification]:
        for hint in clause.hints:
            kind = hint.kind.removesuffix(" SEEK")
            if not kind.endswith("INDEX") or hint.label is None or not hint.variables:
                continue
            variable = hint.variables[0].name
            elements = [element for part in clause.patterns for element in _relationships(chain_of(part))]
            of_nodes = not any(e.variable is not None and e.variable.name == variable for e in elements)
            named = kind.removesuffix("INDEX").strip() or None
            if not self.catalogue.has_hinted_index(named, of_nodes, hint.label, hint.keys):
                yield note.missing_index(kind, variable, hint.label, hint.keys, of_nodes=of_nodes)


def _relationships(chain: ast.PatternChain) -> Iterator[ast.RelationshipPattern]:
    """The relationships of a pattern, those in parentheses too."""
    for element in chain.elements:
        if isinstance(element, ast.ParenthesizedPath):
            yield from _relationships(element.pattern)
        elif isinstance(element, ast.RelationshipPattern):
            yield element


def _all_of(types: ast.LabelExpression) -> list[str]:
    """The names in `$(['A', 'B'])`, all of which a relationship would have to have."""
    if not isinstance(types, ast.DynamicLabel) or types.kind == "any":
        return []
    match types.expression:
        case ast.ListLiteral(items=items):
            return [item.value for item in items if isinstance(item, ast.Literal) and isinstance(item.value, str)]
        case ast.ConstantList(value=value):
            return [name for name in value if isinstance(name, str)]
        case _:
            return []


def _in_order(call: ast.FunctionCall, nodes: tuple[Any, ...]) -> bool:
    """Whether a call is in an ORDER BY, where Neo4j does not look for deprecated functions."""
    return any(part is call for node in nodes if isinstance(node, ast.SortItem) for part in walk(node))


def _node_names(chain: ast.PatternChain) -> Iterator[str]:
    for index, element in enumerate(chain.elements):
        if isinstance(element, ast.NodePattern):
            yield f" {id(chain)} {index}" if element.variable is None else element.variable.name
        elif isinstance(element, ast.ParenthesizedPath):
            yield from _node_names(element.pattern)


def _components(clause: ast.MatchClause) -> list[dict[str, None]]:
    """The nodes of a MATCH that are connected with each other, in the order of the first part that names them."""
    components: dict[int, dict[str, None]] = {}  # by the part that was added last, so that the latest come last
    home: dict[str, int] = {}
    first_part: dict[int, int] = {}
    for number, part in enumerate(clause.patterns):
        names = dict.fromkeys(_node_names(chain_of(part)))
        first = number
        for known in sorted({home[name] for name in names if name in home}):
            names = components.pop(known) | names
            first = min(first, first_part.pop(known))
        components[number], first_part[number] = names, first
        home.update(dict.fromkeys(names, number))
    return [components[number] for number in sorted(components, key=first_part.__getitem__)]


def _conjuncts(predicate: ast.Expression | None) -> Iterator[ast.Expression]:
    waiting = [predicate]
    while waiting:
        part = waiting.pop()
        if isinstance(part, ast.Binary) and part.operator == "AND":
            waiting += (part.right, part.left)
        elif part is not None:
            yield part


def _mentions(expression: ast.Expression, name: str) -> bool:
    return any(isinstance(node, ast.Variable) and node.name == name for node in walk(expression))


def _per_element(predicate: ast.Expression) -> bool:
    """Whether a predicate can be decided for each node or relationship of a path by itself."""
    return (
        isinstance(predicate, ast.Quantifier)
        and predicate.kind in ("all", "none")
        and isinstance(predicate.source, ast.FunctionCall)
        and predicate.source.name.lower() in ("nodes", "relationships")
    )


def _fulfils(types: ast.LabelExpression, type: str) -> bool:
    match types:
        case ast.LabelName(name=name):
            return name == type
        case ast.LabelWildcard() | ast.DynamicLabel():
            return True
        case ast.LabelNot(operand=operand):
            return not _fulfils(operand, type)
        case ast.LabelAnd(operands=operands):
            return all(_fulfils(operand, type) for operand in operands)
        case ast.LabelOr(operands=operands):
            return any(_fulfils(operand, type) for operand in operands)
