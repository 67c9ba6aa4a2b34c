"""Load a graph from arrays and data frames: node tables have a key, relationship tables refer to it."""

import numpy as np
import pandas as pd

import hoplite

drugs = pd.DataFrame(
    {"id": ["d1", "d2", "d3"], "name": ["Aspirin", "Warfarin", "Digoxin"], "dose_mg": [100.0, 5.0, None]}
)
diseases = {"id": ["x1", "x2"], "name": ["Atrial fibrillation", "Heart failure"]}
treats = pd.DataFrame({"start": ["d2", "d3", "d3"], "end": ["x1", "x1", "x2"], "evidence": ["A", "B", "A"]})
interacts = {"start": np.array(["d1", "d2"]), "end": np.array(["d2", "d3"]), "severity": np.array([3, 1])}

with hoplite.open() as db:
    loaded = db.load(
        nodes={"Drug": drugs, "Disease": diseases},
        relationships={("Drug", "TREATS", "Disease"): treats, ("Drug", "INTERACTS_WITH", "Drug"): interacts},
    )
    print(loaded)

    # A missing value is an absent property.
    print(db.run("MATCH (d:Drug) WHERE d.dose_mg IS NULL RETURN d.name").value())

    # And back into a data frame.
    query = "MATCH (d:Drug)-[t:TREATS]->(x:Disease) RETURN d.name AS drug, x.name AS disease, t.evidence AS evidence"
    print(db.run(query + " ORDER BY drug, disease").to_df())
