"""Importers and exporters: formats read correctly, round trips, and nothing left behind by a failure."""
