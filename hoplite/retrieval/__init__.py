"""What programs that put a model beside a graph share, without a model inside; on batches of questions, in columns.

    linking       names in a text                        -> nodes, with how each was found and a score
    sets          a set of nodes for each question       -> the sets one step, or a chain of steps, further
    evidence      sets of seeds                          -> the nodes around them, ranked, and paths that lead there
    verbalise     paths and relationships                -> sentences, each with where it comes from
    budget        sentences of each question             -> those that fit a number of tokens
    groups        relationship types                     -> super-relations: by prefix, or by what they mean
    embeddings    texts                                  -> vectors, by any callable; sentence_model is one

Nodes are ids as `id(n)` gives them. The searches run on the database's backend: many questions share one pass over the
graph, and with Torch it is made on the device. docs/RETRIEVAL.md describes them with examples.
"""

from hoplite.retrieval.budget import Context, contexts, first_within
from hoplite.retrieval.embeddings import Embed, hashed_words, remembered, top_similar, unit_rows
from hoplite.retrieval.evidence import EvidencePaths, Neighbourhood, neighbourhood
from hoplite.retrieval.groups import SuperRelation, by_meaning, by_prefix, one_each, random_groups
from hoplite.retrieval.linking import Link, Linker, Links, Spotted
from hoplite.retrieval.sentence_model import sentence_model
from hoplite.retrieval.sets import NodeSets, Step, expand, follow, steps_at
from hoplite.retrieval.verbalise import Verbaliser

__all__ = [
    "Context",
    "Embed",
    "EvidencePaths",
    "Link",
    "Linker",
    "Links",
    "Neighbourhood",
    "NodeSets",
    "Spotted",
    "Step",
    "SuperRelation",
    "Verbaliser",
    "by_meaning",
    "by_prefix",
    "contexts",
    "expand",
    "first_within",
    "follow",
    "hashed_words",
    "neighbourhood",
    "one_each",
    "random_groups",
    "remembered",
    "sentence_model",
    "steps_at",
    "top_similar",
    "unit_rows",
]
