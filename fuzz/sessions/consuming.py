"""A member of a group of KIP-848, which the broker has given its partitions."""

from __future__ import annotations

from typing import Final

from barnabas.fuzz.sessions.bodies import MEMBER_ID, body
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import ask, topic
from barnabas.specs import keys

KEYS: Final = frozenset(
    (
        keys.CONSUMER_GROUP_HEARTBEAT,
        keys.CONSUMER_GROUP_DESCRIBE,
        keys.OFFSET_COMMIT,
        keys.OFFSET_FETCH,
        keys.OFFSET_DELETE,
    )
)


def member_id(stage: Stage) -> str:
    """Its own name for itself (KIP-1082), as long as the stand-in."""
    return f"{MEMBER_ID[:-6]}{stage.number % 1000000:06}"


def run(stage: Stage) -> Steps:
    """Enters with epoch 0."""
    live = yield from topic(stage)
    name = member_id(stage)
    entered = yield from ask(
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
    "consuming", "member of a KIP-848 group", (keys.CONSUMER_GROUP_HEARTBEAT,), KEYS, 4, run, body
)
