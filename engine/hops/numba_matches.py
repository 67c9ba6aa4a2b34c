"""Compiled loops that count the matches of a pattern: a depth-first search through its steps that holds one partial
match at a time. If the last step only has to avoid a few nodes or relationships, it is not taken: all neighbours count,
less those.

The entries of a hop are stored once per version of the graph (`numba_relations.py`). Inner loops often ask which
relationships connect the same node with many others: its neighbours are then marked, and each answer is one look at a
mark. A new node that must be next to two bound ones is searched for from the one with far fewer relationships.

    levels  int64[levels, 10]   steps that bind a relationship, in order
    checks  int64[checks, 6]    what is asked after each level
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import chain, count
from typing import NamedTuple, TypeVar

import numpy as np

from hoplite.engine.hops import numpy_matches
from hoplite.engine.hops.compiled import Int32s, Ints, Table, half_word_at, kernel, unfolded
from hoplite.engine.hops.interface import Check, Hop, Positions
from hoplite.engine.hops.numba_arrays import as_compiled
from hoplite.engine.hops.numba_relations import Relation, from_far_end, is_worth_writing, note_work, relation_of
from hoplite.engine.hops.pattern import Compare, Differ, EndCounts, Follow, Given, Look, Pattern
from hoplite.engine.hops.threads import Worker, share, thread_count
from hoplite.engine.memory import has_room

_WORK = 1 << 22  # entries looked at between two calls of a check
_ALONE = 1 << 17  # entries looked at before other threads are asked to help
_PIECES = 8  # for each thread: some rows are much more work than others
_FIRST_ROWS = 256  # counted before checking again whether relations pay; then four times as many
_FIRST_ROWS_BY_END = 16
_PAIRS = 1 << 20  # of rows and ends, for as many rows as are counted at once
_PAIRS_AT_ONCE = 1 << 16  # room for them in a thread, besides the ends of one row
_MOST_MARKS = 1 << 25  # marks of all looks together
_MOST_WAYS = 1 << 30  # weights that multiply to more than this could overflow their sums

# Columns of levels: what is done, with which registers and arrays; `PARTNER`: the next level closes a cycle here.
_INTO, _SOURCE, _RELATION, _TARGET, _RELATIONSHIP, _WEIGHT, _FIRST, _LAST, _MARKS, _PARTNER = range(10)
# Columns of checks; of the two relationships of _OTHER, the second one is between the nodes of the last two registers.
_KIND, _LEFT, _RIGHT, _ACROSS, _CHECK_MARKS = range(5)
_SAME, _DIFFERENT, _OTHER, _THERE, _MISSING = range(5)
# Columns of marks: whose neighbours are marked, with which stamp (0: not yet), how often that was asked for.
_OWNER, _STAMP, _ASKED = range(3)
# Columns of relations: the addresses of their arrays.
_BEGINS, _NEIGHBOURS, _RELATIONSHIPS = range(3)
_MOST_RELATIONS = 64
_FAR_FEWER = 8  # with this many times fewer relationships, it pays to begin at the other node
_FEWEST_ASKED, _MARK_AT = 4, 8  # a node's neighbours are marked after some look-ups, plus one for this many neighbours


class Program(NamedTuple):
    """What to do, over `loads`, the registers that a row binds; `sizes` has the number of nodes, the number of checks
    before the first level, whether the last level is summed, and the register of the end that matches are counted for
    (-1: none)."""

    levels: Table
    checks: Table
    loads: Ints
    relations: Table
    weights: Table
    sizes: Ints


class Ends(NamedTuple):
    """Matches by row and end: for each node the matches of the row under way, then the pairs found so far. Of these,
    `filled` has the number that belongs to finished rows, and the number of all."""

    ways: Ints
    rows: Ints
    nodes: Ints
    counts: Ints
    filled: Ints


class State(NamedTuple):
    """Where the search is: the level (-1: at the next row), the registers, and for each level the remaining entries,
    the ways so far, and whether it has changed places with its partner. For each node, `sums` has one more than the
    total weight that the last level leads to from it, once that is known."""

    level: Ints
    registers: Ints
    at: Ints
    ends: Ints
    ways: Ints
    turned: Ints
    marks: Table
    stamps: Int32s
    places: Int32s
    sums: Ints
    by_end: Ends


class _WorthWriting(Exception):
    """So many partial matches were followed that relations would have been faster."""


def _work_noter(pattern: Pattern, may_stop: bool) -> Callable[[int], None]:
    """A function that records work done without relations; with `may_stop` it ends that work if relations pay."""
    every = {id(one): one for hop in pattern.hops for one in (hop, from_far_end(hop))}.values()

    def note(amount: int) -> None:
        for hop in every:
            note_work(hop, amount)
        if may_stop and all(map(is_worth_writing, every)):
            raise _WorthWriting

    return note


def count_matches(pattern: Pattern, given: Given, row_count: int, check: Check) -> Positions:
    """The weighted number of matches from each row."""

    def compiled(rest: Given, size: int) -> Positions | None:
        made = _program(pattern, rest, check)
        return None if made is None else _count_compiled(pattern, made, rest, size, check)

    def plain(rest: Given, size: int, note: Callable[[int], None]) -> Positions:
        return numpy_matches.count_matches(pattern, rest, size, check, note)

    return np.concatenate(
        [
            np.zeros(0, np.int64),
            *(counts for _, counts in _compiled_if_worth_it(pattern, given, row_count, compiled, plain)),
        ]
    )


def count_matches_by_end(pattern: Pattern, given: Given, row_count: int, check: Check) -> Iterator[EndCounts]:
    """The same for each row and node at the end of the pattern."""

    def compiled(rest: Given, size: int) -> Iterator[EndCounts] | None:
        made = _program(pattern, rest, check)
        return None if made is None else _ends_compiled(pattern, made, rest, size, check)

    def plain(rest: Given, size: int, note: Callable[[int], None]) -> Iterator[EndCounts]:
        return iter(list(numpy_matches.count_matches_by_end(pattern, rest, size, check, note)))

    for begin, found in _compiled_if_worth_it(pattern, given, row_count, compiled, plain):
        yield from (counts.moved(begin) for counts in found)


_T = TypeVar("_T")


def _compiled_if_worth_it(
    pattern: Pattern,
    given: Given,
    row_count: int,
    compiled: Callable[[Given, int], _T | None],
    plain: Callable[[Given, int, Callable[[int], None]], _T],
) -> Iterator[tuple[int, _T]]:
    """What is found from some rows, by compiled loops from where they pay, and the number of the first of the rows."""
    begin, size, may_stop = 0, _FIRST_ROWS, True
    while begin < row_count:
        rest = {number: values[begin:] for number, values in given.items()}
        found = compiled(rest, row_count - begin)
        if found is not None:
            yield begin, found
            return
        piece = {number: values[:size] for number, values in rest.items()}
        try:
            yield begin, plain(piece, min(size, row_count - begin), _work_noter(pattern, may_stop))
            begin, size = begin + size, size * 4
        except _WorthWriting:
            may_stop = False  # there may be other reasons against compiled loops


def _count_compiled(pattern: Pattern, made: _Made, given: Given, row_count: int, check: Check) -> Positions:
    """The matches from each row in compiled loops."""
    program = made.program
    states = _states(pattern, program, made.marks)
    rows = np.stack([as_compiled(given[number]) for number in program.loads.tolist()])
    totals = np.zeros(row_count, np.int64)
    state = next(states)
    check()
    # If rows of this pattern were shared before, there is enough work.
    row = search(program, state, rows, totals, 0, 1 if "is shared" in pattern.prepared else _ALONE)
    while row < row_count and state.level[0] >= 0:  # the row under way
        check()
        row = search(program, state, rows, totals[: row + 1], row, _WORK)
    pieces = np.linspace(row, row_count, min(row_count - row, _PIECES * thread_count()) + 1).astype(np.int64).tolist()

    def new_worker() -> Worker:
        own = next(states)

        def work(number: int, check: Check) -> None:
            row, end = pieces[number : number + 2]
            while row < end:
                row = search(program, own, rows, totals[:end], row, _WORK)
                check()

        return work

    if row < row_count:
        pattern.prepared["is shared"] = True
        states = chain((state,), states)
        share(len(pieces) - 1, new_worker, check)
    return totals


def _ends_compiled(pattern: Pattern, made: _Made, given: Given, row_count: int, check: Check) -> Iterator[EndCounts]:
    """The matches from each row to each end in compiled loops: a few rows at first, then as many as have about
    `_PAIRS` ends."""
    program = made.program
    rows = np.stack([as_compiled(given[number]) for number in program.loads.tolist()])
    totals = np.zeros(row_count, np.int64)
    begin, size = 0, _FIRST_ROWS_BY_END
    while begin < row_count:
        last = min(begin + size, row_count)
        pieces = np.linspace(begin, last, min(last - begin, _PIECES * thread_count()) + 1).astype(np.int64).tolist()
        found: list[list[EndCounts]] = [[] for _ in pieces]
        free = _states(pattern, program, made.marks)

        def new_worker(
            pieces: list[int] = pieces, found: list[list[EndCounts]] = found, free: Iterator[State] = free
        ) -> Worker:
            state = next(free)

            def work(number: int, check: Check) -> None:
                row, end = pieces[number : number + 2]
                while row < end:
                    row = search(program, state, rows, totals[:end], row, _WORK)
                    if state.level[0] < 0:
                        found[number].append(_taken(state.by_end))
                    check()

            return work

        share(len(pieces) - 1, new_worker, check)
        counts = EndCounts.joined(list(chain.from_iterable(found)))
        yield counts
        size = max(min(size * 4, _PAIRS * size // max(len(counts.rows), 1)), 1)
        begin = last


def _taken(ends: Ends) -> EndCounts:
    """What was found so far, which makes room for more."""
    count = int(ends.filled[0])
    ends.filled[:] = 0
    return EndCounts(ends.rows[:count].copy(), ends.nodes[:count].copy(), ends.counts[:count].copy())


def _states(pattern: Pattern, program: Program, marks: int) -> Iterator[State]:
    """A state for each thread, at no row. They are kept with the pattern, because marks and sums hold for all its
    rows."""
    kept = pattern.prepared.setdefault("states", [])
    assert isinstance(kept, list)
    depth, nodes = len(program.levels), int(program.sizes[0])
    for number in count():
        if number == len(kept):
            at, ends, ways, turned_at = np.zeros((4, depth + 1), np.int64)
            known = np.tile(np.array((-1, 0, 0), np.int64), (max(marks, 1), 1))
            sums = kept[0].sums if number else np.zeros(nodes, np.int64)  # shared: each is written once, as a whole
            kept.append(
                State(
                    np.full(1, -1, np.int64), np.full(pattern.register_count, -1, np.int64), at, ends, ways, turned_at,
                    known, np.zeros(marks * nodes, np.int32), np.empty(marks * nodes, np.int32), sums,
                    _no_ends(nodes if pattern.end >= 0 else 0),
                )
            )  # fmt: skip
        kept[number].level[0] = -1
        yield kept[number]


def _no_ends(nodes: int) -> Ends:
    """Room for the ends of a row, and of others before it."""
    room = nodes + _PAIRS_AT_ONCE if nodes else 0
    rows, ends, counts = (np.empty(room, np.int64) for _ in range(3))
    return Ends(np.zeros(nodes, np.int64), rows, ends, counts, np.zeros(2, np.int64))


class _Made(NamedTuple):
    """A pattern as numbers, the arrays whose addresses are among them, and how many sets of marks it needs."""

    program: Program
    held: list[Relation]
    marks: int


def _program(pattern: Pattern, given: Given, check: Check) -> _Made | None:
    """The pattern as numbers; None if compiled loops cannot do it, or if they would not pay."""
    writer = _Writer(pattern, given, check)
    largest = 1
    for weights in pattern.weights:
        largest *= max(int(weights.max(initial=0)), 1)
    if largest > _MOST_WAYS or not all(writer.add(step) for step in pattern.steps):
        return None
    nodes = writer.node_count
    if not 0 < len(writer.relations) <= _MOST_RELATIONS or writer.marks * nodes > _MOST_MARKS:
        return None
    held = 8 * nodes * (writer.marks * thread_count() + 1)
    if pattern.end >= 0:
        held += 8 * thread_count() * (4 * nodes + 3 * _PAIRS_AT_ONCE)
    if "states" not in pattern.prepared and not has_room(held):
        return None
    relations = [relation for _, relation in writer.relations]
    program = Program(
        np.array(writer.levels, np.int64),
        np.array(writer.checks or [[0] * 5], np.int64),
        np.array(sorted(given), np.int64),
        np.array([[array.ctypes.data for array in relation] for relation in relations], np.int64),
        pattern.weights,
        np.array((nodes, writer.row_checks, pattern.summed_step is not None, pattern.end), np.int64),
    )
    return _Made(program, relations, writer.marks)


class _Writer:
    """Encodes the steps of a pattern as numbers."""

    def __init__(self, pattern: Pattern, given: Given, check: Check) -> None:
        self._check_time = check
        self.levels: list[list[int]] = []
        self.checks: list[list[int]] = []
        self.relations: list[tuple[Hop, Relation]] = []
        self.marks = 0
        self.row_checks = 0  # checks before the first level
        self.node_count = 0
        self._weights = pattern.weighted
        self._bound = dict.fromkeys(given, -1)  # the level each register is bound at
        self._ends = pattern.relationship_ends

    def add(self, step: Follow | Compare | Look | Differ) -> bool:
        """Encode a step; False if the loops cannot do it."""
        match step:
            case Follow(hop=hop, source=source, target=target, into=into):
                if into and self._is_later(source, target):
                    return hop.can_turn and self._follow(from_far_end(hop), target, source, step.relationship, True)
                return self._follow(hop, source, target, step.relationship, into)
            case Look(hop=hop, source=source, target=target, there=there):
                if self._is_later(source, target):
                    if not hop.can_turn:
                        return False
                    hop, source, target = from_far_end(hop), target, source
                relation = self._relation(hop)
                self._check(_THERE if there else _MISSING, source, target, relation, self.marks)
                self.marks += 1
                return relation >= 0
            case Compare(left=left, right=right, same=same):
                if self._is_later(right, left):
                    left, right = right, left
                self._check(_SAME if same else _DIFFERENT, left, right)
            case Differ(left=left, right=right):
                self._check(_OTHER, left, right, *self._ends.get(right, (-1, -1)))
        return True

    def _is_later(self, one: int, other: int) -> bool:
        """Whether a node is bound in an inner loop of another's: the look-up is among the outer one's entries."""
        return self._bound[one] > self._bound[other]

    def _relation(self, hop: Hop) -> int:
        """The number of a relation; -1 if it is not available."""
        for number, (known, _) in enumerate(self.relations):
            if known is hop:
                return number
        relation = relation_of(hop, self._check_time)
        if relation is None:
            return -1
        self.node_count = hop.node_count
        self.relations.append((hop, relation))
        return len(self.relations) - 1

    def _follow(self, hop: Hop, source: int, target: int, relationship: int, into: bool) -> bool:
        relation = self._relation(hop)
        if relation < 0:
            return False
        level = len(self.levels)
        weight = -1 if into else self._weights.get(target, -1)
        end = len(self.checks)
        self.levels.append([int(into), source, relation, target, relationship, weight, end, end, self.marks, 0])
        if into:
            self.marks += 1
            # The node just found must be next to this one too.
            before = self.levels[level - 1] if level else None
            if before and not before[_INTO] and before[_TARGET] == target:
                before[_PARTNER] = int(self._bound[source] < level - 1)
        else:
            self._bound[target] = level
        if relationship >= 0:
            self._bound[relationship] = level
        return True

    def _check(self, kind: int, left: int, right: int, relation: int = -1, marks: int = 0) -> None:
        self.checks.append([kind, left, right, relation, marks])
        if self.levels:
            self.levels[-1][_LAST] = len(self.checks)
        else:
            self.row_checks = len(self.checks)


@unfolded
def _between(program: Program, state: State, across: int, source: int, target: int, marks: int) -> tuple[int, int]:
    """The entries of one node that lead to another; without marks if `marks` is -1."""
    if source < 0 or target < 0:
        return 0, 0
    begins, neighbours = program.relations[across, _BEGINS], program.relations[across, _NEIGHBOURS]
    begin, end = half_word_at(begins, source), half_word_at(begins, source + 1)
    if begin == end:
        return 0, 0
    first = begin
    if marks >= 0:
        known = state.marks
        if known[marks, _OWNER] != source:
            known[marks, _OWNER] = source
            known[marks, _ASKED] = 1
        elif known[marks, _ASKED] > 0:
            known[marks, _ASKED] += 1
        asked = known[marks, _ASKED]
        base = marks * program.sizes[0]
        if asked >= _FEWEST_ASKED and asked * _MARK_AT >= end - begin:
            known[marks, _STAMP] += 1
            known[marks, _ASKED] = asked = 0
            stamp = known[marks, _STAMP]
            for entry in range(end - 1, begin - 1, -1):
                place = base + half_word_at(neighbours, entry)
                state.stamps[place] = stamp
                state.places[place] = entry
        if asked == 0:
            place = base + target
            if state.stamps[place] != known[marks, _STAMP]:
                return 0, 0
            first = int(state.places[place])
            last = first + 1
            while last < end and half_word_at(neighbours, last) == target:
                last += 1
            return first, last
    high = end
    while first < high:
        middle = (first + high) >> 1
        if half_word_at(neighbours, middle) < target:
            first = middle + 1
        else:
            high = middle
    last = first
    while last < end and half_word_at(neighbours, last) == target:
        last += 1
    return first, last


@unfolded
def _holds(program: Program, state: State, first: int, last: int) -> bool:
    """Whether the checks from `first` on hold."""
    registers = state.registers
    for number in range(first, last):
        kind = program.checks[number, _KIND]
        left, right = registers[program.checks[number, _LEFT]], registers[program.checks[number, _RIGHT]]
        if kind == _OTHER:
            if left == right:
                return False
        elif kind == _DIFFERENT:
            if left == right or left < 0 or right < 0:
                return False
        elif kind == _SAME:
            if left != right or left < 0:
                return False
        else:
            across, marks = program.checks[number, _ACROSS], program.checks[number, _CHECK_MARKS]
            found, end = _between(program, state, across, left, right, marks)
            if (found < end) != (kind == _THERE):
                return False
    return True


@unfolded
def _enter(program: Program, state: State, level: int) -> None:
    """Set the entries that a level goes through."""
    levels, registers = program.levels, state.registers
    source = registers[levels[level, _SOURCE]]
    across = levels[level, _RELATION]
    if levels[level, _INTO] == 0:
        state.turned[level] = 0
        if source < 0:
            state.at[level] = state.ends[level] = 0
            return
        begins = program.relations[across, _BEGINS]
        begin, end = half_word_at(begins, source), half_word_at(begins, source + 1)
        if levels[level, _PARTNER] == 1 and end > begin:
            other = registers[levels[level + 1, _SOURCE]]
            if other < 0:
                end = begin
            else:
                closing = program.relations[levels[level + 1, _RELATION], _BEGINS]
                first, last = half_word_at(closing, other), half_word_at(closing, other + 1)
                if (last - first) * _FAR_FEWER < end - begin:
                    state.turned[level] = 1
                    begin, end = first, last
        state.at[level], state.ends[level] = begin, end
        return
    target = registers[levels[level, _TARGET]]
    marks = levels[level, _MARKS]
    if level > 0 and levels[level - 1, _PARTNER] == 1 and state.turned[level - 1] == 1:
        source = registers[levels[level - 1, _SOURCE]]
        across = levels[level - 1, _RELATION]
        marks = -1
    begin, end = _between(program, state, across, source, target, marks)
    state.at[level], state.ends[level] = begin, end


@unfolded
def _summed(program: Program, state: State, source: int) -> int:
    """The total weight of everything the last level leads to from a node, less what its checks forbid."""
    if source < 0:
        return 0
    level = len(program.levels) - 1
    weight, registers = program.levels[level, _WEIGHT], state.registers
    across = program.levels[level, _RELATION]
    begins, neighbours = program.relations[across, _BEGINS], program.relations[across, _NEIGHBOURS]
    begin, end = half_word_at(begins, source), half_word_at(begins, source + 1)
    found = end - begin
    if found == 0:
        return 0
    if weight >= 0:
        if state.sums[source] == 0:
            added = 1
            for entry in range(begin, end):
                added += program.weights[weight, half_word_at(neighbours, entry)]
            state.sums[source] = added
        found = state.sums[source] - 1
    relationships = program.relations[across, _RELATIONSHIPS]
    first, last = program.levels[level, _FIRST], program.levels[level, _LAST]
    for number in range(first, last):
        forbidden = registers[program.checks[number, _RIGHT]]
        other, is_relationship = forbidden, program.checks[number, _KIND] == _OTHER
        if is_relationship:
            one, two = registers[program.checks[number, _ACROSS]], registers[program.checks[number, _CHECK_MARKS]]
            if source == one:
                other = two
            elif source == two:
                other = one
            else:
                continue
        elif forbidden < 0:
            return 0
        is_known = False  # whether it is already forbidden
        for before in range(first, last):
            if before != number and (before < number or is_relationship):
                value = registers[program.checks[before, _RIGHT]]
                if program.checks[before, _KIND] == _DIFFERENT:
                    is_known = is_known or value == other
                else:
                    is_known = is_known or (before < number and is_relationship and value == forbidden)
        if is_known:
            continue
        low, high = _between(program, state, across, source, other, -1)
        of_node = 1 if weight < 0 else program.weights[weight, other]
        for entry in range(low, high):
            if not is_relationship or half_word_at(relationships, entry) == forbidden:
                found -= of_node
    return found


@unfolded
def _begun(program: Program, state: State, rows: Table, row: int) -> bool:
    """Load a row's bindings into the registers; returns whether they pass the checks on them alone."""
    for number in range(len(program.loads)):
        state.registers[program.loads[number]] = rows[number, row]
    state.ways[0] = 1
    return _holds(program, state, 0, program.sizes[1])


@unfolded
def _own(levels: Table, state: State, level: int) -> tuple[int, int, int]:
    """The level whose relationship is followed at a level, and the checks after it: a level and its partner may have
    changed places, and then both relationships are bound only after the second."""
    first, last = levels[level, _FIRST], levels[level, _LAST]
    if levels[level, _PARTNER] == 1 and state.turned[level] == 1:
        return level + 1, first, first
    if level > 0 and levels[level - 1, _PARTNER] == 1 and state.turned[level - 1] == 1:
        return level - 1, levels[level - 1, _FIRST], last
    return level, first, last


@unfolded
def _add_end(ends: Ends, node: int, ways: int) -> None:
    """Matches that lead from the row under way to a node."""
    if ends.ways[node] == 0:
        ends.nodes[ends.filled[1]] = node
        ends.filled[1] += 1
    ends.ways[node] += ways


@unfolded
def _has_room(program: Program, state: State) -> bool:
    """Whether all ends of one more row could be written down."""
    if program.sizes[3] < 0:
        return True
    return bool(state.by_end.filled[1] + program.sizes[0] <= len(state.by_end.nodes))


@unfolded
def _finish_row(ends: Ends, row: int) -> None:
    """Write down what was found from a row."""
    for number in range(ends.filled[0], ends.filled[1]):
        node = ends.nodes[number]
        ends.rows[number] = row
        ends.counts[number] = ends.ways[node]
        ends.ways[node] = 0
    ends.filled[0] = ends.filled[1]


@kernel
def search(program: Program, state: State, rows: Table, totals: Ints, row: int, work: int) -> int:
    """Resume from the state, at this row, until `work` entries were looked at, no row is left, or there may be no room
    for its ends; returns the next or unfinished row."""
    levels, registers = program.levels, state.registers
    wanted = program.sizes[3]
    level, last_level = state.level[0], len(levels) - 1
    done, entering = 0, False
    while done < work or entering:
        if level < 0:
            if row == len(totals) or not _has_room(program, state):
                break
            done += 1
            if not _begun(program, state, rows, row):
                row += 1
                continue
            level, entering = 0, True
        if entering:
            entering = False
            _enter(program, state, level)
        own, first, last = _own(levels, state, level)
        across = levels[own, _RELATION]
        neighbours, relationships = program.relations[across, _NEIGHBOURS], program.relations[across, _RELATIONSHIPS]
        into, target = levels[level, _INTO] == 1, levels[level, _TARGET]
        relationship, weight = levels[own, _RELATIONSHIP], levels[level, _WEIGHT]
        begin, end = state.at[level], state.ends[level]
        if into and relationship < 0 and begin < end:
            # It makes no difference which of several parallel relationships it is.
            state.ways[level] *= end - begin
            end = begin + 1
        ways, found = state.ways[level], 0
        if level == last_level and program.sizes[2] == 1:
            found = _summed(program, state, registers[levels[level, _SOURCE]])
            begin, done = end, done + 1
        for entry in range(begin, end):
            if not into:
                registers[target] = half_word_at(neighbours, entry)
            if relationship >= 0:
                registers[relationship] = half_word_at(relationships, entry)
            of_node = 1 if weight < 0 else program.weights[weight, registers[target]]
            if of_node == 0 or (first < last and not _holds(program, state, first, last)):
                continue
            if level == last_level:
                found += of_node
                if target == wanted:
                    _add_end(state.by_end, registers[target], of_node * ways)
                continue
            done += entry + 1 - begin
            state.at[level], state.ends[level] = entry + 1, end
            level += 1
            state.ways[level] = ways * of_node
            entering = True
            break
        if not entering:
            done += end - begin
            totals[row] += found * ways
            if wanted >= 0 and found > 0 and target != wanted:
                _add_end(state.by_end, registers[wanted], found * ways)
            level -= 1
            if level < 0:
                _finish_row(state.by_end, row)
                row += 1
    state.level[0] = level
    return row
