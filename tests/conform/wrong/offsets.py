"""Wrong answers of the checks of ListOffsets, OffsetForLeaderEpoch and DeleteRecords."""

from __future__ import annotations

from functools import partial
from typing import Final

from tests.conform.recordings import Wrong
from tests.conform.wrong.changes import every, fetched, row

_LISTED: Final = partial(every, "ListOffsets")
_EPOCHS: Final = partial(every, "OffsetForLeaderEpoch")
_DELETED: Final = partial(every, "DeleteRecords")

WRONG: Final[dict[str, Wrong]] = {
    "offsets/latest": _LISTED(offset=3),
    "offsets/earliest": _LISTED(offset=1),
    "offsets/ends-without-time": _LISTED(timestamp=5),
    "offsets/time-zero": _LISTED(offset=-1),
    "offsets/empty": _LISTED(timestamp=5),
    "offsets/by-time": _LISTED(offset=0),
    "offsets/by-time-beyond": _LISTED(offset=3),
    "offsets/inside-batch": _LISTED(offset=0),
    "offsets/inside-compressed-batch": _LISTED(offset=0),
    "offsets/unsorted-times": _LISTED(offset=0),
    "offsets/max-timestamp": _LISTED(offset=2),
    "offsets/max-timestamp-empty": _LISTED(offset=0),
    "offsets/max-timestamp-old-version": _LISTED(error_code="NONE"),
    "offsets/earliest-local": _LISTED(offset=-1),
    "offsets/latest-tiered": _LISTED(offset=4),
    "offsets/earliest-pending-upload": _LISTED(offset=4),
    "offsets/leader-epoch": _LISTED(leader_epoch=-1),
    "offsets/after-delete": _LISTED(offset=0),
    "offsets/unknown-topic": _LISTED(error_code="NONE"),
    "offsets/unknown-partition": _LISTED(error_code="NONE"),
    "offsets/unknown-leader-epoch": _LISTED(error_code="NONE"),
    "offsets/duplicate-partition": _LISTED(error_code="NONE"),
    "offsets/version-zero": _LISTED(old_style_offsets=[4]),
    "offsets/fenced-leader-epoch": _LISTED(error_code="NONE"),
    "offsets/several-partitions": _LISTED(offset=0),
    "offsets/not-leader": _LISTED(error_code="NONE"),
    "leader-epoch/end-offset": _EPOCHS(end_offset=0),
    "leader-epoch/epoch": _EPOCHS(leader_epoch=-1),
    "leader-epoch/unknown": _EPOCHS(end_offset=1),
    "leader-epoch/empty": _EPOCHS(end_offset=-1),
    "leader-epoch/unknown-topic": _EPOCHS(error_code="NONE"),
    "leader-epoch/unknown-partition": _EPOCHS(error_code="NONE"),
    "leader-epoch/current-too-new": _EPOCHS(error_code="NONE"),
    "leader-epoch/fenced": _EPOCHS(error_code="NONE"),
    "leader-epoch/old-end": _EPOCHS(end_offset=3),
    "leader-epoch/not-leader": _EPOCHS(error_code="NONE"),
    "delete-records/low-watermark": _LISTED(offset=0),
    "delete-records/high-watermark": _DELETED(low_watermark=-1),
    "delete-records/offsets-go-on": _LISTED(offset=1),
    "delete-records/beyond-end": _DELETED(error_code="NONE"),
    "delete-records/negative-offset": _DELETED(error_code="NONE"),
    "delete-records/again": row("DeleteRecords", 1, 0, low_watermark=1),
    "delete-records/inside-batch": fetched(0, error_code="NONE"),
    "delete-records/unknown-topic": _DELETED(error_code="NONE"),
    "delete-records/unknown-partition": _DELETED(error_code="NONE"),
    "delete-records/compacted": _DELETED(error_code="NONE"),
    "delete-records/several-partitions": _DELETED(error_code="UNKNOWN_TOPIC_OR_PARTITION"),
    "delete-records/after-restart": _LISTED(offset=0),
    "delete-records/not-leader": _DELETED(error_code="NONE"),
    "offsets/max-timestamp-compressed": _LISTED(offset=2),
    "offsets/max-timestamp-twice": _LISTED(offset=3),
    "offsets/no-record-no-epoch": _LISTED(leader_epoch=0),
    "offsets/unknown-special": _LISTED(error_code="NONE"),
    "offsets/earliest-while-producing": _LISTED(offset=5),
    "delete-records/just-beyond-end": row("DeleteRecords", 0, 0, error_code="NONE"),
    "offsets/header-max-timestamp": row("ListOffsets", -1, 0, offset=-1),
    "offsets/log-append-time": row("ListOffsets", -2, 0, offset=1),
    "offsets/partial-failure": row("ListOffsets", -1, 0, error_code="UNKNOWN_TOPIC_OR_PARTITION"),
}
"""Check -> a response with a violation."""
