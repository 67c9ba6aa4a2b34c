"""Set a statement running: the clock, the limits, and how subqueries find their operators."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hoplite.engine.build.operators import OperatorBuilder
from hoplite.engine.context import Execution, Services
from hoplite.engine.functions.registry import Function
from hoplite.engine.memory import Memory
from hoplite.engine.procedures.registry import Procedure
from hoplite.storage.snapshot import Snapshot
from hoplite.storage.transaction import Transaction
from hoplite.values.temporal import DateTime

if TYPE_CHECKING:
    from hoplite.engine.hops.select import BackendName


def execution_for(
    graph: Snapshot,
    parameters: Mapping[str, Any],
    functions: Mapping[str, Function],
    procedures: Mapping[str, Procedure],
    operators: OperatorBuilder,
    writer: Transaction | None,
    timeout: float | None,
    deadline: float | None,
    memory_bytes: int | None,
    backend: BackendName,
    import_folder: str | None,
    services: Services,
) -> Execution:
    """The context of one run. Its time began with the call: `deadline` says when it ends, `timeout` how long it was."""
    now = current_time()
    return Execution(
        graph=graph,
        parameters=parameters,
        functions=functions,
        statement_time=now,
        transaction_time=now,
        run_plan=operators.run_plan,
        writer=writer,
        deadline=deadline,
        timeout=timeout,
        procedures=procedures,
        backend=backend,
        import_folder=import_folder,
        services=services,
        memory=Memory(memory_bytes),
    )


def current_time() -> DateTime:
    """The moment, in UTC."""
    nanoseconds = time.time_ns()
    return DateTime(nanoseconds // 1_000_000_000, nanoseconds % 1_000_000_000, 0, "UTC")
