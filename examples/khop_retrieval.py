"""k-hop retrieval: from the entities of a question to everything near them, with paths as evidence."""

from hoplite.sample import load_sample

with load_sample() as db:
    seeds = db.run("MATCH (d:Drug) WHERE d.name IN $names RETURN id(d)", names=["Warfarin", "Fluconazole"]).value()

    near = db.khop(seeds, k=2)
    print(f"{len(near)} nodes within two hops")

    typed = db.khop(seeds, k=3, types=["INTERACTS_WITH"])
    exact = db.khop(seeds, k=3, types=["INTERACTS_WITH"], exact=True)
    print(f"{len(typed)} drugs within three interactions, {len(exact)} at exactly three")

    # Seeds may also be nodes of a result; `both` walks against the direction too.
    gout = db.run("MATCH (d:Disease {name: 'Gout'}) RETURN d").value()[0]
    for path in db.khop([gout], k=1, direction="both", paths=True)[:4]:
        print(" - ".join(node["name"] for node in path.nodes), [hop.type for hop in path.relationships])

    # The same through Cypher: planned as a frontier, because only the ends are asked for.
    query = "MATCH (d:Drug) WHERE d.name IN $names MATCH (d)-[*1..2]->(n) RETURN count(DISTINCT n) AS n"
    print(db.run(query, names=["Warfarin", "Fluconazole"]).value()[0])
