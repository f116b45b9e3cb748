"""Sessions of group members: classic groups (KIP-62), consumer groups (KIP-848), share groups (KIP-932)."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import MEMBER_ID, body
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import send_request, topic, topic_id
from barnabas.specs import keys

MEMBER_ID_REQUIRED: Final = 79


def _join(stage: Stage) -> Steps:
    """Join (twice, since KIP-394) and assign the partition to this member."""
    live = yield from topic(stage)
    group_id = stage.group_id
    fine = (0, MEMBER_ID_REQUIRED)
    joined = yield from send_request(
        stage, keys.JOIN_GROUP, fine=fine, group_id=group_id, member_id=""
    )
    if joined["error_code"]:
        joined = yield from send_request(
            stage, keys.JOIN_GROUP, group_id=group_id, member_id=joined["member_id"]
        )
    member_id, generation_id = joined["member_id"], joined["generation_id"]
    yield from send_request(
        stage,
        keys.SYNC_GROUP,
        group_id=group_id,
        member_id=member_id,
        generation_id=generation_id,
        assignments=[{"member_id": member_id, "assignment": b"\0\0\0\0\0\0\xff\xff\xff\xff"}],
    )
    return {
        **live,
        "group_id": group_id,
        "member_id": member_id,
        "generation_id": generation_id,
        "generation_id_or_member_epoch": generation_id,
    }


JOINED: Final = Session(
    "joined",
    "member of a stable classic group",
    (keys.JOIN_GROUP, keys.SYNC_GROUP),
    frozenset(
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
    ),
    4,
    _join,
    body,
)


def _consume(stage: Stage) -> Steps:
    """Join with epoch 0, by a member id (KIP-1082) that is as long as the stand-in."""
    live = yield from topic(stage)
    name = f"{MEMBER_ID[:-6]}{stage.number % 1000000:06}"
    entered = yield from send_request(
        stage, keys.CONSUMER_GROUP_HEARTBEAT, group_id=stage.group_id, member_id=name
    )
    epoch = entered["member_epoch"]
    return {
        **live,
        "group_id": stage.group_id,
        "member_id": entered["member_id"] or name,
        "member_epoch": epoch,
        "generation_id_or_member_epoch": epoch,
    }


CONSUMING: Final = Session(
    "consuming",
    "member of a KIP-848 group",
    (keys.CONSUMER_GROUP_HEARTBEAT,),
    frozenset(
        (
            keys.CONSUMER_GROUP_HEARTBEAT,
            keys.CONSUMER_GROUP_DESCRIBE,
            keys.OFFSET_COMMIT,
            keys.OFFSET_FETCH,
            keys.OFFSET_DELETE,
        )
    ),
    4,
    _consume,
    body,
)


def _share_member(number: int) -> str:
    """Return a member id: a UUID as Kafka writes them, in base64 (KIP-932)."""
    return base64.urlsafe_b64encode(uuid.UUID(int=1 << 96 | number).bytes).decode().rstrip("=")


def _share_body(key: int, version: int) -> Mapping[str, Any] | None:
    return body(key, version, member_id=_share_member(0))


def _share(stage: Stage) -> Steps:
    """Join with epoch 0, and begin a share session with the first ShareFetch."""
    live = yield from topic(stage)
    member_id = _share_member(1 + stage.number)
    named: dict[str, Any] = {"group_id": stage.group_id, "member_id": member_id}
    entered = yield from send_request(stage, keys.SHARE_GROUP_HEARTBEAT, **named)
    partitions = [
        {"partition_index": 0, "partition_max_bytes": 1024, "acknowledgement_batches": []}
    ]
    topics = [{"topic_id": topic_id(live), "partitions": partitions}]
    yield from send_request(stage, keys.SHARE_FETCH, **named, share_session_epoch=0, topics=topics)
    return {**live, **named, "member_epoch": entered["member_epoch"], "share_session_epoch": 1}


SHARING: Final = Session(
    "sharing",
    "member of a share group",
    (keys.SHARE_GROUP_HEARTBEAT, keys.SHARE_FETCH),
    frozenset(
        (
            keys.SHARE_GROUP_HEARTBEAT,
            keys.SHARE_GROUP_DESCRIBE,
            keys.SHARE_FETCH,
            keys.SHARE_ACKNOWLEDGE,
        )
    ),
    1,
    _share,
    _share_body,
)
