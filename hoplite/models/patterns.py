"""Labels, types and directions that find nothing: which hop is impossible, and what was meant.

A hop is impossible if the counts of (label, type, label) say so. What is tried, in this order: another spelling of an
unknown name; the other direction; the one type that connects the labels; the label that the type leads to, if its nodes
have the required properties; the node of the same pattern that the type belongs to; a missing node in between.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hoplite.grammar import ast
from hoplite.models.edits import Edit, Fix
from hoplite.models.facts import Facts
from hoplite.models.names import ALIKE, CLOSE, closest, likeness, ranked
from hoplite.models.problems import Finding
from hoplite.models.reading import Entity, Hop, Reading, Use
from hoplite.models.writing import flipped, quoted, replaced_type

# Whether relationships lead from left to right.
_WAYS: dict[ast.Direction, tuple[bool, ...]] = {
    ast.Direction.OUTGOING: (True,),
    ast.Direction.INCOMING: (False,),
    ast.Direction.BOTH: (True, False),
}


class Patterns:
    """Finds what is wrong with the patterns of a reading."""

    def __init__(self, reading: Reading, facts: Facts, text: str) -> None:
        self.reading = reading
        self.facts = facts
        self.text = text
        self.uses: dict[Entity, list[Use]] = {}
        for use in reading.uses:
            self.uses.setdefault(use.entity, []).append(use)

    def findings(self) -> Iterator[Finding]:
        """Unknown names first; hops with unknown names are checked once these are fixed."""
        for entity in self.reading.entities:
            if not entity.written:
                for name in entity.label_names():
                    if name.name not in (self.facts.labels if entity.is_node else self.facts.types):
                        yield self.unknown_label(entity, name) if entity.is_node else self.unknown_type(entity, name)
        for hop in self.reading.hops:
            if hop.place.written or hop.place.negated or not self.all_known(hop):
                continue
            if not self.possible(hop, hop.pattern.direction):
                yield self.impossible(hop)

    # --- unknown names ---

    def unknown_label(self, entity: Entity, name: ast.LabelName) -> Finding:
        facts = self.facts
        message = f"No node has the label {name.name}."
        candidates = ranked(name.name, facts.labels)
        fitting = [label for label in facts.labels if self.is_tied(entity) and self.fits(entity, label)]
        chosen = closest(name.name, facts.labels)
        if chosen is None:
            chosen = closest(name.name, fitting, ALIKE)
        if chosen is None and len(fitting) == 1:
            chosen = fitting[0]
        suggestions = tuple(dict.fromkeys([*([chosen] if chosen else []), *candidates, *fitting]))[:5]
        fix = None
        if chosen is not None:
            edits = [
                Edit(label.span.start, label.span.end, quoted(chosen))
                for label in entity.label_names()
                if label.name == name.name
            ]
            reason = f"{message[:-1]}; {chosen} is the label that is meant."
            fix = Fix("label", tuple(edits), reason, name.span.start)
        return Finding("unknown label", name.span.start, name.span.end, message, suggestions, fix)

    def is_tied(self, entity: Entity) -> bool:
        """Whether a known type says something about the label."""
        return any(t.name in self.facts.types for hop in entity.hops for t in hop.relationship.label_names())

    def fits(self, entity: Entity, label: str) -> bool:
        """Whether a label could replace another: the hops are possible, and the required properties exist."""
        for hop in entity.hops:
            other = hop.right if hop.left is entity else hop.left
            if not all(n.name in self.facts.labels for n in other.label_names()):
                continue
            left = [(label,)] if hop.left is entity else self.groups(hop.left)
            right = [(label,)] if hop.right is entity else self.groups(hop.right)
            types = self.types(hop)
            if not any(self.counts(left, types, right, out, hop) for out in (True, False)):
                return False
        return all(
            use.key in self.facts.keys_of_label(label)
            for use in self.uses.get(entity, ())
            if any(use.key in self.facts.keys_of_label(other) for other in self.facts.labels)
        )

    def unknown_type(self, entity: Entity, name: ast.LabelName) -> Finding:
        facts = self.facts
        message = f"No relationship has the type {name.name}."
        candidates = ranked(name.name, facts.types)
        chosen: str | None = None
        turned = False
        connecting: dict[str, bool] = {}
        hop = entity.hops[0] if len(entity.hops) == 1 and not entity.is_list else None
        if hop is not None:
            forward = hop.pattern.direction is ast.Direction.OUTGOING
            connecting = self.connecting(hop)
            near = closest(name.name, connecting, ALIKE)
            if near is not None and (near == (candidates[0] if candidates else near) or len(connecting) == 1):
                chosen = near
            elif len(connecting) == 1 and closest(name.name, facts.types, 0.85) is None:
                chosen = next(iter(connecting))
            turned = chosen is not None and hop.pattern.direction is not ast.Direction.BOTH
            turned = turned and connecting[chosen or ""] is not forward
        if chosen is None:
            chosen = closest(name.name, facts.types)
            if chosen is not None and connecting and chosen not in connecting:
                chosen = None
        suggestions = tuple(dict.fromkeys([*([chosen] if chosen else []), *connecting, *candidates]))[:5]
        fix = None
        if chosen is not None:
            edits = [Edit(name.span.start, name.span.end, quoted(chosen))]
            if turned and hop is not None:
                edits += flipped(hop.pattern, self.text) or ()
            fix = Fix("type", tuple(edits), f"{message[:-1]}; {chosen} is the type that is meant.", name.span.start)
        return Finding("unknown type", name.span.start, name.span.end, message, suggestions, fix)

    # --- impossible hops ---

    def all_known(self, hop: Hop) -> bool:
        facts = self.facts
        return all(n.name in facts.labels for e in (hop.left, hop.right) for n in e.label_names()) and all(
            n.name in facts.types for n in hop.relationship.label_names()
        )

    def groups(self, entity: Entity) -> list[tuple[str | None, ...]]:
        """Labels one of which must hold, for each condition."""
        found: list[tuple[str | None, ...]] = [(name.name,) for name in entity.required]
        found += [tuple(name.name for name in choice) for choice in entity.choices]
        return found or [(None,)]

    def types(self, hop: Hop) -> tuple[str | None, ...]:
        relationship = hop.relationship
        names = [n.name for n in relationship.label_names()]
        known = [n for n in names if n in self.facts.types]
        return tuple(known) or (None,)

    def possible(self, hop: Hop, direction: ast.Direction) -> bool:
        if hop.relationship.opaque or len(hop.relationship.required) > 1:
            return True
        left, right, types = self.groups(hop.left), self.groups(hop.right), self.types(hop)
        return any(self.counts(left, types, right, outgoing, hop) for outgoing in _WAYS[direction])

    def counts(
        self,
        left: Sequence[tuple[str | None, ...]],
        types: Sequence[str | None],
        right: Sequence[tuple[str | None, ...]],
        outgoing: bool,
        hop: Hop,
    ) -> bool:
        """Whether such relationships may exist; every pair of conditions must be met by some."""
        if not outgoing:
            left, right = right, left
        count = self.facts.count
        repetition = hop.pattern.repetition
        lower = repetition.lower if repetition is not None else None
        if hop.pattern.hops is not None:
            hops = hop.pattern.hops
            lower = 1 if hops.lower is None else hops.lower
            if hops.upper == hops.lower == 1:
                lower = None
        if lower is not None:
            if lower == 0:
                return True
            either = hop.pattern.direction is ast.Direction.BOTH  # each step may go either way
            return all(
                any(count(a, t, None) or (either and count(None, t, a)) for a in one for t in types) for one in left
            ) and all(
                any(count(None, t, b) or (either and count(b, t, None)) for b in other for t in types)
                for other in right
            )
        return all(any(count(a, t, b) for a in one for b in other for t in types) for one in left for other in right)

    def connecting(self, hop: Hop) -> dict[str, bool]:
        """The types that connect the labels of a hop, and whether they lead from left to right."""
        left, right = self.groups(hop.left), self.groups(hop.right)
        if left == [(None,)] or right == [(None,)]:
            return {}
        found: dict[str, bool] = {}
        for outgoing in (hop.pattern.direction is not ast.Direction.INCOMING, False, True):
            for name in self.facts.types:
                if name not in found and self.counts(left, (name,), right, outgoing, hop):
                    found[name] = outgoing
        return found

    def impossible(self, hop: Hop) -> Finding:
        span = hop.pattern.span
        shown = self.shown(hop)
        message = f"The graph has no relationship {shown}."
        fix: Fix | None = None
        suggestions: list[str] = []
        if hop.pattern.direction is not ast.Direction.BOTH and self.possible(hop, hop.pattern.direction.reversed):
            edits = flipped(hop.pattern, self.text)
            if edits is not None:
                way = f"{shown} are the other way round"
                fix = Fix("direction", tuple(edits), f"Relationships {way}.", span.start)
                return Finding("direction", span.start, span.end, message, (_apply(self.text, hop, edits),), fix)
        connecting = self.connecting(hop)
        suggestions += sorted(connecting, key=lambda name: -self.type_likeness(hop, name))
        for attempt in (self.other_label, self.other_type, self.other_node, self.left_out):
            fix = attempt(hop, connecting)
            if fix is not None:
                break
        if fix is not None:
            suggestions = [fix.edits[-1].after.strip(), *suggestions]
        return Finding("pattern", span.start, span.end, message, tuple(dict.fromkeys(suggestions))[:5], fix)

    def shown(self, hop: Hop) -> str:
        ends = [
            ":" + "|".join(n.name for n in e.label_names()) if any(e.label_names()) else ""
            for e in (hop.left, hop.right)
        ]
        types = "|".join(n.name for n in hop.relationship.label_names())
        inside = f"-[:{types}]-" if types else "--"
        arrow = {ast.Direction.OUTGOING: ("", ">"), ast.Direction.INCOMING: ("<", ""), ast.Direction.BOTH: ("", "")}
        before, after = arrow[hop.pattern.direction]
        return f"({ends[0]}){before}{inside}{after}({ends[1]})"

    def type_likeness(self, hop: Hop, name: str) -> float:
        return max((likeness(n.name, name) for n in hop.relationship.label_names()), default=0.0)

    def other_type(self, hop: Hop, connecting: dict[str, bool]) -> Fix | None:
        """The one type that connects the labels, or the one most similar to what is written."""
        if hop.relationship.is_list or hop.relationship.choices or not connecting or len(hop.relationship.hops) > 1:
            return None
        names = list(connecting)
        chosen = names[0] if len(names) == 1 else None
        if chosen is None and hop.relationship.required:
            chosen = closest(hop.relationship.required[0].name, names, CLOSE)
        if chosen is None or not hop.relationship.required:
            return None
        edits = replaced_type(hop.pattern, hop.relationship.required[0], chosen, connecting[chosen], self.text)
        if edits is None:
            return None
        ends = " and ".join(n.name for e in (hop.left, hop.right) for n in e.required[:1])
        return Fix("type", tuple(edits), f"{ends} are connected by {chosen}.", hop.pattern.span.start)

    def other_label(self, hop: Hop, connecting: dict[str, bool]) -> Fix | None:
        """The label that the type leads to, if the required properties are found there and not here."""
        for entity in (hop.right, hop.left):
            if len(entity.required) != 1 or entity.choices or entity.opaque:
                continue
            old = entity.required[0]
            here = self.support(entity, old.name)
            better = [
                label
                for label in self.facts.labels
                if self.fits_hops(entity, label) and self.support(entity, label) > max(here, 0)
            ]
            if len(better) == 1:
                edits = [
                    Edit(name.span.start, name.span.end, quoted(better[0]))
                    for name in entity.required
                    if name.name == old.name
                ]
                types = "|".join(n.name for n in hop.relationship.label_names())
                reason = f"{types} leads to {better[0]}, not to {old.name}, and the values asked for are there."
                return Fix("label", tuple(edits), reason, old.span.start)
        return None

    def fits_hops(self, entity: Entity, label: str) -> bool:
        for hop in entity.hops:
            left = [(label,)] if hop.left is entity else self.groups(hop.left)
            right = [(label,)] if hop.right is entity else self.groups(hop.right)
            if not any(self.counts(left, self.types(hop), right, way, hop) for way in _WAYS[hop.pattern.direction]):
                return False
        return bool(entity.hops)

    def support(self, entity: Entity, label: str) -> int:
        """How well a label supports the conditions on a node: 2 for a value, -1 for a key that does not exist."""
        score = 0
        for use in self.uses.get(entity, ()):
            score += self.evidence(use, [label], True)
        return score

    def evidence(self, use: Use, owners: Sequence[str], is_node: bool) -> int:
        score = 0
        for owner in owners:
            keys = self.facts.keys_of_label(owner) if is_node else self.facts.keys_of_type(owner)
            if isinstance(use.value, ast.Literal) and use.operator == "=" and use.value.value is not None:
                value = use.value.value
                if any(self.facts.has_value(is_node, owner, key, value) for key in keys):
                    score += 2
                    continue
            score += 0 if use.key in keys else -1
        return score

    def other_node(self, hop: Hop, connecting: dict[str, bool]) -> Fix | None:
        """The hop is attached to the wrong node: another node of the query has such relationships."""
        if connecting or not hop.relationship.required or hop.relationship.is_list:
            return None
        types = self.types(hop)
        ways = (hop.pattern.direction is not ast.Direction.INCOMING, hop.pattern.direction is ast.Direction.INCOMING)
        for kept_right, kept in ((True, hop.right), (False, hop.left)):
            if not kept.required:
                continue
            for other in self.reading.entities:
                if other is hop.left or other is hop.right or not other.is_node or not other.required:
                    continue
                if not any(name in hop.place.scope for name in other.names):
                    continue
                for outgoing in ways:
                    pair = (
                        (self.groups(other), self.groups(kept))
                        if kept_right
                        else (self.groups(kept), self.groups(other))
                    )
                    if self.counts(pair[0], types, pair[1], outgoing, hop):
                        return self.hang(hop, other, kept_right, outgoing)
        return None

    def hang(self, hop: Hop, other: Entity, kept_right: bool, outgoing: bool) -> Fix | None:
        pattern = hop.pattern
        name = next(name for name in other.names if name in hop.place.scope)
        turned = (pattern.direction is ast.Direction.OUTGOING) is not outgoing
        edits = (
            list(flipped(pattern, self.text) or ()) if turned and pattern.direction is not ast.Direction.BOTH else []
        )
        if kept_right:
            edits = _merged(edits, Edit(pattern.span.start, pattern.span.start, f", ({quoted(name)})"))
        else:
            edits = _merged(edits, Edit(pattern.span.end, pattern.span.end, f"({quoted(name)}), "))
        types = "|".join(n.name for n in hop.relationship.label_names())
        labels = "|".join(n.name for n in other.label_names())
        return Fix("pattern", tuple(edits), f"{types} belongs to {labels}, here {name}.", pattern.span.start)

    def left_out(self, hop: Hop, connecting: dict[str, bool]) -> Fix | None:
        """A node between the two was left out: the type fits one end, and one type leads on to the other."""
        if connecting or not hop.relationship.required or hop.relationship.is_list:
            return None
        if len(hop.left.required) != 1 or len(hop.right.required) != 1 or len(self.types(hop)) != 1:
            return None
        left, right, type_name = hop.left.required[0].name, hop.right.required[0].name, self.types(hop)[0]
        ways: list[tuple[bool, str, str, bool, bool]] = []
        for label in self.facts.labels:
            for outgoing in (True, False):
                for near_left, near, far in ((False, right, left), (True, left, right)):
                    start, end = (label, near) if outgoing is not near_left else (near, label)
                    if not self.facts.count(start, type_name, end):
                        continue
                    for name in self.facts.types_between(far, label):
                        ways.append((near_left, label, name, outgoing, True))
                    for name in self.facts.types_between(label, far):
                        ways.append((near_left, label, name, outgoing, False))
        if len(ways) != 1:
            return None
        near_left, label, name, outgoing, leads_in = ways[0]
        turned = (hop.pattern.direction is ast.Direction.OUTGOING) is not outgoing
        edits = list(flipped(hop.pattern, self.text) or ()) if turned else []
        if near_left:
            arrow = f"<-[:{quoted(name)}]-" if leads_in else f"-[:{quoted(name)}]->"
            edits = _merged(edits, Edit(hop.pattern.span.end, hop.pattern.span.end, f"(:{quoted(label)}){arrow}"))
        else:
            arrow = f"-[:{quoted(name)}]->" if leads_in else f"<-[:{quoted(name)}]-"
            edits = _merged(edits, Edit(hop.pattern.span.start, hop.pattern.span.start, f"{arrow}(:{quoted(label)})"))
        reason = f"{left} and {right} are connected through {label}."
        return Fix("pattern", tuple(edits), reason, hop.pattern.span.start)


def _merged(edits: list[Edit], insertion: Edit) -> list[Edit]:
    """Edits at one position become one: an insertion goes outside of what is replaced there."""
    merged: list[Edit] = []
    done = False
    for edit in edits:
        if edit.start == insertion.start and insertion.start == insertion.end and not done:
            merged.append(Edit(edit.start, edit.end, insertion.after + edit.after))
            done = True
        elif edit.end == insertion.start and not done:
            merged.append(Edit(edit.start, edit.end, edit.after + insertion.after))
            done = True
        else:
            merged.append(edit)
    return merged if done else [*merged, insertion]


def _apply(text: str, hop: Hop, edits: Sequence[Edit]) -> str:
    start, end = hop.pattern.span.start, hop.pattern.span.end
    part = text[start:end]
    for edit in sorted(edits, key=lambda e: -e.start):
        part = part[: edit.start - start] + edit.after + part[edit.end - start :]
    return part
