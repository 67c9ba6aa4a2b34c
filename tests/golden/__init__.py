"""Recorded answers of a live Neo4j: small statements, pattern queries, machine-written queries."""
