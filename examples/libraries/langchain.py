"""LangChain on a graph in the process: `pip install langchain-neo4j`. A list of answers stands in for the model."""

from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_neo4j import GraphCypherQAChain, Neo4jGraph

import hoplite

hoplite.install_driver()  # LangChain makes its driver itself; now `hoplite://` is a URL like any other
with Neo4jGraph(url="hoplite://memory", username="neo4j", password="any") as graph:
    graph.query("CREATE (:Drug {name: 'Aspirin'})-[:TREATS]->(:Disease {name: 'Headache'})")
    graph.refresh_schema()
    print(graph.schema)
    answers = ["MATCH (d:Drug)-[:TREATS]->(x:Disease) RETURN d.name, x.name", "Aspirin treats headache."]
    chain = GraphCypherQAChain.from_llm(
        FakeListChatModel(responses=answers), graph=graph, allow_dangerous_requests=True
    )
    print(chain.invoke({"query": "What does aspirin treat?"})["result"])
