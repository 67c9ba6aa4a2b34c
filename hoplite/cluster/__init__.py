"""A database over several processes or machines, on Ray: `hoplite.cluster.open(path, workers=4)` (docs/CLUSTER.md).

    from hoplite import cluster

    with cluster.open("kg.hop", workers=4) as db:
        db.run("MATCH (d:Drug {name: $name})-[*1..3]->(x) RETURN count(DISTINCT x)", name="Aspirin").data()

Every worker opens the same version of the folder, and owns some of its partitions. The extra `ray` installs what it
needs.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hoplite.cluster.database import Cluster
    from hoplite.cluster.placing import Split

__all__ = ["open"]


def open(
    path: str | os.PathLike[str],
    *,
    workers: int = 2,
    address: str | None = None,
    worker_memory: str | int | None = None,
    memory: str | int | None = None,
    split: Split = "auto",
    timeout: float | None = None,
    max_rows: int | None = None,
    query_memory: str | int | None = None,
) -> Cluster:
    """Open a version of a database folder on workers, to read.

    path            the folder, under a path that is valid for every worker
    workers         number of processes, each of which owns a share of the partitions
    address         of a Ray cluster ("auto": the one that this machine is part of); without one, Ray is started here
    worker_memory   how much of the database each worker holds at once, such as "2GB"
    memory          the same for this process
    split           "auto"; "never": every statement runs on one worker; "always": hops go across workers where they can
    timeout, max_rows, query_memory
                    as in `hoplite.open`, for each statement
    """
    from hoplite.cluster.database import Cluster
    from hoplite.cluster.ray_pool import RayPool

    return Cluster(
        path,
        RayPool(workers, address),
        worker_memory=worker_memory,
        memory=memory,
        split=split,
        timeout=timeout,
        max_rows=max_rows,
        query_memory=query_memory,
    )
