"""The official driver's API without Bolt: its own sessions, transactions and results, over a database in the process.

    from hoplite import GraphDatabase

    with GraphDatabase.driver("hoplite://memory") as driver:
        records, summary, keys = driver.execute_query("RETURN 1 AS one")

The driver package talks to a server through connections that it takes from a pool. Here the pool gives it connections
whose other end is a `Conversation` with a `hoplite.Database`; everything above them is the driver's own code.
"""

from hoplite.driver.graph_database import AsyncDriver, AsyncGraphDatabase, Driver, GraphDatabase
from hoplite.driver.install import install_driver, uninstall_driver

__all__ = ["AsyncDriver", "AsyncGraphDatabase", "Driver", "GraphDatabase", "install_driver", "uninstall_driver"]
