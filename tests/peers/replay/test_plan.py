from __future__ import annotations

from typing import Any

import pytest

from barnabas.captures.kafka.exchange import SASL_TOKEN, Exchange
from barnabas.peers.replay.plan import NEVER, SENT, SHARING, left_out
from barnabas.specs import api
from barnabas.specs.registry import NAMES, key_of


def asked(name: str, version: int, **values: Any) -> Exchange:
    body = api(name).request.codec(version).encode(values)
    return Exchange(0, 1, "", "a", 1, key_of(name), version, 0, 0, request_body=body)


ALTERED = {"resource_name": "1", "configs": [{"name": "ssl.key.password", "value": "hunter2"}]}


@pytest.mark.parametrize(
    ("exchange", "allowed", "reason"),
    [
        (asked("Metadata", 1), (), None),
        (asked("Fetch", 4, replica_id=-1), (), None),
        (asked("Fetch", 4, replica_id=2), (), "sent by a follower"),
        (asked("Fetch", 15, replica_state={"replica_id": 2}), (), "sent by a follower"),
        (asked("Fetch", 15), (), None),
        (asked("ApiVersions", 0), (), "the replay does its own handshake"),
        (Exchange(0, 1, "", "a", 1, SASL_TOKEN, 0, 0, 0), (), "the replay does its own handshake"),
        (asked("PushTelemetry", 0), (), "telemetry"),
        (asked("CreateTopics", 2), (), "not allowed (--allow CreateTopics)"),
        (asked("CreateTopics", 2, topics=[{"name": "t"}]), (19,), None),
        (asked("WriteTxnMarkers", 1), (27,), "sent between brokers only"),
        (Exchange(0, 1, "", "a", 1, 999, 0, 0, 0), (), "unknown API"),
    ],
)
def test_what_is_sent(exchange: Exchange, allowed: tuple[int, ...], reason: str | None) -> None:
    left = left_out(exchange, allowed)
    assert (None if left is None else left.reason) == reason
    assert left is None or left.expected


@pytest.mark.parametrize(
    ("exchange", "reason"),
    [
        (
            asked("AlterConfigs", 1, resources=[ALTERED]),
            "its secrets were removed from the capture",
        ),
        (Exchange(0, 1, "", "a", 1, 3, 1, 0, 0), "its request can't be read: it was not recorded"),
        (
            Exchange(0, 1, "", "a", 1, 3, 1, 0, 0, request_body=b"\0"),
            "its request can't be read: ",
        ),
        (
            Exchange(0, 1, "", "a", 1, 0, 3, 0, 0, payload={"request": {"x": "y"}}),
            "its payload was removed from the capture",
        ),
    ],
)
def test_what_can_not_be(exchange: Exchange, reason: str) -> None:
    left = left_out(exchange, {33})
    assert left is not None
    assert left.reason.startswith(reason)
    assert not left.expected


def test_all_that_is_named_exists_and_nothing_is_both() -> None:
    assert set(NAMES) >= SENT | NEVER
    assert not SENT & NEVER
    assert not SHARING & (SENT | NEVER)


@pytest.mark.parametrize("name", ["ShareGroupHeartbeat", "ShareFetch", "ShareAcknowledge"])
def test_share_groups_are_not_replayable_even_if_allowed(name: str) -> None:
    for allowed in ((), (key_of(name),)):
        left = left_out(asked(name, api(name).versions[1]), allowed)
        assert left is not None
        assert left.reason == "the records that a share group member acquires are not deterministic"
        assert not left.expected
