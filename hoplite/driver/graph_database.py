"""`GraphDatabase` and `AsyncGraphDatabase`: the driver's entry points, which also accept `hoplite://` URLs."""

from __future__ import annotations

from typing import Any

import neo4j
from neo4j._async.config import AsyncPoolConfig
from neo4j._conf import Config, WorkspaceConfig
from neo4j._sync.config import PoolConfig

from hoplite import forks
from hoplite.api.database import Database
from hoplite.driver.pool import AsyncPool, Pool
from hoplite.driver.target import Target, is_ours, of_database, open_target

_CHECKED_AS = "bolt://localhost:7687"  # the driver checks its settings as it would for a server
_TARGET = "hoplite_target"
_CONFIG: Any = Config  # the driver does not annotate it


class Driver(neo4j.Driver):
    """A `neo4j.Driver` over a database in the process."""

    _pool: Pool

    def __init__(self, pool: Pool, workspace_config: Any) -> None:
        super().__init__(pool, workspace_config)  # type: ignore[no-untyped-call]
        lock = getattr(self.execute_query_bookmark_manager, "_lock", None)
        if lock is not None:
            forks.wait_for(lock)

    @property
    def embedded(self) -> Database:
        """The database that the driver uses."""
        return self._pool.database


class AsyncDriver(neo4j.AsyncDriver):
    """A `neo4j.AsyncDriver` over a database in the process; queries run in threads."""

    _pool: AsyncPool

    def __init__(self, pool: AsyncPool, workspace_config: Any) -> None:
        super().__init__(pool, workspace_config)  # type: ignore[no-untyped-call]

    @property
    def embedded(self) -> Database:
        """The database that the driver uses."""
        return self._pool.database


class GraphDatabase(neo4j.GraphDatabase):
    """Makes drivers: for `hoplite://` URLs, for a `hoplite.Database`, and for servers, like the driver package."""

    @classmethod
    def driver(cls, uri: Any = None, *, auth: Any = None, database: Any = None, **config: Any) -> neo4j.Driver:
        """A driver for a URL, or over a database that is already open and stays open: `driver(database=db)`."""
        made: neo4j.Driver = _made(super().driver, uri, auth, database, config)
        return made

    @classmethod
    def _bolt_driver(cls, target: Any, **config: Any) -> neo4j.Driver:
        """Called by the driver package when it has checked the settings."""
        ours: Target | None = config.pop(_TARGET, None)
        if ours is None:
            parent: Any = super()
            made: neo4j.Driver = (getattr(parent, "_bolt_driver", None) or parent.bolt_driver)(target, **config)
            return made
        pool_config, workspace_config = _CONFIG.consume_chain(config, PoolConfig, WorkspaceConfig)
        return Driver(Pool(ours, pool_config, workspace_config), workspace_config)

    bolt_driver = _bolt_driver  # its name up to version 5 of the driver


class AsyncGraphDatabase(neo4j.AsyncGraphDatabase):
    """Makes asynchronous drivers, like `GraphDatabase`."""

    @classmethod
    def driver(cls, uri: Any = None, *, auth: Any = None, database: Any = None, **config: Any) -> neo4j.AsyncDriver:
        """A driver for a URL, or over a database that is already open and stays open: `driver(database=db)`."""
        made: neo4j.AsyncDriver = _made(super().driver, uri, auth, database, config)
        return made

    @classmethod
    def _bolt_driver(cls, target: Any, **config: Any) -> neo4j.AsyncDriver:
        """Called by the driver package when it has checked the settings."""
        ours: Target | None = config.pop(_TARGET, None)
        if ours is None:
            parent: Any = super()
            made: neo4j.AsyncDriver = (getattr(parent, "_bolt_driver", None) or parent.bolt_driver)(target, **config)
            return made
        pool_config, workspace_config = _CONFIG.consume_chain(config, AsyncPoolConfig, WorkspaceConfig)
        return AsyncDriver(AsyncPool(ours, pool_config, workspace_config), workspace_config)

    bolt_driver = _bolt_driver  # its name up to version 5 of the driver


def _made(make: Any, uri: Any, auth: Any, database: Any, config: dict[str, Any]) -> Any:
    """A driver from the driver package's function, with the database to use among the settings."""
    if isinstance(database, Database):
        if uri is not None and not is_ours(uri):
            raise neo4j.exceptions.ConfigurationError(f"Give either a database or the URL {uri!r}.")
        target = of_database(database)
    else:
        if database is not None:
            config["database"] = database  # the name of a database on a server
        if not is_ours(uri):
            return make(uri, auth=auth, **config)
        target = open_target(uri)
    try:
        return make(_CHECKED_AS, auth=auth, **config, **{_TARGET: target})
    except BaseException:
        target.close()
        raise
