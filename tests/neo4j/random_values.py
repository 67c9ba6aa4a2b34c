"""Random expressions over dates, durations, texts, lists and maps: what a typed generator of numbers does not reach."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.neo4j.random_expressions import Expressions, Scope

DATES = ("2024-02-29", "2023-12-31", "1999-01-01", "2024-03-01")
_UNITS = ("day", "month", "year", "week", "quarter", "decade")
_FIELDS = ("day", "month", "year", "week", "quarter", "dayOfWeek", "ordinalDay", "weekYear", "dayOfQuarter")
_SEPARATORS = ("'a'", "','", "''")
_PARTS = ("days", "months", "years", "daysOfWeek", "monthsOfYear", "seconds", "weeks")


def date(make: Expressions, scope: Scope, depth: int) -> str:
    """A date, often null."""
    c = make.choices
    simple = [f"date('{c.pick(DATES)}')"]
    if variable := make.variable(scope, "date"):
        simple.append(variable)
    if held := make.held(scope, "d"):
        simple.append(held)
    if depth <= 0 or c.chance(50):
        return simple[c.below(len(simple))]
    match c.below(5):
        case 0:
            sign = c.pick(("+", "-"))
            return f"({date(make, scope, depth - 1)} {sign} {duration(make, scope, depth - 1)})"
        case 1:
            return f"date.truncate('{c.pick(_UNITS)}', {date(make, scope, depth - 1)})"
        case 2:
            days = make.of("integer", scope, depth - 1)
            return f"(date('{c.pick(DATES)}') + duration({{days: {days}}}))"
        case 3:
            return f"coalesce({date(make, scope, depth - 1)}, {date(make, scope, 0)})"
        case _:
            # Not of null, which is an error: whether it is raised depends on what is filtered first.
            day = f"coalesce({date(make, scope, depth - 1)}, date('{c.pick(DATES)}'))"
            return f"date(datetime({{date: {day}, hour: {c.below(24)}}}))"


def duration(make: Expressions, scope: Scope, depth: int) -> str:
    """A duration."""
    c = make.choices
    simple = c.pick(("duration('P1D')", "duration('P1M')", "duration({days: -3})", "duration('P1Y2M10DT2.5S')"))
    if depth <= 0 or c.chance(40):
        return simple
    first, second = date(make, scope, depth - 1), date(make, scope, depth - 1)
    match c.below(4):
        case 0:
            return f"duration.between({first}, {second})"
        case 1:
            return f"duration.{c.pick(('inDays', 'inMonths', 'inSeconds'))}({first}, {second})"
        case 2:
            return f"({duration(make, scope, depth - 1)} * {c.pick((2, -1, 0, 3))})"
        case _:
            return f"({duration(make, scope, depth - 1)} {c.pick(('+', '-'))} {simple})"


def date_number(make: Expressions, scope: Scope, depth: int) -> str:
    """A part of a date or of the time between two."""
    c = make.choices
    if c.chance(60):
        return f"{date(make, scope, depth)}.{c.pick(_FIELDS)}"
    return f"{duration(make, scope, depth)}.{c.pick(_PARTS)}"


def text(make: Expressions, scope: Scope, depth: int) -> str:
    """A text made of others."""
    c = make.choices
    one, other = make.of("string", scope, depth), make.of("string", scope, depth)
    count = c.pick((0, 1, 2, 3))
    match c.below(13):
        case 0:
            return f"left({one}, {count})"
        case 1:
            return f"right({one}, {count})"
        case 2:
            return f"reverse({one})"
        case 3:
            return f"toLower({one})"
        case 4:
            return f"{c.pick(('ltrim', 'rtrim', 'btrim', 'trim'))}({one})"
        case 5:
            return f"split({one}, {c.pick((other, *_SEPARATORS))})[{c.pick((0, 1, -1))}]"
        case 6:
            return f"toString({date(make, scope, depth)})"
        case 7:
            return f"toString({make.of(c.pick(('number', 'boolean')), scope, depth)})"
        case 8:
            return f"toString({duration(make, scope, depth)})"
        case 9:
            return f"substring({one}, {count}, {c.pick((0, 1, 2))})"
        case 10:
            return f"apoc.text.join([{one}, {other}], '{c.pick(('-', ''))}')"
        case 11:
            return f"apoc.text.{c.pick(('clean', 'decapitalize', 'swapCase'))}({one})"
        case _:
            return f"({one} || {other})"


def fixed_list(make: Expressions, scope: Scope, depth: int) -> str:
    """A list of integers in an order of its own."""
    c = make.choices
    items = make.of("list", scope, depth)
    match c.below(9):
        case 0:
            return f"reverse({items})"
        case 1:
            return f"({items} + {make.of('integer', scope, depth)})"
        case 2:
            return f"apoc.coll.{c.pick(('sort', 'toSet'))}({items})"
        case 3:
            path, item = make.variable(scope, "path"), scope.fresh("i")
            return f"[{item} IN {c.pick(('nodes', 'relationships'))}({path}) | {item}.id]" if path else items
        case 4:
            nodes, item = make.variable(scope, "nodes"), scope.fresh("i")
            return f"[{item} IN {nodes} | {item}.x]" if nodes else items
        case 5:
            bound, other = make.variable(scope, "node"), scope.fresh("p")
            if bound is None:
                return items
            order = c.pick((f"{other}.id", f"{other}.id DESC"))
            cut = c.pick(("", " LIMIT 2", " SKIP 1"))
            match = f"MATCH ({bound}){make.arrow()}({other}) WITH DISTINCT {other} ORDER BY {order}{cut}"
            return f"COLLECT {{ {match} RETURN {other}.id ORDER BY {order} }}"
        case 6:
            return f"apoc.coll.{c.pick(('union', 'subtract', 'intersection'))}({items}, [1, 2])"
        case 7:
            return f"toIntegerList({items})"
        case _:
            item, other = scope.fresh("i"), scope.fresh("i")
            return f"reduce({other} = [], {item} IN {items} | {other} + [{item}, size({other})])"


def map_value(make: Expressions, scope: Scope, depth: int) -> str:
    """A map."""
    c = make.choices
    bound = make.variable(scope, "node", "relationship")
    inner = make.of("any", scope, depth)
    if bound is None:
        return f"apoc.map.merge({{a: {inner}}}, {{b: {make.of('integer', scope, depth)}}})"
    match c.below(5):
        case 0:
            return f"properties({bound})"
        case 1:
            return f"{bound} {{ .nope, .x, z: {inner} }}"
        case 2:
            return f"apoc.map.merge(properties({bound}), {{x: {inner}}})"
        case 3:
            return f"apoc.map.removeKey(properties({bound}), 'x')"
        case _:
            return f"{{d: {date(make, scope, depth)}, e: [{inner}, {bound}.x], f: {{g: {inner}}}}}"
