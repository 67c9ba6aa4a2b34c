"""Tests against a live Neo4j, marked `neo4j`: importer, differ, and differential fuzzing."""
