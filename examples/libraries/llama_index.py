"""LlamaIndex on a graph in the process: `pip install llama-index-graph-stores-neo4j`."""

from llama_index.core.graph_stores.types import EntityNode, Relation
from llama_index.graph_stores.neo4j import Neo4jPropertyGraphStore

import hoplite

hoplite.install_driver()  # LlamaIndex makes its driver itself; now `hoplite://` is a URL like any other
store = Neo4jPropertyGraphStore(url="hoplite://memory", username="neo4j", password="any")
aspirin = EntityNode(name="Aspirin", label="Drug", properties={"dose_mg": 100})
headache = EntityNode(name="Headache", label="Disease")
store.upsert_nodes([aspirin, headache])
store.upsert_relations([Relation(label="TREATS", source_id=aspirin.id, target_id=headache.id)])
for drug, treats, disease in store.get_triplets(entity_names=["Aspirin"]):
    print(drug.id, treats.label, disease.id)
print(store.structured_query("MATCH (d:Drug) RETURN d.name AS name, d.dose_mg AS dose_mg"))
store.close()
