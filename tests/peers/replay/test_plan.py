from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.peers.replay.plan import NEVER, SENT, SHARING, omission_of
from barnabas.specs import api
from barnabas.specs.registry import NAMES
from tests.captures.checks.given import exchange


def asked(name: str, version: int, **values: Any) -> Exchange:
    return exchange(name, version, values, None, at=0)


def bare(key: int, version: int = 1, **more: Any) -> Exchange:
    return Exchange(0, 1, "", "a", 1, key, version, 0, 0, **more)


SHARING_NAMES = ("ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge")
OWN = "the replay does its own handshake"
SHARE = "the records that a share group member acquires are not deterministic"
LOST = "its request can't be read: "
ALTERED = {"resource_name": "1", "configs": [{"name": "ssl.key.password", "value": "hunter2"}]}


SENDABLE = [
    (asked("Metadata", 1), (), None),
    (asked("Fetch", 4, replica_id=-1), (), None),
    (asked("Fetch", 4, replica_id=2), (), "sent by a follower"),
    (asked("Fetch", 15, replica_state={"replica_id": 2}), (), "sent by a follower"),
    (asked("Fetch", 15), (), None),
    (asked("ApiVersions", 0), (), OWN),
    (bare(SASL_TOKEN, 0), (), OWN),
    (asked("PushTelemetry", 0), (), "telemetry"),
    (asked("CreateTopics", 2), (), "not allowed (--allow CreateTopics)"),
    (asked("CreateTopics", 2, topics=[{"name": "t"}]), (19,), None),
    (asked("WriteTxnMarkers", 1), (27,), "sent between brokers only"),
    (bare(999, 0), (), "unknown API"),
]


@pytest.mark.parametrize(("found", "allowed", "reason"), SENDABLE)
def test_what_is_sent(found: Exchange, allowed: tuple[int, ...], reason: str | None) -> None:
    left = omission_of(found, allowed)
    assert (None if left is None else left.reason) == reason
    assert left is None or left.expected


LEFT_OUT = [
    (asked("AlterConfigs", 1, resources=[ALTERED]), "its secrets were removed from the capture"),
    (bare(3), f"{LOST}it was not recorded"),
    (bare(3, request_body=b"\0"), LOST),
    (bare(0, 3, payload={"request": {"x": "y"}}), "its payload was removed from the capture"),
    *((asked(name, api(name).versions[1]), SHARE) for name in SHARING_NAMES),
]


@pytest.mark.parametrize("allows", [True, False])
@pytest.mark.parametrize(("found", "reason"), LEFT_OUT)
def test_what_can_not_be(found: Exchange, reason: str, allows: bool) -> None:
    left = omission_of(found, {33, found.key} if allows else {33})
    assert left is not None
    assert left.reason.startswith(reason)
    assert not left.expected


def test_all_that_is_named_exists_and_nothing_is_both() -> None:
    assert set(NAMES) >= SENT | NEVER
    assert not SENT & NEVER
    assert not SHARING & (SENT | NEVER)
