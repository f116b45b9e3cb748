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


# topics of different sizes: those who read a large one have more partitions each than the others
_NARROW, _NEXT, _WIDE = "bench-narrow", "bench-next", "bench-wide"
_SIZES: Final = {_NARROW: 2, _NEXT: 2, _WIDE: 6}
_READ: Final = (_NARROW, _NARROW, _NEXT, _NEXT, _WIDE, _WIDE)
"""The topic of each other member: there are more members than a topic has partitions."""

_RANGE_TOPICS: Final = (subscription(1), *(subscription(1, topics=[name]) for name in _READ))
_STICKY_TOPICS: Final = (
    subscription(1),
    *(subscription(1, topics=[name], user_data=_sticky(1, 1)) for name in _READ),
)
_COOPERATIVE_TOPICS: Final = (
    subscription(1, user_data=_cooperative(-1)),
    *(subscription(1, topics=[name], user_data=_cooperative(1)) for name in _READ),
)

# the first other member missed a rebalance and claims what others own since; the next one owns a partition
# of a topic that it reads no more
_STICKY_CLAIMS: Final = (
    subscription(1),
    subscription(1, user_data=_sticky(1, 1, 0, 1)),
    subscription(1, topics=[_NARROW], user_data=_sticky(1, 2, 0)),
    subscription(1, user_data=_sticky(1, 2, 1)),
)
_COOPERATIVE_CLAIMS: Final = (
    subscription(1, user_data=_cooperative(-1)),
    subscription(1, owned_partitions=_owned(0, 1), user_data=_cooperative(1)),
    subscription(
        3, topics=[_NARROW], owned_partitions=_owned(0), user_data=_cooperative(2), generation_id=2
    ),
    subscription(3, owned_partitions=_owned(1), user_data=_cooperative(2), generation_id=2),
)
# both claim the same partitions in one generation
_STICKY_DOUBLE: Final = (
    subscription(1),
    *(subscription(1, user_data=_sticky(1, 1, 0, 1)) for _ in range(2)),
)
_COOPERATIVE_DOUBLE: Final = (
    subscription(1, user_data=_cooperative(-1)),
    *(subscription(1, owned_partitions=_owned(0, 1), user_data=_cooperative(1)) for _ in range(2)),
)


def _more_topics(cluster: Cluster) -> None:
    cluster.others = dict(_SIZES)


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
    return Context(name, {keys.JOIN_GROUP: 0}, workload, arrange=_more_topics, turns=turns)


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
    _group("members-topics", "group", "range", _RANGE_TOPICS),
    _group("members-topics-sticky", "sticky", "sticky", _STICKY_TOPICS),
    _group("members-topics-cooperative", "cooperative", "cooperative-sticky", _COOPERATIVE_TOPICS),
    _group("members-claims-sticky", "sticky", "sticky", _STICKY_CLAIMS),
    _group("members-claims-cooperative", "cooperative", "cooperative-sticky", _COOPERATIVE_CLAIMS),
    _group("members-double-sticky", "sticky", "sticky", _STICKY_DOUBLE),
    _group("members-double-cooperative", "cooperative", "cooperative-sticky", _COOPERATIVE_DOUBLE),
    _follower("follower", assignment(1, user_data=b"")),
    _follower("follower-user-data", assignment(3, user_data=_sticky(1, 1, 0))),
    _follower("follower-newer", assignment(_NEWER, _LATER_FIELDS)),
)
