"""Variable-length patterns through Cypher text, held to plain enumeration on random multigraphs."""
