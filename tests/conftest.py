"""What all tests share: Hypothesis has no deadline, because a busy machine slows any test."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("without_clock", deadline=None)
settings.load_profile("without_clock")
