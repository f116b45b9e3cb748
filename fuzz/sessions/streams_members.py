"""Sessions of a streams group's member (KIP-1071), in several epochs of its membership."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import body
from barnabas.fuzz.sessions.members import consumer_id
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import Step, configure_group, send_request, topic
from barnabas.specs import keys

LEAVE: Final = -1
"""The member epoch with which a member leaves."""

DELAYS: Final = ("streams.initial.rebalance.delay.ms", "streams.assignment.interval.ms")
"""Configs of a group that keep members from their tasks: the first one for 3 s, each one for 1 s."""

BEATS: Final = 3
"""Heartbeats after the first one; the group's epoch rises with its second member."""

_TASK_FIELDS: Final = ("active_tasks", "standby_tasks", "warmup_tasks")


def _beat(stage: Stage, live: Mapping[str, Any], **changes: Any) -> Step:
    return (
        yield from send_request(
            stage,
            keys.STREAMS_GROUP_HEARTBEAT,
            **{"group_id": live["group_id"], "member_id": live["member_id"], **changes},
        )
    )


def _join(stage: Stage) -> Step:
    """Join with epoch 0 and a topology, and return the live values."""
    live = yield from topic(stage)
    yield from configure_group(stage, *DELAYS)
    named: dict[str, Any] = {"group_id": stage.group_id, "member_id": consumer_id(stage)}
    entered = yield from _beat(stage, named, member_epoch=0)
    return {**live, **named, "member_epoch": entered["member_epoch"]}


def _go_on(stage: Stage) -> Step:
    """Join with a second member, and send heartbeats with the tasks that were assigned."""
    live = dict((yield from _join(stage)))
    yield from _beat(
        stage, live, member_id=f"other-{live['member_id']}", process_id="other", member_epoch=0
    )
    tasks: dict[str, Any] = {name: [] for name in _TASK_FIELDS}
    for _ in range(BEATS):
        answer = yield from _beat(
            stage, live, member_epoch=live["member_epoch"], topology=None, **tasks
        )
        live["member_epoch"] = answer["member_epoch"]
        for name in _TASK_FIELDS:
            tasks[name] = answer.get(name) or tasks[name]
    return live


def _leave(stage: Stage) -> Steps:
    """Join, send heartbeats, and leave."""
    live = yield from _go_on(stage)
    yield from _beat(stage, live, member_epoch=LEAVE, topology=None)
    return live


def _alongside(stage: Stage) -> Steps:
    """Join with another member: the case is a second one, which joins."""
    live = yield from _join(stage)
    second = f"{live['member_id'][:-7]}1{stage.number % 1000000:06}"
    return {**live, "member_id": second, "member_epoch": 0}


def _later_body(key: int, version: int) -> Mapping[str, Any] | None:
    """Return the body of a member that has joined: only a joining one sends its topology."""
    if key == keys.STREAMS_GROUP_HEARTBEAT:
        return body(key, version, topology=None)
    return body(key, version)


def _session(name: str, description: str, run: Any, make_body: Any = _later_body) -> Session:
    return Session(
        name,
        description,
        (keys.STREAMS_GROUP_HEARTBEAT, keys.INCREMENTAL_ALTER_CONFIGS),
        frozenset((keys.STREAMS_GROUP_HEARTBEAT, keys.STREAMS_GROUP_DESCRIBE)),
        1,
        run,
        make_body,
        newest_only=True,
    )


STREAMING: Final = (
    _session("streams-joining", "joins a streams group that has a member", _alongside, body),
    _session("streams-joined", "member of a streams group in its first epoch", _join),
    _session("streams-assigned", "member of a streams group in a later epoch", _go_on),
    _session("streams-left", "has left its streams group", _leave),
)
