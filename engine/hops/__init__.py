"""Hops: following relationships from nodes to nodes. The functions are described in `interface.py`.

Every function takes the name of a backend; `auto` chooses.
"""

from hoplite.engine.hops.expansion import is_wide
from hoplite.engine.hops.frontier import levels, reach, reach_merged, settled_search
from hoplite.engine.hops.graph_hops import hop_of, type_codes
from hoplite.engine.hops.guided import count_trails, trails
from hoplite.engine.hops.interface import (
    Booleans,
    Check,
    Ends,
    Excluded,
    Hop,
    Levels,
    Neighbourhoods,
    NodeMask,
    Positions,
    RelationshipMask,
    SettledSearch,
    Side,
    Steps,
    TrailBatch,
    unchecked,
)
from hoplite.engine.hops.into import expand_into
from hoplite.engine.hops.masks import remember_nodes, remember_relationships
from hoplite.engine.hops.matches import count_matches, count_matches_by_end, sums_for_all
from hoplite.engine.hops.pairs import count_pairs, neighbourhoods, neighbours_of_all
from hoplite.engine.hops.select import BackendName
from hoplite.engine.hops.shortest import Choice, shortest_paths, shortest_trails
from hoplite.engine.hops.steps import degrees, expand, expand_chunks

__all__ = [
    "BackendName",
    "Booleans",
    "Check",
    "Choice",
    "Ends",
    "Excluded",
    "Hop",
    "Levels",
    "Neighbourhoods",
    "NodeMask",
    "Positions",
    "RelationshipMask",
    "SettledSearch",
    "Side",
    "Steps",
    "TrailBatch",
    "count_matches",
    "count_matches_by_end",
    "count_pairs",
    "count_trails",
    "degrees",
    "expand",
    "expand_chunks",
    "expand_into",
    "hop_of",
    "is_wide",
    "levels",
    "neighbourhoods",
    "neighbours_of_all",
    "reach",
    "reach_merged",
    "remember_nodes",
    "remember_relationships",
    "settled_search",
    "shortest_paths",
    "shortest_trails",
    "sums_for_all",
    "trails",
    "type_codes",
    "unchecked",
]
