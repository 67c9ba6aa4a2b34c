"""Machine-written queries whose answers differ from Neo4j's, or from its recorded ones, for a reason that is known.

Each class is described in docs/COMPATIBILITY.md, under "Machine-written queries".
"""

from __future__ import annotations

EXPLAINED: dict[str, str] = {}
