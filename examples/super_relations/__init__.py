"""Questions over several hops, answered by a search over super-relations (ReKnoS)."""
