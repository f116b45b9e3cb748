"""The contents page: every oracle."""

from __future__ import annotations

from typing import Final

from fuzz.oracles.died import DIED
from fuzz.oracles.hung import HUNG
from fuzz.oracles.oracle import Oracle

ORACLES: Final[tuple[Oracle, ...]] = (
    DIED,
    HUNG,
)
"""All of them; a campaign may name some."""
