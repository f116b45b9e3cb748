"""Wrong answers about share groups."""

from __future__ import annotations

import uuid
from typing import Final

from tests.conform.recordings import Wrong, with_fields

ACQUIRED: Final = "responses[0].partitions[0].acquired_records[0]"
FAULT: Final = {"responses[0].partitions[0].error_code": "NONE"}
BEAT: Final = "ShareGroupHeartbeat"

WRONG: Final[dict[str, Wrong]] = {
    "share/join": with_fields(BEAT, -1, {"member_id": "another"}),
    "share/assignment": with_fields(
        BEAT, -1, {"assignment.topic_partitions[0].topic_id": uuid.UUID(int=7)}
    ),
    "share/unknown-member": with_fields(BEAT, -1, {"error_code": "NONE"}),
    "share/epoch-too-new": with_fields(BEAT, -1, {"error_code": "NONE"}),
    "share/leave": with_fields(BEAT, -1, {"error_code": "NONE"}),
    "share/two-members": with_fields(BEAT, -1, {"assignment.topic_partitions": []}),
    "share/fetch-acquires": with_fields("ShareFetch", -1, {f"{ACQUIRED}.delivery_count": 2}),
    "share/accept": with_fields("ShareFetch", -1, {f"{ACQUIRED}.first_offset": 0}),
    "share/reject": with_fields("ShareFetch", -1, {f"{ACQUIRED}.first_offset": 0}),
    "share/release": with_fields("ShareFetch", -1, {f"{ACQUIRED}.delivery_count": 1}),
    "share/acknowledge-in-fetch": with_fields(
        "ShareFetch",
        -1,
        {"responses[0].partitions[0].acknowledge_error_code": "INVALID_RECORD_STATE"},
    ),
    "share/acknowledge-not-acquired": with_fields("ShareAcknowledge", -1, FAULT),
    "share/session-epoch": with_fields("ShareFetch", -1, {"error_code": "NONE"}),
    "share/session-unknown": with_fields("ShareFetch", -1, {"error_code": "NONE"}),
    "share/session-end-releases": with_fields("ShareFetch", -1, {f"{ACQUIRED}.delivery_count": 1}),
    "share/describe": with_fields("ShareGroupDescribe", -1, {"groups[0].group_state": "Empty"}),
    "share/delivery-limit": with_fields("ShareFetch", -1, {f"{ACQUIRED}.first_offset": 0}),
    "share/offsets-of-members": with_fields("AlterShareGroupOffsets", 0, {"error_code": "NONE"}),
    "share/alter-offsets": with_fields(
        "DescribeShareGroupOffsets", 0, {"groups[0].topics[0].partitions[0].start_offset": 0}
    ),
    "share/rejoin": with_fields(BEAT, -1, {"error_code": "FENCED_MEMBER_EPOCH"}),
}
