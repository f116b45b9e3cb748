"""Sessions of a group's only member: of a classic group (KIP-62), and of a consumer group (KIP-848)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import MEMBER_ID, body
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import Step, send_request, topic
from barnabas.specs import keys

MEMBER_ID_REQUIRED: Final = 79

CLASSIC_KEYS: Final = frozenset(
    (
        keys.JOIN_GROUP,
        keys.SYNC_GROUP,
        keys.HEARTBEAT,
        keys.LEAVE_GROUP,
        keys.OFFSET_COMMIT,
        keys.OFFSET_FETCH,
        keys.DESCRIBE_GROUPS,
        keys.DELETE_GROUPS,
        keys.OFFSET_DELETE,
    )
)
"""The APIs of cases as a member of a classic group, or about its group."""

CONSUMER_KEYS: Final = frozenset(
    (
        keys.CONSUMER_GROUP_HEARTBEAT,
        keys.CONSUMER_GROUP_DESCRIBE,
        keys.OFFSET_COMMIT,
        keys.OFFSET_FETCH,
        keys.OFFSET_DELETE,
    )
)
"""The APIs of cases as a member of a consumer group, or about its group."""


def join(stage: Stage, **changes: Any) -> Step:
    """Join the classic group (twice, since KIP-394), and return the last response."""
    fine = (0, MEMBER_ID_REQUIRED)
    changes["group_id"] = stage.group_id
    joined = yield from send_request(stage, keys.JOIN_GROUP, fine=fine, **changes, member_id="")
    if joined["error_code"]:
        changes["member_id"] = joined["member_id"]
        joined = yield from send_request(stage, keys.JOIN_GROUP, **changes)
    return joined


def sync(
    stage: Stage, joined: Mapping[str, Any], *, fine: tuple[int, ...] = (0,), **changes: Any
) -> Step:
    """Assign the partition to a member that joined, and return its live values."""
    member_id, generation_id = joined["member_id"], joined["generation_id"]
    if joined.get("protocol_name"):
        changes["protocol_name"] = joined["protocol_name"]
    yield from send_request(
        stage,
        keys.SYNC_GROUP,
        fine=fine,
        group_id=stage.group_id,
        member_id=member_id,
        generation_id=generation_id,
        assignments=[{"member_id": member_id, "assignment": b"\0\0\0\0\0\0\xff\xff\xff\xff"}],
        **changes,
    )
    return {
        "group_id": stage.group_id,
        "member_id": member_id,
        "generation_id": generation_id,
        "generation_id_or_member_epoch": generation_id,
    }


def _join(stage: Stage) -> Steps:
    """Join, and assign the partition to this member."""
    live = yield from topic(stage)
    joined = yield from join(stage)
    return {**live, **(yield from sync(stage, joined))}


JOINED: Final = Session(
    "joined",
    "member of a stable classic group",
    (keys.JOIN_GROUP, keys.SYNC_GROUP),
    CLASSIC_KEYS,
    4,
    _join,
    body,
)


def consumer_id(stage: Stage) -> str:
    """Return a member id of a consumer (KIP-1082) that is as long as the stand-in."""
    return f"{MEMBER_ID[:-6]}{stage.number % 1000000:06}"


def consume(stage: Stage, **changes: Any) -> Step:
    """Join a KIP-848 group with epoch 0, and return the member's live values."""
    name = consumer_id(stage)
    entered = yield from send_request(
        stage, keys.CONSUMER_GROUP_HEARTBEAT, group_id=stage.group_id, member_id=name, **changes
    )
    epoch = entered["member_epoch"]
    return {
        "group_id": stage.group_id,
        "member_id": entered["member_id"] or name,
        "member_epoch": epoch,
        "generation_id_or_member_epoch": epoch,
    }


def _consume(stage: Stage) -> Steps:
    live = yield from topic(stage)
    return {**live, **(yield from consume(stage))}


CONSUMING: Final = Session(
    "consuming",
    "member of a KIP-848 group",
    (keys.CONSUMER_GROUP_HEARTBEAT,),
    CONSUMER_KEYS,
    4,
    _consume,
    body,
)
