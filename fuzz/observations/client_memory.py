"""How much more memory a client took while a case was run."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.observation import Observation

LIMIT: Final = 512 << 20
"""Bytes of resident memory that a case may cost: no answer here has a hundredth of that to say."""


def grown(observation: Observation) -> int:
    """Bytes of resident memory that the case cost, 0 if nobody measured it."""
    before, highest = observation.rss or (0, 0)
    return highest - before
