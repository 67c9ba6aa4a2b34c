"""Paths of variable length: returned as paths, or reduced to the nodes they end at."""

from hoplite.sample import load_sample

with load_sample() as db:
    # Paths are the driver's own neo4j.graph.Path. LIMIT stops the search.
    paths = "MATCH p = (a:Drug {name: 'Aspirin'})-[:INTERACTS_WITH*1..3]->(b) RETURN p LIMIT 5"
    for (path,) in db.run(paths):
        print(" -> ".join(node["name"] for node in path.nodes), [hop["severity"] for hop in path.relationships])

    # Only the ends are asked for: the plan is a frontier, and no path is ever enumerated.
    ends = "MATCH (a:Drug {name: 'Aspirin'})-[:INTERACTS_WITH*1..6]->(b) RETURN DISTINCT b.name AS name ORDER BY name"
    print(db.run(ends).value("name")[:5])
    print(db.explain(ends))

    # A predicate on every hop, and the shortest way between two nodes.
    severe = """
        MATCH p = shortestPath((a:Drug {name: 'Omeprazole'})-[:INTERACTS_WITH*]->(b:Drug {name: 'Digoxin'}))
        WHERE all(hop IN relationships(p) WHERE hop.severity <> 'minor')
        RETURN [n IN nodes(p) | n.name] AS names
    """
    for (names,) in db.run(severe):
        print(names)
