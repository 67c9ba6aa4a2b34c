"""Measurements: `make bench`. Nothing here is asserted, and nothing here is installed."""
