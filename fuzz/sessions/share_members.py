"""Sessions of a share group's member: its share session from the first ShareFetch to the last (KIP-932)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from barnabas.fuzz.sessions.bodies import MEMBER_UUID, body, member_uuid, produce
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import Step, configure_group, send_request, topic, topic_id
from barnabas.specs import keys

FINAL: Final = -1
"""The epoch that closes a share session."""

LEAVE: Final = -1
"""The member epoch with which a member leaves."""

ACCEPT: Final = 1
RELEASE: Final = 2
"""Types of acknowledgement."""

DELAY: Final = "share.assignment.interval.ms"
"""A config of groups, by default 1 s."""

BEATS: Final = 100
"""Heartbeats until a partition is assigned."""

TRIES: Final = 10
"""ShareFetch requests until records are acquired: the first one only begins to read the group's state."""

SHARE_KEYS: Final = frozenset(
    (
        keys.SHARE_GROUP_HEARTBEAT,
        keys.SHARE_GROUP_DESCRIBE,
        keys.SHARE_FETCH,
        keys.SHARE_ACKNOWLEDGE,
    )
)


def _body(key: int, version: int) -> Mapping[str, Any] | None:
    return body(key, version, member_id=MEMBER_UUID)


def _join(stage: Stage) -> Step:
    """Join with epoch 0, wait for an assignment, and return the live values.

    The broker assigns a partition once the group has a state of it, before which no ShareFetch succeeds.
    """
    live = yield from topic(stage)
    if keys.INCREMENTAL_ALTER_CONFIGS in stage.offered:
        yield from configure_group(stage, DELAY)
    named: dict[str, Any] = {
        "group_id": stage.group_id,
        "member_id": member_uuid(1 + stage.number),
    }
    entered = yield from send_request(stage, keys.SHARE_GROUP_HEARTBEAT, **named)
    for _ in range(BEATS):
        if (entered.get("assignment") or {}).get("topic_partitions"):
            break
        epoch = entered["member_epoch"]
        entered = yield from send_request(
            stage, keys.SHARE_GROUP_HEARTBEAT, **named, member_epoch=epoch
        )
    return {**live, **named, "member_epoch": entered["member_epoch"], "share_session_epoch": 0}


def _member(live: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields that name the member."""
    return {name: live[name] for name in ("group_id", "member_id")}


def _fetch(
    stage: Stage, live: Mapping[str, Any], epoch: int, batches: tuple[dict[str, Any], ...] = ()
) -> Step:
    """Send a ShareFetch with acknowledgements, and return the response."""
    partition = {
        "partition_index": 0,
        "partition_max_bytes": 1024,
        "acknowledgement_batches": list(batches),
    }
    return (
        yield from send_request(
            stage,
            keys.SHARE_FETCH,
            **_member(live),
            share_session_epoch=epoch,
            max_wait_ms=100,
            min_bytes=1,
            topics=[{"topic_id": topic_id(live), "partitions": [partition]}],
        )
    )


def _begin(stage: Stage) -> Step:
    """Join, and begin a share session with the first ShareFetch; return the live values."""
    live = yield from _join(stage)
    yield from _fetch(stage, live, 0)
    return {**live, "share_session_epoch": 1}


def _acquire(stage: Stage) -> Step:
    """Begin a session, produce records, and fetch until they are acquired; return the live values."""
    live = dict((yield from _begin(stage)))
    version = stage.version(keys.PRODUCE, 11)
    batch = produce(version, live=live)
    yield from send_request(stage, keys.PRODUCE, version, topic_data=batch["topic_data"])
    for _ in range(TRIES):
        answer = yield from _fetch(stage, live, live["share_session_epoch"])
        live["share_session_epoch"] += 1
        for row in answer.get("responses", ()):
            for partition in row["partitions"]:
                for acquired in partition["acquired_records"]:
                    offsets = {name: acquired[name] for name in ("first_offset", "last_offset")}
                    return {**live, **offsets}
    return live


def _batch(live: Mapping[str, Any], kind: int) -> tuple[dict[str, Any], ...]:
    """Return the acknowledgement of all acquired records; nothing if there are none."""
    if "first_offset" not in live:
        return ()
    offsets = {name: live[name] for name in ("first_offset", "last_offset")}
    return ({**offsets, "acknowledge_types": [kind]},)


def _release(stage: Stage) -> Steps:
    """Acquire records, release them, and acquire them once more."""
    live = dict((yield from _acquire(stage)))
    for batches in (_batch(live, RELEASE), ()):
        yield from _fetch(stage, live, live["share_session_epoch"], batches)
        live["share_session_epoch"] += 1
    return live


def _acknowledge(stage: Stage) -> Steps:
    """Acquire records, and accept them: the case acknowledges them again."""
    live = dict((yield from _acquire(stage)))
    partition = {"partition_index": 0, "acknowledgement_batches": list(_batch(live, ACCEPT))}
    yield from send_request(
        stage,
        keys.SHARE_ACKNOWLEDGE,
        **_member(live),
        share_session_epoch=live["share_session_epoch"],
        topics=[{"topic_id": topic_id(live), "partitions": [partition]}],
    )
    return {**live, "share_session_epoch": live["share_session_epoch"] + 1}


def _close(stage: Stage, *, leaves: bool) -> Steps:
    """Acquire records, and close the share session. leaves: the member leaves the group, too."""
    live = yield from _acquire(stage)
    yield from send_request(
        stage,
        keys.SHARE_FETCH,
        **_member(live),
        share_session_epoch=FINAL,
        topics=[],
    )
    if leaves:
        yield from send_request(
            stage,
            keys.SHARE_GROUP_HEARTBEAT,
            **_member(live),
            member_epoch=LEAVE,
        )
    return {**live, "share_session_epoch": live["share_session_epoch"] + 1}


def _session(name: str, description: str, run: Any, *more: int) -> Session:
    return Session(
        name,
        description,
        (keys.SHARE_GROUP_HEARTBEAT, *more),
        SHARE_KEYS,
        1,
        run,
        _body,
        newest_only=True,
    )


SHARING: Final = _session("sharing", "member of a share group", _begin, keys.SHARE_FETCH)._replace(
    newest_only=False
)

_FETCHING: Final = (keys.SHARE_FETCH, keys.PRODUCE)

SHARING_STATES: Final = (
    _session("share-unfetched", "member of a share group that has not fetched", _join),
    _session("share-acquired", "share consumer with acquired records", _acquire, *_FETCHING),
    _session("share-released", "share consumer that released its records", _release, *_FETCHING),
    _session(
        "share-acknowledged",
        "share consumer that acknowledged its records",
        _acknowledge,
        *_FETCHING,
        keys.SHARE_ACKNOWLEDGE,
    ),
    _session(
        "share-closed",
        "share consumer that closed its session",
        partial(_close, leaves=False),
        *_FETCHING,
    ),
    _session(
        "share-left",
        "share consumer that left its group",
        partial(_close, leaves=True),
        *_FETCHING,
    ),
)
