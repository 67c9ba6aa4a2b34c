"""Queries that a language model wrote: run them with limits, and hand errors back in a form it can repair."""

from neo4j.exceptions import Neo4jError

from hoplite.sample import load_sample

MACHINE_WRITTEN = [
    "MATCH (d:Drug)-[:TREATS]->(x:Disease {name: 'Migraine'}) RETURN d.name AS drug ORDER BY drug",
    "MATCH (d:Drug) RETURN drug.name",  # an unknown variable
    "MATCH (d:Drug RETURN d",  # a syntax error
    "MATCH (d:Drug) DETACH DELETE d",  # must not happen
    "MATCH p = (a:Drug)-[:INTERACTS_WITH*1..15]-(b:Drug) RETURN count(p)",  # would take forever
    "MATCH (a), (b) RETURN a, b",  # too many rows
]

with load_sample() as db:
    for query in MACHINE_WRITTEN:
        print(f"\n> {query}")
        # Limits belong to the session: no parameter of a query can lift them.
        with db.session(read_only=True, timeout=1.0, max_rows=1_000) as session:
            try:
                print(session.run(query).data()[:3])
            except Neo4jError as error:
                print(f"refused: {error.code}\n{error.message}")

    print("\nThe graph is as it was:", db.run("MATCH (d:Drug) RETURN count(d)").value())
