"""What all tests share: Hypothesis judges no test by the clock, for a busy machine is slow at any of them."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("without_clock", deadline=None)
settings.load_profile("without_clock")
