"""Properties that an entity does not have, and values that do not occur.

For a key that no such node has: the key that holds the value; the same key of the adjacent relationship or node;
another spelling; the key that names such things; a neighbour that has it (`neighbours.py`). For a value that no such
node has: another spelling, another type, another key that holds it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.models.answers import gives_nothing
from hoplite.models.edits import Edit, Fix
from hoplite.models.facts import Facts, folded_text
from hoplite.models.names import ALIKE, CLOSE, folded, likeness, ranked, words
from hoplite.models.neighbours import added_hop, key_of, neighbour
from hoplite.models.problems import Finding
from hoplite.models.reading import Entity, Reading, Use
from hoplite.models.writing import free_name, literal, named, quoted, with_entry, without_entry
from hoplite.planner.check.positions import key_offsets

_CALLED = ("name", "title", "label", "description", "id")  # the keys that name things
_WHOLE = ("full", "display", "complete", "official")


class Properties:
    """Finds what is wrong with the properties of a reading."""

    def __init__(self, reading: Reading, body: ast.Query, facts: Facts, text: str) -> None:
        self.reading = reading
        self.body = body
        self.facts = facts
        self.text = text

    def findings(self) -> Iterator[Finding]:
        """A finding for each missing key and each value that does not occur."""
        yield from null_comparisons(self.body, self.text)
        yield from self.components()
        missing: list[tuple[Use, list[tuple[str, ...]]]] = []
        for use in self.reading.uses:
            entity = use.entity
            if entity.written or use.place.written or use.place.negated or entity.is_list:
                continue
            groups = self.owners(entity)
            if groups is None:
                continue
            if self.has_key(entity, groups, use.key):
                yield from self.values(use, groups)
            else:
                missing.append((use, groups))
        if not missing:
            return
        is_void = gives_nothing(self.body, {id(use.node) for use, _ in missing})
        for use, groups in missing:
            decides = is_void or use.place.filters or isinstance(use.node, ast.MapLiteral)
            finding = self.missing(use, groups, decides)
            if finding is not None:
                yield finding

    # --- who has what ---

    def owners(self, entity: Entity) -> list[tuple[str, ...]] | None:
        """Labels or types one of which must hold, for each condition; None if nothing is known of them."""
        known = self.facts.labels if entity.is_node else self.facts.types
        groups: list[tuple[str, ...]] = [(name.name,) for name in entity.required]
        groups += [tuple(name.name for name in choice) for choice in entity.choices]
        if not groups or any(name not in known for group in groups for name in group):
            return None
        return groups

    def keys(self, entity: Entity, owner: str) -> frozenset[str]:
        return self.facts.keys_of_label(owner) if entity.is_node else self.facts.keys_of_type(owner)

    def has_key(self, entity: Entity, groups: list[tuple[str, ...]], key: str) -> bool:
        return all(any(key in self.keys(entity, owner) for owner in group) for group in groups)

    def own_keys(self, entity: Entity, groups: list[tuple[str, ...]]) -> list[str]:
        """The keys that such an entity may have."""
        some = {key for owner in groups[0] for key in self.keys(entity, owner)}
        return sorted(key for key in some if self.has_key(entity, groups, key))

    def has_value(self, entity: Entity, groups: list[tuple[str, ...]], key: str, value: Any) -> bool | None:
        """Whether some such entity has the value; None if unknown."""
        for group in groups:
            found = [self.facts.has_value(entity.is_node, owner, key, value) for owner in group]
            if True in found:
                continue
            return None if None in found else False
        return True

    # --- keys that are missing ---

    def missing(self, use: Use, groups: list[tuple[str, ...]], decides: bool) -> Finding | None:
        """If it does not decide about rows, and other columns have values, only what certainly means something else: a
        column of nulls may be intended."""
        entity = use.entity
        own = self.own_keys(entity, groups)
        shown = "|".join(groups[0])
        kind = "node" if entity.is_node else "relationship"
        message = f"No {shown} {kind} has the property {use.key}."
        fix = self.by_value(use, groups, own, message) if _compared_value(use) is not None else None
        if fix is None:
            fix = self.by_name(use, own, message, 0.8)
        if fix is None and decides:
            fix = self.moved(use, message)
        if fix is None:
            fix = self.called(use, groups, own, message)
        if fix is None and decides:
            fix = self.of_neighbour(use, groups, message) or self.by_name(use, own, message, CLOSE)
        if fix is None and not decides:
            return None
        near = ranked(use.key, own)
        elsewhere = [f"{self.name_of(other)}.{use.key}" for other in self.near(entity) if self.holds(other, use.key)]
        first = [fix.edits[0].after] if fix is not None and fix.kind == "property" else []
        suggestions = tuple(dict.fromkeys([*first, *near, *elsewhere]))[:5]
        return Finding("unknown property", use.key_span.start, use.key_span.end, message, suggestions, fix)

    def renamed(self, use: Use, key: str, message: str) -> Fix:
        reason = f"{message[:-1]}; {key} is the one that is meant."
        start, end = use.key_span.start, use.key_span.end
        return Fix("property", (Edit(start, end, quoted(key)),), reason, start)

    def by_name(self, use: Use, own: list[str], message: str, least: float) -> Fix | None:
        """Another spelling of one of the entity's own keys."""
        found = ranked(use.key, own, least)
        if not found:
            return None
        if len(found) > 1 and likeness(use.key, found[1]) > likeness(use.key, found[0]) - 0.03:
            return None
        return self.renamed(use, found[0], message)

    def by_value(self, use: Use, groups: list[tuple[str, ...]], own: list[str], message: str) -> Fix | None:
        """The key that holds the value, of this entity or of an adjacent one."""
        value = _compared_value(use)
        holding = [key for key in own if self.has_value(use.entity, groups, key, value)]
        holding.sort(key=lambda key: -likeness(use.key, key))
        if len(holding) == 1 or (len(holding) > 1 and likeness(use.key, holding[0]) >= ALIKE):
            return self.renamed(use, holding[0], message)
        for other in self.near(use.entity):
            theirs = self.owners(other)
            if theirs and self.has_key(other, theirs, use.key) and self.has_value(other, theirs, use.key, value):
                return self.moved_to(use, other, use.key, message)
        if isinstance(value, str):
            for key in sorted(own, key=lambda key: -likeness(use.key, key)):
                if self.other_spellings(use.entity, groups, key, value):
                    return self.renamed(use, key, message)
        return None

    def near(self, entity: Entity) -> list[Entity]:
        """The entities that share a hop with this one, relationships first, then those further along."""
        found: list[Entity] = []
        for hop in entity.hops:
            found += [e for e in (hop.relationship, hop.left, hop.right) if e is not entity and e not in found]
        for other in list(found):
            for hop in other.hops:
                found += [e for e in (hop.relationship, hop.left, hop.right) if e is not entity and e not in found]
        return [e for e in found if not e.written and not e.is_list]

    def holds(self, entity: Entity, key: str) -> bool:
        groups = self.owners(entity)
        return groups is not None and self.has_key(entity, groups, key)

    def name_of(self, entity: Entity) -> str:
        return entity.names[0] if entity.names else "|".join(n.name for n in entity.label_names())

    def moved(self, use: Use, message: str) -> Fix | None:
        """The same key of an adjacent relationship or node, if one of them has it."""
        direct = {e for hop in use.entity.hops for e in (hop.relationship, hop.left, hop.right)}
        holding = [other for other in self.near(use.entity) if self.holds(other, use.key)]
        closest = [other for other in holding if other in direct] or holding
        if len(closest) != 1:
            return None
        return self.moved_to(use, closest[0], use.key, message)

    def moved_to(self, use: Use, other: Entity, key: str, message: str) -> Fix | None:
        edits: list[Edit] = []
        labels = "|".join(n.name for n in other.label_names())
        kind = "node" if other.is_node else "relationship"
        reason = f"{message[:-1]}; the {labels} {kind} next to it does."
        if isinstance(use.node, ast.MapLiteral):
            index, spans = self.entry(use)
            if isinstance(use.node.entries[index][1], ast.Variable | ast.Property):
                return None
            added = with_entry(
                other.patterns[0], f"{quoted(key)}: {self.text[slice(*self.value_span(use))]}", self.text
            )
            if added is None:
                return None
            edits = [without_entry(use.node, spans, index, self.text), added]
            return Fix("property of another", tuple(edits), reason, use.key_span.start)
        if not isinstance(use.node, ast.Property):
            return None
        name = next((n for n in other.names if n in use.place.scope), other.names[0] if other.names else None)
        if name is None:
            taken = {n for place in self.reading.places for n in place.scope}
            name = free_name("r" if not other.is_node else "x", taken)
            naming = named(other.patterns[0], name, self.text)
            if naming is None:
                return None
            edits.append(naming)
        subject = use.node.subject.span
        edits.append(Edit(subject.start, subject.end, quoted(name)))
        if key != use.key:
            edits.append(Edit(use.key_span.start, use.key_span.end, quoted(key)))
        return Fix("property of another", tuple(edits), reason, use.key_span.start)

    def of_neighbour(self, use: Use, groups: list[tuple[str, ...]], message: str) -> Fix | None:
        """What an adjacent node has under another name, or a neighbour that the query does not mention."""
        if not use.entity.is_node or len(groups) != 1 or len(groups[0]) != 1:
            return None
        holding = []
        for other in self.near(use.entity):
            theirs = self.owners(other) if other.is_node else None
            if theirs is not None and len(theirs) == 1 and len(theirs[0]) == 1:
                key = key_of(self.facts, theirs[0][0], use.key)
                holding += [] if key is None else [(other, key)]
        if holding:
            return self.moved_to(use, *holding[0], message) if len(holding) == 1 else None
        to = neighbour(self.facts, groups[0][0], use.key)
        if to is None:
            return None
        value = _compared_value(use)
        is_known = not isinstance(value, str) or self.facts.has_value(True, to.label, to.key, value) is not False
        if not is_known and not self.facts.spellings(True, to.label, to.key, folded_text(str(value))):
            return None
        return added_hop(use, to, self.reading, self.text, message)

    def entry(self, use: Use) -> tuple[int, list[tuple[int, int]]]:
        """The index of a use among the entries of its map, and the spans of all of them."""
        assert isinstance(use.node, ast.MapLiteral)
        starts = [offset for _, offset in key_offsets(use.node, self.text)]
        spans = [(start, value.span.end) for start, (_, value) in zip(starts, use.node.entries, strict=True)]
        return starts.index(use.key_span.start), spans

    def value_span(self, use: Use) -> tuple[int, int]:
        assert isinstance(use.node, ast.MapLiteral)
        index, _ = self.entry(use)
        span = use.node.entries[index][1].span
        return span.start, span.end

    def called(self, use: Use, groups: list[tuple[str, ...]], own: list[str], message: str) -> Fix | None:
        """`name` and the like, for something that another key names."""
        if folded(use.key) not in _CALLED or not use.entity.is_node:
            return None
        label = groups[0][0]
        scored = sorted(((self.calls(key, label, use, groups), key) for key in own), reverse=True)
        if not scored or scored[0][0] <= 0 or (len(scored) > 1 and scored[1][0] == scored[0][0]):
            return None
        return self.renamed(use, scored[0][1], message)

    def calls(self, key: str, label: str, use: Use, groups: list[tuple[str, ...]]) -> float:
        """How likely it is that a key names the nodes of a label."""
        mine, parts = words(key), words(label)
        wanted = folded(use.key)
        if folded(key) == folded(label) or folded(key) in (folded(label) + "name", folded(label) + wanted):
            return 3.0
        if mine[-1:] == (wanted,) and mine[0] in _WHOLE:
            return 2.5
        if mine[-1:] == (wanted,):
            return 2.0
        if wanted in ("name", "title", "label") and folded(key) in _CALLED[:-1]:
            return 1.0
        return 1.5 if parts and mine == parts[-1:] else 0.0

    # --- values that do not occur ---

    def values(self, use: Use, groups: list[tuple[str, ...]]) -> Iterator[Finding]:
        mismatch = self.mismatch(use, groups)
        if mismatch is not None:
            yield mismatch
            return
        value = _compared_value(use)
        if not isinstance(value, str) or use.value is None:
            return
        if self.has_value(use.entity, groups, use.key, value) is not False:
            return
        span = use.value.span
        shown = "|".join(groups[0])
        message = f"No {shown} has {use.key} = {literal(value)}."
        spellings = self.other_spellings(use.entity, groups, use.key, value)
        if not spellings:
            return
        fix = None
        if len(spellings) == 1:
            after = literal(spellings[0])
            reason = f"{message[:-1]}; it is spelled {after}."
            fix = Fix("value", (Edit(span.start, span.end, after),), reason, span.start)
        yield Finding("value", span.start, span.end, message, tuple(literal(s) for s in spellings[:5]), fix)

    def other_spellings(self, entity: Entity, groups: list[tuple[str, ...]], key: str, value: str) -> list[str]:
        plain = folded_text(value)
        if not plain:
            return []
        found: list[str] = []
        for owner in groups[0]:
            for spelling in self.facts.spellings(entity.is_node, owner, key, plain):
                if spelling not in found and spelling != value:
                    found.append(spelling)
        return sorted(found)

    def components(self) -> Iterator[Finding]:
        """`n.released.year` of a number, which fails: the number is the year itself."""
        if "YEAR" not in self.text.upper():  # most texts: there is nothing to look for
            return
        uses = {id(use.node): use for use in self.reading.uses}
        for node in walk(self.body):
            if not isinstance(node, ast.Property) or node.key.lower() != "year":
                continue
            inner = node.subject
            if isinstance(inner, ast.FunctionCall) and inner.name.lower() in _BY_FUNCTION and len(inner.arguments) == 1:
                inner = inner.arguments[0]
            use = uses.get(id(inner))
            groups = None if use is None else self.owners(use.entity)
            if use is None or groups is None or self.stored(use, groups) != "Long":
                continue
            written = self.text[use.span.start : use.span.end]
            message = f"{use.key} of {'|'.join(groups[0])} is a number, and has no year."
            edit = Edit(node.span.start, node.span.end, written)
            fix = Fix("type of value", (edit,), f"{message[:-1]}; it is one.", node.span.start)
            yield Finding("type of value", node.span.start, node.span.end, message, (written,), fix)

    def stored(self, use: Use, groups: list[tuple[str, ...]]) -> str | None:
        """The one type that all values of a key have; None if there are several, or unknown."""
        found: set[str] = set()
        for owner in groups[0]:
            types = self.facts.value_types(use.entity.is_node, owner, use.key)
            if types is None:
                return None
            found |= types
        return next(iter(found)) if len(found) == 1 and len(groups) == 1 else None

    def mismatch(self, use: Use, groups: list[tuple[str, ...]]) -> Finding | None:
        """A comparison with a value of a different type from all stored ones, which is never true."""
        node = use.value
        if node is None or use.operator not in (*_ORDERING, "IN", "CONTAINS"):
            return None
        stored = self.stored(use, groups)
        if stored is None:
            return None
        if use.operator == "IN":
            edits = self.converted_items(node, stored)
        elif stored.endswith("Array"):
            edits = self.element(use, node, stored)
        elif use.operator in _ORDERING:
            edits = self.converted(use, node, stored)
        else:
            return None
        if edits is None:
            return None
        shown = "|".join(groups[0])
        message = (
            f"{use.key} of {shown} is a {stored}, never comparable with {self.text[node.span.start : node.span.end]}."
        )
        reason = f"{use.key} of {shown} is a {stored}; it was compared with another type."
        fix = Fix("type of value", tuple(edits), reason, node.span.start) if edits else None
        suggestions = tuple(edit.after for edit in edits)
        return Finding("type of value", node.span.start, node.span.end, message, suggestions, fix)

    def converted(self, use: Use, node: Any, stored: str) -> list[Edit] | None:
        """The edits that make both sides of a comparison the same type; none if that is not possible; None if they
        are."""
        written = _type_of(node)
        if written is None or written == _family(stored):
            return None
        start, end = node.span.start, node.span.end
        value = node.value if isinstance(node, ast.Literal) else None
        if written == "STRING" and _family(stored) == "NUMBER":
            return [Edit(start, end, value)] if isinstance(value, str) and _NUMBER.fullmatch(value) else []
        if written == "NUMBER" and stored == "String":
            return self.number_as_text(use, node)
        if written == "STRING" and stored == "Boolean":
            word = str(value).lower()
            return [Edit(start, end, word)] if word in ("true", "false") else []
        if stored in _TEMPORAL and written == "STRING":
            return self.text_as_date(use, node, stored, str(value))
        if stored in _TEMPORAL and written in _TEMPORAL:
            return self.other_temporal(use, node, stored, written)
        if stored == "String" and written == "Date" and isinstance(node, ast.FunctionCall) and len(node.arguments) == 1:
            inner = node.arguments[0]
            return [Edit(start, end, self.text[inner.span.start : inner.span.end])]
        return []

    def converted_items(self, node: Any, stored: str) -> list[Edit] | None:
        """`n.year IN ['1999', '2000']` where numbers are stored."""
        items = node.items if isinstance(node, ast.ListLiteral) else ()
        texts = [item for item in items if isinstance(item, ast.Literal) and isinstance(item.value, str)]
        if not items or len(texts) < len(items) or _family(stored) != "NUMBER":
            return None
        if not all(_NUMBER.fullmatch(str(item.value)) for item in texts):
            return []
        return [Edit(item.span.start, item.span.end, str(item.value)) for item in texts]

    def element(self, use: Use, node: Any, stored: str) -> list[Edit] | None:
        """`r.roles = 'Neo'` with stored lists: a test for membership."""
        written = _type_of(node)
        if written is None or use.operator not in ("=", "CONTAINS"):
            return None
        if _family(stored.removesuffix("Array")) != written or use.comparison is None:
            return []
        value = self.text[node.span.start : node.span.end]
        span = use.comparison.span
        return [Edit(span.start, span.end, f"{value} IN {self.text[use.span.start : use.span.end]}")]

    def number_as_text(self, use: Use, node: ast.Literal) -> list[Edit]:
        """`n.apr > 0.2` with numbers stored as text."""
        if use.operator in ("=", "<>") and not isinstance(node.value, float):
            return [Edit(node.span.start, node.span.end, literal(str(node.value)))]
        if isinstance(use.node, ast.Property):
            return [Edit(use.span.start, use.span.start, "toFloat("), Edit(use.span.end, use.span.end, ")")]
        return []

    def text_as_date(self, use: Use, node: ast.Literal, stored: str, value: str) -> list[Edit]:
        start, end = node.span.start, node.span.end
        if _DATE.fullmatch(value):
            edits = [Edit(start, end, f"date({self.text[start:end]})")]
            if stored == "Date":
                return edits
            if isinstance(use.node, ast.Property):
                around = [Edit(use.span.start, use.span.start, "date("), Edit(use.span.end, use.span.end, ")")]
                return [*around, *edits]
            return []
        if _DATE_TIME.fullmatch(value) and stored in ("DateTime", "LocalDateTime"):
            return [Edit(start, end, f"{stored.lower()}({self.text[start:end]})")]
        return []

    def other_temporal(self, use: Use, node: ast.FunctionCall, stored: str, written: str) -> list[Edit]:
        if written == "Date" and stored in ("DateTime", "LocalDateTime") and isinstance(use.node, ast.Property):
            return [Edit(use.span.start, use.span.start, "date("), Edit(use.span.end, use.span.end, ")")]
        return [Edit(node.name_span.start, node.name_span.end, stored.lower())]


def null_comparisons(body: ast.Query, text: str) -> Iterator[Finding]:
    """`n.name = NULL`, which is never true, as a condition of a MATCH or WITH."""
    if "NULL" not in text.upper():  # most texts: there is nothing to look for
        return
    for clause in walk(body):
        if not isinstance(clause, ast.MatchClause | ast.WithClause) or clause.predicate is None:
            continue
        if isinstance(clause, ast.MatchClause) and clause.optional:
            continue
        waiting: list[Any] = [clause.predicate]
        while waiting:
            node = waiting.pop()
            if isinstance(node, ast.Binary) and node.operator == "AND":
                waiting += [node.right, node.left]
            elif isinstance(node, ast.Comparison) and len(node.operators) == 1 and node.operators[0] in ("=", "<>"):
                kept = [o for o in node.operands if not (isinstance(o, ast.Literal) and o.value is None)]
                if len(kept) == 1:
                    start, end = node.span.start, node.span.end
                    is_not = "NOT " if node.operators[0] == "<>" else ""
                    after = f"{text[kept[0].span.start : kept[0].span.end]} IS {is_not}NULL"
                    message = "A comparison with NULL is never true."
                    fix = Fix("null", (Edit(start, end, after),), message, start)
                    yield Finding("null", start, end, message, (after,), fix)


_ORDERING = ("=", "<", ">", "<=", ">=")
_NUMBER = re.compile(r"-?\d+(\.\d+)?")
_DATE = re.compile(r"\d{4}-\d{2}-\d{2}")
_DATE_TIME = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:?\d{2})?")
_TEMPORAL = ("Date", "DateTime", "LocalDateTime", "Time", "LocalTime")
_BY_FUNCTION = {name.lower(): name for name in _TEMPORAL}


def _family(stored: str) -> str:
    if stored in ("Long", "Double", "Integer", "Float"):
        return "NUMBER"
    return "STRING" if stored == "String" else stored


def _type_of(node: Any) -> str | None:
    if isinstance(node, ast.FunctionCall):
        return _BY_FUNCTION.get(node.name.lower())
    if not isinstance(node, ast.Literal) or node.value is None:
        return None
    if isinstance(node.value, bool):
        return "Boolean"
    return "STRING" if isinstance(node.value, str) else "NUMBER"


def _compared_value(use: Use) -> Any:
    """The single value that a property must equal."""
    if use.operator != "=" or not isinstance(use.value, ast.Literal):
        return None
    return use.value.value
