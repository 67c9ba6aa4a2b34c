"""Random patterns of several MATCH clauses with cycles, predicates and aggregates, against the plainest matcher."""
