"""The page on the Python API names what there is, all of it that is public, and nothing else."""

from __future__ import annotations

import re
from importlib import import_module
from pkgutil import resolve_name

import pytest

import hoplite
from tests.docs.blocks import ROOT

PAGE = (ROOT / "docs" / "guide" / "api.md").read_text(encoding="utf-8")
LISTED = re.findall(r"^::: (\S+)$", PAGE, re.M)


@pytest.mark.parametrize("name", LISTED)
def test_what_the_reference_lists_exists(name: str) -> None:
    module = name
    while True:
        try:
            import_module(module)
            break
        except ModuleNotFoundError:
            module = module.rpartition(".")[0]
    assert resolve_name(f"{module}:{name[len(module) + 1 :]}" if module != name else name) is not None


def test_every_public_name_is_listed() -> None:
    listed = {name.rpartition(".")[2] for name in LISTED}
    assert set(hoplite.__all__) - {"__version__"} <= listed


def test_the_calls_in_the_tables_exist() -> None:
    table = PAGE[PAGE.index("## The main calls") : PAGE.index("## Your own")]
    database = set(re.findall(r"`db\.(\w+)\(", table))
    package = set(re.findall(r"`hoplite\.(\w+)[`(.]", table))
    result = set(re.findall(r"`\.(\w+)\(", table))
    assert len(database) > 15 and len(package) > 10 and len(result) > 8
    assert all(hasattr(hoplite.Database, name) for name in database)
    assert all(hasattr(hoplite.Result, name) for name in result)
    for name in package:
        assert hasattr(hoplite, name) or import_module(f"hoplite.{name}"), name


def test_members_that_are_picked_exist() -> None:
    (picked,) = re.findall(r"Result\n    options:\n      members: \[(.*)\]", PAGE)
    assert all(hasattr(hoplite.Result, name) for name in picked.split(", "))
