"""Sessions of groups with two members of different protocols, versions and assignors.

All members share the case's connection, which waits for each response. In a classic group a second JoinGroup
is only answered once the first member has joined again, so classic members enter a consumer group, which
answers at once (KIP-848), and a last consumer that leaves turns it into a classic one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial
from typing import Any, Final

from barnabas.fuzz.generators.hidden import subscription
from barnabas.fuzz.sessions.bodies import MEMBER_ID, MEMBER_UUID, body
from barnabas.fuzz.sessions.members import (
    CLASSIC_KEYS,
    CONSUMER_KEYS,
    consume,
    consumer_id,
    join,
    sync,
)
from barnabas.fuzz.sessions.session import Session, Stage, Steps
from barnabas.fuzz.sessions.steps import Step, send_request, topic
from barnabas.specs import keys

REBALANCE_IN_PROGRESS: Final = 27
LEAVE: Final = -1
"""The member epoch with which a consumer leaves."""

INSTANCE_ID: Final = "instance"
"""As long as the client id: brokers begin the id of a static member with it."""

ASSIGNORS: Final = ("range", "sticky", "cooperative-sticky")

SOON_MS: Final = 100
"""A rebalance timeout: how long the others of a classic group have to join again."""

NEWEST: Final = 3
"""The newest version of the consumer protocol between members."""


def protocols(*assignors: str, version: int) -> list[dict[str, Any]]:
    """Return the protocols of a JoinGroup request, with metadata in a version."""
    return [{"name": name, "metadata": subscription(version, name)} for name in assignors]


def _beat_on(stage: Stage, live: Mapping[str, Any]) -> Step:
    """Send a heartbeat of the first consumer, and return its live values with the new epoch."""
    answer = yield from send_request(
        stage,
        keys.CONSUMER_GROUP_HEARTBEAT,
        group_id=stage.group_id,
        member_id=live["member_id"],
        member_epoch=live["member_epoch"],
    )
    epoch = answer["member_epoch"]
    return {**live, "member_epoch": epoch, "generation_id_or_member_epoch": epoch}


def _two_consumers(stage: Stage) -> Steps:
    """Join two consumers with other assignors; the second one uses the first version, where it can."""
    live = yield from topic(stage)
    first = yield from consume(stage, server_assignor="uniform")
    oldest = max(0, stage.offered.get(keys.CONSUMER_GROUP_HEARTBEAT, (0, 0))[0])
    yield from send_request(
        stage,
        keys.CONSUMER_GROUP_HEARTBEAT,
        oldest,
        group_id=stage.group_id,
        member_id="" if oldest == 0 else f"other-{consumer_id(stage)}",
        server_assignor="range",
        subscribed_topic_names=["fuzz-other"],
    )
    return {**live, **(yield from _beat_on(stage, first))}


def _beside(stage: Stage) -> Steps:
    """Join a consumer that reads another topic: the case comes from a second one."""
    live = yield from topic(stage)
    yield from consume(stage, subscribed_topic_names=["fuzz-other"])
    return {**live, "group_id": stage.group_id}


def _classic_member(stage: Stage, *assignors: str, version: int) -> Step:
    """Join a consumer group with the classic protocol, and return the member's live values."""
    joined = yield from join(stage, protocols=protocols(*assignors, version=version))
    return (yield from sync(stage, joined, fine=(0, REBALANCE_IN_PROGRESS)))


def _mixed(stage: Stage, *, as_classic: bool) -> Steps:
    """Join a consumer and a classic member. as_classic: the case is the classic member's."""
    live = yield from topic(stage)
    consumer = yield from consume(stage)
    classic = yield from _classic_member(stage, *ASSIGNORS[:2], version=NEWEST)
    if as_classic:
        return {**live, **classic}
    return {**live, **(yield from _beat_on(stage, consumer))}


def _downgraded(stage: Stage) -> Steps:
    """Join a consumer and two classic members; the consumer leaves, and the others have to join again."""
    live = yield from topic(stage)
    consumer = yield from consume(stage)
    classic = yield from _classic_member(stage, "range", "cooperative-sticky", version=NEWEST)
    yield from _classic_member(stage, "sticky", "range", version=1)
    yield from send_request(
        stage,
        keys.CONSUMER_GROUP_HEARTBEAT,
        group_id=stage.group_id,
        member_id=consumer["member_id"],
        member_epoch=LEAVE,
    )
    return {**live, **classic}


def _replaced(stage: Stage, *, as_older: bool) -> Steps:
    """Join twice with one instance id (KIP-345): the older of both is fenced."""
    live = yield from topic(stage)
    named = {"group_instance_id": INSTANCE_ID, "protocols": protocols(*ASSIGNORS, version=2)}
    joined = yield from join(stage, **named)
    older = yield from sync(stage, joined, group_instance_id=INSTANCE_ID)
    newer = yield from join(stage, **named)
    member_id = older["member_id"] if as_older else newer["member_id"]
    return {**live, **older, "member_id": member_id}


def _absent(stage: Stage) -> Steps:
    """Join with an instance id, and stay away: whoever joins next is answered after the timeout."""
    live = yield from topic(stage)
    named: dict[str, Any] = {"group_instance_id": INSTANCE_ID, "rebalance_timeout_ms": SOON_MS}
    joined = yield from join(stage, **named, protocols=protocols(*ASSIGNORS, version=NEWEST))
    member = yield from sync(stage, joined, group_instance_id=INSTANCE_ID)
    return {**live, **member}


def _stranger_body(key: int, version: int, **changes: Any) -> Mapping[str, Any] | None:
    """Return the JoinGroup of a member without an id, or a request of the static member.

    Before version 1 the session timeout, which is at least 6 s, is also the time for others to join again.
    """
    if key != keys.JOIN_GROUP:
        return _static_body(key, version, **changes)
    if version == 0:
        return None
    changes.setdefault("protocols", protocols(*ASSIGNORS, version=1))
    return body(key, version, member_id="", rebalance_timeout_ms=SOON_MS, **changes)


def _static_body(key: int, version: int, **changes: Any) -> Mapping[str, Any] | None:
    """Return the body of a member with an instance id."""
    named = {"group_instance_id": INSTANCE_ID}
    changes.setdefault("protocols", protocols(*ASSIGNORS, version=2))
    leaving = [{"member_id": MEMBER_ID, **named, "reason": "fuzz"}]
    return body(key, version, **named, members=leaving, **changes)


def _classic_body(key: int, version: int, **changes: Any) -> Mapping[str, Any] | None:
    """Return the body of a classic member of a consumer group, whose id is a UUID in base64."""
    leaving = [{"member_id": MEMBER_UUID, "reason": "fuzz"}]
    return body(key, version, member_id=MEMBER_UUID, members=leaving, **changes)


def _packed(make_body: Any, key: int, version: int) -> Iterable[tuple[str, Mapping[str, Any]]]:
    """Yield a JoinGroup request for each version of the consumer protocol, with all assignors."""
    for number in range(NEWEST + 1) if key == keys.JOIN_GROUP else ():
        request = make_body(key, version, protocols=protocols(*ASSIGNORS, version=number))
        if request is not None:
            yield f"metadata v{number}", request


def _classic(name: str, description: str, run: Any, make_body: Any, *more: int) -> Session:
    return Session(
        name,
        description,
        (keys.JOIN_GROUP, keys.SYNC_GROUP, *more),
        CLASSIC_KEYS,
        1,
        run,
        make_body,
        partial(_packed, make_body),
        at_least={keys.JOIN_GROUP: 5},
        newest_only=True,
    )


def _consuming(name: str, description: str, run: Any, *more: int) -> Session:
    needs = (keys.CONSUMER_GROUP_HEARTBEAT, *more)
    return Session(name, description, needs, CONSUMER_KEYS, 1, run, body, newest_only=True)


TWO_MEMBERS: Final = (
    _consuming("two-consumers", "one of two consumers with different assignors", _two_consumers),
    _consuming("consumer-beside", "joins a group whose only consumer reads another topic", _beside),
    _consuming(
        "mixed-consumer",
        "a consumer whose group also has a classic member",
        partial(_mixed, as_classic=False),
        keys.JOIN_GROUP,
        keys.SYNC_GROUP,
    ),
    _classic(
        "mixed-classic",
        "a classic member of a consumer group",
        partial(_mixed, as_classic=True),
        _classic_body,
        keys.CONSUMER_GROUP_HEARTBEAT,
    ),
    _classic(
        "downgraded",
        "one of two classic members with different assignors, whose group is rebalancing",
        _downgraded,
        _classic_body,
        keys.CONSUMER_GROUP_HEARTBEAT,
    ),
    _classic(
        "static-older",
        "a static member that another one has replaced",
        partial(_replaced, as_older=True),
        _static_body,
    ),
    _classic(
        "static-newer",
        "a static member that has replaced another one",
        partial(_replaced, as_older=False),
        _static_body,
    ),
    _classic(
        "static-absent",
        "joins, in any version, a group whose static member does not join again",
        _absent,
        _stranger_body,
    )._replace(newest_only=False),
)
