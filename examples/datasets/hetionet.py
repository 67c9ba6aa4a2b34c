"""Hetionet as a property graph: a label for each kind of node, a type for each verb, and where each fact comes from.

    (:Disease {id, name})-[:ASSOCIATES {kind: 'DaG', source: 'DISEASES, DisGeNET, DOAF, GWAS Catalog'}]->(:Gene)

The rebuilt edges carry no provenance of their own. `source` is that of the metaedge, as Hetionet documents it, so it
says which databases a kind of fact was taken from, not which of them holds this one fact.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from pathlib import Path

from examples.datasets import data_path, rows_of
from examples.datasets.plain_graph import Edge, PlainGraph

SOURCES: Mapping[str, tuple[str, str]] = {
    # metaedge: the relationship's type, and where Hetionet took these from
    "AdG": ("DOWNREGULATES", "Bgee"),
    "AeG": ("EXPRESSES", "Bgee"),
    "AuG": ("UPREGULATES", "Bgee"),
    "CbG": ("BINDS", "BindingDB, DrugBank, DrugCentral"),
    "CcSE": ("CAUSES", "SIDER 4.1"),
    "CdG": ("DOWNREGULATES", "LINCS L1000"),
    "CpD": ("PALLIATES", "PharmacotherapyDB"),
    "CrC": ("RESEMBLES", "Dice similarity of ECFP4"),
    "CtD": ("TREATS", "PharmacotherapyDB"),
    "CuG": ("UPREGULATES", "LINCS L1000"),
    "DaG": ("ASSOCIATES", "DISEASES, DisGeNET, DOAF, GWAS Catalog"),
    "DdG": ("DOWNREGULATES", "STARGEO"),
    "DlA": ("LOCALIZES", "MEDLINE co-occurrence"),
    "DpS": ("PRESENTS", "MEDLINE co-occurrence"),
    "DrD": ("RESEMBLES", "MEDLINE co-occurrence"),
    "DuG": ("UPREGULATES", "STARGEO"),
    "GcG": ("COVARIES", "Evolutionary rate covariation"),
    "GiG": ("INTERACTS", "Human interactome"),
    "GpBP": ("PARTICIPATES", "Gene Ontology"),
    "GpCC": ("PARTICIPATES", "Gene Ontology"),
    "GpMF": ("PARTICIPATES", "Gene Ontology"),
    "GpPW": ("PARTICIPATES", "WikiPathways, Reactome, PID"),
    "Gr>G": ("REGULATES", "LINCS L1000"),
    "PCiC": ("INCLUDES", "DrugCentral"),
}


def read_hetionet(
    metaedges: Collection[str], *, labels: Mapping[str, str] | None = None, folder: Path | None = None
) -> PlainGraph:
    """The edges of some metaedges and the nodes that they have, with some labels renamed.

    Raises `MissingData` where the files are not there.
    """
    folder = folder or data_path("kg", "hetionet")
    edges: list[Edge] = [
        (start, metaedge, end)
        for start, metaedge, end in rows_of(folder / "edges.tsv.gz")
        if metaedge in metaedges  # the line of titles is none of them
    ]
    used = {start for start, _, _ in edges} | {end for _, _, end in edges}
    nodes = {}
    for id, name, kind in rows_of(folder / "nodes.tsv.gz"):
        if id in used:
            label = kind.replace(" ", "")
            nodes[id] = (name, (labels or {}).get(label, label))
    return PlainGraph(nodes, edges, SOURCES)
