"""Wrong answers to the checks of streams groups."""

from __future__ import annotations

from typing import Any, Final

from barnabas.conform.expectations import AtLeast
from tests.conform.recordings import Wrong, with_body, with_fields
from tests.conform.wrong.groups import error
from tests.conform.wrong.replaced import replaced

BEAT: Final = "StreamsGroupHeartbeat"
DESCRIBE: Final = "StreamsGroupDescribe"


def _second_as_first(body: Any) -> None:
    """Assign the first partition in place of the second."""
    for row in body["active_tasks"] or ():
        row["partitions"] = [0 if partition == 1 else partition for partition in row["partitions"]]


WRONG: Final[dict[str, Wrong]] = {
    "streams/join": replaced(BEAT, "heartbeat_interval_ms", AtLeast(1), 0),
    "streams/tasks": with_fields(BEAT, -1, {"active_tasks[0].partitions": [0]}),
    "streams/two-members": with_body(BEAT, None, _second_as_first),
    "streams/leave": replaced(BEAT, "member_epoch", -1, 3),
    "streams/unknown-member": error(BEAT, "UNKNOWN_MEMBER_ID"),
    "streams/unknown-group": with_fields(BEAT, 0, {"error_code": "NONE"}),
    "streams/epoch-too-new": error(BEAT, "FENCED_MEMBER_EPOCH"),
    "streams/without-topology": error(BEAT, "INVALID_REQUEST"),
    "streams/without-member-id": error(BEAT, "INVALID_REQUEST"),
    "streams/without-rebalance-timeout": error(BEAT, "INVALID_REQUEST"),
    "streams/joins-with-tasks": error(BEAT, "INVALID_REQUEST"),
    "streams/missing-topics": with_fields(BEAT, 0, {"status": []}),
    "streams/topology-stale": with_fields(BEAT, 1, {"status": []}),
    "streams/other-type": with_fields("ConsumerGroupHeartbeat", 0, {"error_code": "NONE"}),
    "streams/describe": with_fields(
        DESCRIBE, 0, {"groups[0].topology.subtopologies[0].source_topics": []}
    ),
    "streams/describe-unknown": with_fields(DESCRIBE, 0, {"groups[0].error_code": "NONE"}),
    "streams/listed": replaced("ListGroups", "groups[*].group_type", "streams", "consumer"),
}
