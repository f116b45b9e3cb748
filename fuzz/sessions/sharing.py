"""A member of a share group (KIP-932) with a share session."""

from __future__ import annotations

import base64
import uuid
from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions import bodies
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import ask, topic, topic_id
from barnabas.specs import keys

KEYS: Final = frozenset(
    (
        keys.SHARE_GROUP_HEARTBEAT,
        keys.SHARE_GROUP_DESCRIBE,
        keys.SHARE_FETCH,
        keys.SHARE_ACKNOWLEDGE,
    )
)


def member_id(number: int) -> str:
    """A member's own name for itself: a UUID as Kafka writes them, in base64 (KIP-932)."""
    return base64.urlsafe_b64encode(uuid.UUID(int=1 << 96 | number).bytes).decode().rstrip("=")


STAND_IN: Final = member_id(0)


def body(key: int, version: int) -> Mapping[str, Any] | None:
    """A valid body of a member of this kind."""
    return bodies.body(key, version, member_id=STAND_IN)


def run(stage: Stage) -> Steps:
    """Enters with epoch 0, and begins a session with its first ShareFetch."""
    live = yield from topic(stage)
    named: dict[str, Any] = {"group_id": stage.group_id, "member_id": member_id(1 + stage.number)}
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
