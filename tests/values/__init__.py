"""Tests of hoplite.values: temporal and spatial values, the orders, text, the driver's types."""
