"""Queries run on Hoplite and on a live Neo4j, and the answers compared: `hoplite.diff(db, driver, queries)`."""
