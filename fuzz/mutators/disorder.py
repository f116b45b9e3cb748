"""Messages in another order than a session has them: one that nobody waits for comes before or behind."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.generators.messages import kept
from barnabas.fuzz.mutating.changes import whole
from barnabas.fuzz.mutating.delivery import framed, own
from barnabas.fuzz.mutating.mutator import Mutated, Mutator
from barnabas.specs import keys
from barnabas.specs.registry import api

_OTHERS: Final = (
    keys.API_VERSIONS,
    keys.METADATA,
    keys.FIND_COORDINATOR,
    keys.JOIN_GROUP,
    keys.SYNC_GROUP,
    keys.HEARTBEAT,
    keys.LEAVE_GROUP,
    keys.OFFSET_COMMIT,
    keys.OFFSET_FETCH,
    keys.INIT_PRODUCER_ID,
    keys.ADD_PARTITIONS_TO_TXN,
    keys.END_TXN,
    keys.SASL_HANDSHAKE,
    keys.SASL_AUTHENTICATE,
    keys.FETCH,
)
"""What sessions are made of: versions, groups, transactions, authentication."""


def apply(fieldmap: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """A valid message of another kind before this one, or behind it."""
    key = dice.pick(_OTHERS)
    low, high = api(key).versions
    version = dice.between(low, high)
    other = framed(kept(key, version, fieldmap.seed.direction, dice))
    chunk = own(fieldmap)
    before = dice.chance(2)
    name = f"{api(key).name} v{version}"
    return Mutated(
        (other, chunk) if before else (chunk, other),
        f"{name} {'before' if before else 'after'} it",
    )


DISORDER = Mutator("disorder", "another message before or after it", whole, apply, turns=2)
