"""The contents page: every mutator, in the order in which a campaign lists them."""

from __future__ import annotations

from typing import Final

from fuzz.mutators.bit_flips import BIT_FLIPS
from fuzz.mutators.checksums import CHECKSUMS
from fuzz.mutators.counts import COUNTS
from fuzz.mutators.lengths import LENGTHS
from fuzz.mutators.limits import LIMITS
from fuzz.mutators.mutator import Mutator
from fuzz.mutators.nulls import NULLS
from fuzz.mutators.truncation import TRUNCATION

MUTATORS: Final[tuple[Mutator, ...]] = (
    COUNTS,
    LENGTHS,
    NULLS,
    LIMITS,
    CHECKSUMS,
    TRUNCATION,
    BIT_FLIPS,
)
