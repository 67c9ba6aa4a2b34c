"""Open a database, write a graph, ask it something. Everything happens in this process."""

import hoplite

with hoplite.open() as db:
    db.run("""
        CREATE (aspirin:Drug {name: 'Aspirin'}), (warfarin:Drug {name: 'Warfarin'}),
               (fever:Symptom {name: 'Fever'}), (flu:Disease {name: 'Influenza'}),
               (aspirin)-[:INTERACTS_WITH {severity: 'major'}]->(warfarin),
               (flu)-[:HAS_SYMPTOM]->(fever)
    """)

    # Parameters are never pasted into the text.
    for record in db.run(
        "MATCH (a:Drug {name: $name})-[i:INTERACTS_WITH]->(b) RETURN b.name AS drug, i.severity AS severity",
        name="Aspirin",
    ):
        print(record["drug"], record["severity"])

    # Several statements that belong together: all of them, or none.
    with db.begin() as tx:
        tx.run("MATCH (d:Drug {name: 'Aspirin'}) SET d.otc = true")
        tx.run("MATCH (a:Drug {name: 'Aspirin'}), (s:Symptom {name: 'Fever'}) CREATE (a)-[:RELIEVES]->(s)")

    drug = db.run("MATCH (d:Drug {otc: true}) RETURN d").value()[0]
    print(type(drug).__module__, sorted(drug.labels), dict(drug.items()))

    counts = db.run("MATCH (n) RETURN labels(n)[0] AS label, count(*) AS n ORDER BY label")
    print(counts.data())
