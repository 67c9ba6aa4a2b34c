"""Statements that parse but are refused: names that WITH dropped, functions that do not exist, clauses that refer to
what is out of scope.

Each rule matches one of Neo4j's messages and gives a fix, or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hoplite.engine.functions.registry import AGGREGATES
from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.statement import Statement
from hoplite.grammar.tree import children, walk
from hoplite.models.answers import aggregates, is_aggregate
from hoplite.models.calls import replaced_call
from hoplite.models.edits import Edit, Fix
from hoplite.models.facts import Facts
from hoplite.models.names import ALIKE, CLOSE, distance, likeness, ranked
from hoplite.models.problems import Finding
from hoplite.models.reading import Entity, Place, Reading, read
from hoplite.models.writing import free_name, literal, quoted

Rule = Callable[["Refused", "re.Match[str]"], Fix | None]


class Refused:
    """A statement that the check refused, and where."""

    def __init__(
        self, text: str, statement: Statement, error: CypherError, facts: Facts, functions: Iterable[str]
    ) -> None:
        self.text = text
        self.statement = statement
        self.message = error.message.split("\n")[0]
        self.offset = 0 if error.position is None else min(error.position.offset, len(text))
        self.facts = facts
        self.functions = sorted(functions)

    def finding(self) -> Finding:
        """What is wrong, with a fix if a rule has one."""
        for pattern, rule, kind in _RULES:
            match = pattern.search(self.message)
            if match is not None:
                fix = rule(self, match)
                end = fix.edits[0].end if fix is not None and fix.edits[0].start == self.offset else self.offset
                return Finding(kind, self.offset, end, self.message, self.suggestions(match, kind, fix), fix)
        return Finding("refused", self.offset, self.offset, self.message)

    def suggestions(self, match: re.Match[str], kind: str, fix: Fix | None) -> tuple[str, ...]:
        found = [] if fix is None else [edit.after.strip() for edit in fix.edits if edit.after.strip()][:1]
        if kind == "unknown function":
            found += [name for name in _functions_like(match[1], self.functions, ALIKE) if name not in found]
        return tuple(found[:5])

    # --- where it is ---

    def query(self) -> tuple[ast.SingleQuery, int] | None:
        """The innermost query around the error, and the number of its clause there."""
        found: tuple[ast.SingleQuery, int] | None = None
        for node in walk(self.statement.body):
            if isinstance(node, ast.SingleQuery):
                for number, clause in enumerate(node.clauses):
                    if clause.span.start <= self.offset < clause.span.end:
                        found = (node, number)
        return found

    def path_to(self, root: Any) -> list[Any]:
        """The nodes from a root down to the one that begins at the error."""
        path = [root]
        while True:
            below = [c for c in children(path[-1]) if c.span.start <= self.offset < max(c.span.end, c.span.start + 1)]
            if not below:
                return path
            path.append(below[-1])

    def place(self) -> Place | None:
        """The names in scope at the error."""
        reading: Reading = read(self.statement, self.text)
        around = [p for p in reading.places if p.clause is not None and p.clause.span.start <= self.offset]
        inside = [p for p in around if p.clause is not None and self.offset < p.clause.span.end]
        return inside[-1] if inside else None


def visible_before(query: ast.SingleQuery, number: int) -> set[str]:
    """The variables in scope before a clause."""
    names: set[str] = set()
    for clause in query.clauses[:number]:
        if isinstance(clause, ast.WithClause):
            kept = {item.name for item in clause.projection.items}
            names = names | kept if clause.projection.star else kept
        else:
            names |= set(_declared(clause))
    return names


def _declared(clause: ast.Clause) -> Iterator[str]:
    if isinstance(clause, ast.UnwindClause | ast.LoadCsvClause):
        yield clause.variable.name
    elif isinstance(clause, ast.CallProcedure):
        for item in clause.items or ():
            yield item.name if item.alias is None else item.alias.name
    elif isinstance(clause, ast.CallSubquery):
        last = clause.query.queries[-1] if isinstance(clause.query, ast.Union) else clause.query
        for inner in last.clauses:
            if isinstance(inner, ast.ReturnClause):
                yield from (item.name for item in inner.projection.items)
    else:
        for node in walk(clause, (ast.SubqueryExpression,)):
            if isinstance(node, ast.NodePattern | ast.RelationshipPattern) and node.variable is not None:
                yield node.variable.name
            elif isinstance(node, ast.PathPattern) and node.path_variable is not None:
                yield node.path_variable.name


def _variables(node: Any) -> set[str]:
    return {inner.name for inner in walk(node) if isinstance(inner, ast.Variable)}


# --- names that are not defined ---


def _undefined(refused: Refused, match: re.Match[str]) -> Fix | None:
    ending = _endings(refused)
    if ending is not None:
        return ending
    name = match[1]
    found = refused.query()
    if found is None:
        return None
    query, number = found
    for earlier in range(number, -1, -1):
        clause = query.clauses[earlier]
        if not isinstance(clause, ast.WithClause) or clause.projection.star:
            continue
        if earlier == number and not _is_after(clause, refused.offset):
            continue
        if name in visible_before(query, earlier):
            return _kept_by_with(refused, query, number, clause, earlier, name)
    return _misspelled(refused, name) or _bare_key(refused, name) or _unquoted(refused, name)


def _is_after(clause: ast.WithClause, offset: int) -> bool:
    """Whether a position is in the WHERE or ORDER BY of a WITH."""
    items = clause.projection.items
    return bool(items) and offset >= items[-1].span.end


def _kept_by_with(
    refused: Refused, query: ast.SingleQuery, number: int, clause: ast.WithClause, earlier: int, name: str
) -> Fix | None:
    items = clause.projection.items
    end = items[-1].span.end
    renamed = next((i for i in items if isinstance(i.expression, ast.Variable) and i.expression.name == name), None)
    if renamed is not None:
        path = refused.path_to(query.clauses[number])
        span = path[-1].span
        reason = f"WITH calls {name} {renamed.name} from there on."
        return Fix("variable", (Edit(span.start, span.end, quoted(renamed.name)),), reason, refused.offset)
    projected = _projected_value(refused, query, number, items, name)
    if projected is not None:
        return projected
    reason = f"WITH drops {name}, which is used after it."
    if any(aggregates(item.expression) for item in items):
        moved = _aggregated_before(refused, query, number, clause, earlier)
        if moved is not None:
            return moved
        if any(name in _variables(item.expression) for item in items if aggregates(item.expression)):
            return _handed_on_as_list(refused, clause, name, reason)
    return Fix("variable", (Edit(end, end, f", {quoted(name)}"),), reason, refused.offset)


def _handed_on_as_list(refused: Refused, clause: ast.WithClause, name: str, reason: str) -> Fix:
    """What a WITH aggregates over cannot be one of its keys, or every group would have one row: it is collected, and
    unwound again after the WITH."""
    text = refused.text
    end = clause.projection.items[-1].span.end
    behind = clause.span.start + len(text[clause.span.start : clause.span.end].rstrip())
    several = quoted(free_name(f"{name}s", _variables(refused.statement.body)))
    rest = text[end:behind]
    new = f", collect({quoted(name)}) AS {several}{rest} UNWIND {several} AS {quoted(name)}"
    return Fix("variable", (Edit(end, behind, new),), reason, refused.offset)


def _projected_value(
    refused: Refused, query: ast.SingleQuery, number: int, items: tuple[ast.ReturnItem, ...], name: str
) -> Fix | None:
    """`n.name` after `WITH n.name AS name` is `name`."""
    path = refused.path_to(query.clauses[number])
    for node in path:
        if isinstance(node, ast.Property):
            for item in items:
                if item.expression == node:
                    reason = f"WITH hands {name}.{node.key} on as {item.name}."
                    edit = Edit(node.span.start, node.span.end, quoted(item.name))
                    return Fix("variable", (edit,), reason, refused.offset)
    return None


def _aggregated_before(
    refused: Refused, query: ast.SingleQuery, number: int, clause: ast.WithClause, earlier: int
) -> Fix | None:
    """An aggregation over what an aggregating WITH has dropped moves into that WITH."""
    if number == earlier:
        return None
    call = next((node for node in refused.path_to(query.clauses[number]) if is_aggregate(node)), None)
    if call is None or not _variables(call) <= visible_before(query, earlier):
        return None
    written = refused.text[call.span.start : call.span.end]
    taken = _variables(refused.statement.body) | {item.name for item in clause.projection.items}
    key = next((n.key for n in walk(call) if isinstance(n, ast.Property)), None)
    stem = call.name.lower() if isinstance(call, ast.FunctionCall) else "count"
    alias = free_name(stem if key is None else f"{stem}_{key}", taken)
    end = clause.projection.items[-1].span.end
    edits = (Edit(end, end, f", {written} AS {quoted(alias)}"), Edit(call.span.start, call.span.end, quoted(alias)))
    return Fix(
        "variable", edits, f"{written} is computed in the WITH where its variables are still in scope.", refused.offset
    )


def _misspelled(refused: Refused, name: str) -> Fix | None:
    place = refused.place()
    if place is None:
        return None
    near = [n for n in place.scope if n.lower() == name.lower()]
    near = near or [n for n in place.scope if len(name) > 3 and distance(n.lower(), name.lower()) == 1]
    if not near:
        labelled = [
            variable
            for variable, entity in place.scope.items()
            if entity is not None and any(label.name == name for label in entity.label_names())
        ]
        near = labelled if len(labelled) == 1 else []
    if len(near) != 1:
        return None
    reason = f"{name} is not defined; {near[0]} is."
    edit = Edit(refused.offset, refused.offset + len(name), quoted(near[0]))
    return Fix("variable", (edit,), reason, refused.offset)


def _bare_key(refused: Refused, name: str) -> Fix | None:
    """`WHERE age > 60`: the one entity in scope that has such a property."""
    place = refused.place()
    if place is None:
        return None
    having = [n for n, entity in place.scope.items() if entity is not None and _has_key(refused.facts, entity, name)]
    if len(having) != 1:
        return None
    reason = f"{name} is not a variable but a property of {having[0]}."
    return Fix("variable", (Edit(refused.offset, refused.offset, f"{quoted(having[0])}."),), reason, refused.offset)


def _has_key(facts: Facts, entity: Entity, key: str) -> bool:
    keys = facts.keys_of_label if entity.is_node else facts.keys_of_type
    return any(key in keys(name.name) for name in entity.label_names())


def _unquoted(refused: Refused, name: str) -> Fix | None:
    """`n.gender = F`: a value without quotes."""
    found = refused.query()
    place = refused.place()
    if found is None or place is None:
        return None
    for node in refused.path_to(found[0].clauses[found[1]]):
        if isinstance(node, ast.Comparison) and len(node.operands) == 2:
            other = node.operands[0]
            if isinstance(other, ast.Property) and isinstance(other.subject, ast.Variable):
                entity = place.scope.get(other.subject.name)
                if entity is not None and any(
                    refused.facts.has_value(entity.is_node, owner.name, other.key, name)
                    for owner in entity.label_names()
                ):
                    edit = Edit(refused.offset, refused.offset + len(name), literal(name))
                    reason = f"{name} is not a variable but a value of {other.key}."
                    return Fix("value", (edit,), reason, refused.offset)
    return None


# --- what a WITH or RETURN cannot see ---


def _unseen(refused: Refused, match: re.Match[str]) -> Fix | None:
    """Conditions after DISTINCT or an aggregation on what came before it move before it."""
    found = refused.query()
    if found is None:
        return None
    query, number = found
    clause = query.clauses[number]
    if not isinstance(clause, ast.WithClause) or clause.predicate is None:
        return None
    after = {item.name for item in clause.projection.items}
    parts = list(_conjuncts(clause.predicate))
    moved = [part for part in parts if not (_variables(part) <= after)]
    kept = [part for part in parts if part not in moved]
    if not moved or not all(_variables(part) <= visible_before(query, number) for part in moved):
        return None
    text = refused.text
    start = _where_start(text, clause.projection.items[-1].span.end, clause.predicate.span.start)
    left = " AND ".join(_written(part, text) for part in kept)
    rest = Edit(start, clause.predicate.span.end, f" WHERE {left}" if left else "")
    reason = "A condition on what DISTINCT or an aggregation drops comes before it."
    edits = (before_clause(query, number, " AND ".join(_written(part, text) for part in moved), text), rest)
    return Fix("condition", edits, reason, refused.offset)


def before_clause(query: ast.SingleQuery, number: int, condition: str, text: str) -> Edit:
    """The edit that filters the rows at the start of a clause."""
    if number:
        before = query.clauses[number - 1]
        if isinstance(before, ast.MatchClause) and not before.optional:
            if before.predicate is None:
                end = before.span.end
                while end > before.span.start and text[end - 1].isspace():
                    end -= 1
                return Edit(end, end, f" WHERE {condition}")
            span = before.predicate.span
            if isinstance(before.predicate, ast.Binary) and before.predicate.operator in ("OR", "XOR"):
                return Edit(span.start, span.end, f"({text[span.start : span.end]}) AND {condition}")
            return Edit(span.end, span.end, f" AND {condition}")
    start = query.clauses[number].span.start
    return Edit(start, start, f"WITH * WHERE {condition} ")


def _where_start(text: str, start: int, end: int) -> int:
    """Where the white space before the WHERE of a clause begins."""
    found = re.compile(r"\s*\bWHERE\b", re.IGNORECASE).search(text, start, end)
    return end if found is None else found.start()


def _conjuncts(predicate: ast.Expression) -> Iterator[ast.Expression]:
    if isinstance(predicate, ast.Binary) and predicate.operator == "AND":
        yield from _conjuncts(predicate.left)
        yield from _conjuncts(predicate.right)
    else:
        yield predicate


def _written(part: ast.Expression, text: str) -> str:
    written = text[part.span.start : part.span.end]
    return f"({written})" if isinstance(part, ast.Binary) and part.operator in ("OR", "XOR") else written


# --- functions ---


def _unknown_function(refused: Refused, match: re.Match[str]) -> Fix | None:
    calls = [n for n in walk(refused.statement.body) if isinstance(n, ast.FunctionCall) and n.name == match[1]]
    call = next((n for n in calls if n.name_span.start == refused.offset), calls[0] if calls else None)
    if call is None:
        return None
    arguments = [refused.text[a.span.start : a.span.end] for a in call.arguments]
    written = replaced_call(call, arguments, _wraps(refused, call))
    reason = f"There is no function {call.name}."
    if written is not None:
        edit = Edit(call.span.start, call.span.end, written)
        return Fix("function", (edit,), f"{reason[:-1]}; {written} is the equivalent.", refused.offset)
    names = [n for n in refused.functions if n.lower() in AGGREGATES] if call.distinct else refused.functions
    near = _functions_like(call.name, names, CLOSE)
    if not near:
        return None
    name_end = call.name_span.end
    edit = Edit(call.name_span.start, name_end, near[0])
    return Fix("function", (edit,), f"{reason[:-1]}; {near[0]} is the one that is meant.", refused.offset)


_COMMON = frozenset(
    [
        "size",
        "tolower",
        "toupper",
        "tointeger",
        "tofloat",
        "tostring",
        "labels",
        "type",
        "coalesce",
        "keys",
        "nodes",
        "relationships",
        "length",
        "date",
        "datetime",
        "substring",
        "split",
        "replace",
        "trim",
        "round",
        "head",
        "last",
    ]
)


def _functions_like(written: str, names: Iterable[str], least: float) -> list[str]:
    """Functions with similar names; among equally similar ones, those that queries use most. In capitals if the call
    was."""
    near = ranked(written, names, least)
    near.sort(
        key=lambda name: -likeness(written, name) - 0.02 * (name.lower() in AGGREGATES or name.lower() in _COMMON)
    )
    return [name.upper() for name in near] if written.isupper() and near else near


def _wraps(refused: Refused, call: ast.FunctionCall) -> bool:
    """Whether an operator that replaces a call needs parentheses."""
    for node in walk(refused.statement.body):
        below = children(node)
        if any(child is call for child in below):
            return not isinstance(node, ast.MatchClause | ast.WithClause | ast.ReturnItem | ast.FunctionCall)
    return True


# --- columns ---


def _same_column(refused: Refused, match: re.Match[str]) -> Fix | None:
    """A duplicate column is returned once; a different one of that name gets another name."""
    for clause in walk(refused.statement.body):
        if not isinstance(clause, ast.WithClause | ast.ReturnClause):
            continue
        seen: dict[str, ast.ReturnItem] = {}
        for position, item in enumerate(clause.projection.items):
            first = seen.setdefault(item.name, item)
            if first is item:
                continue
            if first.expression == item.expression:
                start = clause.projection.items[position - 1].span.end
                reason = f"{item.name} is returned twice."
                return Fix("column", (Edit(start, item.span.end, ""),), reason, refused.offset)
            name = free_name(item.name, {i.name for i in clause.projection.items})
            if item.alias is None:
                edit = Edit(item.span.end, item.span.end, f" AS {quoted(name)}")
            else:
                edit = Edit(item.alias.span.start, item.alias.span.end, quoted(name))
            return Fix("column", (edit,), f"Two columns are called {item.name}.", refused.offset)
    return None


def _unaliased(refused: Refused, match: re.Match[str]) -> Fix | None:
    """`WITH n.name` needs a name, which is used from there on."""
    taken = _variables(refused.statement.body)
    for query in walk(refused.statement.body):
        if not isinstance(query, ast.SingleQuery):
            continue
        for clause in query.clauses:
            if not isinstance(clause, ast.WithClause):
                continue
            for item in clause.projection.items:
                if item.alias is None and not isinstance(item.expression, ast.Variable):
                    edits = [Edit(item.span.end, item.span.end, f" AS {quoted(_alias(item, taken))}")]
                    return Fix("column", tuple(edits), "An expression in WITH needs a name.", refused.offset)
    return None


def _alias(item: ast.ReturnItem, taken: set[str]) -> str:
    expression = item.expression
    if isinstance(expression, ast.Property):
        return free_name(expression.key, taken)
    if isinstance(expression, ast.FunctionCall):
        return free_name(expression.name.rpartition(".")[2].lower(), taken)
    return free_name("value", taken)


def _union_columns(refused: Refused, match: re.Match[str]) -> Fix | None:
    """Parts of a UNION with the same number of columns take the names of the first."""
    for union in walk(refused.statement.body):
        if not isinstance(union, ast.Union):
            continue
        returns = [query.clauses[-1] for query in union.queries]
        if not all(isinstance(clause, ast.ReturnClause) for clause in returns):
            continue
        columns = [clause.projection.items for clause in returns if isinstance(clause, ast.ReturnClause)]
        if len({len(items) for items in columns}) != 1:
            continue
        edits = []
        for items in columns[1:]:
            for first, item in zip(columns[0], items, strict=True):
                if item.name == first.name:
                    continue
                if item.alias is None:
                    edits.append(Edit(item.span.end, item.span.end, f" AS {quoted(first.name)}"))
                else:
                    edits.append(Edit(item.alias.span.start, item.alias.span.end, quoted(first.name)))
        if edits:
            return Fix("column", tuple(edits), "The parts of a UNION have the same columns.", refused.offset)
    return None


def _new_in_expression(refused: Refused, match: re.Match[str]) -> Fix | None:
    """A pattern that introduces variables becomes a subquery."""
    for node in walk(refused.statement.body):
        if isinstance(node, ast.PatternExpression):
            names = {v.name for v in walk(node.pattern) if isinstance(v, ast.Variable)}
            if match[1] in names:
                written = refused.text[node.span.start : node.span.end]
                edit = Edit(node.span.start, node.span.end, f"EXISTS {{ {written} }}")
                reason = f"A pattern that introduces {match[1]} is written as EXISTS {{ }}."
                return Fix("pattern", (edit,), reason, refused.offset)
    return None


def _exists(refused: Refused, match: re.Match[str]) -> Fix | None:
    """`exists(n.name)` is `n.name IS NOT NULL`."""
    for node in walk(refused.statement.body):
        if isinstance(node, ast.FunctionCall) and node.name.lower() == "exists" and len(node.arguments) == 1:
            inner = node.arguments[0]
            written = f"{refused.text[inner.span.start : inner.span.end]} IS NOT NULL"
            written = f"({written})" if _wraps(refused, node) else written
            edit = Edit(node.span.start, node.span.end, written)
            return Fix("function", (edit,), "A property exists if it IS NOT NULL.", refused.offset)
    return None


def _sized_pattern(refused: Refused, match: re.Match[str]) -> Fix | None:
    """`size((a)-->())` is `COUNT { (a)-->() }`."""
    for node in walk(refused.statement.body):
        if isinstance(node, ast.FunctionCall) and node.name.lower() in ("size", "length", "count"):
            inner = node.arguments[0] if len(node.arguments) == 1 else None
            if isinstance(inner, ast.PatternExpression):
                written = refused.text[inner.span.start : inner.span.end]
                edit = Edit(node.span.start, node.span.end, f"COUNT {{ {written} }}")
                return Fix("function", (edit,), "Patterns are counted by COUNT { }.", refused.offset)
    return None


def _aggregated_condition(refused: Refused, match: re.Match[str]) -> Fix | None:
    """`MATCH ... WHERE count(x) > 2 RETURN ...`: counted in a WITH, by what is used after it."""
    found = refused.query()
    if found is None:
        return None
    query, number = found
    clause = query.clauses[number]
    if not isinstance(clause, ast.MatchClause | ast.WithClause) or clause.predicate is None:
        return None
    parts = list(_conjuncts(clause.predicate))
    moved = [part for part in parts if aggregates(part)]
    kept = [part for part in parts if not aggregates(part)]
    calls = [n for part in moved for n in walk(part) if is_aggregate(n)]
    used = {name for later in query.clauses[number + 1 :] for name in _variables(later)}
    visible = visible_before(query, number + 1)
    keys = sorted((used & visible) - {name for call in calls for name in _variables(call)})
    if not calls or not keys:
        return None
    text = refused.text
    taken = _variables(refused.statement.body)
    edits_text = [_written(part, text) for part in moved]
    columns = []
    for call in dict.fromkeys(text[c.span.start : c.span.end] for c in calls):
        alias = free_name("total", taken)
        taken.add(alias)
        columns.append(f"{call} AS {alias}")
        edits_text = [written.replace(call, alias) for written in edits_text]
    before = text.rfind("WHERE", 0, clause.predicate.span.start)
    before = before if before >= 0 else text.lower().rfind("where", 0, clause.predicate.span.start)
    stays = f"WHERE {' AND '.join(_written(part, text) for part in kept)} " if kept else ""
    new = f"{stays}WITH {', '.join([*map(quoted, keys), *columns])} WHERE {' AND '.join(edits_text)}"
    edit = Edit(before, clause.predicate.span.end, new)
    return Fix("condition", (edit,), "What is aggregated is compared in the WHERE of a WITH.", refused.offset)


_ENDING = re.compile(r"\b(ORDER\s+BY|SKIP|OFFSET|LIMIT)\b", re.I)
_PLACES = ("ORDER", "SKIP", "OFFSET", "LIMIT")


def _endings(refused: Refused) -> Fix | None:
    """`LIMIT 5 ORDER BY x`, `LIMIT 5 SKIP 2`: order first, then skip, then limit."""
    text = refused.text
    end = len(text.rstrip().rstrip(";").rstrip())
    starts = [m.start() for m in re.finditer(r"\bRETURN\b", text, re.I)]
    found = list(_ENDING.finditer(text, starts[-1] if starts else 0, end))
    words = [m[0].split()[0].upper() for m in found]
    right = sorted(words, key=_PLACES.index)
    if len(found) < 2 or words == right or len(set(words)) < len(words):
        return None
    bounds = [m.start() for m in found] + [end]
    parts = {word: text[bounds[i] : bounds[i + 1]].strip() for i, word in enumerate(words)}
    edit = Edit(bounds[0], end, " ".join(parts[word] for word in right))
    return Fix("syntax", (edit,), "ORDER BY comes before SKIP, and SKIP before LIMIT.", refused.offset)


def _misplaced_ending(refused: Refused, match: re.Match[str]) -> Fix | None:
    return _endings(refused)


def _ordered_aggregate(refused: Refused, match: re.Match[str]) -> Fix | None:
    """`RETURN x ORDER BY count(y)`: counted in a WITH, by the returned columns."""
    for clause in walk(refused.statement.body):
        if not isinstance(clause, ast.ReturnClause) or clause.projection.star:
            continue
        projection = clause.projection
        calls = [n for sort in projection.order for n in walk(sort.expression) if is_aggregate(n)]
        if not calls or any(aggregates(item.expression) for item in projection.items):
            continue
        text, taken = refused.text, _variables(refused.statement.body)
        tail = text[projection.items[-1].span.end : clause.span.end].rstrip()
        columns, names = [], []
        for item in projection.items:
            written = text[item.expression.span.start : item.expression.span.end]
            names.append(quoted(item.name))
            columns.append(written if written == names[-1] else f"{written} AS {names[-1]}")
            if item.alias is None and not isinstance(item.expression, ast.Variable):
                tail = tail.replace(written, names[-1])
        for call in dict.fromkeys(text[c.span.start : c.span.end] for c in calls):
            alias = free_name("total", taken)
            taken.add(alias)
            columns.append(f"{call} AS {alias}")
            tail = tail.replace(call, alias)
        first = projection.items[0].span.start
        edit = Edit(clause.span.start, first + len(text[first : clause.span.end].rstrip()), "")
        new = f"WITH {', '.join(columns)}{tail} RETURN {', '.join(names)}"
        return Fix("condition", (Edit(edit.start, edit.end, new),), "The sort key is computed first.", refused.offset)
    return None


def _no_list(refused: Refused, match: re.Match[str]) -> Fix | None:
    """`x IN 'a'`: a list of one."""
    for node in walk(refused.statement.body):
        if isinstance(node, ast.Binary) and node.operator == "IN" and isinstance(node.right, ast.Literal):
            span = node.right.span
            edits = (Edit(span.start, span.start, "["), Edit(span.end, span.end, "]"))
            return Fix("syntax", edits, "IN looks in a list.", refused.offset)
    return None


def _length_of_text(refused: Refused, match: re.Match[str]) -> Fix | None:
    """`length(n.name)`: paths have a length, texts and lists a size; patterns are counted."""
    for node in walk(refused.statement.body):
        if isinstance(node, ast.FunctionCall) and node.name.lower() == "length" and len(node.arguments) == 1:
            if isinstance(node.arguments[0], ast.PatternExpression):
                return _sized_pattern(refused, match)
            edit = Edit(node.name_span.start, node.name_span.end, "size")
            if isinstance(node.arguments[0], ast.Property | ast.FunctionCall | ast.ListLiteral):
                return Fix(
                    "function", (edit,), "Only paths have a length; texts and lists have a size.", refused.offset
                )
    return None


def _bars(refused: Refused, match: re.Match[str]) -> Fix | None:
    """`a > 1 || b < 2`: conditions are joined by OR; `||` joins texts."""
    for clause in walk(refused.statement.body):
        predicate = getattr(clause, "predicate", None)
        if predicate is None:
            continue
        edits = [
            Edit(node.operator_span.start, node.operator_span.end, "OR")
            for node in walk(predicate)
            if isinstance(node, ast.Binary) and node.operator == "||"
        ]
        if edits:
            return Fix("syntax", tuple(edits), "'||' joins texts; conditions are joined by OR.", refused.offset)
    return None


def _no_return(refused: Refused, match: re.Match[str]) -> Fix | None:
    """A query that ends before it returns anything: the columns of its last WITH, or all of its variables."""
    found = refused.query()
    if found is None:
        return None
    query, number = found
    clause = query.clauses[number]
    reason = "A query ends with RETURN."
    if isinstance(clause, ast.WithClause) and clause.predicate is None:
        start = clause.span.start
        return Fix("syntax", (Edit(start, start + len("WITH"), "RETURN"),), reason, refused.offset)
    if not visible_before(query, number + 1):
        return None
    return Fix("syntax", (Edit(clause.span.end, clause.span.end, " RETURN *"),), reason, refused.offset)


_RULES: tuple[tuple[re.Pattern[str], Rule, str], ...] = (
    (re.compile(r"exists\(variable\.property\)"), _exists, "syntax"),
    (re.compile(r"A pattern expression should only be used"), _sized_pattern, "syntax"),
    (re.compile(r"Invalid use of aggregating function"), _aggregated_condition, "scope"),
    (re.compile(r"RETURN can only be used at the end of the query"), _misplaced_ending, "syntax"),
    (re.compile(r"Query cannot conclude with (?:MATCH|WITH|CALL|UNWIND)"), _no_return, "syntax"),
    (re.compile(r"Cannot use aggregation in ORDER BY"), _ordered_aggregate, "scope"),
    (re.compile(r"expected List<T> but was (?!List)"), _no_list, "type"),
    (re.compile(r"expected Path but was"), _length_of_text, "type"),
    (re.compile(r"expected String or List<T> but was"), _bars, "type"),
    (re.compile(r"Variable `(.*?)` not defined"), _undefined, "undefined variable"),
    (re.compile(r"not possible to access variables declared before the WITH/RETURN: (\w*)"), _unseen, "scope"),
    (re.compile(r"Unknown function '(.*?)'"), _unknown_function, "unknown function"),
    (re.compile(r"Invalid use of DISTINCT with function '(.*?)'"), _unknown_function, "unknown function"),
    (re.compile(r"Multiple result columns with the same name"), _same_column, "columns"),
    (re.compile(r"Expression in WITH must be aliased"), _unaliased, "columns"),
    (re.compile(r"All sub queries in an UNION must have the same return column names"), _union_columns, "columns"),
    (re.compile(r"not allowed to introduce new variables: '(.*?)'"), _new_in_expression, "pattern"),
)
