"""Measurements: `make bench`. Nothing here is asserted or installed."""
