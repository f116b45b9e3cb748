"""A member of a classic group that is stable: joined, synchronized, alone in it."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.sessions.bodies import body
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import ask, topic
from barnabas.specs import keys

KEYS: Final = frozenset(
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

MEMBER_ID_REQUIRED: Final = 79


def run(stage: Stage) -> Steps:
    """Joins (twice, since KIP-394) and hands itself the partition."""
    live = yield from topic(stage)
    group_id = stage.group_id
    fine = (0, MEMBER_ID_REQUIRED)
    joined = yield from ask(stage, keys.JOIN_GROUP, fine=fine, group_id=group_id, member_id="")
    if joined["error_code"]:
        joined = yield from ask(
            stage, keys.JOIN_GROUP, group_id=group_id, member_id=joined["member_id"]
        )
    member_id, generation_id = joined["member_id"], joined["generation_id"]
    yield from ask(
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
    KEYS,
    4,
    run,
    body,
)
