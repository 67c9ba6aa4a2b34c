"""Plans that come from outside as JSON, ready to run.

The planner did not make them, so nothing that holds for its own plans may be assumed: whether a plan writes is read off
its operators, and any failure because its parts do not fit is an error of the plan.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from hoplite.engine.batch import Batch
from hoplite.engine.build.operators import OperatorBuilder
from hoplite.engine.context import Execution
from hoplite.engine.operators.base import Operator
from hoplite.engine.prepare import Prepared
from hoplite.engine.procedures.registry import Procedure
from hoplite.errors import CypherError
from hoplite.grammar import ast
from hoplite.grammar.tree import walk
from hoplite.lazy_dataclass import dataclass
from hoplite.planner import physical as pp
from hoplite.planner.parts import ChainHop, MatchCheck
from hoplite.planner.plan_json import PlanError, plan_from_json
from hoplite.planner.plan_tree import every_operator, is_writing


def prepare_plan(text: str | bytes, operators: OperatorBuilder, procedures: Mapping[str, Procedure]) -> Prepared:
    """The statement that a plan in JSON describes; `PlanError` if it does not describe one."""
    plan = plan_from_json(text)
    if not isinstance(plan, pp.Results | pp.Drain):
        raise PlanError("The plan cannot be run: its root is neither Results nor Drain.")
    columns = plan.columns if isinstance(plan, pp.Results) else ()
    if len(set(columns)) < len(columns):
        raise PlanError("The plan cannot be run: two of its columns have the same name.")
    _refuse_wrong_lengths(plan)
    writes = _writes(plan, procedures)
    try:
        operator = operators.build(plan)
    except CypherError:
        raise
    except Exception as error:
        raise _unfit(error) from error
    return Prepared(
        text="",
        mode=None,
        columns=columns,
        query_type="r" if not writes else "rw" if columns else "w",
        writes=writes,
        has_effects=any(
            procedures[node.procedure].has_effects
            for node in every_operator(plan)
            if isinstance(node, pp.CallProcedure)
        ),
        notifications=(),
        parameters=dict.fromkeys(node.name for node in walk(plan) if isinstance(node, ast.Parameter)),
        plan=plan,
        operator=FromOutside(operator, columns),
        command=None,
        estimates={},
    )


def _refuse_wrong_lengths(plan: pp.Plan) -> None:
    """Operators that follow one relationship ignore other bounds, and degrees cannot count unbounded trails."""
    for node in walk(plan):
        match node:
            case pp.Expand() | pp.ExpandInto() | ChainHop() | pp.FollowBound(is_list=False):
                fits = node.traversal.lower == node.traversal.upper == 1
            case MatchCheck(traversal=traversal, kind=kind):
                fits = (traversal is None) == (kind in ("=", "<>"))
                fits = fits and (traversal is None or traversal.lower == traversal.upper == 1)
            case pp.CountSteps():
                fits = node.traversal.upper is not None
            case _:
                fits = True
        if not fits:
            raise PlanError(f"The plan cannot be run: {type(node).__name__} cannot follow that many relationships.")


def _writes(plan: pp.Plan, procedures: Mapping[str, Procedure]) -> bool:
    writes = False
    for node in every_operator(plan):
        writes = writes or is_writing(node)
        if isinstance(node, pp.CallProcedure):
            procedure = procedures.get(node.procedure)
            if procedure is None:
                raise PlanError(f"The plan cannot be run: there is no procedure {node.procedure!r}.")
            writes = writes or procedure.signature.mode in ("WRITE", "SCHEMA")
    return writes


def _called(plan: pp.Plan) -> Iterator[str]:
    return (node.procedure for node in every_operator(plan) if isinstance(node, pp.CallProcedure))


def _unfit(error: Exception) -> PlanError:
    return PlanError(f"The plan cannot be run: its parts do not fit ({type(error).__name__}: {error}).")


@dataclass(slots=True, eq=False)
class FromOutside(Operator):
    """The root of a plan from outside."""

    source: Operator
    columns: tuple[str, ...]

    def batches(self, context: Execution, argument: Batch) -> Iterator[Batch]:
        """What the plan yields, as long as its parts fit."""
        try:
            for batch in self.source.run(context, argument):
                yield batch.only(self.columns)
        except CypherError:
            raise
        except Exception as error:
            raise _unfit(error) from error
