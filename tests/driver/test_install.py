"""The hook that lets the driver package's own entry points reach this engine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

import neo4j
import pytest
from neo4j.exceptions import ConfigurationError

import hoplite
from hoplite.driver import AsyncDriver, Driver


@pytest.fixture
def installed() -> Iterator[None]:
    hoplite.install_driver()
    try:
        yield
    finally:
        hoplite.uninstall_driver()


def test_without_the_hook_the_driver_does_not_know_the_scheme() -> None:
    with pytest.raises(ConfigurationError):
        neo4j.GraphDatabase.driver("hoplite://memory")


def test_with_the_hook_it_does(installed: None) -> None:
    hoplite.install_driver()  # once more does no harm
    with neo4j.GraphDatabase.driver("hoplite://memory", auth=("neo4j", "x"), user_agent="library") as driver:
        assert isinstance(driver, Driver)
        assert driver.execute_query("RETURN 1 AS x").records[0]["x"] == 1
    with neo4j.GraphDatabase.driver("bolt://127.0.0.1:1") as other:
        assert not isinstance(other, Driver)

    async def asynchronous() -> None:
        async with neo4j.AsyncGraphDatabase.driver("hoplite://memory") as driver:
            assert isinstance(driver, AsyncDriver)

    asyncio.run(asynchronous())


def test_it_can_be_taken_away(installed: None) -> None:
    hoplite.uninstall_driver()
    with pytest.raises(ConfigurationError):
        neo4j.GraphDatabase.driver("hoplite://memory")
