"""Importers and exporters: forms read right, graphs there and back, and nothing left behind by a failure."""
