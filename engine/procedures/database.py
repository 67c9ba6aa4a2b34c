"""db.* and dbms.*: information about the database, and housekeeping that an embedded database does not need."""

from __future__ import annotations

import hashlib
import time
from collections.abc import Iterable, Iterator
from typing import Any

from hoplite.engine.context import Execution
from hoplite.engine.procedures.registry import Row, call_failed, cypher_procedure
from hoplite.errors import PROCEDURE_CALL_FAILED, CypherError
from hoplite.storage.schema import Index, IndexKind
from hoplite.values.temporal import DateTime

VERSION = "5.26.12"
AGENT = f"Neo4j/{VERSION}"  # the version whose answers are given


# --- names in use ---


@cypher_procedure(
    "db.labels() :: (label :: STRING)",
    description="List all labels attached to nodes within a database according to the user's access rights. The "
    "procedure "
    "returns empty results if the user is not authorized to view those labels.",
)
def labels(context: Execution) -> Iterator[Row]:
    """The labels that any node has."""
    return ((label,) for label in context.graph.labels_in_use())


@cypher_procedure(
    "db.relationshipTypes() :: (relationshipType :: STRING)",
    description="List all types attached to relationships within a database according to the user's access rights. The "
    "procedure returns empty results if the user is not authorized to view those relationship types.",
)
def relationship_types(context: Execution) -> Iterator[Row]:
    """The types that any relationship has."""
    return ((name,) for name in context.graph.relationship_types_in_use())


@cypher_procedure("db.propertyKeys() :: (propertyKey :: STRING)", description="List all property keys in the database.")
def property_keys(context: Execution) -> Iterator[Row]:
    """Every key that was ever used."""
    return ((key,) for key in context.graph.property_keys())


# --- about the database ---


@cypher_procedure(
    "dbms.components() :: (name :: STRING, versions :: LIST<STRING>, edition :: STRING)",
    mode="DBMS",
    description="List DBMS components and their versions.",
)
def components(context: Execution) -> Iterator[Row]:
    """The version of Neo4j whose answers are given, which is what programs use this for."""
    yield ("Neo4j Kernel", [VERSION], "community")


@cypher_procedure(
    "db.ping() :: (success :: BOOLEAN)",
    description="This procedure can be used by client side tooling to test whether they are correctly connected to a "
    "database. The procedure is available in all databases and always returns true. A faulty connection can be "
    "detected by "
    "not being able to call this procedure.",
)
def ping(context: Execution) -> Iterator[Row]:
    """True."""
    yield (True,)


def _store_id(context: Execution, name: str) -> str:
    """A number in the form of Neo4j's store ids, constant for the life of the database."""
    return hashlib.sha256(f"{name}:{context.graph.uuid}".encode()).hexdigest().upper()


def _creation_date(context: Execution) -> str:
    """When a database in memory was opened; a database on disk does not store the date."""
    opened = context.database.opened
    return str(DateTime(opened.epoch_second, opened.nanosecond // 1_000_000 * 1_000_000, 0))


@cypher_procedure(
    "db.info() :: (id :: STRING, name :: STRING, creationDate :: STRING)",
    description="Provides information regarding the database.",
)
def info(context: Execution) -> Iterator[Row]:
    """Id, name and date."""
    name = "system" if context.database.is_system else "neo4j"
    yield (_store_id(context, name), name, _creation_date(context))


@cypher_procedure(
    "dbms.info() :: (id :: STRING, name :: STRING, creationDate :: STRING)",
    mode="DBMS",
    description="Provides information regarding the DBMS.",
)
def dbms_info(context: Execution) -> Iterator[Row]:
    """Id, name and date."""
    yield (_store_id(context, "system"), "system", _creation_date(context))


def _refuse_outside_system(context: Execution, procedure: str) -> None:
    if not context.database.is_system:
        message = (
            f"This is an administration command and it should be executed against the system database: {procedure}"
        )
        raise CypherError(PROCEDURE_CALL_FAILED, message)


@cypher_procedure(
    "dbms.upgrade() :: (status :: STRING, upgradeResult :: STRING)",
    mode="WRITE",
    description="Upgrade the system database schema if it is not the current schema.",
    admin=True,
    deprecated_by="Automatic upgrade",
)
def upgrade(context: Execution) -> Iterator[Row]:
    """There is no schema of an earlier version."""
    _refuse_outside_system(context, "dbms.upgrade")
    yield "CURRENT", "nothing to do"


@cypher_procedure(
    "dbms.upgradeStatus() :: (status :: STRING, description :: STRING, resolution :: STRING)",
    description="Report the current status of the system database sub-graph schema.",
    admin=True,
    deprecated_by="Automatic upgrade",
)
def upgrade_status(context: Execution) -> Iterator[Row]:
    """There is no schema of an earlier version."""
    _refuse_outside_system(context, "dbms.upgradeStatus")
    yield "CURRENT", "The sub-graph is already at the current version", "nothing to do"


@cypher_procedure(
    "dbms.listConfig(searchString =  :: STRING) :: (name :: STRING, description :: STRING, value :: STRING, dynamic :: "
    "BOOLEAN, defaultValue :: STRING, startupValue :: STRING, explicitlySet :: BOOLEAN, validValues :: STRING)",
    mode="DBMS",
    description="List the currently active configuration settings of Neo4j.",
    admin=True,
)
def list_config(context: Execution, search: str) -> Iterator[Row]:
    """The only setting that this engine shares with a server: the transaction timeout."""
    name = "db.transaction.timeout"
    if (search or "").lower() in name:
        timeout = context.database.timeout
        value = f"{timeout:g}s" if timeout else "0s"
        yield (
            name,
            "The maximum time interval of a transaction within which it should be completed.",
            value,
            True,
            "0s",
            value,
            value != "0s",
            "A duration (Valid units are: `ns`, `μs`, `ms`, `s`, `m`, `h` and `d`; default unit is `s`).",
        )


@cypher_procedure(
    "dbms.listConnections() :: (connectionId :: STRING, connectTime :: STRING, connector :: STRING, username :: "
    "STRING, "
    "userAgent :: STRING, serverAddress :: STRING, clientAddress :: STRING)",
    mode="DBMS",
    description="List all accepted network connections at this instance that are visible to the user.",
)
def list_connections(context: Execution) -> Iterator[Row]:
    """None: there is no network."""
    yield from ()


@cypher_procedure(
    "tx.getMetaData() :: (metadata :: MAP)", mode="DBMS", description="Provides attached transaction metadata."
)
def get_metadata(context: Execution) -> Iterator[Row]:
    """What `tx.setMetaData` or the driver attached."""
    yield (dict(context.database.transaction_metadata),)


@cypher_procedure(
    "tx.setMetaData(data :: MAP)",
    mode="DBMS",
    description="Attaches a map of data to the transaction. The data will be printed when listing queries, and "
    "inserted "
    "into the query log.",
    works_on_system=False,
)
def set_metadata(context: Execution, data: dict[str, Any] | None) -> Iterator[Row]:
    """Replaces what was attached before."""
    if data is None:
        message = 'Cannot invoke "java.util.Map.entrySet()" because "data" is null'
        raise call_failed("tx.setMetaData", "java.lang.NullPointerException", message)
    attached = context.database.transaction_metadata
    attached.clear()
    attached.update(data)
    yield from ()


# --- indexes are always up to date ---

_WAITED_S = 0.2  # between two looks at the clock


def _no_index(name: str) -> CypherError:
    return CypherError("Neo.ClientError.Schema.IndexNotFound", f"No such index '{name}'")


@cypher_procedure(
    "db.awaitIndex(indexName :: STRING, timeOutSeconds = 300 :: INTEGER)",
    description='Wait for an index to come online (for example: CALL db.awaitIndex("MyIndex", 300)).',
)
def await_index(context: Execution, name: str, seconds: int) -> Iterator[Row]:
    """An index is online as soon as it exists; a vector index is faster when its graph is there."""
    index = context.graph.schema.index(name)
    if index is None:
        raise _no_index(name)
    _await(context, (index,), seconds)
    yield from ()


def _await(context: Execution, indexes: Iterable[Index], seconds: int) -> None:
    end = time.monotonic() + seconds
    for index in indexes:
        while index.kind is IndexKind.VECTOR and (left := end - time.monotonic()) > 0:
            context.check_time()
            if context.graph.await_index(index, min(left, _WAITED_S)):
                break


@cypher_procedure(
    "db.awaitIndexes(timeOutSeconds = 300 :: INTEGER)",
    description="Wait for all indexes to come online (for example: CALL db.awaitIndexes(300)).",
)
def await_indexes(context: Execution, seconds: int) -> Iterator[Row]:
    """Only the graphs of vector indexes are made in the background."""
    _await(context, context.graph.schema.indexes, seconds)
    yield from ()


@cypher_procedure(
    "db.resampleIndex(indexName :: STRING)",
    description='Schedule resampling of an index (for example: CALL db.resampleIndex("MyIndex")).',
)
def resample_index(context: Execution, name: str) -> Iterator[Row]:
    """Nothing to do: statistics are exact."""
    if context.graph.schema.index(name) is None:
        raise _no_index(name)
    yield from ()


@cypher_procedure("db.resampleOutdatedIndexes()", description="Schedule resampling of all outdated indexes.")
def resample_indexes(context: Execution) -> Iterator[Row]:
    """Nothing to do: statistics are exact."""
    yield from ()


@cypher_procedure(
    "db.prepareForReplanning(timeOutSeconds = 300 :: INTEGER)",
    description="Triggers an index resample and waits for it to complete, and after that clears query caches. After "
    "this "
    "procedure has finished queries will be planned using the latest database statistics.",
    admin=True,
)
def prepare_for_replanning(context: Execution, seconds: int) -> Iterator[Row]:
    """Nothing to do: plans follow the statistics."""
    yield from ()


@cypher_procedure(
    "db.clearQueryCaches() :: (value :: STRING)",
    mode="DBMS",
    description="Clears all query caches.",
    admin=True,
    has_effects=True,
)
def clear_query_caches(context: Execution) -> Iterator[Row]:
    """One row with the number of plans that were cached."""
    count = context.database.clear_plan_cache()
    yield (f"Query caches successfully cleared of {count} queries." if count else "Query cache already empty.",)


@cypher_procedure(
    "db.index.fulltext.awaitEventuallyConsistentIndexRefresh()",
    description="Wait for the updates from recently committed transactions to be applied to any eventually-consistent "
    "full-text indexes.",
)
def await_fulltext(context: Execution) -> Iterator[Row]:
    """Nothing to wait for."""
    yield from ()
