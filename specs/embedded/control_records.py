"""Records of control batches: a key with the type, and that type's value.

A key is an int16 version and an int16 type. The value of ABORT and COMMIT is an int16 version and a body. The
other values are bodies in version 0, whatever their version field says (Kafka's ControlRecordType,
EndTransactionMarker, ControlRecordUtils).
"""

from __future__ import annotations

from typing import Final, NamedTuple

from barnabas.specs.embedded.embedded_message import (
    EmbeddedMessage,
    read_body,
    read_forward,
    within,
)
from barnabas.specs.malformed import Malformed
from barnabas.specs.records.control import CONTROL_TYPES

VALUES: Final = {
    "LEADER_CHANGE": "LeaderChangeMessage",
    "SNAPSHOT_HEADER": "SnapshotHeaderRecord",
    "SNAPSHOT_FOOTER": "SnapshotFooterRecord",
    "KRAFT_VERSION": "KRaftVersionRecord",
    "KRAFT_VOTERS": "VotersRecord",
}
"""Type -> the message that is its value, for values without a version."""


class ControlRecord(NamedTuple):
    """A control record: its type, one of `barnabas.specs.records.control.CONTROL_TYPES`, and its value."""

    type: str
    value: EmbeddedMessage


def read_control_record(
    key: bytes | None, value: bytes | None, *, release: str | None = None
) -> ControlRecord:
    r"""Read a record of a control batch.

    `release` matters for LEADER_CHANGE, whose layout changed in 2.8 and in 3.0.

    Raises:
        Malformed: The bytes are invalid, or the type is unknown.

    >>> read_control_record(b"\0\0\0\1", b"\0\0\0\0\0\5").value.values
    {'coordinator_epoch': 5}
    """
    if key is None or value is None:
        raise Malformed("value" if key else "key", 0, "null in a control record")
    try:
        number = read_forward("ControlRecordTypeSchema", key).values["type"]
    except Malformed as e:
        raise within("key", e) from None
    if not 0 <= number < len(CONTROL_TYPES):
        raise Malformed("key.type", 2, f"control records of type {number} are not known")
    kind = CONTROL_TYPES[number]
    try:
        if kind in VALUES:
            return ControlRecord(kind, read_body(VALUES[kind], 0, value, release=release))
        return ControlRecord(kind, read_forward("EndTxnMarker", value))
    except Malformed as e:
        raise within("value", e) from None
