"""Machine-written queries whose answers differ from Neo4j's, or from its recorded ones, for a reason that is known.

Each class is described in docs/COMPATIBILITY.md, under "Machine-written queries".
"""

from __future__ import annotations

_ROUNDED_KEY = "an average as a grouping key"

EXPLAINED: dict[str, str] = {
    # avg() of one set of values, in whatever order rows come, differs in its last digits from group to group.
    "graph-data-science q07febcd0193e07": _ROUNDED_KEY,
}
