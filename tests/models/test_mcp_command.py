"""`hoplite mcp` where it cannot serve."""

from __future__ import annotations

import sys

import pytest

from hoplite.cli import main


def test_a_missing_extra_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "mcp", None)
    monkeypatch.setitem(sys.modules, "mcp.server", None)
    monkeypatch.delitem(sys.modules, "hoplite.models.mcp_server", raising=False)
    assert main(["mcp", "--sample"]) == 1
    assert "pip install 'hoplitedb[mcp]'" in capsys.readouterr().err


def test_an_address_has_to_have_a_port(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["mcp", "--http", "localhost"])
    assert "not of the form HOST:PORT" in capsys.readouterr().err
