"""A member of a share group (KIP-932) with a share session."""

from __future__ import annotations

from typing import Any, Final

from fuzz.sessions.bodies import body
from fuzz.sessions.consuming import member_id
from fuzz.sessions.session import Session, Stage, Steps
from fuzz.sessions.steps import ask, topic, topic_id
from specs import keys

KEYS: Final = frozenset(
    (
        keys.SHARE_GROUP_HEARTBEAT,
        keys.SHARE_GROUP_DESCRIBE,
        keys.SHARE_FETCH,
        keys.SHARE_ACKNOWLEDGE,
    )
)


def run(stage: Stage) -> Steps:
    """Enters with epoch 0, and begins a session with its first ShareFetch."""
    live = yield from topic(stage)
    named: dict[str, Any] = {"group_id": stage.group_id, "member_id": member_id(stage)}
    entered = yield from ask(stage, keys.SHARE_GROUP_HEARTBEAT, **named)
    partitions = [
        {"partition_index": 0, "partition_max_bytes": 1024, "acknowledgement_batches": []}
    ]
    topics = [{"topic_id": topic_id(live), "partitions": partitions}]
    yield from ask(stage, keys.SHARE_FETCH, **named, share_session_epoch=0, topics=topics)
    return {
        **live,
        **named,
        "member_epoch": entered["member_epoch"],
        "share_session_epoch": 1,
    }


SHARING: Final = Session(
    "sharing",
    "member of a share group",
    (keys.SHARE_GROUP_HEARTBEAT, keys.SHARE_FETCH),
    KEYS,
    1,
    run,
    body,
)
