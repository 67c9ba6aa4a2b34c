"""The abstract syntax of Cypher: what `parse` returns and the planner reads.

Every node is a frozen dataclass with a `span`, the half-open range of character offsets it was read from. Spans are not
compared: two expressions that read the same are equal wherever they are written. Grouping keys and `ORDER BY` over a
projected expression rely on this.
"""

from __future__ import annotations

from dataclasses import field
from typing import TypeAlias

from hoplite.grammar.leaves import NOWHERE as NOWHERE
from hoplite.grammar.leaves import OPAQUE as OPAQUE
from hoplite.grammar.leaves import ConstantList as ConstantList
from hoplite.grammar.leaves import Direction as Direction
from hoplite.grammar.leaves import Hint as Hint
from hoplite.grammar.leaves import Hops as Hops
from hoplite.grammar.leaves import Literal as Literal
from hoplite.grammar.leaves import Parameter as Parameter
from hoplite.grammar.leaves import Repetition as Repetition
from hoplite.grammar.leaves import Span as Span
from hoplite.grammar.leaves import TypeName as TypeName
from hoplite.grammar.leaves import Variable as Variable
from hoplite.grammar.leaves import unseen_span
from hoplite.lazy_dataclass import dataclass

# --- expressions -------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ListLiteral:
    """`[1, 2, x]`"""

    items: tuple[Expression, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class MapLiteral:
    """`{key: value, ...}`"""

    entries: tuple[tuple[str, Expression], ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Property:
    """`subject.key`"""

    subject: Expression
    key: str
    span: Span = unseen_span()
    key_span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Index:
    """`subject[index]`"""

    subject: Expression
    index: Expression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Slice:
    """`subject[start..end]`; either bound may be missing."""

    subject: Expression
    start: Expression | None
    end: Expression | None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Unary:
    """`operator` is `+`, `-` or `NOT`."""

    operator: str
    operand: Expression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Binary:
    """`operator`: AND OR XOR + - * / % ^ || IN `STARTS WITH` `ENDS WITH` CONTAINS =~ (upper case, one space)."""

    operator: str
    left: Expression
    right: Expression
    span: Span = unseen_span()
    operator_span: Span = unseen_span()


ARITHMETIC = ("+", "-", "*", "/", "%", "^", "||")
"""The binary operators whose result is not a truth value."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """A chain `a < b <= c`: operators are = <> < <= > >=, one fewer than the operands."""

    operands: tuple[Expression, ...]
    operators: tuple[str, ...]
    span: Span = unseen_span()
    operator_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class IsNull:
    """`operand IS NULL`, or `IS NOT NULL` if negated."""

    operand: Expression
    negated: bool
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class IsType:
    """`operand IS [NOT] :: TYPE` (also `IS TYPED TYPE`, `:: TYPE`)."""

    operand: Expression
    type: TypeName
    negated: bool
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class IsNormalized:
    """`operand IS [NOT] [NFC|NFD|NFKC|NFKD] NORMALIZED`; `form` is `NFC` when none is written."""

    operand: Expression
    form: str
    negated: bool
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class HasLabels:
    """`operand:A|B`: a label (or type) expression used as a predicate."""

    operand: Expression
    labels: LabelExpression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class FunctionCall:
    """`name(DISTINCT? arguments)`; the name is as written, its parts joined by dots."""

    name: str
    arguments: tuple[Expression, ...]
    distinct: bool = False
    span: Span = unseen_span()
    name_span: Span = unseen_span()

    def __eq__(self, other: object) -> bool:  # ORDER BY COUNT(n) means the column count(n)
        return isinstance(other, FunctionCall) and self._compared() == other._compared()

    def __hash__(self) -> int:
        return hash(self._compared())

    def _compared(self) -> tuple[object, ...]:
        """Case is ignored in the function's own name, but not in its namespace."""
        namespace, _, name = self.name.rpartition(".")
        return namespace, name.lower(), self.arguments, self.distinct


@dataclass(frozen=True, slots=True)
class CountStar:
    """`count(*)`"""

    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class CaseWhen:
    """One `WHEN ... THEN ...`.

    In a simple CASE each condition is compared with the subject for equality, unless it is written as a predicate on it
    (`WHEN > 3`, `WHEN IS NULL`): such a condition is stored complete, with `CaseSubject` for the subject. In a searched
    CASE there is exactly one condition.
    """

    conditions: tuple[Expression, ...]
    result: Expression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class CaseSubject:
    """Inside a condition of an extended simple CASE: the value of the CASE's subject."""

    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Case:
    """`CASE subject? WHEN ... THEN ... ELSE ... END`"""

    subject: Expression | None
    whens: tuple[CaseWhen, ...]
    default: Expression | None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ListComprehension:
    """`[variable IN source WHERE predicate | result]`"""

    variable: Variable
    source: Expression
    predicate: Expression | None
    result: Expression | None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class PatternComprehension:
    """`[path = (a)-->(b) WHERE predicate | result]`"""

    path_variable: Variable | None
    pattern: PatternChain
    predicate: Expression | None
    result: Expression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Quantifier:
    """`kind(variable IN source WHERE predicate)`; kind is any, all, none or single."""

    kind: str
    variable: Variable
    source: Expression
    predicate: Expression | None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Reduce:
    """`reduce(accumulator = initial, variable IN source | step)`"""

    accumulator: Variable
    initial: Expression
    variable: Variable
    source: Expression
    step: Expression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class MapProjection:
    """`subject {.key, .*, variable, key: value}`"""

    subject: Variable
    items: tuple[MapProjectionItem, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ProjectedProperty:
    """`.key`"""

    key: str
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class AllProperties:
    """`.*`"""

    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ProjectedVariable:
    """`variable`: an entry named like the variable it holds."""

    variable: Variable
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ProjectedEntry:
    """`key: value`"""

    key: str
    value: Expression
    span: Span = unseen_span()


MapProjectionItem: TypeAlias = ProjectedProperty | AllProperties | ProjectedVariable | ProjectedEntry


@dataclass(frozen=True, slots=True)
class PatternExpression:
    """A bare pattern used as a predicate: `(a)-[:R]->()`."""

    pattern: PatternChain
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ShortestPathExpression:
    """`shortestPath(...)` or `allShortestPaths(...)` used as an expression."""

    pattern: ShortestPathFunction
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class SubqueryExpression:
    """`EXISTS {}`, `COUNT {}` or `COLLECT {}`.

    A short form (`EXISTS { (a)-->(b) WHERE ... }`) is parsed into a query with one MATCH and no RETURN.
    """

    kind: str  # EXISTS, COUNT, COLLECT
    query: Query
    span: Span = unseen_span()


Expression: TypeAlias = (
    Literal
    | ListLiteral
    | ConstantList
    | MapLiteral
    | Parameter
    | Variable
    | Property
    | Index
    | Slice
    | Unary
    | Binary
    | Comparison
    | IsNull
    | IsType
    | IsNormalized
    | HasLabels
    | FunctionCall
    | CountStar
    | Case
    | CaseSubject
    | ListComprehension
    | PatternComprehension
    | Quantifier
    | Reduce
    | MapProjection
    | PatternExpression
    | ShortestPathExpression
    | SubqueryExpression
)

# --- patterns ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class LabelName:
    """One label or relationship type; `legacy` if preceded by a colon inside a disjunction (`:A|:B`)."""

    name: str
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class DynamicLabel:
    """`$(expression)`, `$any(expression)` or `$all(expression)`: labels computed when the query runs."""

    expression: Expression
    kind: str = "all"  # all, any
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class LabelWildcard:
    """`%`: any label at all."""

    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class LabelNot:
    """`!A`"""

    operand: LabelExpression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class LabelAnd:
    """`A&B`, or the older `A:B` if `colon` is true."""

    operands: tuple[LabelExpression, ...]
    colon: bool = False
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class LabelOr:
    """`A|B`, or the older `A|:B` if `colon` is true."""

    operands: tuple[LabelExpression, ...]
    colon: bool = False
    span: Span = unseen_span()


LabelExpression: TypeAlias = LabelName | DynamicLabel | LabelWildcard | LabelNot | LabelAnd | LabelOr


@dataclass(frozen=True, slots=True)
class NodePattern:
    """`(variable:labels {properties} WHERE predicate)`"""

    variable: Variable | None = None
    labels: LabelExpression | None = None
    properties: Expression | None = None  # a MapLiteral or a Parameter
    predicate: Expression | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class RelationshipPattern:
    """`-[variable:types *hops {properties} WHERE predicate]->`, or a quantified one (`-[:R]->+`)."""

    direction: Direction
    variable: Variable | None = None
    types: LabelExpression | None = None
    hops: Hops | None = None
    properties: Expression | None = None
    predicate: Expression | None = None
    repetition: Repetition | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ParenthesizedPath:
    """`(path = (a)-->(b) WHERE predicate){1,3}`; without a repetition, the parentheses only group."""

    path_variable: Variable | None
    pattern: PatternChain
    predicate: Expression | None
    repetition: Repetition | None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class PatternChain:
    """Elements in the order written: nodes, relationships between two nodes, parenthesized paths."""

    elements: tuple[NodePattern | RelationshipPattern | ParenthesizedPath, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ShortestPathFunction:
    """`shortestPath((a)-[*]->(b))`; `every` for allShortestPaths."""

    pattern: PatternChain
    every: bool
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class PathSelector:
    """The selector before a path pattern: `ALL`, `ANY k`, `SHORTEST k`, `ALL SHORTEST`, `SHORTEST k GROUPS`."""

    kind: str  # ALL, ANY, SHORTEST, ALL SHORTEST, SHORTEST GROUPS
    count: Expression | None = None  # a literal or a parameter; None is 1
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class PathPattern:
    """One comma-separated part of a pattern: `path = SHORTEST 2 (a)-->+(b)`."""

    path_variable: Variable | None
    selector: PathSelector | None
    pattern: PatternChain | ShortestPathFunction
    span: Span = unseen_span()


# --- clauses -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class MatchClause:
    """`OPTIONAL? MATCH mode? pattern hints WHERE predicate`"""

    patterns: tuple[PathPattern, ...]
    predicate: Expression | None = None
    optional: bool = False
    mode: str | None = None  # DIFFERENT RELATIONSHIPS, REPEATABLE ELEMENTS
    hints: tuple[Hint, ...] = ()
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ReturnItem:
    """`expression AS alias`; `text` is the column's name when there is no alias."""

    expression: Expression
    alias: Variable | None
    text: str
    span: Span = unseen_span()

    @property
    def name(self) -> str:
        """The name of the column."""
        return self.text if self.alias is None else self.alias.name


@dataclass(frozen=True, slots=True)
class SortItem:
    """One key of an ORDER BY."""

    expression: Expression
    descending: bool
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Projection:
    """What WITH and RETURN share."""

    items: tuple[ReturnItem, ...]
    star: bool = False  # `*` came first
    distinct: bool = False
    order: tuple[SortItem, ...] = ()
    skip: Expression | None = None
    limit: Expression | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class WithClause:
    """`WITH projection WHERE predicate`"""

    projection: Projection
    predicate: Expression | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ReturnClause:
    """`RETURN projection`"""

    projection: Projection
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class FinishClause:
    """`FINISH`"""

    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class UnwindClause:
    """`UNWIND expression AS variable`"""

    expression: Expression
    variable: Variable
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class InTransactions:
    """`IN n CONCURRENT TRANSACTIONS OF rows ROWS ON ERROR ... REPORT STATUS AS variable`"""

    rows: Expression | None = None
    concurrency: Expression | None = None
    on_error: str | None = None  # CONTINUE, BREAK, FAIL
    status: Variable | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class CallSubquery:
    """`OPTIONAL? CALL (imports) { query } IN TRANSACTIONS`

    `imports` is None for the older form without a scope clause, in which a leading `WITH` imports;
    `import_all` stands for `CALL (*)`.
    """

    query: Query
    imports: tuple[Variable, ...] | None = None
    import_all: bool = False
    optional: bool = False
    in_transactions: InTransactions | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class YieldItem:
    """`name AS alias`"""

    name: str
    alias: Variable | None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class CallProcedure:
    """`OPTIONAL? CALL name(arguments) YIELD items WHERE predicate`

    `arguments` is None without parentheses; `items` is None without YIELD; `star` for `YIELD *`.
    """

    name: str
    arguments: tuple[Expression, ...] | None
    items: tuple[YieldItem, ...] | None = None
    star: bool = False
    predicate: Expression | None = None
    optional: bool = False
    span: Span = unseen_span()
    name_span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class CreateClause:
    """`CREATE pattern` (and `INSERT`)"""

    patterns: tuple[PathPattern, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class MergeClause:
    """`MERGE pattern ON CREATE SET ... ON MATCH SET ...`"""

    pattern: PathPattern
    on_create: tuple[SetItem, ...] = ()
    on_match: tuple[SetItem, ...] = ()
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class SetProperty:
    """`subject.key = value`"""

    target: Property
    value: Expression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class SetDynamicProperty:
    """`subject[key] = value`"""

    target: Index
    value: Expression
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class SetProperties:
    """`variable = map`, or `variable += map` if `merge`."""

    variable: Variable
    value: Expression
    merge: bool
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class SetLabels:
    """`variable:A:B` (also `variable IS A`)"""

    variable: Variable
    labels: tuple[LabelName | DynamicLabel, ...]
    span: Span = unseen_span()


SetItem: TypeAlias = SetProperty | SetDynamicProperty | SetProperties | SetLabels


@dataclass(frozen=True, slots=True)
class SetClause:
    """`SET items`"""

    items: tuple[SetItem, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class RemoveProperty:
    """`subject.key` or `subject[key]`"""

    target: Property | Index
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class RemoveLabels:
    """`variable:A:B`"""

    variable: Variable
    labels: tuple[LabelName | DynamicLabel, ...]
    span: Span = unseen_span()


RemoveItem: TypeAlias = RemoveProperty | RemoveLabels


@dataclass(frozen=True, slots=True)
class RemoveClause:
    """`REMOVE items`"""

    items: tuple[RemoveItem, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class DeleteClause:
    """`DETACH? DELETE expressions`"""

    expressions: tuple[Expression, ...]
    detach: bool = False
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class ForeachClause:
    """`FOREACH (variable IN source | clauses)`"""

    variable: Variable
    source: Expression
    clauses: tuple[Clause, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class LoadCsvClause:
    """`LOAD CSV WITH HEADERS FROM url AS variable FIELDTERMINATOR ';'`"""

    url: Expression
    variable: Variable
    with_headers: bool = False
    field_terminator: str | None = None
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class UseClause:
    """`USE graph`; the name is as written, or None if it is computed by an expression."""

    name: str | None
    expression: Expression | None = None
    span: Span = unseen_span()


Clause: TypeAlias = (
    MatchClause
    | WithClause
    | ReturnClause
    | FinishClause
    | UnwindClause
    | CallSubquery
    | CallProcedure
    | CreateClause
    | MergeClause
    | SetClause
    | RemoveClause
    | DeleteClause
    | ForeachClause
    | LoadCsvClause
    | UseClause
)


@dataclass(frozen=True, slots=True)
class SingleQuery:
    """Clauses one after the other."""

    clauses: tuple[Clause, ...]
    span: Span = unseen_span()


@dataclass(frozen=True, slots=True)
class Union:
    """Two or more single queries; `all[i]` says whether `UNION ALL` comes before query i + 1."""

    queries: tuple[SingleQuery, ...]
    all: tuple[bool, ...]
    span: Span = unseen_span()
    union_spans: tuple[Span, ...] = field(default=(), compare=False, repr=False)


Query: TypeAlias = SingleQuery | Union
