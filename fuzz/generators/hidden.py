"""The contents of bytes fields: record sets, and messages between the members of groups.

Which field has what: barnabas.specs.embedded.bytes_fields, and the custom of Kafka's clients.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from barnabas.fuzz.cases.seeded_random import SeededRandom
from barnabas.fuzz.generators.batches import record_set
from barnabas.specs import keys
from barnabas.specs.embedded.messages.consumer_protocol import (
    ConsumerProtocolAssignment,
    ConsumerProtocolSubscription,
)
from barnabas.specs.embedded.messages.sticky_assignors import (
    CooperativeStickyAssignorUserData,
    StickyAssignorUserData,
)
from barnabas.specs.frames import Direction
from barnabas.specs.message import Message

_SUBSCRIPTIONS: Final = frozenset(("metadata", "member_metadata"))
_ASSIGNMENTS: Final = frozenset(("assignment", "member_assignment"))
_GROUPS: Final = (keys.JOIN_GROUP, keys.SYNC_GROUP, keys.DESCRIBE_GROUPS)
PARTITIONS: Final = ({"topic": "fuzz-topic", "partitions": [0]},)
"""What a member owns, or is assigned."""

_VERSIONS: Final = ConsumerProtocolSubscription.versions[1] + 1
"""Versions of the consumer protocol, from 0 on."""

_USER_DATA: Final = {
    "sticky": (StickyAssignorUserData, 1),
    "sticky before KIP-341": (StickyAssignorUserData, 0),
    "cooperative-sticky": (CooperativeStickyAssignorUserData, 0),
}
_ASSIGNORS: Final = ("range", *_USER_DATA)

_MAGIC_SINCE: Final = {keys.PRODUCE: (2, 3), keys.FETCH: (2, 4)}
"""The versions of these APIs that introduced magic 1 and 2 (KIP-32, KIP-98)."""


def hidden(
    key: int, version: int, direction: Direction, path: tuple[str, ...]
) -> Callable[[SeededRandom], Any]:
    """Return a function that draws the contents of a field of bytes or records."""
    name = path[-1]
    if name in ("records", "unaligned_records"):
        magic_1_since, magic_2_since = _MAGIC_SINCE.get(key, (0, 0))
        newest = (version >= magic_1_since) + (version >= magic_2_since)
        # a broker returns old batches; a producer writes the magic of its version
        mixed = key == keys.FETCH and direction == "response"
        return lambda dice: record_set(dice, newest, mixed=mixed)
    if key in _GROUPS and name in _SUBSCRIPTIONS:
        return _subscription
    if key in _GROUPS and name in _ASSIGNMENTS:
        return _assignment
    return lambda dice: dice.some_bytes(dice.pick((0, 1, 4, 16)))


def subscription(
    version: int,
    assignor: str,
    *,
    owned: Sequence[Mapping[str, Any]] = PARTITIONS,
    rack: str | None = "rack-1",
) -> bytes:
    """Return a member's metadata in a version of the consumer protocol, as an assignor writes it."""
    values = {
        "topics": ["fuzz-topic"],
        "user_data": user_data(assignor),
        "owned_partitions": owned,
        "generation_id": 1,
        "rack_id": rack,
    }
    return _versioned(ConsumerProtocolSubscription, version, values)


def user_data(assignor: str) -> bytes | None:
    """Return the user data of an assignor; None for one that keeps nothing of its own."""
    if assignor not in _USER_DATA:
        return None
    declared, version = _USER_DATA[assignor]
    return _written(declared, version, {"previous_assignment": PARTITIONS, "generation": 1})


def _subscription(dice: SeededRandom) -> bytes:
    version, assignor = dice.below(_VERSIONS), dice.pick(_ASSIGNORS)
    owned, rack = dice.pick(((), PARTITIONS)), dice.pick((None, "rack-1"))
    return subscription(version, assignor, owned=owned, rack=rack)


def _assignment(dice: SeededRandom) -> bytes:
    values = {"assigned_partitions": PARTITIONS, "user_data": user_data(dice.pick(_ASSIGNORS))}
    return _versioned(ConsumerProtocolAssignment, dice.below(_VERSIONS), values)


def _versioned(declared: Message, version: int, values: dict[str, Any]) -> bytes:
    """Return a message after its version."""
    return version.to_bytes(2, "big") + _written(declared, version, values)


def _written(declared: Message, version: int, values: dict[str, Any]) -> bytes:
    codec = declared.codec(version)
    return codec.encode(codec.layout.fitted(values))
