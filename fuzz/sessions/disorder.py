"""Sessions with requests in another order than clients send them.

Others are among the states of transactions (`ended-twice`) and of share groups (`share-unfetched`).
"""

from __future__ import annotations

from typing import Any, Final

from barnabas.fuzz.sessions.bodies import MEMBER_ID, body
from barnabas.fuzz.sessions.members import CLASSIC_KEYS, join, sync
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import send_request, topic
from barnabas.fuzz.sessions.topic_clients import FETCHING, begin_fetch_session
from barnabas.specs import keys

UNKNOWN_MEMBER_ID: Final = 25
FINAL: Final = -1
"""The epoch that closes a fetch session (KIP-227)."""


def _sync_first(stage: Stage) -> Steps:
    """Send SyncGroup and Heartbeat with a member id that no JoinGroup gave."""
    live = yield from topic(stage)
    named: dict[str, Any] = {"group_id": stage.group_id, "member_id": MEMBER_ID}
    for key in (keys.SYNC_GROUP, keys.HEARTBEAT):
        yield from send_request(stage, key, fine=(0, UNKNOWN_MEMBER_ID), **named, generation_id=1)
    return {**live, **named, "generation_id": 1, "generation_id_or_member_epoch": 1}


def _leave(stage: Stage) -> Steps:
    """Join and leave: the case is a request of the member that left."""
    live = yield from topic(stage)
    joined = yield from join(stage)
    member = yield from sync(stage, joined)
    yield from send_request(
        stage,
        keys.LEAVE_GROUP,
        group_id=stage.group_id,
        member_id=member["member_id"],
        members=[{"member_id": member["member_id"], "reason": "fuzz"}],
    )
    return {**live, **member}


def _close(stage: Stage) -> Steps:
    """Begin a fetch session, and close it: the case fetches in the session once more."""
    live = yield from begin_fetch_session(stage)
    yield from send_request(
        stage, keys.FETCH, session_id=live["session_id"], session_epoch=FINAL, topics=[]
    )
    return live


def _as_member(name: str, description: str, run: Any) -> Session:
    return Session(
        name,
        description,
        (keys.SYNC_GROUP,),
        CLASSIC_KEYS,
        1,
        run,
        body,
        newest_only=True,
    )


DISORDERED: Final = (
    _as_member("unjoined", "sends SyncGroup and Heartbeat before JoinGroup", _sync_first),
    _as_member("left", "a member that has left its classic group", _leave),
    FETCHING._replace(
        name="fetch-closed",
        description="in a fetch session that is closed",
        run=_close,
        newest_only=True,
    ),
)
