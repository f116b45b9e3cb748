"""The messages that members of a group exchange through the coordinator, which does not read them.

The group's protocol type determines the layout of subscription and assignment. The assignor's name, which is
the group's protocol, determines the layout of the user data in the consumer protocol.
"""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import Final, Literal

from barnabas.specs.codec import Oddity
from barnabas.specs.embedded.embedded_message import (
    EmbeddedMessage,
    integer,
    read_body,
    read_forward,
    read_versioned,
)
from barnabas.specs.malformed import Malformed

Part = Literal["subscription", "assignment"]
"""The message that a member sends to the leader of its group, or the one that it receives."""

PROTOCOLS: Final[dict[str, dict[Part, str]]] = {
    "consumer": {
        "subscription": "ConsumerProtocolSubscription",
        "assignment": "ConsumerProtocolAssignment",
    },
    "connect": {
        "subscription": "ConnectProtocolSubscription",
        "assignment": "ConnectProtocolAssignment",
    },
}
"""Protocol type of a group -> the messages that its members exchange."""


def read_member(protocol_type: str, part: Part, data: bytes) -> EmbeddedMessage:
    """Read a member's subscription or assignment in a group of this protocol type. Raises Malformed.

    >>> read_member("consumer", "subscription", bytes.fromhex("0000 00000001 000174 ffffffff")).values
    {'topics': ['t'], 'user_data': None}
    """
    if protocol_type not in PROTOCOLS:
        raise Malformed("", 0, f"what groups of type {protocol_type!r} exchange is not known")
    return read_forward(PROTOCOLS[protocol_type][part], data)


def read_user_data(assignor: str, part: Part, data: bytes) -> EmbeddedMessage:
    r"""Read the user data that an assignor put into the consumer protocol. Raises Malformed.

    Known assignors are that of Kafka Streams (`stream`) and the sticky ones.

    >>> read_user_data("cooperative-sticky", "subscription", b"\0\0\0\7").values
    {'generation': 7}
    """
    match assignor:
        case "stream":
            name = "SubscriptionInfoData" if part == "subscription" else "AssignmentInfo"
            return read_body(name, integer(data, 4, "version"), data)
        case "sticky" | "cooperative-sticky":
            return _sticky(assignor, data)
    raise Malformed("", 0, f"what the assignor {assignor!r} keeps in its {part}s is not known")


def _sticky(assignor: str, data: bytes) -> EmbeddedMessage:
    """Read the user data of a sticky assignor.

    No version distinguishes the layouts, and the assignor's name does not determine them. Like Java's
    StickyAssignor, this tries v1 before v0. librdkafka uses that layout under both names, and in assignments,
    too; kafka-python 3.0 adds an int16 version.
    """
    if assignor == "cooperative-sticky" and len(data) == 4:
        return read_body("CooperativeStickyAssignorUserData", 0, data)
    for version in (1, 0):
        with suppress(Malformed):
            return read_body("StickyAssignorUserData", version, data)
    message = read_versioned("StickyAssignorUserData", data)
    return replace(message, oddities=(Oddity("", 0, "a version in front"), *message.oddities))
