"""The contents of bytes fields: record sets, and messages between the members of groups.

Which field has what: barnabas.specs.embedded.bytes_fields, and the custom of Kafka's clients.
"""

from __future__ import annotations

from collections.abc import Callable
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
_PARTITIONS: Final = [{"topic": "fuzz-topic", "partitions": [0]}]
_USER_DATA: Final = (
    (None, 0),
    (StickyAssignorUserData, 0),
    (StickyAssignorUserData, 1),
    (CooperativeStickyAssignorUserData, 0),
)

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


def _subscription(dice: SeededRandom) -> bytes:
    """Return a member's metadata; half of the members own a partition."""
    owned = dice.pick(([], _PARTITIONS))
    values = {
        "topics": ["fuzz-topic"],
        "user_data": _user_data(dice),
        "owned_partitions": owned,
        "generation_id": len(owned),
        "rack_id": dice.pick((None, "rack-1")),
    }
    return _versioned(ConsumerProtocolSubscription, values, dice)


def _assignment(dice: SeededRandom) -> bytes:
    """Return a member's assignment."""
    values = {"assigned_partitions": _PARTITIONS, "user_data": _user_data(dice)}
    return _versioned(ConsumerProtocolAssignment, values, dice)


def _user_data(dice: SeededRandom) -> bytes | None:
    """Return the user data of an assignor: of none, or of a sticky one."""
    declared, version = dice.pick(_USER_DATA)
    if declared is None:
        return None
    return _written(declared, version, {"previous_assignment": _PARTITIONS, "generation": 1})


def _versioned(declared: Message, values: dict[str, Any], dice: SeededRandom) -> bytes:
    """Return a message of the consumer protocol, after its version."""
    version = dice.below(declared.versions[1] + 1)
    return version.to_bytes(2, "big") + _written(declared, version, values)


def _written(declared: Message, version: int, values: dict[str, Any]) -> bytes:
    codec = declared.codec(version)
    return codec.encode(codec.layout.fitted(values))
