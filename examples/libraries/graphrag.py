"""neo4j-graphrag on a graph in the process: `pip install neo4j-graphrag`. A script stands in for the language model."""

from typing import Any

from neo4j_graphrag.llm import LLMInterface, LLMResponse
from neo4j_graphrag.retrievers import Text2CypherRetriever

from hoplite import GraphDatabase
from hoplite.sample import load_sample


class Scripted(LLMInterface):
    """Gives the same query to every question."""

    def invoke(self, input: str, *_: Any, **__: Any) -> LLMResponse:
        return LLMResponse(content="MATCH (d:Drug)-[:TREATS]->(:Disease {name: 'Gout'}) RETURN d.name ORDER BY d.name")

    async def ainvoke(self, input: str, *_: Any, **__: Any) -> LLMResponse:
        return self.invoke(input)


with load_sample() as db, GraphDatabase.driver(database=db) as driver:  # the one line that differs
    retriever = Text2CypherRetriever(driver=driver, llm=Scripted(model_name="script"))
    for item in retriever.search(query_text="What treats gout?").items:
        print(item.content)
