"""Logical plans: operators under the names that Neo4j's EXPLAIN prints, as data.

A plan is a tree of frozen nodes. Every operator but `Argument` has a `source` whose rows it extends, filters or
replaces; a scan pairs each row of its source with each node it finds. The `Argument` at the bottom stands for the
rows a plan is run over: a single empty row for a whole query, the rows of the left side for the right side of an
`Apply`.
"""

from __future__ import annotations

from typing import Literal, TypeAlias

from hoplite.grammar.hidden import HIDDEN
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.parts import (
    AggregateCall,
    Branch,
    ChainHop,
    Creation,
    Group,
    IndexCondition,
    MatchHop,
    MatchStep,
    Presence,
    SingleAssignment,
    SortKey,
    Step,
    Term,
    Traversal,
)

ROW = HIDDEN + "row"  # the column that numbers the rows of an argument; no query can use this name
ChainEnd: TypeAlias = Literal["start", "end"]


@dataclass(frozen=True, slots=True, eq=False)
class Argument:
    """The rows the plan is run over, with these variables."""

    variables: tuple[str, ...] = ()


# --- finding nodes and relationships ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class AllNodesScan:
    """Every node. `stopped_early` as in `Expand`."""

    source: Plan
    node: str
    stopped_early: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class NodeByLabelScan:
    """Every node with a label. `stopped_early` as in `Expand`."""

    source: Plan
    node: str
    label: str
    stopped_early: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class NodeIndexSeek:
    """Nodes with a label and a property equal to a value, or to one of a list of values."""

    source: Plan
    node: str
    label: str
    key: str
    value: Term
    many: bool
    unique: bool
    index: str = "RANGE"


@dataclass(frozen=True, slots=True, eq=False)
class NodeIndexSearch:
    """Nodes with a label and a property that meets a condition: one, or a lower and an upper bound."""

    source: Plan
    node: str
    label: str
    key: str
    conditions: tuple[IndexCondition, ...]
    index: str = "RANGE"


@dataclass(frozen=True, slots=True, eq=False)
class NodeByIdSeek:
    """Nodes by `id(n) = value`, or by `elementId(n) = value` where `by_element_id`; from a list if `many`."""

    source: Plan
    node: str
    value: Term
    many: bool
    by_element_id: bool


@dataclass(frozen=True, slots=True, eq=False)
class RelationshipTypeScan:
    """Every relationship of some types (None: of any) with its ends; both ways round where undirected."""

    source: Plan
    relationship: str
    start: str
    end: str
    types: tuple[str, ...] | None
    directed: bool


@dataclass(frozen=True, slots=True, eq=False)
class RelationshipIndexSeek:
    """Relationships of a type with a property equal to a value, or to one of a list, with their ends."""

    source: Plan
    relationship: str
    start: str
    end: str
    type: str
    key: str
    value: Term
    many: bool
    directed: bool
    index: str = "RANGE"


@dataclass(frozen=True, slots=True, eq=False)
class RelationshipByIdSeek:
    """Relationships by `id(r) = value`, or by `elementId(r) = value` where `by_element_id`, with their ends; from a
    list if `many`, and only those of some types (None: of any)."""

    source: Plan
    relationship: str
    start: str
    end: str
    types: tuple[str, ...] | None
    value: Term
    many: bool
    by_element_id: bool
    directed: bool


@dataclass(frozen=True, slots=True, eq=False)
class Expand:
    """Follow one relationship from a bound node: to a new node, or `into` one that is bound too.

    `keep`: the columns used above, or None for all. `stopped_early`: there is a LIMIT above.
    """

    source: Plan
    from_node: str
    relationship: str
    to_node: str
    traversal: Traversal
    into: bool = False
    keep: frozenset[str] | None = None
    stopped_early: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class GuidedExpand:
    """Follow a chain of relationships from a bound node to few ends: nodes that do not lead there may be left out.

    The last hop may lead into a bound node. Otherwise `end_predicates` are what a filter above asks of its node, and
    `ends` finds nodes that may satisfy them, if an index does. `keep` and `stopped_early` as in `Expand`.
    """

    source: Plan
    steps: tuple[MatchHop, ...]
    end_predicates: tuple[Term, ...]
    ends: Plan | None
    keep: frozenset[str] | None
    stopped_early: bool


@dataclass(frozen=True, slots=True, eq=False)
class DistinctExpand:
    """Follow a chain of relationships from a bound node, and bind only its distinct ends.

    `keep` as in `Expand`; `merged`: one frontier for all rows, whose columns are not used above; `reason`: what allowed
    it.
    """

    source: Plan
    from_node: str
    to_node: str
    hops: tuple[ChainHop, ...]
    keep: frozenset[str]
    merged: bool
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class CountWalks:
    """Count the ways along a chain of relationships, no two of which can be the same: a row for each distinct end with
    the number of ways from all rows to it, and no other columns.
    """

    source: Plan
    from_node: str
    hops: tuple[ChainHop, ...]
    to_node: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class CountBranches:
    """Count the ways to follow all branches from the nodes of a row, where no two of their relationships can be the
    same. Rows without any are dropped. `present`: variables that are counted where they are not null. `keep` as in
    `Expand`.
    """

    source: Plan
    branches: tuple[Branch, ...]
    name: str
    present: tuple[Presence, ...] = ()
    keep: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class CountMatches:
    """Count the ways to take all steps from the nodes of a row, and then all branches. Rows without any are dropped.
    With an `end`, which is a node that a step leads to, there is a row for each of its nodes. `keep` as in `Expand`.
    """

    source: Plan
    steps: tuple[MatchStep, ...]
    branches: tuple[Branch, ...]
    name: str
    end: str | None = None
    keep: frozenset[str] | None = None


@dataclass(frozen=True, slots=True, eq=False)
class GetDegree:
    """Count the trails of `lower` to `upper` relationships from a bound node to nodes with all of the labels.

    The number goes into a column; rows without any are dropped. `distinct_from` are relationship variables of the same
    MATCH that no trail may use; `keep` as in `Expand`.
    """

    source: Plan
    from_node: str
    name: str
    traversal: Traversal
    labels: tuple[str, ...]
    distinct_from: tuple[str, ...]
    keep: frozenset[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class VarLengthExpand:
    """Follow `lower` to `upper` relationships, no relationship twice.

    Enumerates trails or, if `pruning`, only finds their ends; `reason` says which rule allowed that, or what prevented
    it. `left_group` and `right_group` name the lists of nodes before and after each relationship (of a quantified
    pattern). `distinct_from` are relationship variables of the same MATCH that the trail may not use again.
    `end_predicates` filter the ends further up, so trails to other ends may be left out.
    """

    source: Plan
    from_node: str
    relationship: str | None
    to_node: str
    traversal: Traversal
    into: bool = False
    step: Step | None = None
    left_group: str | None = None
    right_group: str | None = None
    turned: bool = False  # walked from the end of the pattern, so lists are reversed
    distinct_from: tuple[str, ...] = ()
    pruning: bool = False
    merged: bool = False  # one frontier for all rows, whose columns are not used above
    reason: str = ""
    end_predicates: tuple[Term, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Repeat:
    """Repeat a path pattern `lower` to `upper` times, each repetition starting where the one before it ended.

    `inner` is run over rows with `inner_start` bound and binds `inner_end`. `relationships` are the relationship
    variables inside it, in the order of the path; `trail` collects all of them in order.
    """

    source: Plan
    from_node: str
    to_node: str
    into: bool
    inner: Plan
    inner_start: str
    inner_end: str
    relationships: tuple[str, ...]
    groups: tuple[Group, ...]
    trail: str
    lower: int
    upper: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ShortestPath:
    """Shortest paths between two bound nodes: `shortestPath` and `allShortestPaths`."""

    source: Plan
    from_node: str
    to_node: str
    relationship: str
    traversal: Traversal
    every: bool
    step: Step | None
    path: str | None
    predicates: tuple[Term, ...]


@dataclass(frozen=True, slots=True, eq=False)
class StatefulShortestPath:
    """Follow `lower` to `upper` relationships along the shortest trails between each pair of nodes.

    kind: ANY, SHORTEST, ALL SHORTEST or SHORTEST GROUPS, with a `count`. Only trails for which all `predicates` are
    true are candidates; the predicates call a trail `path` if it has a name. The rest is as in `VarLengthExpand`.
    """

    source: Plan
    from_node: str
    relationship: str
    to_node: str
    traversal: Traversal
    into: bool
    step: Step | None
    left_group: str | None
    right_group: str | None
    turned: bool
    kind: str
    count: Term
    predicates: tuple[Term, ...]
    path: str | None


@dataclass(frozen=True, slots=True, eq=False)
class SelectShortest:
    """Of the rows of a path pattern, for each pair of ends the shortest ones.

    kind: ANY, SHORTEST, ALL SHORTEST or SHORTEST GROUPS, with a `count`. The lengths of `relationships` add up to a
    path's length.
    """

    source: Plan
    start: str
    end: str
    kind: str
    count: Term
    relationships: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ProjectEndpoints:
    """Bind the ends of a relationship that is already bound, or of a list of relationships if `is_list`."""

    source: Plan
    relationship: str
    start: str
    end: str
    start_bound: bool
    end_bound: bool
    traversal: Traversal
    is_list: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRelationships:
    """Keep rows in which `relationship` (one or a list) shares nothing with the others, nor a list within itself."""

    source: Plan
    relationship: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ProjectPath:
    """Put a path together from its first node and its relationships (single ones and lists) in order."""

    source: Plan
    path: str
    start: str
    relationships: tuple[str, ...]


# --- rows ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Filter:
    """Keep the rows for which the predicate is true."""

    source: Plan
    predicate: Term


@dataclass(frozen=True, slots=True, eq=False)
class Projection:
    """Add computed columns; all are computed over the columns of the source."""

    source: Plan
    items: tuple[tuple[str, Term], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Select:
    """Keep only these columns."""

    source: Plan
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reimport:
    """Restore columns of the argument in the rows of an aggregation that dropped them."""

    source: Plan
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Distinct:
    """Keep only these columns, and the first of the rows that are equal in them."""

    source: Plan
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EagerAggregation:
    """One row for each group of rows with equal keys; a single row if there are no keys."""

    source: Plan
    keys: tuple[tuple[str, Term], ...]
    aggregates: tuple[AggregateCall, ...]
    keys_at: ChainEnd | None = None  # in the DistinctExpand below, if all that is counted is at the other end


@dataclass(frozen=True, slots=True, eq=False)
class NodeCountFromCountStore:
    """The number of nodes with a label, from the statistics."""

    source: Plan
    name: str
    label: str | None


@dataclass(frozen=True, slots=True, eq=False)
class RelationshipCountFromCountStore:
    """The number of relationships of some types, from the statistics."""

    source: Plan
    name: str
    types: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Sort:
    """Order the rows."""

    source: Plan
    keys: tuple[SortKey, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Top:
    """The first `count` rows of an order."""

    source: Plan
    keys: tuple[SortKey, ...]
    count: Term
    skip: Term | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Skip:
    """All rows but the first `count`."""

    source: Plan
    count: Term


@dataclass(frozen=True, slots=True, eq=False)
class Limit:
    """The first `count` rows."""

    source: Plan
    count: Term


@dataclass(frozen=True, slots=True, eq=False)
class Unwind:
    """A row for each element of a list."""

    source: Plan
    expression: Term
    variable: str


@dataclass(frozen=True, slots=True, eq=False)
class Union:
    """The rows of several plans, one after the other, each run over the same argument."""

    sources: tuple[Plan, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Apply:
    """Run the right side for the rows of the left; its columns are added to the row it was run for.

    `kind`: all; optional (a row without a partner is kept, with nulls in `added`); unit (the right side is run for its
    side effects; the rows of the left come out). `row_by_row`: each row sees what the rows before it have written.
    `once_for`: of consecutive rows that are the same in these columns, only the first has to get partners.
    """

    left: Plan
    right: Plan
    imports: tuple[str, ...]
    added: tuple[str, ...]
    kind: str = "all"
    row_by_row: bool = False
    once_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class TransactionApply:
    """Run the right side over batches of the left's rows, committing after each: `CALL { } IN TRANSACTIONS`.

    `on_error`: FAIL, CONTINUE or BREAK; a failed batch has nulls in `added`; so does a row without a result if
    `optional`. `status` names the column of the report.
    """

    left: Plan
    right: Plan
    imports: tuple[str, ...]
    added: tuple[str, ...]
    rows: Term
    on_error: str
    status: str | None
    returns: bool
    optional: bool


@dataclass(frozen=True, slots=True, eq=False)
class ValueHashJoin:
    """Pairs of rows whose expressions are equal; the right side does not depend on the left and runs once."""

    left: Plan
    right: Plan
    left_key: Term
    right_key: Term
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CartesianProduct:
    """Every pair of a left row and a right row; the right side does not depend on the left and runs once."""

    left: Plan
    right: Plan
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ProcedureCall:
    """Call a procedure for each row; `outputs` are (name, column) pairs."""

    source: Plan
    procedure: str
    arguments: tuple[Term, ...]
    outputs: tuple[tuple[str, str], ...]
    yields: bool
    optional: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class ShowRows:
    """What the database says about itself: its indexes, constraints, functions, procedures and so on.

    For each row of the source, those called `names`; `outputs` are columns with the names that they get.
    """

    source: Plan
    kind: str
    qualifier: str | None
    names: tuple[Term, ...]
    outputs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class LoadCSV:
    """A row for each line of a CSV file."""

    source: Plan
    url: Term
    variable: str
    with_headers: bool
    field_terminator: str | None


# --- writing ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Create:
    """Create nodes and relationships, in this order."""

    source: Plan
    creations: tuple[Creation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """For each row, the matches of `match`; if there are none, create the pattern."""

    source: Plan
    match: Plan
    imports: tuple[str, ...]
    added: tuple[str, ...]
    creations: tuple[Creation, ...]
    on_create: tuple[SingleAssignment, ...]
    on_match: tuple[SingleAssignment, ...]


@dataclass(frozen=True, slots=True, eq=False)
class SetProperties:
    """SET and REMOVE, row by row: each row sees the changes of those before it."""

    source: Plan
    assignments: tuple[SingleAssignment, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Delete:
    """DELETE and DETACH DELETE."""

    source: Plan
    expressions: tuple[Term, ...]
    detach: bool


@dataclass(frozen=True, slots=True, eq=False)
class Foreach:
    """Run the body over each element of a list, for its writes."""

    source: Plan
    variable: str
    list: Term
    body: Plan
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class EmptyResult:
    """Run the source for its writes, and emit nothing."""

    source: Plan


@dataclass(frozen=True, slots=True, eq=False)
class ProduceResults:
    """The columns of the answer."""

    source: Plan
    columns: tuple[str, ...]


Plan: TypeAlias = (
    Argument
    | AllNodesScan
    | NodeByLabelScan
    | NodeIndexSeek
    | NodeIndexSearch
    | NodeByIdSeek
    | RelationshipTypeScan
    | RelationshipIndexSeek
    | RelationshipByIdSeek
    | Expand
    | GuidedExpand
    | DistinctExpand
    | CountWalks
    | CountBranches
    | CountMatches
    | GetDegree
    | VarLengthExpand
    | Repeat
    | ShortestPath
    | StatefulShortestPath
    | SelectShortest
    | ProjectEndpoints
    | DistinctRelationships
    | ProjectPath
    | Filter
    | Projection
    | Select
    | Reimport
    | Distinct
    | EagerAggregation
    | NodeCountFromCountStore
    | RelationshipCountFromCountStore
    | Sort
    | Top
    | Skip
    | Limit
    | Unwind
    | Union
    | Apply
    | TransactionApply
    | ValueHashJoin
    | CartesianProduct
    | ProcedureCall
    | LoadCSV
    | ShowRows
    | Create
    | Merge
    | SetProperties
    | Delete
    | Foreach
    | EmptyResult
    | ProduceResults
)
