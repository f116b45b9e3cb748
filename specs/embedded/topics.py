"""Records of Kafka's internal topics: the messages in their keys and values.

In the coordinators' topics a key is an int16, the record's type, and the key's body in version 0. A value is
an int16 version and a body, or null if the key is deleted (Kafka's CoordinatorRecordSerde). In
__cluster_metadata there are no keys. A value is a frame version, a record type and a version, all unsigned
varints, and a body (Kafka's MetadataRecordSerde).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.specs.codec.irregular import Irregular, uvarint_from
from barnabas.specs.embedded.embedded_message import (
    EmbeddedMessage,
    integer,
    read_body,
    read_versioned,
    within,
)
from barnabas.specs.embedded.registry import COORDINATORS, METADATA_RECORDS
from barnabas.specs.malformed import Malformed

CLUSTER_METADATA: Final = "__cluster_metadata"

TOPICS: Final = frozenset((CLUSTER_METADATA, *COORDINATORS))
"""The topics whose records can be read."""


class TopicRecord(NamedTuple):
    """A record of an internal topic: no key in __cluster_metadata, no value if it is deleted."""

    key: EmbeddedMessage | None
    value: EmbeddedMessage | None


def read_topic_record(topic: str, key: bytes | None, value: bytes | None) -> TopicRecord:
    """Read a record of an internal topic.

    Raises:
        Malformed: The bytes are invalid, or the type is unknown.
        LookupError: The topic is not internal.

    >>> key = bytes.fromhex("0000 000474786e31")
    >>> read_topic_record("__transaction_state", key, None)[0].values
    {'transactional_id': 'txn1'}
    """
    key_message = read_topic_key(topic, key)
    return TopicRecord(key_message, read_topic_value(topic, key_message, value))


def read_topic_key(topic: str, key: bytes | None) -> EmbeddedMessage | None:
    """Read the key of a record; the message's name tells the type. Raises as `read_topic_record` does."""
    if topic == CLUSTER_METADATA:
        return None
    types = COORDINATORS[topic]
    if key is None:
        raise Malformed("key", 0, "null, where the type of the record is expected")
    try:
        number = integer(key, 2, "type")
        if number not in types:
            raise Malformed("type", 0, f"records of type {number} are not known in {topic}")
        return read_body(f"{types[number]}Key", 0, key, start=2)
    except Malformed as e:
        raise within("key", e) from None


def read_topic_value(
    topic: str, key: EmbeddedMessage | None, value: bytes | None
) -> EmbeddedMessage | None:
    """Read the value of a record, or return None if it is deleted. Raises as `read_topic_record` does."""
    try:
        if key is None:
            return read_metadata_record(value)
        if value is None:
            return None
        return read_versioned(f"{key.name.removesuffix('Key')}Value", value)
    except Malformed as e:
        raise within("value", e) from None


def read_metadata_record(value: bytes | None) -> EmbeddedMessage:
    """Read the value of a record of __cluster_metadata, or of a snapshot. Raises Malformed.

    >>> read_metadata_record(bytes.fromhex("01 0c 00 03 7631 0007 00")).values
    {'name': 'v1', 'feature_level': 7}
    """
    if value is None:
        raise Malformed("", 0, "null, where a record of the metadata log is expected")
    (frame, number, version), start = _uvarints(value, ("frame_version", "type", "version"))
    if frame != 1:
        raise Malformed("frame_version", 0, f"1 is the only one known, not {frame}")
    if number not in METADATA_RECORDS:
        raise Malformed("type", 1, f"metadata records of type {number} are not known")
    return read_body(METADATA_RECORDS[number], version, value, start=start)


def _uvarints(data: bytes, names: tuple[str, ...]) -> tuple[list[int], int]:
    numbers, at = [], 0
    for name in names:
        start = at
        try:
            number, at = uvarint_from(data, at)
        except (Irregular, IndexError):
            raise Malformed(name, start, "an unsigned varint is expected") from None
        numbers.append(number)
    return numbers, at
