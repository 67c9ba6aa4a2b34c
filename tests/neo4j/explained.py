"""Machine-written queries whose answers differ from Neo4j's, or from its recorded ones, for a reason that is known.

Each class is described in docs/COMPATIBILITY.md, under "Machine-written queries".
"""

from __future__ import annotations

ROUNDED_KEY = "an average as a grouping key"
"""avg() of one set of values differs in its last digits with the order of rows, so that groups fall apart."""

LISTED_KEYS = "lists from keys() as values"
"""The same keys in another order are another list; Neo4j's order follows the order in which properties were stored."""

EXPLAINED: dict[str, str] = {
    "graph-data-science q07febcd0193e07": ROUNDED_KEY,
    "pole qdf4d93615cc48b": ROUNDED_KEY,
    "star-wars q38e87c6a475a0c": ROUNDED_KEY,
    "openstreetmap q7b6e3a032547d9": LISTED_KEYS,
}
