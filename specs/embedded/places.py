"""Where bytes fields hide something, and what decides what it is.

A line a field, of the messages of APIs and of what is found inside them. The names that decide stand
in the message itself, in the structure around the field or one further out.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Kind = Literal[
    "subscription",  # of a member, by the group's protocol type
    "assignment",
    "consumer subscription",  # of a group that can only be of consumers
    "subscription's user data",  # by the assignor's name
    "assignment's user data",
    "connect assignment",  # what a worker of Connect has now, inside its subscription
    "records",  # of an internal topic, or control records
    "request",  # a whole frame without its size
    "response",
    "principal",
    "address",  # an IP address, 4 or 16 bytes
    "text",  # UTF-8
]


class Place(NamedTuple):
    """A field that hides something: message, dotted path, and what is in it."""

    message: str
    path: str
    kind: Kind
    named_by: str = ""
    """The field that has the name of the group's protocol, or of the topic."""


PLACES: Final = (
    Place("JoinGroupRequest", "protocols.metadata", "subscription", "name"),
    Place("JoinGroupResponse", "members.metadata", "subscription", "protocol_name"),
    Place("SyncGroupRequest", "assignments.assignment", "assignment", "protocol_name"),
    Place("SyncGroupResponse", "assignment", "assignment", "protocol_name"),
    Place(
        "DescribeGroupsResponse", "groups.members.member_metadata", "subscription", "protocol_data"
    ),
    Place(
        "DescribeGroupsResponse", "groups.members.member_assignment", "assignment", "protocol_data"
    ),
    Place("ConsumerProtocolSubscription", "user_data", "subscription's user data"),
    Place("ConsumerProtocolAssignment", "user_data", "assignment's user data"),
    Place("ConnectProtocolSubscription", "allocation", "connect assignment"),
    Place("SubscriptionInfoData", "user_end_point", "text"),
    Place("SubscriptionInfoData", "client_tags.key", "text"),
    Place("SubscriptionInfoData", "client_tags.value", "text"),
    Place("ProduceRequest", "topic_data.partition_data.records", "records", "name"),
    Place("FetchResponse", "responses.partitions.records", "records", "topic"),
    Place("ShareFetchResponse", "responses.partitions.records", "records"),
    Place("FetchSnapshotResponse", "topics.partitions.unaligned_records", "records", "name"),
    Place("GroupMetadataValue", "members.subscription", "subscription", "protocol"),
    Place("GroupMetadataValue", "members.assignment", "assignment", "protocol"),
    Place(
        "ConsumerGroupMemberMetadataValue",
        "classic_member_metadata.supported_protocols.metadata",
        "consumer subscription",
        "name",
    ),
    Place("EnvelopeRequest", "request_data", "request"),
    Place("EnvelopeRequest", "request_principal", "principal"),
    Place("EnvelopeRequest", "client_host_address", "address"),
    Place("EnvelopeResponse", "response_data", "response"),
)
"""Left out: what is no message of Kafka's (SASL tokens, the metrics of PushTelemetry, HMACs)."""
