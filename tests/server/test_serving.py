"""`hoplite serve`, `hoplite ui` and the fixture of pytest, each in a process of its own."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import pytest
from neo4j import GraphDatabase, TrustAll

import hoplite
from hoplite.api.transaction import Transaction
from tests.server.drivers.run import ROOT, serving
from tests.server.wire import Wire

pytestmark = pytest.mark.skipif(os.name != "posix", reason="ends processes by signals")


def test_a_folder_is_served_and_kept(tmp_path: Path) -> None:
    place = str(tmp_path / "graph.hop")
    with serving(place) as (uri, _), GraphDatabase.driver(uri) as driver:
        driver.execute_query("CREATE (:Kept)")
    with hoplite.open(place) as db:
        assert db.run("MATCH (n:Kept) RETURN count(n)").values() == [[1]]
    with serving(place, "--read-only") as (uri, _), GraphDatabase.driver(uri) as driver:
        assert driver.execute_query("MATCH (n) RETURN count(n) AS n").records[0]["n"] == 1
        with pytest.raises(Exception, match="read access mode"):
            driver.execute_query("CREATE (:No)")


def test_what_was_acknowledged_is_kept_when_the_server_is_killed(tmp_path: Path) -> None:
    place = str(tmp_path / "graph.hop")
    with serving(place) as (uri, pid), GraphDatabase.driver(uri) as driver:
        for number in range(20):
            driver.execute_query("CREATE (:Kept {number: $number})", number=number)
        os.kill(pid, signal.SIGKILL)
    with hoplite.open(place) as db:
        assert db.run("MATCH (n:Kept) RETURN count(n)").values() == [[20]]


def _run(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    code = "import sys; from hoplite.cli import main; raise SystemExit(main(sys.argv[1:]))"
    return subprocess.run(
        [sys.executable, "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=60,
        env={**os.environ, "PYTHONPATH": str(ROOT), **environment},
    )


def test_a_commit_that_takes_longer_than_the_end_is_acknowledged(monkeypatch: pytest.MonkeyPatch) -> None:
    committing = threading.Event()
    commit = Transaction.commit

    def slow(self: Transaction) -> None:
        committing.set()
        time.sleep(1)
        commit(self)

    monkeypatch.setattr(Transaction, "commit", slow)
    with hoplite.open() as db:
        server = hoplite.serve(db, grace=0.1)
        with Wire(server.port, (5, 8)) as wire:
            wire.log_on((5, 8))
            wire.ask("BEGIN", {})
            wire.ask("RUN", "CREATE (:Kept)", {}, {})
            wire.ask("PULL", {"n": -1})
            wire.send("COMMIT")
            committing.wait()
            server.close()
            assert wire.reply()[0] == "SUCCESS"
        assert db.run("MATCH (n:Kept) RETURN count(n)").value() == [1]


def test_other_machines_are_not_let_in_without_a_password(tmp_path: Path) -> None:
    refused = _run("serve", "--host", "0.0.0.0", "--port", "0")
    assert refused.returncode == 1 and "HOPLITE_AUTH" in refused.stderr
    assert _run("serve", "--port", "0", HOPLITE_AUTH="nonsense").returncode == 1
    users = tmp_path / "users"
    users.write_text("alice:secret\n")
    users.chmod(0o644)
    assert "chmod" in _run("serve", "--port", "0", "--auth-file", str(users)).stderr
    users.chmod(0o600)
    with serving("--auth-file", str(users)) as (uri, _):
        with GraphDatabase.driver(uri, auth=("alice", "secret")) as driver:
            driver.verify_connectivity()
        with GraphDatabase.driver(uri, auth=("alice", "no")) as driver, pytest.raises(Exception, match="unauthorized"):
            driver.verify_connectivity()


@pytest.mark.skipif(shutil.which("openssl") is None, reason="makes a certificate with openssl")
@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--port", "99999"), "A port is a number from 0 to 65535, not 99999"),
        (("--port", "-1"), "A port is a number from 0 to 65535, not -1"),
        (("--port", "0", "--tls-cert", "no-such.pem"), "no-such.pem: cannot read a certificate and key"),
    ],
)
def test_what_cannot_be_served_is_said_without_a_traceback(arguments: tuple[str, ...], said: str) -> None:
    done = _run("serve", *arguments)
    assert done.returncode != 0
    assert said in done.stderr
    assert "Traceback" not in done.stderr


def test_connections_may_be_encrypted(tmp_path: Path) -> None:
    key, certificate = str(tmp_path / "key.pem"), str(tmp_path / "cert.pem")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    subprocess.run([*command, "-keyout", key, "-out", certificate], check=True, capture_output=True)
    with serving("--tls-cert", certificate, "--tls-key", key) as (uri, _):
        assert uri.startswith("bolt+ssc://")
        with GraphDatabase.driver(uri) as driver:
            assert driver.execute_query("RETURN 1 AS x").records[0]["x"] == 1
        plain = uri.replace("bolt+ssc:", "bolt:")
        with GraphDatabase.driver(plain, encrypted=True, trusted_certificates=TrustAll()) as driver:
            driver.verify_connectivity()
        with GraphDatabase.driver(plain) as driver, pytest.raises(Exception, match=r".+"):
            driver.verify_connectivity()


def test_ui_prints_where_the_console_is() -> None:
    code = "import sys; from hoplite.cli import main; raise SystemExit(main(['ui', '--sample', '--no-browser']))"
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, env=environment, text=True) as process:
        assert process.stdout is not None
        address = process.stdout.readline().strip()
        try:
            assert address.startswith("http://127.0.0.1:")
            with GraphDatabase.driver(address.rstrip("/").replace("http:", "bolt:")) as driver:
                (server,) = driver.execute_query("CALL hoplite.server()").records
                assert server["diff"] is True
            try:
                with urllib.request.urlopen(address) as page:
                    assert page.status == 200
            except urllib.error.HTTPError as missing:  # a source tree in which it was not built
                assert missing.code == 404
        finally:
            process.send_signal(signal.SIGINT)
            assert process.wait(30) == 0


def test_the_fixture_gives_each_test_an_empty_graph(tmp_path: Path) -> None:
    (tmp_path / "test_it.py").write_text(
        "import neo4j, pytest\n"
        "@pytest.mark.parametrize('n', [1, 2])\n"
        "def test_it(hoplite_uri, n):\n"
        "    with neo4j.GraphDatabase.driver(hoplite_uri) as driver:\n"
        "        driver.execute_query('CREATE (:A)')\n"
        "        assert driver.execute_query('MATCH (n) RETURN count(n) AS n').records[0]['n'] == 1\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "pytest_hoplite", "-p", "no:cacheprovider", str(tmp_path)]
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=tmp_path)
    assert "2 passed" in done.stdout, done.stdout + done.stderr


def test_the_plugin_keeps_pytest_from_rewriting_the_engine(tmp_path: Path) -> None:
    (tmp_path / "marking.py").write_text("import pytest\npytest.register_assert_rewrite('hoplite')\n")
    (tmp_path / "test_it.py").write_text(
        "from importlib.machinery import SourceFileLoader\n"
        "def test_it():\n"
        "    from hoplite.values import driver\n"
        "    assert type(driver.__loader__) is SourceFileLoader\n"
    )
    command = [sys.executable, "-m", "pytest", "-q", "-p", "marking", "-p", "pytest_hoplite", "-p", "no:cacheprovider"]
    environment = {**os.environ, "PYTHONPATH": f"{ROOT}{os.pathsep}{tmp_path}"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment, cwd=tmp_path)
    assert "1 passed" in done.stdout, done.stdout + done.stderr


def test_a_server_starts_without_the_driver_package() -> None:
    code = (
        "import sys, hoplite\n"
        "with hoplite.serve() as uri:\n"
        "    heavy = {'neo4j', 'pandas', 'pyarrow', 'scipy', 'numba'} & set(sys.modules)\n"
        "    assert not heavy, heavy\n"
    )
    environment = {**os.environ, "PYTHONPATH": str(ROOT)}
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60, env=environment)
