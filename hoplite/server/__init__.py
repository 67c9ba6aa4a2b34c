"""Bolt for every driver: `hoplite serve`, and `with hoplite.serve(db) as uri:` in tests. See docs/SERVER.md."""

from hoplite.server.background import Served, serve

__all__ = ["Served", "serve"]
