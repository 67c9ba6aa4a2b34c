"""Queries run on Hoplite and on a live Neo4j, answers compared: `hoplite.diff(db, driver, queries)`."""
