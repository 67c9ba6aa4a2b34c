"""Questions in words, with models that say what the test tells them to."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest

import hoplite
from hoplite.cli import main
from hoplite.models.ask import query_in
from hoplite.models.ask_evidence import evidence_of, evidence_queries
from hoplite.sample import load_sample

RIGHT = "MATCH (d:Drug {name: 'Aspirin'})-[t:TREATS]->(x:Disease) RETURN x.name ORDER BY x.name"


@pytest.fixture(scope="module")
def sample() -> hoplite.Database:
    return load_sample()


class Said:
    """A model that says one thing after the other, and keeps what it was asked."""

    def __init__(self, *texts: str) -> None:
        self._texts = list(texts)
        self.prompts: list[str] = []

    def __call__(self, prompt: str) -> str:
        self.prompts.append(prompt)
        return self._texts.pop(0)


def test_rows_come_with_the_query_and_what_they_rest_on(sample: hoplite.Database) -> None:
    model = Said(f"Here you are:\n```cypher\n{RIGHT}\n```")
    asked = sample.ask("What does aspirin treat?", model, examples=[("How many drugs are there?", "RETURN 1")])
    assert asked.cypher == RIGHT and asked.changes == []
    assert asked.rows.rows == sample.run_untrusted(RIGHT).rows != []
    assert "How many drugs are there?" in model.prompts[0] and "(:Drug)-[:TREATS]->(:Disease)" in model.prompts[0]
    assert len(asked.evidence.relationships) == len(asked.rows.rows)
    assert {one["properties"].keys() == {"evidence"} for one in asked.evidence.relationships.values()} == {True}
    assert set(asked.seconds) == {"schema", "generation", "repair", "execution", "evidence"}
    json.dumps(asked.to_dict(), allow_nan=False)


def test_what_can_be_repaired_is_not_asked_again(sample: hoplite.Database) -> None:
    model = Said(RIGHT.replace("-[t:TREATS]->", "<-[t:TREATS]-"))
    asked = sample.ask("What does aspirin treat?", model)
    assert asked.rows.rows and asked.changes and len(model.prompts) == 1


def test_what_fails_or_finds_nothing_goes_back_to_the_model(sample: hoplite.Database) -> None:
    model = Said("MATCH (d:Drug) RETURN d.name, 1 / 0", "MATCH (d:Drug) WHERE d.name = 'Nobody' RETURN d.name", RIGHT)
    asked = sample.ask("What does aspirin treat?", model)
    assert asked.cypher == RIGHT and len(asked.attempts) == 3
    assert "It failed" in model.prompts[1] and "It found nothing" in model.prompts[2]
    last = Said("MATCH (d:Drug) SET d.x = 1 RETURN d", "CREATE (:X)")
    asked = sample.ask("Delete everything", last, attempts=2)
    assert asked.rows.error is not None and "not allowed" in asked.rows.error["message"]
    assert len(asked.attempts) == 2


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("RETURN 1", "RETURN 1"),
        ("```\nRETURN 1\n```", "RETURN 1"),
        ("First:\n```cypher\nRETURN 1\n```\nbetter:\n```cypher\nRETURN 2\n```", "RETURN 2"),
        ("<think>\nMATCH is needed\n</think>\n\nMATCH (n) RETURN n", "MATCH (n) RETURN n"),
        ("Sure! MATCH (n) RETURN n", "MATCH (n) RETURN n"),
    ],
)
def test_the_query_is_found_in_what_a_model_says(text: str, query: str) -> None:
    assert query_in(text) == query


@pytest.mark.parametrize(
    ("query", "nodes", "relationships"),
    [
        ("MATCH (d:Drug {name: 'Aspirin'})-[:TREATS]->(x) RETURN count(x)", 4, 3),
        ("MATCH (d:Drug {name: 'Aspirin'}) WITH d MATCH (d)-[:TREATS]->(x) RETURN DISTINCT d.name", 4, 3),
        ("MATCH (d:Drug {name: 'Aspirin'})-[:TREATS]->(x) WITH x LIMIT 1 RETURN x.name", 2, 1),
        (
            "MATCH (d:Drug {name: 'Aspirin'})-[:TREATS]->(x) RETURN x.name AS name "
            "UNION MATCH (d:Drug {name: 'Aspirin'}) RETURN d.name AS name",
            4,
            3,
        ),
        ("MATCH (d:Drug {name: 'Aspirin'}) CALL (d) { MATCH (d)-[:TREATS]->(x) RETURN count(x) AS n } RETURN n", 4, 3),
        (
            "MATCH (d:Drug {name: 'Aspirin'}) CALL { WITH d MATCH (d)-[:TREATS]->(x) RETURN x.name AS x } RETURN x",
            4,
            3,
        ),
        ("MATCH (d:Drug {name: 'Aspirin'}) WHERE EXISTS { (d)-[:TREATS]->(x) } RETURN d.name", 4, 3),
        ("MATCH (d:Drug {name: 'Aspirin'}) WHERE COUNT { (d)-[:TREATS]->() } > 1 RETURN d.name", 4, 3),
        ("MATCH (d:Drug {name: 'Aspirin'}) WHERE (d)-[:TREATS]->() WITH d RETURN count(d)", 4, 3),
        ("MATCH (d:Drug {name: 'Aspirin'}) WHERE NOT (d)-[:TREATS]->(:Drug) RETURN d.name", 1, 0),
        ("MATCH p = (d:Drug {name: 'Aspirin'}) RETURN p", 0, 0),  # it has a name, and is in the rows
        ("RETURN 1", 0, 0),
        ("not cypher", 0, 0),
    ],
)
def test_evidence_is_what_the_patterns_matched(
    sample: hoplite.Database, query: str, nodes: int, relationships: int
) -> None:
    treated = sample.run("MATCH (:Drug {name: 'Aspirin'})-[:TREATS]->(x) RETURN count(x)").value()[0]
    found = evidence_of(sample, query, {}, rows=50, seconds=5)
    more = treated - 3 if relationships == 3 else 0
    assert (len(found.nodes), len(found.relationships)) == (nodes + more, relationships + more)


def test_evidence_leaves_the_rows_as_they_are(sample: hoplite.Database) -> None:
    query = (
        "MATCH (d:Drug)-[:TREATS]->(x) WITH d, count(x) AS n WHERE n > 4 RETURN d.name AS name, n ORDER BY n DESC, name"
    )
    (text,) = evidence_queries(query)
    assert [row[:2] for row in sample.run_untrusted(text).rows] == sample.run_untrusted(query).rows


@pytest.fixture
def endpoint() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """An OpenAI-compatible endpoint on this machine, and what it was asked."""
    bodies: list[dict[str, Any]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            bodies.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            found = self.path == "/v1/chat/completions"
            self.send_response(200 if found else 404)
            self.end_headers()
            self.wfile.write(json.dumps({"choices": [{"message": {"content": RIGHT}}]}).encode())

        def log_message(self, format: str, *args: Any) -> None:
            """Nothing: the test says what went wrong."""

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}", bodies
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_model_behind_an_endpoint_is_asked(
    endpoint: tuple[str, list[dict[str, Any]]], capsys: pytest.CaptureFixture[str]
) -> None:
    url, bodies = endpoint
    assert main(["ask", "What does aspirin treat?", "--sample", "--model", f"tiny@{url}/v1", "--seed", "7"]) == 0
    printed = capsys.readouterr().out
    assert RIGHT in printed and "relationships" in printed
    (body,) = bodies
    assert body["model"] == "tiny" and body["seed"] == 7
    assert (body["temperature"], body["top_p"], body["top_k"], body["repeat_penalty"]) == (0.2, 0.95, 40, 1.1)
    assert main(["ask", "What?", "--sample", "--model", f"tiny@{url}/nowhere"]) == 1
    assert "404" in capsys.readouterr().err
