"""Classic groups of several members, whose messages to each other are in the responses.

The leader reads the subscriptions of all members: owned partitions, the user data of the sticky assignors,
and other versions of the embedded protocol than its own (KIP-54, KIP-429, KIP-792, KIP-881).
"""

from __future__ import annotations

import struct
from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.bench_broker.cluster import TOPIC, Cluster
from barnabas.fuzz.bench_broker.contexts.context import Context, Respond, Turn, Values
from barnabas.specs import keys
from barnabas.specs.embedded import message

_VERSION: Final = struct.Struct(">h")
_NEWER: Final = 9
"""A version of the embedded protocol that does not exist yet: clients read what they know of it."""
_LATER_FIELDS: Final = b"\x00\x00\x00\x01later"


def embedded(name: str, version: int, values: Mapping[str, Any], later: bytes = b"") -> bytes:
    """Return a message between members, with an int16 version before it (ConsumerProtocol).

    later: fields that follow those of a version that is known.
    """
    codec = message(name).codec(min(version, 3))
    return _VERSION.pack(version) + codec.encode(codec.layout.fitted(values)) + later


def subscription(version: int, later: bytes = b"", **fields: Any) -> bytes:
    """Return a subscription to the topic."""
    values = {"topics": [TOPIC], "user_data": None, **fields}
    return embedded("ConsumerProtocolSubscription", version, values, later)


def assignment(version: int, later: bytes = b"", **fields: Any) -> bytes:
    """Return an assignment of all partitions."""
    values = {"assigned_partitions": _owned(0, 1), "user_data": None, **fields}
    return embedded("ConsumerProtocolAssignment", version, values, later)


def _owned(*partitions: int) -> list[dict[str, Any]]:
    return [{"topic": TOPIC, "partitions": list(partitions)}]


def _sticky(version: int, generation: int, *partitions: int) -> bytes:
    values = {"previous_assignment": _owned(*partitions), "generation": generation}
    codec = message("StickyAssignorUserData").codec(version)
    return codec.encode(codec.layout.fitted(values))


def _cooperative(generation: int) -> bytes:
    return message("CooperativeStickyAssignorUserData").codec(0).encode({"generation": generation})


# the first subscription is the member's own
_RANGE: Final = (
    subscription(0),
    subscription(1, owned_partitions=_owned(0)),
    subscription(3, owned_partitions=_owned(1), generation_id=1, rack_id="rack-b"),
)
_STICKY: Final = (
    subscription(1),
    subscription(1, user_data=_sticky(1, 1, 0)),
    subscription(0, user_data=_sticky(0, -1, 1)),
)
_COOPERATIVE: Final = (
    subscription(1, user_data=_cooperative(-1)),
    subscription(1, owned_partitions=_owned(0), user_data=_cooperative(1)),
    subscription(3, owned_partitions=_owned(1), user_data=_cooperative(1), generation_id=1),
)
_VERSIONS: Final = (
    subscription(3),
    subscription(0, user_data=b""),
    subscription(2, owned_partitions=_owned(0), generation_id=-1),
    subscription(_NEWER, _LATER_FIELDS, owned_partitions=_owned(1), generation_id=1),
)


def _joined(protocol: str, first: bytes, *others: bytes) -> Respond:
    """Return a function that makes the member the leader of a group with others."""

    def respond(cluster: Cluster, values: Values) -> dict[str, Any]:
        members = [{**member, "metadata": first} for member in values["members"]]
        members += [
            {"member_id": f"other-{number}", "group_instance_id": None, "metadata": metadata}
            for number, metadata in enumerate(others)
        ]
        for group in cluster.groups.values():
            group.protocol = protocol
        return {**values, "protocol_name": protocol, "members": members}

    return respond


def _follows(cluster: Cluster, values: Values) -> dict[str, Any]:
    """Make another member the leader."""
    return {**values, "leader": "other-0", "members": []}


def _assigned(given: bytes) -> Respond:
    """Return a function that gives the member an assignment by another leader."""
    return lambda _, values: {**values, "assignment": given}


def _group(name: str, workload: str, protocol: str, members: tuple[bytes, ...]) -> Context:
    turns = (Turn(keys.JOIN_GROUP, _joined(protocol, *members), None),)
    return Context(name, {keys.JOIN_GROUP: 0}, workload, turns=turns)


def _follower(name: str, given: bytes) -> Context:
    turns = (
        Turn(keys.JOIN_GROUP, _follows, None),
        Turn(keys.SYNC_GROUP, _assigned(given), None),
    )
    return Context(name, {keys.SYNC_GROUP: 0}, "group", turns=turns)


CONTEXTS: Final = (
    _group("members", "group", "range", _RANGE),
    _group("members-sticky", "sticky", "sticky", _STICKY),
    _group("members-cooperative", "cooperative", "cooperative-sticky", _COOPERATIVE),
    _group("members-versions", "group", "range", _VERSIONS),
    _follower("follower", assignment(1, user_data=b"")),
    _follower("follower-user-data", assignment(3, user_data=_sticky(1, 1, 0))),
    _follower("follower-newer", assignment(_NEWER, _LATER_FIELDS)),
)
