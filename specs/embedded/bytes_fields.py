"""The bytes fields that contain messages, and the fields that determine which message.

There is one entry for each field, of API messages and of messages inside them. The deciding fields are in the
message itself, in the structure around the field or one further out.
"""

from __future__ import annotations

from typing import Final, Literal, NamedTuple

Contents = Literal[
    "subscription",  # of a member; its layout depends on the group's protocol type
    "assignment",
    "consumer subscription",  # of a member in a group that has only consumers
    "subscription's user data",  # its layout depends on the assignor's name
    "assignment's user data",
    "connect assignment",  # the current assignment of a Connect worker, in its subscription
    "records",  # of an internal topic, or control records
    "request",  # a whole frame without its size
    "response",
    "principal",
    "address",  # an IP address, 4 or 16 bytes
    "text",  # UTF-8
]


class BytesField(NamedTuple):
    """A bytes field that contains a message: the message that has it, its dotted path, its contents."""

    message: str
    path: str
    kind: Contents
    named_by: str = ""
    """The field with the name of the group's protocol, or of the topic."""


BYTES_FIELDS: Final = (
    BytesField("JoinGroupRequest", "protocols.metadata", "subscription", "name"),
    BytesField("JoinGroupResponse", "members.metadata", "subscription", "protocol_name"),
    BytesField("SyncGroupRequest", "assignments.assignment", "assignment", "protocol_name"),
    BytesField("SyncGroupResponse", "assignment", "assignment", "protocol_name"),
    BytesField("DescribeGroupsResponse", "groups.members.member_metadata", "subscription", "protocol_data"),
    BytesField("DescribeGroupsResponse", "groups.members.member_assignment", "assignment", "protocol_data"),
    BytesField("ConsumerProtocolSubscription", "user_data", "subscription's user data"),
    BytesField("ConsumerProtocolAssignment", "user_data", "assignment's user data"),
    BytesField("ConnectProtocolSubscription", "allocation", "connect assignment"),
    BytesField("SubscriptionInfoData", "user_end_point", "text"),
    BytesField("SubscriptionInfoData", "client_tags.key", "text"),
    BytesField("SubscriptionInfoData", "client_tags.value", "text"),
    BytesField("ProduceRequest", "topic_data.partition_data.records", "records", "name"),
    BytesField("FetchResponse", "responses.partitions.records", "records", "topic"),
    BytesField("ShareFetchResponse", "responses.partitions.records", "records"),
    BytesField("FetchSnapshotResponse", "topics.partitions.unaligned_records", "records", "name"),
    BytesField("GroupMetadataValue", "members.subscription", "subscription", "protocol"),
    BytesField("GroupMetadataValue", "members.assignment", "assignment", "protocol"),
    BytesField(
        "ConsumerGroupMemberMetadataValue",
        "classic_member_metadata.supported_protocols.metadata",
        "consumer subscription",
        "name",
    ),
    BytesField("EnvelopeRequest", "request_data", "request"),
    BytesField("EnvelopeRequest", "request_principal", "principal"),
    BytesField("EnvelopeRequest", "client_host_address", "address"),
    BytesField("EnvelopeResponse", "response_data", "response"),
)  # fmt: skip
"""Not listed: contents that are not Kafka's messages (SASL tokens, metrics of PushTelemetry, HMACs)."""
