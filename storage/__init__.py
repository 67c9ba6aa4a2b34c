"""The graph: incidence arrays, labels, property columns, indexes, partitions, transactions and importers. It does not
know Cypher.

    Graph ── snapshot() ──▶ Snapshot      what a reader sees: one committed version, for as long as it is held
      └───── begin() ─────▶ Transaction   the same reads over its own uncommitted state, and writes

A version is an immutable `Base` (partitions, columns, indexes) and a `Delta` of what was written since the base
was made.
"""
