"""Physical plans: what runs, as data. Every operator of the engine has its node here, under the operator's name.

`planner/choose.py` makes it from a logical plan, EXPLAIN prints it, `engine/build` turns each node into its operator,
and `planner/plan_json.py` writes and reads it. A choice between two ways of computing the same thing is a choice
between two nodes, never one that an operator's constructor makes. What is not an operator (a hop of a chain, an item of
SET) is shared with the logical plan: `planner/parts.py`. Subqueries inside expressions (`PlannedSubquery`) hold
physical plans too.
"""

from __future__ import annotations

from typing import TypeAlias

from hoplite.grammar import ast
from hoplite.lazy_dataclass import dataclass
from hoplite.planner.parts import (
    AggregateCall,
    Assignment,
    Branch,
    ChainHop,
    Creation,
    Group,
    IndexCondition,
    MatchHop,
    MatchStep,
    PhysicalPlan,
    Presence,
    SortKey,
    Step,
    Term,
    Traversal,
)


@dataclass(frozen=True, slots=True, eq=False)
class Argument(PhysicalPlan):
    """The rows the plan is run over, with these variables."""

    variables: tuple[str, ...] = ()


# --- finding nodes and relationships ---------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class NodeScan(PhysicalPlan):
    """Every node, or every node with a label. `small_first`: few rows at first, because a LIMIT may need no more."""

    source: Plan
    node: str
    label: str | None
    small_first: bool


@dataclass(frozen=True, slots=True, eq=False)
class IndexSeek(PhysicalPlan):
    """Nodes with a label and a property equal to a value, or to one of a list if `many`."""

    source: Plan
    node: str
    label: str
    key: str
    value: Term
    many: bool
    unique: bool
    index: str = "RANGE"


@dataclass(frozen=True, slots=True, eq=False)
class ParameterSeek(PhysicalPlan):
    """Nodes with a label and a property equal to a parameter: one look-up, when the argument is one empty row."""

    source: Argument
    node: str
    label: str
    key: str
    value: ast.Parameter
    unique: bool
    index: str = "RANGE"


@dataclass(frozen=True, slots=True, eq=False)
class ElementsSeek(PhysicalPlan):
    """Nodes with a label and a property equal to an element of a parameter, all elements looked up at once.

    Replaces an Unwind of the parameter as `variable` and a seek, when nothing above uses the rows that the nodes come
    from.
    """

    source: Argument
    elements: ast.Parameter
    variable: str
    node: str
    label: str
    key: str
    unique: bool
    index: str = "RANGE"


@dataclass(frozen=True, slots=True, eq=False)
class IndexSearch(PhysicalPlan):
    """Nodes with a label and a property that meets a condition: one, or a lower and an upper bound."""

    source: Plan
    node: str
    label: str
    key: str
    conditions: tuple[IndexCondition, ...]
    index: str = "RANGE"


@dataclass(frozen=True, slots=True, eq=False)
class IdSeek(PhysicalPlan):
    """Nodes by `id(n)`, or by `elementId(n)` where `by_element_id`; from a list if `many`."""

    source: Plan
    node: str
    value: Term
    many: bool
    by_element_id: bool


@dataclass(frozen=True, slots=True, eq=False)
class RelationshipScan(PhysicalPlan):
    """Every relationship of some types (None: of any) with its ends; both ways round where undirected."""

    source: Plan
    relationship: str
    start: str
    end: str
    types: tuple[str, ...] | None
    directed: bool


@dataclass(frozen=True, slots=True, eq=False)
class RelationshipSeek(PhysicalPlan):
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
class RelationshipIdSeek(PhysicalPlan):
    """Relationships of some types (None: of any) by their ids or element ids, with their ends; see `IdSeek`."""

    source: Plan
    relationship: str
    start: str
    end: str
    types: tuple[str, ...] | None
    value: Term
    many: bool
    by_element_id: bool
    directed: bool


# --- following relationships -----------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Expand(PhysicalPlan):
    """Follow one relationship from a bound node to a new one.

    `keep`: the columns used above; None if all may be. `small_pieces`: a LIMIT above may need few rows.
    """

    source: Plan
    from_node: str
    relationship: str
    to_node: str
    traversal: Traversal
    keep: frozenset[str] | None
    small_pieces: bool


@dataclass(frozen=True, slots=True, eq=False)
class ExpandInto(PhysicalPlan):
    """Find the relationships between two bound nodes. `keep` as in `Expand`."""

    source: Plan
    from_node: str
    relationship: str
    to_node: str
    traversal: Traversal
    keep: frozenset[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class GuidedExpand(PhysicalPlan):
    """Follow a chain of relationships to the nodes that `ends` finds, to ends that a filter above lets through, or into
    a bound node. `keep` and `small_pieces` as in `Expand`.
    """

    source: Plan
    steps: tuple[MatchHop, ...]
    end_predicates: tuple[Term, ...]
    ends: Plan | None
    keep: frozenset[str] | None
    small_pieces: bool


@dataclass(frozen=True, slots=True, eq=False)
class DistinctExpand(PhysicalPlan):
    """Follow a chain of relationships to its distinct ends; `merged`: one frontier for all rows."""

    source: Plan
    from_node: str
    to_node: str
    hops: tuple[ChainHop, ...]
    keep: frozenset[str]
    merged: bool
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class CountWalks(PhysicalPlan):
    """Count the ways along a chain from all rows to each distinct end."""

    source: Plan
    from_node: str
    hops: tuple[ChainHop, ...]
    to_node: str
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class CountBranches(PhysicalPlan):
    """Count the ways to follow all branches from the nodes of a row, and those in which some variables are present."""

    source: Plan
    branches: tuple[Branch, ...]
    name: str
    present: tuple[Presence, ...]
    keep: frozenset[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class CountMatches(PhysicalPlan):
    """Count the ways to take the steps of a pattern, and then its branches, for each row, or for each row and `end`."""

    source: Plan
    steps: tuple[MatchStep, ...]
    branches: tuple[Branch, ...]
    name: str
    end: str | None
    keep: frozenset[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class CountSteps(PhysicalPlan):
    """Count the trails of `lower` to `upper` relationships from a node, by the degrees of their last nodes."""

    source: Plan
    from_node: str
    name: str
    traversal: Traversal
    labels: tuple[str, ...]
    distinct_from: tuple[str, ...]
    keep: frozenset[str] | None


@dataclass(frozen=True, slots=True, eq=False)
class Reach(PhysicalPlan):
    """Find the nodes that trails end in by frontiers: for each row, or for all rows together if `merged`.

    `reason` says what allowed it.
    """

    source: Plan
    from_node: str
    relationship: str | None
    to_node: str
    traversal: Traversal
    into: bool
    step: Step | None
    distinct_from: tuple[str, ...]
    merged: bool
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Trails(PhysicalPlan):
    """Trails of `lower` to `upper` relationships, one by one. The fields are those of `logical.VarLengthExpand`."""

    source: Plan
    from_node: str
    relationship: str | None
    to_node: str
    traversal: Traversal
    into: bool
    step: Step | None
    left_group: str | None
    right_group: str | None
    turned: bool
    end_predicates: tuple[Term, ...]
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class Repeat(PhysicalPlan):
    """Repeat a path pattern, each repetition starting where the one before it ended."""

    source: Plan
    inner: Plan
    from_node: str
    to_node: str
    into: bool
    inner_start: str
    inner_end: str
    relationships: tuple[str, ...]
    groups: tuple[Group, ...]
    trail: str
    lower: int
    upper: int | None


@dataclass(frozen=True, slots=True, eq=False)
class ShortestPaths(PhysicalPlan):
    """Shortest paths between two bound nodes; all of them if `every`."""

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
class ShortestTrails(PhysicalPlan):
    """The shortest trails between each pair of nodes. The fields are those of `logical.StatefulShortestPath`."""

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
class SelectShortest(PhysicalPlan):
    """Of the rows of a path pattern, for each pair of ends the shortest ones."""

    source: Plan
    start: str
    end: str
    kind: str
    count: Term
    relationships: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class FollowBound(PhysicalPlan):
    """Bind the ends of a relationship, or of a list of relationships, that is already bound."""

    source: Plan
    relationship: str
    start: str
    end: str
    start_bound: bool
    end_bound: bool
    traversal: Traversal
    is_list: bool


@dataclass(frozen=True, slots=True, eq=False)
class DistinctRelationships(PhysicalPlan):
    """Keep rows in which `relationship` (one or a list) shares nothing with the others."""

    source: Plan
    relationship: str
    others: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BuildPath(PhysicalPlan):
    """Put a path together from its first node and its relationships."""

    source: Plan
    path: str
    start: str
    relationships: tuple[str, ...]


# --- rows ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True, eq=False)
class Filter(PhysicalPlan):
    """Keep the rows for which the predicate is true; if `lenient`, anything else counts as false."""

    source: Plan
    predicate: Term
    lenient: bool


@dataclass(frozen=True, slots=True, eq=False)
class Project(PhysicalPlan):
    """Add computed columns, and keep only those in `kept`; all if it is None."""

    source: Plan
    items: tuple[tuple[str, Term], ...]
    kept: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Select(PhysicalPlan):
    """Keep only these columns."""

    source: Plan
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Reimport(PhysicalPlan):
    """Restore columns of the argument in the rows of an aggregation that dropped them."""

    source: Plan
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Distinct(PhysicalPlan):
    """Keep only these columns, and the first of the rows that are equal in them."""

    source: Plan
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class DistinctEnds(PhysicalPlan):
    """Property `key` of the ends of a merged frontier as column `name`, each value once.

    Values are not compared if the graph knows that no two nodes share one.
    """

    ends: Reach
    name: str
    key: str


@dataclass(frozen=True, slots=True, eq=False)
class Aggregate(PhysicalPlan):
    """One row for each group of rows with equal keys; a single row if there are no keys."""

    source: Plan
    keys: tuple[tuple[str, Term], ...]
    aggregates: tuple[AggregateCall, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CountEnds(PhysicalPlan):
    """`count(DISTINCT end)` of a merged frontier: its size."""

    ends: Reach
    name: str


@dataclass(frozen=True, slots=True, eq=False)
class CountPairs(PhysicalPlan):
    """`count(DISTINCT value)` for each key, for a chain with the keys at one end and the values at the other."""

    chain: DistinctExpand
    keys: tuple[tuple[str, Term], ...]
    counts: tuple[tuple[str, Term], ...]
    keys_at_start: bool


@dataclass(frozen=True, slots=True, eq=False)
class CountNodes(PhysicalPlan):
    """The number of nodes with a label, from the statistics."""

    source: Plan
    name: str
    label: str | None


@dataclass(frozen=True, slots=True, eq=False)
class CountRelationships(PhysicalPlan):
    """The number of relationships of some types, from the statistics."""

    source: Plan
    name: str
    types: tuple[str, ...] | None


@dataclass(frozen=True, slots=True, eq=False)
class Sort(PhysicalPlan):
    """Order the rows."""

    source: Plan
    keys: tuple[SortKey, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Top(PhysicalPlan):
    """The first `limit` rows of an order, after the first `skip`. `reads_all` as in `Cut`."""

    source: Plan
    keys: tuple[SortKey, ...]
    limit: Term
    skip: Term | None
    reads_all: bool


@dataclass(frozen=True, slots=True, eq=False)
class Cut(PhysicalPlan):
    """The first `limit` rows after the first `skip`. `reads_all`: what is below writes for every row, so it must run to
    its end."""

    source: Plan
    skip: Term | None
    limit: Term | None
    reads_all: bool


@dataclass(frozen=True, slots=True, eq=False)
class Unwind(PhysicalPlan):
    """A row for each element of a list."""

    source: Plan
    expression: Term
    variable: str


@dataclass(frozen=True, slots=True, eq=False)
class UnwindRange(PhysicalPlan):
    """A row for each number of `range(...)`, without making the list."""

    source: Plan
    arguments: tuple[Term, ...]
    variable: str


@dataclass(frozen=True, slots=True, eq=False)
class Union(PhysicalPlan):
    """The rows of several plans, one after the other, each run over the same argument."""

    sources: tuple[Plan, ...]
    names: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Apply(PhysicalPlan):
    """Run the right side for the rows of the left; its columns are added to the row it was run for.

    `optional`: a row without a partner is kept, with nulls in `added`. `row_by_row`: each row sees what the rows
    before it have written. `once_for`: of consecutive rows that are the same in these columns, only the first has to
    get partners.
    """

    left: Plan
    right: Plan
    imports: tuple[str, ...]
    added: tuple[str, ...]
    optional: bool
    row_by_row: bool
    once_for: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class ForEachRow(PhysicalPlan):
    """Run the right side for its side effects; the rows of the left come out."""

    left: Plan
    right: Plan
    imports: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class InTransactions(PhysicalPlan):
    """Run the right side over batches of the left's rows, committing after each: see `logical.TransactionApply`."""

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
class HashJoin(PhysicalPlan):
    """Pairs of rows whose expressions are equal; the right side runs once."""

    left: Plan
    right: Plan
    left_key: Term
    right_key: Term
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Product(PhysicalPlan):
    """Every pair of a left row and a right row; the right side runs once."""

    left: Plan
    right: Plan
    added: tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class CallProcedure(PhysicalPlan):
    """Call a procedure for each row; `outputs` are (name, column) pairs."""

    source: Plan
    procedure: str
    arguments: tuple[Term, ...]
    outputs: tuple[tuple[str, str], ...]
    yields: bool
    optional: bool


@dataclass(frozen=True, slots=True, eq=False)
class Show(PhysicalPlan):
    """What the database says about itself: its indexes, constraints, functions, procedures and so on.

    For each row of the source, those called `names`; `outputs` are columns with the names that they get.
    """

    source: Plan
    kind: str
    qualifier: str | None
    names: tuple[Term, ...]
    outputs: tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True, eq=False)
class LoadCsv(PhysicalPlan):
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

    creations: tuple[Creation, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Merge:
    """For each row, the matches of `match`; if there are none, create the pattern.

    `undirected`: its relationship is matched both ways round.
    """

    match: Plan
    imports: tuple[str, ...]
    added: tuple[str, ...]
    creations: tuple[Creation, ...]
    on_create: tuple[Assignment, ...]
    on_match: tuple[Assignment, ...]
    undirected: bool


@dataclass(frozen=True, slots=True, eq=False)
class Set:
    """SET and REMOVE."""

    assignments: tuple[Assignment, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Delete:
    """DELETE and DETACH DELETE."""

    expressions: tuple[Term, ...]
    detach: bool


@dataclass(frozen=True, slots=True, eq=False)
class Foreach:
    """Run the body over each element of a list, for its writes."""

    variable: str
    list: Term
    body: Plan
    imports: tuple[str, ...]


WriteStep: TypeAlias = Create | Merge | Set | Delete | Foreach


@dataclass(frozen=True, slots=True, eq=False)
class Write(PhysicalPlan):
    """Consecutive writing clauses, each over all rows. One node, because scripts have hundreds of them."""

    source: Plan
    steps: tuple[WriteStep, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Drain(PhysicalPlan):
    """Run the source for its side effects, and emit nothing."""

    source: Plan


@dataclass(frozen=True, slots=True, eq=False)
class Results(PhysicalPlan):
    """The columns of the answer. It is always at the top and costs nothing: its rows are those of its source."""

    source: Plan
    columns: tuple[str, ...]


Plan: TypeAlias = (
    Argument
    | NodeScan
    | IndexSeek
    | ParameterSeek
    | ElementsSeek
    | IndexSearch
    | IdSeek
    | RelationshipScan
    | RelationshipSeek
    | RelationshipIdSeek
    | Expand
    | ExpandInto
    | GuidedExpand
    | DistinctExpand
    | CountWalks
    | CountBranches
    | CountMatches
    | CountSteps
    | Reach
    | Trails
    | Repeat
    | ShortestPaths
    | ShortestTrails
    | SelectShortest
    | FollowBound
    | DistinctRelationships
    | BuildPath
    | Filter
    | Project
    | Select
    | Reimport
    | Distinct
    | DistinctEnds
    | Aggregate
    | CountEnds
    | CountPairs
    | CountNodes
    | CountRelationships
    | Sort
    | Top
    | Cut
    | Unwind
    | UnwindRange
    | Union
    | Apply
    | ForEachRow
    | InTransactions
    | HashJoin
    | Product
    | CallProcedure
    | Show
    | LoadCsv
    | Write
    | Drain
    | Results
)

Shown: TypeAlias = Plan | WriteStep
"""What has a line in EXPLAIN."""
