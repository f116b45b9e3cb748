"""The contents page: every oracle."""

from __future__ import annotations

from typing import Final

from fuzz.oracles.died import DIED
from fuzz.oracles.greedy import GREEDY
from fuzz.oracles.hung import HUNG
from fuzz.oracles.oracle import Oracle
from fuzz.oracles.round_trip import ROUND_TRIP
from fuzz.oracles.undocumented import UNDOCUMENTED

ORACLES: Final[tuple[Oracle, ...]] = (
    DIED,
    HUNG,
    UNDOCUMENTED,
    ROUND_TRIP,
    GREEDY,
)
"""All of them; a campaign may name some."""
