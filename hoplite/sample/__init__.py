"""The sample graph that comes with Hoplite: drugs, diseases, symptoms, side effects, genes and pathways.

811 nodes and 2,338 relationships of common medical knowledge, written for this project to have something to ask about.
It is not a medical reference: it is small, simplified and not kept up to date.

    (:Drug)-[:TREATS {evidence}]->(:Disease)-[:HAS_SYMPTOM]->(:Symptom)
    (:Drug)-[:CAUSES {frequency}]->(:SideEffect)          (:Drug)-[:CONTRAINDICATED_IN]->(:Disease)
    (:Drug)-[:INTERACTS_WITH {severity, effect}]->(:Drug)  the first changes what the second does
    (:Drug)-[:TARGETS]->(:Gene)-[:ASSOCIATED_WITH]->(:Disease)
    (:Gene)-[:PARTICIPATES_IN]->(:Pathway)<-[:AFFECTS_PATHWAY]-(:Drug)
    (:Drug)-[:IS_A]->(:DrugClass)-[:IS_A]->(:DrugClass)    (:Disease)-[:IS_A]->(:Disease)
"""

from __future__ import annotations

import os
from importlib import resources

from hoplite.api.database import Database


def load_sample(*, import_folder: str | os.PathLike[str] | None = None) -> Database:
    """A new database in memory that holds the sample graph; `import_folder` is as in `hoplite.open`."""
    db = Database(import_folder=import_folder)
    with resources.as_file(resources.files("hoplite.sample").joinpath("graph.jsonl")) as path:
        db.import_jsonl(path)
    return db
