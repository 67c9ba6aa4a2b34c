"""Hetionet as Disease, Drug, Symptom, SideEffect and Pathway, with provenance on every relationship.

    (:Drug)-[:TREATS|PALLIATES]->(:Disease)-[:HAS_SYMPTOM]->(:Symptom)
    (:Drug)-[:CAUSES]->(:SideEffect)
    (:Drug)-[:AFFECTS_PATHWAY {via}]->(:Pathway)<-[:INVOLVES_PATHWAY {via}]-(:Disease)
    (:Drug)-[:RESEMBLES]-(:Drug), (:Disease)-[:RESEMBLES]-(:Disease)

Hetionet leads to pathways by genes. Where enough genes of a pathway are bound by a drug, or associated with a disease,
there is a relationship here whose `via` names them.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping

import hoplite
from examples.datasets import MissingData, data_path
from examples.datasets.hetionet import SOURCES, read_hetionet
from examples.datasets.plain_graph import Edge, PlainGraph, sample_graph
from examples.kg_rag.questions import disease_names

LABELS = ("Disease", "Drug", "Symptom", "SideEffect", "Pathway")
_TYPES = {
    "CtD": "TREATS",
    "CpD": "PALLIATES",
    "DpS": "HAS_SYMPTOM",
    "CcSE": "CAUSES",
    "CrC": "RESEMBLES",
    "DrD": "RESEMBLES",
}
_NAMED_GENES = 5


def medical_hetionet(least_genes: int = 3) -> PlainGraph:
    """The graph; a pathway needs a number of genes in common with a disease, or a drug.

    Raises `MissingData` where Hetionet is not there.
    """
    whole = read_hetionet({*_TYPES, "DaG", "CbG", "GpPW"}, labels={"Compound": "Drug"})
    kinds = {kind: (type_name, SOURCES[kind][1]) for kind, type_name in _TYPES.items()}
    for kind, type_name, by in (("DaGpPW", "INVOLVES_PATHWAY", "DaG"), ("CbGpPW", "AFFECTS_PATHWAY", "CbG")):
        kinds[kind] = (type_name, f"{SOURCES[by][1]}; {SOURCES['GpPW'][1]}")
    via = pathways_by_genes(whole, "DaG", "GpPW", "DaGpPW", least_genes)
    via |= pathways_by_genes(whole, "CbG", "GpPW", "CbGpPW", least_genes)
    return _of_labels(PlainGraph(whole.nodes, [*whole.edges, *via], kinds, via))


def medical_sample() -> PlainGraph:
    """The same schema, as far as the graph that ships has it; one gene is enough there."""
    whole = sample_graph()
    turned = PlainGraph(whole.nodes, [_turned(edge, "ASSOCIATED_WITH") for edge in whole.edges], whole.kinds)
    via = pathways_by_genes(turned, "ASSOCIATED_WITH", "PARTICIPATES_IN", "INVOLVES_PATHWAY", 1)
    kinds = {**whole.kinds, "INVOLVES_PATHWAY": ("INVOLVES_PATHWAY", "Hoplite's sample graph, by genes")}
    return _of_labels(PlainGraph(whole.nodes, [*whole.edges, *via], kinds, via))


def pathways_by_genes(graph: PlainGraph, to_gene: str, to_pathway: str, kind: str, least: int) -> dict[Edge, str]:
    """Relationships of a new kind, from what has genes to the pathways that these are in, with the genes in words."""
    pathways: dict[str, list[str]] = {}
    for gene, edge_kind, pathway in graph.edges:
        if edge_kind == to_pathway:
            pathways.setdefault(gene, []).append(pathway)
    genes: dict[Edge, list[str]] = {}
    for start, edge_kind, gene in graph.edges:
        if edge_kind == to_gene:
            for pathway in pathways.get(gene, ()):
                genes.setdefault((start, kind, pathway), []).append(graph.nodes[gene][0])
    return {edge: _listed(sorted(names)) for edge, names in genes.items() if len(names) >= least}


def _listed(names: list[str]) -> str:
    rest = len(names) - _NAMED_GENES
    return ", ".join(names[:_NAMED_GENES]) + (f" and {rest} more" if rest > 0 else "")


def _turned(edge: Edge, kind: str) -> Edge:
    return (edge[2], kind, edge[0]) if edge[1] == kind else edge


def _of_labels(graph: PlainGraph) -> PlainGraph:
    """Only the labels of the schema, and what is between them."""
    edges = [edge for edge in graph.edges if {graph.nodes[edge[0]][1], graph.nodes[edge[2]][1]} <= set(LABELS)]
    used = {end for edge in edges for end in (edge[0], edge[2])}
    return PlainGraph({id: node for id, node in graph.nodes.items() if id in used}, edges, graph.kinds, graph.via)


def synonyms_of(graph: PlainGraph) -> dict[str, list[str]]:
    """Other names of diseases by id: those of the Disease Ontology in SPOKE, where these are there, and their forms."""
    diseases = {id: name for id, (name, label) in graph.nodes.items() if label == "Disease"}
    found = {id: _forms(name) for id, name in diseases.items()}
    try:
        for name, id in disease_names(data_path("kg", "biomixqa")):
            found.get(f"Disease::{id}", []).append(name)
    except MissingData:
        pass
    taken = Counter(name.lower() for names in (*found.values(), diseases.values()) for name in set(names))
    kept = {id: [name for name in dict.fromkeys(names) if taken[name.lower()] == 1] for id, names in found.items()}
    return {id: names for id, names in kept.items() if names}


def _forms(name: str) -> list[str]:
    """What people make of a name: COPD, Crohn disease."""
    words = re.findall(r"[^\W_]+", name.replace("'s", ""))
    forms = ["".join(word[0] for word in words).upper()] if len(words) >= 3 else []
    if "'s " in name:
        forms.append(name.replace("'s ", " "))
    return forms


def add_synonyms(db: hoplite.Database, synonyms: Mapping[str, Iterable[str]]) -> None:
    """Write other names into the property `synonyms`."""
    rows = [[id, list(names)] for id, names in synonyms.items()]
    db.run("UNWIND $rows AS row MATCH (d:Disease {id: row[0]}) SET d.synonyms = row[1]", rows=rows)
