"""A server with the sample graph, stand-ins for a model and for a Neo4j, and a page of a real Chromium on it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

import hoplite

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "chrome")
WRITTEN = "MATCH (d:Drugs)-[:TREATS]->(x:Disease {name: 'Migraine'}) RETURN d.nmae AS drug"


def missing(what: str) -> None:
    """Skip, or fail if the tests of the console must run."""
    if os.environ.get("HOPLITE_CONSOLE") == "required":
        pytest.fail(what)
    pytest.skip(what)


class StandIn(BaseHTTPRequestHandler):
    """A model that always writes the same query, which is almost right."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        body = json.dumps({"choices": [{"message": {"role": "assistant", "content": WRITTEN}}]}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Nothing is written to the terminal."""


@dataclass(frozen=True, slots=True)
class Stage:
    """Where the page is, and the address of the stand-in for Neo4j."""

    url: str
    neo4j: str


@contextmanager
def stage_of() -> Iterator[Stage]:
    """A server that offers everything, and where it may connect."""
    model = ThreadingHTTPServer(("127.0.0.1", 0), StandIn)
    threading.Thread(target=model.serve_forever, daemon=True).start()
    other = hoplite.load_sample()
    other.run("MATCH (d:Drug {name: 'Aspirin'}) SET d.name = 'Acetylsalicylic acid'")
    program = "from hoplite.cli import main; raise SystemExit(main())"
    command = [sys.executable, "-c", program, "serve", "--sample", "--port", "0", "--diff", "--model"]
    command += [f"stand-in@http://127.0.0.1:{model.server_port}/v1"]
    with (
        hoplite.serve(other) as neo4j,
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as server,
    ):
        assert server.stdout is not None
        yield Stage(server.stdout.readline().strip().replace("bolt://", "http://") + "/", neo4j)
        server.terminate()
    model.shutdown()
    model.server_close()


@contextmanager
def found_browser() -> Iterator[Any]:
    """The Chromium of this machine, driven by Playwright."""
    try:
        from playwright.sync_api import sync_playwright
    except ImportError:
        missing("Playwright is not installed: make console-test")
    path = os.environ.get("CHROMIUM") or next(filter(None, map(shutil.which, BROWSERS)), None)
    if path is None:
        missing("There is no Chromium here: install it, or name it in CHROMIUM.")
    with sync_playwright() as playwright:
        # Without the sandbox, which root and containers cannot have; only pages of this test are shown.
        launched = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        yield launched
        launched.close()


@pytest.fixture(scope="session")
def stage() -> Iterator[Stage]:
    with stage_of() as opened:
        yield opened


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    with found_browser() as launched:
        yield launched


@pytest.fixture
def page(browser: Any, stage: Stage) -> Iterator[Any]:
    """The console, loaded, in a window of 1,024 pixels. What the browser complains of fails the test."""
    context = browser.new_context(viewport={"width": 1024, "height": 768}, accept_downloads=True)
    opened = context.new_page()
    opened.set_default_timeout(30_000)
    wrongs: list[str] = []

    def logged(message: Any) -> None:
        if message.type == "error":
            wrongs.append(message.text)

    def requested(request: Any) -> None:
        if not request.url.startswith((stage.url, "blob:")):
            wrongs.append(request.url)

    opened.on("pageerror", lambda error: wrongs.append(str(error)))
    opened.on("console", logged)
    opened.on("request", requested)
    opened.goto(stage.url)
    opened.wait_for_selector(".graph-canvas")
    yield opened
    context.close()
    assert wrongs == []
