"""A property that the nodes of a label lack and their neighbours have, though the query does not mention those: the hop
to them is added.

    MATCH (c:Case) WHERE c.id = 7 RETURN c.ageGroup
    MATCH (c:Case) WHERE c.id = 7 MATCH (c)-[:FALLS_UNDER]->(x:AgeGroup) RETURN x.ageGroup

    MATCH (i:IP) WHERE i.state = 'Texas' RETURN i.ip
    MATCH (i:IP) WHERE EXISTS { (i)-[:LOCATED_IN]->(x:State) WHERE x.name = 'Texas' } RETURN i.ip

Only where the schema leaves a single choice of relationship type, direction, label and key.
"""

from __future__ import annotations

from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.models.edits import Edit, Fix
from hoplite.models.facts import Facts
from hoplite.models.names import folded
from hoplite.models.reading import Reading, Use
from hoplite.models.writing import free_name, quoted, without_entry
from hoplite.planner.check.positions import key_offsets

_NAMING = ("name", "title", "label", "description")  # the keys that name things, the likeliest first


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Nodes with a label that have a key, and the one type of relationship to them."""

    type: str
    outgoing: bool
    label: str
    key: str

    def hop(self, start: str, end: str) -> str:
        """The pattern from one variable to another."""
        left, right = ("-", "->") if self.outgoing else ("<-", "-")
        return f"({quoted(start)}){left}[:{quoted(self.type)}]{right}({quoted(end)}:{quoted(self.label)})"


def neighbour(facts: Facts, label: str, key: str) -> Neighbour | None:
    """The one neighbour of a label's nodes that has what a key asks for; None if there is none, or more than one."""
    found: list[Neighbour] = []
    for other in facts.labels:
        held = key_of(facts, other, key)
        if held is None or other == label:
            continue
        found += [Neighbour(name, True, other, held) for name in facts.types_between(label, other)]
        found += [Neighbour(name, False, other, held) for name in facts.types_between(other, label)]
        if len(found) > 1:
            return None
    return found[0] if found else None


def key_of(facts: Facts, label: str, key: str) -> str | None:
    """The key by which nodes of a label answer to a key of another: the same one, or if it names the label, the one
    that names its nodes."""
    keys = sorted(facts.keys_of_label(label))
    if key in keys:
        return key
    same = [other for other in keys if folded(other) == folded(key)]
    if len(same) == 1:
        return same[0]
    if folded(label) != folded(key):
        return None
    named = [other for naming in _NAMING for other in keys if folded(other) in (naming, folded(label) + naming)]
    return named[0] if named else keys[0] if len(keys) == 1 else None


def added_hop(use: Use, to: Neighbour, reading: Reading, text: str, message: str) -> Fix | None:
    """The fix that adds the hop: as a condition if the property is one, else as a MATCH before the clause."""
    name = free_name("x", {name for place in reading.places for name in place.scope})
    property = f"{quoted(name)}.{quoted(to.key)}"
    reason = f"{message[:-1]}; the {to.label} that {to.type} leads to does."
    if isinstance(use.node, ast.MapLiteral):
        edits = _from_map(use, use.node, to, text)
    elif use.subject is None or not isinstance(use.node, ast.Property) or use.place.clause is None:
        return None
    elif use.place.filters:
        if use.comparison is None:
            return None
        start, end = use.comparison.span.start, use.comparison.span.end
        condition = text[start : use.span.start] + property + text[use.span.end : end]
        edits = [Edit(start, end, f"EXISTS {{ {to.hop(use.subject, name)} WHERE {condition} }}")]
    elif isinstance(use.place.clause, ast.WithClause | ast.ReturnClause):
        before = use.place.clause.span.start
        edits = [Edit(before, before, f"MATCH {to.hop(use.subject, name)} ")]
        edits += [Edit(each.span.start, each.span.end, property) for each in reading.uses if _is_same(each, use)]
    else:
        return None
    return Fix("property of another", tuple(edits), reason, use.key_span.start) if edits else None


def _is_same(one: Use, other: Use) -> bool:
    """Whether two uses in the same clause ask for the same property: one hop serves both."""
    is_plain = isinstance(one.node, ast.Property) and not one.place.filters
    return is_plain and one.place.clause is other.place.clause and one.entity is other.entity and one.key == other.key


def _from_map(use: Use, literal: ast.MapLiteral, to: Neighbour, text: str) -> list[Edit]:
    """The entry of a node pattern becomes a condition of it."""
    pattern = next((p for p in use.entity.patterns if p.properties is literal), None)
    if not isinstance(pattern, ast.NodePattern) or pattern.predicate is not None or pattern.variable is None:
        return []
    starts = [offset for _, offset in key_offsets(literal, text)]
    spans = [(start, value.span.end) for start, (_, value) in zip(starts, literal.entries, strict=True)]
    index = starts.index(use.key_span.start)
    value = literal.entries[index][1].span
    end = f"(:{quoted(to.label)} {{{quoted(to.key)}: {text[value.start : value.end]}}})"
    left, right = ("-", "->") if to.outgoing else ("<-", "-")
    hop = f"({quoted(pattern.variable.name)}){left}[:{quoted(to.type)}]{right}{end}"
    condition = f" WHERE EXISTS {{ {hop} }}"
    removed = without_entry(literal, spans, index, text)
    if len(spans) == 1:
        return [Edit(removed.start, removed.end, condition)]
    return [removed, Edit(literal.span.end, literal.span.end, condition)]
