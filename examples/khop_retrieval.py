"""k-hop retrieval: from the entities of a question to everything near them, with paths as evidence."""

from hoplite.sample import load_sample

with load_sample() as db:
    # Seeds are values of a property, ids as id(n) gives them, or nodes of a result.
    seeds = ["Warfarin", "Fluconazole"]
    near = db.khop(seeds, k=2, by=("Drug", "name"))
    print(f"{len(near)} nodes within two hops")

    typed = db.khop(seeds, k=3, types=["INTERACTS_WITH"], by=("Drug", "name"))
    exact = db.khop(seeds, k=3, types=["INTERACTS_WITH"], exact=True, by=("Drug", "name"))
    print(f"{len(typed)} drugs within three interactions, {len(exact)} at exactly three")

    # Many questions at once: set i has values[offsets[i]:offsets[i + 1]].
    offsets, values = db.khop([["Warfarin"], ["Fluconazole"]], k=1, batch=True, by=("Drug", "name"))
    for seed, first, last in zip(seeds, offsets, offsets[1:], strict=False):
        print(f"{seed} has {last - first - 1} neighbours")

    # `both` walks against the direction too.
    gout = db.run("MATCH (d:Disease {name: 'Gout'}) RETURN d").value()[0]
    for path in db.khop([gout], k=1, direction="both", paths=True)[:4]:
        print(" - ".join(node["name"] for node in path.nodes), [hop.type for hop in path.relationships])

    # The same through Cypher: planned as a frontier, because only the ends are asked for.
    query = "MATCH (d:Drug) WHERE d.name IN $names MATCH (d)-[*1..2]->(n) RETURN count(DISTINCT n) AS n"
    print(db.run(query, names=seeds).value()[0])
