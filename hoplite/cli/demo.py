"""`hoplite demo`: six questions to the sample graph, with their answers."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import neo4j  # noqa: F401 - the driver's result types, whose import the first question would be timed with
from rich.console import Console
from rich.panel import Panel
from rich.syntax import Syntax
from rich.text import Text

from hoplite.cli.render import counted, cypher_text, table
from hoplite.sample import load_sample

if TYPE_CHECKING:
    from hoplite.api.database import Database

LOOK_UP = """\
MATCH (d:Drug {name: 'Metformin'})-[t:TREATS]->(x:Disease)
RETURN x.name AS disease, x.icd10 AS icd10, t.evidence AS evidence
ORDER BY disease"""

AGGREGATION = """\
MATCH (d:Drug)-[:IS_A*]->(c:DrugClass), (d)-[:CAUSES]->(s:SideEffect)
RETURN c.name AS class, count(DISTINCT d) AS drugs, count(DISTINCT s) AS `side effects`
ORDER BY drugs DESC, class LIMIT 6"""

PATHS = """\
MATCH p = (a:Drug {name: 'Fluoxetine'})-[:INTERACTS_WITH*1..3]->
          (b:Drug {name: 'Simvastatin'})
RETURN p ORDER BY length(p) LIMIT 5"""

REACHABLE = """\
MATCH (a:Drug {name: 'Omeprazole'})-[:INTERACTS_WITH*1..3]->(b)
RETURN DISTINCT b.name"""

ERROR = "MATCH (drug:Drug) WHERE drug.name = 'Aspirin' RETURN drgu.name"


def run_demo(console: Console | None = None) -> None:
    console = console or Console()
    began = time.perf_counter()
    with load_sample() as db:
        nodes = db.run("MATCH (n) RETURN count(n)").value()[0]
        relationships = db.run("MATCH ()-[r]->() RETURN count(r)").value()[0]
        elapsed = (time.perf_counter() - began) * 1000
        console.print(
            Panel(
                f"A biomedical knowledge graph in this process: {nodes:,} nodes, {relationships:,} relationships, "
                f"loaded in {elapsed:.0f} ms.\nNo server, no schema, the Cypher that Neo4j runs.",
                title="Hoplite",
                title_align="left",
            )
        )
        _ask(console, db, "1. A look-up", LOOK_UP)
        _ask(console, db, "2. An aggregation over a hierarchy", AGGREGATION)
        _draw(console, db, "3. Paths: how may fluoxetine affect simvastatin?", PATHS)
        _explain(console, db, "4. The plan: only the ends matter, so no path is ever enumerated", REACHABLE)
        _retrieve(console, db, "5. k-hop retrieval: everything within two hops of a question's entities")
        _fail(console, db, "6. A mistake, and what comes back to repair it", ERROR)
    console.print()
    console.print(
        Text("hoplite ui --sample opens this graph in the browser; hoplite serve works with any Neo4j driver.", "dim")
    )


def _heading(console: Console, title: str, query: str | None = None) -> None:
    console.print()
    console.rule(Text(title, "bold"), align="left")
    if query:
        console.print(Syntax(query, "cypher", background_color="default", word_wrap=True))


def _ask(console: Console, db: Database, title: str, query: str) -> None:
    _heading(console, title, query)
    began = time.perf_counter()
    result = db.run(query)
    rows = [record.values() for record in result]
    elapsed = (time.perf_counter() - began) * 1000
    console.print(table(result.keys(), rows))
    console.print(Text(f"{counted(len(rows), 'row')}, {elapsed:.1f} ms", "dim"))


def _draw(console: Console, db: Database, title: str, query: str) -> None:
    _heading(console, title, query)
    for record in db.run(query):
        console.print(Text(f"  {cypher_text(record['p'])}", "green"), soft_wrap=True)


def _explain(console: Console, db: Database, title: str, query: str) -> None:
    _heading(console, title, query)
    console.print(Text(db.explain(query)), soft_wrap=True)
    console.print(Text(f"{len(db.run(query).values())} drugs", "dim"))


def _retrieve(console: Console, db: Database, title: str) -> None:
    _heading(console, title)
    seeds = db.run("MATCH (n) WHERE n.name IN ['Gout', 'Colchicine'] RETURN id(n)").value()
    console.print(Syntax(f"db.khop({seeds}, k=2, direction='both')", "python", background_color="default"))
    began = time.perf_counter()
    found = db.khop(seeds, 2, direction="both")
    elapsed = (time.perf_counter() - began) * 1000
    counts = db.run(
        "MATCH (n) WHERE id(n) IN $ids RETURN labels(n)[0] AS label, count(*) AS nodes ORDER BY nodes DESC",
        ids=[int(node) for node in found],
    )
    console.print(table(counts.keys(), counts.values()))
    console.print(Text(f"{len(found)} nodes, {elapsed:.1f} ms; the shortest paths to them are the evidence:", "dim"))
    for path in db.khop(seeds, 2, direction="both", exact=True, paths=True)[:3]:
        console.print(Text(f"  {cypher_text(path)}", "green"), soft_wrap=True)


def _fail(console: Console, db: Database, title: str, query: str) -> None:
    from neo4j.exceptions import Neo4jError

    _heading(console, title, query)
    try:
        db.run(query)
    except Neo4jError as error:
        console.print(Text(f"{error.code}\n{error.message}", "red"), soft_wrap=True)
