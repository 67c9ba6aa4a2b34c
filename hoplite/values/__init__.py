"""Cypher's values as the engine holds them, and what can be done with them without a graph.

value                the union of all of them
temporal, spatial, entities             the classes
calendar, zones                         days, offsets and regions as plain numbers
temporal_parse, temporal_make, temporal_truncate, duration_make   where temporal values come from
temporal_fields, temporal_arithmetic    what they are asked and what they do
order                equality, comparison, ORDER BY, groups
render, floats, map_order               text as Neo4j writes it
columns              many values at once
driver               to and from the official driver
"""
