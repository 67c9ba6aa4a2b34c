"""Libraries written for Neo4j run unchanged on a Hoplite driver and against `hoplite serve`, with a script in place of
the language model.

They are heavy and not among the development tools: `make libraries-test` installs them separately and runs this file.
"""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import neo4j
import pytest

import hoplite
from hoplite import GraphDatabase

pytestmark = [
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),  # of the libraries' own dependencies
    pytest.mark.filterwarnings("ignore::ResourceWarning"),
]

ACTORS = "MATCH (p:Person)-[:ACTED_IN]->(m:Movie {title: 'The Matrix'}) RETURN p.name AS name ORDER BY name"
SCHEMA = """Node properties:
Person {born: INTEGER, name: STRING}
Movie {embedding: LIST, plot: STRING, released: INTEGER, title: STRING}
Relationship properties:
ACTED_IN {roles: LIST}
The relationships:
(:Person)-[:ACTED_IN]->(:Movie)"""


def _in_order(schema: str) -> list[str]:
    """The lines of a schema, whatever the order of keys in them."""
    return ["".join(sorted(line)) for line in schema.splitlines()]


def _library(name: str) -> Any:
    """A library; if it is not installed, the test is skipped, or fails if it is required."""
    if os.environ.get("HOPLITE_LIBRARIES") == "required":
        import importlib

        return importlib.import_module(name)
    return pytest.importorskip(name, reason=f"{name} is not installed: make libraries-test")


@pytest.fixture(params=["in the process", "in a folder", "by Bolt"])
def address(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Where an empty database is found: by its name in this process, in a folder, or on a server."""
    if request.param == "in a folder":
        folder = tmp_path / "movies.hop"
        hoplite.open(folder).close()
        yield f"hoplite://{folder}"
    elif request.param == "by Bolt":
        with hoplite.serve() as uri:
            yield uri
    else:
        yield "hoplite://memory/movies"


@pytest.fixture
def movies(address: str) -> Iterator[neo4j.Driver]:
    """Two actors and two movies with texts and vectors, in a database that libraries find by its URL."""
    with GraphDatabase.driver(address, auth=("neo4j", "x")) as driver:
        driver.execute_query(
            """
            CREATE (k:Person {name: 'Keanu Reeves', born: 1964}), (c:Person {name: 'Carrie-Anne Moss', born: 1967}),
                (m:Movie {title: 'The Matrix', released: 1999, plot: 'A hacker wakes up', embedding: [1.0, 0.0]}),
                (s:Movie {title: 'Speed', released: 1994, plot: 'A bus must not slow down', embedding: [0.0, 1.0]}),
                (k)-[:ACTED_IN {roles: ['Neo']}]->(m), (c)-[:ACTED_IN {roles: ['Trinity']}]->(m), (k)-[:ACTED_IN]->(s)
            """
        )
        driver.execute_query("CREATE CONSTRAINT person FOR (p:Person) REQUIRE p.name IS UNIQUE")
        driver.execute_query("CREATE INDEX movie FOR (m:Movie) ON (m.title)")
        driver.execute_query(
            "CREATE VECTOR INDEX plots FOR (m:Movie) ON m.embedding "
            "OPTIONS {indexConfig: {`vector.dimensions`: 2, `vector.similarity_function`: 'cosine'}}"
        )
        driver.execute_query("CREATE FULLTEXT INDEX texts FOR (m:Movie) ON EACH [m.title, m.plot]")
        yield driver


@pytest.fixture
def installed() -> Iterator[None]:
    hoplite.install_driver()
    try:
        yield
    finally:
        hoplite.uninstall_driver()


# --- neo4j-graphrag ---


def _scripted(*answers: str) -> Any:
    """A model of neo4j-graphrag that says these things one after the other, and remembers what it was asked."""
    llm = _library("neo4j_graphrag.llm")

    class Scripted(llm.LLMInterface):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(model_name="script")
            self.asked: list[str] = []
            self.answers = list(answers)

        def invoke(self, input: str, *_: Any, **__: Any) -> Any:
            self.asked.append(input)
            return llm.LLMResponse(content=self.answers.pop(0))

        async def ainvoke(self, input: str, *_: Any, **__: Any) -> Any:
            return self.invoke(input)

    return Scripted()


def test_graphrag_reads_the_schema(movies: neo4j.Driver) -> None:
    schema = _library("neo4j_graphrag.schema")
    assert _in_order(schema.get_schema(movies)) == _in_order(SCHEMA)
    enhanced = schema.get_schema(movies, is_enhanced=True)
    assert "- `born`: INTEGER Min: 1964, Max: 1967" in enhanced
    structured = schema.get_structured_schema(movies)
    assert structured["relationships"] == [{"start": "Person", "type": "ACTED_IN", "end": "Movie"}]
    assert [rule["name"] for rule in structured["metadata"]["constraint"]] == ["person"]
    (index,) = [one for one in structured["metadata"]["index"] if one["properties"] == ["title"]]
    assert (index["label"], index["properties"], index["size"]) == ("Movie", ["title"], 2)


def test_graphrag_text_to_cypher(movies: neo4j.Driver) -> None:
    retrievers = _library("neo4j_graphrag.retrievers")
    model = _scripted(f"```cypher\n{ACTORS}\n```")
    found = retrievers.Text2CypherRetriever(driver=movies, llm=model).search(query_text="Who is in The Matrix?")
    assert [item.content for item in found.items] == [
        "<Record name='Carrie-Anne Moss'>",
        "<Record name='Keanu Reeves'>",
    ]
    assert found.metadata["cypher"].strip() == ACTORS
    assert SCHEMA.splitlines()[-1] in model.asked[0]


def test_graphrag_says_what_is_wrong_with_a_query(movies: neo4j.Driver) -> None:
    retrievers = _library("neo4j_graphrag.retrievers")
    exceptions = _library("neo4j_graphrag.exceptions")
    retriever = retrievers.Text2CypherRetriever(driver=movies, llm=_scripted("MATCH (p:Person) RETRN p"))
    with pytest.raises(exceptions.Text2CypherRetrievalError, match="Failed to get search result"):
        retriever.search(query_text="?")


def test_graphrag_searches_vectors_and_texts(movies: neo4j.Driver) -> None:
    retrievers = _library("neo4j_graphrag.retrievers")
    found = retrievers.VectorRetriever(movies, "plots").search(query_vector=[0.9, 0.1], top_k=1)
    assert "The Matrix" in found.items[0].content
    query = "MATCH (node)<-[:ACTED_IN]-(p) RETURN node.title AS title, collect(p.name) AS actors, score"
    around = retrievers.VectorCypherRetriever(movies, "plots", query).search(query_vector=[0.0, 1.0], top_k=1)
    assert "Speed" in around.items[0].content
    hybrid = retrievers.HybridRetriever(movies, "plots", "texts").search("hacker", query_vector=[1.0, 0.0], top_k=1)
    assert "The Matrix" in hybrid.items[0].content


# --- LangChain ---


@pytest.fixture
def graph(movies: neo4j.Driver, address: str, installed: None) -> Iterator[Any]:
    """LangChain's graph, which creates its own driver."""
    langchain_neo4j = _library("langchain_neo4j")
    with langchain_neo4j.Neo4jGraph(url=address, username="neo4j", password="x") as graph:
        yield graph


def test_langchain_reads_the_schema_and_queries(graph: Any) -> None:
    assert _in_order(graph.schema) == _in_order(SCHEMA)
    assert graph.query(ACTORS) == [{"name": "Carrie-Anne Moss"}, {"name": "Keanu Reeves"}]
    in_transactions = "MATCH (n) CALL (n) { SET n.seen = true } IN TRANSACTIONS OF 1 ROW RETURN count(n) AS n"
    assert graph.query(in_transactions) == [{"n": 4}]


@pytest.mark.parametrize("base_label", [True, False])
def test_langchain_adds_documents(graph: Any, base_label: bool) -> None:
    documents = _library("langchain_neo4j.graphs.graph_document")
    document = _library("langchain_core.documents").Document(page_content="Aspirin treats headache.")
    drug = documents.Node(id="Aspirin", type="Drug", properties={"dose": 100})
    disease = documents.Node(id="Headache", type="Disease")
    treats = documents.Relationship(source=drug, target=disease, type="treats", properties={"weight": 1.5})
    added = documents.GraphDocument(nodes=[drug, disease], relationships=[treats], source=document)
    for _ in range(2):  # merged, so twice is once
        graph.add_graph_documents([added], include_source=True, baseEntityLabel=base_label)
    found = graph.query("MATCH (d:Drug)-[t:TREATS]->(e:Disease) RETURN d.id, d.dose, t.weight, e.id")
    assert found == [{"d.id": "Aspirin", "d.dose": 100, "t.weight": 1.5, "e.id": "Headache"}]
    assert graph.query("MATCH (:Document)-[m:MENTIONS]->() RETURN count(m) AS n") == [{"n": 2}]
    graph.refresh_schema()
    assert "(:Drug)-[:TREATS]->(:Disease)" in graph.schema


def test_langchain_answers_a_question(graph: Any) -> None:
    models = _library("langchain_core.language_models.fake_chat_models")
    model = models.FakeListChatModel(responses=[ACTORS, "Keanu Reeves and Carrie-Anne Moss."])
    chain = _library("langchain_neo4j").GraphCypherQAChain.from_llm(
        model, graph=graph, allow_dangerous_requests=True, return_intermediate_steps=True
    )
    answer = chain.invoke({"query": "Who is in The Matrix?"})
    assert answer["result"] == "Keanu Reeves and Carrie-Anne Moss."
    assert answer["intermediate_steps"][1]["context"] == [{"name": "Carrie-Anne Moss"}, {"name": "Keanu Reeves"}]


def test_langchain_stores_vectors(address: str, installed: None) -> None:
    vectors = _library("langchain_neo4j").Neo4jVector
    embeddings = _library("langchain_core.embeddings").DeterministicFakeEmbedding(size=8)
    store = vectors.from_texts(
        ["a hacker wakes up", "a bus must not slow down"],
        embeddings,
        metadatas=[{"title": "The Matrix"}, {"title": "Speed"}],
        url=address,
        username="neo4j",
        password="x",
        search_type="hybrid",
    )
    (found,) = store.similarity_search("a hacker wakes up", k=1)
    assert found.metadata["title"] == "The Matrix"
    store._driver.close()


# --- LlamaIndex ---


@pytest.fixture(params=["memory", "folder"])
def url(request: pytest.FixtureRequest, tmp_path: Path, installed: None) -> str:
    """What replaces a Bolt URL: the one line that changes."""
    return "hoplite://memory" if request.param == "memory" else f"hoplite://{tmp_path}/kg.hop"


SIGNED_IN = {"username": "neo4j", "password": "x"}


def test_llama_index_graph_store(url: str) -> None:
    store = _library("llama_index.graph_stores.neo4j").Neo4jGraphStore(url=url, **SIGNED_IN)
    for disease in ("Headache", "Fever"):
        store.upsert_triplet("Aspirin", "TREATS", disease)
    assert sorted(store.get("Aspirin")) == [["TREATS", "Fever"], ["TREATS", "Headache"]]
    assert sorted(store.get_rel_map(["Aspirin"], depth=1)["Aspirin"]) == [["TREATS", "Fever"], ["TREATS", "Headache"]]
    store.delete("Aspirin", "TREATS", "Fever")
    assert store.get("Aspirin") == [["TREATS", "Headache"]]
    store.refresh_schema()
    assert "(:Entity)-[:TREATS]->(:Entity)" in store.get_schema()
    store._driver.close()


def test_llama_index_property_graph_store(url: str) -> None:
    types = _library("llama_index.core.graph_stores.types")
    query = _library("llama_index.core.vector_stores.types").VectorStoreQuery
    store = _library("llama_index.graph_stores.neo4j").Neo4jPropertyGraphStore(url=url, **SIGNED_IN)
    ann = types.EntityNode(name="Ann", label="Person", properties={"age": 3}, embedding=[1.0, 0.0])
    bob = types.EntityNode(name="Bob", label="Person", embedding=[0.0, 1.0])
    store.upsert_nodes([ann, bob, types.ChunkNode(text="Ann knows Bob.", id_="c1")])
    knows = types.Relation(label="KNOWS", source_id=ann.id, target_id=bob.id, properties={"since": 2000})
    store.upsert_relations([knows])
    ((one, relation, other),) = store.get_triplets(entity_names=["Ann"])
    assert (one.name, relation.label, other.name, relation.properties) == ("Ann", "KNOWS", "Bob", {"since": 2000})
    assert [[n.name for n in (a, b)] for a, _, b in store.get_rel_map([ann], depth=2)] == [["Ann", "Bob"]]
    found, scores = store.vector_query(query(query_embedding=[1.0, 0.1], similarity_top_k=1))
    assert found[0].name == "Ann" and scores[0] > 0.9
    assert store.structured_query("MATCH (p:Person) RETURN p.name AS name ORDER BY name") == [
        {"name": "Ann"},
        {"name": "Bob"},
    ]
    store.refresh_schema()
    assert "(:Person)-[:KNOWS]->(:Person)" in store.get_schema_str()
    store.delete(entity_names=["Bob"])
    assert len(store.get()) == 2
    store.close()


@pytest.mark.parametrize("hybrid", [False, True])
def test_llama_index_vector_store(url: str, hybrid: bool) -> None:
    nodes = _library("llama_index.core.schema")
    types = _library("llama_index.core.vector_stores.types")
    stores = _library("llama_index.vector_stores.neo4jvector")
    store = stores.Neo4jVectorStore(url=url, embedding_dimension=2, hybrid_search=hybrid, **SIGNED_IN)
    matrix = nodes.TextNode(id_="1", text="a hacker", metadata={"title": "The Matrix"}, embedding=[1.0, 0.0])
    speed = nodes.TextNode(id_="2", text="a bus", metadata={"title": "Speed"}, embedding=[0.0, 1.0])
    store.add([matrix, speed])
    asked = types.VectorStoreQuery(query_embedding=[1.0, 0.1], similarity_top_k=1, query_str="hacker")
    assert store.query(asked).ids == ["1"]
    if not hybrid:
        only = types.MetadataFilters(filters=[types.MetadataFilter(key="title", value="Speed")])
        asked = types.VectorStoreQuery(query_embedding=[1.0, 0.1], similarity_top_k=1, filters=only)
        assert store.query(asked).ids == ["2"]
    store._driver.close()


# --- mcp-neo4j-cypher ---


def test_mcp_neo4j_cypher(url: str) -> None:
    """The server of Neo4j's own tools, asked by its client in the same process."""
    server = _library("mcp_neo4j_cypher.server")
    fastmcp = _library("fastmcp")

    async def ask() -> list[Any]:
        async with neo4j.AsyncGraphDatabase.driver(url, auth=("neo4j", "x")) as driver:
            made = server.create_mcp_server(driver)
            async with fastmcp.Client(made) as client:
                names = sorted(tool.name for tool in await client.list_tools())
                create = "CREATE (:Person {name: 'Ann'})-[:KNOWS]->(:Person {name: 'Bob'})"
                await client.call_tool("write_neo4j_cypher", {"query": create})
                read = "MATCH (a)-[:KNOWS]->(b) RETURN a.name AS a, b.name AS b"
                rows = await client.call_tool("read_neo4j_cypher", {"query": read})
                schema = await client.call_tool("get_neo4j_schema", {})
                with pytest.raises(fastmcp.exceptions.ToolError):
                    await client.call_tool("read_neo4j_cypher", {"query": create})
                return [names, json.loads(rows.content[0].text), json.loads(schema.content[0].text)]

    names, rows, schema = asyncio.run(ask())
    assert names == ["get_neo4j_schema", "read_neo4j_cypher", "write_neo4j_cypher"]
    assert rows == [{"a": "Ann", "b": "Bob"}]
    assert "KNOWS" in schema["Person"]["relationships"]


# --- examples ---

EXAMPLES = Path(__file__).resolve().parents[2] / "examples" / "libraries"
SHOWN = {
    "graphrag": ("neo4j_graphrag", "Allopurinol"),
    "langchain": ("langchain_neo4j", "Aspirin treats headache."),
    "llama_index": ("llama_index.graph_stores.neo4j", "Aspirin TREATS Headache"),
    "mcp_neo4j_cypher": ("mcp_neo4j_cypher", "Allopurinol"),
}


def test_every_library_has_an_example() -> None:
    assert sorted(path.stem for path in EXAMPLES.glob("*.py")) == sorted(SHOWN)


@pytest.mark.parametrize("name", SHOWN)
def test_examples_run(name: str, tmp_path: Path) -> None:
    library, shown = SHOWN[name]
    _library(library)
    # Without its folder in the path: an example may be called like the library that it shows.
    code = f"import runpy, sys; sys.path[0] = {os.getcwd()!r}; runpy.run_path({str(EXAMPLES / name)!r} + '.py')"
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, cwd=tmp_path)
    assert run.returncode == 0, run.stderr
    assert shown in run.stdout
