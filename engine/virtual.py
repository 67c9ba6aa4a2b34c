"""Nodes and relationships that are in no graph: what schema procedures draw their pictures with. Ids are negative."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class VirtualNode:
    """A node made for a result; its element id is the number as text."""

    id: int
    labels: tuple[str, ...]
    properties: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class VirtualRelationship:
    """A relationship made for a result."""

    id: int
    type: str
    start: VirtualNode
    end: VirtualNode
    properties: Mapping[str, Any] = field(default_factory=dict)
