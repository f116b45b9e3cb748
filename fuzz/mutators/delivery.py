"""Mutators of delivery: a message several times, out of order, at once, byte by byte, half-closed.

The message itself stays unchanged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from barnabas.fuzz.bench_broker.contexts.registry import context_at
from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.frame_map.fields import FieldMap, Part
from barnabas.fuzz.generators.messages import kept
from barnabas.fuzz.mutators.mutator import Mutated, whole
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
"""APIs of other messages: versions, groups, transactions, authentication."""

UNCHANGED: Final = "unchanged"
"""The name of the mutator that leaves a message as it is."""

_TIMES: Final = (10, 50, 50, 200)
_MOST: Final = 512 << 10
"""Bytes of a burst at most."""


def repeat(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Send a message two to five times."""
    times = dice.between(2, 5)
    return Mutated((message.framed,) * times, f"{times} times")


def disorder(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Send a valid message of another kind before a message or after it."""
    key = dice.pick(_OTHERS)
    low, high = api(key).versions
    version = dice.between(low, high)
    frame = kept(key, version, message.seed.direction, dice)
    other = len(frame).to_bytes(4, "big") + frame
    name = f"{api(key).name} v{version}"
    if dice.chance(2):
        return Mutated((other, message.framed), f"{name} before it")
    return Mutated((message.framed, other), f"{name} after it")


def burst(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Send a message many times in one write, before any is answered."""
    times = max(min(dice.pick(_TIMES), _MOST // len(message.framed)), 1)
    return Mutated((message.framed,) * times, f"{times} in one write", "burst")


def bytewise(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Send a message with one byte per write."""
    return Mutated((message.framed,), "byte by byte", "bytewise")


def judged(message: FieldMap) -> Sequence[Part]:
    """Return the frame as a whole, if it is known what a client makes of the valid message."""
    return () if context_at(message.seed.origin).visible is None else whole(message)


def unchanged(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Send a message once: the context of its session is the case."""
    return Mutated((message.framed,), "as it is")


def half_open(message: FieldMap, part: Part, dice: SeededRandom) -> Mutated:
    """Send a message, or its first bytes, and half-close the connection."""
    size = len(message.framed)
    sent = size if dice.chance(3) else dice.between(1, size - 1)
    detail = f"{sent} of {size} bytes, then half-closed"
    return Mutated((message.framed[:sent],), detail, "half_open")
