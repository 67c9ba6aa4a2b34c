"""Hoplite."""
